"""Power of an audit of epsilon: repeat it on new draws, and count how often it catches a mutant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from protocols.arithmetic.rng import Stream
from smc_dp.audit.epsilon.audit import CaseAudit, audit_mechanism
from smc_dp.audit.epsilon.bounds import clopper_pearson
from smc_dp.audit.epsilon.case import Case, Tick


@dataclass(frozen=True)
class Power:
    """Number of repeats of an audit, with so many draws from each neighbour, that contradicted the claim."""

    caught: int
    repeats: int
    confidence: float
    draws: int

    @property
    def interval(self) -> tuple[float, float]:
        """Limits of the probability to be caught, right with the confidence (Clopper and Pearson)."""
        return clopper_pearson(self.caught, self.repeats, self.confidence)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        figures = {"caught": self.caught, "repeats": self.repeats, "draws": self.draws}
        return {**figures, "interval": list(self.interval)}


@dataclass(frozen=True)
class MeasuredPower:
    """Audit, and its power against half the noise, of each test and of all together, where it was measured."""

    audited: CaseAudit
    of_test: Mapping[str, Power]
    of_all: Power | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON: the audit, with `power` in it and in each finding, null where there is none."""
        findings = [
            {**finding.as_dict(), "power": _plain(self.of_test.get(finding.test))} for finding in self.audited.findings
        ]
        return {**self.audited.as_dict(), "findings": findings, "power": _plain(self.of_all)}


@dataclass(frozen=True)
class MutantPower:
    """Power of an audit against a mutant, the description of its fault, and the last of these audits."""

    about: str
    example: CaseAudit
    power: Power

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {"about": self.about, **self.power.as_dict(), "example": self.example.as_dict()}


@dataclass(frozen=True)
class Effort:
    """Effort of an audit: `trials` draws from each neighbour, `of_half` of half the noise, `repeats` for a power."""

    trials: int
    alpha: float
    repeats: int
    confidence: float
    of_half: int | None = None

    @property
    def for_half(self) -> Effort:
        """Effort of each audit of half the noise."""
        return replace(self, trials=self.of_half or self.trials, of_half=None)

    def draws(self, audits: int) -> int:
        """Return the number of draws that `tick` will hear of."""
        return 2 * self.trials * audits


def audit_with_power(
    case: Case, half: Case | None, effort: Effort, rng: Stream, tick: Tick = lambda _: None
) -> MeasuredPower:
    """Audit the case, and `half`, the same with half the noise, as often as `effort` says."""
    audited = audit_mechanism(case, effort.trials, effort.alpha, rng, tick)
    if half is None:
        return MeasuredPower(audited, {})
    effort = effort.for_half
    # Half the noise is caught where it contradicts the claim of the whole noise, not one of its own.
    runs = _runs(replace(half, claim=case.claim), effort, rng, tick)
    refuting = [{finding.test for finding in run.findings if finding.refutes} for run in runs]
    of_test = {f.test: _power(sum(f.test in tests for tests in refuting), effort) for f in audited.findings}
    return MeasuredPower(audited, of_test, _power(sum(run.refuted for run in runs), effort))


def audit_mutant(about: str, mutant: Case, effort: Effort, rng: Stream, tick: Tick = lambda _: None) -> MutantPower:
    """Audit the mutant as often as `effort` says."""
    runs = _runs(mutant, effort, rng, tick)
    return MutantPower(about, runs[-1], _power(sum(run.refuted for run in runs), effort))


def _runs(case: Case, effort: Effort, rng: Stream, tick: Tick) -> list[CaseAudit]:
    return [audit_mechanism(case, effort.trials, effort.alpha, rng, tick) for _ in range(effort.repeats)]


def _power(caught: int, effort: Effort) -> Power:
    return Power(caught, effort.repeats, effort.confidence, effort.trials)


def _plain(power: Power | None) -> dict[str, Any] | None:
    return None if power is None else power.as_dict()
