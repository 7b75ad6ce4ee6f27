"""Cells of CSV files for spreadsheets, which take some texts for formulas and carry them out."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence

_FORMULA = re.compile(r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n]")
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?", re.ASCII)
_QUOTE = "'"
_MARK = re.compile(r"[\r\n\t;]")


def is_formula(text: str) -> bool:
    """Return whether a spreadsheet could take the text for a formula: it begins as one does, and is no plain number."""
    return bool(_FORMULA.match(text)) and not _NUMBER.fullmatch(text)


def escape_formula(text: str) -> str:
    """Return the text as a cell that is no formula: an apostrophe goes in front of a formula, and of an apostrophe."""
    return _QUOTE + text if is_formula(text) or text.startswith(_QUOTE) else text


def holds_formula(text: str) -> bool:
    """Tell whether the text is a formula, or has one behind a mark at which some spreadsheets end a cell or a line."""
    return any(map(is_formula, (text, *_MARK.split(text))))


def format_csv(rows: Iterable[Sequence[object]]) -> str:
    """Return a CSV table in which no text is a formula, also where a semicolon or a tab ends a cell; numbers stay."""
    cells = [[_cell(cell, place) for place, cell in enumerate(row)] for row in rows]
    marked = any(isinstance(row[0], str) and _MARK.search(row[0]) for row in cells)
    text = io.StringIO()
    csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL if marked else csv.QUOTE_MINIMAL).writerows(cells)
    return text.getvalue()


def _cell(cell: object, place: int) -> object:
    if not isinstance(cell, str):
        return cell
    # Quotation marks hold the first cell of a line together for everybody. A program that ends cells at semicolons
    # does not take those of a later cell for quotation marks, because a comma stands before them.
    parts = [cell] if place == 0 else re.split(f"({_MARK.pattern})", cell)
    return "".join(part if i % 2 else escape_formula(part) for i, part in enumerate(parts))
