"""The conversation learnt from a protocol's own code, held against real runs, and protocols whose headers tell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Annotated, Any

import pytest
from support import sums
from support.linear_path import linear
from support.sessions import PRINTED, PROGRAM, Setup, setup, with_roles

from protocols.arithmetic import shamir
from protocols.arithmetic.rng import Stream
from protocols.comparison import garbled
from protocols.crypto import masking
from protocols.errors import LocalError, PeerError, StallError
from protocols.pathak2010 import ideal
from protocols.programs import PROTOCOLS, Protocol
from protocols.runtime.body_bytes import body_bytes
from protocols.runtime.endpoint import Endpoint
from protocols.runtime.envelope import HELLO
from protocols.runtime.message import PARTY, Message, message, public
from protocols.runtime.network import LINK_MODELS, traffic
from protocols.runtime.session import Program
from protocols.secure_sum.leakage_model import profiles
from smc_dp.audit.run.conformity.expected_schedule import Schedule, from_dry_runs, learn_schedule, walk_transcript
from tests.support.refusals import refused

HARDENED = PROTOCOLS[PROGRAM.name]


def schedule(made: Setup, protocol: Protocol = HARDENED) -> Schedule:
    found = from_dry_runs(protocol, made.session.parameters, 100_000)
    return found


@pytest.mark.parametrize(
    ("K", "comparison"),
    [(2, "tournament"), (3, "all-pairs"), pytest.param(6, "tournament", marks=pytest.mark.slow)],
)
def test_what_is_learnt_is_what_real_roles_send(K: int, comparison: str) -> None:
    """Other data, other coins, another dimension and any schedule: the same messages in each sender's order."""
    made = setup(K, 7, comparison, seed=K)
    found, sizes = schedule(made), body_bytes(made.session)
    assert found.free_kinds == ()
    for shuffle in (None, Stream.insecure_from_seed("shuffled")):
        done = made.simulate(schedule=shuffle)
        run = dict(enumerate(done.transcript.envelopes, start=1))
        for name in made.session.names:
            sent = [(e.kind, e.to, e.stage, len(e.body)) for e in run.values() if e.sender == name]
            assert sent == [(m.kind, m.peer, m.stage, sizes(name, m.peer, m.kind, m.stage)) for m in found.sends(name)]
        assert walk_transcript(found.scripts, run) == (found.rounds, None, "")
        stages = traffic(run.values(), made.session, LINK_MODELS["none"], "mesh")
        assert found.rounds == sum(stage.rounds for stage in stages.values())


def test_long_rows_are_learnt_in_as_many_letters_as_they_travel_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(garbled, "LONGEST_PART", 200)
    made = linear([4, 2, 7], 20)
    done = made.simulate()
    sent = [(e.kind, e.to, e.stage) for e in done.transcript.envelopes if e.sender == "P1"]
    assert sent.count(("LockedRows", "charlie", "selection")) > 2
    found = schedule(made, PROTOCOLS["linear"])
    assert sent == [(m.kind, m.peer, m.stage) for m in found.sends("P1")]


SUM = PROTOCOLS["secure_sum"]
SAMPLE = SUM.model.sample(7)


@pytest.mark.parametrize(
    "p", [SAMPLE, *profiles(SAMPLE)], ids=["drop-outs", "all", "opening", "shares", "closed", "sparse"]
)
def test_a_dry_run_makes_no_real_agreement_or_share_and_holds_the_same_conversation(
    p: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as planted:
        planted.setattr(masking, "X25519PrivateKey", None)
        planted.setattr(shamir, "_PRODUCTS", None)
        learnt = from_dry_runs(SUM, p, 100_000)
    made = sums.made(p)
    run = dict(enumerate(made.simulate().transcript.envelopes, start=1))
    for name in made.session.names:
        sent = [(e.kind, e.to, e.stage) for e in run.values() if e.sender == name]
        assert sent == [(m.kind, m.peer, m.stage) for m in learnt.sends(name)]
    assert walk_transcript(learnt.scripts, run) == (learnt.rounds, None, "")


@pytest.mark.parametrize("seed", range(3))
def test_no_message_can_be_moved_before_the_last_that_its_sender_reads(seed: int) -> None:
    """Reads are exact: a message stands too early before the last that its sender must have read, not after it."""
    made = setup(3, 1, seed=seed)
    run = made.simulate().transcript.envelopes
    found = learn_schedule(HARDENED, made.session.parameters, len(run))
    sender = made.session.names[seed]
    i = next(i for i, e in enumerate(run) if e.sender == sender and e.kind == "Ready")
    j = max(j for j, e in enumerate(run[:i]) if e.to == sender and e.kind == "Reshare")
    for place, early in ((j, True), (j + 1, False)):
        moved = [*run]
        moved.insert(place, moved.pop(i))
        assert (walk_transcript(found.scripts, dict(enumerate(moved))).line == place) is early


def test_no_message_stands_before_the_greeting_of_its_reader() -> None:
    made = setup(3, 1)
    run = made.simulate().transcript.envelopes
    found = learn_schedule(HARDENED, made.session.parameters, len(run))
    first = next(e for e in run if not e.is_public)
    hello = next(e for e in run if e.kind == HELLO and e.sender == first.to)
    moved = [e for e in run if e is not hello]
    place = moved.index(first)
    moved.insert(place + 1, hello)
    assert walk_transcript(found.scripts, dict(enumerate(moved))).line == place


@pytest.mark.parametrize("K", [2, 3, 7])
def test_the_printed_protocol_has_one_kind_whose_headers_move(K: int) -> None:
    found = schedule(setup(K, 1, program=PRINTED), PROTOCOLS[PRINTED.name])
    assert found.free_kinds == ("PrintedShare",)


def test_the_work_is_bounded_by_the_record() -> None:
    p = setup(30, 1).session.parameters
    assert learn_schedule(HARDENED, p, 10) is None
    assert learn_schedule(HARDENED, p, 1000) is None, (
        "a thousand messages are far less than half of what 30 parties send"
    )
    small = setup(2, 1).session.parameters
    assert learn_schedule(HARDENED, small, 10) is None
    assert learn_schedule(HARDENED, small, 40) is not None


# Protocols that talk: their headers follow the size of a data set.


@message("word", PARTY >> PARTY)
class Word(Message):
    """A word that says nothing."""

    word: Annotated[int, public("bit")]


@message("word", PARTY >> PARTY)
class Phrase(Message):
    """Another."""

    word: Annotated[int, public("bit")]


Says = Callable[[Endpoint, int], Sequence[tuple[str, Message]]]
"""What a party with this size says to whom, in its order."""


def to_all(*words: Message) -> Says:
    return lambda me, n: [(to, word) for word in words for to in me.others]


def talking(
    says: Says, *, reads: Callable[[Endpoint, str], type[Message]] = lambda me, other: Word, last: bool = False
) -> Protocol:
    """The hardened protocol with a stage before it, or after it, in which all talk to all."""

    async def talk(me: Endpoint, n: int) -> None:
        for to, word in says(me, n):
            me.send(to, word)
        for other in me.others:
            await me.receive(other, reads(me, other))

    async def party(me: Endpoint, p: Any, mine: Any) -> Any:
        if not last:
            await me.stage(talk, mine.n)
        result = await PROGRAM.roles[PARTY](me, p, mine)
        if last:
            await me.stage(talk, mine.n)
        return result

    program: Program = replace(with_roles(PROGRAM, party=party), kinds=(*PROGRAM.kinds, Word, Phrase))
    return Protocol(program, ideal.MODEL, None, HARDENED.limits)


def test_headers_that_follow_a_size_are_noticed() -> None:
    """The order of addressees tells whether a size is odd; or what is sent first does, of one kind for each."""
    made = setup(3, 1)
    of_addressees = talking(lambda me, n: [(to, Word(0)) for to in me.others[:: 1 if n % 2 else -1]])
    of_kinds = talking(
        lambda me, n: [*zip(me.others, (Word(0), Phrase(0)), strict=True)][:: 1 if n % 2 else -1],
        reads=lambda me, other: Word if me.name == next(p for p in me.parties if p != other) else Phrase,
    )
    assert schedule(made, of_addressees).free_kinds == ("Word",)
    assert schedule(made, talking(lambda me, n: [(to, Word(n % 2)) for to in me.others])).free_kinds == ()
    with refused("toy_run.no_common_order", error=LocalError):
        schedule(made, of_kinds)


def test_roles_that_do_not_fit_together_are_no_protocol() -> None:
    """Nobody ever says a word, or everybody two of which one is read, or another kind than is waited for."""
    made = setup(3, 1)
    with pytest.raises(StallError, match="Word from P2"):
        schedule(made, talking(to_all()))
    with refused("message.not_wanted", error=PeerError, kind="Word"):
        schedule(made, talking(to_all(Word(0), Word(1)), last=True))
    with pytest.raises(PeerError, match=r"sent Phrase to P\d, wanted Word"):
        schedule(made, talking(to_all(Phrase(0))))
