"""Sparse graph of those who share masks, where everybody with everybody is too many: a circle in random order, and its
bound.

After Bell et al., "Secure Single-Server Aggregation with (Poly)Logarithmic Overhead" (CCS 2020), section 3: a Harary
graph under a random permutation. All parties stand in a circle in an order that nobody chooses; each shares masks, and
the shares of its seeds, with the degree/2 next to it on either side. The order is a function of a coin of every party,
to which it committed before any was shown. How large the degree has to be, and how many shares open a seed, is computed
here in whole numbers; NOTES.md derives the bound. Where nobody may drop out there are no shares, and the circle has to
be connected without the colluding parties.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from math import comb

from protocols.arithmetic import permutation

SECURITY = 40
MOST_FAILURE = Fraction(1, 1 << SECURITY)
LEAST_THRESHOLD = 2  # with 1, every share is the secret
LEAST_DEGREE, MOST_DEGREE = 4, 254  # with 2, no neighbour may drop out; there are 255 shares over GF(256)
LEAST_CLOSED_DEGREE = 2  # where nobody may drop out: one on either side
CHOSEN_CLOSED_DEGREE = 10  # at least, where it is chosen here: fewer than so many never tear a circle, agreed on or not
_INDEX_BYTES = 2


@dataclass(frozen=True)
class Neighbourhood:
    """Degree of the graph, and threshold of shares that open a seed, 0 where there are none; `failure` bounds the
    probability that these do not do for some party, or in some sum.
    """

    degree: int
    threshold: int
    failure: Fraction


@lru_cache(maxsize=64)
def best_neighbourhood(K: int, t: int, D: int, R: int, degree: int) -> Neighbourhood:
    """Return the neighbourhood of this degree whose threshold fails least, for K parties of whom t collude while D drop
    out in each of R sums. Who colludes and who drops out does not depend on the order.
    """
    pairs = comb(K - 1, degree)
    colluding, dropped_out = _at_least(K - 1, t, degree), _at_least(K - 1, D, degree)
    thresholds = range(LEAST_THRESHOLD, degree + 1)
    worst, threshold = min(((K - t) * colluding[T] + R * K * dropped_out[degree - T + 1], T) for T in thresholds)
    apart = R * _torn(K, min(K, t + D), degree)
    return Neighbourhood(degree, threshold, _with_bias(Fraction(worst, pairs) + apart, K))


@lru_cache(maxsize=64)
def closed_neighbourhood(K: int, t: int, degree: int) -> Neighbourhood:
    """Return the neighbourhood of this degree where nobody may drop out, and no secret is ever opened: it does if the
    honest parties are connected. One order serves all sums.
    """
    return Neighbourhood(degree, 0, _with_bias(_torn(K, t, degree), K))


def _torn(K: int, out: int, degree: int) -> Fraction:
    """Return a bound on the share of orders in which the circle is not connected without these `out` parties: it falls
    apart only where two arcs of degree/2 of them lie apart.
    """
    return Fraction(K * (K - 1) * comb(out, degree), 2 * comb(K, degree))


def _with_bias(failure: Fraction, K: int) -> Fraction:
    """Add the bias of the order, but for what no order brings about: no bias brings that about either."""
    return failure + permutation.bias(K) if failure else failure


@lru_cache(maxsize=64)
def least_neighbourhood(K: int, t: int, D: int, R: int) -> Neighbourhood | None:
    """Return the neighbourhood of the least degree that fails with a probability of at most 2^-40; None where there is
    none.
    """
    return None if t + D >= K else _least(partial(best_neighbourhood, K, t, D, R), K, LEAST_DEGREE)


@lru_cache(maxsize=64)
def least_closed_neighbourhood(K: int, t: int) -> Neighbourhood | None:
    """Return the same where nobody may drop out, with ten neighbours or more, or as many as there are."""
    least = max(LEAST_CLOSED_DEGREE, min(CHOSEN_CLOSED_DEGREE, (K - 1) // 2 * 2))
    return _least(partial(closed_neighbourhood, K, t), K, least)


def _least(of_degree: Callable[[int], Neighbourhood], K: int, least: int) -> Neighbourhood | None:
    # Degrees are even, half on either side, and at most K - 1, so that nobody is a neighbour from both sides.
    low, high = least - 2, min(MOST_DEGREE, (K - 1) // 2 * 2)
    if high < least or of_degree(high).failure > MOST_FAILURE:
        return None
    while high - low > 2:  # each degree that it takes was looked at, so that nothing rests on the order of the bounds
        middle = (low + high) // 4 * 2
        if of_degree(middle).failure <= MOST_FAILURE:
            high = middle
        else:
            low = middle
    return of_degree(high)


def most_dropouts(K: int, t: int, R: int) -> int:
    """Return the largest D for which there is a neighbourhood, or 0."""
    low, high = 0, K - t
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if least_neighbourhood(K, t, middle, R) is None else (middle, high)
    return low


def _at_least(total: int, marked: int, drawn: int) -> list[int]:
    """Count for each j up to drawn + 1 the ways in which `drawn` of `total`, `marked` of them marked, hold j or more
    marked ones.
    """
    found = [0] * (drawn + 2)
    for j in reversed(range(drawn + 1)):
        found[j] = found[j + 1] + comb(marked, j) * comb(total - marked, drawn - j)
    return found


# The circle itself.


def greeting_leaf(index: int, greeting: bytes, coin: bytes) -> bytes:
    """Return the leaf of a party in the tree that the order is made of: over its greeting and its coin."""
    place = index.to_bytes(_INDEX_BYTES, "big")
    return hashlib.sha256(b"smc-dp sum coin leaf\0" + place + greeting + coin).digest()


def draw_order(session: bytes, root: bytes, K: int) -> tuple[int, ...]:
    """Return the parties in the order in which they stand in the circle."""
    return permutation.drawn(hashlib.sha256(b"smc-dp sum circle\0" + session + root).digest(), K)


def neighbours(degree: int, order: Sequence[int], place: int) -> tuple[int, ...]:
    """Return the neighbours of a place, from degree/2 before it to degree/2 after it: the holders of the shares of
    the party that stands there, in their order.
    """
    reach = degree // 2
    beside = (*range(place - reach, place), *range(place + 1, place + reach + 1))
    return tuple(order[i % len(order)] for i in beside)


def all_neighbours(degree: int, order: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Return the neighbours of every party, by party."""
    found: list[tuple[int, ...]] = [()] * len(order)
    for place, index in enumerate(order):
        found[index] = neighbours(degree, order, place)
    return tuple(found)


def share_number(degree: int, at: int) -> int:
    """Return which share of its neighbour number `at` a party holds: if that stands before it, it stands after that."""
    return degree - 1 - at
