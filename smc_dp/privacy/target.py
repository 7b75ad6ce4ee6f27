"""Privacy target of a release, and the epsilon and delta of zero-concentrated privacy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from numbers import Real
from typing import Literal, TypeAlias, get_args

from smc_dp.core.errors import FaultCollector, InputError, check_one_of, shown
from smc_dp.privacy.gaussian import mu_for

Calibration: TypeAlias = Literal["proven", "paper"]
NoiseName: TypeAlias = Literal["knorm", "laplace", "gauss", "ddg", "vg", "self"]
"""Noise: the aggregator of a release draws the first three; each party of a secure sum draws a share of the others."""

NOISES_AS_PUBLISHED: tuple[NoiseName, ...] = ("knorm", "laplace")
"""Distributions that the papers use."""
SHARED_NOISES: tuple[NoiseName, ...] = ("ddg", "vg", "self")
"""Distributions that parties draw in shares; see `smc_dp.privacy.distributed`."""
EPSILON_HELP = "Privacy loss; a smaller one is more private."
NOISE_HELP = "Distribution of the noise."
CALIBRATION_HELP = "Scale of the noise: as proven here, or as published."
"""Sentence of the setting `calibration`; these three stand in options, studies and parameters of estimators."""
LOWEST, HIGHEST = Fraction(1, 10**9), Fraction(10**6)
DEFAULT_DELTA = Fraction(1, 10**5)
LEAST_DELTA = Fraction(1, 10**100)


@dataclass(frozen=True)
class Target:
    """Guarantee that a release should have, or under `paper` the published figure that sets the noise.

    Parameters
    ----------
    epsilon : Fraction, int, float or None
        The privacy loss, from 1e-9 to 1e6; an int or a float becomes a fraction by `as_fraction`. None, or infinity,
        asks for no noise at all, and no privacy.
    calibration : {"proven", "paper"}, default="proven"
        What sets the scale of the noise: a proof, or what is published.
    noise : {"knorm", "laplace", "gauss", "ddg", "vg", "self"}, default="knorm"
        The distribution of the noise: `knorm` and `laplace` give pure epsilon; `gauss` gives the curve of a Gaussian,
        with the largest mu that keeps (epsilon, delta). `ddg` is to `gauss` what `self` is to `knorm`, in shares; so is
        `vg`, which is not pure.
    delta : Fraction, default=Fraction(1, 100000)
        Of (epsilon, delta), from 1e-100 to below 1; it counts for `gauss` and `ddg` only.

    Raises
    ------
    InputError
        For figures out of these ranges, and names that are none of these; an `UnfitError` where several are.

    References
    ----------
    * C. L. Canonne, G. Kamath and T. Steinke. The discrete Gaussian for differential privacy. NeurIPS 2020 (`ddg`).

    Examples
    --------
    >>> from smc_dp import Target
    >>> Target(0.5).epsilon
    Fraction(1, 2)
    >>> Target(1, noise="ddg").delta
    Fraction(1, 100000)

    """

    epsilon: Fraction | None
    calibration: Calibration = "proven"
    noise: NoiseName = "knorm"
    delta: Fraction = DEFAULT_DELTA

    def __post_init__(self) -> None:
        found = FaultCollector()
        if self.epsilon == math.inf:
            object.__setattr__(self, "epsilon", None)
        if self.epsilon is not None:
            with found.step():
                object.__setattr__(self, "epsilon", as_fraction("epsilon", self.epsilon))
                if not LOWEST <= self.epsilon <= HIGHEST:
                    least, most = float(LOWEST), float(HIGHEST)
                    raise InputError("epsilon.out_of_range", least=least, most=most, got=few_digits(self.epsilon))
        with found.step():
            check_one_of("calibration", self.calibration, get_args(Calibration))
        with found.step():
            check_one_of("noise", self.noise, get_args(NoiseName))
            if self.noise not in NOISES_AS_PUBLISHED and self.calibration == "paper":
                raise InputError("noise.not_in_papers", noise=self.noise)
        with found.step():
            object.__setattr__(self, "delta", as_fraction("delta", self.delta))
            if not LEAST_DELTA <= self.delta < 1:
                raise InputError("delta.out_of_range", least=float(LEAST_DELTA), got=few_digits(self.delta))
        found.require()

    @property
    def wanted(self) -> Fraction:
        """Epsilon where there must be one; InputError when no noise was wanted."""
        if self.epsilon is None:
            raise InputError("epsilon.none")
        return self.epsilon

    @property
    def mu(self) -> Fraction:
        """The largest float mu whose Gaussian curve keeps epsilon at delta, for certain; see `gaussian`."""
        return mu_for(self.wanted, self.delta)


def few_digits(value: Fraction) -> str:
    """Return a number as it may stand in a message: a few digits."""
    return f"{Context(prec=6).divide(Decimal(value.numerator), Decimal(value.denominator)):g}"


def as_fraction(name: str, value: object) -> Fraction:
    """Return a number as a fraction; of a float the smaller of its decimal and its binary reading, to exceed neither.

    Raises InputError, in the name of the parameter, for anything else, NaN and infinity.
    """
    if isinstance(value, int | Fraction):
        return Fraction(value)
    if not isinstance(value, Real) or not math.isfinite(value):
        raise InputError("setting.not_finite", name=name, got=shown(value))
    return min(Fraction(repr(float(value))), Fraction(float(value)))


def epsilon_for(rho: Fraction, delta: Fraction) -> Fraction:
    """Return rho + 2 sqrt(rho ln(1/delta)), rounded up: rho-zCDP implies (epsilon, delta)-DP (Bun and Steinke 2016)."""
    return rho + 2 * Fraction(_root(_upwards().multiply(_decimal(rho), _log(1 / delta))))


def _upwards() -> Context:
    # Only its methods round upwards: the operators of Decimal follow the context of the thread.
    return Context(prec=50, rounding=ROUND_CEILING)


def _decimal(value: Fraction) -> Decimal:
    return _upwards().divide(Decimal(value.numerator), Decimal(value.denominator))


def _log(value: Fraction) -> Decimal:
    up = _upwards()
    return up.next_plus(up.ln(_decimal(value)))  # ln rounds to nearest in any context


def _root(value: Decimal) -> Decimal:
    up = _upwards()
    return up.next_plus(up.sqrt(value))  # and so does sqrt
