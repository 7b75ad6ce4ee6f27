"""`describe` is what pandas says without noise, and its intervals cover with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest

from protocols.arithmetic.rng import Stream
from smc_dp.data.bounds import Bounds
from smc_dp.data.columns import BinnedColumn, CategoricalColumn, NumericColumn
from smc_dp.data.federation import Public, Rows
from smc_dp.data.frames import read_file_or_frame
from smc_dp.data.preprocess import encode_labelled_rows
from smc_dp.methods.functionality import ideal
from smc_dp.methods.statistics.describe import Describe, DescribeSum
from smc_dp.methods.statistics.describe_result import DescribeResult
from smc_dp.methods.statistics.estimate import Estimate
from smc_dp.methods.statistics.quantiles import QUANTILES
from smc_dp.methods.statistics.sum_blocks import sum_blocks
from smc_dp.methods.sums.threat_model import AnnouncedRows, ThreatModel
from smc_dp.privacy.distributed.moments import MOMENT_BITS
from smc_dp.privacy.target import Target
from tests.support.refusals import refused

BOUNDS = Bounds(
    (
        NumericColumn("age", 0, 120),
        CategoricalColumn("sex", ("f", "m", "x"), "category"),
        NumericColumn("bmi", 10, 60, "indicator"),
        BinnedColumn("lab", (0, 1, 2, 5)),
    ),
    ("no", "yes"),
    "ill",
).whole
PARTIES, ROWS = 4, 4000
RELEASED = AnnouncedRows(100_000, "released")


def frame() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    found = pd.DataFrame(
        {
            "age": rng.normal(50, 15, ROWS).clip(0, 120),
            "sex": rng.choice(["f", "m", "x"], ROWS, p=[0.5, 0.4, 0.1]),
            "bmi": rng.normal(27, 5, ROWS).clip(10, 60),
            "lab": rng.uniform(0, 5, ROWS),
            "ill": rng.choice(["no", "yes"], ROWS),
        }
    )
    found.loc[:299, "sex"], found.loc[100:699, "bmi"] = None, np.nan
    return found


FRAME = frame()


@pytest.mark.parametrize("column", [CategoricalColumn("site", ("north",)), BinnedColumn("days", (0, 9))], ids=str)
def test_a_column_of_one_level_is_refused(column: CategoricalColumn | BinnedColumn) -> None:
    """Its count is the number of rows; with empty cells counted apart it is not."""
    sum_blocks((*BOUNDS.columns, replace(column, missing="category")))
    with refused("describe.one_level", name=f"'{column.name}'"):
        sum_blocks((*BOUNDS.columns, column))


def spec(
    epsilon: Fraction | None = Fraction(1),
    by: str | None = None,
    tables: str | None = None,
    dropouts: int = 0,
    bounds: Bounds = BOUNDS,
) -> DescribeSum:
    public = Public(PARTIES, bounds.dimension, 2, columns=bounds.columns, label=bounds.label_column)
    among = ThreatModel(PARTIES, 1, dropouts)
    return Describe(by, tables).shared(public, Target(epsilon, noise="ddg"), among, RELEASED)


def parts(made: DescribeSum, table: pd.DataFrame = FRAME, there: int = PARTIES) -> list[Any]:
    """What `there` of the parties make of rows, which are dealt evenly to them."""
    rows = [
        encode_labelled_rows(read_file_or_frame(table.iloc[j::there], f"party {j}"), BOUNDS, "ill")
        for j in range(there)
    ]
    return [made.method.prepare(one, made.public) for one in rows]


def summed(made: DescribeSum, own: list[Any]) -> DescribeResult:
    coins = Stream.from_system()
    return made.model(ideal(made.functionality, [made.part_of(one, coins.spawn()) for one in own]))


def figures(found: DescribeResult) -> dict[str, Any]:
    """Every estimate by a name."""
    named = {}
    for column in found.columns:
        named |= {f"{column.name} {level}": count for level, count in column.levels}
        named |= {f"{column.name} empty": column.missing} if column.missing else {}
        named |= {f"{column.name} mean": column.mean, f"{column.name} sd": column.deviation} if column.mean else {}
    return named


def truth(table: pd.DataFrame = FRAME) -> dict[str, float]:
    """The same figures by pandas."""
    found = {}
    for name in ("sex", "ill"):
        found |= {f"{name} {level}": float(n) for level, n in table[name].value_counts().items()}
    bins = pd.cut(table["lab"], [0, 1, 2, 5], right=False, labels=["[0, 1)", "[1, 2)", "[2, 5]"])
    found |= {f"lab {level}": float(n) for level, n in bins.value_counts().items()}
    for name in ("age", "bmi"):
        found |= {f"{name} mean": table[name].mean(), f"{name} sd": table[name].std()}
    return found | {f"{name} empty": float(table[name].isna().sum()) for name in ("sex", "bmi")}


def test_without_noise_it_is_what_pandas_says() -> None:
    made = spec(None)
    found, wanted = summed(made, parts(made)), truth()
    assert (found.rows, found.parties) == (ROWS, PARTIES)
    assert not {"by", "groups", "tables"} & set(found.as_dict())
    assert figures(found).keys() == wanted.keys()
    for name, one in figures(found).items():
        assert one.low == one.estimate == one.high == pytest.approx(wanted[name], rel=1e-6), name


def drawn(made: DescribeSum, draws: int = 1000, table: pd.DataFrame = FRAME) -> list[DescribeResult]:
    """So many releases of one sum, with a Gaussian of the variance of a share from each party in place of its share."""
    own, noise = parts(made, table), made.noise.distribution
    exact, rng = np.sum([one.sums for one in own], axis=0) / 2.0**MOMENT_BITS, np.random.default_rng(7)
    shares = rng.normal(0, float(noise.coordinate_variance(1)) ** 0.5, (PARTIES, draws, len(exact)))
    noisy = exact + shares.sum(axis=0) / 2.0**made.grid.fraction_bits
    return [made.describe(ROWS, PARTIES, tuple(sums)) for sums in noisy.tolist()]


def coverage(found: Sequence[dict[Any, Estimate | None]], wanted: dict[Any, float]) -> dict[Any, float]:
    """How often the interval of each figure holds it; never where there is none."""
    inside = {
        key: [e is not None and e.low <= wanted[key] <= e.high for e in (one[key] for one in found)] for key in wanted
    }
    return {key: float(np.mean(held)) for key, held in inside.items()}


def check_coverage(found: dict[Any, float], least: float = 0.925) -> None:
    """Of 1,000 draws: the mean of these figures, and that of each, three and a half standard errors below .95."""
    assert 0.94 <= np.mean(list(found.values())) <= 0.96, found
    assert min(found.values()) >= least, found


def test_intervals_cover_as_often_as_they_say() -> None:
    """Of 1,000 draws of each figure: counts, means and deviations, with cells missing and without."""
    found, wanted = [figures(one) for one in drawn(spec())], truth()
    covered = coverage(found, wanted)
    check_coverage({name: covered[name] for name in wanted if name.endswith(("mean", " sd"))})
    check_coverage({name: covered[name] for name in wanted if not name.endswith(("mean", " sd"))})
    assert abs(np.mean([one["age sd"].estimate for one in found]) - wanted["age sd"]) < 0.1  # the noise is taken off


def test_the_noise_in_an_interval_is_that_of_all_who_are_in_the_sum() -> None:
    """Not that of the honest ones, and after a drop-out not that of everybody."""
    made = spec(dropouts=1)
    all_there, one_less = parts(made), parts(made, there=PARTIES - 1)
    for own in (all_there, one_less):
        found = [summed(made, own).sums for _ in range(60)]
        measured = np.var(np.array(found) - np.mean(found, axis=0), ddof=1)
        stated = figures(summed(made, own))["ill yes"]
        error = (stated.high - stated.low) / 2 / 1.959964
        assert error**2 == pytest.approx(measured, rel=0.2), len(own)
    widths = [figures(summed(made, own))["ill yes"] for own in (all_there, one_less)]
    assert (widths[0].high - widths[0].low) / (widths[1].high - widths[1].low) == pytest.approx((4 / 3) ** 0.5)


@pytest.mark.parametrize("ends", [(10.0, 60.0), (55.0, 60.0)])
def test_the_noise_in_the_number_of_cells_is_in_the_intervals(ends: tuple[float, float]) -> None:
    """Of cells far from the middle of their range: there it is a large part of the error of mean and deviation."""
    rng = np.random.default_rng(6)
    table = FRAME.assign(bmi=rng.choice(ends, ROWS)).assign(bmi=lambda t: t["bmi"].where(FRAME["bmi"].notna()))
    found, wanted = [figures(one) for one in drawn(spec(), table=table)], truth(table)
    covered = coverage(found, {name: wanted[name] for name in ("bmi mean", "bmi sd")})
    assert min(covered.values()) >= 0.925, covered
    assert max(covered.values()) <= 0.975, covered


def test_the_interval_of_a_small_deviation_covers_and_has_an_upper_end() -> None:
    """Noise often takes the variance below 0 there. The upper end is above 0 all the same, and no estimate stands."""
    small = FRAME.assign(age=60 + FRAME["age"] / 100)
    found = [figures(one)["age sd"] for one in drawn(spec(Fraction(1, 10)), table=small)]
    hidden = [one for one in found if one.hidden]
    assert 300 < len(hidden) < 700
    assert {one.low for one in hidden} == {0.0}
    assert {one.as_dict()["estimate"] for one in hidden} == {None}
    assert min(one.high for one in found) > 0
    assert np.mean([one.low <= small["age"].std() <= one.high for one in found]) >= 0.94


def test_too_few_cells_have_no_mean() -> None:
    """A noisy number of cells near 0 divides nothing."""
    table = FRAME.assign(bmi=np.nan)
    made = spec()
    bmi = next(c for c in summed(made, parts(made, table)).columns if c.name == "bmi")
    assert bmi.mean is None
    assert bmi.deviation is None
    assert bmi.as_dict()["mean"] is None
    half = (bmi.missing.high - bmi.missing.low) / 2
    assert abs(bmi.missing.estimate - ROWS) < 3 * half  # six standard errors


def test_what_cannot_be_described_is_refused() -> None:
    public = Public(PARTIES, 3, 2)
    with refused("describe.no_columns"):
        Describe().shared(public, Target(1, noise="ddg"), ThreatModel(PARTIES, 1, 0), RELEASED)
    with refused("describe.bounds_too_large"):
        far = replace(public, columns=(NumericColumn("far", 0, 1e300),))
        Describe().shared(far, Target(1, noise="ddg"), ThreatModel(PARTIES, 1, 0), RELEASED)
    with refused("sizes.not_released"):
        Describe().shared(
            replace(public, columns=BOUNDS.columns), Target(1, noise="ddg"), ThreatModel(PARTIES, 1, 0),
            AnnouncedRows(1000, "hidden"),
        )  # fmt: skip


@pytest.mark.parametrize("by", [None, "sex"])
def test_a_party_enters_no_more_than_its_reach(by: str | None) -> None:
    made = spec(by=by)
    for own in parts(made):
        assert len(own.sums) == made.reach.dimension
        assert sum(x * x for x in own.sums) <= (made.reach.longest / RELEASED.most_rows * own.rows * (1 << 24)) ** 2


NUMBERS_IN_GROUPS = Bounds(
    (
        NumericColumn("a", -1, 1),
        NumericColumn("b", -1, 1, "indicator"),
        BinnedColumn("c", (0, 1, 2)),
        CategoricalColumn("g", ("u", "v", "w")),
    )
).whole


def records(rng: np.random.Generator, n: int = 600) -> pd.DataFrame:
    """Records at corners and at random places."""
    corner = rng.random(n) < 0.5
    return pd.DataFrame(
        {
            "a": np.where(corner, rng.choice([-1.0, 1.0], n), rng.uniform(-1, 1, n)),
            "b": np.where(rng.random(n) < 0.2, np.nan, rng.choice([-1.0, 1.0], n)),
            "c": rng.uniform(0, 2, n),
            "g": rng.choice(["u", "v", "w"], n),
            "age": rng.choice([0.0, 120.0], n),
            "sex": rng.choice(["f", "m", "x", None], n),
            "bmi": np.where(rng.random(n) < 0.3, np.nan, rng.choice([10.0, 60.0], n)),
            "lab": rng.uniform(0, 5, n),
            "ill": rng.choice(["no", "yes"], n),
        }
    )


@pytest.mark.parametrize(
    "made", [spec(by="g", bounds=NUMBERS_IN_GROUPS), spec(tables="sex*ill, lab*sex")], ids=["groups", "tables"]
)
def test_a_replaced_record_reaches_the_stated_distance_and_never_passes_it(made: DescribeSum) -> None:
    """A search over pairs of records, by the encoding that runs use."""
    bounds = NUMBERS_IN_GROUPS if made.method.by else BOUNDS
    names = [column.name for column in made.columns]
    table = read_file_or_frame(records(np.random.default_rng(5))[names], "records")
    rows = encode_labelled_rows(table, bounds, None if made.method.by else "ill")
    each = (made.method.prepare(rows.take(np.array([i])), made.public) for i in range(len(rows)))
    own = np.array([one.sums for one in each], dtype=float)
    squares = (own * own).sum(axis=1)
    farthest = float(np.sqrt((squares[:, None] + squares[None, :] - 2 * own @ own.T).max())) / (1 << 24)
    assert 0.999 * float(made.reach.sensitivity) < farthest <= float(made.reach.sensitivity) * (1 + 1e-9)


def test_a_cell_that_is_no_number_enters_nothing_beyond_the_bound() -> None:
    """Encoded rows hold none; a party that enters one all the same has the sums of the middle of its range."""
    X = np.full((2, BOUNDS.dimension), np.nan)
    made, middle = spec(), np.zeros((2, BOUNDS.dimension))
    own, other = (made.method.prepare(Rows(x, np.array([0, 1])), made.public).sums for x in (X, middle))
    assert own == other


# Groups of rows.


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
    assert abs(count.estimate) < 3 * (count.high - count.low)
    for key in (("age", "", "mean"), ("ill", "yes", "proportion"), ("age", "", "difference of means")):
        assert found[("x", *key)] is None
    assert found["m", "age", "", "difference of means"] is not None
    some = table.assign(sex=np.where(np.arange(len(table)) % PARTIES == 0, "m", FRAME["sex"].fillna("f")))
    exact = spec(None, "sex")
    assert in_groups(summed(exact, parts(exact, some)))["x", "sex", "x", "count"] == Estimate(
        *[float((some["sex"] == "x").sum())] * 3
    )


# Contingency tables.


BINS = ("[0, 1)", "[1, 2)", "[2, 5]")


def crosstabs() -> dict[str, pd.DataFrame]:
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
        wanted = crosstabs()["*".join(one.names)]
        for level, counts in zip(one.levels[0], one.cells, strict=True):
            for other, count in zip(one.levels[1], counts, strict=True):
                assert count.low == count.estimate == count.high == wanted.loc[level, other], (level, other)
    rows = {(row.column, row.level) for row in found.table() if "*" in row.column}
    assert ("lab * sex", "[0, 1) * (empty)") in rows
    assert len(rows) == sum(len(one.cells) * len(one.cells[0]) for one in found.tables)


def test_intervals_of_cells_cover_as_often_as_they_say() -> None:
    wanted = {(level, other): float(n) for (level, other), n in crosstabs()["sex*ill"].stack().items()}
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
