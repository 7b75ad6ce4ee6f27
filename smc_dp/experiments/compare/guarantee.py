"""What releases really guarantee, which need not be what was asked for: the figure of axes and sentences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from smc_dp.experiments.compare.results import Trial
from smc_dp.privacy.statement import short_figure


@dataclass(frozen=True)
class GridGuarantee:
    """The epsilon and delta of a release's statement."""

    epsilon: float
    delta: float = 0.0

    def __str__(self) -> str:
        """Six digits, rounded up."""
        return short(self.epsilon) + (f" at δ = {self.delta:g}" if self.delta else "")


def worst(trials: Sequence[Trial]) -> GridGuarantee | None:
    """What holds for each of these releases; None where one of them, or nothing, guarantees nothing."""
    found = [(t.guaranteed_epsilon, t.guaranteed_delta) for t in trials]
    epsilons = [epsilon for epsilon, _ in found if epsilon is not None]
    if not found or len(epsilons) < len(found):
        return None
    return GridGuarantee(max(epsilons), max(delta or 0.0 for _, delta in found))


def short(epsilon: float) -> str:
    """Six digits, rounded up, without needless zeros: a figure that never flatters."""
    return f"{float(short_figure(epsilon)):g}"


def asked_and_given(asked: float, found: GridGuarantee | None) -> str:
    """An epsilon as a sentence quotes it; what was asked for stands beside it where it is another."""
    if asked == math.inf:
        return "no noise"
    if found is None:
        return f"ε = {asked:g} asked, nothing guaranteed"
    if str(found) == f"{asked:g}":
        return f"guaranteed ε = {found}"
    return f"guaranteed ε = {found} ({asked:g} asked)"
