"""Gamma variables: their law, that they are rounded up and by how little, and that precision changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import count
from typing import Any

import pytest
import scipy.stats
from mpmath import mp, mpf
from support.repetitions import with_slow

from protocols.arithmetic.rng import KEY_BYTES, Stream
from smc_dp.privacy.gamma import MANTISSA_BITS, gamma_above

ACCEPT, REJECT = 1e-6, 1e-12
SCALE = Fraction(3, 7)
DRAWS = 1500
SHAPES = [Fraction(1, 100), Fraction(1, 2), Fraction(5, 6), Fraction(1), Fraction(7, 3), Fraction(125, 6)]


@cache
def draws(shape: Fraction) -> tuple[Fraction, ...]:
    rng = Stream.insecure_from_seed(f"gamma {shape}")
    return tuple(gamma_above(shape, SCALE, rng) for _ in range(DRAWS))


def fits(values: Any, shape: float) -> float:
    return float(
        scipy.stats.kstest([float(v) for v in values], scipy.stats.gamma(shape, scale=float(SCALE)).cdf).pvalue
    )


@pytest.mark.parametrize("shape", with_slow(SHAPES, SHAPES[1], SHAPES[4], SHAPES[5]))
def test_what_is_drawn_has_the_law(shape: Fraction) -> None:
    assert fits(draws(shape), float(shape)) > ACCEPT
    assert fits(draws(shape), float(shape * Fraction(5, 3))) < REJECT  # the shape for fewer parties
    if shape > Fraction(1, 10):  # below, the logarithm varies by hundreds, and nobody sees a factor of 2
        assert fits([2 * v for v in draws(shape)], float(shape)) < REJECT


@pytest.mark.parametrize("shape", [*SHAPES, Fraction(1, 400)])
def test_the_number_does_not_depend_on_the_first_precision(shape: Fraction) -> None:
    def first(bits: int) -> list[Fraction]:
        rng = Stream.insecure_from_seed(f"gamma {shape}")
        return [gamma_above(shape, SCALE, rng, bits=bits) for _ in range(30)]

    assert first(1) == first(8) == first(128) == first(256)


def read(draw: Stream, uniforms: int, of: int = 5) -> list[Any]:
    """Uniforms of 320 bits, read from their streams without the code that is tested."""
    words = [draw.fork(f"word {k}").bytes(8 * uniforms) for k in range(of)]
    whole = [b"".join(word[8 * i : 8 * i + 8] for word in words) for i in range(uniforms)]
    return [mpf(int.from_bytes(octets, "big")) / mpf(2) ** (64 * of) for octets in whole]


def by_mpmath(shape: Fraction, rng: Stream) -> Any:
    """The true value, to 90 digits."""
    draw = Stream(rng.bytes(KEY_BYTES), insecure=True)
    whole, f = int(shape), mpf(shape.numerator) / shape.denominator - int(shape)
    total = mpf(0)
    *exponentials, last = read(draw.fork("exponentials"), whole + (f > 0))
    if f > 0:
        for number in count():
            u, v = read(draw.fork(f"trial {number}"), 2)
            x, y = u ** (1 / f), v ** (1 / (1 - f))
            if x + y <= 1:
                break
        total -= x / (x + y) * mp.log(last)
    else:
        exponentials.append(last)
    return (total - mp.fsum(mp.log(u) for u in exponentials)) * SCALE.numerator / SCALE.denominator


def rounded_down(value: Fraction) -> Fraction:
    return value / (1 + Fraction(1, 1 << (MANTISSA_BITS - 1)))


def to_float(value: Fraction) -> Fraction:
    return Fraction(float(value))


@pytest.mark.parametrize("shape", [Fraction(1, 20), Fraction(5, 6), Fraction(3), Fraction(7, 3)])
def test_the_true_value_is_rounded_up_and_hardly(shape: Fraction) -> None:
    def wrong(change: Callable[[Fraction], Fraction]) -> int:
        rng, found = Stream.insecure_from_seed(f"gamma {shape}"), 0
        for value in map(change, draws(shape)[:40]):
            true, v = by_mpmath(shape, rng), mpf(value.numerator) / value.denominator
            found += not true <= v <= true * (1 + mpf(2) ** (1 - MANTISSA_BITS))
        return found

    with mp.workdps(90):
        assert wrong(lambda value: value) == 0
        assert wrong(rounded_down) == 40
        assert wrong(to_float) > 30
    for value in draws(shape)[:40]:
        odd = value.numerator // (value.numerator & -value.numerator)
        assert odd.bit_length() <= MANTISSA_BITS
        assert value.denominator & (value.denominator - 1) == 0


def test_every_call_is_a_fresh_draw_and_one_seed_gives_one_number() -> None:
    assert len(set(draws(Fraction(1, 2)))) == DRAWS
    again = gamma_above(Fraction(1, 2), SCALE, Stream.insecure_from_seed("gamma 1/2"))
    assert again == draws(Fraction(1, 2))[0]


def test_parameters_out_of_range_are_refused() -> None:
    rng = Stream.insecure_from_seed("refused")
    for shape, scale, bits in ((0, 1, 8), (1, 0, 8), (1, 1, 0)):
        with pytest.raises(ValueError, match="positive"):
            gamma_above(Fraction(shape), Fraction(scale), rng, bits=bits)
