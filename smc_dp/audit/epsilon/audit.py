"""Audit of the epsilon of one case: every test, and its verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from protocols.arithmetic.rng import Stream
from smc_dp.audit.epsilon.bounds import (
    EpsilonMeasure,
    EventPlan,
    HockeyStickMeasure,
    Worlds,
    choose_event,
    measure_bound,
)
from smc_dp.audit.epsilon.canary import NeighbourDistance
from smc_dp.audit.epsilon.case import Case, Tick
from smc_dp.audit.epsilon.gaussian import CHOOSING_SHARE, MuMeasure, choose_curve, claimed_mu
from smc_dp.audit.epsilon.one_run import Canaries
from smc_dp.audit.epsilon.renyi import choose_cells
from smc_dp.core.arrays import Array
from smc_dp.core.errors import Fault, InputFault
from smc_dp.privacy.statement import PrivacyStatement

Figure: TypeAlias = Literal["epsilon", "delta", "rho", "mu"]
TESTS = ("clopper-pearson", "last digits", "hockey-stick", "renyi", "gaussian dp", "f-dp curve", "one run")
_MOST_CANARIES: Mapping[Figure, int] = MappingProxyType({"epsilon": 2000, "mu": 20_000})
"""Most canaries in one run: enough to come within a tenth of an epsilon of 1; of mu more would show little more."""


@dataclass(frozen=True)
class EpsilonFinding:
    """Lower bound on a figure by one test: above a true claim with probability alpha at most.

    `claimed` is None where nothing is claimed. `draws`: from each neighbour, or canaries. `inside`: the judging draws
    in the event, in one world and the other, where there is one event.
    """

    test: str
    figure: Figure
    bound: float
    claimed: float | None
    draws: int
    inside: tuple[int, int] | None = None

    @property
    def refutes(self) -> bool:
        """Return whether the bound contradicts the claim."""
        return self.claimed is not None and self.bound > self.claimed

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {**asdict(self), "refutes": self.refutes}


@dataclass(frozen=True)
class CaseAudit:
    """Findings about one case; `alpha`: the largest probability of each bound to be wrong."""

    name: str
    neighbours: str
    claim: PrivacyStatement
    alpha: float
    findings: tuple[EpsilonFinding, ...]
    neighbour_distance: NeighbourDistance | None = None

    @property
    def refuted(self) -> bool:
        """Return whether a test contradicts the claim."""
        return any(finding.refutes for finding in self.findings)

    @property
    def verdict(self) -> Fault:
        """Verdict of the audit, with a stable code."""
        if self.claim.kind == "none":
            return InputFault("epsilon.nothing_claimed")
        if self.refuted:
            tests = [finding.test for finding in self.findings if finding.refutes]
            return InputFault("epsilon.claim_contradicted", {"tests": tests})
        return InputFault("epsilon.claim_not_contradicted")

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        fields = {"name": self.name, "neighbours": self.neighbours, "claim": self.claim.as_dict()}
        findings = [finding.as_dict() for finding in self.findings]
        distance = None if self.neighbour_distance is None else self.neighbour_distance.as_dict()
        verdict = {"refuted": self.refuted, "code": self.verdict.code}
        return {**fields, "alpha": self.alpha, "reach": distance, "findings": findings, **verdict}


def audit_mechanism(case: Case, trials: int, alpha: float, rng: Stream, tick: Tick = lambda _: None) -> CaseAudit:
    """Draw so often from each neighbour and run all tests, each wrong with probability at most alpha."""
    findings = tuple(_findings(case, trials, alpha, rng, tick))
    return CaseAudit(case.name, case.neighbours, case.claim, alpha, findings, case.neighbour_distance)


def _findings(case: Case, trials: int, alpha: float, rng: Stream, tick: Tick) -> Iterator[EpsilonFinding]:
    outputs = case.both(trials, rng, tick)
    for name, figure, claimed, worlds, choose in _tests(case, outputs, alpha):
        result = measure_bound(worlds, choose, CHOOSING_SHARE if figure == "mu" else 0.5)
        yield EpsilonFinding(name, figure, result.bound, claimed, trials, result.inside)
    if case.canaries is not None:
        yield from _one_run(case.claim, case.canaries, trials, alpha, rng)


def _one_run(
    claim: PrivacyStatement, canaries: Callable[[int, Stream], Canaries], trials: int, alpha: float, rng: Stream
) -> Iterator[EpsilonFinding]:
    mu = claimed_mu(claim)
    if mu is not None:
        found = canaries(min(trials, _MOST_CANARIES["mu"]), rng)
        yield EpsilonFinding(TESTS[6], "mu", found.mu_at_least(alpha), mu, len(found.bits))
    elif claim.kind == "pure":
        found = canaries(min(trials, _MOST_CANARIES["epsilon"]), rng)
        yield EpsilonFinding(TESTS[6], "epsilon", found.epsilon_at_least(alpha), claim.epsilon, len(found.bits))


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
    if (mu := claimed_mu(claim)) is not None:
        yield TESTS[4], "mu", mu, where, partial(choose_event, measure=MuMeasure(alpha))
        yield TESTS[5], "mu", mu, where, partial(choose_curve, alpha=alpha)
