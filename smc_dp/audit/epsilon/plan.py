"""Which cases a name stands for, and how many draws there is time for."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from types import MappingProxyType

from protocols.arithmetic.rng import Stream
from smc_dp.audit.epsilon import canary, mechanisms, methods, protocol, rounds, secure_sum
from smc_dp.audit.epsilon.case import Case
from smc_dp.audit.epsilon.deviations import ABOUT
from smc_dp.audit.epsilon.gaussian import claimed_mu
from smc_dp.audit.epsilon.mechanisms import MECHANISMS
from smc_dp.audit.epsilon.twins import OF_PROTOCOLS, TwinName
from smc_dp.core.errors import InputError, shown
from smc_dp.methods.method import check_target, noise_names
from smc_dp.methods.registry import METHODS
from smc_dp.privacy.target import HIGHEST, SHARED_NOISES, Calibration, NoiseName, Target

ALL = "all"
SCOPES = MappingProxyType(
    {protocol.NAME: protocol.SCOPE, secure_sum.NAME: secure_sum.SCOPE, **dict.fromkeys(rounds.METHODS, rounds.SCOPE)}
)
"""What can be audited through a whole protocol, and what is then looked at."""
DELTA = Fraction(1, 10**6)
"""Of Gaussian noise; what audits come to was measured at it."""
FEWEST, MOST = 60, 200_000
_PILOT, _PILOT_SECONDS = 10, 0.03
FOR_MU = 150_000, 10_000
"""Draws from a law of Gaussian noise: to come to 0.8 of mu at epsilon 1, and to catch half the noise; a few seconds."""


@dataclass(frozen=True, eq=False)
class Planned:
    """A case, and the same with half the noise where that says something."""

    case: Case
    half: Case | None


@dataclass(frozen=True)
class Request:
    """What the command was asked for; None: whatever there is."""

    method: str
    epsilon: Fraction
    calibration: Calibration | None = None
    noise: NoiseName | None = None
    twin: TwinName | None = None
    through_protocol: bool = False
    dimension: int | None = None
    lam: float | None = None

    def __post_init__(self) -> None:
        if self.method not in (ALL, *METHODS, *MECHANISMS):
            known = ", ".join((*METHODS, *MECHANISMS, ALL))
            raise InputError("method.unknown", known=known, got=shown(self.method))
        if 2 * self.epsilon > HIGHEST:
            raise InputError("epsilon.too_large", most=float(HIGHEST) / 2)
        if self.through_protocol and self.method not in SCOPES:
            *some, last = SCOPES
            known = " or ".join((", ".join(some), last))
            raise InputError("through_protocol.other_method", known=known)
        if self.twin in OF_PROTOCOLS and not self.through_protocol:
            raise InputError("twin.of_whole_protocol", twin=self.twin)
        by_parties = self.method in rounds.METHODS or (self.through_protocol and self.method == secure_sum.NAME)
        if self.noise in SHARED_NOISES and not by_parties:
            learning = " or ".join(rounds.METHODS)
            raise InputError("noise.of_secure_sum", noise=self.noise, name=secure_sum.NAME, learning=learning)
        if self.method in MECHANISMS and (self.calibration or self.noise):
            raise InputError("calibration.method_is_mechanism", method=self.method)
        if self.method in METHODS and not METHODS[self.method].calibrations and (self.calibration or self.noise):
            raise InputError("calibration.method_without_noise", method=self.method)
        if self.dimension is None and self.lam is not None:
            raise InputError("lambda.no_dimension")
        if self.dimension is not None and self.method not in canary.SEARCHED:
            known = ", ".join(canary.SEARCHED)
            raise InputError("dimension.no_canary", known=known, got=self.method)
        if self.dimension is not None and self.through_protocol:
            raise InputError("dimension.through_protocol")
        if self.method == ALL and self.twin not in (None, "half-noise"):
            raise InputError("twin.of_mechanism", twin=self.twin)


def planned(request: Request) -> list[Planned]:
    """All cases of the request; InputError for what a method does not have."""
    if request.through_protocol and request.method == secure_sum.NAME:
        target = Target(request.epsilon, request.calibration or "proven", request.noise or "vg", DELTA)
        return _of_runs(request, partial(secure_sum.case, target))
    if request.through_protocol and request.method in rounds.METHODS:
        return _of_runs(request, partial(rounds.case, request.method, _of_sums(request)))
    if request.through_protocol:
        target = Target(request.epsilon, request.calibration or "proven", request.noise or "knorm", DELTA)
        half = None if request.twin else protocol.case(target, "half-noise", clear=True)
        return [Planned(protocol.case(target, request.twin), half)]
    names = (*MECHANISMS, *METHODS) if request.method == ALL else (request.method,)
    return [case for name in names for case in _of(name, request)]


def _of_runs(request: Request, case: Callable[..., Case]) -> list[Planned]:
    """One case in which all follow the protocol, with half its noise, and one for each way to deviate, in all sums."""
    if request.twin:
        return [Planned(case(twin=request.twin), None)]
    half = case(twin="half-noise", clear=True)
    return [Planned(case(), half), *(Planned(case(way), None) for way in ABOUT)]


def _of_sums(request: Request) -> Target:
    return Target(request.epsilon, request.calibration or "proven", request.noise or "ddg")


def _of(name: str, request: Request) -> Iterator[Planned]:
    for mechanism in MECHANISMS:
        if name == mechanism:
            target = Target(request.epsilon, noise=mechanism, delta=DELTA)
            halves = () if request.twin else mechanisms.cases(target, "half-noise")
            for i, case in enumerate(mechanisms.cases(target, request.twin)):
                yield Planned(case, halves[i] if halves else None)
            return
    if name in rounds.METHODS:
        target = _of_sums(request)
        half = None if request.twin else rounds.case(name, target, twin="half-noise", clear=True)
        yield Planned(rounds.case(name, target, twin=request.twin, clear=True), half)
        return
    if not METHODS[name].calibrations:
        if request.twin is None:
            yield Planned(methods.case(name, Target(None)), None)
        return
    searched = None
    if request.dimension is not None:
        searched = canary.searched(name, request.lam or canary.DEFAULT_LAMBDA, request.dimension)
    for target in _targets(name, request):
        case = methods.case(name, target, request.twin, searched)
        claims = case.claim.kind != "none"
        half = methods.case(name, target, "half-noise", searched) if claims and not request.twin else None
        yield Planned(case, half)


def _targets(name: str, request: Request) -> Iterator[Target]:
    """Every calibration with every noise that it has, as far as they are not given; of all methods its own noise."""
    method = METHODS[name]
    chosen = [
        (calibration, noise)
        for calibration in method.calibrations
        if request.calibration in (None, calibration)
        for noise in (
            noise_names(method, calibration)[:1] if request.method == ALL else noise_names(method, calibration)
        )
        if request.noise in (None, noise)
    ]
    if not chosen and request.method != ALL:
        check_target(Target(request.epsilon, request.calibration or "proven", request.noise or "knorm"), method())
    return (Target(request.epsilon, calibration, noise, DELTA) for calibration, noise in chosen)


def affordable(plans: list[Planned], seconds: float, repeats: int, rng: Stream) -> tuple[int, int]:
    """How many draws from each neighbour there can be in about so much time of the processor, FEWEST to MOST: in an
    audit of each case, and in one of half its noise, which is repeated so often. Both kinds take half of the time.
    """
    own = sum(_seconds(plan.case, rng) for plan in plans)
    of_half = sum(_seconds(plan.half, rng) for plan in plans if plan.half is not None)
    if not of_half:
        return _between(seconds / own), FEWEST
    found = _between(seconds / 2 / own), _between(seconds / 2 / repeats / of_half)
    if all(plan.case.noise is not None and claimed_mu(plan.case.claim) is not None for plan in plans):
        return max(found[0], FOR_MU[0]), max(found[1], FOR_MU[1])
    return found


def _between(draws: float) -> int:
    return int(max(FEWEST, min(MOST, draws)))


def _seconds(case: Case, rng: Stream) -> float:
    """Of a draw from each neighbour, and of a canary."""
    case.both(1, rng, lambda _: None)  # what is only done once
    start, done = time.process_time(), 0
    while not done or time.process_time() - start < _PILOT_SECONDS:
        case.both(_PILOT, rng, lambda _: None)
        done += _PILOT
    found = (time.process_time() - start) / done
    if case.canaries is None:
        return found
    start = time.process_time()
    told = case.canaries(_PILOT, rng)  # a run may have more of them than that
    return found + (time.process_time() - start) / len(told.bits)
