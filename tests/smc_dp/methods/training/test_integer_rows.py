"""Contributions in integers: an independent slow oracle, plain floats, cut batches, hostile rows and queries."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from smc_dp.core.arrays import Array, IntArray, into_ball
from smc_dp.methods.training import integer_readings, integer_rows
from smc_dp.methods.training.classes import code
from smc_dp.methods.training.integer_readings import read_gradient as in_reals
from smc_dp.methods.training.integer_rows import IntegerRows, RowBounds, StartSums, legal, round_query
from smc_dp.methods.training.softmax import SoftLabelObjective, one_hot, statistic
from tests.support.refusals import refused


def records(n: int, d: int, k: int, seed: int = 0, radius: float = 1.0) -> tuple[Array, IntArray]:
    """Rows on the sphere, inside and at zero; the first is a unit vector, for which lengths are on the bound."""
    rng = np.random.default_rng(seed)
    X = into_ball(rng.normal(size=(n, d)) * 10, 1.0) * radius
    X[::3] *= rng.uniform(0, 1, (len(X[::3]), 1))
    X[1::7] = 0
    X[0] = radius * np.eye(d)[0]
    return X, rng.integers(0, k, n)


def weights(k: int, d: int, seed: int = 0, size: float = 3.0) -> Array:
    return np.random.default_rng(seed).normal(size=(1 if k == 2 else k, d)) * size


# An independent implementation: Python's integers, record by record, no table, no numpy.


def slow_gradient(X: Array, y: IntArray, k: int, W: Array) -> list[int]:
    """What one unit means is all that it shares with the other one."""
    W_int = [[round(Fraction(float(v)) * 2**16) for v in row] for row in W]
    total = [[0] * X.shape[1] for _ in W_int]
    for row, label in zip(X.tolist(), y.tolist(), strict=True):
        x = [int(Fraction(v) * 2**14) for v in row]
        square = sum(v * v for v in x)
        scores = [sum(a * b for a, b in zip(w, x, strict=True)) for w in W_int]
        for line, a in zip(total, slow_multiples(scores, label, k, square), strict=True):
            line[:] = [t + a * v for t, v in zip(line, x, strict=True)]
    return [v for line in total for v in line]


def slow_multiples(scores: list[int], label: int, k: int, square: int) -> list[int]:
    step = 2**20
    if k == 2:
        sign = 2 * label - 1
        t = math.floor(Fraction(sign * scores[0], step) + Fraction(1, 2))
        with mpmath.workdps(50):
            share = int(mpmath.nint(4096 / (1 + mpmath.exp(mpmath.mpf(t) / 1024))))
        while share and share**2 * square > 2**50:
            share -= 1
        return [sign * share]
    steps = [math.floor(Fraction(max(scores) - z, step) + Fraction(1, 2)) for z in scores]
    with mpmath.workdps(50):
        powers = [int(mpmath.nint(2**24 * mpmath.exp(mpmath.mpf(-t) / 1024))) for t in steps]
    shares = [math.floor(Fraction(4096 * e, sum(powers)) + Fraction(1, 2)) for e in powers]
    a = [4096 * (c == label) - s for c, s in enumerate(shares)]
    clip = math.isqrt(2**50 * (k - 1) // k)
    length = sum(v * v for v in a) * square
    if length > clip**2:
        longest = next(r for r in range(math.isqrt(length), 2**40) if r * r >= length)
        a = [int(Fraction(v * clip, longest)) for v in a]
    return a


@pytest.mark.parametrize("k", [2, 3, 4, 6])
@pytest.mark.parametrize("size", [0.0, 2.0, 300.0])
def test_sums_are_those_of_a_slow_implementation_in_pure_integers(k: int, size: float) -> None:
    X, y = records(40, 5, k, seed=k)
    W = weights(k, 5, seed=k, size=size)
    rows = IntegerRows.of(X, y, k)
    assert rows.gradient(round_query(W)) == slow_gradient(X, y, k, W)
    start, x = rows.start(), [[int(Fraction(v) * 2**14) for v in row] for row in X.tolist()]
    labels = [[2 * c - 1] if k == 2 else [k * (c == b) - 1 for b in range(k)] for c in y.tolist()]
    per_class = zip(*labels, strict=True)
    assert start.gradient == [sum(b * r[i] for b, r in zip(c, x, strict=True)) for c in per_class for i in range(5)]
    assert start.diagonal == [sum(r[i] ** 2 for r in x) for i in range(5)]
    assert start.off_diagonal == [sum(r[i] * r[j] for r in x) for i in range(5) for j in range(i + 1, 5)]


@pytest.mark.parametrize("k", [2, 4])
def test_it_is_the_plain_float_gradient_to_the_accuracy_of_the_table(k: int) -> None:
    n, d = 3000, 8
    X, y = records(n, d, k, seed=5, radius=0.25)  # nobody is clipped: |a| <= sqrt 2 and C >= sqrt(1/2)/2
    X = np.trunc(X * 2**14) / 2**14
    W = weights(k, d, seed=6) - weights(k, d, seed=6).mean(axis=0) * (k > 2)
    W = round_query(W) / 2**16
    B = np.eye(1) if k == 2 else code(k)
    soft = SoftLabelObjective(X, statistic(X, one_hot(y, k)), k, 2.0**-29)
    plain = -n * B @ soft.gradient((B.T @ W).ravel()).reshape(-1, d)
    ours = in_reals(IntegerRows.of(X, y, k).gradient(round_query(W)), k)
    # Each record is off by less than 1.6 of 4096 times a row of half a unit; together they are off by far less.
    assert np.abs(ours - plain).max() < 1.6 / 4096 * n / 2
    assert np.abs(ours - plain).max() < 4 * math.sqrt(n) / 4096


@pytest.mark.parametrize("k", [2, 4])
def test_a_weight_multiplies_what_its_record_enters_and_its_bounds(k: int) -> None:
    X, y = records(30, 4, k, seed=2)
    W, rng = round_query(weights(k, 4, seed=3, size=30.0)), np.random.default_rng(4)
    v = rng.uniform(-0.2, 1.2, 30)
    v[:3] = 1.0, np.nan, 0.0
    found, v_int = IntegerRows.of(X, y, k, v), np.rint(np.clip(np.nan_to_num(v), 0, 1) * 2048).astype(int)
    start, gradient = found.start(), found.gradient(W)
    alone = [IntegerRows.of(X[i : i + 1], y[i : i + 1], k) for i in range(30)]
    for part in ("gradient", "diagonal", "off_diagonal"):
        parts = [getattr(one.start(), part) for one in alone]
        assert getattr(start, part) == (v_int @ np.array(parts)).tolist()
    assert gradient == (v_int @ np.array([one.gradient(W) for one in alone])).tolist()
    assert RowBounds.of(k, weighted=True) == tuple(2048 * bound for bound in RowBounds.of(k))
    assert integer_readings.Units.of(k, weighted=True) == tuple(2048 * unit for unit in integer_readings.Units.of(k))
    with pytest.raises(ValueError, match="weight"):
        IntegerRows(found.x, found.y, k, np.full(30, 2049))
    with pytest.raises(ValueError, match="weight"):
        IntegerRows(found.x, found.y, k, np.full(29, 1))


def test_weighted_sums_are_exact_at_the_largest_numbers_of_a_block() -> None:
    n = 2**13 + 1
    X, y = np.tile([1.0, 0.0], (n, 1)), np.zeros(n, dtype=np.int64)
    found = IntegerRows.of(X, y, 2, np.ones(n)).start()
    assert found.diagonal == [n << 28 + 11, 0]
    assert found.gradient == [-(n << 14 + 11), 0]


# The batch has no say.


def all_sums(X: Array, y: IntArray, k: int, W: Array) -> list[int]:
    rows = IntegerRows.of(X, y, k)
    start = rows.start()
    return [*start.gradient, *start.diagonal, *start.off_diagonal, *rows.gradient(round_query(W))]


def depends_on_the_batch(X: Array, y: IntArray, k: int, W: Array) -> bool:
    """Whether cutting, shifting, reordering or taking records one by one changes the sum of them all."""
    n, order = len(X), np.random.default_rng(0).permutation(len(X))
    ways = ([slice(0, 7), slice(7, n)], [slice(0, 1), slice(1, n)], [order], [slice(i, i + 1) for i in range(n)])
    whole = all_sums(X, y, k, W)
    return any([sum(v) for v in zip(*(all_sums(X[s], y[s], k, W) for s in way), strict=True)] != whole for way in ways)


def on_a_border(k: int) -> tuple[Array, IntArray, int, Array]:
    """Rows of margin 2^-11, in the middle between two steps: half of them by one number, the others cancel."""
    rng = np.random.default_rng(9)
    half = rng.uniform(-0.08, 0.08, (120, 30))
    cancelling = rng.permuted(np.concatenate([half, -half], axis=1), axis=1)
    X = np.concatenate([cancelling, np.full((120, 1), 0.5)], axis=1)
    W = np.ones((1, 61))
    W[0, 60] = 2.0**-10
    return X, np.arange(120) % k, k, W if k == 2 else np.concatenate([np.zeros((k - 1, 61)), W])


@pytest.mark.parametrize("k", [2, 3])
def test_no_cut_shift_or_order_of_a_batch_changes_a_sum(k: int) -> None:
    X, y = records(120, 61, k)
    assert not depends_on_the_batch(X, y, k, weights(k, 61))
    assert not depends_on_the_batch(*on_a_border(k))


@pytest.mark.parametrize("k", [2, 3])
def test_blocks_change_nothing_either(k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = records(50, 6, k)
    whole = all_sums(X, y, k, weights(k, 6))
    monkeypatch.setattr(integer_rows, "_BLOCK_ROWS", 7)
    assert all_sums(X, y, k, weights(k, 6)) == whole
    monkeypatch.setattr(integer_rows, "_BLOCK_NUMBERS", 5)  # less than a row: one at a time
    assert all_sums(X, y, k, weights(k, 6)) == whole


def test_sums_over_more_rows_than_a_block_holds_are_those_of_64_bit_integers() -> None:
    n = 2**15 + 1000
    X, y = records(n, 3, 2)
    X[:1000] = 1 - 2.0**-53, 0, 0  # as long as rows can be, all in one direction
    rows, W_int = IntegerRows.of(X, y, 2), round_query(weights(2, 3))
    x = rows.x.astype(np.int64)
    start, matrix = rows.start(), np.einsum("ni,nj->ij", x, x)
    assert start.gradient == ((2 * y - 1) @ x).tolist()
    assert start.diagonal == np.diagonal(matrix).tolist()
    assert start.off_diagonal == matrix[np.triu_indices(3, 1)].tolist()
    a = integer_rows.two_class_multiples(x @ W_int.T, y, rows.squares)
    assert rows.gradient(W_int) == (a.T @ x).ravel().tolist()


def test_sums_of_squares_of_very_many_records_do_not_wrap_round(monkeypatch: pytest.MonkeyPatch) -> None:
    """The digits of 2^23 largest records would: here the sum of two is doubled 22 times."""
    rows = IntegerRows(np.full((2, 1), 2**14, dtype=np.int16), np.ones(2, dtype=np.int64), 2)
    added = integer_rows.carry

    def often(digits: IntArray) -> None:
        for _ in range(22):
            digits *= 2
            added(digits)

    monkeypatch.setattr(integer_rows, "carry", often)
    found = rows.inference(round_query(np.array([[-100.0]])))  # every share is the largest, 2^12
    assert found.meat_diagonal == [2**23 * 2**52]


def test_nobody_and_one_record_have_sums_too() -> None:
    for k, p in ((2, 1), (3, 3)):
        nobody = IntegerRows.of(np.empty((0, 2)), np.empty(0, dtype=np.int64), k)
        assert nobody.start() == StartSums([0] * 2 * p, [0, 0], [0])
        assert nobody.gradient(round_query(np.ones((p, 2)))) == [0] * 2 * p
    one = IntegerRows.of(np.array([[0.6, -0.8]]), np.array([0]), 2)
    assert one.start() == StartSums([-9830, 13107], [9830**2, 13107**2], [-9830 * 13107])
    assert one.gradient(round_query(np.zeros((1, 2)))) == [-9830 * 2048, 13107 * 2048]


# Products at the ends of their ranges are exact.


def test_a_margin_at_the_end_of_its_range_still_decides_a_step() -> None:
    rng = np.random.default_rng(2)
    w = rng.integers(2**29, 2**30, 2**15 - 1)
    w = np.concatenate([w, rng.permutation(-w)])  # they cancel in a row of equal numbers, as long as may be
    X = np.full((1, 2**16), 64 / 2**14)
    X[0, -2:] = 1 / 2**14
    shares = []
    for rest in (2**19 - 1, 2**19):  # the last margin before the middle between two steps, and the middle
        W_int = np.concatenate([w, [rest, 0]])[np.newaxis]
        assert abs(W_int[0] * X[0] * 2**14).sum() > 2**50
        contribution = IntegerRows.of(X, np.array([1]), 2).gradient(W_int)
        shares.append(contribution[-1])
    assert shares == [2048, 2047]
    with pytest.raises(ValueError, match="integers of at most 2\\^30"):
        IntegerRows.of(X, np.array([1]), 2).gradient(np.full((1, 2**16), 2**30 + 1))


def test_roots_are_exact_beside_every_square() -> None:
    roots = np.concatenate([np.arange(1, 2000), 2**25 + np.arange(-500, 500), 2**27 - np.arange(1, 500)])
    assert (integer_rows._root(roots**2) == roots).all()
    assert (integer_rows._root(roots**2 - 1) == roots - 1).all()


# What comes in is anything.

HOSTILE = [math.nan, math.inf, -math.inf, 1e308, -1e308, 1e-320, -0.0, 2.0**14, -(2.0**14) - 1, 0.5, 1e6, -3.25]
ANY_FLOAT = st.floats(width=64) | st.sampled_from(HOSTILE)


@given(arrays.arrays(np.float64, (3, 4), elements=ANY_FLOAT))
def test_a_query_is_total_and_within_its_limit(W: Array) -> None:
    asked = round_query(W)
    assert asked.dtype == np.int64
    assert (np.abs(asked) <= 2**30).all()
    usual = np.abs(W) < 2**14
    assert (asked[usual] == np.rint(W[usual] * 2**16)).all()
    assert (asked[np.isnan(W)] == 0).all()


def longest(X: Array, y: IntArray, k: int, W: Array) -> list[tuple[Fraction, Fraction, Fraction]]:
    """For each record alone, the squares of the lengths of its three contributions over those of their bounds."""
    bounds, found = RowBounds.of(k), []
    for row, label in zip(X, y, strict=True):
        rows = IntegerRows.of(row[np.newaxis], label[np.newaxis], k)
        start, later = rows.start(), rows.gradient(round_query(W))
        curved = sum(v * v for v in start.diagonal) + 2 * sum(v * v for v in start.off_diagonal)
        pairs = (
            *((sum(v * v for v in start.gradient), bounds.start_gradient), (curved, bounds.start_curvature)),
            (sum(v * v for v in later), bounds.gradient),
        )
        found.append(tuple(Fraction(square, bound**2) for square, bound in pairs))
    return found


@settings(max_examples=60)
@given(st.data(), st.sampled_from([2, 3, 7]))
def test_no_row_and_no_query_makes_a_longer_contribution(data: st.DataObject, k: int) -> None:
    X = data.draw(arrays.arrays(np.float64, (2, 3), elements=ANY_FLOAT | st.floats(-1, 1)))
    y = data.draw(arrays.arrays(np.int64, 2, elements=st.integers(0, k - 1)))
    W = data.draw(arrays.arrays(np.float64, (1 if k == 2 else k, 3), elements=ANY_FLOAT | st.floats(-20, 20)))
    found = longest(X, y, k, W)
    assert max(max(squares) for squares in found) <= 1
    # Every contribution is a multiple of the row, entry by entry: what the joint sensitivity is proved for.
    rows = IntegerRows.of(X[:1], y[:1], k)
    for contribution in (rows.gradient(round_query(W)), rows.start().gradient):
        assert are_multiples(contribution, rows.x[0].tolist())


def are_multiples(contribution: list[int], x: list[int]) -> bool:
    """Whether each class's numbers are an integer times those of the row."""
    for part in (contribution[i : i + len(x)] for i in range(0, len(contribution), len(x))):
        s = next((Fraction(g, v) for g, v in zip(part, x, strict=True) if v), Fraction(0))
        if s.denominator != 1 or part != [int(s) * v for v in x]:
            return False
    return True


def test_a_contribution_that_is_too_long_is_nothing() -> None:
    squares, C_g = np.array([2**28, 2**28, 2**26, 0]), RowBounds.of(2).gradient
    a = np.array([[2048], [2049], [-4096], [10**6]])
    assert legal(a, squares, C_g).tolist() == [[2048], [0], [-4096], [10**6]]
    assert (np.abs(a[:3, 0]) * np.sqrt(squares[:3]) > C_g).tolist() == [False, True, False]  # twin: as it came


def test_truncated_rows_stay_in_the_ball_and_rounded_ones_do_not() -> None:
    X = np.random.default_rng(8).normal(size=(200, 124))
    X /= np.linalg.norm(X, axis=1, keepdims=True) * (1 + 2.0**-50)
    rows = IntegerRows.of(X, np.zeros(200, dtype=np.int64), 2)
    assert (rows.x == np.trunc(X * 2**14)).all()  # nobody had to be shortened
    assert rows.squares.max() <= 2**28
    nearest = np.rint(X * 2**14).astype(np.int64)
    assert (nearest**2).sum(axis=1).max() > 2**28
    with pytest.raises(ValueError, match="unit ball"):
        IntegerRows(nearest, rows.y, 2)


def test_rows_in_no_ball_are_shortened_each_by_itself() -> None:
    X = np.array([[math.nan, 0.5, 0.0], [math.inf, -math.inf, 1.0], [0.9, 0.9, -0.9], [0.3, -0.4, 0.1]])
    x = IntegerRows.of(X, np.zeros(4, dtype=np.int64), 2).x
    assert x.tolist() == [[0, 8192, 0], [9459, -9459, 9459], [9458, 9458, -9458], [4915, -6553, 1638]]
    alone = [IntegerRows.of(row[np.newaxis], np.zeros(1, dtype=np.int64), 2).x[0].tolist() for row in X]
    assert x.tolist() == alone


@pytest.mark.parametrize(
    ("x", "y", "k", "words"),
    [
        ([[0, 0]], [2], 2, "a class number"),
        ([[0, 0]], [-1], 3, "a class number"),
        ([[2**62, 0]], [0], 2, "beyond"),
        ([[2**14, 1]], [0], 2, "unit ball"),
    ],
)
def test_what_is_too_long_is_refused(x: list[list[int]], y: list[int], k: int, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        IntegerRows(np.array(x, dtype=np.int64), np.array(y), k)


@pytest.mark.parametrize(
    ("d", "k", "what", "got"),
    [(2, 1, "classes", 1), (2, 4097, "classes", 4097), (0, 2, "columns", 0), (65537, 2, "columns", 65537)],
)
def test_a_table_for_which_sums_are_not_exact_is_refused(d: int, k: int, what: str, got: int) -> None:
    with refused("table.too_wide", what=what, got=got):
        IntegerRows(np.zeros((1, d), dtype=np.int64), np.zeros(1, dtype=np.int64), k)


@pytest.mark.parametrize("shape", [(2, 3), (1, 2), (3,)])
def test_a_query_of_another_shape_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="wanted 1 x 3"):
        IntegerRows.of(np.zeros((1, 3)), np.zeros(1, dtype=np.int64), 2).gradient(np.zeros(shape, dtype=np.int64))


def test_neither_rows_nor_sums_without_noise_are_printed() -> None:
    rows = IntegerRows.of(np.array([[0.2718, 0.0]]), np.zeros(1, dtype=np.int64), 2)
    printed = repr((rows, rows.start()))
    assert "4453" not in printed
    assert "4453" in repr((rows.x, rows.start().gradient))  # twin: what they are made of


def test_rows_are_taken_so_many_at_a_time_that_sums_are_exact_and_memory_is_bounded() -> None:
    """2^15 rows at most, fewer where each has many numbers, and none is left out."""
    for n, width, most in ((10**6, 4, 2**15), (10**5, 2**12, 2**10), (100, 2**23, 1)):
        blocks = [*integer_rows.slices_of_rows(n, width)]
        assert max(block.stop - block.start for block in blocks) == most
        assert [block.start for block in blocks] == [0, *(block.stop for block in blocks[:-1])]
        assert blocks[-1].stop >= n > blocks[-1].start
