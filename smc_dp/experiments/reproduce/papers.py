"""Ready grids: the papers' figures, with their parameters and what their texts say should come out, and one of ours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from smc_dp.core.errors import check_one_of
from smc_dp.core.toml import parse_toml
from smc_dp.experiments.compare.study import Study
from smc_dp.experiments.reproduce import collaborative, feature_method, hamm2016, pathak2010, sums

STUDIES: MappingProxyType[str, Callable[[], Study]] = MappingProxyType(
    {
        "pathak-fig2": pathak2010.pathak_figure2,
        "hamm-fig2": hamm2016.hamm_figure2,
        "hamm-fig3": hamm2016.hamm_figure3,
        "feature-fig1": feature_method.feature_figure1,
        "feature-fig2": feature_method.feature_figure2,
        "feature-fig3": feature_method.feature_figure3,
        "collaborative-fig2": collaborative.collaborative_figure2,
        "collaborative-fig3": collaborative.collaborative_figure3,
        "collaborative-fig4": collaborative.collaborative_figure4,
        "collaborative-fig5": collaborative.collaborative_figure5,
        "sums": sums.secure_sums,
    }
)


def ready_study(
    name: str, repeats: int | None = None, draws: int | None = None, insecure_seed: int | None = None
) -> Study:
    """Return the ready grid of this name, shortened on request; InputError with all names if there is none."""
    check_one_of("figure", name, STUDIES)
    found = STUDIES[name]()
    notes = parse_toml(Path(__file__).with_name("notes.toml").read_text("utf-8"))["note"]
    found = replace(found, differs=(*found.differs, *(note["text"] for note in notes if name in note["of"])))
    plan = found.plan
    if draws is not None:
        plan = replace(plan, entries=tuple(replace(e, draws=draws if e.calibration else 1) for e in plan.entries))
    plan = replace(plan, repeats=repeats or plan.repeats, insecure_seed=insecure_seed)
    if plan == replace(found.plan, insecure_seed=insecure_seed):
        return replace(found, plan=plan)
    shorter = "The grid was shortened: fewer or other repeats and draws than it has in full, so spreads are less sure."
    return replace(found, plan=plan, differs=(shorter, *found.differs))
