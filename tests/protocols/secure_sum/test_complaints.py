"""A dealer of bad shares answers for them: its holder complains, and the dealer opens them or is the one left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import pytest
from support import role_code
from support.coalition import Coalition, session
from support.sums import Ledger, made, outcome, parameters, simulated, wrong

from protocols.curator import CURATOR_NAME
from protocols.errors import Fault, somebody_between
from protocols.runtime.inbox import Absent
from protocols.secure_sum import dealing
from protocols.secure_sum.complaints import NOTHING_HELD

HONEST = role_code.honest()
ALL = ("P1", "P2", "P3", "P4", "P5")
BAD, ZERO = "P5", bytes(32)


def spoilt(shares: Any, holder: str, to: Iterable[str]) -> Any:
    return replace(shares, b=(ZERO, *shares.b[1:])) if holder in to else shares


def bit(*names: str) -> int:
    return sum(1 << ALL.index(name) for name in names)


def dealt(bad_to: Iterable[str] = (), *, accused: int = 0, **more: Any) -> Coalition:
    """Five parties, P5 malicious, Charlie honest unless told: P5 has dealt, badly to these, and accuses those."""
    c = session(HONEST, 5, 1, 1, **{"charlie": False, "sums": (2, 1), **more})
    c.greet()
    c.pump()
    c.deal(BAD, lambda shares, holder: spoilt(shares, holder, bad_to))
    if CURATOR_NAME in c.honest:
        c.say(BAD, CURATOR_NAME, c.ready(BAD, c.roster(), accused))
    return c


def said(c: Coalition, to: str, kind: str) -> Any:
    """What the members have read of this kind that was sent to this one of them, the last."""
    return [x.message for x in c.letters if x.to == to and type(x.message).__name__ == kind][-1]


def answer(
    c: Coalition, name: str = BAD, every: Iterable[int] | None = None, change: Any = lambda shares: shares
) -> Any:
    """What a member discloses, to the complaints that it was told or to these."""
    k, m = c.code.complaints, c.code.messages
    every = tuple(said(c, name, "Accused").accused if every is None else every)
    shares = tuple(change(k.shares_to_disclose(c.p, every, c.p.parties.index(name), c.dealt(name))))
    signed = c.sign(name, m.Disclosure(c.roster(), k.complaints_digest(c.p, every), k.shares_digest(shares)))
    return m.Disclosed(tuple(x.b for x in shares), tuple(x.s for x in shares), signed)


def zeros(shares: Any) -> Any:
    return tuple(replace(x, b=ZERO) for x in shares)


def started(c: Coalition) -> bool:
    """Whether all honest parties go on: nobody is named, and each has sent its masked input."""
    return not c.failed and all((name, "sum 0") in c.charged for name in c.p.parties if name not in c.members)


def held(c: Coalition, holder: str) -> Any:
    """What a party that goes on holds of P5."""
    vault = c.honest[holder].progress.results[0]
    return tuple(of_sum.held[ALL.index(BAD)] for of_sum in vault.secrets)


def named(c: Coalition) -> set[str]:
    """Whom honest participants refuse."""
    return {error.culprit for error in c.failed.values()}


# The dealer is malicious.


def test_a_share_that_was_sent_wrong_and_opened_right_costs_nobody_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four messages a party and two causal steps apart, which is what NOTES says."""
    setup, ledger, given = made(parameters(4, 1, 1, (2, 1))), Ledger(), dealing.shares_for_holder
    own = dealing.deal_seeds(setup.session.parameters, setup.seeds["P2"].fork("greeting")).b
    plain = outcome(simulated(setup, Ledger())).sent

    def shares_for(of: dealing.Seeds, holder: int) -> Any:
        return spoilt(given(of, holder), "P3", ("P3",) if holder == 2 and of.b == own else ())

    monkeypatch.setattr(dealing, "shares_for_holder", shares_for)
    left = outcome(simulated(setup, ledger))
    assert wrong(setup, left, ledger) == []
    assert left.published[CURATOR_NAME].members == (0b1111, 0b1111)
    kinds = [e.kind for e in left.sent if (e.sender, e.to) == (CURATOR_NAME, "P3")]
    assert kinds[:5] == ["Start", "Accused", "Start", "Replaced", "Survivors"]
    assert len(left.sent) - len(plain) == 4 * 4
    assert max(e.round for e in left.sent) - max(e.round for e in plain) == 2


@pytest.mark.parametrize("to", [("P1",), ALL[:4]])
def test_whoever_got_a_bad_share_goes_on_with_what_the_dealer_opens(to: tuple[str, ...]) -> None:
    c = dealt(to)
    assert said(c, BAD, "Accused").accused == tuple(bit(BAD) if name in to else 0 for name in ALL)
    c.say(BAD, CURATOR_NAME, answer(c))
    assert started(c)
    for holder in ALL[:4]:
        assert held(c, holder) == c.dealt(BAD).shares[ALL.index(holder)]


def test_a_dealer_that_opens_wrongly_is_named_by_all_and_nobody_pays() -> None:
    c = dealt(("P1", "P3"))
    c.say(BAD, CURATOR_NAME, answer(c, change=zeros))
    assert set(c.failed) == set(ALL[:4])
    assert named(c) == {BAD}
    assert c.honest[CURATOR_NAME].why == Fault("shares.disclosed_otherwise", {"dealer": BAD}).within("charlie")
    assert not c.charged


def test_a_dealer_that_stays_silent_is_the_one_who_is_missing() -> None:
    c = dealt(("P1",))
    assert c.honest[CURATOR_NAME].awaited == (BAD,)
    stops_without(c, BAD)


def stops_without(c: Coalition, missing: str) -> None:
    """Charlie gives up this party: all stop, and nobody is named or has paid."""
    c.miss(CURATOR_NAME, missing)
    c.settle()
    assert {actor.end for actor in c.honest.values()} == {"stopped"}
    assert not c.failed
    assert not c.charged


def without(
    to: Iterable[str],
    sent: bytes | None,
    K: int = 5,
    t: int = 1,
    kind: str = "Shares",
    *,
    opens: bool = True,
    greets: Callable[[str, Any], Any] = lambda name, greeting: greeting,
) -> Coalition:
    """K parties; the last deals to all but these, who get nothing, or something else, and have waited long enough."""
    c = session(HONEST, K, t, 1, charlie=False, said=greets)
    c.greet()
    c.pump()
    names, bad = c.p.parties, c.p.parties[-1]
    for member in c.members:
        for holder in names[: K - t]:
            if holder not in to or member != bad:
                c.say(member, holder, c.code.dealing.shares_for_holder(c.dealt(member), names.index(holder)))
            elif sent is not None:
                (c.raw if opens else c.unopenable)(bad, holder, kind, sent, c.honest[holder].stage or "")
    for holder in to if sent is None else ():
        assert c.honest[holder].awaited == (bad,)
        c.miss(holder, bad)
    for member in c.members:
        if member != bad or c.p.may_accuse_silence:
            c.say(member, CURATOR_NAME, c.ready(member, c.roster(), 0))
    return c


@pytest.mark.parametrize(("t", "party", "charlie"), [(1, 1, 2), (2, None, None)])
def test_whoever_waits_for_somebody_who_may_wait_waits_longer(t: int, party: int | None, charlie: int | None) -> None:
    """Else Charlie gives up a holder that still waits for its dealer; where nobody accuses silence, all wait alike."""
    c = session(HONEST, 5, t, 1, charlie=False)
    c.greet()
    c.pump()
    assert {actor.deadlines for name, actor in c.honest.items() if name != CURATOR_NAME} == {party}
    assert c.honest[CURATOR_NAME].deadlines == charlie


@pytest.mark.parametrize(
    ("K", "t", "to", "sent", "kind"),
    [
        (4, 1, ("P1", "P2", "P3"), None, "Shares"),
        (5, 1, ("P1", "P3"), b"junk", "Shares"),
        (7, 2, ("P2",), b"junk", "Ready"),
    ],
)
def test_a_dealer_that_sends_a_holder_no_share_opens_it(
    K: int, t: int, to: tuple[str, ...], sent: bytes | None, kind: str
) -> None:
    c = without(to, sent, K, t, kind)
    bad = c.p.parties[-1]
    place = c.p.parties.index(bad)
    assert said(c, bad, "Accused").accused == tuple(1 << place if name in to else 0 for name in c.p.parties)
    for member in c.members:
        c.say(member, CURATOR_NAME, answer(c, member))
    assert started(c)
    for holder in to:
        vault = c.honest[holder].progress.results[0]
        own = tuple(of_sum.held[place] for of_sum in vault.secrets)
        assert own == c.dealt(bad).shares[c.p.parties.index(holder)]


@pytest.mark.parametrize(("K", "t", "sent"), [(4, 1, None), (7, 2, b"junk")])
def test_a_dealer_that_sends_a_holder_no_share_and_no_answer_is_the_one_who_is_missing(
    K: int, t: int, sent: bytes | None
) -> None:
    c = without(("P1",), sent, K, t)
    bad = c.p.parties[-1]
    for member in c.members[:-1]:
        c.say(member, CURATOR_NAME, answer(c, member))
    assert c.honest[CURATOR_NAME].awaited == (bad,)
    stops_without(c, bad)


def test_a_dealer_that_committed_to_zeros_and_sends_nothing_is_accused_all_the_same() -> None:
    """Else its holder would go on without a complaint, and no session is like that: an audit would doubt the holder."""
    zeros = dealing.merkle_root(dealing.share_tree(ALL.index(BAD), 0, [NOTHING_HELD]))
    c = without(("P1",), None, greets=lambda _, said: replace(said, leaves=(zeros, *said.leaves[1:])))
    assert said(c, BAD, "Accused").accused == (bit(BAD), 0, 0, 0, 0)
    c.say(BAD, CURATOR_NAME, answer(c, change=lambda shares: (NOTHING_HELD, *shares[1:])))
    assert started(c)
    assert held(c, "P1") == (NOTHING_HELD,)


def test_a_share_that_comes_after_its_dealer_was_accused_is_left_out() -> None:
    c = without(("P1",), None)
    c.say(BAD, CURATOR_NAME, answer(c))
    assert started(c)
    c.say(BAD, "P1", c.code.dealing.shares_for_holder(c.dealt(BAD), 0), "setup")
    assert started(c)


def test_an_envelope_that_does_not_open_is_silence() -> None:
    """Its holders accuse at once; what else that dealer sends to them in set-up is not opened either."""
    to = ("P1", "P3")
    c = without(to, b"junk", opens=False)
    assert said(c, BAD, "Accused").accused == (bit(BAD), 0, bit(BAD), 0, 0)
    for holder in to:
        assert c.honest[holder].marks == {Absent(BAD, "Shares", "setup")}
        c.unopenable(BAD, holder, "Shares", b"junk", "setup")
    c.say(BAD, CURATOR_NAME, answer(c))
    assert started(c)
    for holder in to:
        c.unopenable(BAD, holder, "Shares", b"junk", "setup")
        assert {(note.sender, note.number) for note in c.honest[holder].notes} == {
            (somebody_between(BAD), number) for number in range(3)
        }
    assert started(c)


def test_an_envelope_that_does_not_open_overrides_what_its_dealer_sent_before() -> None:
    """Both come before the holder takes its turn: a replay, which has the mark first, opens neither."""
    c = session(HONEST, 5, 1, 1, charlie=False)
    c.greet()
    c.pump()
    pump, c.pump = c.pump, lambda: None  # type: ignore[method-assign]
    c.say(BAD, "P1", c.code.dealing.shares_for_holder(c.dealt(BAD), 0))
    c.unopenable(BAD, "P1", "Shares", b"junk", "setup")
    c.pump = pump  # type: ignore[method-assign]
    c.pump()
    assert c.honest["P1"].marks == {Absent(BAD, "Shares", "setup")}
    assert not c.failed


def test_an_envelope_that_does_not_open_counts_for_nothing_before_all_have_greeted() -> None:
    c = session(HONEST, 5, 1, 1, charlie=False)
    c.greet()
    hello = c.boards["P1"].pop("P3")
    c.unopenable(BAD, "P1", "Shares", b"junk", "setup")
    assert [(note.sender, note.number) for note in c.honest["P1"].notes] == [(somebody_between(BAD), None)]
    c.boards["P1"]["P3"] = hello
    c.pump()
    assert c.honest["P1"].awaited == (BAD,)
    c.miss("P1", BAD)
    assert not c.failed


def test_where_silence_cannot_be_accused_a_holder_without_a_share_is_missing() -> None:
    """K = 5, t = 2, T = 4: two who accuse falsely, or whose messages are held up, and two others have T shares."""
    assert not parameters(5, 0, 1).may_accuse_silence
    c = without(("P1",), None, 5, 2)
    assert not c.p.may_accuse_silence
    assert c.honest["P1"].end == "stopped"
    assert not c.charged


@pytest.mark.parametrize(
    ("kind", "opens", "code"),
    [
        ("Ready", True, "message.of_another_kind"),
        ("Shares", True, "message.another_size"),
        ("Shares", False, "link.not_the_next"),
    ],
)
def test_where_silence_cannot_be_accused_a_holder_of_junk_is_missing(kind: str, opens: bool, code: str) -> None:
    c = without(("P1",), b"junk", 5, 2, kind, opens=opens)
    assert {name: error.fault.code for name, error in c.failed.items()} == {"P1": code}
    assert "P1" in c.honest[CURATOR_NAME].awaited
    assert not c.charged


def held_up(t: int, to: tuple[str, ...]) -> Coalition:
    """Charlie carries all messages, and keeps P1's shares from these: they accuse P1, and he asks it to open theirs."""
    c = session(HONEST, 7, t, 1)
    c.withholds = lambda e: (e.sender, e.kind, e.to in to) == ("P1", "Shares", True)
    c.greet()
    c.pump()
    for member in c.members:
        if member != CURATOR_NAME:
            c.deal(member)
    for holder in to:
        c.miss(holder, "P1")
    m, ready = c.code.messages, c.to_charlie("Ready")
    ready |= {name: c.ready(name, c.roster()) for name in c.members if name != CURATOR_NAME}
    c.say(CURATOR_NAME, "P1", c.start_with(c.roster(), 1))
    every = [ready[name] for name in c.p.parties]
    c.say(CURATOR_NAME, "P1", m.Accused(tuple(x.accused[0] for x in every), tuple(x.signature[0] for x in every)))
    return c


def opens_own_seed(c: Coalition) -> bool:
    """Whether what P1 disclosed and what the members hold are shares enough of its seeds."""
    dealt, got = c.dealt("P1"), c.to_charlie("Disclosed")
    shown = dict(enumerate(got["P1"].b[:: c.p.R])) if got else {}
    known = {j: share for j, share in shown.items() if share != ZERO}
    known |= {j: dealt.shares[j][0].b for j, name in enumerate(c.p.parties) if name in c.members}
    return bool(known) and c.code.dealing.seed_of_shares(known) == dealt.b[0]


@pytest.mark.parametrize(("to", "opens"), [(ALL[1:4], True), (ALL[1:5], False)])
def test_whoever_holds_up_shares_gets_fewer_than_t_opened(to: tuple[str, ...], opens: bool) -> None:
    """K = 7, t = 1, T = 5: what an honest dealer opens to honest holders and what a member holds are T - 1 at most."""
    c = held_up(1, to)
    assert (bool(c.to_charlie("Disclosed")), c.honest["P1"].end) == (opens, None if opens else "stopped")
    assert not opens_own_seed(c)
    assert not c.failed


def test_an_answer_that_is_not_signed_as_one_to_these_complaints_is_its_senders_fault() -> None:
    c = dealt(("P1",))
    c.say(BAD, CURATOR_NAME, answer(c, every=(0, 0, 0, 0, bit("P1"))))
    assert {name: (e.culprit, e.code) for name, e in c.failed.items()} == {
        CURATOR_NAME: (BAD, "complaint.answer_not_signed")
    }


# The holder is malicious.


@pytest.mark.parametrize("accused", [("P1",), ALL[:4], ()])
def test_a_false_complaint_opens_shares_of_its_sender_and_removes_nobody(accused: tuple[str, ...]) -> None:
    c = dealt(accused=bit(*accused) or 1 << 7)  # a bit that stands for nobody accuses nobody
    c.say(BAD, CURATOR_NAME, answer(c))
    assert started(c)
    place, got = ALL.index(BAD), said(c, BAD, "Replaced")
    for i, name in enumerate(ALL):
        opened = tuple(zip(got.b, got.s, strict=True))[i * c.p.R : (i + 1) * c.p.R]
        true = c.dealt(name).shares[place] if name in accused else ()
        assert opened == (tuple((x.b, x.s) for x in true) or ((ZERO, ZERO),) * c.p.R)


def test_what_an_honest_dealer_discloses_are_shares_of_those_who_accuse_it_and_no_others() -> None:
    """Charlie and P5 of his: T - 1 shares of no secret are among it."""
    c = dealt(charlie=True)
    accuse(c, {BAD: bit(*ALL[:4])})
    for name in ALL[:4]:
        got, own = c.to_charlie("Disclosed")[name], c.dealt(name)
        shown = {share for share in (*got.b, *got.s) if share != ZERO}
        assert shown == {share for x in own.shares[ALL.index(BAD)] for share in (x.b, x.s)}


def test_who_complains_and_stays_silent_is_the_one_who_is_missing() -> None:
    stops_without(dealt(accused=bit("P1")), BAD)


def test_many_complaints_at_once_remove_nobody() -> None:
    """Seven parties of whom two are malicious: both accuse everybody, and one of them is accused itself."""
    c = session(HONEST, 7, 2, 1, charlie=False)
    c.greet()
    c.pump()
    c.deal("P6", lambda shares, holder: spoilt(shares, holder, ("P1", "P2")))
    c.deal("P7")
    for name in ("P6", "P7"):
        c.say(name, CURATOR_NAME, c.ready(name, c.roster(), 0b1111111))
    for name in ("P6", "P7"):
        c.say(name, CURATOR_NAME, answer(c, name))
    assert started(c)


@pytest.mark.parametrize("other", [{"accused": 1}, {"roster": ZERO}])
def test_a_complaint_that_its_sender_did_not_sign_is_its_fault(other: dict[str, Any]) -> None:
    c = session(HONEST, 5, 1, 1, charlie=False)
    c.greet()
    c.pump()
    c.deal(BAD)
    c.say(BAD, CURATOR_NAME, c.ready(BAD, c.roster(), bit("P2"), other))
    assert {name: (e.culprit, e.code) for name, e in c.failed.items()} == {CURATOR_NAME: (BAD, "complaint.not_signed")}


# Charlie is malicious.


def accuse(c: Coalition, by: dict[str, int], to: Iterable[str] = ALL[:4], change: Any = lambda m: m) -> Any:
    """Charlie tells these parties that members accuse so, and what honest parties complained of."""
    m = c.code.messages
    ready = c.to_charlie("Ready") | {name: c.ready(name, c.roster(), accused) for name, accused in by.items()}
    told = m.Accused(tuple(ready[name].accused[0] for name in ALL), tuple(ready[name].signature[0] for name in ALL))
    for name in to:
        c.say(CURATOR_NAME, name, c.start_with(c.roster(), 1))
        c.say(CURATOR_NAME, name, change(told))
    return told


def test_charlie_who_withholds_a_complaint_is_named_by_who_complained_alone() -> None:
    c = dealt(("P1",), charlie=True)
    c.start()
    assert {name: (e.culprit, e.code) for name, e in c.failed.items()} == {"P1": (CURATOR_NAME, "complaint.withheld")}


def test_charlie_who_tells_a_party_another_complaint_of_its_own_is_named() -> None:
    c = dealt(("P1",), charlie=True)
    accuse(c, {BAD: 0}, change=lambda told: replace(told, accused=(0, *told.accused[1:])))
    assert c.failed["P1"].code == "complaint.withheld"
    assert named(c) == {CURATOR_NAME}


def test_charlie_who_invents_a_complaint_is_named_and_no_share_is_opened() -> None:
    c = dealt(charlie=True)
    accuse(c, {BAD: 0}, change=lambda told: replace(told, accused=(told.accused[0], bit("P1"), *told.accused[2:])))
    assert named(c) == {CURATOR_NAME}
    assert not c.to_charlie("Disclosed")


def test_a_complaint_of_another_session_is_none() -> None:
    """The same holder, dealer and parties: only the nonce of the session differs, so P5's greeting does not count."""
    other = dealt(charlie=True, seed="another")
    signature = other.sign(BAD, HONEST.messages.Complaint(other.roster(), bit("P1")))
    c = dealt(charlie=True)
    accuse(
        *(c, {BAD: 0}),
        change=lambda told: replace(
            told, accused=(*told.accused[:4], bit("P1")), signatures=(*told.signatures[:4], signature)
        ),
    )
    assert {error.code for error in c.failed.values()} == {"complaint.not_signed"}
    assert named(c) == {CURATOR_NAME}


@pytest.mark.parametrize("opened", [True, False])
def test_charlie_who_withholds_what_was_opened_is_named(opened: bool) -> None:
    c = dealt(("P1",), charlie=True)
    told: Any = accuse(c, {BAD: 0})
    every, k = told.accused, c.code.complaints
    given = [answer(c, BAD, every) if name == BAD else c.to_charlie("Disclosed")[name] for name in ALL]
    for i, name in enumerate(ALL[:4]):
        c.say(CURATOR_NAME, name, c.start_with(c.roster()))
        got = k.replacements(c.p, every, i, given)
        c.say(CURATOR_NAME, name, got if opened else replace(got, b=(ZERO,) * len(got.b)))
    assert {name: (e.culprit, e.code) for name, e in c.failed.items()} == (
        {} if opened else {"P1": (CURATOR_NAME, "complaint.not_answered")}
    )


def test_charlie_who_tells_parties_of_different_complaints_cannot_frame_an_honest_dealer() -> None:
    """P1 is told of no complaint of P5, and signs that it discloses nothing to P5. The others are told that P5 accuses
    P1, and that this was P1's answer.
    """
    c = dealt(("P2",), charlie=True)
    accuse(c, {BAD: 0}, ("P1",))
    accuse(c, {BAD: bit("P1")}, ALL[1:4])
    for name in ALL[1:4]:
        c.say(CURATOR_NAME, name, c.start_with(c.roster(), bit("P1")))
        c.say(CURATOR_NAME, name, c.to_charlie("Disclosed")["P1"])
    assert named(c) == {CURATOR_NAME}


def test_charlie_who_takes_some_through_complaints_and_others_past_them_reads_no_more() -> None:
    """P1 and P2 open shares of P5, who is his, and P3 and P4 hear of no complaint: the sums are those of all."""
    c = dealt(charlie=True)
    told: Any = accuse(c, {BAD: bit(*ALL[:4])}, ("P1", "P2"))
    assert set(c.to_charlie("Disclosed")) == {"P1", "P2"}
    for i, name in enumerate(ALL[:4]):
        c.say(CURATOR_NAME, name, c.start_with(c.roster()))
        if name in ("P1", "P2"):
            count = c.p.K * c.p.R
            c.say(CURATOR_NAME, name, c.code.messages.Replaced((ZERO,) * count, (ZERO,) * count))
        assert told.accused[i] == 0
    assert started(c)
    assert c.readable(0) == []
    c.lead(0, ALL, ALL[:4])
    (read,) = c.readable(0)
    assert read.of == set(ALL[:4])
    assert read.value == c.total(ALL[:4], 0)
    for name in ALL[:4]:  # the sum is read, and the other secret of each is not
        assert (c.opened(0, name, "b") is not None, c.opened(0, name, "s")) == (True, None)


@pytest.mark.parametrize("wrong", [bit("P1"), bit(BAD), bit("P1", BAD), 1 << 6])
def test_charlie_who_names_a_dealer_without_proof_is_named(wrong: int) -> None:
    """P5's answer is right, and so is P1's; a list of two, or of nobody, names nobody."""
    c = dealt(("P2",), charlie=True)
    told: Any = accuse(c, {BAD: bit("P1")})
    shown = answer(c, BAD, told.accused) if wrong == bit(BAD) else c.to_charlie("Disclosed")["P1"]
    for name in ALL[:4]:
        c.say(CURATOR_NAME, name, c.start_with(c.roster(), wrong))
        c.say(CURATOR_NAME, name, shown)
    assert {(e.culprit, e.code) for e in c.failed.values()} == {(CURATOR_NAME, "complaint.not_proven")}


def test_the_dealer_that_lied_is_named_even_where_charlie_is_malicious() -> None:
    c = dealt(("P2",), charlie=True)
    told: Any = accuse(c, {BAD: 0})
    for name in ALL[:4]:
        c.say(CURATOR_NAME, name, c.start_with(c.roster(), bit(BAD)))
        c.say(CURATOR_NAME, name, answer(c, BAD, told.accused, zeros))
    assert named(c) == {BAD}
    assert set(c.failed) == set(ALL[:4])
