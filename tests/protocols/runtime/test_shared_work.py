"""Verifications that the roles of a simulation share: computed once, asked and paid for by every role."""

from __future__ import annotations

from collections import Counter
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest
from support.sums import made, parameters

from protocols.arithmetic.rng import Stream
from protocols.crypto.identity import Identity
from protocols.curator import CURATOR_NAME
from protocols.runtime import channel, network, shared_work, simulate
from protocols.runtime import message as messages
from protocols.runtime.simulate import Run
from protocols.secure_sum.messages import MaskKeys

K, SECONDS = 5, 0.25


class Priced:
    """Verification in place of the real one's module, which takes so many seconds of a clock that stands otherwise."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.computed, self.real = 0.0, Counter[tuple[bytes, ...]](), shared_work.identity.verify
        monkeypatch.setattr(network, "time", SimpleNamespace(process_time=self.read))
        monkeypatch.setattr(shared_work, "identity", self)

    def read(self) -> float:
        return self.now

    def verify(self, *asked: bytes) -> bool:
        self.now += SECONDS
        self.computed[asked] += 1
        return self.real(*asked)


def run(dropouts: int) -> Run:
    t = 0 if dropouts else K - 1
    return made(parameters(K, t, dropouts, (3,), 64)).simulate(link="lan")


@pytest.mark.parametrize("dropouts", [0, 1])
def test_every_role_pays_for_what_was_computed_once(dropouts: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The virtual clock and the processor time of each role are those of a run in which each computes its own."""
    priced = Priced(monkeypatch)
    shared = run(dropouts)
    assert set(priced.computed.values()) == {1}
    once = priced.computed.total()
    with monkeypatch.context() as alone:
        alone.setattr(simulate, "sharing_work", lambda read, charge: nullcontext())
        own = run(dropouts)
    assert priced.computed.total() > 2 * once
    assert shared.clock.now == own.clock.now
    assert shared.clock.processor_seconds == own.clock.processor_seconds
    assert shared.clock.finished == own.clock.finished
    assert sum(sum(of.values()) for of in own.clock.processor_seconds.values()) > once * SECONDS


def test_every_role_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: Counter[str] = Counter()
    real = channel.Channel.greeting

    def greeting(self: Any, name: str) -> bytes:
        if name not in self.greetings:
            monkeypatch.setattr(channel, "is_signed", lambda *e: (asked.update([self.name]), True)[1])
        return real(self, name)

    monkeypatch.setattr(channel.Channel, "greeting", greeting)
    parties = parameters(K, K - 1, 0).parties
    run(0)
    assert asked == {**dict.fromkeys(parties, K + 1), CURATOR_NAME: K}  # he has no use for his own


def test_roles_hold_one_copy_of_each_greeting(monkeypatch: pytest.MonkeyPatch) -> None:
    """K roles with K greetings of K words each would be the cube of the parties."""
    decoded: list[Any] = []
    decode = messages.decode

    def decoding(kind: Any, *rest: Any) -> Any:
        read = decode(kind, *rest)
        decoded.extend([read] if kind is MaskKeys else [])
        return read

    monkeypatch.setattr(messages, "decode", decoding)
    run(1)
    assert len(decoded) == K
    with monkeypatch.context() as alone:
        alone.setattr(simulate, "sharing_work", lambda read, charge: nullcontext())
        run(1)
    assert len(decoded) == K + K * (K + 1)


def test_only_the_same_bytes_are_answered_from_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    signer, other = (Identity.generate(Stream.insecure_from_seed(name)) for name in ("one", "other"))
    signature, paid = signer.sign(b"yes"), list[float]()
    questions = [
        (signer.public, b"yes", signature),
        (signer.public, b"no", signature),
        (other.public, b"yes", signature),
        (signer.public, b"yes", bytes([signature[0] ^ 1]) + signature[1:]),
    ]
    priced = Priced(monkeypatch)
    with shared_work.sharing_work(priced.read, paid.append):
        for _ in range(3):
            assert [shared_work.verify(*asked) for asked in questions] == [True, False, False, False]
    assert priced.computed == dict.fromkeys(questions, 1)
    assert paid == [SECONDS] * 2 * len(questions)


def test_nothing_is_remembered_outside_of_a_simulation(monkeypatch: pytest.MonkeyPatch) -> None:
    signer = Identity.generate(Stream.insecure_from_seed("one"))
    asked = (signer.public, b"yes", signer.sign(b"yes"))
    with shared_work.sharing_work(lambda: 0.0, lambda seconds: None):
        assert shared_work.verify(*asked)
    priced = Priced(monkeypatch)
    assert all(shared_work.verify(*asked) for _ in range(3))
    assert priced.computed == {asked: 3}
