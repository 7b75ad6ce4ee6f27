"""The lazily exact K-norm sampler: its law, its exactness, and a support without holes."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from functools import cache

import numpy as np
import numpy.typing as npt
import pytest
import scipy.stats
from support.repetitions import with_slow

from protocols.arithmetic.rng import Stream
from smc_dp.privacy.knorm import knorm_integers

ACCEPT, REJECT = 1e-6, 1e-12
SCALE = Fraction(2**40)  # so wide that rounding is invisible to a test of the continuous law
DRAWS = {1: 2_000, 2: 3_000, 3: 2_000, 10: 1_500, 123: 400}

Matrix = npt.NDArray[np.float64]


@cache
def draws(d: int) -> Matrix:
    """(DRAWS[d], d) noise vectors over the scale."""
    rng = Stream.insecure_from_seed(f"knorm {d}")
    return np.array([knorm_integers(d, SCALE, rng) for _ in range(DRAWS[d])], dtype=float) / float(SCALE)


def radius_fits(noise: Matrix, d: int) -> float:
    return float(scipy.stats.kstest(np.linalg.norm(noise, axis=1), scipy.stats.gamma(d).cdf).pvalue)


@pytest.mark.parametrize("d", with_slow([1, 2, 10, 123], 2, 123))
def test_the_radius_is_gamma(d: int) -> None:
    assert radius_fits(draws(d), d) > ACCEPT


def isotropy(noise: Matrix) -> float:
    """The smallest of three p-values, times three: mean zero, no correlation, squared coordinates Beta."""
    n, d = noise.shape
    unit = noise / np.linalg.norm(noise, axis=1, keepdims=True)
    mean = scipy.stats.chi2(d).sf(n * d * float((unit.mean(axis=0) ** 2).sum()))
    products = (unit.T @ unit / n)[np.triu_indices(d, 1)]  # each has variance 1/(n d (d + 2))
    pairs = scipy.stats.chi2(len(products)).sf(n * d * (d + 2) * float((products**2).sum()))
    beta = scipy.stats.beta(0.5, (d - 1) / 2).cdf
    squares = min(scipy.stats.kstest(unit[:, k] ** 2, beta).pvalue * d for k in range(d))
    return 3 * min(float(mean), float(pairs), float(squares))


@pytest.mark.parametrize("d", [2, 3, 10])
def test_the_direction_is_uniform(d: int) -> None:
    assert isotropy(draws(d)) > ACCEPT


def test_one_dimension_against_the_integral_of_the_density() -> None:
    scale, n = 1.5, 3_000
    rng = Stream.insecure_from_seed("integral")
    exact = [knorm_integers(1, Fraction(3, 2), rng)[0] for _ in range(n)]

    def fits(samples: list[int]) -> float:
        reach = 6
        cdf = scipy.stats.laplace(scale=scale).cdf
        cells = [cdf(z + 0.5) - cdf(z - 0.5) for z in range(-reach, reach + 1)]
        counts = Counter(samples)
        observed = [counts[z] for z in range(-reach, reach + 1)]
        chances = [*cells, 1 - sum(cells)]
        return float(scipy.stats.chisquare([*observed, n - sum(observed)], [n * c for c in chances]).pvalue)

    assert fits(exact) > ACCEPT
    reals = np.random.default_rng(4).laplace(scale=scale, size=n)
    assert fits([math.floor(y + 0.5) for y in reals]) > ACCEPT
    assert fits([math.trunc(y) for y in reals]) < REJECT  # broken twins: the wrong rounding
    assert fits([math.floor(y) for y in reals]) < REJECT


@pytest.mark.parametrize("d", [1, 2, 5, 20])
@pytest.mark.parametrize("scale", [Fraction(3, 2), Fraction(2**40, 3), Fraction(2**200)])
def test_the_integers_do_not_depend_on_the_first_precision(d: int, scale: Fraction) -> None:
    # One bit of each uniform settles nothing, and half of the intervals touch zero, where the logarithm ends.
    precise, tiny, odd = (Stream.insecure_from_seed(f"bits {d}") for _ in range(3))
    expected = [knorm_integers(d, scale, precise, bits=256) for _ in range(25)]
    assert [knorm_integers(d, scale, tiny, bits=1) for _ in range(25)] == expected
    assert [knorm_integers(d, scale, odd, bits=8) for _ in range(25)] == expected
    other = Stream.insecure_from_seed(f"other bits {d}")
    assert [knorm_integers(d, scale, other) for _ in range(25)] != expected


def test_every_call_is_a_fresh_draw() -> None:
    rng = Stream.insecure_from_seed("fresh")
    assert len({tuple(knorm_integers(3, SCALE, rng)) for _ in range(200)}) == 200


@pytest.mark.parametrize("modulus", [5, 64])
def test_all_residues_occur(modulus: int) -> None:
    n = 4_000
    rng = Stream.insecure_from_seed("residues")
    scale = Fraction(2**70)
    noise = [z for _ in range(n // 2) for z in knorm_integers(2, scale, rng)]

    def fits(values: list[int]) -> float:
        counts = Counter(z % modulus for z in values)
        return float(scipy.stats.chisquare([counts[k] for k in range(modulus)]).pvalue)

    assert fits(noise) > ACCEPT
    # Broken twin: integer noise multiplied afterwards, which publishes the residues of the hidden sum.
    assert fits([modulus * z for z in noise]) < REJECT
    if modulus == 64:  # and a float sampler, whose low bits are all zero
        assert fits([int(y) for y in np.random.default_rng(5).laplace(0, 2.0**70, n)]) < REJECT


def test_parameters_out_of_range_are_refused() -> None:
    rng = Stream.insecure_from_seed("refused")
    for arguments in ((0, Fraction(1)), (1, Fraction(0)), (1, Fraction(-1))):
        with pytest.raises(ValueError, match="positive"):
            knorm_integers(*arguments, rng)
    with pytest.raises(ValueError, match="positive"):
        knorm_integers(1, Fraction(1), rng, bits=0)
