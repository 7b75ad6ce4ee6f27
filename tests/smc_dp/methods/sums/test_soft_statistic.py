"""Soft labels as a noisy sufficient statistic: exact integers, certified sensitivity, and why rows are whitened."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
import scipy.stats

from protocols.arithmetic.rng import Stream
from smc_dp.core.arrays import Array, IntArray, into_ball
from smc_dp.data.federation import Federation, Rows
from smc_dp.methods.hamm2016.ensemble import Ensemble, train_ensemble
from smc_dp.methods.sums.soft_statistic import SoftStatistic
from smc_dp.methods.sums.statistic import minimise_statistic, sensitivity, statistic_in_integers
from smc_dp.methods.sums.whitening import Whitening, _error, _product, largest_square
from smc_dp.methods.training.classes import code, coordinate_count
from smc_dp.methods.training.softmax import certified
from smc_dp.privacy.output import GRID, perturb
from smc_dp.privacy.target import Target
from tests.support.refusals import refused


def anisotropic(n: int, d: int, rng: np.random.Generator, decay: float = 3.0) -> Array:
    """Rows of the ball that vary much in few directions and little in the others."""
    return into_ball(rng.normal(size=(n, d)) * decay ** -np.arange(d) + 0.1, 3.0)


def one_party(answers: IntArray, classes: int) -> IntArray:
    return np.eye(classes, dtype=np.int64)[answers]


def distance(G: Array, a: IntArray, b: IntArray) -> float:
    """Between the statistics of two vote counts, in reals as they stand on the grid."""
    pairs = zip(statistic_in_integers(G, a), statistic_in_integers(G, b), strict=True)
    return math.sqrt(sum((x - y) ** 2 for x, y in pairs)) / 2**GRID.fraction_bits


# The statistic


@pytest.mark.parametrize("classes", [2, 4])
def test_statistic_is_the_sum_of_what_the_parties_compute(classes: int) -> None:
    rng = np.random.default_rng(0)
    G, B = rng.normal(size=(9, 3)) * 1e4, code(classes)
    parties = [one_party(rng.integers(classes, size=9), classes) for _ in range(5)]
    total = statistic_in_integers(G, sum(parties, np.zeros((9, classes), dtype=np.int64)))
    expected = [0] * (coordinate_count(classes) * 3)
    for votes in parties:  # each party alone, entry by entry, in Python integers
        for i, k in np.argwhere(votes):
            products = [Fraction(float(B[k, a] * g)) for a in range(coordinate_count(classes)) for g in G[i]]
            expected = [t + round(e * 2**GRID.fraction_bits) for t, e in zip(expected, products, strict=True)]
    assert total == expected
    linear = [sum(parts) for parts in zip(*(statistic_in_integers(G, votes) for votes in parties), strict=True)]
    assert total == linear


def test_statistic_does_not_overflow() -> None:
    # the largest rows that whitening can give, and many votes for them
    G, counts = np.full((5000, 1), 31622.0), np.zeros((5000, 3), dtype=np.int64)
    counts[:, 2] = 10**6
    unit = GRID.encode((code(3)[2] * 31622.0).tolist())
    assert statistic_in_integers(G, counts) == [5000 * 10**6 * e for e in unit]


@pytest.mark.parametrize("classes", [2, 3])
def test_without_noise_and_whitening_it_is_soft(classes: int) -> None:
    rng = np.random.default_rng(2)
    X, M = anisotropic(40, 4, rng, decay=1.0), 11
    counts = rng.multinomial(M, rng.dirichlet(np.ones(classes)), size=40)
    T = perturb(statistic_in_integers(X, counts), None, Stream.from_system()) / (40 * M)
    V = minimise_statistic(X, T, classes, 0.01)
    assert np.abs(V - certified(X, counts / M, 0.01)).max() < 1e-8
    assert np.abs(V - certified(X, counts / M, 0.0101)).max() > 1e-4  # twin: another regulariser


def test_whitening_is_undone_in_the_released_weights() -> None:
    rng = np.random.default_rng(3)
    X = anisotropic(50, 4, rng)
    whitening = Whitening.of(X, 0.01)
    V = rng.normal(size=(2, 4))
    assert np.allclose(whitening.rows(X) @ V.T, X @ whitening.weights(V).T, atol=1e-12)
    A = X.T @ X / 50 + 0.01 * np.eye(4)
    assert np.allclose(whitening.matrix @ whitening.matrix.T, np.linalg.inv(A), atol=1e-10)


def test_whitened_rows_do_not_depend_on_the_order_of_sums() -> None:
    """The rows in another order are the same numbers to the last digit, and so is the bound on them: as on another
    machine. Sums in floats, the twin, are not.
    """
    rng = np.random.default_rng(10)
    X = anisotropic(700, 6, rng)
    order = rng.permutation(700)
    here, there = Whitening.of(X, 1e-3), Whitening.of(X[order], 1e-3)
    assert (here.matrix == there.matrix).all()
    assert (here.rows(X)[order] == there.rows(X[order])).all()
    assert sensitivity(here.rows(X), 3, here) == sensitivity(there.rows(X[order]), 3, there)
    ways = {float(x @ x) for x in (X[rng.permutation(700), 0] for _ in range(20))}
    assert len(ways) > 1


def test_products_err_by_no_more_than_is_charged() -> None:
    rng = np.random.default_rng(11)
    for n in (1, 50, 5000):
        A, B = rng.normal(size=(2, n)) * 10.0 ** rng.integers(-9, 9, size=(2, 1)), rng.normal(size=(n, 3))
        exact = [
            [sum(Fraction(a) * Fraction(b) for a, b in zip(x, y, strict=True)) for y in B.T.tolist()]
            for x in A.tolist()
        ]
        came, most = _product(A, B).tolist(), Fraction(_error(A, B))
        far = max(abs(Fraction(came[i][j]) - exact[i][j]) for i in range(2) for j in range(3))
        assert 0 < far <= most
        assert far > most / (1000 * n)  # twin: a thousandth of it for each term


# Sensitivity


def test_largest_square_is_an_upper_bound_and_close() -> None:
    rng = np.random.default_rng(4)
    for n, d in ((3, 2), (30, 5), (400, 12)):
        X = anisotropic(n, d, rng)
        whitening = Whitening.of(X, 1e-6)
        G = whitening.rows(X)
        _, values, vectors = np.linalg.svd(G)
        bound = largest_square(G, whitening)
        assert values[0] ** 2 / (1 + 1e-14) <= bound <= values[0] ** 2 * (1 + 1e-4)
        assert bound <= n * (1 + 1e-6)
        assert values[0] ** 2 <= largest_square(G) * (1 + 1e-14)
        if n < 100:  # exactly, for the direction that floats believe to be the worst
            v = [Fraction(float(x)) for x in vectors[0]]
            pushed = sum(sum(Fraction(float(g)) * x for g, x in zip(row, v, strict=True)) ** 2 for row in G)
            assert pushed <= Fraction(bound) * sum(x * x for x in v)
        # rows that this matrix did not whiten are no less covered; twin: of them N alone is too little
        assert n < np.linalg.norm(2 * G, 2) ** 2 <= largest_square(2 * G, whitening)
    assert largest_square(np.ones((10, 3))) >= 30
    assert (np.ones((10, 3)) ** 2).sum(axis=0).max() < 30  # twin: the longest column


def test_what_products_leave_out_is_in_the_bound() -> None:
    """All entries are g, of which nearly 2^-40 is cut off: without its error the bound is below the exact figure."""
    g, N, d, gamma = 0.5 + 2.0**-40 - 2.0**-53, 40, 8, 100
    G, M = np.full((N, d), g), np.full((d, d), g)
    square = Fraction(g) ** 2
    assert N * d * square <= Fraction(largest_square(G))  # the square of the largest singular value, exactly
    # beside M'M next to nothing is cut off of these rows
    entry = N * gamma * d * square + N * Fraction(1, 1 << 60)
    exact = N + d * entry - N
    assert exact <= Fraction(largest_square(G * 0 + 2.0**-30, Whitening(M, gamma)))


@pytest.mark.parametrize("classes", [2, 3, 6])
def test_adversarial_votes_come_near_the_bound_and_never_exceed_it(classes: int) -> None:
    rng = np.random.default_rng(5)
    X = anisotropic(60, 4, rng)
    G = Whitening.of(X, 1e-4).rows(X)
    bound, far = float(sensitivity(G, classes)), 0.0
    for direction in (*np.linalg.svd(G)[2], *rng.normal(size=(20, 4))):
        # everybody else's votes cancel out: one party votes with the sign of the direction, or against it
        positive = (G @ direction > 0).astype(np.int64)
        here, there = one_party(positive, classes), one_party(1 - positive, classes)
        far = max(far, distance(G, here, there))
        far = max(far, distance(G, here, one_party(rng.integers(classes, size=60), classes)))
    assert 0.5 * bound < far <= bound
    assert far > bound / math.sqrt(60)  # twin: without the root of N
    if classes > 2:
        # twin: without the root of 2, for rows of one direction, where votes reach the bound
        flat = np.tile([[0.6, 0.8]], (20, 1))
        reached = distance(
            flat, one_party(np.zeros(20, dtype=int), classes), one_party(np.ones(20, dtype=int), classes)
        )
        exact = float(sensitivity(flat, classes))
        assert exact / math.sqrt(2) < 0.99 * reached < reached <= exact


def test_rounding_is_part_of_the_bound() -> None:
    # rows that are nearly nothing: each of N differences rounds by almost one unit in the worst direction
    N, unit = 1000, 2.0**-GRID.fraction_bits
    G = np.full((N, 1), unit * (1 + 1e-9))
    reached = distance(G, one_party(np.zeros(N, dtype=int), 2), one_party(np.ones(N, dtype=int), 2)) / unit
    assert 1.99 * N < reached <= float(sensitivity(G, 2)) / unit
    assert reached > float(sensitivity(G, 2)) / unit - N * 0.99  # twin: without the second term


# Releases


@cache
def a_simulation() -> tuple[Ensemble, Rows]:
    """200 parties of 10 rows, three classes that differ in directions of very different spread."""
    rng = np.random.default_rng(7)
    X = anisotropic(3600, 4, rng, 2.0)
    y = (X * 2.0 ** np.arange(4) @ rng.normal(size=(4, 3))).argmax(axis=1)
    parties = tuple(Rows(X[i : i + 10], y[i : i + 10]) for i in range(0, 2000, 10))
    federation = Federation(parties, 3, X[2000:2600])
    return train_ensemble(federation, 1e-4), Rows(X[2600:], y[2600:])


def test_noise_of_the_statistic_has_the_gamma_length() -> None:
    # With lam_global = 10^6 the weights are the statistic over lam_global, up to 10^-6 of it.
    trained = SoftStatistic(lam_global=1e6).train_from(a_simulation()[0])
    whitening, G = trained.method.whitened(trained.public)
    rng, back = Stream.insecure_from_seed(9), np.linalg.inv(whitening.matrix).T

    def statistic(target: Target) -> Array:
        model = trained.release(target, rng).model
        T: Array = code(3).T @ model.W @ back * 1e6
        return T

    exact = statistic(Target(None))
    lengths = [float(np.linalg.norm(statistic(Target(Fraction(1, 4))) - exact)) for _ in range(80)]
    scale = float(sensitivity(G, 3) * 4) / (600 * 200)
    for times, fits in ((1.0, True), (0.5, False)):
        found = scipy.stats.kstest(lengths, scipy.stats.gamma(8, scale=times * scale).cdf).pvalue
        assert found > 1e-6 if fits else found < 1e-12
    for target in (Target(1), Target(1, noise="gauss")):  # of the parts of a run, the same noise
        assert trained.method.functionality(trained.public, target) == trained.left(target)


def test_whatever_the_noise_there_is_a_model() -> None:
    voters, test = a_simulation()
    trained = SoftStatistic().train_from(voters)
    assert any("secure sum" in said for said in trained.method.statement(trained.public, Target(1)).caveats)
    for epsilon in (Fraction(1, 10**9), Fraction(1, 10**4)):
        assert 0 <= trained.release(Target(epsilon), Stream.from_system()).model.accuracy(test) <= 1


def test_wrong_settings_are_refused() -> None:
    for gamma in (0.0, math.nan, "x", None, [0.1]):
        with refused("parameter.out_of_range"):
            SoftStatistic(gamma=gamma)  # type: ignore[arg-type]
    for lam_global in (0.0, "x"):
        with refused("parameter.out_of_range", name="lam_global"):
            SoftStatistic(lam_global=lam_global)  # type: ignore[arg-type]
