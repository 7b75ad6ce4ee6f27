"""What the port is said to do is what it does, and its cost is the sum over that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import phe
import pytest

from protocols.arithmetic.rng import Stream
from protocols.pathak2010.parameters import Parameters
from smc_dp.aggregation import SumWithSmallestNoise
from smc_dp.bench import port
from smc_dp.bench.port import PortCounts, PortPrices, operations
from smc_dp.bench.protocol import made_up

K, D, BITS = 5, 3, 512
DONE = {
    "encrypt": (phe.PaillierPublicKey, "encrypt"),
    "decrypt": (phe.PaillierPrivateKey, "decrypt"),
    "add": (phe.EncryptedNumber, "__add__"),
    "scale": (phe.EncryptedNumber, "__mul__"),
}


def watched(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Counts what the port does while it runs."""
    found: Counter[str] = Counter()

    def watch(owner: Any, name: str, what: str, often: Callable[..., int] = lambda *given: 1) -> None:
        real = getattr(owner, name)

        def told(*given: Any, **more: Any) -> Any:
            found[what] += often(*given)
            return real(*given, **more)

        monkeypatch.setattr(owner, name, told)

    for what, (owner, name) in DONE.items():
        watch(owner, name, what)
    watch(port, "refreshed", "obfuscate")
    watch(port, "less", "compare")
    watch(port, "_split", "share", lambda x, count, *rest: len(x) * count)
    return found


@pytest.mark.parametrize("comparison", [port.ALL_PAIRS, port.TOURNAMENT])
def test_the_counts_are_those_of_the_port(comparison: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = Stream.insecure_from_seed(comparison)
    given = made_up(K, D, rng)
    p = Parameters(tuple(f"P{j}" for j in range(K)), D, BITS, comparison=comparison)
    found = watched(monkeypatch)
    seconds, total = port.run_port(given, p, rng)
    assert found == operations(K, D, comparison).as_dict()
    assert found != operations(K, D + 1, comparison).as_dict()
    assert total == p.weights.vector(SumWithSmallestNoise().compute(given, rng))
    assert set(seconds) == {"stage1", "stage2", "stage3"}


def test_the_counts_at_other_sizes_follow() -> None:
    assert operations(50, 124) == PortCounts(324, 224, 6250, 6200, 6200, 1225, 322_524)
    assert operations(50, 124, port.TOURNAMENT).compare == 49


def test_units_times_counts() -> None:
    prices = PortPrices(1, 10, 100, 1000, 10_000, 100_000, 1_000_000)
    assert prices.of(PortCounts(1, 2, 3, 4, 5, 6, 7)) == 7_654_321
    measured = port.prices(Parameters(("P1", "P2"), D, BITS), Stream.insecure_from_seed("prices"), tries=2)
    assert all(price > 0 for price in measured.as_dict().values())
    assert measured.encrypt > measured.add
