"""The digest of the code that a check of a protocol's code depends on.

The files are those of the package `protocols` that define the roles, the trials and the attacks of the claim, those
that execute a session in one process, and all that they import inside of `protocols`, at any depth. An import inside of
a function counts, and so does the `__init__` file of each package on the way. The digest covers names of modules and
the bytes of their files, so no folder outside of `protocols` changes it. The checks themselves are no part of it.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import is_dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from protocols.programs import Protocol

PACKAGE = "protocols"
_ENGINE = (f"{PACKAGE}.runtime.simulate", f"{PACKAGE}.runtime.claims")  # execute a session, and read its views


def digest(protocol: Protocol) -> str:
    """Return the SHA-256 of the protocol's code, in hexadecimal digits."""
    found = hashlib.sha256()
    for name, content in modules(protocol).items():
        found.update(f"{name} {hashlib.sha256(content).hexdigest()}\n".encode())
    return found.hexdigest()


def modules(protocol: Protocol) -> Mapping[str, bytes]:
    """Return the files that the digest covers, by the names of their modules in order.

    Roles and trials from elsewhere count by the name of their module, which no protocol of the package has.
    """
    return _closure(tuple(sorted({*_ENGINE, *_roots(protocol)})), Path(str(files(PACKAGE))))


def _roots(protocol: Protocol) -> Iterator[str]:
    """Yield the modules of the roles, and of all functions in the trials and the attacks of the claim."""
    claim = protocol.claim
    declared = [claim.trials, *claim.not_claimed] if claim else []
    for function in (*protocol.program.roles.values(), *_functions(declared)):
        yield str(getattr(function, "__module__", ""))


def _functions(declared: Any) -> Iterator[Any]:
    """Yield the functions in a declaration, and in those that it holds."""
    if is_dataclass(declared) or isinstance(declared, list):
        for value in declared if isinstance(declared, list) else vars(declared).values():
            yield from _functions(value)
    elif callable(declared):
        yield declared


@cache
def _closure(roots: tuple[str, ...], folder: Path) -> Mapping[str, bytes]:
    """Return these modules and all that they import inside of the package in this folder."""
    found: dict[str, bytes] = {}
    waiting = list(roots)
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        file = _file(name, folder)
        found[name] = b"" if file is None else file.read_bytes()
        if file is not None:
            imported = _imported(found[name], name if file.name == "__init__.py" else name.rpartition(".")[0])
            waiting += [one for one in (*_packages(name), *imported) if _file(one, folder)]
    return dict(sorted(found.items()))


def _packages(name: str) -> list[str]:
    """Return the packages that the module is in."""
    parts = name.split(".")
    return [".".join(parts[:i]) for i in range(1, len(parts))]


@cache
def _imported(content: bytes, package: str) -> tuple[str, ...]:
    """Return all that may be a module in the imports of a file in this package."""
    return tuple(dict.fromkeys(_named(ast.parse(content), package)))


def _named(tree: ast.Module, package: str) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield from (base, *(f"{base}.{alias.name}" for alias in node.names))


def _file(name: str, folder: Path) -> Path | None:
    """Return the file of a module; None for what is no module of the package in this folder."""
    package, *inside = name.split(".")
    if package != PACKAGE:
        return None
    stem = folder.joinpath(*inside)
    return next((file for file in (stem / "__init__.py", stem.with_suffix(".py")) if file.is_file()), None)
