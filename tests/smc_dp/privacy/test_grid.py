"""Reals to integers and back, exactly; integer sensitivities rounded up."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smc_dp.privacy.grid import Grid, ceil_sqrt

GRID = Grid(fraction_bits=40, ring_bits=128)

finite = st.floats(allow_nan=False, allow_infinity=False)
modest = st.floats(-(2.0**60), 2.0**60)
deltas = st.fractions(min_value=0, max_value=10**6)
dimensions = st.integers(1, 10**6)


@given(finite, st.integers(0, 80))
def test_encode_is_the_nearest_point_halves_up(w: float, f: int) -> None:
    (z,) = Grid(f, 4).encode([w])
    distance = z - Fraction(w) * 2**f
    assert -Fraction(1, 2) < distance <= Fraction(1, 2)


def test_halves_go_up_and_nothing_is_rounded_twice() -> None:
    assert Grid(0, 8).encode([0.49999999999999994]) == [0]  # the float just below one half: w + 0.5 is 1.0 in floats
    assert Grid(0, 8).encode([0.5, 1.5, 2.5, -0.5]) == [1, 2, 3, 0]


@given(st.lists(modest, max_size=5))
def test_decode_undoes_encode_to_half_a_step(weights: list[float]) -> None:
    back = GRID.decode(GRID.encode(weights))
    for w, v in zip(weights, back, strict=True):
        assert abs(Fraction(v) - Fraction(w)) <= Fraction(1, 2**41) + abs(Fraction(w)) / 2**52
    assert GRID.decode(GRID.encode(back)) == back


@given(st.integers(-(2**127), 2**127 - 1), st.integers(1, 10**6))
def test_decode_lifts_residues_and_rounds_once(value: int, divisor: int) -> None:
    exact = Fraction(value, divisor * 2**40)
    assert GRID.decode([GRID.wrap(value)], divisor) == [float(exact)] == GRID.decode([value], divisor)


@given(st.integers(), st.integers(), st.integers(2, 200))
def test_wrap_and_lift_are_the_ring(a: int, b: int, bits: int) -> None:
    grid = Grid(0, bits)
    assert 0 <= grid.wrap(a) < 2**bits
    assert -(2 ** (bits - 1)) <= grid.lift(a) < 2 ** (bits - 1)
    assert (grid.lift(a) - a) % 2**bits == 0 == (grid.wrap(a) - a) % 2**bits
    assert grid.wrap(grid.wrap(a) + grid.wrap(b)) == grid.wrap(a + b)


@given(deltas, dimensions, st.integers(0, 80))
def test_l2_sensitivity_is_rounded_up(delta: Fraction, d: int, f: int) -> None:
    moved = delta * 2**f
    D = Grid(f, 8).l2_sensitivity(delta, d)
    assert moved <= D  # D >= moved + sqrt d, without a square root
    assert (D - moved) ** 2 >= d
    assert moved + math.isqrt(d) + 2 > D


@given(deltas, dimensions, st.integers(0, 80))
def test_l1_sensitivity_is_rounded_up(delta: Fraction, d: int, f: int) -> None:
    squared = d * (delta * 2**f) ** 2
    D = Grid(f, 8).l1_sensitivity(delta, d)
    assert (D - d) ** 2 >= squared
    assert d == D or (D - d - 1) ** 2 < squared


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=30), st.data())
def test_rounding_moves_neighbours_by_no_more_than_claimed(w: list[float], data: st.DataObject) -> None:
    grid = Grid(data.draw(st.integers(0, 12)), 64)
    v = [x + data.draw(st.floats(-1, 1)) for x in w]
    squared = sum((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(w, v, strict=True))
    delta = Fraction(ceil_sqrt(math.ceil(squared * 2**80)), 2**40)
    moved = [a - b for a, b in zip(grid.encode(w), grid.encode(v), strict=True)]
    assert sum(m * m for m in moved) <= grid.l2_sensitivity(delta, len(w)) ** 2
    assert sum(abs(m) for m in moved) <= grid.l1_sensitivity(delta, len(w))


@given(st.integers(0, 10**40))
def test_ceil_sqrt(value: int) -> None:
    root = ceil_sqrt(value)
    assert root * root >= value
    assert root == 0 or (root - 1) ** 2 < value


@pytest.mark.parametrize("w", [math.nan, math.inf, -math.inf])
def test_weights_that_are_not_finite_are_refused(w: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        GRID.encode([0.0, w])


def test_parameters_out_of_range_are_refused() -> None:
    with pytest.raises(ValueError, match="fraction_bits"):
        Grid(-1, 8)
    with pytest.raises(ValueError, match="ring_bits"):
        Grid(1, 1)
    with pytest.raises(ValueError, match="divisor"):
        GRID.decode([1], 0)
    for sensitivity in (GRID.l2_sensitivity, GRID.l1_sensitivity):
        with pytest.raises(ValueError, match="sensitivity"):
            sensitivity(Fraction(-1), 1)
        with pytest.raises(ValueError, match="dimension"):
            sensitivity(Fraction(1), 0)
