"""Cells of CSV files for spreadsheets: what is no formula stays as it is, and no cell of any text is one."""

from __future__ import annotations

import csv

import pytest

from smc_dp.core.spreadsheet import escape_formula, format_csv, holds_formula, is_formula


@pytest.mark.parametrize(
    ("text", "cell"),
    [("=1+1", "'=1+1"), (" @x", "' @x"), ("'m", "''m"), ("'", "''"), ("-7", "-7"), ("a-b", "a-b"), ("", "")],
)
def test_an_apostrophe_stands_before_formulas_and_apostrophes_alone(text: str, cell: str) -> None:
    assert escape_formula(text) == cell


@pytest.mark.parametrize("mark", "\r\n\t;")
def test_a_formula_behind_any_mark_is_found(mark: str) -> None:
    assert holds_formula(f"m{mark}=1+1")
    assert holds_formula("=1+1")
    assert not holds_formula("m,=1+1")


@pytest.mark.parametrize("mark", ",;\t")
def test_no_cell_is_a_formula_whichever_mark_divides_a_line(mark: str) -> None:
    """Quotation marks hold the first cell of a line together, and no later one."""
    text = "m;=1+1\t=2"
    table = format_csv([("id", "mechanism"), (text, text)])
    assert not any(is_formula(cell) for row in csv.reader(table.splitlines(), delimiter=mark) for cell in row)
    assert list(csv.reader(table.splitlines()))[1] == [text, "m;'=1+1\t'=2"]
