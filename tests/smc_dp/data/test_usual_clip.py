"""The usual norm of rows follows from the columns alone, and few rows are longer."""

from __future__ import annotations

import datetime
from math import comb, sqrt

import numpy as np
import pytest

from smc_dp.core.errors import RowsClippedWarning
from smc_dp.data.bounds import Bounds, bounds_from_file, parse_bounds
from smc_dp.data.bounds_file import BoundsFile
from smc_dp.data.columns import BinnedColumn, CategoricalColumn, Column, DateColumn, NumericColumn
from smc_dp.data.preprocess import encode_labelled_rows, examine_table
from smc_dp.data.table import Table
from smc_dp.data.usual_clip import longest_norm, usual_clip
from tests.support.refusals import refused

DAYS = DateColumn("d", datetime.date(2020, 1, 1), datetime.date(2020, 12, 31))
LEVELS, BINS = CategoricalColumn("c", ("x", "y"), "category"), BinnedColumn("b", (0, 1, 2))


def numbers(count: int) -> list[Column]:
    return [NumericColumn(f"x{i}", 0, 1, "indicator" if i % 2 else None) for i in range(count)]


@pytest.mark.parametrize(
    ("columns", "clip"),
    [
        (numbers(1), 1.0),
        (numbers(4), 2.0),
        (numbers(9), 2.74),  # sqrt(4.5 + 3)
        (numbers(100), 7.75),  # sqrt(50 + 10)
        ([LEVELS] * 9, 3.0),
        ([LEVELS, BINS, DAYS], 1.74),
        ([*numbers(8), DAYS, LEVELS, BINS], 3.09),  # sqrt(7.5 + 2)
    ],
)
def test_the_usual_norm_counts_kinds_of_columns(columns: list[Column], clip: float) -> None:
    assert usual_clip(columns) == clip <= longest_norm(len(columns))
    made = Bounds((*columns[:1], NumericColumn("z", 5, 7)), ("no", "yes"))
    assert made.clip == usual_clip(made.columns)


@pytest.mark.parametrize("count", [*range(1, 60), 500])
def test_at_most_one_row_in_twenty_is_longer_where_numbers_are_at_an_end_half_of_the_time(count: int) -> None:
    square = (usual_clip(numbers(count))) ** 2
    longer = sum(comb(count, ends) for ends in range(count + 1) if ends > square)
    assert 20 * longer <= 2**count
    assert square < count / 2 + sqrt(count) + 0.02 * sqrt(count) + 0.01


def test_no_row_inside_its_bounds_is_longer_than_the_longest_norm() -> None:
    columns = (*numbers(3), LEVELS, BINS, DAYS)
    bounds = Bounds(columns, ("no", "yes"), "y", clip=longest_norm(len(columns)))
    rng = np.random.default_rng(1)
    cells: dict[str, list[object]] = {f"x{i}": rng.integers(0, 2, 500).tolist() for i in range(3)}
    cells |= {"c": rng.choice(["x", "y"], 500).tolist(), "b": rng.integers(0, 3, 500).tolist()}
    cells |= {"d": ["2020-12-31"] * 500, "y": ["no"] * 500}
    cells["x1"][:9] = [None] * 9
    table = Table("t", cells, range(1, 501))
    assert examine_table(table, bounds, "y").clipped == 0
    assert examine_table(table, Bounds(columns, ("no", "yes"), "y", clip=longest_norm(6) - 0.02), "y").clipped > 0


def test_the_warning_of_shortened_rows_ends_with_the_line_that_shortens_none() -> None:
    table = Table("t", {"a": [0.0, 1.0], "b": [0.0, 1.0], "y": ["no", "yes"]}, range(1, 3))
    text = "[columns]\na = [0, 1]\nb = [0, 1]\n[label]\nclasses = ['no', 'yes']\n"
    with pytest.warns(RowsClippedWarning) as caught:
        encode_labelled_rows(table, parse_bounds(f"{text}[rows]\nclip = 1.0\n"), "y", warn=True)
    (warning,) = (each.message for each in caught if isinstance(each.message, RowsClippedWarning))
    line = str(warning.fault.fields["to_write"]).partition("write ")[2].partition(" under ")[0]
    assert line == "clip = 1.42"
    encode_labelled_rows(table, parse_bounds(f"{text}[rows]\n{line}\n"), "y", warn=True)  # a warning is an error here
    encode_labelled_rows(table, parse_bounds(text), "y", warn=True)


def test_a_stated_norm_stays_and_a_document_may_have_another_usual_one() -> None:
    stated = {"columns": {"a": [0, 1]}, "label": {"classes": ["no", "yes"]}}
    said = BoundsFile.model_validate(stated)
    assert (bounds_from_file(said).clip, bounds_from_file(said, 2.0).clip) == (1.0, 2.0)
    said = BoundsFile.model_validate({**stated, "rows": {"clip": 0.5}})
    assert (bounds_from_file(said).clip, bounds_from_file(said, 2.0).clip) == (0.5, 0.5)
    with refused("bounds.clip_not_positive", got=0.0):
        bounds_from_file(BoundsFile.model_validate({**stated, "rows": {"clip": 0.0}}))
