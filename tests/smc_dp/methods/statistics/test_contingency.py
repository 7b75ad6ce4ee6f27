"""Contingency tables are those of pandas without noise, and a record reaches one more cell with each."""

from __future__ import annotations

from itertools import product

import pandas as pd
import pytest

from tests.smc_dp.methods.statistics.test_describe import (
    FRAME,
    check_coverage,
    coverage,
    drawn,
    parts,
    spec,
    summed,
)
from tests.support.refusals import refused

BINS = ("[0, 1)", "[1, 2)", "[2, 5]")


def truth() -> dict[str, pd.DataFrame]:
    lab = pd.cut(FRAME["lab"], [0, 1, 2, 5], right=False, labels=list(BINS))
    sex = FRAME["sex"].fillna("(empty)")
    return {"sex*ill": pd.crosstab(sex, FRAME["ill"]), "lab*sex": pd.crosstab(lab, sex)}


@pytest.mark.parametrize("by", [None, "ill"])
def test_without_noise_tables_are_those_of_pandas(by: str | None) -> None:
    tables = "sex*ill, lab * sex" if by is None else "lab*sex"
    made = spec(None, by, tables)
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
    for one in drawn(spec(tables="sex*ill")):
        (table,) = one.tables
        counts = (count for row in table.cells for count in row)
        found.append(dict(zip(product(*table.levels), counts, strict=True)))
    check_coverage(coverage(found, wanted))


@pytest.mark.parametrize(
    ("tables", "by", "code"),
    [
        ("sex", None, "describe.no_pair"),
        ("sex*ill*lab", None, "describe.no_pair"),
        ("sex*ill,", None, "describe.no_pair"),
        ("sex*sex", None, "describe.no_pair"),
        ("sex*ward", None, "describe.no_such_column"),
        ("sex*age", None, "describe.column_of_numbers"),
        ("sex*ill, ill*sex", None, "describe.no_pair"),
        ("sex*ill", "ill", "describe.no_pair"),
        (None, "age", "describe.column_of_numbers"),
        (None, "ward", "describe.no_such_column"),
    ],
)
def test_what_is_no_new_pair_of_columns_of_levels_is_refused(tables: str | None, by: str | None, code: str) -> None:
    with refused(code):
        spec(by=by, tables=tables)
