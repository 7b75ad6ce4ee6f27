"""TOML of unknown origin; text that would take a parser very long is refused."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from smc_dp.core.errors import InputError

_MARKS, _MOST_MARKS = frozenset(".[{"), 12_288  # three for each of the most columns that a table has
_AT_LINE, _LONGEST_LINE = re.compile(r"\(at line (\d{1,9}),"), 100
_MORE_SPACES = re.compile("(?<= ) ")
_QUOTES = frozenset({'"""', "'''", '"', "'"})
# Texts and comments whole, for what is in them is no mark; a quote that stands alone begins a text without end.
_TOKENS = re.compile(
    r""""{3}(?>(?:[^"\\]|\\.|"(?!""))*)"{3}|'{3}(?>(?:[^']|'(?!''))*)'{3}|"{3}|'{3}"""
    r"""|"(?>(?:[^"\\\n]|\\.)*)"|'[^'\n]*+'|"|'|\#[^\n]*+|[.\[{]""",
    re.DOTALL,
)


def parse_toml(text: str) -> dict[str, Any]:
    """Parse a text of TOML; InputError for what is no TOML, and for what would take a parser very long."""
    _refuse_laborious(text)
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        raise InputError("toml.unreadable", why=str(error), line=_line(text, str(error))) from error


def on_one_line(written: str) -> str:
    """Return TOML as it may be copied from a message: its quotes hold no line break, longer gap or command."""
    plain = "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in written)
    return _MORE_SPACES.sub(r"\\u0020", plain)


def toml_key(name: str) -> str:
    """Return a name as TOML writes a key."""
    import tomlkit  # a party whose files fit need not wait for it

    return on_one_line(tomlkit.key(name).as_string())


def _line(text: str, message: str) -> str:
    """Return the line that a message of the parser is about; it may say itself what is to be filled in."""
    number = _AT_LINE.search(message)
    lines = text.splitlines()
    if number is None or int(number[1]) > len(lines):
        return ""
    line = " ".join(lines[int(number[1]) - 1].split())
    return f": {line if len(line) <= _LONGEST_LINE else line[: _LONGEST_LINE - 3] + '...'}" if line else ""


def _refuse_laborious(text: str) -> None:
    found = 0  # keys of many parts and lists in lists take a parser the square of their number
    for token in _TOKENS.finditer(text):
        if token[0] in _QUOTES:
            raise InputError("toml.unended_text")
        found += token[0] in _MARKS
    if found > _MOST_MARKS:
        raise InputError("toml.too_many_marks", found=found, most=_MOST_MARKS)
