"""What is computed of parts: sums, the noise of the smallest party, rounds; and which parts fit together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.stats

from protocols.arithmetic.rng import Stream
from smc_dp.core.arrays import Array
from smc_dp.methods.functionality import (
    Contribution,
    EachPublishes,
    Functionality,
    Rounds,
    Sum,
    SumWithSmallestNoise,
    Trusted,
    Vector,
    add_vectors,
    ideal,
)
from smc_dp.privacy.noise import DiscreteLaplace
from smc_dp.privacy.output import GRID


def stream(seed: str = "functionality") -> Stream:
    return Stream.insecure_from_seed(seed)


# The noise of the smallest.

TIED = [Contribution(n, (0,), (1 << 8 * j,)) for j, n in enumerate((4, 9, 4, 4))]
"""Each party's noise says whose it is; the second party is not among the smallest."""


def test_ties_among_the_smallest_are_broken_uniformly() -> None:
    rng = stream("ties")
    found = Counter((ideal(SumWithSmallestNoise(), TIED, rng)[0].bit_length() - 1) // 8 for _ in range(3000))
    assert set(found) == {0, 2, 3}
    assert scipy.stats.chisquare([*found.values()]).pvalue > 1e-6


@pytest.mark.parametrize("times", [1, 3])
def test_the_noise_of_the_smallest_is_added_so_many_times(times: int) -> None:
    parts = [Contribution(7, (1, -2), (1000, 1000)), Contribution(2, (10, 20), (-5, 6))]
    assert ideal(SumWithSmallestNoise(times), parts, stream()) == (11 - 5 * times, 18 + 6 * times)


GOOD = Contribution(3, (1, 2), (0, 0))


@pytest.mark.parametrize(
    ("functionality", "parts", "why"),
    [
        (SumWithSmallestNoise(), [], "contributions: .* got 0"),
        (SumWithSmallestNoise(), [GOOD], "contributions: .* got 1"),
        (SumWithSmallestNoise(), [GOOD, Contribution(0, (1, 2), (0, 0))], "party 2: size must be positive"),
        (SumWithSmallestNoise(), [GOOD, Contribution(1, (1,), (0, 0))], "party 2: wanted 2 weights .* got 1 and 2"),
        (SumWithSmallestNoise(), [GOOD, Contribution(1, (1, 2), (0,))], "party 2: wanted 2 weights .* got 2 and 1"),
        (SumWithSmallestNoise(), [Contribution(1, (), ())] * 2, "party 1: wanted 0 weights"),
        (Sum(), [], r"vectors: .* got \[\]"),
        (Sum(), [(1, 2), (1,)], r"vectors: .* got \[2, 1\]"),
        (Sum(), [()], r"vectors: .* got \[0\]"),
        (EachPublishes(), [], "parts: .* none"),
        (Trusted(lambda parts, _: parts), [], "parts: .* none"),
        (Rounds((Sum(),)), [], "parts: .* none"),
        (Rounds(()), [lambda _: (1,)], "rounds: .* 0"),
        (Rounds((Sum(),)), [lambda _: (1,), lambda _: (1, 2)], r"vectors: wanted .* got \[1, 2\]"),
    ],
)
def test_parts_that_do_not_fit_are_refused(functionality: Functionality, parts: list[Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        ideal(functionality, parts, stream())


# Sums.

LAW = DiscreteLaplace(2, Fraction(50))


def test_the_noise_of_a_sum_is_drawn_once_and_nothing_else_is_drawn() -> None:
    one, other = stream(), stream()
    drawn = LAW.sample(other)
    assert ideal(Sum(LAW), [(1, 2), (30, 40)], one) == (31 + drawn[0], 42 + drawn[1])
    assert one.bytes(16) == other.bytes(16)
    alone, untouched = stream(), stream()
    assert ideal(Sum(), [(1, 2)], alone) == (1, 2)
    assert alone.bytes(16) == untouched.bytes(16)


def test_what_each_publishes_one_computes_and_a_sum_of_sums_comes_to() -> None:
    """Why an experiment may keep the total of all parts: it is released with the same numbers."""
    parts = [(5, -1), (7, 7), (-2, 0)]
    assert ideal(Sum(LAW), parts, stream()) == ideal(Sum(LAW), [add_vectors(parts)], stream())
    assert ideal(EachPublishes(), ["a", "b"], stream()) == ("a", "b")
    assert ideal(Trusted(lambda parts, rng: (len(parts), rng.bytes(4))), "abc", stream()) == (3, stream().bytes(4))


# Rounds.

DATA = [np.array([[1.0, 2.0], [3.0, -1.0]]), np.array([[0.5, 0.5]]), np.array([[-2.0, 4.0], [1.0, 1.0], [0.0, 2.0]])]
N, STEP = sum(map(len, DATA)), 0.3


def point(history: Sequence[Vector]) -> Array:
    """Where gradient descent stands after the sums of all former gradients: (2,)."""
    w: Array = np.zeros(2)
    for total in history:
        w = w - STEP * np.array(GRID.decode(total, N))
    return w


def gradients(X: Array) -> Callable[[tuple[Vector, ...]], Vector]:
    """A party's answer: the gradient of half the squared distances to its rows."""

    def answer(history: tuple[Vector, ...]) -> Vector:
        return tuple(GRID.encode((point(history) - X).sum(axis=0).tolist()))

    return answer


def directly(rounds: int) -> Array:
    w, X = np.zeros(2), np.concatenate(DATA)
    for _ in range(rounds):
        w = w - STEP * (w - X).mean(axis=0)
    return w


@pytest.mark.parametrize("rounds", [1, 2, 7])
def test_rounds_of_sums_are_gradient_descent(rounds: int) -> None:
    values = ideal(Rounds((Sum(),) * rounds), [gradients(X) for X in DATA], stream())
    assert len(values) == rounds
    assert point(values) == pytest.approx(directly(rounds), abs=1e-9)
