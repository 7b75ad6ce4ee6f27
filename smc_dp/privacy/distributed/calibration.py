"""Calibration of shares of noise for a target: their distribution, grid and ring, and the statement."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil

from smc_dp.core.errors import InputError
from smc_dp.privacy.distributed.share_distributions import (
    ERROR,
    LEAST_SCALE,
    MOST_DIMENSION,
    MOST_HONEST,
    GammaShares,
    GaussianShares,
    ShareDistribution,
    WholeShares,
)
from smc_dp.privacy.gaussian import LEAST_VARIANCE, variance_for
from smc_dp.privacy.grid import Grid
from smc_dp.privacy.output import GRID, gaussian_statement, no_guarantee
from smc_dp.privacy.statement import Adjacency, PrivacyStatement, Unit, round_up
from smc_dp.privacy.target import SHARED_NOISES, NoiseName, Target, few_digits

LARGEST_DELTA = Fraction(1, 1 << 64)
"""Largest delta of `vg` that a calibration accepts; the grid is made finer until it holds."""
LEAST_RING_BITS, MOST_RING_BITS = 64, 1024


@dataclass(frozen=True)
class SharedNoise:
    """Distribution of each party's share, L2 sensitivity of the integers, and the grid of both.

    What all parties put on this grid and their shares of noise do not wrap round in its ring, except with a
    probability of 2^-80.
    """

    distribution: ShareDistribution
    sensitivity: int
    grid: Grid


@dataclass(frozen=True)
class SharedSum:
    """Sum that noise is calibrated for: vectors of this dimension, whose sum moves by `sensitivity` in L2 (in reals).

    largest: what no entry of one party's vector exceeds, in reals. parties, honest: how many draw a share, and how
    many of the shares count. multiples: all entries are multiples of 2^-multiples already, so that the grid is at least
    as fine and nothing is charged for rounding; None for entries that are rounded. ValueError for numbers that make no
    sense.
    """

    dimension: int
    sensitivity: Fraction
    largest: Fraction
    parties: int
    honest: int
    multiples: int | None = None

    def __post_init__(self) -> None:
        if self.dimension < 1 or self.sensitivity <= 0 or self.largest < 0:
            raise ValueError("wanted a dimension and a sensitivity above 0, and a largest number not below")
        if not 1 <= self.honest <= min(self.parties, MOST_HONEST):
            raise ValueError(f"wanted from 1 to {self.parties} honest of {self.parties}, got {self.honest}")


def calibrate_shares(
    target: Target,
    dimension: int,
    sensitivity: Fraction,
    *,
    largest: Fraction,
    parties: int,
    honest: int,
    multiples: int | None = None,
) -> SharedNoise:
    """Calibrate shares that give the target to the sum of the parties' vectors, counting those of H honest ones.

    For the arguments see `SharedSum`. InputError, with what would do, where integers of 1024 bits are not enough, or
    for a dimension that the theorem of `vg` does not cover.
    """
    if target.noise not in SHARED_NOISES:
        raise ValueError(f"noise {target.noise} is not drawn in shares")
    shared_sum = SharedSum(dimension, sensitivity, largest, parties, honest, multiples)
    if target.noise == "vg" and dimension > MOST_DIMENSION:
        raise InputError("noise.too_many_numbers_for_vg", most=MOST_DIMENSION, got=dimension)
    found = _fitting(target, shared_sum)
    if found is None:
        raise _refusal(target, shared_sum)
    return found


def shared_statement(
    noise: SharedNoise, target: Target, unit: Unit, adjacency: Adjacency, adversary: str, caveats: tuple[str, ...] = ()
) -> PrivacyStatement:
    """State what a sum with these shares guarantees against a holder of all but H honest ones of them."""
    shares, D = noise.distribution, noise.sensitivity
    if isinstance(shares, GaussianShares):
        return gaussian_statement(shares.rho(D), shares.mu_squared(D), target, unit, adjacency, adversary, caveats)
    if isinstance(shares, WholeShares):
        return PrivacyStatement("pure", round_up(shares.epsilon(D)), 0.0, unit, adjacency, adversary, caveats)
    missed = shares.delta(D)
    if missed == 1:
        return no_guarantee(unit, adjacency, "The grid is too coarse for this noise.")
    return PrivacyStatement(
        "approx", round_up(shares.epsilon(D)), round_up(missed), unit, adjacency, adversary, caveats
    )


def ring_bits(bound: int) -> int:
    """Return the least multiple of 8, from 64 on, in which no sum of at most this absolute value wraps round."""
    return max(LEAST_RING_BITS, -(-(bound.bit_length() + 1) // 8) * 8)


def _fitting(target: Target, shared_sum: SharedSum) -> SharedNoise | None:
    """Return the noise on the coarsest grid that serves, from that of all releases on; None for too long a ring."""
    fine = range(max(GRID.fraction_bits, shared_sum.multiples or 0), MOST_RING_BITS)
    place = bisect_left(fine, True, key=lambda bits: _distribution(target, shared_sum, bits) is not None)
    shares = _distribution(target, shared_sum, fine[place]) if place < len(fine) else None
    if shares is None:
        return None
    bits = fine[place]
    numbers = shared_sum.parties * ceil(shared_sum.largest * (1 << bits))  # rounding to the nearest goes no further
    length = ring_bits(numbers + shares.tail(shared_sum.parties))
    return SharedNoise(shares, _moved(shared_sum, bits), Grid(bits, length)) if length <= MOST_RING_BITS else None


def _distribution(target: Target, shared_sum: SharedSum, fraction_bits: int) -> ShareDistribution | None:
    """Return the distribution of a share on a grid of so many fraction bits; None if that is too coarse."""
    D, d, H = _moved(shared_sum, fraction_bits), shared_sum.dimension, shared_sum.honest
    if target.noise == "ddg":
        return GaussianShares(d, H, max(Fraction(LEAST_VARIANCE), variance_for(D, target.mu) / H))
    if target.noise == "self":
        return WholeShares(d, H, D / target.wanted)
    scale = D / (target.wanted - ERROR)
    if scale < LEAST_SCALE:
        return None
    shares = GammaShares(d, H, scale)
    return shares if shares.delta(D) <= LARGEST_DELTA else None


def _moved(shared_sum: SharedSum, fraction_bits: int) -> int:
    if shared_sum.multiples is not None:
        return ceil(shared_sum.sensitivity * (1 << fraction_bits))
    return Grid(fraction_bits, MOST_RING_BITS).l2_sensitivity(shared_sum.sensitivity, shared_sum.dimension)


def _refusal(target: Target, shared_sum: SharedSum) -> InputError:
    """Return the refusal, with what can be had instead."""
    ways = []
    fewer = range(1, shared_sum.honest)
    most = bisect_left(fewer, True, key=lambda honest: _fitting(target, replace(shared_sum, honest=honest)) is None)
    if most:
        ways.append(f"colluders and dropouts that leave at most {most} honest")
    below, reason = _smaller_epsilon(target, shared_sum), ""
    if below:
        ways.append(f"an epsilon of {below}")
        reason = f" at an epsilon of {few_digits(target.wanted)}, as its delta grows with e^epsilon"
    others: tuple[NoiseName, ...] = ("ddg", "self")
    fit = [name for name in others if name != target.noise and _fitting(replace(target, noise=name), shared_sum)]
    if fit:
        ways.append(f"noise {' or '.join(fit)}")
    return InputError(
        "noise.integers_too_long",
        noise=target.noise,
        honest=shared_sum.honest,
        parties=shared_sum.parties,
        numbers=shared_sum.dimension,
        bits=MOST_RING_BITS,
        reason=reason,
        ways=", or ".join(ways) or "a larger epsilon, or smaller numbers",
    )


def _smaller_epsilon(target: Target, shared_sum: SharedSum) -> int:
    """Return, for `vg`, a whole epsilon below the target's that can be had, the next one not; 0 if there is none."""
    if target.noise != "vg":
        return 0
    smaller = range(1, ceil(target.wanted))
    return bisect_left(smaller, True, key=lambda e: _fitting(replace(target, epsilon=Fraction(e)), shared_sum) is None)
