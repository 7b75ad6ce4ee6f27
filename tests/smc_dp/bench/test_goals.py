"""Rows, goals and what is made of them: tables, CSV, JSON, a picture; and the command that shows them."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from smc_dp.bench import figure, groups, growth, tables
from smc_dp.bench.clocks import agreed, exponent, price, side_by_side
from smc_dp.bench.goals import DisagreeError, Goal, GoalRow, HearStep, at_least, at_most
from smc_dp.bench.machine import machine, versions
from smc_dp.cli import bench as command
from smc_dp.cli.main import main
from smc_dp.errors import InputError

ROWS = (
    GoalRow("whole", "one, twice", at_least(300), 917.2, {"ours_seconds": 0.25}, "a note"),
    GoalRow("scale", "memory", at_most(1000, "MB"), 1200.0),
    GoalRow("scale", "many", Goal("ends", unit="s"), 33.0),
    GoalRow("argmin", "peer", at_least(10), None, why="MPyC is not installed"),
    GoalRow("growth", "in K", at_most(1.05, ""), 0.99, {"seconds_K_200": 1.0, "seconds_K_2000": 10.0}, "a note"),
)
MACHINE, VERSIONS = {"cores": "2"}, {"Python": "3.11"}


def test_a_goal_is_met_or_missed() -> None:
    assert [row.passed for row in ROWS] == [True, False, True, None, True]
    assert [str(row.goal) for row in ROWS] == [">= 300x", "<= 1,000 MB", "runs", ">= 10x", "<= 1.05"]
    assert at_least(2).met(2)
    assert at_most(2).met(2)
    assert not at_least(2).met(1.99)
    assert not at_most(2).met(2.01)


def test_small_sizes_are_not_judged_and_say_so() -> None:
    quick = replace(ROWS[0], quick=True)
    assert quick.passed is None
    assert tables.texts(quick) == ("one, twice (quick)", ">= 300x", "917x", "not judged")
    assert tables.QUICK in tables.lines([quick], MACHINE, VERSIONS)
    assert tables.QUICK not in tables.lines(ROWS, MACHINE, VERSIONS)


def test_what_is_printed() -> None:
    assert tables.texts(ROWS[1]) == ("memory", "<= 1,000 MB", "1,200 MB", "NO")
    assert tables.texts(ROWS[3]) == ("peer", ">= 10x", "MPyC is not installed", "not measured")
    lines = list(tables.lines(ROWS, MACHINE, VERSIONS))
    assert "whole, growth: a note." in lines
    assert "Goals: 3 of 4 passed; 1 of 5 rows not judged." in lines
    assert {"Machine: cores 2.", "Versions: Python 3.11."} <= set(lines)
    assert {"cores", "processor"} <= machine().keys()
    assert {"Python", "GMP", "numpy", "phe"} <= versions().keys()


def test_the_csv_has_a_line_for_each_row() -> None:
    found = list(csv.DictReader(io.StringIO(tables.as_csv(ROWS, MACHINE, VERSIONS))))
    assert [line["what"] for line in found] == [row.what for row in ROWS]
    assert [line["passed"] for line in found] == ["True", "False", "True", "", "True"]
    assert tuple(found[0]) == tables.COLUMNS
    assert (found[0]["goal"], found[0]["parts"], found[0]["machine"]) == (">= 300x", "ours_seconds=0.25", "cores=2")
    assert float(found[1]["measured"]) == 1200


def test_the_json_is_plain() -> None:
    told = json.loads(json.dumps(tables.as_json(ROWS, MACHINE, VERSIONS), allow_nan=False))
    assert list(told) == ["machine", "versions", "goals"]
    assert [row["passed"] for row in told["goals"]] == [True, False, True, None, True]
    assert told["goals"][2]["goal"] == {"sense": "ends", "bound": None, "unit": "s"}


def test_the_picture_shows_bars_and_growth() -> None:
    bars, grown = figure.drawn(ROWS, MACHINE, quick=True).axes
    assert len(bars.patches) == 3  # a row without a figure and one without a bound have none
    assert [label.get_text() for label in bars.get_yticklabels()] == ["one, twice", "memory", "in K"]
    assert "quick" in bars.figure._suptitle.get_text()  # type: ignore[union-attr]
    assert list(grown.lines[0].get_xdata()) == [200, 2000]
    assert figure.margin(ROWS[0]) == 917.2 / 300
    assert figure.margin(ROWS[1]) == 1000 / 1200
    assert len(figure.drawn(ROWS[:1], MACHINE, quick=False).axes) == 1


def test_exponents_of_powers_are_exact() -> None:
    for power in (0.5, 1, 2):
        assert exponent((200, 632, 2000), [7 * size**power for size in (200, 632, 2000)]) == pytest.approx(power)
    with pytest.raises(ValueError, match="wanted different ones"):
        exponent((5, 5), (1, 2))


def test_growth_is_measured_in_one_size_at_a_time() -> None:
    asked: list[tuple[int, int]] = []

    def run(module: str, *, parties: int, dimension: int, **rest: object) -> dict[str, float]:
        asked.append((parties, dimension))
        return {"seconds": parties * dimension**2.0}

    for axis, wanted in (("K", 1), ("d", 2)):
        row = growth.grown(growth.RUNS[0], axis, (200, 2000), False, lambda _: None, run)
        assert row.measured == pytest.approx(wanted)
        assert row.passed is (wanted <= 1.05)
        assert set(figure.growth_of(row)) == {200, 2000}
    assert asked == [(200, 200), (2000, 200), (200, 200), (200, 2000)]


def test_prices_leave_the_first_call_out() -> None:
    calls: list[int] = []
    assert price(calls.append, 3) >= 0
    assert calls == [0, 1, 2, 3]
    first, second = side_by_side(lambda i: calls.append(-i), lambda i: sum(range(10_000)), 3)
    assert first < second
    assert calls[4:] == [0, -1, -2, -3]


def test_sides_that_disagree_have_no_ratio() -> None:
    def broken(quick: bool, hear: HearStep) -> Iterator[GoalRow]:
        yield ROWS[0]
        agreed("the sums", 3, 4)

    first, second, third = groups.measured(
        ("a", "b"), False, print, {"a": broken, "b": lambda quick, hear: iter(ROWS[1:2])}
    )
    assert (first, third) == ROWS[:2]
    assert (second.measured, second.passed, second.wrong) == (None, False, True)
    assert second.what == "the sums: the two sides came to different results"
    with pytest.raises(DisagreeError):
        agreed("x", 1, 2)

    def fails(quick: bool, hear: HearStep) -> Iterator[GoalRow]:
        yield ROWS[0]
        raise RuntimeError("whole_run ended with exit code 1: no memory")

    _, failed = groups.measured(("a",), False, print, {"a": fails})
    assert (failed.passed, failed.why) == (False, "it did not end")


def test_groups_are_chosen_by_name_and_help_knows_them_all() -> None:
    assert command._GROUPS == tuple(groups.GROUPS) == groups.chosen(None)
    assert groups.chosen(["encrypt", "argmin"]) == ("argmin", "encrypt")
    with pytest.raises(InputError, match=r"only: wanted some of whole, .* got 'speed'"):
        groups.chosen(["speed"])


@pytest.fixture
def cheap(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Groups that measure nothing; whether each was asked for small sizes."""
    asked: list[bool] = []

    def rows(quick: bool, hear: HearStep) -> Iterator[GoalRow]:
        asked.append(quick)
        hear("measuring")
        yield from (replace(row, quick=quick) for row in ROWS)

    monkeypatch.setattr(groups, "GROUPS", {"whole": rows, "argmin": rows})
    monkeypatch.setattr(groups.measured, "__defaults__", (groups.GROUPS,))
    return asked


def test_the_command_writes_all_forms(cheap: list[bool], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [str(tmp_path / name) for name in ("goals.csv", "goals.png")]
    assert main(["bench", "--quick", "--only", "argmin", "--csv", files[0], "--plot", files[1]]) == 0
    out, err = capsys.readouterr()
    assert cheap == [True]
    assert err == "measuring ...\n"
    assert "one, twice (quick)" in out
    assert (tmp_path / "goals.csv").read_text().count("\n") == 1 + len(ROWS)
    assert (tmp_path / "goals.png").read_bytes().startswith(b"\x89PNG")
    assert main(["bench", "--only", "argmin,whole", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert cheap == [True, False, False]
    assert list(told) == ["machine", "versions", "goals"]
    assert not math.isnan(told["goals"][0]["measured"])
    assert main(["bench", "--quick", "--csv", files[0]]) == 2
    assert capsys.readouterr().err == f"error: --csv: {files[0]}: exists already, wanted a new file\n"


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["--parties", "3", "--quick"], "--quick: is about the goals, whose sizes are set"),
        (["--dim", "3", "--only", "sum"], "--only: is about the goals"),
        (["--only", "speed"], "--only: wanted some of whole"),
        (["--only", "sum,sum"], "--only: wanted different values"),
        (["--plot", "/nowhere/at/all.png"], "--plot: /nowhere/at/all.png: its folder does not exist"),
        (["--dim", "0"], "--parties, --dim: wanted 2 to 1000 and 1 to 100000, got 5 and 0"),
        (["--dimension", "0"], "--parties, --dim: wanted 2 to 1000 and 1 to 100000, got 5 and 0"),
    ],
)
def test_what_cannot_be_measured_is_one_line(
    arguments: list[str], error: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", *arguments]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith(f"error: {error}")
