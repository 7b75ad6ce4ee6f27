"""The epsilon that is guaranteed, and not the one that was asked for, stands in tables, on axes and in sentences."""

from __future__ import annotations

import csv
import json
import math
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from smc_dp.data.partition import Partition
from smc_dp.experiments.compare import charts, guarantee, report, runner, study
from smc_dp.experiments.compare.epsilon_axis import AxisPoint, EpsilonAxis
from smc_dp.experiments.compare.guarantee import GridGuarantee
from smc_dp.experiments.compare.plan import GridEntry, GridPlan, GridSetting
from smc_dp.experiments.compare.results import Trial
from smc_dp.experiments.compare.study import Panel, PaperClaim, PaperFigure, Point, Study

BOTH = (Fraction(1, 2), None)
PLAN = GridPlan(
    (GridSetting("s", "breast_cancer", Partition(parties=3)),),
    (
        GridEntry("prr_mean", "prr_mean", "paper", BOTH),
        GridEntry("wsum", "wsum", "proven", BOTH),
        GridEntry("gauss", "wsum", "proven", BOTH, "gauss", Fraction(1, 1000)),
        GridEntry("ofpa", "ofpa", "paper", BOTH, "laplace"),
        GridEntry("batch", "batch", None, (None,)),
    ),
    repeats=1,
)


def run(folder: Path, **changes) -> runner.ExperimentGrid:
    return runner.run_grid(replace(PLAN, **changes), folder, None, jobs=1)


def wrong(folder: Path) -> set[str]:
    """The methods whose rows in the table have another guarantee than their statements, to the last digit."""
    document = json.loads((folder / "statements.json").read_text())
    stated = {
        (s["method"], s["epsilon"]): (s["statement"]["epsilon"], s["statement"]["delta"])
        for s in document["statements"]
    }

    def right(row: dict[str, str]) -> bool:
        epsilon, delta = stated[row["method"], row["epsilon"]]
        if epsilon is None:
            return row["guaranteed_epsilon"] == row["guaranteed_delta"] == ""
        return (float(row["guaranteed_epsilon"] or "nan"), float(row["guaranteed_delta"] or "nan")) == (epsilon, delta)

    with (folder / "results.csv").open() as file:
        return {row["method"] for row in csv.DictReader(file) if not right(row)}


def test_the_table_has_what_the_statements_guarantee_beside_what_was_asked(tmp_path, monkeypatch):
    grid = run(tmp_path / "out")
    assert wrong(tmp_path / "out") == set()
    asked = {(t.method, t.epsilon): (t.guaranteed_epsilon, t.guaranteed_delta) for t in grid.trials}
    assert asked["prr_mean", 0.5][0] == pytest.approx(0.5 * 0.1547, rel=1e-3)  # G/(4 K), which is not 1
    assert asked["wsum", 0.5] == (0.5, 0.0)
    assert asked["gauss", 0.5] == (0.5, 0.001)
    assert {asked[name, math.inf] for name in ("prr_mean", "wsum", "batch")} == {asked["ofpa", 0.5]} == {(None, None)}
    shown = {(row["method"], row["epsilon"]): row for row in report.mean_rows(grid.trials)}
    assert shown["prr_mean", "0.5"]["guaranteed_epsilon"].startswith("0.077")
    assert shown["gauss", "0.5"]["guaranteed_delta"] == "0.001"
    assert shown["ofpa", "0.5"]["guaranteed_epsilon"] == "none"
    insecure = run(tmp_path / "insecure", insecure_seed=1)
    assert {t.guaranteed_epsilon for t in insecure.trials} == {None}
    monkeypatch.setattr("smc_dp.experiments.compare.task._guaranteed", lambda release: (0.5, 0.0))  # the twin: as asked
    run(tmp_path / "twin")
    assert wrong(tmp_path / "twin") == {"prr_mean", "wsum", "gauss", "ofpa", "batch"}


def trial(method: str, asked: float, given: float | None, accuracy: float = 0.8, **other) -> Trial:
    calibration = other.get("calibration", "paper" if given != asked else "proven")
    delta = None if given is None else other.get("delta", 0.0)
    trust = "none" if calibration == "none" else "aggregator"
    return Trial("s", method, trust, calibration, asked, 0.0, other.get("repeat", 0), accuracy, 0.5, 1.0, given, delta)


def test_of_several_releases_the_worst_counts_and_no_figure_flatters():
    some = [trial("wsum", 1.0, 0.25), trial("wsum", 1.0, 0.75, delta=1e-6)]
    assert guarantee.worst_guarantee(some) == GridGuarantee(0.75, 1e-6)
    assert guarantee.worst_guarantee([*some, trial("wsum", 1.0, None)]) is guarantee.worst_guarantee([]) is None
    for figure in (0.0464009213943891, 1.0, 10.000001647982954, 0.1, 2 / 3, 1e-9):
        assert figure <= float(guarantee.round_up_epsilon(figure)) <= figure * 1.00001
    assert [guarantee.round_up_epsilon(x) for x in (1.0, 0.05, 0.04640092139)] == ["1", "0.05", "0.046401"]


PRINTED, PROVEN, NONE = (AxisPoint(0.5, GridGuarantee(0.0464)), AxisPoint(0.5, GridGuarantee(0.5)), AxisPoint(0.5))
WITHOUT = AxisPoint(math.inf)


def test_a_release_stands_at_its_guarantee_and_beside_the_axis_without_one():
    some = [PRINTED, PROVEN, NONE, AxisPoint(0.1), WITHOUT]
    scale = EpsilonAxis(Panel("p", ("s",)), some, charts.WIDE)
    assert [scale.of(place) for place in (PRINTED, PROVEN)] == [math.log10(0.0464), math.log10(0.5)]
    along = [scale.of(place) for place in (PRINTED, PROVEN, AxisPoint(0.1), NONE, WITHOUT)]
    assert all(low < high for low, high in pairwise(along))
    mirrored = EpsilonAxis(Panel("p", ("s",), "inverse epsilon"), some, charts.WIDE)
    assert [mirrored.of(place) for place in some] == [-scale.of(place) for place in some]
    as_asked = EpsilonAxis(
        Panel("p", ("s",)), [NONE, AxisPoint(0.1), WITHOUT], charts.WIDE
    )  # nothing is guaranteed: the axis says so
    assert as_asked.of(NONE) == math.log10(0.5) < as_asked.of(WITHOUT)
    assert named(scale) == "guaranteed ε (logarithmic)"
    assert named(mirrored) == "guaranteed 1/ε (logarithmic)"
    assert named(as_asked) == "ε as asked (nominal); nothing is guaranteed"


def named(scale: EpsilonAxis) -> str:
    axes = Figure().add_subplot()
    scale.finish(axes)
    return axes.get_xlabel()


def test_a_sentence_quotes_the_guarantee():
    ours, printed, none = [trial("wsum", 0.5, 0.5, 0.8 + r / 100, repeat=r) for r in (0, 1)], [], []
    for r in (0, 1):
        printed.append(trial("prr_mean", 0.5, 0.0464009213943891, 0.5 + r / 100, repeat=r))
        none.append(trial("ofpa", 0.5, None, 0.5 + r / 100, repeat=r))
    at = [study.point_of(some[0]) for some in (ours, printed, none)]

    def here(*pairs: tuple[Point, Point], trials=(*ours, *printed, *none)) -> str:
        return study.judge_claim(PaperClaim("x", "accuracy", pairs), trials).here

    printed_there = "prr_mean (paper), guaranteed ε = 0.046401 (0.5 asked)"
    assert here((at[0], at[1])) == f"s, wsum (proven), guaranteed ε = 0.5 and {printed_there}: 0.805 and 0.505"
    assert here((at[0], at[2])).endswith("ofpa (paper), ε = 0.5 asked, nothing guaranteed: 0.805 and 0.505")
    many = here(*[(at[0], at[1])] * 7)
    assert many == "yes at 7 of 7 places: guaranteed ε = 0.5 against guaranteed ε = 0.046401"
    assert here(*[(at[1], at[2])] * 7).endswith("guaranteed ε = 0.046401 against nothing guaranteed")
    stated = PaperFigure(at[1], 0.5, "accuracy", "x")
    assert study.judge_number(stated, printed).here.startswith("s, guaranteed ε = 0.046401 (0.5 asked): 0.505")
    twin = [replace(t, guaranteed_epsilon=t.epsilon) for t in printed]  # as if what is asked were guaranteed
    assert "asked" not in here((at[0], at[1]), trials=(*ours, *twin))


def test_curves_over_settings_say_their_guarantee():
    """Printed noise with a guarantee and without, proven noise, and none."""
    methods = (("prr_mean", "paper", 0.0464), ("ofpa", "paper", None), ("wsum", "proven", 0.5))
    entries = tuple(GridEntry(m, m, c, (None,)) for m, c, _ in methods)
    trials = [
        trial(method, asked, None if asked == math.inf else given, calibration=c)
        for asked in (0.5, math.inf)
        for method, c, given in methods
    ]
    panel = Panel("p", ("s",), "setting", "error", places=(1.0,), epsilons=(0.5, math.inf))
    shown = Study("x", "X", "Words", replace(PLAN, entries=entries), (panel,))
    notes = {line.label: line.note for line in charts.panel_curves(panel, shown, trials)}
    assert notes["prr_mean (paper), ε = 0.5 asked"] == "guaranteed ε ≤ 0.0464"
    assert notes["ofpa (paper), ε = 0.5 asked"] == notes["wsum (proven), no noise"] == "no guarantee"
