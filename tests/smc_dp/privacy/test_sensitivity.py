"""The certified constants against searches for something worse; what fails without the preconditions."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np
import numpy.typing as npt
import pytest
import scipy.optimize
import scipy.special

from smc_dp.core.arrays import Array
from smc_dp.methods.training.softmax import certified, one_hot
from smc_dp.methods.training.solver import PUBLIC_TAU
from smc_dp.privacy.sensitivity import add_remove, largest_norm, largest_softmax_norm, logistic_constants, replace_one

# mu: W and G, computed once and for all by another program.
TABLE = {
    2: ("0.2223", "1.0067"),
    1: ("0.4011", "1.0198"),
    0.2: ("1.1775", "1.1293"),
    0.1: ("1.6687", "1.2144"),
    0.02: ("3.7314", "1.5064"),
    0.01: ("5.2770", "1.6378"),
    0.002: ("11.7997", "1.8560"),
    1e-3: ("16.6873", "1.9097"),
    1e-4: ("52.7697", "1.9894"),
}


@pytest.mark.parametrize("mu", TABLE)
def test_the_table(mu: float) -> None:
    constants = logistic_constants(mu)
    assert (f"{constants.W:.4f}", f"{constants.G:.4f}") == TABLE[mu]


@pytest.mark.slow
def test_constants_only_grow_as_mu_shrinks() -> None:
    constants = [logistic_constants(mu) for mu in np.logspace(3, -6, 25).tolist()]
    for wider, tighter in zip(constants[1:], constants, strict=False):
        assert wider.W >= tighter.W
        assert wider.G >= tighter.G
    assert all(1 <= c.G <= 2 for c in constants)
    # A rational between two floats is taken at the one below, the safe side.
    third = Fraction(1, 3)
    assert logistic_constants(third).W >= logistic_constants(math.nextafter(float(third), 1.0)).W
    assert logistic_constants(Fraction(1, 2)) == logistic_constants(0.5)


@pytest.mark.slow
def test_G_is_the_longest_difference_on_the_whole_grid_and_its_slack() -> None:
    angles, peak = np.linspace(0, np.pi, 6001), scipy.special.lambertw(1 / math.e).real  # of t sigmoid(-t)
    for mu in np.logspace(-5, 2, 50).tolist():
        W, G = dataclasses.astuple(logistic_constants(mu))
        margins = W * np.cos(angles)
        lengths = np.where(margins > 1 + peak, peak / margins, scipy.special.expit(-margins))
        above, below = lengths * np.exp(1j * angles), lengths * np.exp(-1j * angles)
        longest = max(np.abs(u - below[k:]).max() for k, u in enumerate(above))
        assert math.isclose(G, min(2, math.sqrt(longest**2 + (W + 2) * angles[1])), rel_tol=1e-11)


def gradient_difference(parameters: Array, W: float) -> Array:
    """|u sigmoid(-w.u) - u' sigmoid(-w.u')| in the plane, from two angles to w and three squashed lengths."""
    alpha, beta, a, b, c = parameters
    a, b, w = np.sin(a) ** 2, np.sin(b) ** 2, W * np.sin(c) ** 2
    first, second = (length / (1 + np.exp(w * length * np.cos(angle))) for length, angle in ((a, alpha), (b, beta)))
    return np.hypot(first * np.cos(alpha) - second * np.cos(beta), first * np.sin(alpha) - second * np.sin(beta))


@pytest.mark.parametrize("mu", [2, 0.2, 0.02, 0.002])
def test_a_search_never_exceeds_G_and_comes_close(mu: float) -> None:
    constants = logistic_constants(mu)
    starts = np.random.default_rng(0).uniform(0, 2 * np.pi, (5, 50_000))
    values = gradient_difference(starts, constants.W)
    found = [
        -scipy.optimize.minimize(lambda p: -gradient_difference(p, constants.W), starts[:, k], method="Nelder-Mead").fun
        for k in np.argsort(values)[-5:]
    ]
    best = max(float(values.max()), *map(float, found))
    assert best <= constants.G
    assert best >= 0.98 * constants.G
    assert best > logistic_constants(4 * mu).G  # a modulus four times too large is refuted


@pytest.mark.parametrize("mu", [2, 0.2, 0.02, 2e-4])
def test_no_minimiser_is_longer_than_W_and_one_is_nearly_as_long(mu: float) -> None:
    W = largest_norm(mu)
    rng = np.random.default_rng(1)
    lengths = []
    for scale in [1.0, min(1.0, 1.278464543 / W), *rng.uniform(0, 1, 30)]:
        X = np.zeros((8, 2))
        X[:, 0] = scale
        X[:, 1] = rng.uniform(-1, 1, 8) * math.sqrt(1 - scale * scale) * rng.integers(0, 2) * 0.999
        lengths.append(float(np.linalg.norm(certified(X, one_hot(np.ones(8, dtype=np.int64), 2), mu))))
    assert max(lengths) <= W
    assert max(lengths) >= 0.999 * W


def test_replace_one_is_the_formula_without_rounding() -> None:
    mu, tau, n = Fraction(1, 500), 2.0**-33, 32_561
    G = Fraction(logistic_constants(mu).G)
    assert replace_one(n, mu, tau) == G / (mu * n) + 2 * Fraction(tau) / mu
    assert replace_one(n, mu, 0.0) < replace_one(n, mu, tau) < replace_one(n - 1, mu, tau)
    # The float formula falls short for some sizes.
    broken = [Fraction(float(G) / (float(mu) * k) + 2 * tau / float(mu)) for k in range(1, 200)]
    assert any(value < replace_one(k, mu, tau) for k, value in enumerate(broken, 1))


# More classes, and all records of a party.


@pytest.mark.parametrize("classes", [3, 6, 100])
@pytest.mark.parametrize("mu", [1e-4, 0.01, 0.2])
def test_the_softmax_norm_is_the_formula_rounded_up(classes: int, mu: float) -> None:
    wanted = math.sqrt(float(scipy.special.lambertw((classes - 1) / math.e).real) / mu)
    assert 0 < largest_softmax_norm(classes, mu) - wanted < 1e-11 * wanted
    assert largest_softmax_norm(2, mu) == largest_norm(mu)


def test_the_softmax_norm_is_never_above_what_gradients_allow() -> None:
    for mu in (2.0, 10.0):
        assert largest_softmax_norm(100, mu) == pytest.approx(math.sqrt(2) / mu)
        assert largest_softmax_norm(100, mu) > math.sqrt(2) / mu
    # A rational between two floats is taken at the one below.
    third = Fraction(1, 3)
    assert largest_softmax_norm(4, third) >= largest_softmax_norm(4, math.nextafter(float(third), 1.0))


def softmax_model(X: Array, y: npt.ArrayLike, classes: int, mu: float) -> Array:
    return certified(X, one_hot(np.asarray(y), classes), mu)


@pytest.mark.parametrize("classes", [3, 6])
@pytest.mark.parametrize("mu", [0.2, 0.01])
def test_no_softmax_minimiser_is_longer_and_one_is_nearly_as_long(classes: int, mu: float) -> None:
    bound, rng = largest_softmax_norm(classes, mu), np.random.default_rng(4)
    # All labels alike and all rows as long as the optimum of the proof wants: (C-1) m/(e^m + C-1) is largest at m - 1 =
    # w, and one model of norm |V| gives the margins |V| r sqrt(C/(C-1)).
    m = 1 + float(scipy.special.lambertw((classes - 1) / math.e).real)
    lengths = []
    for r in (m / bound * math.sqrt((classes - 1) / classes), 1.0, 0.1):
        X = np.zeros((4, 2))
        X[:, 0] = min(r, 1.0)
        lengths.append(float(np.linalg.norm(softmax_model(X, [0] * 4, classes, mu))))
    for _ in range(20):
        X = rng.normal(size=(6, 3))
        X *= rng.uniform(0, 1 - 1e-9, (6, 1)) / np.linalg.norm(X, axis=1, keepdims=True)
        alpha = rng.dirichlet(np.full(classes, rng.choice([0.05, 1.0])), 6)  # soft labels count too
        lengths.append(float(np.linalg.norm(certified(X, alpha, mu))))
    assert max(lengths) <= bound
    assert max(lengths) > 0.999 * bound
    if classes > 3:
        assert max(lengths) > largest_softmax_norm(classes - 1, mu)  # broken twin: one class too few


@pytest.mark.parametrize(("classes", "mu"), [(2, 0.02), (2, 2.0), (3, 0.02), (6, 2.0)])
def test_replacing_a_party_moves_its_model_by_no_more_than_is_charged(classes: int, mu: float) -> None:
    rng, moves = np.random.default_rng(6), []
    W = largest_softmax_norm(classes, mu)
    lengths = (1.0, 0.5, *(min(1.0, t / W) for t in (0.9, 1.1, 1.278, 1.5, 2.0)))
    for first, second in [(r, -r) for r in lengths] + [tuple(rng.uniform(-1, 1, 2)) for _ in range(10)]:
        models = [softmax_model(np.full((3, 1), r), [0] * 3, classes, mu) for r in (first, second)]
        moves.append(float(np.linalg.norm(models[0] - models[1])))
    charged = 2 * (W + PUBLIC_TAU / mu)
    assert max(moves) <= charged
    assert max(moves) > W  # broken twin: one norm, not two
    if classes == 2:
        assert max(moves) > 0.999 * charged


# One record more or less.


def test_add_remove_is_the_formula_rounded_up() -> None:
    for mu, wanted in ((2.0, "0.356"), (0.2, "4.00"), (0.02, "48.97"), (0.002, "500.1")):
        assert f"{float(add_remove(mu, 0.0)):.{len(wanted.split('.')[1])}f}" == wanted
        W = largest_norm(mu)
        exact = math.hypot(1 / (1 + math.exp(-W)), mu * W) / mu
        assert exact < add_remove(mu, 0.0) < exact * (1 + 1e-11)
        assert add_remove(mu, 1e-3) == add_remove(mu, 0.0) + 2 * Fraction(1e-3) / Fraction(mu)
        # With one record alone, n w is that record's model: no longer than W.
        assert largest_norm(mu) < add_remove(mu, 0.0)


def test_parameters_out_of_range_are_refused() -> None:
    cases: list[tuple[Callable[[], object], str]] = [
        *((partial(logistic_constants, mu), "mu") for mu in (0.0, -1.0, math.inf, math.nan)),
        *((partial(largest_softmax_norm, 3, mu), "mu") for mu in (0.0, math.nan)),
        *((partial(add_remove, mu, 0.0), "mu") for mu in (0.0, math.nan)),
        *((partial(replace_one, 1, 1.0, tau), "tau") for tau in (-1.0, math.inf, math.nan)),
        *((partial(add_remove, 1.0, tau), "tau") for tau in (-1.0, math.inf, math.nan)),
        (partial(replace_one, 0, 1.0, 0.0), "records n"),
        (partial(largest_softmax_norm, 1, 1.0), "at least 2 classes"),
    ]
    for call, said in cases:
        with pytest.raises(ValueError, match=said):
            call()
