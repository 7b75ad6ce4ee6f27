"""A participant outlives its process: killed anywhere, it goes on with the same bytes; an old state is refused."""

from __future__ import annotations

from support.sessions import Setup, setup
from support.toy_sum import toy

from protocols.runtime import replay
from protocols.runtime.actor import Actor
from protocols.runtime.bulletin_board import BulletinBoard
from protocols.runtime.envelope import Envelope
from protocols.runtime.inbox import Absent


def test_marks_are_in_the_state() -> None:
    made = toy()
    run = made.simulate(drop_outs={"P2": 1})
    actor = first_stage(made, run.transcript.envelopes, patient=True)
    out = actor.advance()
    marks = actor.miss("P2")
    again = replay.resume(made.session, replay.save(actor), made.identities["P1"], 1)
    out += again.advance()
    assert again.marks == set(marks) == {Absent("P2", "Part", "share")}
    assert [e for e in run.transcript.envelopes if e.sender == "P1"][: len(out)] == out


# What an old state is worth: why the number of the newest one is kept apart.


def first_stage(made: Setup, sent: list[Envelope], *, patient: bool) -> Actor:
    """P1 with its peers' greetings and the share of P3, and that of P2 if it has come."""
    board = {e.sender: e for e in reversed(sent) if e.number == 0 and e.is_public}
    actor = Actor(made.session, "P1", made.identities["P1"], made.seeds["P1"], made.inputs["P1"], board)
    for envelope in sent:
        if envelope.to == "P1" and envelope.number == 0 and (envelope.sender == "P3" or not patient):
            actor.deliver(envelope)
    return actor


def test_who_is_resumed_before_anybody_has_greeted_sees_greetings_that_come_later() -> None:
    session, identities, seeds, given = setup(K=2)
    board = BulletinBoard(session)
    early = Actor(session, "P1", identities["P1"], seeds["P1"], given["P1"], board.greetings)
    hello = early.advance()
    again = replay.resume(session, replay.save(early), identities["P1"], early.counter, board.greetings)
    for name in ("P2", "charlie"):
        hello += Actor(session, name, identities[name], seeds[name], given[name], {}).advance()
    for envelope in hello:
        board.post(envelope)
    assert "PaillierKey" in [envelope.kind for envelope in again.advance()]


def test_no_identity_key_is_in_a_state() -> None:
    """Nobody can sign with a state; the twin that is handed the identity as an input shows that the search finds it."""
    made = setup(2, 1)
    actor = Actor(made.session, "P1", made.identities["P1"], made.seeds["P1"], made.inputs["P1"], {})
    actor.advance()
    secret = made.identities["P1"].seed
    assert secret not in replay.save(actor)
    leaky = Actor(made.session, "P1", made.identities["P1"], made.seeds["P1"], (secret,), {})
    assert secret in replay.save(leaky)
