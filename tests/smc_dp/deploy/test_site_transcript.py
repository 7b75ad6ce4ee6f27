"""The record that one site keeps and all check: contradictions, who vanished, and what a site saw itself."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from support.audited import hospitals, sum_agreement
from support.deployed import Deployed, deployed
from support.sessions import setup
from support.summed import summing

from protocols.arithmetic.rng import Stream
from protocols.curator import CURATOR_NAME
from protocols.runtime.channel import GREETING_STAGE
from protocols.runtime.envelope import HELLO, STAGE_END, START, Envelope
from protocols.runtime.inbox import Absent
from protocols.runtime.session import PUBLIC_NAME
from protocols.runtime.simulate import DropOutAfter
from protocols.runtime.transcript import Transcript
from protocols.runtime.view import RecordedView
from smc_dp.deploy.arrival import plausible_absences
from smc_dp.deploy.release import own_view
from smc_dp.deploy.site_transcript import (
    build_transcript,
    check_transcript,
    incomplete_senders,
    owed_absences,
    read_transcript,
)
from smc_dp.methods.gradients.newton import Newton
from smc_dp.privacy.target import Target
from smc_dp.run.release_consistency import ReleaseEvidence
from smc_dp.run.verify_release import read_release_evidence
from tests.support.refusals import refused

DATA = hospitals((12, 8, 20), 2)
P1, P2, P3 = DATA.federation.names


@pytest.fixture(scope="module")
def made() -> Deployed:
    return deployed(DATA, sum_agreement(DATA, seeded=False, colluders=0, dropouts=1))


@pytest.fixture(scope="module")
def gone() -> Deployed:
    """P2 has vanished before its masked input."""
    return deployed(DATA, sum_agreement(DATA, seeded=False, colluders=0, dropouts=1), **{P2: 4})


# Who is still heard of, and who has vanished.


def test_whose_mail_is_under_way_is_known_from_its_last_word(made: Deployed) -> None:
    """A site says which message was its last; until all up to that is there, nothing is concluded."""
    heads = {name: [e for e in made.envelopes if e.sender == name][-1].digest for name in made.session.names}
    mail = made.envelopes
    assert incomplete_senders(made.session, mail, heads) == ()
    last, first = (next(e for e in some if e.sender == P2) for some in (mail[::-1], mail))
    for missing in (last, first):
        some = [e for e in mail if e != missing]
        assert incomplete_senders(made.session, some, heads) == (P2,)
    assert incomplete_senders(made.session, [e for e in mail if e != last], {}) == (), (
        "without its word nobody knows of it"
    )
    assert incomplete_senders(made.session, [e for e in mail if e != first], {}) == (P2,), "but a gap shows"
    assert incomplete_senders(made.session, [], {P1: START, P2: bytes(31) + b"1"}) == (P2,)


@pytest.mark.parametrize(
    ("letters", "wanted"),
    [
        (4, None),  # somebody waits for it, and says so
        (7, Absent("P2", STAGE_END, "sum0")),
        (8, None),  # it has sent all of it, and died before it said so
    ],
)
def test_what_somebody_owed_everybody_is_noted_where_nobody_else_says_so(letters: int, wanted: Absent | None) -> None:
    """The simulator knows what was not sent, and writes the same."""
    made = summing()
    run = made.simulate(drop_outs={"P2": DropOutAfter(letters)})
    marks = [(name, absent) for name, absents in run.absent.items() for absent in absents]
    found = owed_absences(made.session, run.transcript.envelopes, marks, {"P1", "P3", CURATOR_NAME})
    assert found == (() if wanted is None else ((PUBLIC_NAME, wanted),))
    lines = [line for line in run.transcript.lines() if line["kind"] == "Absent" and line["to"] == PUBLIC_NAME]
    assert [(line["from"], line["missing"], line["stage"]) for line in lines] == [
        (absent.sender, absent.kind, absent.stage) for _, absent in found
    ]


def test_a_share_that_never_came_is_owed_too() -> None:
    """Of the curator protocol, where each owes one; and everything of who never sent anything."""
    made = setup(2, 1)
    mail = made.simulate().transcript.envelopes
    cut = [e for e in mail if (e.sender, e.kind) != ("P2", "PublishedShare")]
    assert owed_absences(made.session, cut, (), {"P1", CURATOR_NAME}) == (
        (PUBLIC_NAME, Absent("P2", "PublishedShare", "stage3")),
    )
    silent = [e for e in mail if e.sender != "P2"]
    assert owed_absences(made.session, silent, (), {"P1", CURATOR_NAME}) == (
        (PUBLIC_NAME, Absent("P2", HELLO, GREETING_STAGE)),
    )
    charlie = [e for e in mail if e.sender == CURATOR_NAME][-1]
    rest = [e for e in mail if e != charlie]
    found = owed_absences(made.session, rest, (), {"P1", "P2"})
    assert found == ((PUBLIC_NAME, Absent(CURATOR_NAME, STAGE_END, rest[-1].stage)),), "nobody else is of his kind"


WORDS = [
    (Absent(CURATOR_NAME, "Result", "sum0"), True),
    (Absent(CURATOR_NAME, HELLO, GREETING_STAGE), True),
    (Absent(P2, HELLO, GREETING_STAGE), True),
    (Absent(P2, "Shares", "setup"), True),
    (Absent(P1, HELLO, GREETING_STAGE), False),
    (Absent(P2, HELLO, "sum0"), False),
    (Absent(P2, HELLO, GREETING_STAGE, 1), False),
    (Absent("stranger", "Result", "sum0"), False),
    (Absent("stranger", HELLO, GREETING_STAGE), False),
    (Absent(PUBLIC_NAME, STAGE_END, "sum0"), False),
    (Absent(CURATOR_NAME, "Masked", "sum0"), False),
    (Absent(P2, "Result", "sum0"), False),
    (Absent(CURATOR_NAME, "Pickle", "sum0"), False),
    (Absent(CURATOR_NAME, "Result", "sum0", 1), False),
    (Absent(CURATOR_NAME, "Result", "nowhere"), False),
]


@pytest.mark.parametrize(("absent", "taken"), WORDS)
def test_only_what_a_role_could_wait_for_is_taken_from_anybodys_word(
    absent: Absent, taken: bool, made: Deployed
) -> None:
    """Else one signed notice would keep everybody from the record; what could be, stands in it."""
    found = plausible_absences(made.session, P1, [absent])
    assert found == (((P1, absent),) if taken else ())
    assert Absent(P1, "x", "y") not in [mark for _, mark in found]
    assert len(again(made, marks=found).splitlines()) == len(made.content.splitlines()) + taken


def test_nobodys_word_makes_a_record_too_long_for_those_who_use_the_release(made: Deployed) -> None:
    marks = [Absent(P2, "Shares", "setup", read) for read in range(600)]
    record = again(made, marks=plausible_absences(made.session, P1, marks))
    assert len(read_release_evidence(record).marks) == 1


def test_what_those_who_use_the_release_could_not_read_no_site_accepts(made: Deployed) -> None:
    """Charlie writes down absences that owe nobody's signature, of himself."""
    for many in (100, 500, 600):
        marks = [(PUBLIC_NAME, Absent(CURATOR_NAME, STAGE_END, f"stage{n}")) for n in range(many)]
        record = again(made, marks=marks)
        if many == 100:
            assert len(checked(made, record).marks) == len(read_release_evidence(record).marks) == many
            continue
        with refused("transcript.too_many_messages"):
            read_release_evidence(record)
        with refused("transcript.too_many_messages"):
            checked(made, record)


# What a site holds against the record that it was sent.


def checked(made: Deployed, content: bytes, name: str = P1, **changed: Any) -> ReleaseEvidence:
    own = replace(made.log(name), **changed)
    return check_transcript(content, made.session, own, made.approvals, made.agreement.marks)


@pytest.mark.parametrize("which", ["made", "gone"])
def test_every_site_finds_its_own_session_in_the_record(which: str, request: pytest.FixtureRequest) -> None:
    made = request.getfixturevalue(which)
    mixed, marks = made.envelopes[::-1], made.marks[::-1]
    said, insecure = made.approvals, made.agreement.marks
    shuffled = build_transcript(made.session, mixed, marks, said, insecure, notices=made.notices)
    assert b"".join(shuffled.chunks()) == made.content
    for name in made.simulated:
        found = checked(made, made.content, name)
        assert sorted(e.digest for e in found.envelopes.values()) == sorted(e.digest for e in made.envelopes)
        assert set(found.marks) == set(made.marks)


def again(made: Deployed, envelopes: list[Envelope] | None = None, **changed: Any) -> bytes:
    """A record that its keeper has made of something else."""
    return replace(made, envelopes=made.envelopes if envelopes is None else envelopes, **changed).content


def of(made: Deployed, sender: str, kind: str) -> Envelope:
    return [e for e in made.envelopes if (e.sender, e.kind) == (sender, kind)][-1]


def without(made: Deployed, *out: Envelope) -> list[Envelope]:
    return [e for e in made.envelopes if e not in out]


def in_another_order(made: Deployed) -> bytes:
    head = build_transcript(made.session, made.envelopes, made.marks, made.approvals, made.agreement.marks)
    blocks = Transcript(made.session, made.agreement.marks, approvals=made.approvals)
    for e in sorted(head.read(), key=lambda e: e.sender):
        blocks.post(e)
    return b"".join(blocks.chunks())


def line(n: int, **fields: Any) -> Callable[[Deployed], bytes]:
    def change(made: Deployed) -> bytes:
        lines = made.content.splitlines(keepends=True)
        edited = {**json.loads(lines[n]), **fields}
        lines[n] = json.dumps(edited, sort_keys=True, separators=(",", ":")).encode() + b"\n"
        return b"".join(lines)

    return change


def flipped(made: Deployed) -> bytes:
    """A letter of P1 with another byte in it."""
    mine = of(made, P1, "Unmask")
    other = base64.b64encode(mine.body[:-1] + bytes([mine.body[-1] ^ 1]))
    return made.content.replace(base64.b64encode(mine.body), other)


FORGERIES: dict[str, tuple[Callable[[Deployed], bytes], str]] = {
    "blocks of each sender": (in_another_order, "record.other_bytes"),
    "the last line missing": (lambda m: b"".join(m.content.splitlines(keepends=True)[:-1]), "record.lacks_message"),
    "an end without a line's end": (lambda m: m.content[:-1], "record.other_bytes"),
    "a line twice": (lambda m: m.content + m.content.splitlines(keepends=True)[-1], "record.other_bytes"),
    "a line of a stranger": (line(5, **{"from": "stranger"}), "message.of_another_session"),
    "an end of a stage that its sender did not sign": (
        lambda m: again(m, [e.holding(bytes(64)) if e == of(m, P2, STAGE_END) else e for e in m.envelopes]),
        "message.not_signed",
    ),
    "a line that is none": (lambda m: m.content + b"x" * 300 + b"\n", "record.unknown_lines"),
    "text that is none": (lambda m: m.content + b"\xff\n", "record.too_long"),
    "empty": (lambda m: b"", "json.unreadable"),
    "very many lines": (lambda m: b"\n" * 100_000, "transcript.short_lines"),
    "a field too many": (line(5, note="x"), "record.other_bytes"),
    "another nonce": (line(0, nonce="00" * 32), "record.other_bytes"),
    "a mark taken off": (line(0, insecure=["insecure seed"]), "record.other_bytes"),
    "other approvals": (lambda m: again(m, approvals=m.approvals[::-1]), "record.other_bytes"),
    "no approvals": (lambda m: again(m, approvals=None), "record.other_bytes"),
    "my last word missing": (lambda m: again(m, without(m, of(m, P1, STAGE_END))), "record.lacks_messages"),
    "a byte of mine": (flipped, "chain.message_missing"),
    "all of another missing": (lambda m: again(m, [e for e in m.envelopes if e.sender != P2]), "record.lacks_message"),
    "the sum missing": (lambda m: again(m, without(m, of(m, CURATOR_NAME, "PublishedSum"))), "record.lacks_message"),
    "I am said to have vanished, and all is there": (
        lambda m: again(m, marks=[(PUBLIC_NAME, Absent(P1, STAGE_END, "sum0"))]), "record.not_vanished",
    ),
    "I am said to have given somebody up": (
        lambda m: again(m, marks=[(P1, Absent(CURATOR_NAME, "Result", "sum0"))]), "record.other_marks",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGERIES)
def test_another_record_is_refused(name: str, made: Deployed) -> None:
    change, code = FORGERIES[name]
    content = change(made)
    assert content != made.content
    with refused(code):
        checked(made, content)


def test_a_letter_that_did_not_come_is_noticed_but_of_whom_it_gave_up(made: Deployed) -> None:
    """Somebody that a site has given up may have sent letters that came too late for it."""
    mine = made.log(CURATOR_NAME)
    last = of(made, P2, "Unmask")
    fewer = [e for e in mine.received if e != last]
    with refused("record.unknown_message", sender=P2, name=CURATOR_NAME):
        checked(made, made.content, CURATOR_NAME, received=fewer)
    mark = Absent(P2, "Unmask", "sum0")
    late = again(made, marks=[(CURATOR_NAME, mark)])
    assert checked(made, late, CURATOR_NAME, received=fewer, marks=frozenset({mark})).marks == ((CURATOR_NAME, mark),)


def test_who_came_back_too_late_finds_what_came_in_time(made: Deployed) -> None:
    """Its last messages, and what it gave up itself, are not in the record any more; that it was given up, is."""
    mark = (CURATOR_NAME, Absent(P2, "Unmask", "sum0"))
    tail = [e for e in made.envelopes if e.sender == P2 and e.kind in ("Unmask", STAGE_END) and e.stage == "sum0"]
    content = again(made, without(made, *tail), marks=[mark])
    gave_up = frozenset({Absent(CURATOR_NAME, "Result", "sum0")})
    assert checked(made, content, P2, marks=gave_up).marks == (mark,)
    with refused("record.lacks_messages", name=P2):
        checked(made, again(made, without(made, *tail)), P2)
    with refused("record.other_messages", name=P2):
        checked(made, content, P2, sent=[e for e in made.log(P2).sent if e.kind != "Masked"])
    said = again(made, without(made, *tail), marks=[mark, (P2, Absent(CURATOR_NAME, "Certificate", "sum0"))])
    with refused("record.other_marks", name=P2):
        checked(made, said, P2, marks=gave_up)
    vanished = (PUBLIC_NAME, Absent(P2, STAGE_END, "sum0"))
    assert checked(made, again(made, without(made, tail[-1]), marks=[vanished]), P2).marks == (vanished,)


def test_a_mark_of_mine_that_is_missing_is_noticed(gone: Deployed) -> None:
    assert gone.log(CURATOR_NAME).marks
    with refused("record.other_marks", name=CURATOR_NAME):
        checked(gone, again(gone, marks=[]), CURATOR_NAME)
    assert checked(gone, again(gone, marks=[]), P1).marks == (), "of others' marks a site knows nothing"


# Views.


@pytest.mark.parametrize("which", ["made", "gone"])
def test_a_view_made_afterwards_is_the_one_of_the_session(which: str, request: pytest.FixtureRequest) -> None:
    made = request.getfixturevalue(which)
    for name, view in made.simulated.items():
        assert made.view(name) == view.dumps(made.session)


def test_a_view_holds_what_was_answered_at_home() -> None:
    agreed = sum_agreement(DATA, Newton(), Target(8, noise="ddg"), seeded=False, most_rows=40)  # type: ignore[arg-type]
    made = deployed(DATA, agreed)
    view = RecordedView.loads(made.view(P1), made.session)
    assert view == made.simulated[P1]
    assert len(view.inputs) > len(made.simulated[CURATOR_NAME].inputs) + 1


def test_another_seed_makes_no_view(made: Deployed) -> None:
    found = read_transcript(made.content, made.session)
    with refused("view.does_not_follow", name=P1):
        own_view(made.session, P1, made.identities[P1], Stream.from_system(), made.inputs[P1], found)
    inputs = made.inputs[P2]
    with refused("view.does_not_follow", name=P1):
        own_view(made.session, P1, made.identities[P1], made.seeds[P1], inputs, found)
