"""A page of a comparison with everything that one can have, pictures too, of made-up trials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from smc_dp.data.partition import Partition
from smc_dp.experiments.compare import report, study
from smc_dp.experiments.compare.plan import GridEntry, GridPlan, GridSetting
from smc_dp.experiments.compare.results import Trial
from smc_dp.experiments.compare.runner import ExperimentGrid
from smc_dp.experiments.compare.study import PaperClaim, Point

ASKED = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
LONG = "a-method-with-a-name-that-is-longer-than-a-narrow-screen-of-a-telephone-is-wide, λ = 0.001"


def compared(folder: Path) -> Path:
    """The page, in that folder."""
    return report.write_report(*study_and_grid(), folder, 1.0)


def study_and_grid(name: str = LONG, asked: Sequence[float] = ASKED) -> tuple[study.Study, ExperimentGrid]:
    """The study, and what came out; name: that of the first of two methods."""
    plan = GridPlan(
        (GridSetting("s", "breast_cancer", Partition(parties=3)),),
        tuple(
            GridEntry(n, m, c, (Fraction(1),))
            for n, m, c in ((name, "wsum", "proven"), ("prr_mean", "prr_mean", "paper"))
        ),
        repeats=1,
    )
    trials = tuple(
        Trial("s", label, "aggregator", "proven" if label == name else "paper", e, 0.0, r, 0.8, 0.9, 0.5, given, 0.0)
        for e in asked
        for r in (0, 1)
        for label, given in ((name, e), ("prr_mean", 0.0464 * e))
    )
    points = [Point("s", label, c, 1.0) for label, c in ((name, "proven"), ("prr_mean", "paper"))]
    claims = (PaperClaim("“a sentence of a paper” (section 5)", "accuracy", ((points[0], points[1]),) * 3),)
    statement = {"kind": "pure", "epsilon": 0.5, "delta": 0.0, "rho": None, "adjacency": "replace", "adversary": "all",
                 "caveats": ["A caveat of many words. " * 5]}  # fmt: skip
    statements = tuple(
        {
            "dataset": "s",
            "method": p.method,
            "trust": p.trust,
            "calibration": p.calibration,
            "epsilon": f"{e:g}",
            "statement": statement,
        }
        for p in points
        for e in asked
    )
    failure = {"failure": f"/a/path/{'x' * 90}", "setting": {"name": "s"}, "repeat": 0,
               "entry": {"label": "prr_mean", "calibration": "paper", "trust": "aggregator"}}  # fmt: skip
    shown = replace(study.plan_study("x", "A title", "Words.", plan), claims=claims, differs=("A sentence.",))
    return shown, ExperimentGrid(trials, statements, (failure,))
