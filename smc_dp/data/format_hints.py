"""Hints for refused input: its apparent format, and the settings with which it would be read.

Readers of files and cells return faults without a hint; `add_hint` adds it, once. Nothing is read by its appearance
alone: 1,234 may be a thousand, or a bit more than one.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal
from types import MappingProxyType

from smc_dp.core.errors import Fault, shown
from smc_dp.data.cell_hints import of_another_case, of_blank_row, of_date, of_level, of_nothing, of_number
from smc_dp.data.file_format import RECOGNISED_SEPARATORS, separates_cells
from smc_dp.data.refused_input import LINE, NO_HINT, FormatFault, Hint, RefusedInput

_FIRST = 2  # line below the header
_QUOTED_NAME = re.compile(r'"(?>(?:[^"]|"")*)"(.)')


def add_hint(fault: Fault, refused: RefusedInput) -> Fault:
    """Return the fault with what the cell holds, and with its hint: a word, `recognised`, and a clause, `hint`."""
    fields = {name: _shown(fault, refused) if value is None else value for name, value in fault.fields.items()}
    if make := _MAKERS.get(fault.code):
        hint = make(fault, refused)
        fields |= {"recognised": hint.recognised, "hint": hint.clause}
        if hint.settings or hint.choices:
            explained = FormatFault(fault.code, fields, fault.place, fault.behind, refused.form, hint.clause)
            return replace(explained, settings=hint.settings, choices=hint.choices).completed({})
    return replace(fault, fields=fields)


def _shown(fault: Fault, refused: RefusedInput) -> str:
    """Write a refused cell for a sentence."""
    cell = refused.cell
    if fault.code == "cell.not_finite" and not isinstance(cell, str):
        return str(float(str(cell)))
    if isinstance(cell, Decimal):
        return str(cell)
    return shown(cell.strip() if isinstance(cell, str) else refused.text or cell)  # 01000 as it is written, not as 1000


def _of_column(fault: Fault, refused: RefusedInput) -> Hint:
    """Return the hint for a missing column: a header in another letter case, or cut by another separator."""
    alike = of_another_case(refused.text, refused.header)
    return _of_separator(fault, refused) if alike == NO_HINT else alike


def _of_separator(_: Fault, refused: RefusedInput) -> Hint:
    """Return the hint for a header that another separator would cut into more cells."""
    form, header = refused.form, refused.header
    found = {
        mark: sum(cell.count(mark) for cell in header)
        for mark in RECOGNISED_SEPARATORS
        if mark != (form.separator or ",")
    }
    mark = max(found, key=found.__getitem__)
    if found[mark] < len(header):
        return NO_HINT
    return _between(mark)


def _between(mark: str) -> Hint:
    return Hint(mark, f"; the table seems to have {shown(mark)} between cells: {LINE}", {"separator": mark})


def _of_ragged_row(fault: Fault, refused: RefusedInput) -> Hint:
    """Return the hint for a row of another width: another separator, or names of rows as R's write.table has them."""
    said, found = fault.fields, _of_separator(fault, refused)
    if found == NO_HINT and said["line"] == _FIRST and len(refused.header) == 1:
        return Hint("title", "; or a title stands above the header: remove the lines above it")
    if found != NO_HINT or said["line"] != _FIRST or said["got"] != len(refused.header) + 1:
        return found
    return Hint("names of rows", "; for names of rows, as write.table of R writes them, state row.names = FALSE there")


def _of_quoted_names(_: Fault, refused: RefusedInput) -> Hint:
    """Return the hint for a header of names in quotes with another mark between them."""
    header = "".join(refused.header)
    found = _QUOTED_NAME.match(header)
    return _between(found[1]) if found and separates_cells(found[1]) and _is_row(header, found[1]) else NO_HINT


def _is_row(line: str, separator: str) -> bool:
    try:
        return any(len(row) > 1 for row in csv.reader([line], delimiter=separator, strict=True))
    except csv.Error:
        return False


def _of_encoding(fault: Fault, refused: RefusedInput) -> Hint:
    """Return the hint for a file that looks like text of the encoding that the fault names, if any."""
    encoding = str(fault.fields["recognised"])
    return Hint(encoding, f"; it looks like {encoding}: {LINE}", {"encoding": encoding}) if encoding else NO_HINT


_MAKERS: Mapping[str, Callable[[Fault, RefusedInput], Hint]] = MappingProxyType(
    {
        "cell.not_a_number": of_number,
        "cell.not_finite": of_nothing,
        "row.empty": of_blank_row,
        "cell.not_a_date": of_date,
        "cell.ambiguous_date": of_date,
        "cell.unknown_level": of_level,
        "table.no_column": _of_column,
        "csv.one_column": _of_separator,
        "csv.ragged_row": _of_ragged_row,
        "csv.short_row": _of_separator,
        "csv.text_after_quote": _of_quoted_names,
        "text.unreadable_byte": _of_encoding,
        "text.other_encoding": _of_encoding,
    }
)
