"""Contingency tables are those of pandas without noise, and a record reaches one more cell with each."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest

from smc_dp.data.federation import Public
from smc_dp.data.frames import read_file_or_frame
from smc_dp.data.preprocess import encode_labelled_rows
from smc_dp.methods.statistics.describe import Describe, DescribeSum
from smc_dp.methods.sums.threat_model import ThreatModel
from smc_dp.privacy.target import Target
from tests.smc_dp.methods.statistics.test_describe import (
    BOUNDS,
    FRAME,
    PARTIES,
    RELEASED,
    check_coverage,
    coverage,
    drawn,
    parts,
    summed,
)
from tests.support.refusals import refused

BINS = ("[0, 1)", "[1, 2)", "[2, 5]")


def spec(tables: str, by: str | None = None, epsilon: Fraction | None = Fraction(1)) -> DescribeSum:
    public = Public(PARTIES, BOUNDS.dimension, 2, columns=BOUNDS.columns, label=BOUNDS.label_column)
    return Describe(by, tables).shared(public, Target(epsilon, noise="ddg"), ThreatModel(PARTIES, 1, 0), RELEASED)


def truth() -> dict[str, pd.DataFrame]:
    lab = pd.cut(FRAME["lab"], [0, 1, 2, 5], right=False, labels=list(BINS))
    sex = FRAME["sex"].fillna("(empty)")
    return {"sex*ill": pd.crosstab(sex, FRAME["ill"]), "lab*sex": pd.crosstab(lab, sex)}


@pytest.mark.parametrize("by", [None, "ill"])
def test_without_noise_tables_are_those_of_pandas(by: str | None) -> None:
    tables = "sex*ill, lab * sex" if by is None else "lab*sex"
    made = spec(tables, by, None)
    found = summed(made, parts(made))
    assert ["*".join(one.names) for one in found.tables] == [name.replace(" ", "") for name in tables.split(", ")]
    for one in found.tables:
        wanted = truth()["*".join(one.names)]
        for level, counts in zip(one.levels[0], one.cells, strict=True):
            for other, count in zip(one.levels[1], counts, strict=True):
                assert count.low == count.estimate == count.high == wanted.loc[level, other], (level, other)
    rows = {(row.column, row.level) for row in found.table() if "*" in row.column}
    assert ("lab * sex", "[0, 1) * (empty)") in rows
    assert len(rows) == sum(len(one.cells) * len(one.cells[0]) for one in found.tables)


def test_intervals_of_cells_cover_as_often_as_they_say() -> None:
    wanted = {(level, other): float(n) for (level, other), n in truth()["sex*ill"].stack().items()}
    found = []
    for one in drawn(spec("sex*ill")):
        (table,) = one.tables
        counts = (count for row in table.cells for count in row)
        found.append(dict(zip(product(*table.levels), counts, strict=True)))
    check_coverage(coverage(found, wanted))


def test_a_replaced_record_reaches_the_stated_distance_in_tables_and_never_passes_it() -> None:
    """A search over pairs of records, by the encoding that runs use."""
    made, rng = spec("sex*ill, lab*sex"), np.random.default_rng(5)
    table = pd.DataFrame(
        {
            "age": rng.choice([0.0, 120.0], 500),
            "sex": rng.choice(["f", "m", "x", None], 500),
            "bmi": np.where(rng.random(500) < 0.3, np.nan, rng.choice([10.0, 60.0], 500)),
            "lab": rng.uniform(0, 5, 500),
            "ill": rng.choice(["no", "yes"], 500),
        }
    )
    rows = encode_labelled_rows(read_file_or_frame(table, "records"), BOUNDS, "ill")
    each = (made.method.prepare(rows.take(np.array([i])), made.public) for i in range(500))
    own = np.array([one.sums for one in each], dtype=float)
    squares = (own * own).sum(axis=1)
    farthest = float(np.sqrt((squares[:, None] + squares[None, :] - 2 * own @ own.T).max())) / (1 << 24)
    assert 0.999 * float(made.reach.sensitivity) < farthest <= float(made.reach.sensitivity) * (1 + 1e-9)


@pytest.mark.parametrize(
    ("tables", "by", "code"),
    [
        ("sex", None, "describe.no_pair"),
        ("sex*ill*lab", None, "describe.no_pair"),
        ("sex*ill,", None, "describe.no_pair"),
        ("sex*sex", None, "describe.table_of_one_column"),
        ("sex*ward", None, "describe.no_such_column"),
        ("sex*age", None, "describe.column_of_numbers"),
        ("sex*ill, ill*sex", None, "describe.table_twice"),
        ("sex*ill", "ill", "describe.table_twice"),
    ],
)
def test_what_is_no_new_pair_of_columns_of_levels_is_refused(tables: str, by: str | None, code: str) -> None:
    with refused(code):
        spec(tables, by)
