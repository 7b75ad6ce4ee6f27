"""What a role asks of its engine: it charges, doubts, gives up, and replaces what a stage has left behind."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from support.parties import Parties
from support.sessions import Played, Setup, by_link, play
from support.votes import NAMES, Outcome, Signed, Vote, Word, alone, confirming, kept_in, made, of_two, stating

from protocols.crypto.identity import SIGNATURE_BYTES
from protocols.errors import Fault, LocalError, PeerError
from protocols.runtime import replay
from protocols.runtime.actor import Actor
from protocols.runtime.bulletin_board import BulletinBoard
from protocols.runtime.endpoint import Endpoint
from protocols.runtime.envelope import Envelope
from protocols.runtime.inbox import Note
from protocols.runtime.message import Message
from protocols.runtime.role_stepper import Progress, RoleStepper
from protocols.runtime.session import PUBLIC_NAME, Role
from tests.support.refusals import refused

# Charges.


def relayed(setup: Setup, charge: Callable[[str, str], None]) -> dict[str, Any]:
    """A run in which everybody is saved and resumed for each letter; the results."""
    session, identities, seeds, inputs = setup
    board, kept, results = BulletinBoard(session), dict[str, tuple[bytes, int]](), dict[str, Any]()
    boxes: dict[str, list[Envelope]] = {name: [] for name in NAMES}

    def move(actor: Actor) -> None:
        out = actor.advance()
        for letter in boxes[actor.name][:1]:
            actor.deliver(letter)
        boxes[actor.name] = boxes[actor.name][1:]
        out += actor.advance()
        kept[actor.name] = replay.save(actor), actor.counter
        actor.close()
        for e in out:
            if e.is_public:
                board.post(e)
            else:
                boxes[e.to].append(e)
        if actor.done:
            results[actor.name] = actor.result

    for name in NAMES:
        paid = partial(charge, name)
        move(Actor(session, name, identities[name], seeds[name], inputs[name], board.greetings, charge=paid))
    for _ in range(20):
        for name in set(NAMES) - results.keys():
            state, counter = kept[name]
            paid = partial(charge, name)
            move(replay.resume(session, state, identities[name], counter, board.greetings, charge=paid))
    return results


def charges() -> list[tuple[str, str]]:
    """What is charged in such a run."""
    told: list[tuple[str, str]] = []
    assert relayed(made(), lambda name, label: told.append((name, label))) == dict.fromkeys(NAMES, (6, 6))
    return sorted(told)


def test_a_ledger_is_asked_whenever_a_role_is_run_again_and_for_nothing_else() -> None:
    """Only the ledger knows whether a charge still stands, so it is asked, and charges a label once (`Spending`)."""
    asked = charges()
    assert set(asked) == {(name, "release") for name in NAMES}
    assert len(asked) > len(NAMES)


def test_a_charge_that_was_voided_meanwhile_is_made_again() -> None:
    """Void, then resume: nothing leaves without a charge."""
    setup, book = made(), set[str]()
    given = (setup.session, "P1", setup.identities["P1"], setup.seeds["P1"], setup.inputs["P1"])
    sent = setup.simulate().transcript.envelopes
    board = {e.sender: e for e in reversed(sent) if e.is_public and e.number == 0}
    actor = Actor(*given, board, charge=book.add)
    actor.advance()
    for e in sent:
        if e.to == "P1":
            actor.deliver(e)
            actor.advance()
            if book:
                break
    state = replay.save(actor)
    book.clear()  # taken for an abort
    replay.resume(setup.session, state, setup.identities["P1"], 1, board, charge=book.add).advance()
    assert book == {"release"}


def test_each_label_is_a_charge_of_its_own() -> None:
    told: list[tuple[str, str]] = []
    spending = alone(lambda me: [me.spend(label) for label in ("a", "b", "a")])
    spending.simulate(charge=lambda name, label: told.append((name, label)))
    assert told == [(name, label) for name in NAMES for label in ("a", "b")]
    assert spending.simulate().ends == dict.fromkeys(NAMES, "done")  # without a ledger nothing is charged


def test_a_charge_is_made_before_the_message_that_follows_it() -> None:
    events: list[tuple[str, str]] = []

    def watch(n: int, e: Envelope) -> list[tuple[str, Envelope]]:
        events.append((e.sender, e.kind))
        return [(e.to, e)]

    made(of_two(stating, confirming)).simulate(tamper=watch, charge=lambda name, label: events.append((name, "charge")))
    for name in NAMES:
        mine = [kind for who, kind in events if who == name and kind in ("Signed", "Word", "charge")]
        assert mine[:3] == ["Signed", "Signed", "charge"]
        assert sorted(mine[2:]) == ["Word", "Word", "charge"]


def test_nothing_is_sent_when_a_charge_fails() -> None:
    """And it is tried again when the role is run again, for it was not made."""
    sent: list[str] = []

    def watch(n: int, e: Envelope) -> list[tuple[str, Envelope]]:
        sent.append(e.kind)
        return [(e.to, e)]

    def refuse(name: str, label: str) -> None:
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="the disk is full"):
        made().simulate(tamper=watch, charge=refuse)
    assert "Signed" in sent
    assert "Word" not in sent


def test_a_charge_that_failed_is_made_when_the_role_is_run_again() -> None:
    told: list[str] = []

    def at_second_try(label: str) -> None:
        told.append(label)
        if len(told) == 1:
            raise OSError("the disk is full")

    setup = made()
    given = (setup.session, "P1", setup.identities["P1"], setup.seeds["P1"], setup.inputs["P1"], {})
    actor = Actor(*given, charge=at_second_try)
    with pytest.raises(OSError, match="full"):
        actor.spend("release")
    actor.spend("release")
    actor.spend("release")
    assert told == ["release", "release"]


def test_what_was_not_charged_is_not_refunded() -> None:
    with refused("charge.void_before_spent", error=LocalError, label="b"):
        alone(lambda me: (me.spend("a"), me.refund("a"), me.refund("b"))).simulate()


# An engine that seals nothing.


class Plain(RoleStepper):
    """Keeps what its role sends."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.greeted, self.sent = True, list[Any]()

    def greet(self) -> None:
        """It greets nobody."""

    def announce_stage_end(self, stage: str) -> None:
        """Nobody waits for it."""

    def send(self, to: str, message: Message) -> None:
        self.sent.append((to, message))

    def keep(self, message: Message) -> None:
        self.sent.append((PUBLIC_NAME, message))

    def statement_signature(self, signer: str, kind: str, payload: bytes) -> bytes:
        return f"{signer} {kind} ".encode() + payload


def plain(setup: Setup) -> Plain:
    """P1, with greetings of all that say what their names are."""
    return Plain(setup.session, "P1", setup.seeds["P1"], setup.inputs["P1"], {name: name for name in NAMES})


def test_an_engine_that_seals_nothing_hands_over_messages_and_greetings_as_they_are() -> None:
    role = plain(made())
    role.step()
    (_, said), _ = role.sent
    assert said.signature == b"P1 Vote " + role.statement_bytes("P1", Vote(1))
    for name, value, signer in (("P2", 2, "P2"), ("P3", 3, "P2")):
        statement = role.statement_bytes(name, Vote(value))
        role.hand(name, Signed(value, f"{signer} Vote ".encode() + statement), "stating")
    with refused("vote.not_signed", error=PeerError) as caught:
        role.step()
    assert caught.value.culprit == "P3"
    hearing = plain(alone(lambda me: None))

    async def greeted(me: Endpoint, mine: int) -> Any:
        return await me.greetings(Vote, me.others)

    async def party(me: Endpoint, p: Parties, mine: int) -> Any:
        return await me.stage(greeted, mine, name="stating")

    hearing = plain(made(party))
    hearing.step()
    assert hearing.result == {"P2": "P2", "P3": "P3"}


@pytest.mark.parametrize("what", ["doubt", "note"])
def test_an_engine_that_seals_nothing_has_nobody_to_doubt(what: str) -> None:
    role = plain(alone(lambda me: getattr(me, what)("P2", "vote.not_signed")))
    with refused("role.doubts_the_honest", error=LocalError, sender="P2"):
        role.step()


# Doubts.

RULE = Fault("vote.not_signed")


def doubting(*, doubts: bool) -> Role:
    """P2 sends a vote that it did not sign, and a word that nobody asked for; the others go on, without it or with."""

    async def first(me: Endpoint, mine: int) -> int:
        if me.name == "P2":
            me.broadcast(me.others, Signed(mine, bytes(SIGNATURE_BYTES)))
            me.broadcast(me.others, Word(7))
        else:
            me.broadcast(me.others, Signed(mine, me.attest(Vote(mine))))
        for sender, said in (await me.collect(me.others, Signed)).items():
            if me.attested(sender, Vote(said.value), said.signature):
                mine += said.value
            elif doubts:
                me.doubt(sender, RULE.code)
        return mine

    return of_two(first)


def test_a_doubt_leaves_a_note_and_drops_the_rest_of_the_stage() -> None:
    """What P2 sends in the next stage is read again; whoever does not doubt reads the word of the stage before."""
    setup = made(doubting(doubts=True))
    run = setup.simulate()
    notes = (Note("P2", 0, RULE), Note("P2", 1, Fault("mail.too_late", {"kind": "Word", "stage": "stating"})))
    assert run.notes == {"P1": notes, "P3": notes}
    assert run.results == {"P1": (6, 4), "P2": (4, 4), "P3": (4, 6)}
    assert play(setup, batch=1).results == run.results
    for seed in range(3):
        shuffled = setup.simulate(schedule=setup.seeds["P1"].fork(f"schedule {seed}"))
        assert (shuffled.results, shuffled.notes) == (run.results, run.notes)
    with refused("message.not_wanted", error=PeerError, kind="Word") as caught:
        made(doubting(doubts=False)).simulate()
    assert (caught.value.culprit, caught.value.evidence) == ("P2", (2,))


def test_notes_are_kept_over_resumes_and_written_once() -> None:
    setup = made(doubting(doubts=True))
    played = play(setup, batch=1)
    assert len(played.states["P1"]) > 5
    for name in ("P1", "P3"):
        found = [kept_in(state, setup.session)["notes"] for state in played.states[name]]
        assert [note[:3] for note in found[-1]] == [("P2", 0, RULE.code), ("P2", 1, "mail.too_late")]
        counts = [len(notes) for notes in found]
        assert counts == sorted(counts)
        assert counts[0] == 0


# Giving up.


async def giving_up(me: Endpoint, total: int) -> None:
    """All see the same sum, and none goes on with it."""
    me.publish(Outcome(total))
    me.stop("votes.too_few")


def test_a_role_that_stops_is_stopped_with_its_reason_and_nothing_is_published() -> None:
    setup = made(of_two(stating, giving_up))
    run = setup.simulate()
    stopped = dict.fromkeys(NAMES, "stopped")
    assert run.ends == stopped
    assert run.why == {name: Fault("votes.too_few").within(name) for name in NAMES}
    assert (run.results, run.published) == (dict.fromkeys(NAMES), {})
    played = play(setup, batch=1)
    assert played.ends == stopped
    assert by_link(played.envelopes) == by_link(run.transcript.envelopes)


def test_one_that_stops_keeps_the_others_from_publishing() -> None:
    """They had all that they needed, and are done; whoever needs more of it is stopped as well."""

    async def first_alone(me: Endpoint, total: int) -> Any:
        if me.name == "P1":
            me.stop("votes.too_few")
        if me.name == "P2":
            me.publish(Outcome(total))
            return total
        return await me.receive("P1", Word)

    run = made(of_two(stating, first_alone)).simulate()
    assert run.ends == {"P1": "stopped", "P2": "done", "P3": "stopped"}
    assert {name: why.code for name, why in run.why.items()} == {"P1": "votes.too_few", "P3": "message.will_not_come"}
    assert run.published == {}
    assert "Outcome" not in {e.kind for e in run.transcript.envelopes}


# Publishing.


def test_what_was_kept_for_publication_before_a_resume_is_published_once() -> None:
    async def first(me: Endpoint, total: int) -> None:
        me.publish(Outcome(total))
        me.broadcast(me.others, Word(total))
        await me.gather(me.others, Word)

    setup = made(of_two(stating, first))
    run, played = setup.simulate(), play(setup, batch=1)
    assert run.published == dict.fromkeys(NAMES, Outcome(6))
    assert by_link(played.envelopes) == by_link(run.transcript.envelopes)
    state = next(s for s in played.states["P1"] if kept_in(s, setup.session)["progress"][0])
    assert state


# Stages that replace others.


async def making(me: Endpoint, mine: int) -> bytes:
    """Leaves a secret behind."""
    me.broadcast(me.others, Word(mine))
    await me.gather(me.others, Word)
    return me.rng.bytes(32)


async def using(me: Endpoint, secret: bytes) -> int:
    """Waits in between, so that it is resumed with the secret, and leaves what nobody learns it from."""
    me.broadcast(me.others, Word(1))
    await me.gather(me.others, Word)
    return secret[0]


async def waiting(me: Endpoint, mine: int) -> int:
    """A stage in which a later state is saved."""
    me.broadcast(me.others, Word(2))
    await me.gather(me.others, Word)
    return mine


def of_three() -> Role:
    async def party(me: Endpoint, p: Parties, mine: int) -> int:
        secret = await me.stage(making, mine, name="making")
        left = await me.stage(using, secret, name="using", replaces=True)
        return await me.stage(waiting, left, name="waiting")

    return party


def with_secret() -> tuple[Played, Setup, bytes, list[bool]]:
    """A run resumed for each letter; the secret of P1, and which of its states hold it."""
    setup = made(of_three())
    secret = setup.seeds["P1"].fork("stage 0 making.making").bytes(32)
    played = play(setup, batch=1)
    return played, setup, secret, [secret in state for state in played.states["P1"]]


def test_what_a_stage_replaces_is_gone_from_the_state() -> None:
    played, setup, secret, held = with_secret()
    assert played.results["P1"] == secret[0]
    assert played.results == setup.simulate().results
    first = held.index(True)
    last = len(held) - held[::-1].index(True)
    assert all(held[first:last])
    assert not any(held[last:])
    later = [kept_in(state, setup.session)["progress"] for state in played.states["P1"][last:]]
    assert len(later) > 2  # there are states of the third stage, and of its end
    assert all(Progress(*progress).results[:2] == [None, secret[0]] for progress in later)


def test_the_first_stage_has_nothing_to_replace() -> None:
    async def party(me: Endpoint, p: Parties, mine: int) -> int:
        return await me.stage(waiting, mine, name="waiting", replaces=True)

    setup = made(party)
    assert play(setup, batch=1).results == setup.simulate().results == dict(zip(NAMES, (1, 2, 3), strict=True))
