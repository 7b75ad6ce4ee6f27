"""What a run pays for, counted: signatures checked, agreements made, powers raised; none is taken from another role.

Seconds are not tested; `tests/benchmarks` measures them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from support.parties import Parties
from support.sessions import Setup, names, setup, start

from protocols.arithmetic import modular
from protocols.crypto import admission, sealing
from protocols.curator import parties_and_curator
from protocols.runtime import channel
from protocols.runtime.actor import Actor
from protocols.runtime.endpoint import Endpoint
from protocols.runtime.envelope import HELLO
from protocols.runtime.message import CURATOR, PARTY, Message, message, public
from protocols.runtime.session import Program


@message("1", PARTY >> CURATOR)
class Up(Message):
    """A byte for the curator."""

    x: Annotated[int, public("byte")]


@message("2", CURATOR >> PARTY)
class Down(Message):
    """A byte for a party."""

    x: Annotated[int, public("byte")]


async def _tell(me: Endpoint) -> int:
    me.send(me.curator, Up(me.index % 256))
    return (await me.receive(me.curator, Down)).x


async def _hear(me: Endpoint) -> None:
    total = sum(up.x for up in await me.gather(me.parties, Up))
    me.broadcast(me.parties, Down(total % 256))


async def _party(me: Endpoint, p: Parties) -> int:
    return await me.stage(_tell)


async def _curator(me: Endpoint, p: Parties) -> None:
    await me.stage(_hear)


STAR = Program("star", 1, {PARTY: _party, CURATOR: _curator}, (Up, Down), (), Parties, participants=parties_and_curator)


def star(K: int) -> Setup:
    """Return a session of K parties and the curator."""
    p = Parties(names(K), {"byte": 1})
    return start(STAR, p, dict.fromkeys(STAR.participants(p), (p,)))


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
