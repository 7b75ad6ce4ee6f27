"""Groups of rows are what pandas says without noise, and intervals of their figures and differences cover with it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from smc_dp.data.bounds import Bounds
from smc_dp.data.columns import BinnedColumn, CategoricalColumn, NumericColumn
from smc_dp.data.federation import Public
from smc_dp.data.frames import read_file_or_frame
from smc_dp.data.preprocess import encode_labelled_rows
from smc_dp.methods.statistics.describe import Describe, DescribeSum
from smc_dp.methods.statistics.describe_result import DescribeResult
from smc_dp.methods.statistics.estimate import Estimate
from smc_dp.methods.statistics.quantiles import QUANTILES
from smc_dp.methods.sums.threat_model import ThreatModel
from smc_dp.privacy.target import Target
from tests.smc_dp.methods.statistics import test_describe
from tests.smc_dp.methods.statistics.test_describe import (
    BOUNDS,
    FRAME,
    PARTIES,
    RELEASED,
    check_coverage,
    coverage,
    drawn,
    figures,
    parts,
    summed,
    truth,
)
from tests.support.refusals import refused

COLUMNS = {
    "sex": (["f", "m", "x"], "sex"),
    "lab": (["[0, 1)", "[1, 2)", "[2, 5]"], "bins"),
    "ill": (["no", "yes"], "ill"),
}


def spec(by: str, epsilon: Fraction | None = Fraction(1), bounds: Bounds = BOUNDS) -> DescribeSum:
    public = Public(PARTIES, bounds.dimension, 2, columns=bounds.columns, label=bounds.label_column)
    return Describe(by).shared(public, Target(epsilon, noise="ddg"), ThreatModel(PARTIES, 1, 0), RELEASED)


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
    made = spec(by, None)
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
    found, wanted = drawn(spec("ill")), grouped_truth("ill")
    covered = coverage([in_groups(one) for one in found], wanted)
    for part in {key[-1] for key in wanted}:
        check_coverage({key: share for key, share in covered.items() if key[-1] == part})
    check_coverage(coverage([figures(one) for one in found], truth()))


def test_a_group_without_rows_has_counts_around_0_and_no_mean() -> None:
    """At every party, and at one of them only."""
    table = FRAME.assign(sex=FRAME["sex"].where(FRAME["sex"] != "x", "f"))
    made = spec("sex")
    found = in_groups(summed(made, parts(made, table)))
    count = found["x", "sex", "x", "count"]
    assert count is not None
    assert abs(count.estimate) < 3 * (count.high - count.low)
    for key in (("age", "", "mean"), ("ill", "yes", "proportion"), ("age", "", "difference of means")):
        assert found[("x", *key)] is None
    assert found["m", "age", "", "difference of means"] is not None
    some = table.assign(sex=np.where(np.arange(len(table)) % PARTIES == 0, "m", FRAME["sex"].fillna("f")))
    exact = spec("sex", None)
    assert in_groups(summed(exact, parts(exact, some)))["x", "sex", "x", "count"] == Estimate(
        *[float((some["sex"] == "x").sum())] * 3
    )


def test_groups_by_what_has_no_levels_are_refused() -> None:
    with refused("describe.column_of_numbers", name="'age'"):
        spec("age")
    with refused("describe.no_such_column", name="'ward'"):
        spec("ward")


def test_a_party_enters_no_more_than_its_reach_in_groups() -> None:
    made = spec("sex")
    for own in parts(made):
        assert len(own.sums) == made.reach.dimension
        assert sum(x * x for x in own.sums) <= (made.reach.longest / RELEASED.most_rows * own.rows * (1 << 24)) ** 2


def test_a_replaced_record_reaches_the_stated_distance_in_groups_and_never_passes_it() -> None:
    """A search over pairs of records at corners and at random places, by the encoding that runs use."""
    columns = (
        NumericColumn("a", -1, 1),
        NumericColumn("b", -1, 1, "indicator"),
        BinnedColumn("c", (0, 1, 2)),
        CategoricalColumn("g", ("u", "v", "w")),
    )
    bounds = Bounds(columns).whole
    made, rng = spec("g", bounds=bounds), np.random.default_rng(5)
    corner = rng.random(600) < 0.5
    table = pd.DataFrame(
        {
            "a": np.where(corner, rng.choice([-1.0, 1.0], 600), rng.uniform(-1, 1, 600)),
            "b": np.where(rng.random(600) < 0.2, np.nan, rng.choice([-1.0, 1.0], 600)),
            "c": rng.uniform(0, 2, 600),
            "g": rng.choice(["u", "v", "w"], 600),
        }
    )
    rows = encode_labelled_rows(read_file_or_frame(table, "records"), bounds, None)
    each = (made.method.prepare(rows.take(np.array([i])), made.public) for i in range(600))
    own = np.array([one.sums for one in each], dtype=float)
    squares = (own * own).sum(axis=1)
    farthest = float(np.sqrt((squares[:, None] + squares[None, :] - 2 * own @ own.T).max())) / (1 << 24)
    assert 0.999 * float(made.reach.sensitivity) < farthest <= float(made.reach.sensitivity) * (1 + 1e-9)


def test_what_is_described_without_groups_is_as_before() -> None:
    assert "groups" not in summed(test_describe.spec(), parts(test_describe.spec())).as_dict()
