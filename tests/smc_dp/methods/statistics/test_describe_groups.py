"""Groups of rows are what pandas says without noise, and intervals of their figures and differences cover with it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from smc_dp.methods.statistics.describe_result import DescribeResult
from smc_dp.methods.statistics.estimate import Estimate
from smc_dp.methods.statistics.quantiles import QUANTILES
from tests.smc_dp.methods.statistics.test_describe import (
    FRAME,
    PARTIES,
    check_coverage,
    coverage,
    drawn,
    figures,
    parts,
    spec,
    summed,
    truth,
)

COLUMNS = {
    "sex": (["f", "m", "x"], "sex"),
    "lab": (["[0, 1)", "[1, 2)", "[2, 5]"], "bins"),
    "ill": (["no", "yes"], "ill"),
}


def in_groups(found: DescribeResult) -> dict[tuple[str, ...], Estimate | None]:
    rows = (row for row in found.table() if row.group and row.figure not in dict(QUANTILES))
    return {(row.group, row.column, row.level, row.figure): row.found for row in rows}


def grouped_truth(by: str, table: pd.DataFrame = FRAME) -> dict[tuple[str, ...], float]:
    """The same figures by pandas."""
    table = table.assign(lab=pd.cut(table["lab"], [0, 1, 2, 5], right=False, labels=COLUMNS["lab"][0]).astype(str))
    groups = {level: table[table[by] == level] for level in COLUMNS[by][0]}
    if by == "sex":
        groups["(empty)"] = table[table["sex"].isna()]
    found: dict[tuple[str, ...], float] = {}
    for group, rows in groups.items():
        found[group, by, group, "count"] = len(rows)
        for name in ("age", "bmi"):
            found[group, name, "", "mean"] = rows[name].mean()
            found[group, name, "", "standard deviation"] = rows[name].std()
        for name in {"sex", "lab", "ill"} - {by}:
            for level in COLUMNS[name][0]:
                found[group, name, level, "count"] = float((rows[name] == level).sum())
        for name in {"sex", "bmi"} - {by}:
            found[group, name, "(empty)", "count"] = float(rows[name].isna().sum())
        for _, name, level, figure in list(found):
            if figure == "count" and name != by and (group, name, level, figure) in found:
                found[group, name, level, "proportion"] = found[group, name, level, figure] / len(rows)
    first = next(iter(groups))
    for (group, name, level, figure), value in list(found.items()):
        if group != first and figure in ("mean", "proportion"):
            found[group, name, level, f"difference of {figure}s"] = value - found[first, name, level, figure]
    return found


@pytest.mark.parametrize("by", ["sex", "lab", "ill"])
def test_without_noise_groups_are_what_pandas_says(by: str) -> None:
    made = spec(None, by)
    found = summed(made, parts(made))
    wanted = grouped_truth(by)
    assert in_groups(found).keys() == wanted.keys()
    for key, one in in_groups(found).items():
        assert one is not None, key
        assert one.low == one.estimate == one.high == pytest.approx(wanted[key], rel=1e-5, abs=1e-5), key
    for name, whole in figures(found).items():
        assert whole.estimate == pytest.approx(truth()[name], rel=1e-6), name


def test_intervals_of_groups_and_differences_cover_as_often_as_they_say() -> None:
    """Of 1,000 draws of each figure, and of all rows, of which the noise is that of all groups."""
    found, wanted = drawn(spec(by="ill")), grouped_truth("ill")
    covered = coverage([in_groups(one) for one in found], wanted)
    for part in {key[-1] for key in wanted}:
        check_coverage({key: share for key, share in covered.items() if key[-1] == part})
    check_coverage(coverage([figures(one) for one in found], truth()))


def test_a_group_without_rows_has_counts_around_0_and_no_mean() -> None:
    """At every party, and at one of them only."""
    table = FRAME.assign(sex=FRAME["sex"].where(FRAME["sex"] != "x", "f"))
    made = spec(by="sex")
    found = in_groups(summed(made, parts(made, table)))
    count = found["x", "sex", "x", "count"]
    assert count is not None
    assert abs(count.estimate) < 3 * (count.high - count.low)
    for key in (("age", "", "mean"), ("ill", "yes", "proportion"), ("age", "", "difference of means")):
        assert found[("x", *key)] is None
    assert found["m", "age", "", "difference of means"] is not None
    some = table.assign(sex=np.where(np.arange(len(table)) % PARTIES == 0, "m", FRAME["sex"].fillna("f")))
    exact = spec(None, "sex")
    assert in_groups(summed(exact, parts(exact, some)))["x", "sex", "x", "count"] == Estimate(
        *[float((some["sex"] == "x").sum())] * 3
    )
