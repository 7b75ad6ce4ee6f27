"""Value of one cell in a file of a format, or the fault of what is none; hints are added where it is refused."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from types import MappingProxyType

from smc_dp.core.errors import Fault, InputFault
from smc_dp.data.file_format import AmbiguousDateError, FileFormat

NOT_A_NUMBER = InputFault("cell.not_a_number", {"got": None, "hint": ""})
NOT_FINITE = InputFault("cell.not_finite", {"got": None, "hint": ""})
NOT_A_TEXT = InputFault("cell.not_a_text", {"got": None})
EMPTY_FAULTS = MappingProxyType(
    {wanted: InputFault("cell.empty", {"wanted": wanted}) for wanted in ("a number", "a date", "a text")}
)
"""Fault of an empty cell, by the kind of value that was wanted."""
EMPTY_CODE = "cell.empty"
"""Code of these faults."""


def is_empty_cell(cell: object) -> bool:
    """Return whether nothing stands in a cell; NaN that is no text counts as empty."""
    return cell is None or (isinstance(cell, str) and not cell.strip()) or (isinstance(cell, float) and cell != cell)


def parse_number(cell: object, form: FileFormat) -> float | Fault:
    """Return the finite number in a cell, or the fault of any other cell."""
    if is_empty_cell(cell):
        return EMPTY_FAULTS["a number"]
    if isinstance(cell, str):
        try:
            found = form.number(cell)
        except ValueError:
            truth = form.truth(cell)
            return NOT_A_NUMBER if truth is None else float(truth)
    elif isinstance(cell, bool | int | float | Decimal):
        found = float(cell)
    else:
        return NOT_A_NUMBER
    return found if math.isfinite(found) else NOT_FINITE


def parse_date(cell: object, form: FileFormat) -> datetime.date | Fault:
    """Return the date in a cell, or the fault of any other cell."""
    if is_empty_cell(cell):
        return EMPTY_FAULTS["a date"]
    if isinstance(cell, datetime.date) and not isinstance(cell, datetime.datetime):
        return cell
    dates = " or ".join(form.date_forms)
    try:
        return form.day(cell if isinstance(cell, str) else "")
    except AmbiguousDateError as error:
        first, other = (day.isoformat() for day in error.days[:2])
        return InputFault(
            "cell.ambiguous_date", {"dates": dates, "got": None, "first": first, "other": other, "hint": ""}
        )
    except ValueError:
        return InputFault("cell.not_a_date", {"dates": dates, "got": None, "hint": ""})


def parse_text(cell: object) -> str | Fault:
    """Return the text in a cell, numbers, dates and truth values written out, or the fault of any other cell."""
    if is_empty_cell(cell):
        return EMPTY_FAULTS["a text"]
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, datetime.date) and not isinstance(cell, datetime.datetime):
        return cell.isoformat()
    if isinstance(cell, int | float | Decimal):
        return str(cell) if math.isfinite(cell) else NOT_A_TEXT
    return cell if isinstance(cell, str) else NOT_A_TEXT
