"""Records of the secure sum, drop-outs included: what every check says of honest ones, and what of those that lie.

No check knows this protocol by name; its privacy is in test_shared_noise.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from support import audits
from support import forgeries as f
from support.audited import Folders
from support.audits import BY_NAME, failed
from support.liars_views import evidence_of
from support.sessions import Setup, with_roles
from support.summed import OF_THE_RELEASE, recorded, summing

from protocols.arithmetic.rng import Stream
from protocols.crypto import masking
from protocols.crypto.identity import SIGNATURE_BYTES
from protocols.crypto.sealing import KEY_BYTES
from protocols.runtime import message as messages
from protocols.runtime.attestation import encode_statement, signing_input
from protocols.runtime.endpoint import Endpoint
from protocols.runtime.envelope import signed_payload
from protocols.runtime.inbox import Absent
from protocols.runtime.message import Message
from protocols.secure_sum import PROGRAM, complaints, dealing, setup, steps, sums
from protocols.secure_sum import curator as honest_curator
from protocols.secure_sum.messages import (
    Agreed,
    Complaint,
    Disclosure,
    Input,
    Listed,
    Masked,
    MaskKeys,
    PublishedOpening,
    Survivors,
)
from protocols.secure_sum.parameters import Parameters, stage
from protocols.secure_sum.values import Sums
from smc_dp.audit.run import leakage, statements
from smc_dp.audit.run.check import CheckOutcome
from smc_dp.audit.run.conformity import publication
from smc_dp.audit.run.evidence import Evidence, load_evidence
from smc_dp.audit.run.run_summary import AuditedRun

CHECKS = [check for check in BY_NAME.values() if check.name not in OF_THE_RELEASE]
OF_OTHERS = {"identities", "approvals", "cosigned", "absences", "keys", "units", "repeats", "freshness"}
"""For these there is nothing here: no identities, no study, and the protocol has no keys and no ciphertexts."""
OF_THE_SCHEDULE = {"order", "rounds", "completeness", "headers"}
OF_VIEWS = {"statements", "commitments", "structure", "structure-together"}
"""Where a run ended early there may be nothing in a view that they could look at."""
CHARLIE = "charlie"


def outcomes(evidence: Evidence) -> dict[str, CheckOutcome]:
    return audits.outcomes(evidence, CHECKS)


def not_possible(found: dict[str, CheckOutcome]) -> set[str]:
    return {name for name, outcome in found.items() if outcome.status == "not possible"} - OF_OTHERS


# Honest runs.

WHOLE: dict[str, tuple[dict[str, Any], set[str]]] = {
    "nobody may vanish": ({"t": 1, "D": 0}, {"shares", "openings"}),
    "one may": ({}, {"shares", "openings"}),
    "two sums of different lengths": ({"lengths": (2, 1)}, {"shares", "openings"}),
    "verifiable": ({"verifiable": True, "lengths": (1, 2)}, {"shares", "structure-together"}),
    "verifiable, nobody may vanish": ({"D": 0, "verifiable": True}, {"shares", "structure-together"}),
    "in a circle": ({"K": 6, "t": 1, "degree": 4, "lengths": (2, 1)}, {"shares", "openings"}),
    "in a circle, nobody may vanish": (
        {"K": 6, "t": 1, "D": 0, "degree": 2, "lengths": (2, 1)},
        {"shares", "openings"},
    ),
    "shares": (
        {"t": 1, "D": 0, "output": "shares"},
        {"openings", "members", "statements", "limitations-true", "structure", "structure-together"},
    ),
}


@pytest.mark.parametrize("name", WHOLE)
def test_every_check_can_be_made_of_a_whole_run(name: str, tmp_path: Path) -> None:
    """But for shares where the sum itself is published, openings where nothing is opened, and views without numbers."""
    settings, wanted = WHOLE[name]
    found = outcomes(recorded(tmp_path, summing(**settings)).evidence())
    assert failed(found) == {}
    assert found["keys"].code == "keys.none_in_protocol"
    assert {found[name].code for name in ("units", "repeats", "freshness")} == {"ciphertext.none_in_protocol"}
    assert not_possible(found) == wanted, {n: found[n].code for n in not_possible(found)}


@pytest.mark.parametrize(("K", "t"), [(3, 1), (5, 1), (6, 2)])
def test_every_claimed_pair_of_views_is_compared_together(K: int, t: int, tmp_path: Path) -> None:
    """Beside the coalition of all parties there are those with Charlie: all claimed, and none that could be larger."""
    found = recorded(tmp_path, summing(K, t, D=0)).evidence()
    claim, p, names = found.protocol.claim, found.session.parameters, tuple(found.views)
    coalitions = [set(c) for c in leakage.covering_coalitions(claim, p, names)]
    pairs = [set(pair) for pair in combinations(names, 2) if claim.claims(p, pair)]
    assert all(any(pair <= c for c in coalitions) for pair in pairs)
    assert all(len(c) == (t + 1 if CHARLIE in c else K) for c in coalitions)
    together = outcomes(found)["structure-together"]
    assert (together.status, together.code) == ("passed", "structure_together.holds_in_part")


EVERYDAY = [{"P2": 0}, {"P1": 4}, {"P3": 5}, {"P2": 6}, {"P1": 7}, {CHARLIE: 7}, {"P1": 5, "P2": 5}]


def audits_itself(folder: Path, made: Setup, vanish: dict[str, int]) -> None:
    """Nobody is accused, and the conversation is held against its schedule, with views and without."""
    folders = recorded(folder, made, **vanish)
    for views in (True, False):
        found = outcomes(folders.evidence(views=views))
        assert failed(found) == {}, (vanish, views, failed(found))
        assert not not_possible(found) & {*OF_THE_SCHEDULE, "nonces"}, vanish
        if views:
            left_out = {"shares", "openings", "members", "published-values", "masks", "canaries", *OF_VIEWS}
            left_out |= (
                {"limitations-true"} if found["limitations-true"].inapplicable else set()
            )  # nothing is for a coalition to try
            assert not_possible(found) <= left_out, {n: found[n].code for n in not_possible(found) - left_out}


RUNS = [
    *(({}, vanish) for vanish in EVERYDAY),
    ({"D": 0}, {"P2": 2}),
    ({"K": 6, "t": 1, "degree": 4}, {"P2": 3}),
    ({"K": 5, "lengths": (2, 3)}, {"P2": 7}),
]


@pytest.mark.parametrize(("settings", "vanish"), RUNS, ids=str)
def test_a_run_with_drop_outs_passes(settings: dict[str, Any], vanish: dict[str, int], tmp_path: Path) -> None:
    """Before the greeting, in the set-up, before and after the masked input, at the very end; Charlie; two at once;
    where nobody may, so that all stop; in a circle; and among five.
    """
    audits_itself(tmp_path, summing(**settings), vanish)


def test_who_vanishes_when_nobody_waits_any_more_leaves_a_line(tmp_path: Path) -> None:
    """Without it a signature is missing, and nobody says why; beside it nobody else may be without one."""
    made = recorded(tmp_path / "made", summing(), P1=7)
    (mark,) = made.evidence(views=False).absences.values()
    assert mark == ("public", Absent("P1", "StageEnd", "sum0"))
    assert BY_NAME["signatures"].run(made.evidence()).status == "passed"
    unsaid = f.forge(made.run, tmp_path / "unsaid", lambda record: replace(record, missed=()))
    found = BY_NAME["signatures"].run(load_evidence(unsaid))
    assert (found.code, found.fault.fields) == ("signature.missing_at_end", {"name": "P1"})
    other = f.forge(made.run, tmp_path / "other", lambda record: f.drop(record.place("PublishedSum"))(record))
    found = BY_NAME["completeness"].run(load_evidence(other))
    assert (found.code, found.fault.fields["kind"]) == ("message.missing", "PublishedSum")


def test_two_greetings_are_shown_by_their_own_signatures(tmp_path: Path) -> None:
    made = summing()
    evidence = recorded(tmp_path, made).evidence(views=False)
    e = next(e for e in evidence.envelopes.values() if (e.kind, e.sender) == ("Hello", "P2"))
    payload = bytes(KEY_BYTES) + signed_payload(e)[KEY_BYTES:]
    second, last = replace(e, body=payload + made.identities["P2"].sign(e.header + payload)), len(evidence.lines)
    unsigned = replace(e, body=payload + bytes(SIGNATURE_BYTES))
    for more, party in ((second, "P2"), (unsigned, None)):
        found = BY_NAME["greetings"].run(replace(evidence, envelopes={**evidence.envelopes, last + 1: more}))
        assert (found.status, found.party, found.line) == ("failed", party, last + 1)
    again = BY_NAME["greetings"].run(replace(evidence, envelopes={**evidence.envelopes, last + 1: e}))
    assert again.status == "passed", "the same letter twice is the carrier's doing, and for the chain to find"


def _unsigned(me: Endpoint, p: Parameters, at_: bytes, y: Any) -> None:
    """P2's masked input comes without a signature: Charlie doubts it, and goes on without."""
    signature = me.attest(Input(at_, masking.digest(y, p.width)))
    me.send(me.curator, Masked(at_, y, nothing(signature) if me.name == "P2" else signature))


def test_a_letter_that_its_reader_doubts_is_as_good_as_none(tmp_path: Path) -> None:
    """Where the reader's view shows it; else a letter is missing. Whose fault it is, only the sender's view shows."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(steps, "send_masked", _unsigned)
        folders = recorded(tmp_path, summing())
    evidence = folders.evidence()
    charlies = outcomes(replace(evidence, views={CHARLIE: evidence.views[CHARLIE]}))
    assert failed(charlies) == {}
    assert {charlies[name].status for name in OF_THE_SCHEDULE} == {"passed"}
    alone = outcomes(folders.evidence(views=False))
    missing = {"kind": "Signed", "sender": "P2", "to": CHARLIE, "stage": "sum0"}
    assert (alone["completeness"].code, alone["completeness"].fault.fields) == ("message.missing", missing)
    every = outcomes(evidence)
    assert every["messages-recomputed"].party == "P2"
    assert {every[name].party for name in failed(every)} <= {"P2", None}


# What is published so that anybody can make it again.


@pytest.fixture(scope="module")
def made() -> Setup:
    return summing(verifiable=True, lengths=(1, 2))


@pytest.fixture(scope="module")
def opened(made: Setup, tmp_path_factory: pytest.TempPathFactory) -> Folders:
    """P3 has vanished before its masked input of the second sum."""
    return recorded(tmp_path_factory.mktemp("opened"), made, P3=8)


def republished(made: Setup, evidence: Evidence, **changed: Any) -> Evidence:
    """The same with other fields in what Charlie published, signed by him."""
    line, e = next((n, e) for n, e in evidence.envelopes.items() if e.kind == "PublishedOpening")
    layout = made.session.layout
    said = messages.decode(PublishedOpening, signed_payload(e), layout, {})
    wanted = replace(said, **{name: change(getattr(said, name)) for name, change in changed.items()})
    payload = messages.encode(wanted, layout, {})
    body = payload + made.identities[CHARLIE].sign(e.header + payload)
    return replace(evidence, views={}, envelopes={**evidence.envelopes, line: replace(e, body=body)})


def at(place: int, change: Callable[[Any], Any]) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    return lambda values: tuple(change(x) if i == place else x for i, x in enumerate(values))


def nothing(x: bytes) -> bytes:
    return bytes(len(x))


LIES: dict[str, tuple[dict[str, Any], int, str, bool]] = {
    "another sum": ({"S": at(0, lambda x: x ^ 1)}, 0, "sum.other_value", True),
    "another second sum": ({"S": at(2, lambda x: x ^ 1)}, 1, "sum.other_value", True),
    "another masked input": ({"y": at(1, lambda x: x ^ 1)}, 0, "sum.member_without_input", False),
    "no signature of a masked input": ({"inputs": at(0, nothing)}, 0, "sum.member_without_input", False),
    "a certificate below the quorum": ({"agreed": at(3, nothing)}, 1, "sum.too_few_signers", False),
    "a wrong seed": ({"seeds": at(2, nothing)}, 0, "sum.other_seed", True),
    "a wrong mask key": ({"seeds": at(5, nothing)}, 1, "sum.other_seed", True),
    "fewer members": ({"members": at(0, lambda x: 1)}, 0, "sum.too_few_members", True),
    "a member that there is not": ({"members": at(0, lambda x: 15)}, 0, "", True),
    "one member fewer": ({"members": at(0, lambda x: 3)}, 0, "sum.input_without_member", True),
}


@pytest.mark.parametrize("name", LIES)
def test_a_publication_that_is_wrong_is_found_by_anybody(name: str, made: Setup, opened: Folders) -> None:
    """Charlie is named where his signature alone shows it: elsewhere he may have had other greetings."""
    changed, r, code, named = LIES[name]
    evidence = opened.evidence(views=False)
    honest = publication.check_openings(evidence)
    assert honest.status == "passed", honest
    found = publication.check_openings(republished(made, evidence, **changed))
    assert found.status == "failed", found
    assert found.fault.place == f"sum {r}: "
    assert code in ("", found.code)
    assert found.party == (CHARLIE if named else None)


@pytest.mark.parametrize("vanish", [{}, {"P3": 5}], ids=str)
def test_a_false_sum_is_found_beside_the_views_of_all_parties(vanish: dict[str, int], tmp_path: Path) -> None:
    """Without Charlie's view, with drop-outs too: what he published says whose inputs it is made of."""
    made = summing()
    evidence = recorded(tmp_path, made, **vanish).evidence()
    parties = {name: view for name, view in evidence.views.items() if name != CHARLIE}
    line, e = next((n, e) for n, e in evidence.envelopes.items() if e.kind == "PublishedSum")
    payload = signed_payload(e)[:-1] + bytes([signed_payload(e)[-1] ^ 1])
    false = replace(e, body=payload + made.identities[CHARLIE].sign(e.header + payload))
    honest = replace(evidence, views=parties)
    assert BY_NAME["result"].run(honest).code == "result.holds"
    found = BY_NAME["result"].run(replace(honest, envelopes={**evidence.envelopes, line: false}))
    assert (found.status, found.party) == ("failed", None)


def test_an_opening_that_charlie_did_not_sign_names_nobody(made: Setup, opened: Folders) -> None:
    evidence = republished(made, opened.evidence(), S=at(0, lambda x: x ^ 1))
    line, e = next((n, e) for n, e in evidence.envelopes.items() if e.kind == "PublishedOpening")
    unsigned = replace(e, body=e.body[:-SIGNATURE_BYTES] + bytes(SIGNATURE_BYTES))
    found = publication.check_openings(replace(evidence, envelopes={**evidence.envelopes, line: unsigned}))
    assert (found.status, found.party) == ("failed", None)


def test_where_nothing_was_published_there_is_nothing_to_make_again(made: Setup, tmp_path: Path) -> None:
    found = publication.check_openings(recorded(tmp_path, made, charlie=9).evidence())
    assert (found.status, found.code) == ("not possible", "openings.letters_given_up")


def test_the_greetings_are_those_of_the_record(made: Setup, opened: Folders) -> None:
    """Another greeting in the record, which its sender signed, does not make Charlie a liar."""
    evidence = opened.evidence(views=False)
    n, e = next((n, e) for n, e in evidence.envelopes.items() if (e.kind, e.sender) == ("Hello", "P1"))
    payload = bytes([signed_payload(e)[0] ^ 1]) + signed_payload(e)[1:]
    other = replace(e, body=payload + made.identities["P1"].sign(e.header + payload))
    found = publication.check_openings(replace(evidence, envelopes={**evidence.envelopes, n: other}))
    assert (found.status, found.party) == ("failed", None)


# Two statements about the same thing.


def signed(made: Setup, name: str, message: Message) -> tuple[str, str, bytes, bytes]:
    """A statement as a view holds it."""
    kind, payload = type(message).__name__, encode_statement(made.session, name, message, {})
    signature = made.identities[name].sign(signing_input(made.session.id, name, kind, payload))
    return stage(0), kind, payload, signature


def with_statement(evidence: Evidence, role: str, *more: tuple[str, str, bytes, bytes]) -> Evidence:
    view = evidence.views[role]
    return replace(evidence, views={**evidence.views, role: replace(view, statements=(*view.statements, *more))})


def about(made: Setup, evidence: Evidence, name: str, kind: type[Message]) -> Any:
    """What this participant stated in the first sum."""
    stated = next(x for x in evidence.views[name].statements if (x[0], x[1]) == (stage(0), kind.__name__))
    return messages.decode(kind, stated[2], made.session.layout, {})


SECOND: dict[str, tuple[str, type[Message], dict[str, Any]]] = {
    "two masked inputs": ("P1", Input, {"digest": bytes(32)}),
    "two lists that it agrees to": ("P1", Agreed, {"members": 3}),
    "two lists in other contexts": ("P1", Agreed, {"context": bytes(32)}),
    "two lists of survivors": (CHARLIE, Listed, {"members": 3}),
}


@pytest.mark.parametrize("name", SECOND)
def test_who_signed_two_statements_about_the_same_thing_is_named(name: str, made: Setup, opened: Folders) -> None:
    """In whoever's view the second one stands; without the signature it is nobody's."""
    who, kind, other = SECOND[name]
    evidence = opened.evidence()
    second = signed(made, who, replace(about(made, evidence, who, kind), **other))
    assert statements.check_statements(evidence).status == "passed"
    found = statements.check_statements(with_statement(evidence, who, second))
    assert (found.code, found.party) == ("statement.contradicted", who)
    assert not found.culprit.pinned, "no identity is known from elsewhere"
    forged = with_statement(evidence, who, (*second[:3], bytes(SIGNATURE_BYTES)))
    assert statements.check_statements(forged).status == "passed"
    same = signed(made, who, about(made, evidence, who, kind))
    assert statements.check_statements(with_statement(evidence, who, same)).status == "passed"


@pytest.mark.parametrize("kind", [Complaint, Disclosure, Input, Agreed], ids=lambda kind: kind.__name__)
def test_what_charlie_signs_though_only_parties_state_it_contradicts_nothing(
    kind: type[Message], made: Setup, opened: Folders
) -> None:
    """A view of his with such a statement gets a verdict as any other."""
    evidence = opened.evidence()
    zeros = {"number": 0, "members": 0, "accused": 0}
    his = about(made, evidence, CHARLIE, Listed)
    fields = {slot.name: zeros.get(slot.name, bytes(32)) for slot in kind.slots}
    message = kind(**{name: his.context if name == "context" else field for name, field in fields.items()})
    payload = encode_statement(made.session, "P1", message, {})
    signature = made.identities[CHARLIE].sign(signing_input(made.session.id, CHARLIE, kind.__name__, payload))
    said = with_statement(evidence, CHARLIE, (stage(0), kind.__name__, payload, signature))
    assert statements.check_word(said).status == "passed"


async def _two_lists(me: Endpoint, p: Parameters, state: Any, setup_: Setup) -> Any:
    """Charlie tells the last party of another list than the others, and signs both."""
    at_ = sums.roster.sum_context(me.session_id, state.vault.roster, 0, state.vault.query)
    await me.collect(p.parties, sums.Masked)
    for name in p.parties:
        listed = Listed(at_, 3 if name == p.parties[-1] else 7, bytes(32))
        me.send(name, Survivors(at_, listed.members, listed.inputs, signed(setup_, me.name, listed)[3]))
    await me.gather(p.parties, sums.Signed)
    return state


def test_two_lists_are_found_where_two_readers_hand_over_what_they_got() -> None:
    made = summing()

    async def curator(me: Endpoint, p: Parameters) -> Sums:
        state = await me.stage(setup.curator, p)
        await me.stage(_two_lists, p, state, made, name=stage(0), replaces=True)
        return Sums((), ())

    lying = made._replace(session=replace(made.session, program=with_roles(PROGRAM, curator=curator)))
    evidence = evidence_of(lying)
    found = statements.check_statements(evidence)
    assert (found.status, found.party) == ("failed", CHARLIE)
    one = replace(evidence, views={"P1": evidence.views["P1"]})
    assert statements.check_statements(one).status == "passed"
    assert PROGRAM.roles[made.session.kind(CHARLIE)] is honest_curator


# A dealer whose shares open nothing.


def _promises(p: Parameters, name: str, dealt: dealing.Seeds) -> MaskKeys:
    """P1 deals what it commits to, and greets with another commitment to the seed of its first sum."""
    said = dealing.make_greeting(p, name, dealt)
    return replace(said, commitments=(bytes(32), *said.commitments[1:])) if name == "P1" else said


def _breaks_a_key(p: Parameters, name: str, dealt: dealing.Seeds) -> MaskKeys:
    """Not the first one, which its own role holds against what was posted."""
    said = dealing.make_greeting(p, name, dealt)
    other = dealing.make_greeting(p, name, dealing.deal_seeds(p, Stream.insecure_from_seed("another"))).keys[0]
    return replace(said, keys=(*said.keys[:-1], other)) if name == "P1" else said


@pytest.mark.parametrize(
    ("greeting", "views", "what", "r"),
    [
        (_promises, (CHARLIE,), "seed", 0),
        (_promises, ("P2", "P3"), "seed", 0),
        (_breaks_a_key, ("P2", "P3"), "mask key", 1),
    ],
)
def test_a_dealer_whose_shares_open_something_else_is_named_by_its_greeting(
    greeting: Any, views: tuple[str, ...], what: str, r: int, tmp_path: Path
) -> None:
    """By what T holders got, or by what Charlie was shown; fewer shares show nothing."""
    program = replace(PROGRAM, greeting=replace(PROGRAM.greeting, make=greeting))
    made = summing(lengths=(2, 1), program=program)
    evidence = replace(recorded(tmp_path, made).evidence(), pinned=made.session.identities)
    some = replace(evidence, views={name: evidence.views[name] for name in views})
    found = statements.check_commitments(some)
    assert (found.status, found.party) == ("failed", "P1"), found
    assert (found.code, found.fault.fields) == ("sum.false_shares", {"name": "P1", "what": what, "sum": r})
    few = replace(evidence, views={"P2": evidence.views["P2"]})
    assert statements.check_commitments(few).status == "passed"


def test_a_mask_key_that_its_shares_do_not_open_is_found_too(tmp_path: Path) -> None:
    """P1 signed another one in the greeting that the record holds."""
    made = summing()
    evidence = replace(recorded(tmp_path, made).evidence(), pinned=made.session.identities)
    n, e = next((n, e) for n, e in evidence.envelopes.items() if (e.kind, e.sender) == ("Hello", "P1"))
    body, layout = signed_payload(e), made.session.layout
    said = messages.decode(MaskKeys, body[KEY_BYTES:], layout, {})
    p, coins = made.session.parameters, Stream.insecure_from_seed("another")
    other = dealing.make_greeting(p, "P1", dealing.deal_seeds(p, coins)).keys
    payload = body[:KEY_BYTES] + messages.encode(replace(said, keys=other), layout, {})
    lying = replace(e, body=payload + made.identities["P1"].sign(e.header + payload))
    found = statements.check_commitments(replace(evidence, envelopes={**evidence.envelopes, n: lying}))
    assert (found.status, found.party, found.line) == ("failed", "P1", n)
    assert (found.code, found.fault.fields) == ("sum.false_shares", {"name": "P1", "what": "mask key", "sum": 0})


def test_a_share_that_misses_its_leaf_is_nobodys(tmp_path: Path) -> None:
    """Both ends of a link have its key: what came sealed shows nobody who made it."""

    def given(dealt: dealing.Seeds, holder: int) -> Any:
        shares = shares_for(dealt, holder)
        return replace(shares, b=tuple(bytes(32) for _ in shares.b)) if holder == 2 else shares

    shares_for = dealing.shares_for_holder
    made = summing()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(dealing, "shares_for_holder", given)
        evidence = evidence_of(made)
    found = {check.name: check.run(evidence) for check in statements.CHECKS}
    assert failed(found) == {}
    report = outcomes(evidence)
    assert {report[name].party for name in failed(report) if name != "messages-recomputed"} == {None}


# A complaint.


@pytest.mark.parametrize("lengths", [(2,), (2, 1)])
def test_a_run_with_a_complaint_passes_and_its_conversation_is_that_of_one(
    lengths: tuple[int, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """P1 deals P3 zeros and opens what it committed to: the schedule is that of such a run, and no other passes."""
    made, given = summing(4, 1, 1, lengths), dealing.shares_for_holder
    own = dealing.deal_seeds(made.session.parameters, made.seeds["P1"].fork("greeting")).b

    def shares_for(of: dealing.Seeds, holder: int) -> Any:
        return complaints.wrong_shares(given(of, holder)) if (of.b, holder) == (own, 2) else given(of, holder)

    with monkeypatch.context() as bad:
        bad.setattr(dealing, "shares_for_holder", shares_for)
        folders = recorded(tmp_path, made)
    evidence = folders.evidence(views=False)
    found = outcomes(evidence)
    assert failed(found) == {}
    assert not not_possible(found) & OF_THE_SCHEDULE
    beside_views = outcomes(folders.evidence())
    assert failed(beside_views) == {"messages-recomputed": "message.other_than_view"}
    assert beside_views["messages-recomputed"].party == "P1"
    structure = leakage.check_structure(folders.evidence())
    assert (structure.status, structure.code) == ("passed", "structure.holds_but_for_complaint")
    assert structure.fault.fields["places"] == ["Shares.b", "Shares.s"]
    model = replace(evidence.protocol.model, detour=None)
    unaware = outcomes(replace(evidence, protocol=replace(evidence.protocol, model=model)))
    assert set(failed(unaware)) == OF_THE_SCHEDULE - {"headers"}


def test_a_false_complaint_leaves_the_structure_of_views_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """P3 accuses P1 of good shares. All that the others read is still held against the simulators."""
    made, accused, asked = summing(4, 1, 1), complaints.accused_dealers, list[int]()

    def accuse(p: Parameters, greetings: Any, holder: int, held: Any) -> int:
        asked.append(holder)
        is_false = holder == 2 and asked.count(2) % 2 == 1  # the first time; then what was disclosed is good
        return p.listed((0,)) if is_false else accused(p, greetings, holder, held)

    with monkeypatch.context() as lying:
        lying.setattr(complaints, "accused_dealers", accuse)
        folders = recorded(tmp_path, made)
    given = folders.evidence()
    honest = {name: view for name, view in given.views.items() if name != "P3"}
    evidence = replace(given, views=honest)
    assert evidence.took_detour
    assert leakage.check_structure(evidence).code == "structure.holds"
    for kind, code, missing in (("Shares", "holds", ()), ("Masked", "letters_given_up", ("P1",))):
        silent = replace(evidence, absences={len(given.lines): ("P3", Absent("P1", kind, "setup"))})
        assert leakage.check_structure(silent).code == f"structure.{code}"  # P3 says that nothing came at all
        assert AuditedRun.of(silent, with_release=False).missing == missing  # disclosed shares leave P1 in the sums
    for kind, change, code in (
        ("Unmask", lambda sent: replace(sent, shares=tuple(bytes(len(x)) for x in sent.shares)), "other_widths"),
        ("Masked", lambda sent: replace(sent, y=sent.y[:-1]), "other_count"),
    ):
        again = evidence.recomputed["charlie"]
        mail = [(name, change(sent) if type(sent).__name__ == kind else sent) for name, sent in again.view.messages]
        leaking = replace(evidence)
        view = replace(again.view, messages=tuple(mail))
        vars(leaking)["recomputed"] = {**evidence.recomputed, "charlie": replace(again, view=view)}
        assert leakage.check_structure(leaking).code == f"structure.{code}"
