"""All tests on one case."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Literal, TypeAlias

from protocols.arithmetic.rng import Stream
from smc_dp.arrays import Array
from smc_dp.audit.epsilon.bounds import EpsilonMeasure, EventPlan, HockeyStickMeasure, Worlds, choose_event, measured
from smc_dp.audit.epsilon.case import Case, Tick
from smc_dp.audit.epsilon.renyi import choose_cells
from smc_dp.privacy.statement import PrivacyStatement

Figure: TypeAlias = Literal["epsilon", "delta", "rho"]
TESTS = ("clopper-pearson", "last digits", "hockey-stick", "renyi", "one run")
_MOST_CANARIES = 2000
"""In one run: enough to come within a tenth of an epsilon of 1."""


@dataclass(frozen=True)
class EpsilonFinding:
    """One test: its lower bound on the figure, which a claim that is true exceeds but for the chance that was allowed.

    claimed: None where nothing is claimed. draws: from each neighbour, half of them to choose an event and half to
    judge by; of `one run` the canaries. inside: how many of the draws that judge lie in the event, in one world and the
    other, where there is one event.
    """

    test: str
    figure: Figure
    bound: float
    claimed: float | None
    draws: int
    inside: tuple[int, int] | None = None

    @property
    def refutes(self) -> bool:
        """Whether the claim is contradicted."""
        return self.claimed is not None and self.bound > self.claimed

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {**asdict(self), "refutes": self.refutes}


@dataclass(frozen=True)
class Audited:
    """All findings about one case; `alpha`: the chance of each bound to be wrong, at most."""

    name: str
    neighbours: str
    claim: PrivacyStatement
    alpha: float
    findings: tuple[EpsilonFinding, ...]

    @property
    def refuted(self) -> bool:
        """Whether a test contradicts the claim."""
        return any(finding.refutes for finding in self.findings)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        fields = {"name": self.name, "neighbours": self.neighbours, "claim": self.claim.as_dict()}
        findings = [finding.as_dict() for finding in self.findings]
        return {**fields, "alpha": self.alpha, "findings": findings, "refuted": self.refuted}


def audit_mechanism(case: Case, trials: int, alpha: float, rng: Stream, tick: Tick = lambda _: None) -> Audited:
    """Draw so often from each neighbour and run all tests, each wrong with a chance of at most alpha."""
    return Audited(case.name, case.neighbours, case.claim, alpha, tuple(_findings(case, trials, alpha, rng, tick)))


def canaries_of(trials: int) -> int:
    """How many canaries the one run has beside so many draws."""
    return min(trials, _MOST_CANARIES)


def _findings(case: Case, trials: int, alpha: float, rng: Stream, tick: Tick) -> Iterator[EpsilonFinding]:
    outputs = case.outputs(0, trials, rng, tick), case.outputs(1, trials, rng, tick)
    for name, figure, claimed, worlds, choose in _tests(case, outputs, alpha):
        result = measured(worlds, choose)
        yield EpsilonFinding(name, figure, result.bound, claimed, trials, result.inside)
    if case.canaries is not None and case.claim.kind == "pure":
        number = canaries_of(trials)
        bound = case.canaries(number, rng).epsilon_at_least(alpha)
        yield EpsilonFinding(TESTS[4], "epsilon", bound, case.claim.epsilon, number)


def _tests(
    case: Case, outputs: tuple[Array, Array], alpha: float
) -> Iterator[tuple[str, Figure, float | None, Worlds, Callable[[Worlds], EventPlan]]]:
    claim, where, digits = case.claim, case.where(outputs), case.digits(outputs)
    event = partial(choose_event, measure=EpsilonMeasure(alpha, claim.delta))
    yield TESTS[0], "epsilon", claim.epsilon, where, event
    if digits is not None:
        yield TESTS[1], "epsilon", claim.epsilon, digits, event
    if claim.epsilon is not None:
        stick = HockeyStickMeasure(alpha, claim.epsilon)
        yield TESTS[2], "delta", claim.delta, where, partial(choose_event, measure=stick)
    if claim.rho is not None:
        yield TESTS[3], "rho", claim.rho, where, partial(choose_cells, alpha=alpha)
