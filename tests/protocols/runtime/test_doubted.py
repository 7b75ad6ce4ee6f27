"""A role that may doubt a sender goes on without it, whatever comes on that link; any other role refuses it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.sessions import start
from support.toy_sum import PROGRAM, Heard, Part, Sums, inputs

from protocols.arithmetic.ring import Vector
from protocols.errors import PeerError
from protocols.runtime import replay
from protocols.runtime.actor import Actor
from protocols.runtime.endpoint import Endpoint
from protocols.runtime.envelope import Envelope
from protocols.runtime.inbox import Absent
from protocols.runtime.message import PARTY
from tests.support.refusals import refused

NAMES, BAD = ("P1", "P2", "P3"), "P2"


async def _share(me: Endpoint, p: Sums, x: Vector) -> tuple[str, ...]:
    me.broadcast(me.others, Part(x))
    got = await me.collect_usable(me.others, Part, deadlines=1)
    me.broadcast(got, Heard(len(got)))
    await me.gather(got, Heard)
    return tuple(got)


async def _party(me: Endpoint, p: Sums, x: Vector) -> tuple[str, ...]:
    return await me.stage(_share, p, x, name="share")


DOUBTING = replace(
    PROGRAM,
    roles={PARTY: _party},
    doubted=(Part,),
    closed=lambda p, name, stage: tuple(other for other in p.parties if other != name),
)


class Scene:
    """P1 and P3 follow the protocol; P2 greets, and then sends what a test makes."""

    def __init__(self) -> None:
        p = Sums(NAMES)
        session, self.identities, seeds, given = start(DOUBTING, p, inputs(p, lambda name, bits: len(name)))
        self.board: dict[str, Envelope] = {}
        self.at = {n: Actor(session, n, self.identities[n], seeds[n], given[n], self.board) for n in NAMES}
        self.greeted = {name: actor.advance()[0] for name, actor in self.at.items()}

    def greet(self, *names: str) -> None:
        self.board.update({name: self.greeted[name] for name in names})

    def sealed(self, kind: str, *, opens: bool = True) -> Envelope:
        made = self.at[BAD].channel.seal("P1", kind, "share", bytes(1))
        return made if opens else replace(made, body=bytes(len(made.body)))

    def go_on(self) -> None:
        """Let both go on until they wait."""
        mail = True
        while mail:
            mail = [e for name in ("P1", "P3") for e in self.at[name].advance() if e.to in ("P1", "P3")]
            for envelope in mail:
                self.at[envelope.to].deliver(envelope)

    def waiting(self) -> Scene:
        self.greet(*NAMES)
        self.go_on()
        return self


@pytest.mark.parametrize(("kind", "opens"), [("Heard", True), ("Part", False)])
def test_what_cannot_be_read_counts_as_absent(kind: str, opens: bool) -> None:
    s = Scene().waiting()
    assert s.at["P1"].awaited == (BAD,)
    s.at["P1"].deliver(s.sealed(kind, opens=opens))
    s.at["P3"].miss(BAD)
    s.go_on()
    assert {name: s.at[name].result for name in ("P1", "P3")} == {"P1": ("P3",), "P3": ("P1",)}
    assert s.at["P1"].notes


def test_nothing_more_of_a_doubted_sender_is_opened() -> None:
    """Neither in the open stage, for which the role still waits for others, nor once the link is closed."""
    s = Scene().waiting()
    p1 = s.at["P1"]
    p1.deliver(s.sealed("Part", opens=False))
    s.at["P3"].miss(BAD)
    p1.deliver(s.sealed("Part"))
    assert p1.inbox.log == [x for x in p1.inbox.log if x.sender != BAD]
    p1.advance()
    p1.deliver(s.sealed("Heard", opens=False))
    assert p1.marks == {Absent(BAD, "Part", "share")}
    s = Scene().waiting()
    s.at["P1"].miss(BAD)
    s.at["P3"].miss(BAD)
    s.go_on()
    assert s.at["P1"].end == "done"
    s.at["P1"].deliver(s.sealed("Part"))
    assert [note.rule.code for note in s.at["P1"].notes] == ["mail.too_late"]


def test_a_resumed_role_has_consumed_as_many_messages() -> None:
    """What a driver counts as progress: else a restart would begin its deadline anew."""
    s = Scene().waiting()
    for name in ("P1", "P3"):
        s.at[name].miss(BAD)
    s.go_on()
    role = s.at["P1"]
    again = replay.resume(role.session, replay.save(role), s.identities["P1"], 1, s.board)
    assert again.inbox.consumed == role.inbox.consumed == 2


def test_before_all_have_greeted_a_doubted_kind_that_does_not_open_is_dropped_and_any_other_refused() -> None:
    s = Scene()
    s.greet("P1", BAD)
    s.at["P1"].deliver(s.sealed("Part", opens=False))
    assert [note.number for note in s.at["P1"].notes] == [None]
    with refused("link.not_the_next", error=PeerError):
        s.at["P1"].deliver(s.sealed("Heard", opens=False))
