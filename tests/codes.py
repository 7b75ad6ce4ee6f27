"""Hold the codes in the source against the catalogues of their sentences.

A fault is made by a call with a literal code, such as `InputError("columns.no_order", name=name, low=low, high=high)`.
Its sentence stands in the `faults.toml` of the same folder; a sentence that several folders use in `smc_dp/core`, and
one of a protocol's error that is not of one folder of `protocols` in `protocols/faults.toml`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Formatter

from protocols.errors import Fault, load_sentences
from smc_dp.core.errors import InputFault
from tests.layers import nodes, parsed

ROOT = Path(__file__).resolve().parent.parent
CODE = re.compile(r"[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*")
MAKERS = re.compile(
    r"[A-Za-z]*(Error|Warning|Fault)|refuse|stop|doubt|stated|_refused|_failed|passed|failed|not_possible|not_applicable|unfinished|make_fault|failed_line|coded_prose"
)
"""Names of what makes a fault of a code: classes of errors, a role's refusals, and findings of an audit."""


CODED = frozenset(
    {
        *("BrokenLedgerError", "CarrierError", "DecodeError", "InputError", "LocalError", "NoReleaseError"),
        *("OverBudgetError", "PeerError", "ReplayError", "StoppedError", "StoreError", "UnansweredError"),
        *("UndecidedError", "RowsClippedWarning", "FileIgnoredWarning", "ColumnIgnoredWarning"),
    }
)
"""Names of the errors that are made of a code or a fault; the others make their fault of something else."""


@dataclass(frozen=True)
class CodedCall:
    """A call with a literal code, the names of the fields that it gives, and where it stands."""

    code: str
    given: frozenset[str] | None
    """Names of the fields; None where they are handed on in a variable."""
    file: str
    line: int


def catalogues() -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Return the sentences of protocols and of `smc_dp`, by their codes."""
    return load_sentences(Fault.PACKAGE), load_sentences(InputFault.PACKAGE)


def needed(sentence: str) -> frozenset[str]:
    """Return the names of the fields in a sentence."""
    return frozenset(name for _, name, _, _ in Formatter().parse(sentence) if name)


def _literal(node: ast.expr | None) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _fields(node: ast.Call) -> frozenset[str] | None:
    names = [keyword.arg for keyword in node.keywords]
    first = next(i for i, argument in enumerate(node.args) if CODE.fullmatch(_literal(argument) or ""))
    for argument in node.args[first:]:  # what stands before the code says what it is about
        if isinstance(argument, ast.Dict):
            names += [_literal(key) for key in argument.keys]
        elif isinstance(argument, ast.Name):
            return None
    return None if None in names else frozenset(name for name in names if name is not None)


def calls_in(source: str, file: str) -> Iterator[CodedCall]:
    """Yield the calls in the source of a file that make a fault of a literal code."""
    for node in nodes(parsed(source)):
        if isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            codes = [text for text in map(_literal, node.args) if text is not None and CODE.fullmatch(text)]
            if codes and MAKERS.fullmatch(name):
                yield CodedCall(codes[0], _fields(node), file, node.lineno)


def uncoded_in(source: str, file: str) -> Iterator[tuple[str, int, str]]:
    """Yield file, line and sentence of each error with a sentence where its code should stand."""
    for node in nodes(parsed(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CODED:
            texts = [text for text in map(_literal, node.args) if text is not None]
            written = [argument for argument in node.args if isinstance(argument, ast.JoinedStr)]
            if not any(map(CODE.fullmatch, texts)) and (written or any(" " in text for text in texts)):
                yield file, node.lineno, ast.unparse(node)


def literals_in(source: str) -> set[str]:
    """Return all literals in the source of a file that could be codes."""
    texts = {_literal(node) for node in nodes(parsed(source)) if isinstance(node, ast.Constant)}
    return {text for text in texts if text is not None and CODE.fullmatch(text)}


@cache
def sources() -> dict[str, str]:
    """Return the source of each file of both packages."""
    files = (path for package in ("protocols", "smc_dp") for path in sorted((ROOT / package).rglob("*.py")))
    return {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in files}
