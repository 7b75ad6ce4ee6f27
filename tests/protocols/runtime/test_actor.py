"""One participant in motion, moved by hand."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest
from broken import runtime_roles
from support.sessions import Setup, setup, with_roles

from protocols.errors import LocalError, PeerError
from protocols.pathak2010 import PROGRAM, stage1
from protocols.runtime import replay
from protocols.runtime.actor import Actor, actors
from protocols.runtime.bulletin_board import BulletinBoard
from protocols.runtime.envelope import HELLO, Envelope
from protocols.runtime.session import PUBLIC_NAME
from tests.support.refusals import refused


class Table(NamedTuple):
    """All actors of a session, and the board that they look at."""

    board: BulletinBoard
    roles: dict[str, Actor]

    def advance(self, *names: str) -> list[Envelope]:
        """Let these run, or all: what they sent to each other. What is public is posted."""
        sent = [e for name in names or self.roles for e in self.roles[name].advance()]
        for envelope in sent:
            if envelope.is_public:
                self.board.post(envelope)
        return [e for e in sent if not e.is_public]

    def carry(self, *, until: str | None = None, but: tuple[str, str, str] | None = None) -> list[Envelope]:
        """Carry mail until nobody sends, or until a message of this kind comes up; what is left of the last round.

        `but`: the kind, sender and addressee of what is lost.
        """
        under_way = self.advance() + self.advance()  # the greetings come first
        while under_way and not any(e.kind == until for e in under_way):
            for envelope in under_way:
                if (envelope.kind, envelope.sender, envelope.to) != but:
                    self.roles[envelope.to].deliver(envelope)
            under_way = self.advance()
        return under_way


def all_of(made: Setup) -> Table:
    board = BulletinBoard(made.session)
    return Table(board, actors(*made, board.greetings))


def test_greetings_come_first_and_once_and_are_public() -> None:
    """One for everybody, however many there are; nobody writes to anybody before all its peers have greeted."""
    table = all_of(setup(3, 1))
    board, roles = table
    first = roles["P1"].advance()
    assert [(e.kind, e.to, e.number) for e in first] == [(HELLO, PUBLIC_NAME, 0)]
    assert roles["P1"].advance() == []
    assert roles["P1"].waiting == f"{HELLO} from P2, P3, charlie"
    board.post(first[0])
    board.post(*roles["P3"].advance())
    assert roles["P1"].advance() == []
    assert roles["P1"].waiting == f"{HELLO} from P2, charlie"
    assert roles["P1"].awaited == ("P2", "charlie")
    board.post(*roles["P2"].advance())
    assert roles["P1"].advance() == []
    assert roles["P1"].awaited == ("charlie",)
    hello, *others = roles["charlie"].advance()  # he finds all others there, and begins
    assert {e.to for e in others} == {"P1", "P2", "P3"}
    board.post(hello)
    assert roles["P1"].waiting == "its turn"
    sent = roles["P1"].advance()
    assert [e.to for e in sent if not e.is_public] == ["charlie"]  # its key
    assert not {HELLO} & {e.kind for e in sent}
    for role in roles.values():
        role.close()


def test_waiting_says_what_from_whom_and_where() -> None:
    table = all_of(setup(3, 1))
    table.carry(until="Slot")
    roles = table.roles
    lines = Path(stage1.__file__).read_text(encoding="utf-8").splitlines()
    for name, role in roles.items():
        wanted = "Slot from P1, P2, P3" if name == "charlie" else "Blinded from charlie"
        where = re.fullmatch(rf"{wanted} at stage1\.py line (\d+)", role.waiting or "")
        assert where
        assert re.search("receive|gather", lines[int(where[1]) - 1])
    assert roles["charlie"].awaited == ("P1", "P2", "P3")
    for role in roles.values():
        role.close()


def test_done_release_and_nothing_more() -> None:
    table = all_of(setup(2, 1))
    roles = table.roles
    with refused("role.publishes_before_its_end", error=LocalError):
        roles["P1"].release()
    last = table.carry(until="Ready")
    with refused("role.publishes_before_its_end", error=LocalError):
        roles["P1"].release()
    for envelope in last:
        roles[envelope.to].deliver(envelope)
    table.carry()
    assert all(role.done and role.end == "done" and role.waiting is None for role in roles.values())
    assert all(role.awaited == () and role.why is None for role in roles.values())
    shares = [role.release() for role in roles.values()]
    assert [[e.kind for e in sent] for sent in shares] == [["PublishedShare"]] * 3
    assert [role.release() for role in roles.values()] == [[], [], []]  # once
    extra = roles["P2"].channel.seal("P1", "Ready", "stage3", b"\x80")
    with refused("message.not_wanted", error=PeerError) as caught:
        roles["P1"].deliver(extra)
    assert (caught.value.culprit, caught.value.evidence) == ("P2", (extra.number,))
    assert extra.number > 0


def test_a_role_that_is_over_forgets_and_then_opens_and_blames_nothing() -> None:
    """Live and resumed: it has its result, and whoever sends more ends the session unnamed, for nobody opens it."""
    made = setup(2, 1)
    table = all_of(made)
    table.carry()
    forgetful, board = table.roles["P1"], table.roles["P1"].board
    with refused("role.forgets_before_its_end", error=LocalError):
        forgetful.forget()  # its share is not out
    assert forgetful.release()
    result, seed = forgetful.result, forgetful.seed.key
    forgetful.forget()
    state = replay.save(forgetful)
    assert seed not in state
    again = replay.resume(made.session, state, made.identities["P1"], 1, board)
    assert again.advance() == []
    for actor in (forgetful, again):
        assert (actor.done, actor.result, actor.inputs, actor.progress.results) == (True, result, (), [])
        assert (actor.channel.secret, actor.channel.left) == (b"", {})
    extra = table.roles["P2"].channel.seal("P1", "Ready", "stage3", b"\x80")
    for actor in (forgetful, again):
        with refused("message.not_wanted", error=PeerError) as caught:
            actor.deliver(extra)
        assert (caught.value.culprit, caught.value.evidence) == ("somebody on the way from P2", ())
        assert caught.value.fault.place == "somebody on the way from P2: "
    forgetful.inbox.away.add(("P2", "stage3"))
    forgetful.deliver(extra)
    assert [(note.sender, note.number) for note in forgetful.notes] == [("somebody on the way from P2", extra.number)]


@pytest.mark.parametrize("last", ["P2", "charlie"])
def test_nobody_publishes_before_everybody_has_announced(last: str) -> None:
    """A role asks for publication once it has all commitments, whatever its driver makes of that; the twin does not."""
    table = all_of(setup(2, 1))
    table.carry(but=("Ready", last, "P1"))
    roles = table.roles
    assert (roles["P1"].done, roles["P1"].progress.unpublished) == (False, [])
    assert roles["P1"].waiting is not None
    assert re.fullmatch(rf"Ready from {last} at \w+\.py line \d+", roles["P1"].waiting)
    assert all(len(role.progress.unpublished) == 1 for name, role in roles.items() if name != "P1")
    hasty = all_of(setup(2, 1, program=with_roles(PROGRAM, party=runtime_roles.publishes_early)))
    hasty.carry(but=("Ready", last, "P1"))
    assert len(hasty.roles["P1"].progress.unpublished) == 1
    for role in (*roles.values(), *hasty.roles.values()):
        role.close()


@pytest.mark.parametrize("resumed", [False, True])
def test_mail_before_a_greeting_waits_for_it(resumed: bool) -> None:
    """A board and a link are two ways: a letter may come before the greeting that it cannot be opened without."""
    made = setup(3, 1)
    wanted = made.simulate().results
    table = all_of(made)
    late = BulletinBoard(made.session)
    slow = actors(*made, late.greetings)["P1"]
    late.post(*slow.advance())
    letters: dict[str, list[Envelope]] = {name: [] for name in table.roles}
    table.advance()
    for envelope in table.advance("P2", "P3", "charlie"):
        letters[envelope.to].append(envelope)
    assert letters["P1"]
    for envelope in letters["P1"]:
        slow.deliver(envelope)
    assert slow.advance() == []
    assert slow.waiting == f"{HELLO} from P2, P3, charlie"
    assert slow.inbox.log == []
    if resumed:
        slow = replay.resume(made.session, replay.save(slow), made.identities["P1"], slow.counter, late.greetings)
    for name in ("P2", "P3", "charlie"):
        late.post(table.board.greetings[name])
    table.roles["P1"] = slow
    under_way = [*(e for name in ("P2", "P3", "charlie") for e in letters[name]), *table.advance("P1")]
    while under_way:
        for envelope in under_way:
            table.roles[envelope.to].deliver(envelope)
        under_way = table.advance()
    assert {name: role.result for name, role in table.roles.items()} == wanted


def test_mail_of_a_stranger_does_not_wait() -> None:
    table = all_of(setup(2, 1))
    table.advance()
    letter = table.advance("P1")[0]
    with refused("link.with_a_stranger", error=PeerError) as caught:
        table.roles[letter.to].deliver(replace(letter, sender="mallory"))
    assert (caught.value.culprit, caught.value.evidence) == ("somebody", ())
    for role in table.roles.values():
        role.close()


def test_closing_is_quiet() -> None:
    """A role given up before or after its start leaves no warning (warnings are errors here)."""
    table = all_of(setup(2, 1))
    table.roles["P2"].close()
    table.advance()
    table.advance("P1", "charlie")
    for role in table.roles.values():
        role.close()
        role.close()
