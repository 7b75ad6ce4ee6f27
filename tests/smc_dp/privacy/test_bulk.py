"""Many discrete Gaussians at once: their law, the error that is claimed for floats, and what balls decide."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
import scipy.stats
from mpmath import mp, mpf
from support.repetitions import with_slow

from protocols.arithmetic.rng import Stream
from smc_dp.privacy import bulk
from smc_dp.privacy.bulk import (
    ACCEPTANCE_MARGIN,
    FEWEST_AT_ONCE,
    LARGEST_VARIANCE,
    acceptance_probability,
    decide_acceptance,
    discrete_gaussians,
)
from smc_dp.privacy.discrete import discrete_gaussian

ACCEPT, REJECT = 1e-6, 1e-12
SMALL = (Fraction(1), Fraction(5, 4), Fraction(18), Fraction(61, 3), Fraction(16), Fraction(400))
LARGE = (Fraction(2**40 + 1, 3), Fraction(2**66), Fraction(2**72 + 7, 5), Fraction(LARGEST_VARIANCE))


def chi_square(samples: Sequence[int], variance: float) -> float:
    """Cells of expected count >= 10 around zero, one on each side for all beyond: a missing sign shows as well."""
    n, reach = len(samples), math.ceil(40 * math.sqrt(variance)) + 2
    places = np.arange(-reach, reach + 1)
    pmf = np.exp(-(places**2) / (2 * variance))
    expected = n * pmf / pmf.sum()
    few = int(np.argmax(expected >= 10))
    cells = np.clip(np.asarray(samples) + reach, few, 2 * reach - few) - few
    inside = expected[few : 2 * reach - few + 1].copy()
    inside[0], inside[-1] = expected[: few + 1].sum(), expected[2 * reach - few :].sum()
    observed = np.bincount(cells, minlength=len(inside))
    return float(scipy.stats.chisquare(observed, inside * n / inside.sum()).pvalue)


@pytest.mark.parametrize("variance", SMALL, ids=str)
def test_small_ones_have_their_law(variance: Fraction) -> None:
    found = discrete_gaussians(variance, 100_000, Stream.insecure_from_seed(f"bulk {variance}"))
    assert len(found) == 100_000
    assert all(type(y) is int for y in found[:100])
    assert chi_square(found, float(variance)) > ACCEPT
    for factor in (0.95, 1.05):  # twins
        assert chi_square(found, float(variance) * factor**2) < REJECT
    assert chi_square([abs(y) if i % 20 == 0 else y for i, y in enumerate(found)], float(variance)) < REJECT


@pytest.mark.parametrize("variance", with_slow(LARGE, *LARGE[2:]), ids=str)
def test_large_ones_have_their_law_to_the_last_bit(variance: Fraction) -> None:
    found = discrete_gaussians(variance, 50_000, Stream.insecure_from_seed(f"bulk {variance}"))
    scaled = np.array(found, dtype=float) / math.sqrt(variance)

    def fits(values: np.ndarray) -> float:
        squares = scipy.stats.chi2(len(values))
        total = float((values**2).sum())
        normal = scipy.stats.kstest(values, "norm").pvalue
        return float(min(normal, 2 * squares.cdf(total), 2 * squares.sf(total)))

    assert fits(scaled) > ACCEPT
    assert min(fits(scaled * 1.05), fits(scaled * 0.95), fits(np.round(scaled))) < REJECT

    def low_bits(values: Sequence[int]) -> float:
        return float(scipy.stats.chisquare(np.bincount([y % 64 for y in values], minlength=64)).pvalue)

    assert low_bits(found) > ACCEPT
    floats = [int(x * math.sqrt(variance)) for x in np.random.default_rng(3).standard_normal(50_000)]
    assert low_bits(floats) < REJECT or variance < 2**100  # twin: floats, where they are too short
    beside = np.corrcoef(scaled[:-1], scaled[1:])[0, 1]
    assert abs(beside) < 5 / math.sqrt(50_000)


def test_neighbours_in_one_draw_have_nothing_to_do_with_each_other() -> None:
    """The stop in the middle of what is proposed favours nobody: first, last and all places alike."""
    rng = Stream.insecure_from_seed("places")
    draws = np.array([discrete_gaussians(Fraction(20), FEWEST_AT_ONCE, rng) for _ in range(4000)])
    for place in (0, 1, FEWEST_AT_ONCE - 1):
        assert chi_square(draws[:, place].tolist(), 20) > ACCEPT
    assert chi_square((draws[:, 0] + draws[:, -1]).tolist(), 40) > ACCEPT
    assert chi_square((draws[:, 0] + draws[:, 0]).tolist(), 40) < REJECT


def test_floats_are_as_near_as_is_claimed() -> None:
    """p in 60 digits at 2,000 places, near the edges of the theorem too; a twin in single precision is not."""
    coins, worst, single = np.random.default_rng(1), 0.0, 0.0
    with mp.workdps(60):
        for variance in (Fraction(1, 50), Fraction(18), Fraction(2**70 + 1, 3), Fraction(LARGEST_VARIANCE)):
            t = math.isqrt(int(variance)) + 1
            k = coins.integers(0, 14, 500)
            k[:20] = np.arange(44, 64)
            y = [int(a) * t + int(b) for a, b in zip(k, coins.integers(0, t, 500), strict=True)]
            found = acceptance_probability(np.array(y, dtype=np.int64), 2.0**k, variance)
            for size, exponent, float_p in zip(y, k, found, strict=True):
                v = mpf(variance.numerator) / variance.denominator
                p = mpf(13) / 16 * mpf(2) ** int(exponent) * mp.exp(-(mpf(size) ** 2) / (2 * v))
                assert p < 1
                worst = max(worst, float(abs(p - mpf(float(float_p)))))
                single = max(single, float(abs(p - mpf(float(np.float32(float_p))))))
    assert worst < 2.0**-38
    assert ACCEPTANCE_MARGIN >= 2.0**-38 + 2.0**-53
    assert single > ACCEPTANCE_MARGIN


class Tape(Stream):
    """A stream whose first bytes are given."""

    def __init__(self, first: bytes) -> None:
        super().__init__(bytes(32), insecure=True)
        self._buffer = first


@pytest.mark.parametrize(("y", "k"), [(0, 0), (5, 1), (13, 3)])
def test_balls_decide_by_the_bits_that_follow(y: int, k: int) -> None:
    """Right below and right above p, which 53 bits cannot tell apart; the decision is that of p in 200 digits."""
    variance = Fraction(61, 3)
    with mp.workdps(200):
        p = mpf(13) / 16 * mpf(2) ** k * mp.exp(-(mpf(y) ** 2) * 3 / (2 * 61))
        bits = int(mp.floor(p * mpf(2) ** (53 + 128)))
    read, rest = bits >> 128, bits & ((1 << 128) - 1)
    exact = y == 0  # then p = 13/16 ends after four bits, and the bits of p itself are not below it
    below, above = (rest - 1) % (1 << 128), rest + 1
    assert decide_acceptance(read - (1 if exact else 0), y, k, variance, Tape(below.to_bytes(16, "big")))
    assert not decide_acceptance(read, y, k, variance, Tape(above.to_bytes(16, "big")))
    assert decide_acceptance(0, y, k, variance, Tape(b""))
    assert not decide_acceptance((1 << 53) - 1, y, k, variance, Tape(b""))


def test_what_balls_decide_has_the_law_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """All by balls, as if floats knew nothing; and the twin, in which whatever floats leave open is kept."""
    monkeypatch.setattr(bulk, "ACCEPTANCE_MARGIN", 1.0)
    rng = Stream.insecure_from_seed("balls")
    assert chi_square(discrete_gaussians(Fraction(18), 4000, rng), 18) > ACCEPT
    monkeypatch.setattr(bulk, "ACCEPTANCE_MARGIN", 0.2)
    monkeypatch.setattr(bulk, "decide_acceptance", lambda *_: True)
    assert chi_square(discrete_gaussians(Fraction(18), 4000, rng), 18) < REJECT


def words(*proposals: tuple[int, int, int], t: int) -> bytes:
    """The bytes of proposals (first word, j, 53 bits), as many as are read at once for FEW numbers of variance t^2."""
    bits = (t - 1).bit_length()
    many = (2 * FEWEST_AT_ONCE << bits) // t + 64
    filled = [*proposals, *[(0, 0, 0)] * (many - len(proposals))]
    columns = zip(*((first, j << (64 - bits), u << 11) for first, j, u in filled), strict=True)
    return b"".join(w.to_bytes(8, "little") for column in columns for w in column)


@pytest.mark.parametrize(("part", "kept"), [("0.5", True), ("2", False)])
def test_a_word_of_ones_goes_on_in_the_next(part: str, kept: bool) -> None:
    """k = 63 and two more ones: kept only where the uniform number is below that tiny p. Nothing is cut off."""
    variance, t, known = Fraction(2**100), (1 << 50) + 1, 53 + 60 * 64
    y = 65 * t + 5
    with mp.workdps(1000):
        p = mpf(13) / 16 * mpf(2) ** 65 * mp.exp(-(mpf(y) ** 2) / mpf(2) ** 101)
        uniform = int(mp.floor(p * mpf(part) * mpf(2) ** known)).to_bytes(60 * 8, "big")
    # A one each from the first bit of two bytes, a zero from that of the third, then the bits of the uniform number.
    proposed = words(((1 << 64) - 1, 5, 0), (0, 7, 1), (1, 0, 0), (1, 9, 1), t=t)
    found = discrete_gaussians(variance, FEWEST_AT_ONCE, Tape(proposed + b"\xff\xff\x7f" + uniform))
    others = [7, -9]  # minus zero is not kept
    assert found == [*([-y] if kept else []), *others, *[0] * (FEWEST_AT_ONCE - 2 - kept)]


def test_few_and_very_wide_ones_are_drawn_one_by_one() -> None:
    for variance, count in (
        (Fraction(50), FEWEST_AT_ONCE - 1),
        (Fraction(1, 3), FEWEST_AT_ONCE),
        (LARGEST_VARIANCE + Fraction(1, 2), FEWEST_AT_ONCE),
    ):
        again, rng = Stream.insecure_from_seed("few"), Stream.insecure_from_seed("few")
        assert discrete_gaussians(variance, count, rng) == [discrete_gaussian(variance, again) for _ in range(count)]
    assert discrete_gaussians(Fraction(50), 0, rng) == []
    with pytest.raises(ValueError, match="the variance is positive, got 0"):
        discrete_gaussians(Fraction(0), FEWEST_AT_ONCE, rng)
    same = [discrete_gaussians(Fraction(50), 5000, Stream.insecure_from_seed("same")) for _ in range(2)]
    assert same[0] == same[1]
