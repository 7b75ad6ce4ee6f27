"""Eight awkward exports of the same rows, with bounds from their data dictionaries: the same features and models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from support.exports import EXPORTS, LABEL, Patient, Spelling, patients

from smc_dp.data.bounds import Bounds, parse_bounds, read_bounds
from smc_dp.data.federation import Rows
from smc_dp.data.preprocess import encode_labelled_rows
from smc_dp.data.table_reader import parse_csv, read_table
from smc_dp.data.validate_file import validate_file

ROWS = patients(60)
PLAIN = """
[label]
column = "readmitted"
classes = ["no", "yes"]
[columns]
age = [18, 110]
weight = [30, 250]
sex = ["female", "male"]
ward = ["Köln", "Zürich", "Bern"]
smoker = ["no", "yes"]
admitted = [2015-01-01, 2024-12-31]
[missing]
weight = "indicator"
smoker = "category"
"""


def plain(rows: Sequence[Patient]) -> Rows:
    """The rows as a file has them of which nobody need say anything, by bounds that a person wrote."""
    return encode_labelled_rows(parse_csv(Spelling().text(rows).encode(), "plain"), parse_bounds(PLAIN), LABEL)


def early(rows: Sequence[Patient]) -> list[Patient]:
    """With days of a month that could be taken for months."""
    return [replace(row, admitted=row.admitted.replace(day=1 + row.admitted.day % 12)) for row in rows]


def read(path: Path, bounds: Bounds) -> Rows:
    return encode_labelled_rows(read_table(path, "rows"), bounds, LABEL)


def alike(left: Rows, right: Rows) -> bool:
    """Whether they are the same to the last bit."""
    return left.X.shape == right.X.shape and left.X.tobytes() == right.X.tobytes() and bool((left.y == right.y).all())


@pytest.mark.parametrize("form", EXPORTS)
def test_the_same_rows_are_the_same_features_in_every_form(form: str, tmp_path: Path) -> None:
    path = EXPORTS[form].save(ROWS, tmp_path, "north")
    bounds = read_bounds(EXPORTS[form].bounds(tmp_path))
    assert alike(read(path, bounds), plain(ROWS))
    assert validate_file(path, bounds, "north").fits


# What reads a form wrongly gives other rows, or none.


def test_a_day_that_is_taken_for_a_month_makes_other_rows(tmp_path: Path) -> None:
    rows = early(ROWS)
    path = EXPORTS["american"].save(rows, tmp_path, "north")
    bounds = read_bounds(EXPORTS["american"].bounds(tmp_path))
    assert alike(read(path, bounds), plain(rows))
    said = path.with_name(f"{path.name}.toml")
    said.write_text(said.read_text().replace("mm/dd/yyyy", "dd/mm/yyyy"))
    assert not alike(read(path, bounds), plain(rows))


# The command line.
