"""TOML of unknown origin, read without doing a parser's worst work for it."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from smc_dp.errors import InputError

_MARKS, _MOST_MARKS = frozenset(".[{"), 12_288  # three for each of the most columns that a table has
_QUOTES = frozenset({'"""', "'''", '"', "'"})
# Texts and comments whole, for what is in them is no mark; a quote that stands alone begins a text without end.
_TOKENS = re.compile(
    r""""{3}(?:[^"\\]|\\.|"(?!""))*+"{3}|'{3}(?:[^']|'(?!''))*+'{3}|"{3}|'{3}"""
    r"""|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+'|"|'|\#[^\n]*+|[.\[{]""",
    re.DOTALL,
)


def parse_toml(text: str) -> dict[str, Any]:
    """The document in this text; InputError for what is no TOML, and for what would take a parser all day.

    Keys of many parts and lists in lists take it the square of their number; no description has many.
    """
    _refuse_laborious(text)
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        raise InputError(f"is not TOML: {error}") from error


def _refuse_laborious(text: str) -> None:
    found = 0
    for token in _TOKENS.finditer(text):
        if token[0] in _QUOTES:
            raise InputError("is not TOML: a text does not end")
        found += token[0] in _MARKS
    if found > _MOST_MARKS:
        raise InputError(f"has {found:,} dots, lists and sections, wanted at most {_MOST_MARKS:,}")
