"""What a review by an adversary found in the protocol, each with the code as it was."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any
from unittest.mock import patch

import pytest
from support import role_code
from support.coalition import Coalition, session
from support.role_code import Code, Patch, copied
from support.sessions import with_roles
from support.sums import made, parameters

from protocols.arithmetic.rng import Stream
from protocols.curator import CURATOR_NAME
from protocols.errors import Fault, PeerError
from protocols.runtime import replay
from protocols.runtime.claims import DisclosedMessage, Violation
from protocols.runtime.endpoint import Endpoint, Greeted
from protocols.runtime.message import CURATOR
from protocols.secure_sum import PROGRAM, dealing, public_verification
from protocols.secure_sum.messages import PublishedShare, PublishedSum, Shares, Unmask
from protocols.secure_sum.values import Held
from tests.support.refusals import refused

BLAMING_READERS = Patch(
    "setup",
    'me.stop("greetings.not_alike", party=name)',
    'me.refuse(name, "greetings.other")',
)
OF_ANY_GREETING = Patch("setup", "if key != posted[me.index]:", "if False:")
OF_ANY_RESULT = Patch(
    "steps",
    "if not me.attested(me.curator, Ended(at, members, masking.digest(got.S, p.width)), got.signature):",
    "if False:",
)
OF_ANY_START = Patch("disputes", "if start.roster != roster:", "if False:")
OF_ANY_CONTEXT = Patch("sums", "if listed.context != at or 0 < len(U) < p.fewest:", "if 0 < len(U) < p.fewest:")


ALL = ("P1", "P2", "P3", "P4", "P5")


def five(code: Code) -> Coalition:
    """Five parties, the last of whom is Charlie's, one may vanish; all masked inputs of sum 0 are there."""
    return session(code, 5, 1, 1).seat()


def test_charlie_blames_nobody_for_having_seen_other_greetings() -> None:
    """P5 shows P1 another greeting: P1 and Charlie are honest."""

    def two_faced(code: Code) -> Coalition:
        c = session(code, 5, 1, 1, charlie=False)
        c.greet()
        c.boards["P1"]["P5"] = c.greeting("P5", lambda said: replace(said, commitments=(bytes(32),)))
        c.pump()
        c.deal("P5")
        c.say("P5", CURATOR_NAME, c.ready("P5", c.roster()))
        return c

    c = two_faced(role_code.honest())
    assert not c.failed
    assert not c.charged
    assert c.honest[CURATOR_NAME].why == Fault("greetings.not_alike", {"party": "P1"}).within("charlie")
    assert two_faced(copied(BLAMING_READERS)).failed[CURATOR_NAME].culprit == "P1"


def test_a_party_masks_nothing_among_greetings_without_its_own() -> None:
    """Somebody posts another greeting that P1 has signed, of an earlier run: the digest of all would not be fresh."""

    def replayed(code: Code) -> Coalition:
        c = session(code, 3, 1, 0)
        c.greet()
        drawn = c.code.dealing.draw_greeting_secrets(c.p, Stream.insecure_from_seed("an earlier run"))
        old = c.code.dealing.make_greeting(c.p, "P1", drawn)
        hello = c.greeting("P1", lambda said: old)
        for board in c.boards.values():
            board["P1"] = hello
        c.pump()
        c.start()
        return c

    c = replayed(role_code.honest())
    assert c.honest["P1"].why == Fault("greeting.not_the_own").within("P1")
    assert ("P1", "sum 0") not in c.charged
    assert ("P1", "sum 0") in replayed(copied(OF_ANY_GREETING)).charged


def test_a_party_takes_no_sum_that_charlie_did_not_sign() -> None:
    """He tells P1 another sum than that which he has signed: nobody could show others what he said."""

    def unsigned(code: Code) -> Coalition:
        c = five(code)
        c.lead(0, ALL, ALL[:4])
        S, m = c.total(ALL, 0), code.messages
        digest = code.masking.digest(S, c.p.width)
        signature = c.sign(CURATOR_NAME, m.Ended(c.to_charlie("Masked", 0)["P1"].context, c.listed(ALL), digest))
        c.say(CURATOR_NAME, "P2", m.Result(S, signature))
        c.say(CURATOR_NAME, "P1", m.Result((S[0] ^ 1, *S[1:]), signature))
        assert c.honest["P2"].result.values == (S,)
        return c

    failed = unsigned(role_code.honest()).failed
    assert {name: (error.culprit, error.broken.code) for name, error in failed.items()} == {
        "P1": (CURATOR_NAME, "sum.not_signed")
    }
    assert not unsigned(copied(OF_ANY_RESULT)).failed


@pytest.mark.parametrize("D", [0, 1])
def test_a_party_starts_no_sum_among_others_than_those_whose_greetings_it_saw(D: int) -> None:
    """Charlie tells P1 to start with another digest of all greetings; the others are told the one they know."""

    def started(code: Code) -> Coalition:
        c = session(code, 5, 1, D)
        c.greet()
        c.pump()
        if D:
            c.deal("P5")
        for name, ready in c.to_charlie("Ready").items():
            c.say(CURATOR_NAME, name, c.start_with(bytes(32) if name == "P1" else ready.roster))
        return c

    c, paid = started(role_code.honest()), {(name, "sum 0") for name in ALL[:4]}
    assert {name: error.culprit for name, error in c.failed.items()} == {"P1": CURATOR_NAME}
    assert set(c.charged) == paid - {("P1", "sum 0")}
    assert set(started(copied(OF_ANY_START)).charged) == paid


def test_a_party_signs_no_survivors_of_another_context() -> None:
    """Charlie has signed a list of survivors of another sum: what P1 agrees to is of its own."""

    def listed(code: Code) -> Coalition:
        c = five(code)
        c.propose(0, ALL, ALL[:1], context=bytes(32))
        c.propose(0, ALL, ALL[1:4])
        return c

    c = listed(role_code.honest())
    assert {name: error.culprit for name, error in c.failed.items()} == {"P1": CURATOR_NAME}
    assert set(c.to_charlie("Signed", 0)) == set(ALL[1:4])
    assert set(listed(copied(OF_ANY_CONTEXT)).to_charlie("Signed", 0)) == set(ALL[:4])
    c = five(role_code.honest())
    c.propose(0, ALL, ALL[:1], listed=1 << len(ALL))
    assert (c.failed["P1"].culprit, c.failed["P1"].broken.code) == (CURATOR_NAME, "survivors.no_party")


@pytest.mark.parametrize("twin", [False, True])
def test_a_charge_is_voided_after_a_crash_as_well(twin: bool) -> None:
    """P1 is left out of the sum, and crashes between the list and the certificate."""
    c = five(role_code.honest())
    agreed = c.propose(0, ALL[1:], ALL[:4])
    p1, voided, restored = c.honest["P1"], list[str](), replay._restored
    state = replay.save(p1)
    forgetting = lambda *args: restored(*args[:-1], partial(args[-1], refund=None))  # noqa: E731
    with patch.object(replay, "_restored", forgetting if twin else restored):
        again = replay.resume(c.session, state, c.identities["P1"], p1.counter, c.boards["P1"], refund=voided.append)
    every = c.signatures(agreed, 0)
    certificate = c.code.messages.Certificate(tuple(every.get(name, bytes(64)) for name in ALL))
    c.honest["P1"] = again
    c.say(CURATOR_NAME, "P1", certificate, "sum0")
    assert voided == ([] if twin else ["sum 0"])


@pytest.mark.parametrize("field", ["S", "members"])
def test_charlie_publishes_the_sums_that_he_told(field: str) -> None:
    """He adds one to what he publishes, or names others as its members."""

    class Adding(Endpoint):
        def __init__(self, me: Endpoint) -> None:
            self.__dict__.update(me.__dict__)

        def publish(self, message: Any) -> None:
            first, *rest = getattr(message, field)
            super().publish(replace(message, **{field: (first ^ 1, *rest)}))

    async def curator(me: Endpoint, p: Any) -> Any:
        return await PROGRAM.roles[CURATOR](Adding(me), p)

    program = with_roles(PROGRAM, curator=curator)
    for p in (parameters(3, 1, 0), parameters(5, 1, 1), parameters(5, 1, 1, verifiable=True)):
        made(p).simulate()
        with refused("sum.not_as_told", error=PeerError) as caught:
            made(p, program=program).simulate()
        assert caught.value.culprit == "charlie"
        made(p, program=replace(program, broken_commitment=None)).simulate()  # who does not look does not see


def test_letters_that_nobody_should_have_sent_show_nothing() -> None:
    """Shares from Charlie or to him, and shares that he opens: kinds of messages that have no such route."""
    c = five(role_code.honest())
    said = {name: c.said(name) for name in ALL}
    greetings = {name: Greeted(message, c.boards[CURATOR_NAME][name].digest) for name, message in said.items()}
    shares = dealing.shares_for_holder(c.dealt("P1"), 1)
    unmask = Unmask((bytes(32),) * 5, (bytes(32),) * 5, ())
    strange = [
        DisclosedMessage(CURATOR_NAME, "P2", "setup", shares),
        DisclosedMessage("P1", CURATOR_NAME, "setup", shares),
    ]
    assert (
        public_verification.false_dealer(
            c.p, greetings, [*strange, DisclosedMessage(CURATOR_NAME, "P2", "sum0", unmask)]
        )
        is None
    )
    given = [DisclosedMessage("P1", "P2", "setup", replace(shares, b=shares.b[::-1], s=shares.s[::-1]))]
    assert public_verification.false_dealer(replace(c.p, dropouts=0), {}, given) is None  # nobody deals any


@pytest.mark.parametrize("of_seed", [True, False])
@pytest.mark.parametrize("shown", [False, True])
def test_whichever_share_does_not_fit_its_dealer_is_named(
    shown: bool, of_seed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """P1 has dealt one share more than open a seed, and all but one open what it greeted with; P1 disclosed them, or
    the holders who showed them to Charlie.
    """
    c = session(role_code.honest(), 6, 0, 1)
    p, dealt = c.p, c.dealt("P1")
    assert len(p.parties[1:]) == p.T + 1

    def show(j: int, held: Held) -> Unmask:
        every = [held, *(c.dealt(name).shares[j][0] for name in p.parties[1:])]
        both = [(of.b, of.s) if of_seed else (of.s, of.b) for of in every]
        return Unmask(tuple(a for a, _ in both), tuple(dealing.share_digest(b) for _, b in both), ())

    def told(wrong: int, stage: str = "sum0", committed: bool = True) -> Violation | None:
        held = [list(shares) for shares in dealt.shares]
        if wrong:
            held[wrong] = [replace(held[wrong][0], **{"b" if of_seed else "s": bytes(32)})]
        said = {name: c.said(name) for name in p.parties}
        dealers = held if committed else dealt.shares[::-1]
        leaves = tuple(dealing.merkle_root(dealing.share_tree(0, j, shares)) for j, shares in enumerate(dealers))
        greetings = {name: Greeted(message, bytes(32)) for name, message in said.items()}
        greetings["P1"] = Greeted(replace(said["P1"], leaves=leaves), bytes(32))
        letters = [
            DisclosedMessage(name, CURATOR_NAME, stage, show(j, held[j][0]))
            if shown
            else DisclosedMessage("P1", name, "setup", Shares((held[j][0].b,), (held[j][0].s,)))
            for j, name in enumerate(p.parties)
            if j
        ]
        return public_verification.false_dealer(p, greetings, letters)

    fault = Fault("sum.false_shares", {"name": "P1", "what": "seed" if of_seed else "mask key", "sum": 0})
    assert [told(wrong) for wrong in range(p.K)] == [None, *[Violation(fault, "P1")] * 5]
    assert told(2, committed=False) is None  # nobody answers for these
    assert (told(2, stage="sum1") is None) == shown  # there is no such sum, and holders show none in another
    monkeypatch.setattr(public_verification, "_enough", lambda p, shares: [dict(sorted(shares.items())[: p.T])])
    assert [told(wrong) is None for wrong in range(p.K)] == [True, *[False] * 4, True]


def test_a_sum_without_what_was_added_up_is_no_opening() -> None:
    p = parameters(3, 0, 1, verifiable=True)
    said = {CURATOR_NAME: PublishedSum((7,), (1, 2))}
    for published, culprit in ((said, CURATOR_NAME), ({"P1": PublishedShare((1, 2))}, None)):
        found = public_verification.published_fault(p, bytes(32), {}, published, lambda *given: True)
        assert found == Violation(Fault("sum.not_published"), culprit)
