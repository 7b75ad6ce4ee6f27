"""A plan of intervals says the least that a wanted width needs, and refuses what no run has."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from smc_dp.cli.main import main
from smc_dp.data.bounds import parse_bounds
from smc_dp.pages.blocks import texts_by_code
from smc_dp.planning.expected_intervals import two_digits
from smc_dp.planning.interval_report import expectation_blocks
from tests.support.commands import refusal
from tests.support.planned_intervals import CLASSES, COLUMNS, SIZES, columns, planned
from tests.support.refusals import refused

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
        ({"method": "logistic", "rate": 0.5, "columns": 600}, "features.too_many_coefficients"),
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
