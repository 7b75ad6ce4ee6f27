"""Find every code of a fault in the source, with its sentence and its fields.

A fault is made by a call such as `InputError("columns.no_level", "column {name}: ...", name=name)`: the code and the
sentence are literals, so that all of them can be listed without running anything.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from string import Formatter

ROOT = Path(__file__).resolve().parent.parent
CODE = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+")


@dataclass(frozen=True)
class CodedSentence:
    """A code, its sentence with fields in braces, and where it stands."""

    code: str
    template: str
    given: frozenset[str] | None
    """Names of the fields that the call gives; None where some are handed on with `**`."""
    file: str
    line: int

    @property
    def needed(self) -> frozenset[str]:
        """Names of the fields in the sentence."""
        return frozenset(name for _, name, _, _ in Formatter().parse(self.template) if name)

    @property
    def room(self) -> str:
        """Name of the room: the folder of `smc_dp` or of `protocols`."""
        parts = Path(self.file).parts
        return parts[1] if parts[0] == "smc_dp" and len(parts) > 2 else parts[0]


def _literal(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _fields_given(node: ast.Call) -> frozenset[str] | None:
    """Return the names of the fields that a call gives, as keywords or in a dictionary."""
    names = [keyword.arg for keyword in node.keywords]
    for argument in node.args:
        if isinstance(argument, ast.Dict):
            names += [None if key is None else _literal(key) for key in argument.keys]
        elif isinstance(argument, ast.Name):
            return None
    return None if None in names else frozenset(name for name in names if name is not None)


def sentences_in(source: str, file: str) -> Iterator[CodedSentence]:
    """Yield every coded sentence in the source of a file."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        for first, second in zip(node.args, node.args[1:], strict=False):
            code, template = _literal(first), _literal(second)
            if code is None or template is None or not CODE.fullmatch(code) or " " not in template:
                continue
            given = _fields_given(node)
            yield CodedSentence(code, template, given, file, node.lineno)


def all_sentences() -> list[CodedSentence]:
    """Return every coded sentence of the packages, by code."""
    files = [path for package in ("protocols", "smc_dp") for path in sorted((ROOT / package).rglob("*.py"))]
    found = [s for path in files for s in sentences_in(path.read_text(encoding="utf-8"), str(path.relative_to(ROOT)))]
    return sorted(found, key=lambda s: (s.code, s.file, s.line))
