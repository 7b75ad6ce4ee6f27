"""The file of predictions, as a spreadsheet and as a program reads it."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smc_dp.core.spreadsheet import escape_formula, is_formula
from smc_dp.run.prediction import Predictions
from tests.support.refusals import refused

FORMULAS = (
    *('=HYPERLINK("http://x","y")', "+cmd|' /C calc'!A0", "-2+3+cmd", "@SUM(1+1)", "\t=1+1", "\r=1+1", "\n=1", " =1"),
    *("-", "--1", "+1+1", "-1_000", "\uff1d1+1", "-inf"),
)
HARMLESS = ("", "7", "-7", "+3.5", "-1e-3", "7=8", "a-b", "it's", "north 3")


def written(folder: Path, ids: tuple[str, ...], called: str = "patient", classes: tuple[str, ...] = ()) -> list[str]:
    """The first column of the file."""
    made = Predictions(("yes",) * len(ids), None, (), scores=(0.5,) * len(ids), ids=ids, classes=classes)
    made.write(folder / "out.csv", called)
    content = (folder / "out.csv").read_bytes().decode()
    return [row[0] for row in csv.reader(io.StringIO(content, newline=""))]


def test_no_cell_is_a_formula_and_a_reader_has_every_id_back(tmp_path: Path) -> None:
    ids = (*FORMULAS, *HARMLESS, "'", "'=1", "''x")
    cells = written(tmp_path, ids, called="=patient")
    assert not any(is_formula(cell) for cell in cells)
    assert tuple(cell.removeprefix("'") for cell in cells) == ("=patient", *ids)
    assert cells[1 + len(FORMULAS) :][: len(HARMLESS)] == list(HARMLESS)


@pytest.mark.parametrize("name", ["a;=1+1", "a\t=1+1"])
def test_an_id_is_one_cell_where_others_end_a_cell_at_another_mark(tmp_path: Path, name: str) -> None:
    """In half of Europe a spreadsheet divides the lines of a CSV file at semicolons."""
    assert written(tmp_path, (name,)) == ["patient", name]
    line = (tmp_path / "out.csv").read_text().splitlines()[1]
    assert next(csv.reader([line], delimiter=name[1]))[0].startswith(name)


@given(st.text())
def test_taking_one_apostrophe_away_gives_any_text_back(text: str) -> None:
    assert escape_formula(text).removeprefix("'") == text
    assert not is_formula(escape_formula(text))


@pytest.mark.parametrize("name", [*FORMULAS, "pos;=1+1", "pos\t=1+1", "pos\r=1+1", "pos\n=1+1", "pos; @x"])
def test_a_class_that_holds_a_formula_is_refused(tmp_path: Path, name: str) -> None:
    with refused("prediction.class_is_formula"):
        written(tmp_path, ("1",), classes=("no", name))
    assert list(tmp_path.iterdir()) == []
    assert written(tmp_path, ("1",), classes=("no", *HARMLESS[1:])) == ["patient", "1"]
