"""A whole secure sum against the public-key operations in it, which no implementation could do without."""

from __future__ import annotations

import cProfile
import pstats
from typing import Any

import pytest
from benchmarks.conftest import Compare
from benchmarks.timing import price, timed
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from protocols import secure_sum
from protocols.arithmetic.rng import Stream
from protocols.crypto.identity import verify
from protocols.secure_sum.parameters import Block, Parameters
from smc_dp.methods.functionality import Addend, SumWithShares
from smc_dp.run.protocols.cost import Outcome
from smc_dp.run.protocols.execution import open_session, run_session

K, DIMENSION, LETTER, TRIES = 100, 1000, bytes(200), 200
# Operation -> all words of what a profiler calls it.
CALLS = {
    "x25519": ("'exchange'", "X25519PrivateKey"),
    "x25519 key": ("x25519.from_private_bytes",),
    "sign": ("'sign'", "Ed25519PrivateKey"),
    "verify": ("_sodium.crypto_sign_open",),
    "ed25519 key": ("ed25519.from_private_bytes",),
}


@pytest.mark.parametrize("dropouts", [0, 5])
def test_a_sum_against_its_public_key_operations(dropouts: int, compare: Compare) -> None:
    prices = operation_prices()
    seconds, _ = timed(lambda: run(dropouts))
    profile = cProfile.Profile()
    outcome, wanted = profile.runcall(run, dropouts)
    assert list(outcome.value) == wanted
    calls: Any = pstats.Stats(profile).stats  # type: ignore[attr-defined]
    counts = {
        kind: sum(count for (_, _, name), (count, *_) in calls.items() if all(word in name for word in words))
        for kind, words in CALLS.items()
    }
    assert counts["x25519"] >= K * (K - 1)
    least = sum(prices[kind] * count for kind, count in counts.items())
    compare(f"secure sum over its public-key operations, K = {K}, D = {dropouts}", seconds, least, 0.1)


def run(dropouts: int) -> tuple[Outcome, list[int]]:
    """Return the outcome of a secure sum without noise, and the sum that it is to have."""
    rng = Stream.from_system()
    p = Parameters(tuple(f"P{j}" for j in range(K)), 0, dropouts, ((Block(DIMENSION, "none"),),))
    given = [Addend(tuple(rng.bits(42) for _ in range(DIMENSION)), (0,) * DIMENSION) for _ in range(K)]
    outcome = run_session(SumWithShares(DIMENSION), given, open_session(secure_sum.PROGRAM, p, rng), rng=rng)
    return outcome, [sum(column) for column in zip(*(one.numbers for one in given), strict=True)]


def operation_prices() -> dict[str, float]:
    """Return processor seconds of each operation, without making the key, which is apart."""
    one, other, signer = (
        X25519PrivateKey.generate(),
        X25519PrivateKey.generate().public_key(),
        Ed25519PrivateKey.generate(),
    )
    secret, seed = one.private_bytes_raw(), signer.private_bytes_raw()
    public, signature = signer.public_key().public_bytes_raw(), signer.sign(LETTER)
    return {
        "x25519": price(lambda: one.exchange(other), TRIES),
        "x25519 key": price(lambda: X25519PrivateKey.from_private_bytes(secret), TRIES),
        "sign": price(lambda: signer.sign(LETTER), TRIES),
        "verify": price(lambda: verify(public, LETTER, signature), TRIES),
        "ed25519 key": price(lambda: Ed25519PrivateKey.from_private_bytes(seed), TRIES),
    }
