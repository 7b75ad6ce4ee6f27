"""How a text file writes its table, said by whoever has the file: nothing of it is guessed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from smc_dp.errors import InputError, shown

ENCODINGS = ("utf-8", "utf-16", "latin-1", "cp1252")
"""utf-8 may begin with a byte order mark, and utf-16 has to."""
DECIMALS = (".", ",")
SEPARATORS = (",", ";", "\t", "|")
"""Those that a message recognises; any other single character may be said as well."""
_NO_SEPARATOR = re.compile(r'["\'\r\n\0+\-.\w]')  # of quotes, lines and numbers
_MOST_WORDS, _LONGEST_WORD = 100, 100


@dataclass(frozen=True)
class FileForm:
    """Of a CSV file: what stands between cells, before decimals, which bytes stand for which text.

    A cell that is exactly one of the words in `missing` is an empty cell. Raises InputError for what is no form.
    """

    separator: str = ","
    decimal: str = "."
    encoding: str = "utf-8"
    missing: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len(self.separator) != 1 or _NO_SEPARATOR.fullmatch(self.separator):
            raise InputError(
                "[file] separator: wanted a single character that is no letter, digit, quote or part of a number, "
                f"got {shown(self.separator)}"
            )
        if self.decimal not in DECIMALS:
            raise InputError(f'[file] decimal: wanted "." or ",", got {shown(self.decimal)}')
        if self.decimal == self.separator:
            raise InputError('[file] decimal: wanted another separator than ",", which stands before decimals')
        if self.encoding not in ENCODINGS:
            raise InputError(f"[file] encoding: wanted one of {', '.join(ENCODINGS)}, got {shown(self.encoding)}")
        if len(self.missing) > _MOST_WORDS:
            raise InputError(f"[file] missing: wanted at most {_MOST_WORDS} words, got {len(self.missing)}")
        for word in self.missing:
            if not 0 < len(word) <= _LONGEST_WORD:
                raise InputError(f"[file] missing: wanted words of 1 to {_LONGEST_WORD} characters, got {shown(word)}")

    def pointed(self, cell: str) -> str:
        """The cell with a point before its decimals; nothing where points would stand between thousands."""
        if self.decimal == ".":
            return cell
        return "" if "." in cell else cell.replace(self.decimal, ".")

    def number(self, cell: str) -> float:
        """The number in a cell; ValueError where there is none, or one with marks between its thousands."""
        # Python would also read the 1_000 of its own source code.
        return float("" if "_" in cell else self.pointed(cell))


PLAIN = FileForm()


def saying(setting: str, value: str) -> str:
    """How a site says this of its file."""
    written = value.replace("\t", "\\t")
    return f'write {setting} = "{written}" into [file] of own.toml'


def other_separator(cells: Sequence[str], form: FileForm) -> str:
    """A clause for a header that another separator would have cut into more cells; nothing where none would."""
    found = {mark: sum(cell.count(mark) for cell in cells) for mark in SEPARATORS if mark != form.separator}
    mark = max(found, key=found.__getitem__)
    if found[mark] < len(cells):
        return ""
    return f"; it looks like one with {shown(mark)} between cells: {saying('separator', mark)}"


def other_encoding(encoding: str) -> str:
    """A clause for a file that looks like text of this encoding."""
    return f"; it looks like {encoding}: {saying('encoding', encoding)}"
