"""Cells of CSV files for spreadsheets, which take some texts for formulas and carry them out."""

from __future__ import annotations

import re

_FORMULA = re.compile(r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n]")
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?", re.ASCII)
_QUOTE = "'"


def is_formula(text: str) -> bool:
    """Return whether a spreadsheet could take the text for a formula: it begins as one does, and is no plain number."""
    return bool(_FORMULA.match(text)) and not _NUMBER.fullmatch(text)


def escape_formula(text: str) -> str:
    """Return the text as a cell that is no formula: an apostrophe goes in front of a formula, and of an apostrophe."""
    return _QUOTE + text if is_formula(text) or text.startswith(_QUOTE) else text
