"""Composition: the (epsilon, delta) that several releases about the same data come to together.

Figures that were decided beforehand have several valid bounds, and the smallest of them counts. Sums of epsilon and
delta are exact. An epsilon-private release is (epsilon^2/2)-zCDP, rho adds up exactly, and the sum is converted once,
at the delta that is left (Bun and Steinke 2016; by orders of Renyi, Canonne, Kamath and Steinke 2020). Where all
Gaussian releases state a mu, their mu^2 add up to that of one Gaussian, whose curve is exact
(`smc_dp.privacy.gaussian`).

Figures that are chosen in view of earlier answers need a filter: one account that is fixed before the first answer. The
smallest of several filters is none: one that is picked after an answer can pass delta, as the tests show. So an account
has one rule with one switch, the first Gaussian release, and comes to at least this:

* Before the switch, pure and approximate releases add in epsilon and delta (Rogers, Roth, Ullman and Vadhan 2016).
* From the switch on, Gaussian releases with a mu, and pure ones, add as mu^2. They have what the sums before left of
  the limit's epsilon and delta.

Proof. An approximate release shows everything with probability delta_i, and is else epsilon_i-private (Kairouz, Oh and
Viswanath 2015). So at the switch everything has been shown with a probability of at most the sum of the delta_i, and
else no loss exceeds the sum s of the epsilon_i. Whatever was answered, the rest keeps (epsilon - s, delta - sum), by
the next paragraph, and the two add up to epsilon and delta. Where the switch comes may depend on answers: nothing was
counted in another way before. A limit that is kept without a switch is kept by the sums alone.

Gaussian releases with a mu add as mu^2 (Smith and Thakurta 2022). A pair of distributions that keeps the curve of mu is
a function of a Gaussian of mean 0 or mu and variance 1 (Blackwell), so also of the increment of a Brownian motion, with
drift 0 or 1, over a time of mu^2. The next mu and function are chosen from what is known, so its increment begins where
the last one ended. All answers together are a function of the path up to the time of the limit, and the end of the path
is sufficient for the drift. An epsilon-private release keeps the curve of mu = 2 Phi^-1(s), s = 1/(1 + e^-epsilon): the
curve's trade-off function is convex, and meets that of a coin that lies with probability 1 - s at its ends and its
corner. And mu^2 <= epsilon^2 pi/2, because the derivative 2 s (1 - s)/phi(mu/2) is at most (pi/2)^(1/2):
4 Phi(x) Phi(-x) <= e^(-x^2/2), as a square holds its inner circle.

A release that was charged before the switch and refunded only after it still counts: the party that gives it up may
have seen the Gaussian answer, and would otherwise choose between two accounts (1.5 to 1.9 times the delta, a test
shows). It does not count where all that was charged from the switch up to that refund was refunded, too: nothing of
that was answered, so the sums before the first answer of the curve are fixed without it.

An approximate release after the switch, or a Gaussian one without a mu, is counted for figures that were decided
beforehand alone; see `holds_however_chosen`. No rule as simple as this gives more: what an approximate release shows
with probability delta_i is below no Gaussian curve, and a delta that Gaussian releases may spend after one answer, and
approximate ones after another, is spent up to twice.
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

EXACT_SUM = "added up"
ZCDP = "zCDP composition"
RENYI = "zCDP composition, converted by orders of Renyi"
CURVE = "Gaussian composition"
CHOSEN = "Gaussian composition; a release with delta 0 counts as Gaussian"
_SLACK = Fraction(1, 1 << 30)  # far above what a few dozen operations on floats can lose
_LONGEST, _GRID = 4096, 1 << 2048  # bits of a denominator: a file of strangers must not make them grow for ever
# Those of dp-accounting.
_ORDERS: tuple[float, ...] = (*(1 + x / 10 for x in range(1, 100)), *range(11, 64), *(2**x for x in range(7, 11)))
_PURE_AS_CURVE = Fraction(15708, 10_000)  # above pi/2: mu^2 of a pure release, over its epsilon squared
_MOST_SPLITS = 256  # into rho and the rest, that are tried for one sum


@dataclass(frozen=True)
class Total:
    """Guarantee of all releases together: (epsilon, delta), and `how`, the bound that gives it."""

    epsilon: Fraction
    delta: Fraction
    how: str


def total(releases: Iterable[Guarantee], delta: Fraction, exact: int | None = None) -> Total | None:
    """Return the smallest epsilon at a delta of at most this; None where the deltas of the releases exceed it.

    exact: number of releases, the first ones, that were charged before any Gaussian one, even one that was refunded; by
    default those before the first Gaussian one here. Raises ValueError when units or adjacencies differ: such figures
    have no sum.
    """
    found = tuple(releases)
    if len({(release.unit, release.adjacency) for release in found}) > 1:
        raise ValueError("guarantees for different units or adjacencies have no sum")
    if all(release.kind != "zcdp" for release in found):
        plain = _exact_sum(found)
        return plain if plain.delta <= delta else None
    least = min(_bounds(found, delta), key=_epsilon, default=None)
    if least is None or len(found) == 1:  # one alone chooses nothing
        return least
    chosen = _with_one_switch(found, delta, _before_switch(found) if exact is None else exact)
    if chosen is None:  # beyond what the curve says anything of
        return least if all(release.kind == "zcdp" for release in found) else None
    return max(least, chosen, key=_epsilon)


def holds_however_chosen(releases: Iterable[Guarantee], exact: int | None = None) -> bool:
    """Tell whether an account of such releases keeps its limit also for figures that are chosen in view of answers."""
    found = tuple(releases)
    after = found[_before_switch(found) if exact is None else exact :]
    return all(release.kind == "pure" or release.mu is not None for release in after)


def _before_switch(releases: Sequence[Guarantee]) -> int:
    return next((place for place, r in enumerate(releases) if r.kind == "zcdp"), len(releases))


def _epsilon(bound: Total) -> Fraction:
    return bound.epsilon


def _exact_sum(releases: Sequence[Guarantee]) -> Total:
    return Total(_sum(r.epsilon for r in releases), _sum(r.delta for r in releases), EXACT_SUM)


def _with_one_switch(releases: Sequence[Guarantee], delta: Fraction, exact: int) -> Total | None:
    """Return the total by the filter of the module's docstring; None beyond what the curve says anything of."""
    before, after = _exact_sum(releases[:exact]), releases[exact:]
    pure = [r.epsilon for r in after if r.kind == "pure"]
    squares = [r.mu**2 for r in after if r.mu is not None]
    if not squares:
        return Total(before.epsilon + _sum(pure), before.delta, EXACT_SUM)
    left = delta - before.delta
    squares += [_PURE_AS_CURVE * epsilon**2 for epsilon in pure]
    epsilon = epsilon_of(_sum(squares), left) if left >= LEAST_DELTA and len(releases) <= MOST_RELEASES else None
    return None if epsilon is None else Total(before.epsilon + epsilon, delta, CHOSEN)


def _bounds(releases: Sequence[Guarantee], delta: Fraction) -> Iterator[Total]:
    if (plain := _exact_sum(releases)).delta <= delta:
        yield plain
    if delta == 0:
        return
    for rho, rest in _splits(releases):
        left = delta - rest.delta
        if left >= LEAST_DELTA:
            epsilon, how = _converted(rho, left)
            yield Total(rest.epsilon + epsilon, delta, how)
    yield from _by_curve(releases, delta)


def _by_curve(releases: Sequence[Guarantee], delta: Fraction) -> Iterator[Total]:
    """Yield the total of Gaussian releases that all state a mu, with what others spend added as it is."""
    curves = [r for r in releases if r.kind == "zcdp"]
    squares = [r.mu**2 for r in curves if r.mu is not None]
    left = delta - _sum(r.delta for r in releases if r.kind == "approx")
    if not curves or len(squares) < len(curves) or len(curves) > MOST_RELEASES or left < LEAST_DELTA:
        return
    epsilon = epsilon_of(_sum(squares), left)
    if epsilon is not None:
        yield Total(epsilon + _sum(r.epsilon for r in releases if r.kind != "zcdp"), delta, CURVE)


def _splits(releases: Sequence[Guarantee]) -> Iterator[tuple[Fraction, Total]]:
    """Yield the part that is added as rho, and the part that is added as epsilon and delta.

    Of pure releases the small ones gain as rho: the conversion is concave, so that one threshold is best, and a
    further pure release never adds more than its epsilon. Of very many thresholds some are tried, each a valid bound.
    """
    pure = sorted(r.epsilon for r in releases if r.kind == "pure")
    rho = _sum(r.rho for r in releases if r.rho is not None)
    epsilon = _sum(r.epsilon for r in releases if r.kind != "zcdp")
    delta = _sum(r.delta for r in releases if r.kind == "approx")
    if rho:
        yield rho, Total(epsilon, delta, EXACT_SUM)
    groups = [(most, len(list(alike))) for most, alike in groupby(pure)]
    step = -(-len(groups) // _MOST_SPLITS)
    for place, (most, count) in enumerate(groups, start=1):
        rho, epsilon = _short(rho + count * most**2 / 2), _short(epsilon - count * most)
        if place % step == 0 or place == len(groups):
            yield rho, Total(epsilon, delta, EXACT_SUM)


def _converted(rho: Fraction, delta: Fraction) -> tuple[Fraction, str]:
    """Return the smaller of two valid conversions of rho-zCDP to epsilon at this delta, and its name."""
    found = _by_orders(round_up(rho), float(delta * (1 - _SLACK)))
    by_orders = Fraction(found) * (1 + _SLACK) + _SLACK
    exact = epsilon_for(rho, delta)
    return (by_orders, RENYI) if by_orders < exact else (exact, ZCDP)


def _by_orders(rho: float, delta: float) -> float:
    """Return the smallest epsilon of rho-zCDP over these orders, as dp-accounting does, whose import takes a second."""
    if delta**2 + math.expm1(-rho * _ORDERS[0]) > 0:
        return 0.0
    return max(0.0, min(rho * a + math.log1p(-1 / a) - math.log(delta * a) / (a - 1) for a in _ORDERS))


def _sum(values: Iterable[Fraction]) -> Fraction:
    found = Fraction(0)
    for value in values:
        found = _short(found + value)
    return found


def _short(value: Fraction) -> Fraction:
    """Round a value up on 2^-2048 where its denominator is beyond 4096 bits, which cover any floats and decimals."""
    return value if value.denominator.bit_length() <= _LONGEST else Fraction(math.ceil(value * _GRID), _GRID)
