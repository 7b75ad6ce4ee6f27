"""Whoever carries mail during a run, and does with it what it likes, makes nobody look like a liar.

A few dozen relays are tried every day on a protocol without keys, and with `-m slow` more of them on one with keys.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeAlias

import pytest
from support.blaming import blaming
from support.sessions import Setup, setup
from support.toy_sum import toy

from protocols.arithmetic.rng import Stream
from protocols.errors import PeerError, ProtocolError
from protocols.runtime.envelope import Envelope

RELAYS, WITH_KEYS = 100, 60
Arrivals: TypeAlias = Iterable[tuple[str, Envelope]]


class Relay:
    """Carries all mail, and does something to envelope `at`; all that it does follows from the stream."""

    def __init__(self, names: tuple[str, ...], at: int, rng: Stream) -> None:
        self.names, self.at, self.rng = names, at, rng
        self.past: list[Envelope] = []
        self.kept: Envelope | None = None
        self.did = ""

    def __call__(self, n: int, e: Envelope) -> Arrivals:
        self.past.append(e)
        if n == self.at:
            ways = self._ways(e)
            self.did = list(ways)[self.rng.below(len(ways))]
            return ways[self.did]()
        late, self.kept = self.kept, None
        return [(e.to, e), *([(late.to, late)] if late else [])]

    def _ways(self, e: Envelope) -> dict[str, Callable[[], Arrivals]]:
        other, reader = self.past[self.rng.below(len(self.past))], self.names[self.rng.below(len(self.names))]
        turned = bytearray(e.body)
        turned[self.rng.below(len(turned))] ^= 1
        return {
            "again": lambda: [(e.to, e), (e.to, e)],
            "an earlier letter again": lambda: [(e.to, e), (other.to, other)],
            "an earlier letter in its place": lambda: [(other.to, other)],
            "to another reader": lambda: [(reader, e)],
            "addressed to another reader": lambda: [(reader, replace(e, to=reader))],
            "from another sender": lambda: [(e.to, replace(e, sender=reader))],
            "in another stage": lambda: [(e.to, replace(e, stage=other.stage + "x"))],
            "as another kind": lambda: [(e.to, replace(e, kind=other.kind + "x"))],
            "in another round": lambda: [(e.to, replace(e, round=e.round + 1 + self.rng.below(1 << 40)))],
            "with another number": lambda: [(e.to, replace(e, number=e.number + 1))],
            "with another chain": lambda: [(e.to, replace(e, prev=self.rng.bytes(32)))],
            "of another session": lambda: [(e.to, replace(e, session=self.rng.bytes(32)))],
            "turned": lambda: [(e.to, replace(e, body=bytes(turned)))],
            "shorter": lambda: [(e.to, replace(e, body=e.body[:-1]))],
            "longer": lambda: [(e.to, replace(e, body=e.body + b"\0"))],
            "with another body": lambda: [(e.to, replace(e, body=other.body + b"\0"))],
            "lost": lambda: [],
            "later": lambda: self._keep(e),
            "with a letter too many": lambda: [(e.to, e), (e.to, replace(e, number=e.number + 1, kind="Ready"))],
        }

    def _keep(self, e: Envelope) -> Arrivals:
        self.kept = e
        return []


def accusations(made: Setup, number: int, topology: str = "mesh") -> list[str]:
    """Whom a run with this relay names, in errors and notes."""
    names, rng = made.session.names, Stream.insecure_from_seed(f"relay {number}")
    relay = Relay(names, 1 + rng.below(len(names) * 6), rng)
    said, named = "", []
    try:
        run = made.simulate(tamper=relay, topology=topology, schedule=rng.fork("schedule"))
        notes = [note for of_one in run.notes.values() for note in of_one]
        named = [note.sender for note in notes if note.sender in names]
        said = "\n".join(str(note.rule) for note in notes)
    except PeerError as error:
        named = [error.culprit] if error.culprit in names or error.evidence else []
        said = str(error)
    except ProtocolError as error:
        said = str(error)
    return [f"{number}, {relay.did}: {x}" for x in (*named, *blaming(said, names))]


def test_whatever_a_relay_does_nobody_is_named() -> None:
    made = toy()
    assert [said for number in range(RELAYS) for said in accusations(made, number)] == []


@pytest.mark.slow
@pytest.mark.parametrize("topology", ["mesh", "star"])
def test_nor_with_keys_and_through_a_curator(topology: str) -> None:
    made = setup(3, 1)
    assert [said for number in range(WITH_KEYS) for said in accusations(made, number, topology)] == []
