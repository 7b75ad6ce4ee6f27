"""Minimisers with a linear term: the losses by finite differences, certificates in exact rational arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.optimize
from flint import arb

from smc_dp.core.arrays import Array, into_ball
from smc_dp.methods.training import newton, perturbed
from smc_dp.methods.training.perturbed import Huber, Logistic, Loss, minimise_perturbed, minimise_uncertified
from smc_dp.methods.training.solver import PUBLIC_TAU

LOSSES = (Huber(0.5), Huber(0.1), Huber(2.0**-10), Logistic())


def slopes_fit(loss: Loss, slope: Loss) -> bool:
    """Whether the slopes of the one are difference quotients of the other's values, also beside the kinks 1 +- h."""
    h = loss.h if isinstance(loss, Huber) else 0.5
    z = np.concatenate([np.linspace(-5, 5, 101), np.add.outer([1 - h, 1 + h], [-1e-4, 0, 1e-4]).ravel()])
    step = 1e-5
    quotient = (loss.value(z + step) - loss.value(z - step)) / (2 * step)
    # Over a step of 2e-5 the slope changes by at most that times the curvature.
    return bool(np.abs(quotient - slope.slope(z)).max() <= step * float(slope.largest_curvature) + 1e-9)


@pytest.mark.parametrize("loss", LOSSES)
def test_slopes_are_derivatives_and_within_their_bounds(loss: Loss) -> None:
    assert slopes_fit(loss, loss)
    z = np.linspace(-4, 4, 4001)
    assert (np.abs(loss.slope(z)) <= 1).all()
    quotients = np.diff(loss.slope(z)) / np.diff(z)
    c = float(loss.largest_curvature)
    assert (quotients >= 0).all()
    assert quotients.max() <= c * (1 + 1e-9)
    assert quotients.max() >= 0.9 * min(c, 250)  # half a bend of 2 h < 0.002 in a step of 0.002
    near = loss.curvature_near((z[1:] + z[:-1]) / 2, 0.001 + 1e-9)
    assert (quotients <= near + 1e-9).all()
    assert (near <= c).all()


def test_another_width_of_the_huber_loss_is_another_slope() -> None:
    assert not slopes_fit(Huber(0.5), Huber(0.51))
    assert not slopes_fit(Logistic(), Huber(0.5))
    assert Huber(0.5).value(np.array([1.5, 1.0, 0.5, 0.0, -1.0])).tolist() == [0, 0.125, 0.5, 1, 2]
    assert Huber(0.25).largest_curvature == 2


@pytest.mark.parametrize("loss", LOSSES)
def test_slopes_in_balls_hold_those_in_floats(loss: Loss) -> None:
    for z in (-1e30, -2000.0, -3.0, 0.5, 0.9995, 1.0, 1.5, 40.0, 1e30):
        assert abs(float(loss.slope_in_balls(arb(z)).mid()) - float(loss.slope(np.array(z)))) <= 1e-12
        assert loss.slope_in_balls(arb(z)).rad() < 1e-9
    wide = loss.slope_in_balls(arb(1, 2))
    assert wide.contains(arb(float(loss.slope(np.array(-1.0)))))
    assert wide.contains(arb(float(loss.slope(np.array(3.0)))))


@pytest.mark.parametrize("h", [0.0, -1.0, 2.0**-11, 2048.0, float("nan")])
def test_a_width_out_of_range_is_refused(h: float) -> None:
    with pytest.raises(ValueError, match=r"h is from 2\*\*-10 to 2\*\*10"):
        Huber(h)


def problem(n: int, d: int, seed: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X /= np.maximum(1, np.linalg.norm(X, axis=1, keepdims=True)) * (1 + 1e-12)
    return X, np.where(X[:, 0] + 0.3 * rng.normal(size=n) > 0, 1.0, -1.0)


@pytest.mark.parametrize("loss", LOSSES[:2] + LOSSES[3:])
def test_minimisers_are_those_of_a_general_optimiser(loss: Loss) -> None:
    X, y = problem(200, 5, 1)
    linear = np.array([0.3, -0.1, 0.0, 2.0, -0.7])

    def value(f: Array, slope: Array) -> float:
        return float(loss.value(y * (X @ f)).mean() + 0.05 * f @ f + slope @ f)

    for slope, found in (
        (np.zeros(5), minimise_uncertified(loss, X, y, 0.1)),
        (linear, np.array([float(v) for v in minimise_perturbed(loss, X, y, 0.1, [Fraction(v) for v in linear])])),
    ):
        options = {"maxiter": 20_000, "maxfev": 20_000, "xatol": 1e-9, "fatol": 1e-14, "adaptive": True}
        other = scipy.optimize.minimize(value, found + 0.1, args=(slope,), method="Nelder-Mead", options=options)
        np.testing.assert_allclose(found, other.x, atol=1e-5)
        assert value(found, slope) <= other.fun + 1e-13


def exact_square(
    loss: Huber, X: Array, y: Array, modulus: float, linear: list[Fraction], f: list[Fraction]
) -> Fraction:
    """|grad F(f)|^2 in rational arithmetic, independent of the code under test."""
    h = Fraction(loss.h)
    gradient = [Fraction(modulus) * v + b for v, b in zip(f, linear, strict=True)]
    for x, sign in zip(X.tolist(), y.tolist(), strict=True):
        u = [Fraction(sign) * Fraction(v) for v in x]
        margin = sum((a * b for a, b in zip(u, f, strict=True)), Fraction(0))
        slope = min(max((margin - 1 - h) / (2 * h), Fraction(-1)), Fraction(0))
        gradient = [g + slope * v / len(X) for g, v in zip(gradient, u, strict=True)]
    return sum((g * g for g in gradient), Fraction(0))


def of_length(length: float, d: int, seed: int) -> list[Fraction]:
    v = np.random.default_rng(seed).normal(size=d)
    return [Fraction(c) for c in (length * v / np.linalg.norm(v)).tolist()]


@pytest.mark.parametrize("loss", LOSSES[:3])
@pytest.mark.parametrize("length", [0.0, 1.0, 1e25])
@pytest.mark.parametrize(("n", "modulus"), [(60, 0.02), (5, 4.0), (60, 2.0**-29)])
def test_gradients_are_as_short_as_promised_whatever_the_linear_term(
    loss: Huber, length: float, n: int, modulus: float
) -> None:
    (X, y), linear = problem(n, 4, n), of_length(length, 4, 3)
    f = list(minimise_perturbed(loss, X, y, modulus, linear))
    assert exact_square(loss, X, y, modulus, linear, f) <= Fraction(PUBLIC_TAU) ** 2
    # The check sees a point that is 2 tau/modulus off.
    f[0] += Fraction(2 * PUBLIC_TAU) / Fraction(modulus)
    assert exact_square(loss, X, y, modulus, linear, f) > Fraction(PUBLIC_TAU) ** 2


def test_what_floats_cannot_certify_is_continued_in_balls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows nearly at right angles to a centre 10^12 long: floats know their margins, about 1, to 10^-4 only."""
    rng, loss = np.random.default_rng(8), Huber(0.5)
    a, b = rng.uniform(0.1, 0.6, (2, 40))
    X, y, linear = np.column_stack([a, 1e-12 - a, b]), np.ones(40), [Fraction(-(10**12))] * 2 + [Fraction(0)]
    f = list(minimise_perturbed(loss, X, y, 1.0, linear))
    assert exact_square(loss, X, y, 1.0, linear, f) <= Fraction(PUBLIC_TAU) ** 2
    monkeypatch.setattr(perturbed, "_rounding_charge", lambda *_: 0.0)  # floats believed
    believed = list(minimise_perturbed(loss, X, y, 1.0, linear))
    assert exact_square(loss, X, y, 1.0, linear, believed) > Fraction(PUBLIC_TAU) ** 2


@pytest.mark.parametrize("loss", LOSSES)
def test_solutions_are_as_near_as_strong_convexity_says(loss: Loss) -> None:
    """Also a tolerance far below floats is met, and |f - f'| <= (tau + tau')/modulus."""
    (X, y), linear = problem(50, 4, 6), of_length(0.5, 4, 7)
    rough, public, fine = (minimise_perturbed(loss, X, y, 0.01, linear, tau) for tau in (1e-3, PUBLIC_TAU, 1e-28))
    if isinstance(loss, Huber):
        assert exact_square(loss, X, y, 0.01, linear, list(fine)) <= Fraction(1e-28) ** 2
    for f, tau in ((rough, 1e-3), (public, PUBLIC_TAU)):
        distance = sum(((a - b) ** 2 for a, b in zip(f, fine, strict=True)), Fraction(0))
        assert distance <= ((Fraction(tau) + Fraction(1e-28)) / Fraction(0.01)) ** 2
    longer = [2 * v for v in linear]  # another linear term is another minimiser
    other = minimise_perturbed(loss, X, y, 0.01, longer, 1e-28)
    assert sum(((a - b) ** 2 for a, b in zip(other, fine, strict=True)), Fraction(0)) > 1


def test_many_small_problems_with_sharp_kinks_are_solved() -> None:
    rng, loss = np.random.default_rng(11), Huber(2.0**-10)
    for seed in range(50):
        n, d = int(rng.integers(1, 12)), int(rng.integers(1, 4))
        X, y = problem(n, d, seed)
        modulus, linear = float(10 ** rng.uniform(-6, 1)), of_length(float(rng.exponential()), d, seed)
        f = list(minimise_perturbed(loss, X, y, modulus, linear))
        assert exact_square(loss, X, y, modulus, linear, f) <= Fraction(PUBLIC_TAU) ** 2


@pytest.mark.slow
def test_a_weak_regulariser_is_no_reason_to_refuse(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the objective falls for many steps before the gradient gets shorter; the twin gives up after twenty."""
    monkeypatch.setattr(perturbed, "_ROUNDS", 2)
    rng = np.random.default_rng(0)
    patient, hasty = newton.BALL_PATIENCE, newton.FLOAT_PATIENCE
    refused = {patient: 0, hasty: 0}
    for _ in range(12):
        X, y = into_ball(rng.standard_normal((40, 20)), 1.0), rng.choice([-1.0, 1.0], 40)
        linear = [Fraction(v) for v in rng.standard_normal(20) * 0.1 / 40]
        for patience in [patient] if refused[hasty] else refused:
            monkeypatch.setattr(perturbed, "BALL_PATIENCE", patience)
            try:
                minimise_perturbed(Logistic(), X, y, 2e-7, linear)
            except ArithmeticError:
                refused[patience] += 1
    assert refused[patient] == 0
    assert refused[hasty] > 0
