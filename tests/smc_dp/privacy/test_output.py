"""Output perturbation: the noise that a wanted guarantee gets, how it is added, and what the statement then says."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from support.rounded import rounded_epsilon

from protocols.arithmetic.rng import Stream
from smc_dp.privacy.gaussian import epsilon_of
from smc_dp.privacy.noise import DiscreteGaussian, DiscreteLaplace, KNorm
from smc_dp.privacy.output import (
    NO_NOISE,
    Calibrated,
    calibrate_as_published,
    calibrate_gaussian,
    calibrate_noise,
    noise_statement,
    on_grid,
    perturb,
)
from smc_dp.privacy.statement import PrivacyStatement, round_up
from smc_dp.privacy.target import NoiseName, Target, epsilon_for

NOISES: tuple[NoiseName, ...] = ("knorm", "laplace", "gauss")
DELTA = Fraction(1, 700)


def stream(name: str = "output") -> Stream:
    return Stream.insecure_from_seed(name)


@pytest.mark.parametrize("epsilon", [Fraction(1, 3), Fraction(7)])
@pytest.mark.parametrize("d", [1, 5, 123])
def test_proven_noise_spends_exactly_what_was_asked_for(epsilon: Fraction, d: int) -> None:
    knorm, laplace, gauss = (calibrate_noise(Target(epsilon, noise=noise), d, DELTA) for noise in NOISES)
    assert isinstance(knorm.distribution, KNorm)
    assert isinstance(laplace.distribution, DiscreteLaplace)
    assert isinstance(gauss.distribution, DiscreteGaussian)
    assert knorm.distribution.epsilon(knorm.sensitivity) == laplace.distribution.epsilon(laplace.sensitivity) == epsilon
    mu = Target(epsilon, noise="gauss").mu
    assert mu**2 * (1 - Fraction(1, 10**17)) < gauss.distribution.mu_squared(gauss.sensitivity) <= mu**2
    assert {calibrated.distribution.dimension for calibrated in (knorm, laplace, gauss)} == {d}
    # What the reals can move by, on the grid, and half a unit for each rounding.
    assert knorm.sensitivity == gauss.sensitivity == math.ceil(2**40 * DELTA) + math.ceil(math.sqrt(d))
    assert laplace.sensitivity >= 2**40 * DELTA * Fraction(math.sqrt(d)) + d > 0.999999 * laplace.sensitivity
    assert epsilon <= Fraction(rounded_epsilon(knorm)) < epsilon * (1 + Fraction(1, 2**50))


@pytest.mark.parametrize("noise", ["knorm", "laplace"])
def test_printed_noise_has_the_printed_scale_and_tells_the_true_epsilon(noise: NoiseName) -> None:
    target, scale, d = Target(Fraction(1, 2), "paper", noise), Fraction(1, 90), 4
    calibrated = calibrate_as_published(target, d, DELTA, scale)
    assert isinstance(calibrated.distribution, KNorm | DiscreteLaplace)
    assert calibrated.distribution.scale == scale * 2**40
    assert calibrated.distribution.name == noise
    true = float(DELTA / scale) * (2 if noise == "laplace" else 1)  # sqrt(4) in L1
    assert rounded_epsilon(calibrated) == pytest.approx(true, rel=1e-6)
    assert Fraction(rounded_epsilon(calibrated)) >= calibrated.distribution.epsilon(calibrated.sensitivity)


def test_without_noise_integers_come_back_as_they_went() -> None:
    values = np.array([[0.5, -3.25], [2.0**-40, 1e6]])
    assert perturb(on_grid(values), None, stream()).tolist() == values.ravel().tolist()


@pytest.mark.parametrize("noise", NOISES)
def test_the_noise_is_drawn_once_and_added(noise: NoiseName) -> None:
    calibrated = calibrate_noise(Target(Fraction(1), noise=noise), 3, DELTA)
    drawn = calibrated.distribution.sample(stream())
    released = perturb([10, -20, 2**50], calibrated, stream())
    wanted = [(w + e) / (1 << 40) for w, e in zip([10, -20, 2**50], drawn, strict=True)]
    assert released.tolist() == wanted
    with pytest.raises(ValueError, match=r"zip\(\)"):
        perturb([1, 2], calibrated, stream())


def test_what_leaves_the_ring_wraps_round_and_is_not_clamped() -> None:
    edge = 2**127 - 1
    assert perturb([edge + 1], None, stream()).tolist() == [-(2.0**87)]


def said(target: Target, calibrated: Calibrated | None) -> PrivacyStatement:
    return noise_statement(calibrated, target, "record", "replace", "anyone", ("A caveat.",))


@pytest.mark.parametrize("noise", ["knorm", "laplace"])
def test_pure_noise_is_stated_as_pure(noise: NoiseName) -> None:
    target = Target(Fraction(1, 3), noise=noise)
    found = said(target, calibrate_noise(target, 3, DELTA))
    assert (found.kind, found.delta, found.unit, found.adjacency) == ("pure", 0.0, "record", "replace")
    assert (found.adversary, found.caveats) == ("anyone", ("A caveat.",))
    assert found.epsilon is not None
    assert Fraction(found.epsilon) > Fraction(1, 3) > Fraction(float(Fraction(1, 3)))  # rounded up, not to nearest


def test_gaussian_noise_is_stated_as_zcdp_and_never_as_pure() -> None:
    target = Target(Fraction(1), noise="gauss")
    calibrated = calibrate_noise(target, 3, DELTA)
    found = said(target, calibrated)
    assert found.kind == "zcdp"
    assert isinstance(calibrated.distribution, DiscreteGaussian)
    assert found.rho is not None
    assert found.mu is not None
    assert (
        Fraction(found.rho)
        >= calibrated.distribution.rho(calibrated.sensitivity)
        > Fraction(math.nextafter(found.rho, 0.0))
    )
    assert found.mu == target.mu  # a float, so that nothing is lost when it is stated
    assert Fraction(found.mu) ** 2 >= calibrated.distribution.mu_squared(calibrated.sensitivity)
    assert Fraction(math.nextafter(found.mu, 0.0)) ** 2 < calibrated.distribution.mu_squared(calibrated.sensitivity)
    assert found.rho == pytest.approx(found.mu**2 / 2)  # of one discrete Gaussian, but for the 9
    assert found.epsilon == 1.0
    assert Fraction(found.delta) >= target.delta
    assert found.delta == pytest.approx(1e-5)
    weaker = said(Target(Fraction(1, 2), noise="gauss"), calibrated)
    assert (weaker.rho, weaker.mu) == (found.rho, found.mu)
    assert 1 - 1e-12 < weaker.epsilon <= 1  # from the noise, not from what was asked for


def test_little_noise_is_stated_by_its_own_curve_and_hardly_any_by_rho() -> None:
    """Noise that was not made for the target: epsilon is what its mu keeps, and beyond its reach what rho does."""
    target = Target(Fraction(1), noise="gauss")
    found = said(target, Calibrated(DiscreteGaussian(1, Fraction(64)), 8))
    assert found.mu is not None
    assert Fraction(found.mu) ** 2 >= Fraction(64, 55) > Fraction(math.nextafter(found.mu, 0.0)) ** 2
    assert found.epsilon == epsilon_of(Fraction(found.mu) ** 2, target.delta)
    hardly = said(target, Calibrated(DiscreteGaussian(1, Fraction(18)), 1 << 20))
    assert hardly.mu is None
    assert hardly.epsilon == round_up(epsilon_for(Fraction(1 << 40, 36), target.delta))


def test_no_more_integers_than_the_theorem_is_used_for() -> None:
    assert calibrate_gaussian(Target(1, noise="gauss"), 1 << 50, 1).distribution.dimension == 1 << 50
    with pytest.raises(ValueError, match="wanted at most"):
        calibrate_gaussian(Target(1, noise="gauss"), (1 << 50) + 1, 1)


def test_a_delta_that_no_float_has_is_rounded_up() -> None:
    third = Target(Fraction(1), noise="gauss", delta=Fraction(1, 10**6))
    assert Fraction(said(third, calibrate_noise(third, 3, DELTA)).delta) > third.delta
    assert Fraction(float(third.delta)) < third.delta  # the twin: to nearest would flatter


def test_the_paper_s_noise_is_stated_with_what_it_really_gives() -> None:
    target = Target(Fraction(1, 2), "paper", "knorm")
    found = said(target, calibrate_as_published(target, 3, DELTA, DELTA))
    assert found.epsilon == pytest.approx(1.0, rel=1e-6)  # and not the nominal 1/2
    assert "Its nominal epsilon is 0.5; the epsilon proved for it is at most 1.0000" in found.caveats[-1]


def test_without_noise_nothing_is_promised() -> None:
    found = said(Target(None), None)
    assert (found.kind, found.epsilon) == ("none", None)
    assert found.caveats == (NO_NOISE,)
    assert said(Target(Fraction(1)), calibrate_noise(Target(Fraction(1)), 3, DELTA)).kind == "pure"
