"""Gamma variables of any rational shape, drawn exactly and rounded up: a variance that is itself random.

For a whole shape n it is -ln(U_1 ... U_n). For a shape f between 0 and 1, Jöhnk's rejection: with X = U^(1/f) and
Y = V^(1/(1-f)), drawn until X + Y <= 1, the ratio X/(X+Y) has the distribution Beta(f, 1 - f), and times a further
-ln U it is Gamma(f). Both add up. Everything is decided in balls, as in `lazy`; what comes out is the true value
rounded up to a mantissa of 96 bits, never a float and never less.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import count

from flint import arb

from protocols.arithmetic.rng import Stream
from smc_dp.privacy.lazy import Uniforms, evaluate_lazily, exact_ball

MANTISSA_BITS = 96
"""Bits of a drawn number, which lies in [G, (1 + 2^-95) G], G being exactly distributed."""


def gamma_above(shape: Fraction, scale: Fraction, rng: Stream, *, bits: int = 128) -> Fraction:
    """Draw G from Gamma(shape, scale), rounded up to MANTISSA_BITS bits.

    bits: how many of each uniform are looked at first; it changes the time, never the number.
    ValueError: shape, scale or bits not positive.
    """
    if shape <= 0 or scale <= 0 or bits < 1:
        raise ValueError(f"shape, scale and bits are positive, got {shape}, {scale} and {bits}")
    draw = rng.spawn()
    whole, part = divmod(shape, 1)
    pair = _accepted(part, draw, bits) if part else None
    uniforms = Uniforms(int(whole) + (pair is not None), draw.fork("exponentials"))

    def rounded(known: int) -> Fraction | None:
        *balls, last = uniforms.balls(known)
        total = -last.log()  # of a single exponential
        if pair is not None:
            x, y = _powers(pair, part, known)
            total *= x / (x + y)
        product = arb(1)
        for u in balls:
            product *= u
        return _up((total - product.log()) * exact_ball(scale))

    return evaluate_lazily(rounded, bits)


def _accepted(part: Fraction, draw: Stream, bits: int) -> Uniforms:
    """Return the first pair of uniforms that Jöhnk's rejection lets pass; pi/4 of them do at least."""
    for number in count():
        pair = Uniforms(2, draw.fork(f"trial {number}"))
        if evaluate_lazily(partial(_passes, pair, part), bits):
            break
    return pair


def _passes(pair: Uniforms, part: Fraction, known: int) -> bool | None:
    x, y = _powers(pair, part, known)
    if x + y < 1:
        return True
    return False if x + y > 1 else None


def _powers(pair: Uniforms, part: Fraction, known: int) -> tuple[arb, arb]:
    u, v = pair.balls(known)
    return (u.log() / exact_ball(part)).exp(), (v.log() / exact_ball(1 - part)).exp()


def _up(ball: arb) -> Fraction | None:
    """Round every number of the ball up; None when the result is not one number."""
    if not (ball.is_finite() and ball > 0):
        return None
    low, high = (_rounded_up(end) for end in (ball.lower(), ball.upper()))
    return low if low == high else None


def _rounded_up(end: arb) -> Fraction:
    """Return the smallest number of MANTISSA_BITS bits not below this end of a ball."""
    mantissa, exponent = map(int, end.man_exp())
    surplus = max(0, mantissa.bit_length() - MANTISSA_BITS)
    shortened, exponent = -(-mantissa >> surplus), exponent + surplus
    return Fraction(shortened << max(0, exponent), 1 << max(0, -exponent))
