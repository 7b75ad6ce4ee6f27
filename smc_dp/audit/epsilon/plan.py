"""Plan of an audit of epsilon: the cases that a name stands for, and the draws that there is time for."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from types import MappingProxyType

from protocols.arithmetic.rng import Stream
from smc_dp.audit.epsilon import canary, mechanisms, methods, protocol, rounds, secure_sum
from smc_dp.audit.epsilon.case import Case
from smc_dp.audit.epsilon.deviations import DEVIATIONS
from smc_dp.audit.epsilon.gaussian import claimed_mu
from smc_dp.audit.epsilon.mechanisms import MECHANISMS
from smc_dp.audit.epsilon.mutants import HALF_NOISE, SHARE_MUTANTS, MutantName, check_mutant
from smc_dp.audit.epsilon.worst_pairs import WORST_PAIRS
from smc_dp.core.errors import InputError, shown
from smc_dp.methods.method import check_target, noise_names
from smc_dp.methods.registry import METHODS, STATISTICS
from smc_dp.methods.sums.weighted_sum import WeightedSum
from smc_dp.privacy.target import HIGHEST, SHARED_NOISES, Calibration, NoiseName, Target

ALL_METHODS = "all"
SCOPE_SENTENCES = MappingProxyType(
    {
        protocol.PATHAK_METHOD: protocol.PATHAK_SCOPE,
        **dict.fromkeys(secure_sum.SECURE_SUM_METHODS, secure_sum.SECURE_SUM_SCOPE),
        **dict.fromkeys(WORST_PAIRS, rounds.ROUNDS_SCOPE),
    }
)
"""Scope of the audit of each method that can be audited through a whole protocol."""
_MUTANTS_BY_PROTOCOL = MappingProxyType(
    {protocol.PATHAK_METHOD: protocol.PATHAK_MUTANTS, WeightedSum.name: SHARE_MUTANTS}
)
"""Mutants of methods that are audited alone where no protocol is asked for."""
GAUSSIAN_DELTA = Fraction(1, 10**6)
"""Delta of Gaussian noise; the shown power of audits was measured at it."""
FEWEST, MOST = 60, 200_000
_PILOT, _PILOT_SECONDS = 10, 0.03
LEAST_DRAWS_FOR_MU = 150_000, 10_000
"""Draws of Gaussian noise that reach 0.8 of mu at epsilon 1, and that catch half the noise; a few seconds."""


@dataclass(frozen=True, eq=False)
class PlannedCase:
    """Case of an audit, and the same with half the noise where that says something."""

    case: Case
    half: Case | None


@dataclass(frozen=True)
class Request:
    """Request for an audit of epsilon; None leaves the choice to the plan."""

    method: str
    epsilon: Fraction
    calibration: Calibration | None = None
    noise: NoiseName | None = None
    mutant: MutantName | None = None
    through_protocol: bool = False
    dimension: int | None = None
    lam: float | None = None

    def __post_init__(self) -> None:
        if self.method not in (ALL_METHODS, *METHODS, *STATISTICS, *MECHANISMS):
            known = ", ".join((*METHODS, *STATISTICS, *MECHANISMS, ALL_METHODS))
            raise InputError("method.unknown", known=known, got=shown(self.method))
        if 2 * self.epsilon > HIGHEST:
            raise InputError("epsilon.too_large", most=float(HIGHEST) / 2)
        if self.through_protocol and self.method not in SCOPE_SENTENCES:
            *some, last = SCOPE_SENTENCES
            known = " or ".join((", ".join(some), last))
            raise InputError("through_protocol.other_method", known=known)
        without_noise = self.method in METHODS and not METHODS[self.method].calibrations
        if (self.method in MECHANISMS or without_noise) and (self.calibration or self.noise):
            raise InputError("calibration.not_taken", method=self.method)
        self._check_needs_protocol()
        if self.dimension is None and self.lam is not None:
            raise InputError("lambda.no_dimension")
        if self.dimension is not None and self.method not in canary.SEARCHED_METHODS:
            known = ", ".join(canary.SEARCHED_METHODS)
            raise InputError("dimension.no_canary", known=known, got=self.method)
        if self.dimension is not None and self.through_protocol:
            raise InputError("dimension.through_protocol")
        if self.method == ALL_METHODS:
            check_mutant(ALL_METHODS, self.mutant, HALF_NOISE)

    def _check_needs_protocol(self) -> None:
        """Raise InputError for a noise of parties, or a mutant of a whole protocol, that is asked of a method alone."""
        by_parties, alone = (*secure_sum.SECURE_SUM_METHODS, *WORST_PAIRS), not self.through_protocol
        if self.noise in SHARED_NOISES and (
            self.method not in by_parties or (self.method == WeightedSum.name and alone)
        ):
            raise InputError("noise.of_secure_sum", noise=self.noise, name=", ".join(by_parties))
        if alone and self.mutant not in HALF_NOISE and self.mutant in _MUTANTS_BY_PROTOCOL.get(self.method, ()):
            raise InputError("mutant.of_whole_protocol", mutant=self.mutant, name=self.method)


def plan_cases(request: Request) -> list[PlannedCase]:
    """Return all cases of the request; raise InputError for what a method does not have."""
    if request.through_protocol and request.method in secure_sum.SECURE_SUM_METHODS:
        return _of_runs(request, partial(secure_sum.secure_sum_case, _of_sum(request), method=request.method))
    if request.through_protocol and request.method in WORST_PAIRS:
        return _of_runs(request, partial(rounds.rounds_case, request.method, _of_sums(request)))
    if request.through_protocol:
        target = Target(request.epsilon, request.calibration or "proven", request.noise or "knorm", GAUSSIAN_DELTA)
        half = None if request.mutant else protocol.pathak_case(target, "half-noise", use_ideal=True)
        return [PlannedCase(protocol.pathak_case(target, request.mutant), half)]
    names = (*MECHANISMS, *METHODS, *STATISTICS) if request.method == ALL_METHODS else (request.method,)
    return [case for name in names for case in _of(name, request)]


def _of_runs(request: Request, case: Callable[..., Case]) -> list[PlannedCase]:
    """Return the case in which all follow the protocol, with half its noise, and a case of each deviation."""
    if request.mutant:
        return [PlannedCase(case(mutant=request.mutant), None)]
    half = case(mutant="half-noise", use_ideal=True)
    return [PlannedCase(case(), half), *(PlannedCase(case(way), None) for way in DEVIATIONS)]


def _of_sum(request: Request) -> Target:
    noise = request.noise or secure_sum.SECURE_SUM_METHODS[request.method]
    return Target(request.epsilon, request.calibration or "proven", noise, GAUSSIAN_DELTA)


def _of_sums(request: Request) -> Target:
    return Target(request.epsilon, request.calibration or "proven", request.noise or "ddg")


def _of(name: str, request: Request) -> Iterator[PlannedCase]:
    for mechanism in MECHANISMS:
        if name == mechanism:
            target = Target(request.epsilon, noise=mechanism, delta=GAUSSIAN_DELTA)
            halves = () if request.mutant else mechanisms.mechanism_cases(target, "half-noise")
            for i, case in enumerate(mechanisms.mechanism_cases(target, request.mutant)):
                yield PlannedCase(case, halves[i] if halves else None)
            return
    if name in WORST_PAIRS:
        target = _of_sums(request)
        of_sums = partial(rounds.rounds_case, name, target, use_ideal=True)
        if request.mutant:
            yield PlannedCase(of_sums(mutant=request.mutant), None)
            return
        for weighted in (False, True)[: 1 + WORST_PAIRS[name].has_weights]:
            yield PlannedCase(of_sums(weighted=weighted), of_sums(mutant="half-noise", weighted=weighted))
        return
    if name in STATISTICS:
        of_sum = partial(
            secure_sum.secure_sum_case, _of_sum(replace(request, method=name)), use_ideal=True, method=name
        )
        yield PlannedCase(of_sum(mutant=request.mutant), None if request.mutant else of_sum(mutant="half-noise"))
        return
    if not METHODS[name].calibrations:
        if request.mutant is None:
            yield PlannedCase(methods.method_case(name, Target(None)), None)
        return
    searched = None
    if request.dimension is not None:
        searched = canary.search_neighbours(name, request.lam or canary.CANARY_LAMBDA, request.dimension)
    for target in _targets(name, request):
        case = methods.method_case(name, target, request.mutant, searched)
        claims = case.claim.kind != "none"
        half = methods.method_case(name, target, "half-noise", searched) if claims and not request.mutant else None
        yield PlannedCase(case, half)


def _targets(name: str, request: Request) -> Iterator[Target]:
    """Yield every calibration with every noise it has, where they are not given; of all methods their own noise."""
    method = METHODS[name]
    chosen = [
        (calibration, noise)
        for calibration in method.calibrations
        if request.calibration in (None, calibration)
        for noise in (
            noise_names(method, calibration)[:1] if request.method == ALL_METHODS else noise_names(method, calibration)
        )
        if request.noise in (None, noise)
    ]
    if not chosen and request.method != ALL_METHODS:
        check_target(Target(request.epsilon, request.calibration or "proven", request.noise or "knorm"), method())
    return (Target(request.epsilon, calibration, noise, GAUSSIAN_DELTA) for calibration, noise in chosen)


def affordable_draws(plans: list[PlannedCase], seconds: float, repeats: int, rng: Stream) -> tuple[int, int]:
    """Return the draws from each neighbour for an audit of each case, and for each repeated audit of half its noise.

    Both are between FEWEST and MOST, and each kind takes half of about so many seconds of processor time. Audits of
    Gaussian noise get at least `LEAST_DRAWS_FOR_MU`, even if that takes longer.
    """
    own = sum(_seconds(plan.case, rng) for plan in plans)
    of_half = sum(_seconds(plan.half, rng) for plan in plans if plan.half is not None)
    if not of_half:
        return _between(seconds / own), FEWEST
    found = _between(seconds / 2 / own), _between(seconds / 2 / repeats / of_half)
    if all(plan.case.noise is not None and claimed_mu(plan.case.claim) is not None for plan in plans):
        return max(found[0], LEAST_DRAWS_FOR_MU[0]), max(found[1], LEAST_DRAWS_FOR_MU[1])
    return found


def _between(draws: float) -> int:
    return int(max(FEWEST, min(MOST, draws)))


def _seconds(case: Case, rng: Stream) -> float:
    """Measure the seconds of a draw from each neighbour, and of a canary."""
    case.both(1, rng, lambda _: None)  # what is only done once
    start, done = time.process_time(), 0
    while not done or time.process_time() - start < _PILOT_SECONDS:
        case.both(_PILOT, rng, lambda _: None)
        done += _PILOT
    found = (time.process_time() - start) / done
    if case.canaries is None:
        return found
    start = time.process_time()
    pilot = case.canaries(_PILOT, rng)  # a run may have more of them than that
    return found + (time.process_time() - start) / len(pilot.bits)
