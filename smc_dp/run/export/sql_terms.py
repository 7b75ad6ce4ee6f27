"""Terms of SQL that SQLite and DuckDB read alike: names, texts, numbers, cells, sums and days.

Both end a row in NULL where a cell cannot be used. A column that holds texts is no column of numbers, because SQLite
would read any text as the number 0.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence

_TEXT_TYPES = "('text', 'blob', 'varchar')"
_LARGEST = "1.797693134862315e308"
_DATE = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]"
_BEFORE = (306, 337, 0, 31, 61, 92, 122, 153, 184, 214, 245, 275)  # days of a year that begins in March, by month
_EPOCH = 306  # of `day_number`, below the ordinals of Python
_WHOLE = re.compile("-?[0-9]+", re.ASCII)
ROWS = '"t"'
"""Name of the table in every layer of the query."""


def name(text: str) -> str:
    """Return an identifier."""
    return '"' + text.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Return a text."""
    return "'" + text.replace("'", "''") + "'"


def number(value: float) -> str:
    """Return a number, with an exponent: DuckDB would take it for a decimal one without.

    It has 17 digits, without zeros at its end. The shortest text can lie almost halfway to the next double, and SQLite,
    which rounds twice, then reads that one: a cell at the edge of a bin would count for the bin below.
    """
    text = f"{value:.17g}"
    text = text if "e" in text else f"{text}e0"
    return f"({text})" if text.startswith("-") else text


def cell(column: str) -> str:
    """Return a cell of the row."""
    return f"{ROWS}.{name(column)}"


def is_empty(column: str) -> str:
    """Return whether nothing stands in a cell; NaN counts as nothing."""
    found = cell(column)
    text = f"CAST({found} AS VARCHAR)"
    nan = f"(lower(typeof({found})) IN ('double', 'float') AND {text} = 'nan')"
    return f"({found} IS NULL OR trim({text}) = '' OR {nan})"


def number_in(column: str) -> str:
    """Return the finite number in a cell, else NULL."""
    found = cell(column)
    value = f"CAST({found} AS DOUBLE)"
    return (
        f"CASE WHEN lower(typeof({found})) IN {_TEXT_TYPES} THEN NULL WHEN abs({value}) <= {_LARGEST} THEN {value} END"
    )


def is_text_of(column: str, texts: Sequence[str]) -> str:
    """Return whether a cell has one of these texts; a whole number may stand in a column of fractions."""
    wanted = [*texts, *(f"{text}.0" for text in texts if _WHOLE.fullmatch(text))]
    return f"trim(CAST({cell(column)} AS VARCHAR)) IN ({', '.join(map(literal, wanted))})"


def date_in(column: str) -> str:
    """Return the date in a cell, or in its text as yyyy-mm-dd, as one number yyyymmdd; else NULL."""
    text = f"trim(CAST({cell(column)} AS VARCHAR))"
    digits = f"substr({text}, 1, 4) || substr({text}, 6, 2) || substr({text}, 9, 2)"
    return f"CASE WHEN {text} GLOB '{_DATE}' THEN CAST({digits} AS INTEGER) END"


def days_since(first: datetime.date, written: str) -> str:
    """Return the days from `first` to the date that the number yyyymmdd names, NULL where there is no such date.

    Years begin in March, so that a leap day is the last of its year. A division without a rest is the same in SQLite,
    which divides whole numbers, and in DuckDB, which does not.
    """
    year = f"(({written} - {written} % 10000) / 10000)"
    month = f"(({written} % 10000 - {written} % 100) / 100)"
    day = f"({written} % 100)"
    begun = f"({year} - CASE WHEN {month} <= 2 THEN 1 ELSE 0 END)"
    leaps = " ".join(f"{sign} ({begun} - {begun} % {of}) / {of}" for sign, of in (("+", 4), ("-", 100), ("+", 400)))
    before = " ".join(f"WHEN {i} THEN {days}" for i, days in enumerate(_BEFORE, start=1))
    leap = f"({year} % 4 = 0 AND ({year} % 100 <> 0 OR {year} % 400 = 0))"
    last = f"CASE WHEN {month} IN (4, 6, 9, 11) THEN 30 WHEN {month} <> 2 THEN 31 WHEN {leap} THEN 29 ELSE 28 END"
    days = f"365 * {begun} {leaps} + CASE {month} {before} END + {day} - {_EPOCH + first.toordinal()}"
    return f"CASE WHEN {year} >= 1 AND {day} >= 1 AND {day} <= {last} THEN {days} END"


def clip_number(value: str, low: float, high: float) -> str:
    """Return a number, clipped to its bounds; NULL stays."""
    least, most = number(low), number(high)
    return f"CASE WHEN {value} < {least} THEN {least} WHEN {value} > {most} THEN {most} ELSE {value} END"


def sum_of(terms: Sequence[str]) -> str:
    """Return the sum of the terms, in pairs of pairs: a database refuses expressions that are nested too deeply."""
    level = list(terms) or ["0e0"]
    while len(level) > 1:
        level = [f"({level[i]} + {level[i + 1]})" if i + 1 < len(level) else level[i] for i in range(0, len(level), 2)]
    return level[0]


def place_of(value: str, edges: Sequence[float]) -> str:
    """Return the place of the bin of a number; NULL stays."""
    within = " ".join(f"WHEN {value} < {number(edge)} THEN {i}" for i, edge in enumerate(edges[1:-1]))
    return f"CASE WHEN {value} IS NULL THEN NULL {within} ELSE {len(edges) - 2} END"
