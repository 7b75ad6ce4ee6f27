"""Public-key operations of a run: counted by watching every call into the library, and priced one by one."""

from __future__ import annotations

import cProfile
import pstats
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeVar

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from smc_dp.bench.apart import Measured, answer
from smc_dp.bench.clocks import price
from smc_dp.bench.whole_run import whole_run

T = TypeVar("T")
# Operation -> what its calls are called by a profiler: all words of a line, for each line that counts.
CALLS: Mapping[str, tuple[tuple[str, ...], ...]] = MappingProxyType(
    {
        "x25519": (("'exchange'", "X25519PrivateKey"),),
        "x25519_key": (("x25519.from_private_bytes",), ("x25519.generate_key",)),
        "sign": (("'sign'", "Ed25519PrivateKey"),),
        "verify": (("'verify'", "Ed25519PublicKey"),),
        "ed25519_key": (("ed25519.from_private_bytes",), ("ed25519.generate_key",)),
    }
)
_TRIES = 400
_LETTER = bytes(200)


def counted(work: Callable[[], T]) -> tuple[Mapping[str, int], T]:
    """How often the work makes each operation, and what comes of it; it takes longer while it is watched."""
    profile = cProfile.Profile()
    result = profile.runcall(work)
    calls: Mapping[tuple[str, int, str], tuple[int, ...]] = pstats.Stats(profile).stats  # type: ignore[attr-defined]
    found = {
        operation: sum(
            count
            for (_, _, name), (count, *_) in calls.items()
            if any(all(word in name for word in words) for words in lines)
        )
        for operation, lines in CALLS.items()
    }
    return found, result


def operation_prices(tries: int = _TRIES) -> Mapping[str, float]:
    """Processor seconds of each operation: of an agreement and a signature without making the key, which is apart."""
    one, other = X25519PrivateKey.generate(), X25519PrivateKey.generate().public_key()
    signer = Ed25519PrivateKey.generate()
    secrets = one.private_bytes_raw(), signer.private_bytes_raw()
    verifier, signature = signer.public_key(), signer.sign(_LETTER)
    return {
        "x25519": price(lambda _: one.exchange(other), tries),
        "x25519_key": price(lambda _: X25519PrivateKey.from_private_bytes(secrets[0]), tries),
        "sign": price(lambda _: signer.sign(_LETTER), tries),
        "verify": price(lambda _: verifier.verify(signature, _LETTER), tries),
        "ed25519_key": price(lambda _: Ed25519PrivateKey.from_private_bytes(secrets[1]), tries),
    }


def priced(counts: Mapping[str, int], prices: Mapping[str, float]) -> float:
    """Counts times prices."""
    return sum(count * prices[operation] for operation, count in counts.items())


def over_operations(protocol: str, parties: int, dimension: int, **settings: int) -> Measured:
    """A run's seconds and those of its public-key operations; the run is made twice, and counted the second time."""
    prices = operation_prices()
    run = whole_run(protocol, parties, dimension, **settings)
    counts, _ = counted(lambda: whole_run(protocol, parties, dimension, **settings))
    return {
        **run,
        **{f"count_{name}": float(count) for name, count in counts.items()},
        **{f"price_{name}": value for name, value in prices.items()},
        "operations_seconds": priced(counts, prices),
    }


if __name__ == "__main__":
    answer(over_operations)
