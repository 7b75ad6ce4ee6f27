"""Expected intervals are those of releases on rows as assumed, and of formulas by hand; a plan says the least that a
wanted width needs, and refuses what no run has.
"""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from protocols.arithmetic.rng import Stream
from smc_dp.cli.main import main
from smc_dp.data.bounds import Bounds, parse_bounds
from smc_dp.data.preprocess import encode_rows
from smc_dp.methods.functionality import ideal
from smc_dp.methods.statistics.describe import DescribeSum
from smc_dp.pages.blocks import texts_by_code
from smc_dp.planning.assumed_rows import assumed_moments, assumed_sums, spread_of_rate
from smc_dp.planning.expected_intervals import Expectations, ExpectedIntervals, two_digits
from smc_dp.planning.interval_report import expectation_blocks
from tests.support.assumed_tables import drawn_rows, drawn_table
from tests.support.commands import refusal
from tests.support.planned_intervals import CLASSES, COLUMNS, NUMBER, SIZES, columns, planned, ratios, released
from tests.support.refusals import refused


def bounds_with(label: str) -> Bounds:
    return parse_bounds(f"[columns]\nage = [0, 120]\ndose = [-3, 3]\nward = ['a', 'b', 'c']\n[label]\n{label}")


@pytest.mark.parametrize(
    ("said", "bounds", "drawn", "most"),
    [
        ({"method": "logistic", "rate": 0.3}, bounds_with(CLASSES), {"rate": 0.3}, 0.12),
        ({"method": "linear", "residual": 2.0, "epsilon": 3}, columns(NUMBER), {"residual": 2.0}, 0.15),
    ],
    ids=["logistic", "linear"],
)
def test_planned_widths_are_those_of_releases(
    said: dict[str, Any], bounds: Bounds, drawn: dict[str, float], most: float
) -> None:
    """Of all kinds of columns, for `linear`."""
    found = planned(None, bounds=bounds, **said)
    assert np.abs(ratios(found, 3, **drawn) - 1).max() < most


def test_where_noise_hides_what_rows_say_no_interval_is_planned_and_few_releases_have_all() -> None:
    found = planned(5, sizes=[700, 700, 600], method="logistic", rate=0.5)
    assert [one.half_width for one in found.intervals] == [None]
    each = [released(found.agreement, 2000, seed) for seed in range(4)]
    complete = [all(half is not None for halves in one.values() for half in halves) for one in each]
    assert sum(complete) <= 1
    assert not found.is_enough
    assert "plan.intervals_missing" in texts_by_code(expectation_blocks(found))


def test_stated_deviations_are_those_of_the_plan() -> None:
    bounds, stated = bounds_with(CLASSES), {"age": 10.0, "dose": 1.2}
    found = planned(None, bounds=bounds, method="logistic", rate=0.3, deviations=stated)
    assert [one.unit for one in found.intervals] == [10.0, 1.2, 1.0]
    assert np.abs(ratios(found, 2, rate=0.3, deviations=stated) - 1).max() < 0.15
    usual = planned(None, bounds=bounds, method="logistic", rate=0.3)
    same = planned(None, bounds=bounds, method="logistic", rate=0.3, deviations={"age": 120 / 7})
    assert same.intervals == usual.intervals
    assert (found.intervals[0].half_width or 0) > 1.2 * (usual.intervals[0].half_width or 0)


def test_a_description_with_stated_deviations_is_that_of_such_rows() -> None:
    stated = {"age": 30.0, "stay": 9.0}
    usual, found = (
        planned(None, bounds=bounds_with(NUMBER), method="describe", deviations=one) for one in ({}, stated)
    )
    by_name = [{(one.column, one.figure): one for one in plan.intervals} for plan in (usual, found)]
    for name, deviation in stated.items():
        assert by_name[1][name, "mean"].unit == deviation
        assert by_name[1][name, "mean"].half_width == by_name[0][name, "mean"].half_width
        # that of the variance is the same, and d(variance) = 2 d(deviation) deviation
        halves = [one[name, "standard deviation"] for one in by_name]
        assert (halves[1].half_width or 0) * deviation == pytest.approx(
            (halves[0].half_width or 0) * halves[0].unit, rel=0.02
        )


def test_the_width_is_that_of_a_formula_by_hand() -> None:
    """Of normal columns, by s = 3/mu of the last sum: sqrt(1 + s^2 R/(n w f)), R = 10 + 5 f, f = (3/3.5)^2."""
    found = planned(5, sizes=[10_000, 10_000], method="logistic", rate=0.5, colluders=0)
    mu = float(found.agreement.target.mu)
    square, w = (3 / 3.5) ** 2, spread_of_rate(0.5)
    by_hand = np.sqrt(1 + (3 / mu) ** 2 * (10 + 5 * square) / (20_000 * w * square))
    assert found.intervals[0].times == pytest.approx(by_hand, rel=0.01)
    assert found.intervals[0].without_privacy == pytest.approx(1.96 / np.sqrt(20_000 * w), rel=1e-3)


@pytest.mark.parametrize("center", ["true", "false"])
def test_assumed_moments_are_those_of_encoded_rows(center: str) -> None:
    bounds, stated = columns(CLASSES, center), {"seen": 300.0, "dose": 0.7}
    table = drawn_table(bounds, 40_000, np.random.default_rng(1), stated)
    X = encode_rows(table, bounds)
    moments, units = X.T @ X / len(X), np.sqrt(np.outer(*[np.diagonal(assumed_moments(bounds, stated))] * 2))
    assert np.abs((assumed_moments(bounds, stated) - moments) / units).max() < 0.03


def test_the_spread_of_classes_is_that_of_normal_scores() -> None:
    scores = np.random.default_rng(2).normal(size=200_000)
    for rate, middle in ((0.5, 0.0), (0.1233, -2.3)):
        q = 1 / (1 + np.exp(-(scores + middle)))
        assert q.mean() == pytest.approx(rate, abs=0.002)
        assert spread_of_rate(rate) == pytest.approx((q * (1 - q)).mean(), rel=0.01)


def test_intervals_of_a_description_are_those_of_a_release() -> None:
    found = planned(None, bounds=columns(CLASSES), method="describe")
    spec: Any = found.agreement.spec
    rows, rng = drawn_rows(found.agreement.bounds, 20_000, 3), Stream.insecure_from_seed("describe")
    parts = [spec.part(rows.take(np.arange(j, 20_000, 3)), rng.fork(f"{j}")) for j in range(3)]
    described = spec.model(ideal(spec.functionality, parts, rng.fork("all")))
    by_name = {column.name: column for column in described.columns}
    for one in found.intervals:
        column = by_name[one.column]
        estimates = {
            "mean": column.mean, "standard deviation": column.deviation,
            "proportion": column.levels[0][1] if column.levels else column.missing,
        }  # fmt: skip
        estimate = estimates[one.figure]
        half = (estimate.high - estimate.low) / 2 / (20_000 if one.figure == "proportion" else 1)
        assert one.half_width == pytest.approx(half, rel=0.05 if one.figure == "standard deviation" else 0.01)
    assert {one.column for one in found.intervals} == set(by_name)


def test_intervals_of_groups_are_those_of_a_release() -> None:
    found = planned(None, bounds=columns(CLASSES), method="describe", by="ward")
    planned_of_groups = {(one.column, one.figure): one for one in found.intervals if "group" in one.figure}
    spec: Any = found.agreement.spec
    rows, rng = drawn_rows(found.agreement.bounds, 20_000, 4), Stream.insecure_from_seed("groups")
    parts = [spec.part(rows.take(np.arange(j, 20_000, 3)), rng.fork(f"{j}")) for j in range(3)]
    described = spec.model(ideal(spec.functionality, parts, rng.fork("all")))
    released_of_groups: dict[tuple[str, str], list[float]] = {}
    for row in described.groups[-1].figures:
        name = f"{row.figure.partition(',')[0]}, each group"
        if (row.column, name) in planned_of_groups:
            half = (row.found.high - row.found.low) / 2
            released_of_groups.setdefault((row.column, name), []).append(half)
    assert released_of_groups.keys() == planned_of_groups.keys()
    assert {name for _, name in planned_of_groups} == {
        f"{figure}, each group"
        for figure in (
            "proportion", "mean", "standard deviation", "difference of means", "difference of proportions"
        )
    }  # fmt: skip
    ratios_of_groups = [
        max(halves) / (planned_of_groups[at].half_width or 0) for at, halves in released_of_groups.items()
    ]
    assert np.abs(np.array(ratios_of_groups) - 1).max() < 0.25
    few = ExpectedIntervals(found.agreement, found.expectations).of(100)
    assert {one.half_width for one in few if "group" in one.figure} == {None}


def test_noise_is_that_of_all_parties() -> None:
    """With the noise of K parties calibrated for H of them."""
    alone, colluding = (planned(5, sizes=[5000] * 4, method="logistic", rate=0.5, colluders=t) for t in (0, 2))
    excess = [(found.intervals[0].times or 0) ** 2 - 1 for found in (alone, colluding)]
    assert excess[1] / excess[0] == pytest.approx(2, rel=0.01)


def test_noise_beside_small_residuals_makes_their_clip_longer() -> None:
    """Planned, and of a release: by the rule of the clip."""
    agreement = planned(5, sizes=[3000, 3000], method="linear", residual=0.05).agreement
    found = ExpectedIntervals(agreement, Expectations(residual=0.05)).of(6000)
    each = [released(agreement, 6000, seed, residual=0.05) for seed in range(6)]
    halves = [half or np.nan for one in each for of_column in one.values() for half in of_column]
    assert np.nanmedian(halves) * 2 / 7 / (found[0].half_width or 0) == pytest.approx(1, abs=0.2)


def test_groups_and_tables_of_a_description_have_their_parts_of_the_rows() -> None:
    agreement = planned(None, bounds=columns(CLASSES), method="describe", by="ward", tables="sex*bmi").agreement
    spec = agreement.spec
    assert isinstance(spec, DescribeSum)
    described = spec.describe(900, 3, assumed_sums(spec, 900, {}))
    assert [one.rows.estimate for one in described.groups] == pytest.approx([225] * 4)
    assert sum(count.estimate for counts in described.tables[0].cells for count in counts) == pytest.approx(900)
    for column in described.columns:
        assert sum(count.estimate for _, count in column.levels) in (0, pytest.approx(900), pytest.approx(600))


# Plans.

STATED = {"age": 20.0, "seen": 900.0}


@pytest.mark.parametrize(
    ("said", "width"),
    [
        ({"method": "logistic", "rate": 0.4}, 0.05),
        ({"method": "linear", "residual": 0.2}, 0.006),
        ({"method": "describe"}, 0.01),
        ({"method": "logistic", "rate": 0.1}, None),
    ],
)
def test_what_a_width_needs_is_the_least_that_reaches_it(said: dict[str, Any], width: float | None) -> None:
    found = planned(5, width=width, **said)
    assert found.epsilon_needed is not None
    assert found.rows_needed is not None
    for epsilon, reaches in ((found.epsilon_needed, True), (_before(found.epsilon_needed), False)):
        again = planned(5, width=width, **said, epsilon=Fraction(repr(epsilon)))
        assert again.is_enough is reaches
    for rows, reaches in ((found.rows_needed, True), (int(_before(found.rows_needed)), False)):
        assert planned(5, sizes=[rows - rows // 2 - 1, rows // 2, 1], width=width, **said).is_enough is reaches


def _before(number: float) -> float:
    every = [float(one) for one in two_digits(Fraction(1, 100), Fraction(10**8))]
    return every[every.index(number) - 1]


def test_two_digits_are_all_that_there_are() -> None:
    assert [*map(float, two_digits(Fraction(1, 10), Fraction(12)))] == [
        *(i / 100 for i in range(10, 100)), *(i / 10 for i in range(10, 100)), 10, 11, 12,
    ]  # fmt: skip


def test_a_width_below_sampling_needs_rows_and_no_epsilon_is_enough() -> None:
    found = planned(5, method="logistic", rate=0.5, width=0.02)
    assert found.epsilon_needed is None
    assert found.rows_needed is not None
    assert {*texts_by_code(expectation_blocks(found))} == {
        "plan.intervals_expected", "plan.width_at_no_epsilon", "plan.width_from_rows",
    }  # fmt: skip
    far = planned(5, method="logistic", rate=0.5, width=1e-5)
    assert far.rows_needed is None
    assert "plan.width_with_no_rows" in texts_by_code(expectation_blocks(far))


def test_columns_without_names_are_planned_together_and_in_standard_deviations() -> None:
    named = parse_bounds(f"[columns]\na = [0, 8]\nb = [5, 6]\n[label]\n{CLASSES}")
    alike, apart = planned(2, method="logistic", rate=0.5), planned(None, bounds=named, method="logistic", rate=0.5)
    (one,) = alike.intervals
    assert (one.column, one.unit) == ("each column", 1.0)
    assert [found.half_width for found in apart.intervals] == pytest.approx([one.half_width] * 2)
    assert [found.unit for found in apart.intervals] == pytest.approx([8 / 7, 1 / 7])


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ({"method": "logistic"}, "plan.rate_missing"),
        ({"method": "linear"}, "plan.residual_missing"),
        ({"method": "linear", "residual": 1, "rate": 0.1}, "plan.figure_not_used"),
        ({"method": "describe", "residual": 1}, "plan.figure_not_used"),
        ({"method": "logistic", "rate": 1.0}, "plan.figure_out_of_range"),
        ({"method": "logistic", "rate": float("nan")}, "plan.figure_out_of_range"),
        ({"method": "linear", "residual": float("inf")}, "plan.figure_out_of_range"),
        ({"method": "describe", "width": 0}, "plan.figure_out_of_range"),
        ({"method": "describe", "deviations": {"age": 1.0}}, "plan.deviation_of_no_column"),
        ({"method": "describe", "deviations": {"x1": 1.01}}, "plan.deviation_out_of_range"),
        ({"method": "describe", "deviations": {"x1": 0.0}}, "plan.deviation_out_of_range"),
        ({"method": "newton"}, "plan.has_no_intervals"),
        ({"method": "logistic", "rate": 0.5, "sizes": [500]}, "plan.too_few_parties"),
        ({"method": "logistic", "rate": 0.5, "sizes": [500, 0]}, "plan.no_rows"),
        ({"method": "logistic", "rate": 0.5, "columns": 0}, "plan.no_columns"),
        ({"method": "logistic", "rate": 0.5, "columns": 600}, "features.too_many"),
    ],
)
def test_what_cannot_be_planned_is_refused(said: dict[str, Any], code: str) -> None:
    with refused(code):
        planned(said.pop("columns", 5), **said)


def test_bounds_that_a_run_refuses_are_refused() -> None:
    short = parse_bounds(f"[columns]\na = [0, 1]\n[rows]\nclip = 0.5\n[label]\n{CLASSES}")
    with refused("bounds.rows_shortened"):
        planned(None, bounds=short, method="logistic", rate=0.5)
    with refused("plan.said_by_bounds"):
        planned(2, bounds=columns(CLASSES), method="logistic", rate=0.5)


def test_the_command_says_what_the_function_says(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "bounds.toml").write_text(COLUMNS.replace("CENTER", "true") + CLASSES)
    sizes = ",".join(f"{name}={n}" for name, n in SIZES.items())
    arguments = ["plan", "--sizes", sizes, "--bounds", str(tmp_path / "bounds.toml"), "--method", "logistic"]
    arguments += ["--rate", "0.2", "--width", "0.3", "--deviation", "age=20", "--deviation", "seen=900"]
    found = planned(None, bounds=columns(CLASSES), method="logistic", rate=0.2, width=0.3, deviations=STATED)
    assert main([*arguments, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told.pop("answer") == [said.text for said in expectation_blocks(found)]
    assert told.pop("codes") == [said.code for said in expectation_blocks(found)]
    assert told == json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert main(arguments) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert all(said.text in out for said in expectation_blocks(found))


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ("--method newton --rate 0.1", "--rate: goes with method logistic, linear or describe"),
        ("--width 0.1", "--width: goes with method logistic, linear or describe"),
        ("--deviation x1=3", "--deviation: goes with method logistic, linear or describe"),
        ("--method describe --deviation x1", "--deviation: wanted COLUMN=NUMBER, as in age=10, each column once"),
        ("--method logistic --rate x", "--rate: wanted a positive number"),
        ("--method logistic --rate 0.1 --classes 3", "--classes: logistic is for two classes"),
    ],
)
def test_what_the_command_cannot_plan_is_one_line(
    arguments: str, line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["plan", "--sizes", "500,500", "--columns", "3", *arguments.split()]
    assert refusal(capsys, tmp_path, *given).startswith(line)
