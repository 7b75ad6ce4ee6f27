"""Objective perturbation: the printed rule and its cliff, the proven one, and densities of neighbours."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from support.repetitions import with_slow

from protocols.arithmetic.rng import Stream
from smc_dp.core.arrays import Array
from smc_dp.methods.training.perturbed import Huber, Logistic, Loss
from smc_dp.methods.training.solver import PUBLIC_TAU
from smc_dp.privacy.noise import KNorm
from smc_dp.privacy.objective_perturbation import (
    ObjectivePerturbation,
    _expm1_below,
    _log1p_above,
    proven_perturbation,
    published_perturbation,
)

Rule = Callable[[Fraction, int, float, Fraction, int, float], ObjectivePerturbation]

UNIT = 2.0**40


def mnist(rule: Rule, epsilon: str, modulus: float = 0.02) -> ObjectivePerturbation:
    """The paper's sites on MNIST: 8678/11 rows, Huber loss with h = 1/2, 50 principal components."""
    return rule(Fraction(epsilon), 789, modulus, Fraction(1), 50, PUBLIC_TAU)


def noise_to_modulus(law: ObjectivePerturbation) -> float:
    """E |b|/(n (Lambda + Delta)): the mean of Gamma(d) is d."""
    return law.noise.dimension * float(law.noise.scale) / UNIT / (law.n * law.total)


def epsilon_of_b(law: ObjectivePerturbation) -> float:
    return 2 * UNIT / float(law.noise.scale)


@pytest.mark.parametrize("epsilon", ["0.025", "0.122", "0.2", "0.25", "3"])
@pytest.mark.parametrize(("n", "modulus", "c"), [(789, 0.02, 1.0), (39, 0.02, 1.0), (31509, 2e-7, 0.25)])
def test_the_printed_rule_in_floats(epsilon: str, n: int, modulus: float, c: float) -> None:
    law = published_perturbation(Fraction(epsilon), n, modulus, Fraction(c), 50, PUBLIC_TAU)
    ratio = c / (n * modulus)
    left = float(epsilon) - math.log(1 + 2 * ratio + ratio**2)
    if left > 0:
        assert law.extra == 0
        assert epsilon_of_b(law) == pytest.approx(left, rel=1e-12, abs=1e-12)
    else:
        assert 2 * math.log1p(c / (n * law.total)) == pytest.approx(float(epsilon) / 2, rel=1e-12)
        assert epsilon_of_b(law) == pytest.approx(float(epsilon) / 2, rel=1e-12)
        wrong = c / (n * (law.total / 2))  # the modulus of lam |f|^2 taken for lam
        assert 2 * math.log1p(wrong) != pytest.approx(float(epsilon) / 2, rel=1e-2)
    true = epsilon_of_b(law) + math.log1p(c / (n * law.total)) + float(epsilon) / 100
    assert float(law.epsilon) == pytest.approx(true, rel=1e-12)
    assert law.epsilon <= Fraction(epsilon) * Fraction(101, 100)


def test_the_cliff() -> None:
    assert 2 * math.log1p(1 / (789 * 0.02)) == pytest.approx(0.12289, abs=5e-6)
    found = {e: noise_to_modulus(mnist(published_perturbation, e)) for e in ("0.122", "0.125", "0.15", "0.25")}
    expected = {"0.122": 50.8, "0.125": 3002, "0.15": 234, "0.25": 49.9}
    assert found == pytest.approx(expected, rel=2e-3)
    assert noise_to_modulus(mnist(published_perturbation, "0.25", modulus=0.01)) == pytest.approx(1118, rel=1e-3)


@pytest.mark.parametrize("x", ["1e-12", "0.0123", "1", "158", "1e9"])
def test_logarithm_and_exponential_are_rounded_to_the_safe_side(x: str) -> None:
    value = Fraction(x)
    with ctx.workprec(400):
        ball = arb(fmpq(value.numerator, value.denominator))
        log1p, capped = ball.log1p(), ball.min(arb(100)).expm1()
        for found, true, sign in ((_log1p_above(value), log1p, 1), (_expm1_below(value), capped, -1)):
            excess = sign * (arb(fmpq(found.numerator, found.denominator)) - true)
            assert excess >= 0
            assert excess <= true * 1e-40


def is_steady(rule: Rule) -> bool:
    """Whether b and Delta never grow with epsilon and no step of 0.002 changes b/(n (Lambda + Delta)) by a tenth."""
    laws = [mnist(rule, str(e)) for e in np.linspace(0.02, 0.3, 141).round(6)]
    return all(
        wider.noise.scale >= law.noise.scale
        and wider.extra >= law.extra
        and 0.9 <= noise_to_modulus(wider) / noise_to_modulus(law) <= 1.1
        for wider, law in itertools.pairwise(laws)
    )


def test_the_proven_rule_has_no_cliff() -> None:
    assert is_steady(proven_perturbation)
    assert not is_steady(published_perturbation)


@pytest.mark.parametrize("epsilon", ["1e-9", "0.025", "0.1", "1", "1000000"])
@pytest.mark.parametrize(("n", "modulus", "d"), [(1, 2.0**-29, 1), (789, 0.02, 50), (10**7, 1e6, 784)])
def test_the_proven_rule_gives_exactly_epsilon(epsilon: str, n: int, modulus: float, d: int) -> None:
    law = proven_perturbation(Fraction(epsilon), n, modulus, Fraction(1), d, PUBLIC_TAU)
    assert law.epsilon == Fraction(epsilon)
    assert law.extra >= 0
    assert Fraction(law.total) == Fraction(modulus) + law.extra
    first = 0.99 * float(epsilon)
    assert math.log1p(1 / (n * law.total)) <= first / 2 * (1 + 1e-12)
    assert float(law.jacobian) == pytest.approx(math.log1p(1 / (n * law.total)), rel=1e-12)
    assert epsilon_of_b(law) >= first / 2 * (1 - 1e-12)
    # Delta is no larger than it must be.
    if law.extra > 0:
        assert math.log1p(1 / (n * law.total)) == pytest.approx(first / 2, rel=1e-9)


def test_the_noise_on_the_solution_covers_solver_grid_and_rounding_of_b() -> None:
    law = mnist(proven_perturbation, "0.1")
    beta = math.sqrt(50) / 2 / UNIT
    least = UNIT * 2 * (PUBLIC_TAU + beta / 789) / law.total + math.sqrt(50)
    assert least <= law.moved <= least + 3
    assert law.output.epsilon(law.moved) == Fraction(1, 1000)
    # It is small beside b: less than a thousandth of the length that b gives the solution.
    assert 50 * float(law.output.scale) / UNIT < 1e-3 * noise_to_modulus(law)


# One row is replaced, d = 1: the density of the exact minimiser at f is that of b at b(f) times |db/df|.


def log_density(f: Array, x: Array, y: Array, loss: Loss, modulus: float, scale: float) -> Array:
    z = f[:, np.newaxis] * (x * y)
    b = -(loss.slope(z) * (x * y)).sum(axis=1) - len(x) * modulus * f
    jacobian = (loss.curvature_near(z, 0.0) * x**2).sum(axis=1) + len(x) * modulus
    return np.asarray(-np.abs(b) / scale + np.log(jacobian))


def realised(law: ObjectivePerturbation, loss: Loss, modulus: float | None = None) -> float:
    """The largest log-ratio of the two densities on a grid, among neighbours made to be bad."""
    f = np.concatenate([np.linspace(-3, 3, 60_001), [0.5 + 1e-9, 1.5 - 1e-9]])
    scale, worst = float(law.noise.scale) / UNIT, 0.0
    for others in (0.0, 1.0):
        x, y = np.full(law.n, others), np.ones(law.n)
        for first, second in (((1, 1), (1, -1)), ((1, 1), (0, 1)), ((1, -1), (0.3, 1))):
            densities = []
            for x[0], y[0] in (first, second):
                densities.append(log_density(f, x, y, loss, modulus or law.total, scale))
            worst = max(worst, float(np.abs(densities[0] - densities[1]).max()))
    return worst


@pytest.mark.parametrize("rule", [proven_perturbation, published_perturbation])
@pytest.mark.parametrize("loss", [Huber(0.5), Logistic()])
@pytest.mark.parametrize(
    ("epsilon", "n", "modulus"), with_slow([("1", 10, 0.4), ("0.5", 10, 0.4), ("2", 4, 0.1)], ("1", 10, 0.4))
)
def test_densities_differ_by_no_more_than_is_paid(rule: Rule, loss: Loss, epsilon: str, n: int, modulus: float) -> None:
    law = rule(Fraction(epsilon), n, modulus, loss.largest_curvature, 1, PUBLIC_TAU)
    paid = float(law.epsilon) - float(epsilon) / 100
    assert realised(law, loss) <= paid + 1e-9


def test_the_bound_is_attained_and_each_mistake_is_found() -> None:
    loss, epsilon, n, modulus = Huber(0.5), Fraction(1), 10, 0.4
    law = proven_perturbation(epsilon, n, modulus, Fraction(1), 1, PUBLIC_TAU)
    paid = float(epsilon) * 0.99
    assert 0.999 * paid <= realised(law, loss) <= paid + 1e-9

    def with_scale(scale: float) -> ObjectivePerturbation:
        return replace(law, noise=KNorm(1, Fraction(scale * UNIT)))

    no_jacobian = with_scale(2 / paid)
    assert realised(no_jacobian, loss) > 1.2 * paid
    one_gradient = with_scale(float(law.noise.scale) / UNIT / 2)  # |b - b'| <= 1
    assert realised(one_gradient, loss) > 1.5 * paid
    # Calibrated for Lambda = 2 lam where the objective has (lam/2) |f|^2.
    assert law.extra == 0
    assert realised(law, loss, modulus=law.total / 2) > 1.1 * paid


def test_the_linear_term_and_the_release_have_the_very_noise() -> None:
    law = replace(mnist(proven_perturbation, "0.1"), output=KNorm(3, Fraction(10**6)))
    one, other = (Stream.insecure_from_seed("solution") for _ in range(2))
    assert law.linear(one) == tuple(Fraction(b, 789 << 40) for b in law.noise.sample(other))
    solution = (Fraction(1, 3), Fraction(-2), Fraction(10**6) + Fraction(1, 7))
    drawn = law.output.sample(other)
    wanted = [(round(v * (1 << 40)) + e) / UNIT for v, e in zip(solution, drawn, strict=True)]
    assert law.release(solution, one).tolist() == wanted


@pytest.mark.parametrize("rule", [proven_perturbation, published_perturbation])
@pytest.mark.parametrize("wrong", range(6))
def test_figures_out_of_range_are_named(rule: Rule, wrong: int) -> None:
    names = ("epsilon", "n", "modulus", "curvature", "dimension", "tau")
    given = [Fraction(1), 10, 0.1, Fraction(1), 3, PUBLIC_TAU]
    rule(*given)  # type: ignore[arg-type]
    given[wrong] = 0
    with pytest.raises(ValueError, match=f"{names[wrong]} is positive and finite, got 0"):
        rule(*given)  # type: ignore[arg-type]
