"""Replay: honest views give every message again, changed ones do not, and a dispute has one answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from broken.curator_twins import planted
from broken.liars import LIES as LIES_OF_ALL
from broken.liars import C, Lie
from support.audited import toy_run
from support.liars_views import evidence_of, only, outcomes, played, statuses
from support.pathak import trial
from support.sessions import setup

from protocols.arithmetic.rng import Stream
from protocols.crypto import admission, paillier
from protocols.errors import ReplayError
from protocols.pathak2010.messages import Indicator, PaillierKey, Relay, Selected
from protocols.runtime.endpoint import Endpoint
from protocols.runtime.envelope import HELLO, Envelope
from protocols.runtime.view import RecordedView
from smc_dp.audit.run.evidence import Evidence
from smc_dp.audit.run.replay import CHECKS, settle_dispute
from smc_dp.audit.run.report import audit_evidence

NAMES = [check.name for check in CHECKS]
SETTINGS: list[dict[str, Any]] = [
    {},
    {"topology": "star", "comparison": "all-pairs"},
    {"as_printed": True},
    {"as_printed": True, "topology": "star", "comparison": "all-pairs"},
]


SETUP = trial([10, 20, 30], 2).setup


@cache
def honest() -> Evidence:
    """Three parties with different sizes; nobody lies."""
    return evidence_of(SETUP)


# Honest runs.


@pytest.mark.parametrize("options", SETTINGS, ids=str)
def test_honest_views_give_the_run_again(options: dict[str, Any], tmp_path: Any) -> None:
    evidence = toy_run(tmp_path, (12, 8, 8), **options).evidence()
    found = audit_evidence(evidence, CHECKS)
    assert [f.outcome.status for f in found.findings] == ["passed"] * 4
    recomputed = {"count": len(evidence.envelopes), "evidence": "views of all 4 participants"}
    assert found.findings[1].outcome.fault.fields == recomputed


@pytest.mark.parametrize("name", ["P1", "P3", C])
def test_one_view_is_enough_for_its_own_messages(name: str) -> None:
    found = outcomes(only(honest(), name))
    assert {n: found[n].status for n in NAMES} == dict.fromkeys(NAMES, "passed")
    assert all(repr(name) in str(found[n].fault.fields["evidence"]) for n in NAMES)
    assert found["view-agrees"].fault.fields["by_owners"] == "1 of 1 signed by their owners"
    assert found["result"].code == "result.holds_in_part"
    assert {statuses(only(honest()))[n] for n in NAMES} == {"not possible"}  # without views


def test_equal_sizes_leave_the_choice_to_coins() -> None:
    for seed in range(2):
        assert statuses(evidence_of(trial([7, 7, 7], 1, seed).setup))["result"] == "passed"


# Views and records that were changed.

Change = Callable[[Evidence], Evidence]


def view(name: str, change: Callable[[RecordedView], RecordedView]) -> Change:
    """Its owner hands over another view than its own, and signs it."""

    def changed(e: Evidence) -> Evidence:
        other = change(e.views[name]).signed(e.session, SETUP.identities[name])
        return replace(e, views={**e.views, name: other})

    return changed


def line(chosen: Callable[[Envelope], bool], change: Callable[[Envelope], Envelope]) -> Change:
    """The first envelope of which `chosen` is true, changed where it stands; nobody signs it again."""

    def changed(evidence: Evidence) -> Evidence:
        at = next(n for n, e in evidence.envelopes.items() if chosen(e))
        return replace(evidence, envelopes={**evidence.envelopes, at: change(evidence.envelopes[at])})

    return changed


def without(chosen: Callable[[Envelope], bool]) -> Change:
    """The record without the first such line, the others numbered anew."""

    def changed(evidence: Evidence) -> Evidence:
        envelopes = list(evidence.envelopes.values())
        envelopes.remove(next(e for e in envelopes if chosen(e)))
        return replace(evidence, envelopes=dict(enumerate(envelopes, start=1)))

    return changed


def is_from(sender: str, kind: str) -> Callable[[Envelope], bool]:
    return lambda e: (e.sender, e.kind) == (sender, kind)


def flipped(e: Envelope) -> Envelope:
    return replace(e, body=bytes([e.body[0] ^ 1]) + e.body[1:])


def other_mail(v: RecordedView) -> RecordedView:
    *place, payload = v.messages[5]
    return replace(v, messages=(*v.messages[:5], (*place, payload[:-1] + bytes([payload[-1] ^ 1])), *v.messages[6:]))


def restated(v: RecordedView) -> tuple[Any, ...]:
    first = v.messages[0]
    return (*first[:4], first[4] + 1, *first[5:])


def other_inputs(field: str, value: Any) -> Callable[[RecordedView], RecordedView]:
    return lambda v: replace(v, inputs=(v.inputs[0], replace(v.inputs[1], **{field: value})))


def extra_line(evidence: Evidence) -> Evidence:
    last = [e for e in evidence.envelopes.values() if e.sender == "P2"][-1]
    more = replace(last, number=last.number + 1, prev=last.digest)
    return replace(evidence, envelopes={**evidence.envelopes, len(evidence.envelopes) + 1: more})


CHANGED: dict[str, tuple[str, Change]] = {
    "mail of a view altered": ("view-agrees", view("P2", other_mail)),
    "mail left out": ("view-agrees", view("P2", lambda v: replace(v, messages=v.messages[:4] + v.messages[5:]))),
    "last mail left out": ("view-agrees", view(C, lambda v: replace(v, messages=v.messages[:-1]))),
    "mail added": ("view-agrees", view("P1", lambda v: replace(v, messages=(*v.messages, v.messages[-1])))),
    "mail of another round": ("view-agrees", view(C, lambda v: replace(v, messages=(restated(v), *v.messages[1:])))),
    "somebody else's view": ("view-agrees", lambda e: replace(e, views={"P2": replace(e.views["P2"], role="P3")})),
    "somebody absent": (
        "view-agrees",
        view("P1", lambda v: replace(v, marks=(("P2", "Relay", "stage1", 9),))),
    ),
    "greeting left out": ("view-agrees", view("P1", lambda v: replace(v, greetings=v.greetings[1:]))),
    "mail in another order": ("view-agrees", view("P1", lambda v: replace(v, messages=v.messages[::-1]))),
    "coins altered": ("view-agrees", view("P3", lambda v: replace(v, seed=bytes(32)))),
    "coins altered, replayed": ("messages-recomputed", view("P3", lambda v: replace(v, seed=bytes(32)))),
    "size altered": ("messages-recomputed", view("P2", other_inputs("n", 11))),
    "noise altered": ("messages-recomputed", view("P2", other_inputs("eta", (1, 2)))),
    "weights too few": ("messages-recomputed", view("P2", other_inputs("w", (1,)))),
    "inputs of a wrong kind": ("messages-recomputed", view("P2", lambda v: replace(v, inputs=(v.inputs[0], 3)))),
    "inputs left out": ("messages-recomputed", view(C, lambda v: replace(v, inputs=()))),
    "sent line altered": ("messages-recomputed", line(is_from("P2", "Slot"), flipped)),
    "sent line left out": ("messages-recomputed", without(is_from("P2", "Ready"))),
    "line sent too many": ("messages-recomputed", extra_line),
    "stage renamed": ("messages-recomputed", line(is_from("P2", "Half"), lambda e: replace(e, stage="stage2"))),
    "published share altered": ("result", line(is_from("P2", "PublishedShare"), flipped)),
    "published share left out": ("result", without(is_from("P2", "PublishedShare"))),
    "weights altered": ("result", view("P1", other_inputs("w", (1, 2)))),
    "smallest's noise altered": ("result", view("P1", other_inputs("eta", (1, 2)))),
    "received line altered": ("dispute", line(is_from(C, "Indicator"), flipped)),
    "greeting altered": ("dispute", line(is_from("P1", HELLO), flipped)),
    "received line left out": ("dispute", without(is_from("P1", "Opening"))),
    "coins altered, disputed": ("dispute", view("P3", lambda v: replace(v, seed=bytes(32)))),
}


@pytest.mark.parametrize("name", CHANGED)
def test_what_was_changed_is_found(name: str) -> None:
    check, change = CHANGED[name]
    found = outcomes(change(honest()), check)[check]
    assert found.status == "failed"
    assert found.code != "evidence.not_workable"


@pytest.mark.parametrize("name", ["published share altered", "published share left out"])
def test_nobody_is_named_for_what_anybody_can_do_to_a_published_share(name: str) -> None:
    assert outcomes(CHANGED[name][1](honest()), "result")["result"].party is None


EARLY: dict[str, tuple[str, Change, str | None, str | None]] = {
    "the rest of its messages was left out": ("P1", lambda e: without_rest(e, "P1"), "waiting", None),
    "its next message was altered": ("P1", line(is_from(C, "Indicator"), flipped), "mail", None),
    "its program stops by itself": (C, view(C, lambda v: replace(v, inputs=())), "itself", C),
}


def without_rest(evidence: Evidence, reader: str) -> Evidence:
    """The record without what came to a participant in the last stage of its messages."""
    last = [e for e in evidence.envelopes.values() if e.to == reader][-1].stage
    kept = [e for e in evidence.envelopes.values() if (e.to, e.stage) != (reader, last)]
    return replace(evidence, envelopes=dict(enumerate(kept, start=1)))


@pytest.mark.parametrize("why", EARLY)
def test_a_view_signed_early_names_its_owner_only_where_no_message_may_be_the_reason(why: str) -> None:
    """The owner signed after the last message that the transcript gives it, and the transcript has more of its own."""
    owner, change, cause, party = EARLY[why]
    evidence = change(honest())
    again = evidence.recomputed[owner]
    assert again.cause == cause
    early = view(owner, lambda v: replace(v, messages=again.messages_read, greetings=again.greetings))(evidence)
    found = outcomes(only(early, owner), "messages-recomputed")["messages-recomputed"]
    assert (found.code, found.party) == ("message.not_of_view", party)


def test_the_first_message_that_differs_is_named() -> None:
    evidence = CHANGED["size altered"][1](honest())
    letters = [letter for name in ("P1", "P3") for letter in honest().recomputed[name].decrypted]
    from_p2 = [letter for letter in letters if letter.envelope.sender == "P2" and isinstance(letter.message, Relay)]
    first = min(letter.line for letter in from_p2 if letter.message.b is not None)  # a cover does not depend on a size
    found = outcomes(evidence, "messages-recomputed")["messages-recomputed"]
    assert (found.line, found.party) == (first, "P2")
    assert (found.fault.fields["kind"], found.fault.fields["to"]) == ("'Relay'", repr(evidence.envelopes[first].to))


def test_noise_that_was_never_selected_is_found() -> None:
    """Charlie selects nobody: his own messages differ, and so does the sum."""
    session = trial([10, 20, 30], 2).setup
    with planted("nothing is selected"):
        sent = played(session)
    found = outcomes(evidence_of(session, sent))
    assert {found[name].status for name in ("messages-recomputed", "result")} == {"failed"}
    assert found["messages-recomputed"].party == C


def test_no_finding_shows_what_a_view_holds() -> None:
    secrets = [v.seed.hex() for v in honest().views.values()]
    secrets += [str(x) for v in honest().views.values() for mine in v.inputs[1:] for x in (*mine.w, *mine.eta)]
    for _, change in list(CHANGED.values())[::4]:
        text = " ".join(found.detail for found in outcomes(change(honest())).values())
        assert not [secret for secret in secrets if secret in text]


def test_a_view_with_other_parameters_is_none_of_this_session() -> None:
    session, mine = honest().session, honest().views["P1"]
    larger = replace(mine, inputs=(replace(session.parameters, key_bits=8192), *mine.inputs[1:]))
    with pytest.raises(ReplayError, match="other parameters"):
        RecordedView.loads(larger.dumps(session), session)


# Disputes.


def lying(who: str, kind: type[Any], twist: Any) -> Evidence:
    return evidence_of(setup(3, 2, program=Lie(who, kind, twist, "").programmed()))


def wrong_seal(me: Any, to: str, m: Any) -> None:
    """The honest message, sealed under a key that the addressee does not have."""
    links = me._engine.channel._links
    kept = me._engine.channel.link(to)
    links[to] = replace(kept, outgoing=bytes(32))
    me.told = 1
    Endpoint.send(me, to, m)
    links[to] = kept


def refused(evidence: Evidence) -> int:
    """The line that some role refuses."""
    return next(again.at for again in evidence.recomputed.values() if again.at is not None)


def test_a_malformed_message_that_its_sender_signed_is_its_senders() -> None:
    evidence = lying(C, Indicator, LIES_OF_ALL["indicator non-unit"].twist)
    verdict = settle_dispute(evidence, refused(evidence))
    assert verdict.party == C
    assert verdict.fault.code == "dispute.deviates"
    assert verdict.fault.fields["name"] == "'charlie'"
    assert "refuses" in str(verdict.fault.fields["how"])
    alone = settle_dispute(only(evidence, "P1"), verdict.line)
    assert alone.party is None
    assert (alone.fault.code, alone.fault.fields["sender"]) == ("dispute.told_by_others", "'charlie'")


DISPUTES: dict[str, tuple[Callable[[], Evidence], str | None, str, dict[str, str]]] = {
    "a malformed message that nobody signed may be its reader's": (
        lambda: lying("P1", PaillierKey, LIES_OF_ALL["small key of P1"].twist),
        *(None, "dispute.unsigned", {"sender": "'P1'", "reader": "'charlie'"}),
    ),
    "a seal that its sender broke and signed is its sender's": (
        lambda: lying("P2", Selected, wrong_seal),
        *("P2", "dispute.deviates", {"how": "the seal breaks under the key that both greetings give"}),
    ),
    "other coins than those that greeted are the owner's": (
        lambda: only(CHANGED["coins altered, disputed"][1](honest()), "P3"),
        *("P3", "dispute.other_coins_signed", {"name": "'P3'"}),
    ),
}


@pytest.mark.parametrize("what", DISPUTES)
def test_a_dispute_is_settled_by_what_was_signed(what: str) -> None:
    make, party, code, fields = DISPUTES[what]
    evidence = make()
    verdict = settle_dispute(evidence, refused(evidence))
    assert (verdict.party, verdict.fault.code) == (party, code)
    assert fields.items() <= verdict.fault.fields.items()


def test_a_seal_that_broke_on_the_way_is_nobodys() -> None:
    evidence = CHANGED["received line altered"][1](honest())
    verdict = settle_dispute(only(evidence, "P1"), refused(evidence))
    assert verdict.party is None
    assert verdict.fault.code == "dispute.unsigned"
    assert settle_dispute(evidence, verdict.line).party is None
    found = outcomes(evidence)
    failures = {name: found[name] for name in NAMES}
    assert {(o.status, o.line, o.party) for o in failures.values()} == {("failed", verdict.line, None)}


def test_an_altered_greeting_is_nobodys() -> None:
    evidence = CHANGED["greeting altered"][1](honest())
    at = next(n for n, e in evidence.envelopes.items() if (e.sender, e.kind) == ("P1", HELLO))
    assert settle_dispute(evidence, at).party is None
    later = next(n for n, e in evidence.envelopes.items() if (e.sender, e.to, e.kind) == ("P1", "P2", "SharedKey"))
    assert settle_dispute(evidence, later).party is None
    verdict = settle_dispute(evidence, later).fault
    assert (verdict.code, verdict.fields) == ("dispute.no_greeting_of_sender", {"name": "'P1'"})


def other_key(me: Any, to: str, m: Any) -> Any:
    """Charlie shows P2 another key than the others, as good as his own."""
    if to != "P2":
        return m
    key = paillier.generate(512, Stream.insecure_from_seed("two-faced"))
    context = me.session_id + me.name.encode()
    return PaillierKey(key.public.n, admission.prove(key, context))


def test_whoever_was_told_something_else_is_not_to_blame_when_its_view_shows_that() -> None:
    evidence = lying(C, PaillierKey, other_key)
    at = refused(evidence)
    verdict = settle_dispute(evidence, at)
    assert verdict.party is None
    assert verdict.fault.code == "dispute.told_otherwise"
    misled, reader = evidence.envelopes[at].sender, evidence.envelopes[at].to
    assert misled != C
    for given in ((reader,), (reader, C)):  # without the view that would show it, nobody is named for it all the same
        assert settle_dispute(only(evidence, *given), at).party is None
    assert outcomes(evidence, "messages-recomputed")["messages-recomputed"].party == C
    assert outcomes(evidence, "keys")["keys"].status == "failed"


def rotated(me: Any, to: str, m: Any) -> Any:
    return replace(m, u=(*m.u[1:], m.u[0]))


def test_the_views_of_all_parties_show_that_charlie_selected_no_noise() -> None:
    """He tells the smallest that it is not: no noise gets into the sum, and nobody's own messages are wrong but his."""
    lie = Lie(C, Indicator, rotated, "")
    evidence = evidence_of(setup(3, 2, sizes=[10, 20, 30], program=lie.programmed()))
    parties = only(evidence, "P1", "P2", "P3")
    found = outcomes(parties, *NAMES)
    assert {name for name, outcome in found.items() if outcome.status == "failed"} == {"result"}
    assert found["result"].code == "result.not_ideal"
    assert outcomes(only(evidence, "P1", "P3"), "result")["result"].status == "passed"
    honest_parties = only(evidence_of(setup(3, 2, sizes=[10, 20, 30])), "P1", "P2", "P3")
    assert outcomes(honest_parties, "result")["result"].status == "passed"


def test_what_is_accepted_is_accepted() -> None:
    verdicts = [settle_dispute(honest(), n) for n in honest().envelopes]
    assert all(v.accepted and v.party is None for v in verdicts)
    assert not settle_dispute(honest(), 10_000).accepted
    sealed = next(n for n, e in honest().envelopes.items() if e.kind == "Slot")
    verdict = settle_dispute(only(honest(), "P1"), sealed).fault
    assert (verdict.code, verdict.fields) == ("dispute.no_view", {"name": "'charlie'"})


IN_PUBLIC = [name for name in LIES_OF_ALL if "published" in name or "mark" in name]
IN_RUN = [name for name in LIES_OF_ALL if name not in IN_PUBLIC]
EVERY_DAY = IN_RUN[::4]


@pytest.mark.parametrize(
    "name", [*EVERY_DAY, *(pytest.param(name, marks=pytest.mark.slow) for name in IN_RUN if name not in EVERY_DAY)]
)
def test_a_lie_is_settled_against_the_liar_or_nobody(name: str) -> None:
    lie = LIES_OF_ALL[name]
    found = outcomes(evidence_of(setup(3, 2, program=lie.programmed())), *NAMES)
    assert found["dispute"].status == "failed"
    assert found["dispute"].party in (lie.who, None)
    assert found["messages-recomputed"].status == "failed"
    assert found["messages-recomputed"].party in (lie.who, None)


@pytest.mark.parametrize("name", IN_PUBLIC)
def test_a_lie_in_public_is_found_as_well(name: str) -> None:
    lie = LIES_OF_ALL[name]
    found = outcomes(evidence_of(setup(3, 2, program=lie.programmed())), *NAMES)
    assert (found["messages-recomputed"].status, found["messages-recomputed"].party) == ("failed", lie.who)
    assert found["result"].status == "failed"


# What whoever carries mail does to a letter.

ON_THE_WAY: dict[str, Callable[[Envelope], list[Envelope]]] = {
    "flipped": lambda e: [flipped(e)],
    "repeated": lambda e: [e, e],
    "another round": lambda e: [replace(e, round=e.round + 1)],
    "another kind": lambda e: [replace(e, kind="Ready")],
    "another number": lambda e: [replace(e, number=e.number + 1)],
    "lost": lambda e: [],
}


@pytest.mark.parametrize("how", ON_THE_WAY)
def test_nobody_is_named_for_what_happens_on_the_way(how: str) -> None:
    made = setup(3, 1)
    once: list[Envelope] = []

    def spoil(e: Envelope) -> list[Envelope]:
        if e.kind != "Half" or (once and once[0] != e):
            return [e]
        once[:] = [e]
        return ON_THE_WAY[how](e)

    found = outcomes(evidence_of(made, played(made, spoil)))
    assert once
    assert {outcome.party for outcome in found.values()} == {None}, found
