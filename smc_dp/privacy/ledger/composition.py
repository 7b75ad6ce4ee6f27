"""What several releases about the same data come to together.

Sums of epsilon and delta are exact, and hold even if the epsilon of a release was chosen after looking at earlier ones
(Rogers, Roth, Ullman and Vadhan 2016). With a delta to spend there are better bounds: an epsilon-private release is
(epsilon^2 / 2)-zCDP, rho adds up exactly, and the sum is converted once, at the delta that is left (Bun and Steinke
2016; by orders of Renyi, Canonne, Kamath and Steinke 2020). Where all Gaussian releases state a mu, their mu^2 add up
to that of one Gaussian, whose curve is exact (`smc_dp.privacy.gaussian`). Each of those holds for releases whose
figures were decided beforehand, and so does the smallest of them.

Whoever decides on figures in view of earlier answers needs more: a filter, one account that is fixed before the first
answer. A limit of epsilon and delta is kept however figures are chosen where an account only ever has

* pure releases, and the limit has no delta: they add exactly, and no loss exceeds the sum;
* approximate releases: the sums of epsilon and of delta are a filter (Rogers et al. 2016);
* Gaussian releases with a mu: the smallest bound is the curve, and mu^2 is a filter (Smith and Thakurta 2022). Proof.
  A pair of laws that keeps the curve of mu is a function of a Gaussian of mean 0 or mu and variance 1 (Blackwell), so
  also of the increment of a Brownian motion, with drift 0 or 1, over a time of mu^2. The next mu and function are
  chosen from what is known, so its increment begins where the last one ended; all answers together are a function of
  the path up to the time of the limit, and the end of the path is sufficient for the drift.

Of mixed accounts this is not claimed: the smallest of several filters is none. Somebody who spends what is left on pure
releases where Gaussian answers went one way, and on Gaussian ones where they went the other, passes delta: a test
shows by how much in one case. What such mixtures come to is proved for figures that were decided beforehand.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby

from smc_dp.privacy.gaussian import MOST_RELEASES, epsilon_of
from smc_dp.privacy.ledger.guarantee import Guarantee
from smc_dp.privacy.statement import round_up
from smc_dp.privacy.target import LEAST_DELTA, epsilon_for

SUM = "exact sum"
ZCDP = "zCDP, rho added exactly and converted exactly"
RENYI = "zCDP, rho added exactly and converted by dp-accounting"
CURVE = "Gaussian curve, mu^2 added exactly"
_SLACK = Fraction(1, 1 << 30)  # far above what a few dozen operations on floats can lose
_LONGEST, _GRID = 4096, 1 << 2048  # bits of a denominator: a file of strangers must not make them grow for ever
MOST_SPLITS = 256
"""Into rho and the rest, that are tried for one sum."""


@dataclass(frozen=True)
class Total:
    """(epsilon, delta)-privacy of all releases together; `how` says by which bound."""

    epsilon: Fraction
    delta: Fraction
    how: str


def total(releases: Iterable[Guarantee], delta: Fraction, splits: int = MOST_SPLITS) -> Total | None:
    """The smallest epsilon at a delta of at most this; None when the deltas of the releases alone exceed it.

    splits: how many are tried at most, one at least; with fewer the bound may be less sharp. Raises ValueError when
    units or adjacencies differ: such figures have no sum.
    """
    found = tuple(releases)
    if len({(release.unit, release.adjacency) for release in found}) > 1:
        raise ValueError("guarantees for different units or adjacencies have no sum")
    return min(_bounds(found, delta, splits), key=lambda bound: bound.epsilon, default=None)


def kept_however_chosen(releases: Iterable[Guarantee], delta: Fraction) -> bool:
    """Whether an account of such releases keeps a limit of this delta also for figures chosen in view of answers."""
    found = tuple(releases)
    kinds = {release.kind for release in found}
    if kinds == {"zcdp"}:
        return all(release.mu is not None for release in found)
    return kinds <= {"approx"} or (kinds == {"pure"} and delta == 0)


def _bounds(releases: Sequence[Guarantee], delta: Fraction, splits: int) -> Iterator[Total]:
    plain = Total(_sum(r.epsilon for r in releases), _sum(r.delta for r in releases), SUM)
    if plain.delta <= delta:
        yield plain
    if delta == 0:
        return
    for rho, rest in _splits(releases, splits):
        left = delta - rest.delta
        if left >= LEAST_DELTA:
            epsilon, how = _converted(rho, left)
            yield Total(rest.epsilon + epsilon, delta, how)
    yield from _by_curve(releases, delta)


def _by_curve(releases: Sequence[Guarantee], delta: Fraction) -> Iterator[Total]:
    """Of Gaussian releases that all state a mu, as one; beside them what others spend is added as it is."""
    curves = [r for r in releases if r.kind == "zcdp"]
    squares = [r.mu**2 for r in curves if r.mu is not None]
    left = delta - _sum(r.delta for r in releases if r.kind == "approx")
    if not curves or len(squares) < len(curves) or len(curves) > MOST_RELEASES or left < LEAST_DELTA:
        return
    epsilon = epsilon_of(_sum(squares), left)
    if epsilon is not None:
        yield Total(epsilon + _sum(r.epsilon for r in releases if r.kind != "zcdp"), delta, CURVE)


def _splits(releases: Sequence[Guarantee], most_splits: int) -> Iterator[tuple[Fraction, Total]]:
    """What is added as rho, and what as epsilon and delta.

    Of pure releases the small ones gain as rho: the conversion is concave, so that one threshold is best, and a
    further pure release never adds more than its epsilon. Of very many thresholds some are tried, each a valid bound.
    """
    pure = sorted(r.epsilon for r in releases if r.kind == "pure")
    rho = _sum(r.rho for r in releases if r.rho is not None)
    epsilon = _sum(r.epsilon for r in releases if r.kind != "zcdp")
    delta = _sum(r.delta for r in releases if r.kind == "approx")
    if rho:
        yield rho, Total(epsilon, delta, SUM)
    groups = [(most, len(list(alike))) for most, alike in groupby(pure)]
    step = -(-len(groups) // most_splits)
    for place, (most, count) in enumerate(groups, start=1):
        rho, epsilon = _short(rho + count * most**2 / 2), _short(epsilon - count * most)
        if place % step == 0 or place == len(groups):
            yield rho, Total(epsilon, delta, SUM)


def _converted(rho: Fraction, delta: Fraction) -> tuple[Fraction, str]:
    """The smaller of two valid conversions of rho-zCDP to epsilon at this delta, and its name."""
    from dp_accounting.dp_event import ZCDpEvent  # a second that books of sums alone need not wait
    from dp_accounting.rdp.rdp_privacy_accountant import RdpAccountant

    accountant = RdpAccountant()
    accountant.compose(ZCDpEvent(round_up(rho)))
    by_orders = Fraction(float(accountant.get_epsilon(float(delta * (1 - _SLACK))))) * (1 + _SLACK) + _SLACK
    exact = epsilon_for(rho, delta)
    return (by_orders, RENYI) if by_orders < exact else (exact, ZCDP)


def _sum(values: Iterable[Fraction]) -> Fraction:
    found = Fraction(0)
    for value in values:
        found = _short(found + value)
    return found


def _short(value: Fraction) -> Fraction:
    """Exact up to a denominator of 4096 bits, which covers any floats and decimals; beyond, rounded up on 2^-2048."""
    return value if value.denominator.bit_length() <= _LONGEST else Fraction(math.ceil(value * _GRID), _GRID)
