"""Private inputs in the views of parties: noise and models, as long as they can be.

That a party's noise follows the declared distribution is a statistical check with stated error. Each finding says what
a run cannot show: a party draws its noise and trains its model before the protocol begins.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, isqrt
from typing import Any

import numpy as np
from scipy.special import gammainc, gammaincc, gammainccinv, gammaincinv

from smc_dp.audit.run.blame import view_signer, why_unsigned
from smc_dp.audit.run.check import CheckOutcome, failed, make_fault, not_possible, passed
from smc_dp.audit.run.derived_parameters import DerivedParameters
from smc_dp.audit.run.evidence import Evidence
from smc_dp.audit.run.privacy import direction
from smc_dp.core.errors import Fault, InputError, shown
from smc_dp.methods.training.solver import PUBLIC_TAU
from smc_dp.privacy.grid import ceil_sqrt
from smc_dp.privacy.noise import DiscreteLaplace, KNorm
from smc_dp.privacy.pathak2010 import LARGEST_N
from smc_dp.privacy.sensitivity import largest_norm

LEAST_SHARE_VARIANCE = 18  # of a share of ddg
NOISE_FALSE_ALARM = 1e-9
"""Chance of a false alarm about the length or the direction of one party's noise, or of all given noise together."""


@dataclass(frozen=True, eq=False)
class _Drawn:
    """Noise in a view, in grid units, its distribution, and the model beside it: zeros where there is none."""

    eta: tuple[int, ...]
    distribution: KNorm | DiscreteLaplace
    model: direction.Vectors


def check_noise(evidence: Evidence, found: DerivedParameters) -> CheckOutcome:
    """Check that each party's noise, and all of it, is as long as its exact distribution has it, and points nowhere."""
    views = {name: view for name, view in evidence.views.items() if name in evidence.session.parties}
    if not views:
        return not_possible("views.no_party_noise")
    drawn = []
    for name, view in views.items():
        mine = _drawn(view.inputs, found)
        if mine is None:
            return fail_view(evidence, name, make_fault("view.no_noise"))
        if wrong := _wrong(mine):
            return fail_view(evidence, name, wrong)
        drawn.append(mine)
    lengths, slacks = zip(*map(_length, drawn), strict=True)
    total = found.public.dimension * len(views)
    if not _plausible(sum(lengths), sum(slacks), total):
        return failed("noise.length_together")
    if _all_point(drawn):
        return failed("noise.direction_together")
    low, high = _limits(total)
    power = gammainc(total, max(0.0, 2 * (low - sum(slacks)))) + gammaincc(total, 2 * (high + sum(slacks)))
    return passed(
        "noise.holds",
        vectors=count_noun("noise vector", len(views)),
        name=found.noise(1).name,
        drawn=_said_of_directions(drawn),
        false_alarms=2 * (len(views) + 1) * NOISE_FALSE_ALARM,
        power=stated_power(power),
    )


def _wrong(mine: _Drawn) -> Fault | None:
    if not _plausible(*_length(mine), mine.distribution.dimension):
        return make_fault("noise.length")
    if mine.distribution.scale >= direction.COARSE:
        scores = direction.normal_scores(mine.eta, mine.distribution)
        if direction.direction_chance(scores, mine.model) < NOISE_FALSE_ALARM:
            return make_fault("noise.direction")
    return None


def _all_point(drawn: list[_Drawn]) -> bool:
    if len(drawn) < 2 or any(mine.distribution.scale < direction.COARSE for mine in drawn):
        return False
    scores = np.array([direction.normal_scores(mine.eta, mine.distribution) for mine in drawn])
    return direction.common_direction_chance(scores, np.array([mine.model for mine in drawn])) < NOISE_FALSE_ALARM


def _said_of_directions(drawn: list[_Drawn]) -> str:
    if any(mine.distribution.scale < direction.COARSE for mine in drawn):
        return "too short on this grid for its directions to be looked at"
    return (
        "and pointing no more than chance does along one axis, all ones, the owner's model, fixed vectors, each other, "
        "by its signs or by how even it is"
    )


def check_models(evidence: Evidence, found: DerivedParameters) -> CheckOutcome:
    """Check that no model is longer than training makes any: noise taken off a model beforehand mostly shows.

    Training ends where the gradient is at most tau long, so within tau/mu of a minimiser; no minimiser, whatever the
    rows, is longer than W; and rounding to the grid moves a vector by at most sqrt(d)/2 steps.
    """
    views = {name: view for name, view in evidence.views.items() if name in evidence.session.parties}
    if not views:
        return not_possible("views.no_party_model")
    mu = 2 * Fraction(found.method.lam)
    longest = Fraction(largest_norm(mu)) + Fraction(PUBLIC_TAU) / mu
    grid = found.grid
    most = ceil(longest * (1 << grid.fraction_bits)) + ceil_sqrt(found.public.dimension)
    for name, view in views.items():
        mine = _input(view.inputs)
        if mine is None or len(mine.w) != found.public.dimension or any(type(x) is not int for x in mine.w):
            return fail_view(evidence, name, make_fault("view.no_model"))
        if sum(grid.lift(x) ** 2 for x in mine.w) > most**2:
            return fail_view(evidence, name, make_fault("view.model_too_long", most=float(longest)))
    return passed("models.hold", models=count_noun("model", len(views)), longest=float(longest))


def fail_view(evidence: Evidence, name: str, what: Fault) -> CheckOutcome:
    """Return the failed outcome for inputs in a view, with its owner as culprit where a signature shows it.

    The owner must also have agreed on the method that the release states, because anybody can write a release.
    """
    said = what.within(f"in the view of {shown(name)}")
    if why := why_unsigned(evidence, name):
        return failed(said, why_nobody=why)
    try:
        release, shares = evidence.release_file, evidence.shares
        bits = None if shares is None else evidence.shares_file.fraction_bits
        agreed = release.agreement(evidence.auxiliary, bits)
        stated = agreed.session_binding(release.parameters.simulated, evidence.study)
    except InputError:
        return failed(said)
    is_agreed = stated == evidence.session.parameters.as_dict().get("agreed")
    return failed(said, culprit=view_signer(evidence, name) if is_agreed else None)


def impossible_rows(rows: int, most: int) -> Fault:
    """Return the fault of a party with a number of rows that it cannot have."""
    return make_fault("view.number_of_rows", got=rows, most=most)


def little_variance(distribution: Any) -> Fault:
    """Return the fault of ddg shares with too little variance."""
    return make_fault("share.little_variance", variance=float(distribution.variance), least=LEAST_SHARE_VARIANCE)


def stated_power(power: float) -> float:
    """Return a power to state, rounded down to four digits and below 1, because no test notices with certainty."""
    return min(floor(power * 10_000), 9_999) / 10_000


def count_noun(what: str, number: int) -> str:
    """Return a number with its noun, in words."""
    return f"1 {what}" if number == 1 else f"{number} {what}s"


def _input(inputs: tuple[Any, ...]) -> Any:
    """Return a party's own input, with its size n, weights w and noise eta, or None when the view holds none."""
    mine = inputs[1] if len(inputs) == 2 else None
    return mine if all(isinstance(getattr(mine, name, None), list | tuple) for name in ("w", "eta")) else None


def _drawn(inputs: tuple[Any, ...], found: DerivedParameters) -> _Drawn | None:
    """Return the noise that a view holds; None when it is no noise."""
    mine = _input(inputs)
    if mine is None:
        return None
    grid, bits, d = found.grid, found.grid.ring_bits, found.public.dimension
    if len(mine.eta) != d or any(type(x) is not int or x.bit_length() > bits for x in mine.eta):
        return None
    n = getattr(mine, "n", None)
    if type(n) is not int or not 1 <= n <= LARGEST_N:
        return None
    eta = mine.eta if found.method.as_published else [grid.lift(x) for x in mine.eta]  # published noise: no ring
    is_model = len(mine.w) == d and all(type(x) is int for x in mine.w)
    model = np.array([float(grid.lift(x)) for x in mine.w]) if is_model else np.zeros(d)
    return _Drawn(tuple(eta), found.noise(n), model)


def _length(mine: _Drawn) -> tuple[float, float]:
    """Return the noise's length over its scale, and by how much rounding may have changed it."""
    distribution, d = mine.distribution, mine.distribution.dimension
    if distribution.name == "knorm":
        # round(Y) is within sqrt(d)/2 of Y, whose length over the scale is Gamma(d); isqrt takes less than 1.
        rounding = ceil_sqrt(d) + 1
        return float(isqrt(sum(x * x for x in mine.eta)) / distribution.scale), float(rounding / distribution.scale)
    # P(|y| >= m) lies between q**m and q**(m-1), q = e**(-1/scale): an exponential variable but for 1 a coordinate.
    return float(sum(map(abs, mine.eta)) / distribution.scale), float(d / distribution.scale)


def _limits(shape: int) -> tuple[float, float]:
    return float(gammaincinv(shape, NOISE_FALSE_ALARM / 2)), float(gammainccinv(shape, NOISE_FALSE_ALARM / 2))


def _plausible(length: float, slack: float, shape: int) -> bool:
    low, high = _limits(shape)
    return low - slack <= length <= high + slack
