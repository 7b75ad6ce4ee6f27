"""Guarantees of releases, which need not be what was asked for: the figure of axes and sentences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from typing_extensions import override

from smc_dp.experiments.compare.results import Trial
from smc_dp.privacy.statement import short_delta, short_figure


@dataclass(frozen=True)
class GridGuarantee:
    """Epsilon and delta of a release's statement."""

    epsilon: float
    delta: float = 0.0

    @override
    def __str__(self) -> str:
        return round_up_epsilon(self.epsilon) + (f" at δ = {short_delta(self.delta)}" if self.delta else "")


def worst_guarantee(trials: Sequence[Trial]) -> GridGuarantee | None:
    """Return what holds for each of these releases; None where one of them guarantees nothing, or there are none."""
    found = [(t.guaranteed_epsilon, t.guaranteed_delta) for t in trials]
    epsilons = [epsilon for epsilon, _ in found if epsilon is not None]
    if not found or len(epsilons) < len(found):
        return None
    return GridGuarantee(max(epsilons), max(delta or 0.0 for _, delta in found))


def round_up_epsilon(epsilon: float) -> str:
    """Return six digits, rounded up, without needless zeros: a figure that never flatters."""
    return f"{float(short_figure(epsilon)):g}"


def describe_epsilon(requested: float, found: GridGuarantee | None) -> str:
    """Return an epsilon as a sentence quotes it, with the epsilon asked for beside it where it is another."""
    if requested == math.inf:
        return "no noise"
    if found is None:
        return f"ε = {requested:g} asked, nothing guaranteed"
    if str(found) == f"{requested:g}":
        return f"guaranteed ε = {found}"
    return f"guaranteed ε = {found} ({requested:g} asked)"
