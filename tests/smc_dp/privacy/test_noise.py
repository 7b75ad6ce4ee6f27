"""Noise and its guarantee: losses computed from the laws, tails, and the calibration of the 2010 paper."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest
import scipy.special
import scipy.stats

from protocols.arithmetic.rng import Stream
from smc_dp.methods.training.solver import PUBLIC_TAU
from smc_dp.privacy import pathak2010
from smc_dp.privacy.discrete import discrete_gaussian, discrete_laplace
from smc_dp.privacy.grid import Grid
from smc_dp.privacy.knorm import knorm_integers
from smc_dp.privacy.noise import DiscreteGaussian, DiscreteLaplace, KNorm
from smc_dp.privacy.pathak2010 import LARGEST_N, SmallestNoise
from smc_dp.privacy.sensitivity import logistic_constants, replace_one
from smc_dp.privacy.statement import round_up

GRID = Grid(fraction_bits=40, ring_bits=128)
LAWS: tuple[Any, ...] = (KNorm, DiscreteLaplace, DiscreteGaussian)
PUBLIC: dict[str, Any] = {
    "parties": 5,
    "dimension": 123,
    "epsilon": Fraction(1, 2),
    "lam": Fraction(1),
    "calibration": "proven",
    "noise": "knorm",
    "grid": GRID,
    "tau": PUBLIC_TAU,
}


def rounded_knorm_in_the_plane(tau: float, reach: int) -> dict[tuple[int, int], float]:
    """P(round(Y) = z) for |z| <= reach, by Gauss's quadrature of the density over quarter cells."""
    nodes, weights = np.polynomial.legendre.leggauss(40)
    nodes, weights = (nodes + 1) / 4, weights / 4

    def cell(z: tuple[int, int]) -> float:
        total = 0.0
        for corner in product((-0.5, 0.0), repeat=2):
            x, y = (z[k] + corner[k] + nodes for k in (0, 1))
            total += float(weights @ np.exp(-np.hypot(x[:, None], y) / tau) @ weights)
        return total / (2 * math.pi * tau**2)

    span = range(-reach, reach + 1)
    return {z: cell(z) for z in product(span, span)}


@pytest.mark.parametrize("tau", [Fraction(3, 10), Fraction(3, 2), Fraction(5)])
def test_knorm_epsilon_is_the_largest_loss(tau: Fraction) -> None:
    law = rounded_knorm_in_the_plane(float(tau), 6)
    noise = KNorm(2, tau)
    tightness = 0.0
    for shift in ((1, 0), (1, 1), (2, 1)):
        length = math.hypot(*shift)
        claimed = float(noise.epsilon(Fraction(length)))
        losses = [
            abs(math.log(p / law[moved]))
            for z, p in law.items()
            if (moved := (z[0] + shift[0], z[1] + shift[1])) in law
        ]
        assert max(losses) <= claimed * (1 + 1e-4)
        tightness = max(tightness, max(losses) / claimed)
    assert tightness > 0.95  # so noise of 0.7 or 1.3 the scale would be told apart


def test_laplace_epsilon_is_the_largest_loss_in_L1_and_not_in_L2() -> None:
    scale = Fraction(7, 2)
    log_law = scipy.stats.dlaplace(1 / float(scale)).logpmf
    shift = (1, 1, 1, -1)
    loss = max(
        sum(float(log_law(z) - log_law(z + h)) for z, h in zip(at, shift, strict=True))
        for at in product((-2, 0, 2), repeat=4)
    )
    noise = DiscreteLaplace(4, scale)
    assert loss == pytest.approx(float(noise.epsilon(sum(map(abs, shift)))))
    assert loss > 1.9 * noise.epsilon(Fraction(math.hypot(*shift)))  # the broken twin: an L2 sensitivity


def gaussian_pmf(variance: Fraction, reach: int) -> np.ndarray[Any, Any]:
    """log P(y) for |y| <= reach, from the definition."""
    exponents = np.array([-float(y * y / (2 * variance)) for y in range(-reach, reach + 1)])
    return exponents - float(scipy.special.logsumexp(exponents))


def renyi_rate(variance: Fraction, shift: int, alpha: float) -> float:
    """D_alpha(P shifted || P)/alpha of the discrete Gaussian P, which zCDP bounds by rho, from the exact law."""
    reach = 60 + math.ceil(45 * math.sqrt(variance)) + math.ceil(alpha) * shift
    law = gaussian_pmf(variance, reach)
    p, q = law[:-shift], law[shift:]
    return float(scipy.special.logsumexp(alpha * p + (1 - alpha) * q)) / (alpha - 1) / alpha


VARIANCES = [Fraction(1, 3), Fraction(1), Fraction(49, 4), Fraction(500)]
ALPHAS = (1.01, 1.5, 2.0, 5.0, 20.0)


@pytest.mark.parametrize("variance", VARIANCES)
@pytest.mark.parametrize("shift", [1, 3])
def test_gaussian_rho_bounds_every_renyi_divergence_and_is_reached(variance: Fraction, shift: int) -> None:
    claimed = float(DiscreteGaussian(1, variance).rho(shift))
    rates = [renyi_rate(variance, shift, alpha) for alpha in ALPHAS]
    assert max(rates) <= claimed * (1 + 1e-9)
    if variance >= 1:
        assert max(rates) > 0.999 * claimed
        # Broken twins: rho without its 1/2 is never reached, and with 1/4 it is exceeded.
        assert max(rates) < 0.999 * 2 * claimed
        assert max(rates) > claimed / 2
    if variance > 1:
        # Broken twin: the standard deviation handed over where the variance is wanted, and the other way round.
        deviation = Fraction(math.isqrt(math.floor(variance)))
        assert renyi_rate(deviation, shift, 2.0) > claimed
        assert max(rates) > DiscreteGaussian(1, variance * variance).rho(shift)


def test_gaussian_rho_of_a_vector_is_that_of_its_L2_length() -> None:
    """Coordinates are independent, so divergences add up: 3^2 + 4^2 = 5^2."""
    variance, noise = Fraction(49, 4), DiscreteGaussian(2, Fraction(49, 4))
    together = renyi_rate(variance, 3, 2.0) + renyi_rate(variance, 4, 2.0)
    assert together == pytest.approx(float(noise.rho(5)), rel=1e-6)
    assert together < 0.6 * noise.rho(3 + 4)  # broken twin: the L1 length


def test_gaussian_mu_takes_9_off_the_variance() -> None:
    assert DiscreteGaussian(3, Fraction(64)).mu_squared(8) == Fraction(64, 55)
    assert DiscreteGaussian(1, Fraction(18)).mu_squared(0) == 0
    with pytest.raises(ValueError, match="at least 18"):
        DiscreteGaussian(1, Fraction(35, 2)).mu_squared(1)
    with pytest.raises(ValueError, match="not negative"):
        DiscreteGaussian(1, Fraction(18)).mu_squared(-1)


def test_samples_have_the_law_of_their_name() -> None:
    """Laws themselves have tests of their own: what is drawn is what they give at this scale."""
    scale, variance = Fraction(10**6, 7), Fraction(10**12, 49)

    def seeded() -> Stream:
        return Stream.insecure_from_seed("names")

    rng = seeded()
    assert KNorm(10, scale).sample(seeded()) == knorm_integers(10, scale, seeded())
    assert DiscreteLaplace(10, scale).sample(seeded()) == [discrete_laplace(scale, rng) for _ in range(10)]
    rng = seeded()
    assert DiscreteGaussian(10, variance).sample(seeded()) == [discrete_gaussian(variance, rng) for _ in range(10)]


@pytest.mark.parametrize("d", [1, 2, 123, 10_000])
@pytest.mark.parametrize("bits", [1, 20, 80])
def test_tails_hold_and_are_not_far_off(d: int, bits: int) -> None:
    scale = Fraction(2**30, 3)
    most = 2.0**-bits

    def knorm_beyond(bound: float) -> float:
        return float(scipy.stats.gamma(d).sf((bound - 0.5) / float(scale)))

    def laplace_beyond(bound: float) -> float:
        r = math.exp(-1 / scale)
        one = 2 * math.exp(-math.floor(bound + 1) / scale) / (1 + r)
        return -math.expm1(d * math.log1p(-one)) if one < 1 else 1.0

    knorm, laplace = KNorm(d, scale).tail(bits), DiscreteLaplace(d, scale).tail(bits)
    assert isinstance(knorm, int)
    assert isinstance(laplace, int)
    assert knorm_beyond(knorm) <= most
    assert laplace_beyond(laplace) <= most
    if bits > 1:  # half of it would not do
        assert knorm_beyond(knorm / 2) > most
        assert laplace_beyond(laplace / 2) > most
    assert KNorm(d, scale).tail() == KNorm(d, scale).tail(80)


@pytest.mark.parametrize("d", [1, 123])
@pytest.mark.parametrize("bits", [1, 20, 80])
@pytest.mark.parametrize("variance", [Fraction(1, 3), Fraction(50)])
def test_gaussian_tails_hold_and_are_not_far_off(d: int, bits: int, variance: Fraction) -> None:
    law = np.exp(gaussian_pmf(variance, 40 + math.ceil(14 * math.sqrt(variance))))
    centre = len(law) // 2

    def beyond(bound: float) -> float:
        return min(1.0, 2 * d * float(law[centre + math.floor(bound) + 1 :].sum()))

    tail = DiscreteGaussian(d, variance).tail(bits)
    assert beyond(tail) <= 2.0**-bits
    if bits > 1 and variance > 1:
        assert beyond(tail / 2) > 2.0**-bits


def test_noise_out_of_range_is_refused() -> None:
    for call, said in (
        *((partial(mechanism, 0, Fraction(1)), "dimension") for mechanism in LAWS),
        *((partial(mechanism, 1, Fraction(0)), "scale") for mechanism in LAWS[:2]),
        *((partial(mechanism(1, Fraction(1)).epsilon, -1), "sensitivity") for mechanism in LAWS[:2]),
        (partial(DiscreteGaussian, 1, Fraction(0)), "variance"),
        (partial(DiscreteGaussian(1, Fraction(1)).rho, -1), "sensitivity"),
    ):
        with pytest.raises(ValueError, match=said):
            call()
    assert [(law.name, law.norm) for law in LAWS] == [("knorm", "L2"), ("laplace", "L1"), ("gauss", "L2")]


def sensitivity(n: int, public: dict[str, Any]) -> int:
    delta = replace_one(n, 2 * public["lam"], public["tau"])
    grid, d = public["grid"], public["dimension"]
    return int(grid.l2_sensitivity(delta, d) if public["noise"] == "knorm" else grid.l1_sensitivity(delta, d))


@pytest.mark.parametrize("noise", ["knorm", "laplace"])
@pytest.mark.parametrize("n", [1, 3256, 10**7])
def test_proven_noise_spends_exactly_epsilon(noise: str, n: int) -> None:
    public = PUBLIC | {"noise": noise}
    drawn = SmallestNoise(**public).distribution(n)
    assert drawn.name == noise
    assert drawn.dimension == 123
    assert drawn.epsilon(sensitivity(n, public)) == Fraction(1, 2)
    assert drawn.epsilon(sensitivity(n + 1, public)) <= Fraction(1, 2)  # larger parties are covered too
    statement = SmallestNoise(**public).guarantee()
    assert (statement.kind, statement.epsilon, statement.delta) == ("pure", 0.5, 0.0)
    assert (statement.unit, statement.adjacency) == ("record", "replace")


def test_paper_noise_has_the_printed_scale() -> None:
    for noise in ("knorm", "laplace"):
        drawn = SmallestNoise(
            **PUBLIC | {"calibration": "paper", "noise": noise, "lam": Fraction(1, 1000)}
        ).distribution(100)
        # 2/(n epsilon lam) on the mean of five models, on a grid of 40 bits.
        assert drawn.scale == Fraction(2, 1) / (100 * Fraction(1, 2) * Fraction(1, 1000)) * 5 * 2**40


@pytest.mark.parametrize("noise", ["knorm", "laplace"])
@pytest.mark.parametrize("fraction_bits", [4, 20, 40])
@pytest.mark.parametrize("lam", [Fraction(1), Fraction(1, 1000)])
def test_paper_guarantee_covers_every_size(noise: str, fraction_bits: int, lam: Fraction) -> None:
    public = PUBLIC | {
        "calibration": "paper",
        "noise": noise,
        "dimension": 7,
        "lam": lam,
        "grid": Grid(fraction_bits, 128),
    }
    claimed = SmallestNoise(**public).true_epsilon_of_paper(400)
    true = [SmallestNoise(**public).distribution(n).epsilon(sensitivity(n, public)) for n in range(1, 401)]
    assert max(true) <= claimed
    assert max(true) > claimed * Fraction(4, 5)
    if fraction_bits == 4:  # broken twin: a bound for small data sets only, where rounding is felt
        assert max(true) > SmallestNoise(**public).true_epsilon_of_paper(40)
    stated = SmallestNoise(**public).guarantee().epsilon
    assert stated == round_up(SmallestNoise(**public).true_epsilon_of_paper(LARGEST_N))


def test_paper_guarantee_is_the_known_fraction_of_the_nominal_epsilon() -> None:
    # With mu = 2 lam: epsilon G/(4K) for the K-norm, sqrt(d) times that coordinate-wise.
    G = logistic_constants(2).G
    for parties in (1, 5):
        public = PUBLIC | {"calibration": "paper", "parties": parties, "epsilon": Fraction(1)}
        for noise, factor in (("knorm", 1.0), ("laplace", math.sqrt(123))):
            drawn = SmallestNoise(**public | {"noise": noise})
            true = float(drawn.true_epsilon_of_paper(10_000))
            assert true == pytest.approx(factor * G / (4 * parties), rel=1e-4)
            assert any("nominal epsilon is 1.0;" in caveat for caveat in drawn.guarantee().caveats)


def test_the_statement_says_who_is_outside() -> None:
    words = SmallestNoise(**PUBLIC).guarantee().plain_words()
    assert {*SmallestNoise(**PUBLIC).guarantee().caveats} >= {*pathak2010._REMOVED, *pathak2010._LIMITS}
    assert "without Charlie" in SmallestNoise(**PUBLIC).guarantee().adversary
    assert "nominal" not in words
    assert "nominal" in SmallestNoise(**PUBLIC | {"calibration": "paper"}).guarantee().plain_words()


def test_the_figure_is_rounded_up() -> None:
    claimed = SmallestNoise(**PUBLIC | {"epsilon": Fraction(1, 3)}).guarantee().epsilon
    assert claimed is not None
    assert Fraction(claimed) > Fraction(1, 3) > Fraction(float(Fraction(1, 3)))
    assert replace(SmallestNoise(**PUBLIC).guarantee(), epsilon=claimed).as_dict()["epsilon"] == claimed


@pytest.mark.parametrize(
    "change",
    [
        {"parties": 0},
        {"epsilon": Fraction(0)},
        {"lam": Fraction(-1)},
        {"tau": -1.0},
        {"dimension": 0},
    ],
)
def test_calibration_out_of_range_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        SmallestNoise(**PUBLIC | change).distribution(10)
    if not change.keys() & {"tau", "dimension"}:
        with pytest.raises(ValueError, match=next(iter(change))):
            SmallestNoise(**PUBLIC | change).guarantee()


def test_sizes_out_of_range_are_refused() -> None:
    for n in (0, LARGEST_N + 1):
        with pytest.raises(ValueError, match="records n"):
            SmallestNoise(**PUBLIC).distribution(n)
