"""How much privacy is wanted: what a target takes, and zCDP against epsilon and delta, checked in ball arithmetic."""

from __future__ import annotations

import math
from decimal import ROUND_FLOOR, Context, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx, fmpq

from smc_dp.privacy.gaussian import mu_for
from smc_dp.privacy.target import HIGHEST, LOWEST, Target, epsilon_for
from tests.support.refusals import refused

RNG = np.random.default_rng(2016)
PAIRS = [
    (Fraction(10.0 ** RNG.uniform(-9, 6)).limit_denominator(10**12), Fraction(float(10.0 ** RNG.uniform(-30, -0.01))))
    for _ in range(300)
] + [(LOWEST, Fraction(1, 10**9)), (HIGHEST, Fraction(1, 2)), (Fraction(1), 1 - Fraction(1, 2**50))]


def ball(value: Fraction) -> arb:
    return arb(fmpq(value.numerator, value.denominator))


def implied(rho: Fraction, delta: Fraction) -> arb:
    """rho + 2 sqrt(rho ln(1/delta)) as a ball that contains it."""
    return ball(rho) + 2 * (ball(rho) * -ball(delta).log()).sqrt()


def test_the_context_of_the_thread_changes_nothing() -> None:
    wanted = epsilon_for(Fraction(1, 7), Fraction(1, 3))
    with localcontext(Context(prec=3, rounding=ROUND_FLOOR)):
        assert epsilon_for(Fraction(1, 7), Fraction(1, 3)) == wanted


def test_epsilon_is_the_smallest_not_below_what_rho_implies() -> None:
    with ctx.workprec(600):
        for rho, delta in PAIRS:
            epsilon = epsilon_for(rho, delta)
            assert ball(epsilon) >= implied(rho, delta)
            assert ball(epsilon * (1 - Fraction(1, 10**40))) < implied(rho, delta)


def test_gaussian_noise_has_the_mu_of_the_exact_curve() -> None:
    # Noise of standard deviation 3.73 sensitivities for (1, 1e-5): mu = 1/3.73; by zCDP it would be 4.90.
    assert Target(Fraction(1), noise="gauss").mu == mu_for(Fraction(1), Fraction(1, 10**5))
    assert float(Target(Fraction(1), noise="gauss").mu) == pytest.approx(1 / 3.7306, rel=1e-4)


WRONG: dict[str, tuple[dict[str, Any], str, dict[str, Any]]] = {
    "no privacy at all": ({"epsilon": HIGHEST * 2}, "epsilon.out_of_range", {"least": 1e-09}),
    "too private": ({"epsilon": LOWEST / 2}, "epsilon.out_of_range", {"got": "5e-10"}),
    "negative": ({"epsilon": Fraction(-1)}, "epsilon.out_of_range", {"got": "-1"}),
    "calibration": ({"calibration": "printed"}, "setting.unknown_value", {"name": "calibration", "got": "'printed'"}),
    "noise": ({"noise": "exponential"}, "setting.unknown_value", {"name": "noise", "got": "'exponential'"}),
    "delta 0": ({"delta": Fraction(0)}, "delta.out_of_range", {"least": 1e-100, "got": "0"}),
    "delta 1": ({"delta": Fraction(1)}, "delta.out_of_range", {"least": 1e-100, "got": "1"}),
    "delta of nothing": ({"delta": Fraction(1, 10**400)}, "delta.out_of_range", {"got": "1e-400"}),
    "epsilon as text": ({"epsilon": "1"}, "setting.not_finite", {"name": "epsilon", "got": "'1'"}),
    "epsilon in a list": ({"epsilon": [1]}, "setting.not_finite", {"name": "epsilon", "got": "[1]"}),
    "no number": ({"epsilon": float("nan")}, "setting.not_finite", {"name": "epsilon", "got": "nan"}),
    "complex": ({"epsilon": 1j}, "setting.not_finite", {"name": "epsilon", "got": "1j"}),
    "huge": ({"epsilon": 10**400}, "epsilon.out_of_range", {"got": "1.00000e+400"}),
    "delta as text": ({"delta": "x"}, "setting.not_finite", {"name": "delta", "got": "'x'"}),
    "no delta": ({"delta": None}, "setting.not_finite", {"name": "delta", "got": "None"}),
    "noise in a list": ({"noise": ["knorm"]}, "setting.unknown_value", {"name": "noise"}),
    "not printed": ({"noise": "gauss", "calibration": "paper"}, "noise.not_in_papers", {"noise": "gauss"}),
    "not printed, in shares": ({"noise": "vg", "calibration": "paper"}, "noise.not_in_papers", {"noise": "vg"}),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_not_a_target_is_refused(name: str) -> None:
    changes, code, fields = WRONG[name]
    with refused(code, **fields):
        Target(**{"epsilon": Fraction(1)} | changes)


def test_all_that_is_wrong_with_a_target_is_refused_at_once() -> None:
    with refused("epsilon.out_of_range", "noise.not_in_papers", "delta.out_of_range", got="0"):
        Target(0, "paper", "gauss", Fraction(2))
    with refused("setting.not_finite", "setting.unknown_value", "setting.unknown_value", "setting.not_finite"):
        Target("1", "printed", "exponential", "x")  # type: ignore[arg-type]


def test_a_float_is_never_exceeded_by_either_reading() -> None:
    assert Target(0.1).epsilon == Fraction(1, 10) < Fraction(0.1)  # the decimal is smaller
    assert Target(0.3).epsilon == Fraction(0.3) < Fraction(3, 10)  # the binary value is smaller
    assert (Target(1).epsilon, Target(2.0).epsilon, Target(math.inf).epsilon) == (1, 2, None)
    assert Target(1, noise="gauss", delta=1e-6).delta <= Fraction(1, 10**6)


def test_without_noise_there_is_no_epsilon() -> None:
    assert Target(Fraction(1, 3)).wanted == Fraction(1, 3)
    for ask in (lambda: Target(None).wanted, lambda: Target(None).mu):
        with refused("epsilon.none"):
            ask()
