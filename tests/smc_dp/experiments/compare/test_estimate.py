"""Estimates of the time of a grid: what is timed, how often it counts, and that finished cells count nothing."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from smc_dp.data.partition import Partition
from smc_dp.experiments.compare import estimate, runner
from smc_dp.experiments.compare.plan import GridCell, GridEntry, GridPlan, GridSetting

FIVE = GridSetting("five", "breast_cancer", Partition(parties=5))
UNEQUAL = replace(FIVE, name="unequal", deal=Partition(parties=5, split="60,10,10,10,10"), repeats=2)
THREE = GridSetting("three", "breast_cancer", Partition(parties=3))
PLAN = GridPlan(
    (FIVE, UNEQUAL, THREE),
    (
        GridEntry("wsum", "wsum", "proven", (Fraction(1), Fraction(2)), draws=3),
        GridEntry("batch", "batch", None, (None,), settings=("five",)),
    ),
    repeats=4,
)


def test_each_kind_is_timed_once_and_counts_for_all_its_unfinished_cells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    timed = list[GridCell]()
    monkeypatch.setattr(estimate, "_cell_seconds", lambda pool, cell: timed.append(cell) or 1.0)
    source = None
    assert estimate.estimate_seconds(PLAN, tmp_path / "out", source, 1) == 4 + 2 + 4 + 4
    assert [(cell.setting.name, cell.entry.label) for cell in timed] == [
        ("five", "wsum"), ("five", "batch"), ("three", "wsum")
    ]  # fmt: skip
    assert estimate.estimate_seconds(PLAN, tmp_path / "out", source, 2) == 7
    begun = replace(PLAN, entries=(PLAN.entries[1],), settings=(FIVE,))
    runner.run_grid(begun, tmp_path / "out", source, jobs=1)
    assert estimate.estimate_seconds(PLAN, tmp_path / "out", source, 1) == 10


def test_a_cell_takes_its_training_once_and_each_release(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that goes on by a second when it is read: two readings for the training, two for the release."""
    pool, cell = runner.load_source(FIVE.source, None), PLAN.cells()[0]
    readings = iter(range(1000))
    monkeypatch.setattr(estimate.time, "perf_counter", lambda: float(next(readings)))
    training = estimate._cell_seconds(pool, replace(cell, entry=replace(cell.entry, draws=1, epsilons=(Fraction(1),))))
    assert estimate._cell_seconds(pool, cell) == training + 5  # six releases in place of one
    failing = replace(cell, entry=replace(cell.entry, options=(("lam", -1.0),)))
    assert estimate._cell_seconds(pool, failing) == 0
