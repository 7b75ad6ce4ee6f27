"""Envelopes in a hostile order, from peers that state anything: no honest name is blamed, nothing is lost."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.sessions import Setup
from support.toy_sum import PROGRAM, Part, Sums, add_up, split, toy

from protocols.errors import LocalError, PeerError, StoppedError
from protocols.runtime import replay
from protocols.runtime.actor import Actor
from protocols.runtime.bulletin_board import BulletinBoard
from protocols.runtime.channel import Channel
from protocols.runtime.endpoint import Endpoint
from protocols.runtime.envelope import HELLO, MAX_ROUNDS, Envelope
from protocols.runtime.inbox import Absent, Inbox, InboxEntry
from tests.support.refusals import late, refused


def first(made: Setup, board: dict[str, Envelope]) -> Actor:
    return Actor(made.session, "P1", made.identities["P1"], made.seeds["P1"], made.inputs["P1"], board)


def greetings(made: Setup) -> tuple[dict[str, Envelope], list[Envelope]]:
    sent = made.simulate().transcript.envelopes
    return {e.sender: e for e in sent if e.kind == HELLO}, [e for e in sent if e.to == "P1"]


def unheard(made: Setup) -> tuple[Actor, dict[str, Envelope], list[Envelope], dict[str, Envelope]]:
    """P1 before any greeting is on its board; the greetings, what is sent to it, and the board."""
    board: dict[str, Envelope] = {}
    actor = first(made, board)
    actor.advance()
    return actor, *greetings(made), board


def test_what_follows_early_mail_waits_behind_it() -> None:
    """A greeting that is posted between two letters of one link does not let the second overtake the first."""
    actor, hellos, mail, board = unheard(toy())
    letters = [e for e in mail if e.sender == "P2"]
    actor.deliver(letters[0])
    actor.deliver(letters[0])  # a repeat is no harm
    board.update(hellos)
    for e in (letters[1], *(e for e in mail if e.sender == "P3")):
        actor.deliver(e)
    actor.advance()
    assert actor.done


def test_a_forgery_among_early_mail_does_not_lose_the_rest() -> None:
    actor, hellos, mail, board = unheard(toy())
    honest = next(e for e in mail if e.sender == "P2")
    actor.deliver(replace(honest, body=bytes(len(honest.body))))
    for e in mail:
        actor.deliver(e)
    board.update(hellos)
    actor.advance()
    assert actor.done
    assert [note.sender for note in actor.notes] == ["somebody on the way from P2"]


def test_a_peer_that_signed_an_unusable_key_is_named_at_its_early_mail() -> None:
    made = toy()
    actor, hellos, mail, board = unheard(made)
    actor.deliver(next(e for e in mail if e.sender == "P2"))
    liar = Channel(made.session, "P2", made.identities["P2"], made.seeds["P2"], {})
    board.update(hellos | {"P2": liar.sign(HELLO, "setup", bytes(32))})
    with refused("peer_key.not_usable", error=PeerError) as caught:
        actor.advance()
    assert (caught.value.culprit, caught.value.evidence) == ("P2", (0,))


def test_mail_before_the_greeting_is_of_this_session_and_not_without_end() -> None:
    made = toy()
    _, mail = greetings(made)
    actor = first(made, {})
    for wrong in (replace(mail[0], session=bytes(32)), replace(mail[0], to="P3")):
        with refused("early_mail.unusable", error=PeerError):
            actor.deliver(wrong)
    actor.held.bytes = 2**26 - mail[0].size
    actor.deliver(mail[0])
    with refused("early_mail.unusable", error=PeerError):
        actor.deliver(mail[1])


def test_a_peer_that_states_a_huge_round_does_not_make_its_reader_a_liar() -> None:
    """The reader states the largest round that others accept, and none beyond."""
    made = toy()
    hellos, mail = greetings(made)
    actor = first(made, dict(hellos))
    actor.advance()
    actor.channel.has_read(MAX_ROUNDS - 1)
    for e in mail:
        actor.deliver(e)
    assert max(e.round for e in actor.advance()) == MAX_ROUNDS - 1


def test_a_stopped_role_that_is_resumed_signs_nothing_more() -> None:
    made = toy(patient=False)
    hellos, _ = greetings(made)
    actor = first(made, dict(hellos))
    actor.advance()
    actor.miss("P2")
    assert [e.kind for e in actor.advance()] == ["StageEnd"]
    again = replay.resume(made.session, replay.save(actor), made.identities["P1"], 1, hellos)
    assert (again.end, again.why, again.advance()) == ("stopped", actor.why, [])


def test_a_role_that_would_go_on_without_what_it_needs_is_stopped() -> None:
    """What it would do next could depend on what has come, and its peers would look like liars."""

    async def stubborn(me: Endpoint, p: Sums, x: tuple[int, ...]) -> None:
        async def waiting(me: Endpoint) -> None:
            me.broadcast(me.others, Part((0,)))
            try:
                await me.gather(me.others, Part)
            except StoppedError:
                await me.gather(me.others, Part)

        await me.stage(waiting)

    made = toy(stubborn)
    run = made.simulate(drop_outs={"P2": 1})
    assert set(run.ends.values()) == {"stopped", "gone"}


def test_what_a_role_has_raised_it_raises_again() -> None:
    """It does not wait for the next letter of somebody whose last one it has taken and not used."""
    made = toy()
    hellos, mail = greetings(made)
    actor = first(made, dict(hellos))
    liar = Actor(made.session, "P2", made.identities["P2"], made.seeds["P2"], made.inputs["P2"], hellos)
    actor.deliver(liar.channel.seal("P1", "Heard", "share", b"\x81\x41\x00"))
    actor.deliver(next(e for e in mail if e.sender == "P3"))
    for _ in range(2):
        with refused("message.of_another_kind", error=PeerError, kind="Heard", name="P1", wanted="Part") as caught:
            actor.advance()
        assert caught.value.culprit == "P2"


def test_who_was_given_up_once_may_go_on_without_knowing_it() -> None:
    """A letter of a stage in which nobody asked for it is late, and no lie: in the middle and at the end."""
    box = Inbox()
    box.marks.add(Absent("P3", "Part", "a"))
    assert box.look("P3", "Part", "a") == Absent("P3", "Part", "a")
    box.miss("P3")
    for stage in ("a", "b"):
        box.put(InboxEntry("P3", 0, "Part", stage, 2, b""))
        box.end_stage(stage)
    kept = InboxEntry("P3", 2, "Part", "c", 2, b"")
    box.put(kept)
    assert box.look("P3", "Part", "c") == kept
    assert [note.rule for note in box.notes.values()] == [late("Part", "a"), late("Part", "b")]
    ahead = InboxEntry("P3", 3, "Heard", "d", 2, b"")
    box.put(ahead)
    box.take(kept)
    assert box.look("P3", "Part", "c") == ahead, "of a stage that is not over: it may be a lie"
    assert box.unread() == []
    assert box.log == []


def test_a_stage_name_does_not_come_back() -> None:
    """Marks go by the names of stages; two checkpoints in a row may share one, others not."""

    async def three(me: Endpoint, p: Sums, x: tuple[int, ...]) -> None:
        parts = await me.stage(split, p, x, name="a")
        await me.stage(add_up, p, parts, name="b")
        await me.stage(split, p, x, name="a")

    with refused("stage.entered_again", error=LocalError, stage="a"):
        toy(three).simulate()


def test_a_mark_after_resuming_waits_until_the_role_is_where_it_was() -> None:
    made = toy()
    hellos, mail = greetings(made)
    actor = first(made, dict(hellos))
    actor.deliver(next(e for e in mail if e.sender == "P2"))
    actor.advance()
    again = replay.resume(made.session, replay.save(actor), made.identities["P1"], 1, hellos)
    with refused("absence.too_late", error=LocalError):
        again.mark(Absent("P3", "Part", "share"))
    again.advance()
    again.mark(Absent("P3", "Part", "share"))


def test_texts_of_peers_are_cut_before_they_stand_in_a_line() -> None:
    made = toy()
    hellos, mail = greetings(made)
    actor = first(made, dict(hellos))
    liar = Actor(made.session, "P2", made.identities["P2"], made.seeds["P2"], made.inputs["P2"], hellos)
    actor.deliver(liar.channel.seal("P1", "x\nP3: broke a rule" * 99, "share", b"\x80"))
    actor.deliver(next(e for e in mail if e.sender == "P3"))
    with refused("message.of_another_kind", error=PeerError) as caught:
        actor.advance()
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200


def test_a_header_that_has_no_bytes_is_refused_and_nothing_else_happens() -> None:
    made = toy()
    hellos, mail = greetings(made)
    wrong = replace(mail[0], kind="\ud800")
    actor = first(made, dict(hellos))
    actor.advance()
    with refused("link.not_the_next", error=PeerError):
        actor.deliver(wrong)
    with refused("board.not_the_next", error=PeerError):
        BulletinBoard(made.session).post(replace(wrong, to="public"))


@pytest.mark.parametrize("name", ["Hello", "StageEnd", "Absent", "Session"])
def test_no_message_is_called_as_the_runtime_calls_its_own(name: str) -> None:
    with refused("program.message_name_taken", error=LocalError, taken=[name]):
        replace(PROGRAM, kinds=(type(name, (Part,), {}),))
