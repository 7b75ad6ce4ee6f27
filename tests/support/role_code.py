"""The role code of the secure sum as one value, and copies of it with text replaced: what its mutants are made of."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from functools import cache
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import protocols

HOME = Path(protocols.__file__).parent
PACKAGE = "protocols.secure_sum"
MODULES = (
    *("graph", "parameters", "messages", "values", "roster", "dealing", "masks", "unmasking"),
    *("complaints", "disputes"),
    *("setup", "neighbour_graph", "steps", "sums", "complete", "publishing"),
)
COPY = "copied_secure_sum"


@dataclass(frozen=True)
class Patch:
    """In one module, this text in place of that one, which stands there once."""

    module: str
    old: str
    new: str


class Code:
    """The modules of one version of the role code, by their names, with the masks that it makes and its program."""

    def __init__(self, package: ModuleType, masking: ModuleType) -> None:
        self.PROGRAM: Any = package.PROGRAM  # type: ignore[attr-defined]
        self.masking: Any = masking
        self._modules = {name: sys.modules[f"{package.__name__}.{name}"] for name in MODULES}

    def running(self, program: Any) -> Code:
        """The same modules under another program, made of them."""
        other = copy(self)
        other.PROGRAM = program
        return other

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self._modules[name]


def honest() -> Code:
    """The code as it is."""
    package = importlib.import_module(PACKAGE)
    return Code(package, importlib.import_module("protocols.crypto.masking"))


def copied(*patches: Patch) -> Code:
    """A copy of it with these patches; raises `ValueError` for one that does not fit."""
    finder = _Copies(patches)
    with _finding(finder):
        package = importlib.import_module(COPY)
        code = Code(package, importlib.import_module(f"{COPY}.masking"))
    if left := [patch for patch in patches if patch not in finder.applied]:
        raise ValueError(f"nobody imports {left[0].module}")
    return code


@contextmanager
def _finding(finder: MetaPathFinder) -> Iterator[None]:
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        for name in [name for name in sys.modules if name.partition(".")[0] == COPY]:
            del sys.modules[name]


class _Copies(MetaPathFinder, Loader):
    """Finds the copy's modules, and makes them of the text of the real ones."""

    def __init__(self, patches: Sequence[Patch]) -> None:
        self._patches = patches
        self.applied: list[Patch] = []

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name.partition(".")[0] != COPY:
            return None
        return spec_from_loader(name, self, is_package=name == COPY)

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__.partition(".")[2]
        source = HOME / ("crypto/masking.py" if name == "masking" else f"secure_sum/{name or '__init__'}.py")
        text = source.read_text(encoding="utf-8")
        for patch in self._patches:
            if patch.module == (name or "__init__"):
                if text.count(patch.old) != 1:
                    raise ValueError(f"{patch.module}: {patch.old!r} stands there {text.count(patch.old)} times")
                text = text.replace(patch.old, patch.new)
                self.applied.append(patch)
        text = text.replace("from protocols.crypto import masking", f"from {COPY} import masking")
        exec(_compiled(text.replace(PACKAGE, COPY), str(source)), vars(module))


@cache
def _compiled(text: str, source: str) -> CodeType:
    return compile(text, source, "exec")
