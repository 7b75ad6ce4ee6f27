"""Releases at a fixed seed, to the last bit: whoever changes them breaks runs that were released and has to say so."""

from __future__ import annotations

import hashlib
from fractions import Fraction

import numpy as np
import pytest

from protocols.arithmetic.rng import Stream
from smc_dp.core.arrays import into_ball
from smc_dp.data.federation import Federation, Rows
from smc_dp.methods.gradients.gradient_descent import GradientDescent
from smc_dp.methods.gradients.newton import Newton
from smc_dp.privacy.target import Target

DIGESTS = {
    ("newton", 2, False): "05a27eacfa2958e7",
    ("newton", 2, True): "0e2b7a0c239624dc",
    ("newton", 3, False): "d5b9575cfc31ae1f",
    ("newton", 3, True): "deaefcc837e0496e",
    ("gd", 2, False): "5a759bcc13a83ac7",
    ("gd", 2, True): "ea6f061d320319ec",
    ("gd", 3, False): "cea314d453aa4e74",
    ("gd", 3, True): "2df38a45aa37f75a",
}


@pytest.mark.parametrize(("method", "k", "weighted"), list(DIGESTS))
def test_a_release_has_the_bits_that_it_had(method: str, k: int, weighted: bool) -> None:
    rng, parties = np.random.default_rng(7), []
    for _ in range(3):
        X, y = into_ball(rng.normal(size=(200, 4)), 2.0), rng.integers(k, size=200)
        parties.append(Rows(X, y, rng.uniform(size=200) if weighted else None))
    federation = Federation(tuple(parties), k)
    made = Newton() if method == "newton" else GradientDescent(rows=600)
    target = Target(Fraction(1), noise="ddg", delta=Fraction(1, 10**5))
    W = made.train(federation).release(target, Stream.insecure_from_seed("two")).model.W
    integers = np.rint(np.ldexp(W, 20)).astype("<i8")
    assert hashlib.sha256(integers.tobytes()).hexdigest()[:16] == DIGESTS[method, k, weighted]
