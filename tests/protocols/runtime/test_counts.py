"""What a run pays for, counted: signatures checked, agreements made, powers raised; none is taken from another role.

Seconds are not tested; `tests/benchmarks` measures them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from support.sessions import Setup, setup
from support.star import star

from protocols.arithmetic import modular
from protocols.crypto import admission, sealing
from protocols.runtime import channel
from protocols.runtime.actor import Actor
from protocols.runtime.envelope import HELLO


def counted(monkeypatch: pytest.MonkeyPatch, made: Setup) -> Counter[str]:
    """What is called how often in one run."""
    calls: Counter[str] = Counter()

    def counting(name: str, function: Callable[..., Any], weigh: Callable[..., bool] = lambda *_: True) -> Any:
        def call(*args: Any) -> Any:
            calls[name] += weigh(*args)
            return function(*args)

        return call

    monkeypatch.setattr(channel, "is_signed", counting("signatures", channel.is_signed))
    monkeypatch.setattr(sealing, "link_keys", counting("agreements", sealing.link_keys))
    monkeypatch.setattr(Actor, "deliver", counting("greetings", Actor.deliver, lambda _, e: e.kind == HELLO))
    run = made.simulate()
    calls["said"] = sum(e.kind == HELLO for e in run.transcript.envelopes)
    return calls


@pytest.mark.parametrize("K", [10, 200])
def test_a_star_greets_once_and_pays_for_its_own_links_only(monkeypatch: pytest.MonkeyPatch, K: int) -> None:
    """Each party checks Charlie's greeting and he all of theirs; nothing grows with the square."""
    calls = counted(monkeypatch, star(K))
    assert (calls["said"], calls["greetings"]) == (K + 1, 0)
    assert (calls["signatures"], calls["agreements"]) == (2 * K, 2 * K)


@pytest.mark.parametrize("K", [2, 5])
def test_the_curator_protocol_pays_once_for_each_end_of_each_link(monkeypatch: pytest.MonkeyPatch, K: int) -> None:
    calls = counted(monkeypatch, setup(K, 1))
    assert (calls["said"], calls["greetings"]) == (K + 1, 0)
    assert (calls["signatures"], calls["agreements"]) == (K * (K + 1), K * (K + 1))


def test_every_participant_admits_every_key_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """Full powers mod n: two batches for each of K + 1 readers of an announced key."""
    found: list[int] = []
    verify = admission.verify

    def admitting(key: Any, *rest: Any) -> Any:
        before = calls["powers"]
        fault = verify(key, *rest)
        found.append(calls["powers"] - before)
        return fault

    calls: Counter[str] = Counter()
    power = modular.power

    def raising(base: int, exponent: int, modulus: int) -> int:
        calls["powers"] += exponent == modulus
        return power(base, exponent, modulus)

    monkeypatch.setattr(modular, "power", raising)
    monkeypatch.setattr(admission, "verify", admitting)
    setup(4, 1).simulate()
    assert found == [admission.BATCHES] * 5
