"""The rounded K-norm vector, exactly distributed: real numbers are only ever known as intervals.

Y has density proportional to e^(-|y|_2 / scale): its length is Gamma(d, scale) and its direction uniform
(Chaudhuri and Monteleoni, NIPS 2008). A float sampler would leave holes in the support, and holes tell
results apart (Mironov, CCS 2012). Here each uniform is an endless bit string of which a prefix is known, and
the vector is evaluated in rigorous ball arithmetic. When the ball of a coordinate does not settle its
rounding, more bits of the *same* uniforms are read. This ends with probability one, and returns precisely
round(Y).
"""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from protocols.arithmetic.rng import Stream
from smc_dp.privacy.lazy import Uniforms, evaluate_lazily, exact_ball


def knorm_integers(dimension: int, scale: Fraction, rng: Stream, *, bits: int = 128) -> list[int]:
    """Draw floor(Y + 1/2) for Y in R^dimension with density proportional to e^(-|y|_2/scale).

    bits: how many of each uniform are looked at first; it changes the time, never the integers.
    ValueError: dimension, scale or bits not positive.
    """
    if dimension < 1 or scale <= 0 or bits < 1:
        raise ValueError(f"dimension, scale and bits are positive, got {dimension}, {scale} and {bits}")
    # Each draw reads its own streams to an unforeseen depth, so it gets its own key.
    draw = rng.spawn()
    # One uniform for each exponential of the length; Box and Muller's method makes two normal numbers of each pair.
    uniforms = Uniforms(dimension + 2 * ((dimension + 1) // 2), draw)
    return evaluate_lazily(lambda known: _round(uniforms.balls(known), dimension, scale), bits)


def _round(uniforms: list[arb], dimension: int, scale: Fraction) -> list[int] | None:
    """Return the rounded vector, or None when the balls are too wide to tell."""
    product = arb(1)
    for u in uniforms[:dimension]:
        product *= u
    radius = -product.log()  # a sum of `dimension` standard exponentials
    gaussians: list[arb] = []
    for u, v in zip(uniforms[dimension::2], uniforms[dimension + 1 :: 2], strict=True):
        length = (-2 * u.log()).sqrt()  # Box and Muller
        sine, cosine = (2 * v).sin_cos_pi()
        gaussians += [length * cosine, length * sine]
    gaussians = gaussians[:dimension]
    norm = sum((g * g for g in gaussians), arb(0)).sqrt()
    stretch = exact_ball(scale) * radius / norm
    rounded = []
    for g in gaussians:
        z = (g * stretch + arb(0.5)).floor().unique_fmpz()
        if z is None:
            return None
        rounded.append(int(z))
    return rounded
