"""What several releases about the same data come to together.

Sums of epsilon and delta are exact, and hold even if the epsilon of a release was chosen after looking at earlier ones
(Rogers, Roth, Ullman and Vadhan 2016). With a delta to spend there are better bounds: an epsilon-private release is
(epsilon^2 / 2)-zCDP, rho adds up exactly, and the sum is converted once, at the delta that is left (Bun and Steinke
2016; by orders of Renyi, Canonne, Kamath and Steinke 2020). Where all Gaussian releases state a mu, their mu^2 add up
to that of one Gaussian, whose curve is exact (`smc_dp.privacy.gaussian`). Each of those holds for releases whose
figures were decided beforehand, and so does the smallest of them.

Whoever decides on figures in view of earlier answers needs more: a filter, one account that is fixed before the first
answer, and the smallest of several is none. So pure and Gaussian releases come to at least what one of these says of
them, in the order in which they were reserved. A limit of epsilon and delta is then kept, but for what the last says.

* Pure releases alone add exactly: no loss exceeds the sum, and nothing of delta is spent. So do those before the first
  Gaussian one: whatever they answered, the others have what the limit leaves of epsilon, and all of delta. What was
  reserved before it and void only after it stays in that sum: whoever gives it up may have seen the Gaussian answer,
  and would otherwise choose between two accounts (1.5 to 1.9 times the delta, a test shows).
* Gaussian releases with a mu, and pure ones after the first of them, add as mu^2 (Smith and Thakurta 2022). Proof. A
  pair of laws that keeps the curve of mu is a function of a Gaussian of mean 0 or mu and variance 1 (Blackwell), so
  also of the increment of a Brownian motion, with drift 0 or 1, over a time of mu^2. The next mu and function are
  chosen from what is known, so its increment begins where the last one ended; all answers together are a function of
  the path up to the time of the limit, and the end of the path is sufficient for the drift. An epsilon-private release
  keeps the curve of mu = 2 Phi^-1(s), s = 1/(1 + e^-epsilon): the curve's trade-off function is convex, and meets that
  of a coin that lies with probability 1 - s at its ends and its corner. And mu^2 <= epsilon^2 pi/2, because the
  derivative 2 s (1 - s)/phi(mu/2) is at most (pi/2)^(1/2): 4 Phi(x) Phi(-x) <= e^(-x^2/2), as a square holds its inner
  circle.
* Pure releases alone whose sum is more add as mu^2 too, where there is a delta. Whoever goes on like that in some
  cases, and in others has Gaussian ones within the limit, keeps twice the delta, one for each of the two.

Approximate releases alone add in epsilon and delta, which is a filter (Rogers et al. 2016). Where they stand beside
Gaussian ones, or where a Gaussian one has no mu, the total is proved for figures that were decided beforehand alone:
see `kept_however_chosen`. Whoever spends what is left on one kind where answers went one way, and on another where they
went the other, passes delta; a test shows that of the smallest bound alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby

from smc_dp.privacy.gaussian import LEAST_MU, MOST_RELEASES, epsilon_of
from smc_dp.privacy.ledger.guarantee import Guarantee
from smc_dp.privacy.statement import round_up
from smc_dp.privacy.target import LEAST_DELTA, epsilon_for

SUM = "exact sum"
ZCDP = "zCDP, rho added exactly and converted exactly"
RENYI = "zCDP, rho added exactly and converted by dp-accounting"
CURVE = "Gaussian curve, mu^2 added exactly"
CHOSEN = "Gaussian curve, mu^2 added, a pure release as a Gaussian one"
_SLACK = Fraction(1, 1 << 30)  # far above what a few dozen operations on floats can lose
_LONGEST, _GRID = 4096, 1 << 2048  # bits of a denominator: a file of strangers must not make them grow for ever
_PURE_AS_CURVE = Fraction(15708, 10_000)  # above pi/2: mu^2 of a pure release, over its epsilon squared
MOST_SPLITS = 256
"""Into rho and the rest, that are tried for one sum."""


@dataclass(frozen=True)
class Total:
    """(epsilon, delta)-privacy of all releases together; `how` says by which bound."""

    epsilon: Fraction
    delta: Fraction
    how: str


def total(
    releases: Iterable[Guarantee],
    delta: Fraction,
    splits: int = MOST_SPLITS,
    pure_first: int | None = None,
    too_late: Fraction = Fraction(0),
) -> Total | None:
    """The smallest epsilon at a delta of at most this; None when the deltas of the releases alone exceed it.

    splits: how many are tried at most, one at least; with fewer the bound may be less sharp. pure_first: how many of
    the pure releases were reserved before any Gaussian one, even one that came to nothing; None for those before the
    first Gaussian one here. too_late: epsilon of pure ones that were reserved before it, and came to nothing only
    after it was. Raises ValueError when units or adjacencies differ: such figures have no sum.
    """
    found = tuple(releases)
    if len({(release.unit, release.adjacency) for release in found}) > 1:
        raise ValueError("guarantees for different units or adjacencies have no sum")
    least = min(_bounds(found, delta, splits), key=_epsilon, default=None)
    filtered = [r for r in found if r.kind == "pure" or r.mu is not None]
    if least is None or delta == 0 or not filtered or (len(found) == 1 and not too_late):  # one alone chooses nothing
        return least
    if least.how == SUM and _all_pure(filtered):
        return least
    chosen = min(_filters(filtered, delta, pure_first, too_late), key=_epsilon, default=None)
    if chosen is None:  # beyond what the curve says anything of
        return None if too_late or any(r.kind == "pure" for r in filtered) else least
    return max(least, chosen, key=_epsilon)


def kept_however_chosen(releases: Iterable[Guarantee]) -> bool:
    """Whether an account of such releases keeps a limit also for figures that are chosen in view of answers."""
    found = tuple(releases)
    by_mu = all(release.kind == "pure" or release.mu is not None for release in found)
    return by_mu or all(release.kind == "approx" for release in found)


def _epsilon(bound: Total) -> Fraction:
    return bound.epsilon


def _all_pure(releases: Iterable[Guarantee]) -> bool:
    return all(release.kind == "pure" for release in releases)


def _filters(
    releases: Sequence[Guarantee], delta: Fraction, pure_first: int | None, too_late: Fraction
) -> Iterator[Total]:
    """What pure and Gaussian releases come to by each filter that is fixed beforehand."""
    pure = [r.epsilon for r in releases if r.kind == "pure"]
    if _all_pure(releases):
        yield Total(_sum(pure), Fraction(0), SUM)
    if pure_first is None:
        pure_first = next((place for place, r in enumerate(releases) if r.kind != "pure"), 0)
    before = _sum([*pure[:pure_first], too_late])
    squares = [_PURE_AS_CURVE * epsilon**2 for epsilon in pure[pure_first:]]
    squares += [r.mu**2 for r in releases if r.mu is not None]
    epsilon = epsilon_of(max(_sum(squares), Fraction(LEAST_MU) ** 2), delta) if delta >= LEAST_DELTA else None
    if epsilon is not None and len(releases) <= MOST_RELEASES:
        yield Total(before + epsilon, delta, CHOSEN)


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
