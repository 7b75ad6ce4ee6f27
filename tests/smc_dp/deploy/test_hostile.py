"""What a hostile hub or peer changes, repeats or makes up is refused by its own rule, and no honest site is named."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest
from support import hubs, sites
from support.hubs import At, Change, HubCarrier, approved, besides, body, envelope, flipped, inside, record, said
from support.sites import LINEAR, Sites

from smc_dp.deploy.frame import Frame

LETTER, GREETING = At("P2", "P1", "envelope", 0), At("P2", "public", "envelope", 0)
STAGE_END, APPROVAL = At("P2", "public", "envelope", 1), At("P2", "public", "approval", 0)
BETWEEN, RECORD = At("P2", "P3", "envelope", 0), At("charlie", "public", "transcript", 0)
STUDY = sites.joint(LINEAR)
SESSION = STUDY.session(sites.approvals(STUDY)).id
OTHER_STUDY = sites.joint({**LINEAR, "title": "another"})
MALLORY = sites.identity("mallory")


class Mutant(NamedTuple):
    """What somebody makes of the frames to the reader, and the code by which that is refused."""

    change: Change
    code: str
    reader: str = "P1"


STOPS = {
    # Frames.
    "a letter's seal": Mutant(LETTER.becomes(inside(flipped)), "link.not_the_next"),
    "a letter of garbage": Mutant(LETTER.becomes(body(lambda b: b"\x00" * 40)), "envelope.malformed"),
    "a letter under another number": Mutant(
        LETTER.becomes(lambda p: replace(p, number=1)), "relay_frame.another_envelope"
    ),
    "a letter under another name": Mutant(LETTER.becomes(envelope(sender="P3")), "relay_frame.another_envelope"),
    "a letter of another study": Mutant(
        LETTER.becomes(lambda p: replace(p, study=OTHER_STUDY.digest)), "relay_frame.not_for_us"
    ),
    "a letter of a stranger": Mutant(LETTER.becomes(lambda p: replace(p, sender="mallory")), "relay_frame.not_for_us"),
    "a letter in the reader's own name": Mutant(
        LETTER.becomes(lambda p: replace(p, sender="P1", to="public", number=99)), "relay_frame.not_for_us"
    ),
    "a letter for somebody else": Mutant(LETTER.becomes(lambda p: replace(p, to="P3")), "relay_frame.not_for_us"),
    "two letters of one number": Mutant(LETTER.becomes(lambda p: [p, inside(flipped)(p)]), "relay_frame.twice"),
    "a greeting under another identity": Mutant(GREETING.becomes(hubs.signed_by(MALLORY)), "message.not_signed"),
    "the end of a stage": Mutant(STAGE_END.becomes(inside(flipped)), "board.not_the_next"),
    "mail between others, at Charlie": Mutant(
        BETWEEN.becomes(envelope(to="P1")), "relay_frame.another_envelope", "charlie"
    ),
    "two letters between others, at Charlie": Mutant(
        BETWEEN.becomes(lambda p: [p, inside(flipped)(p)]), "relay_frame.twice", "charlie"
    ),
    "a notice between others, at Charlie": Mutant(
        BETWEEN.becomes(lambda p: replace(p, lane="notice")), "relay_frame.not_for_us", "charlie"
    ),
    "mail to nobody, at Charlie": Mutant(
        BETWEEN.becomes(lambda p: replace(p, to="mallory")), "relay_frame.not_for_us", "charlie"
    ),
    "garbage between others, at Charlie": Mutant(
        BETWEEN.becomes(body(lambda b: b"?")), "envelope.malformed", "charlie"
    ),
    "a seal between others, at Charlie": Mutant(BETWEEN.becomes(inside(flipped)), "chain.message_missing", "charlie"),
    # Approvals.
    "an older approval": Mutant(
        APPROVAL.becomes(lambda p: approved(sites.approval(STUDY, "P2", "older"))), "relay_frame.another_envelope"
    ),
    "an approval that nobody signed": Mutant(
        APPROVAL.becomes(body(lambda b: re.sub(rb'"random":"..', b'"random":"00', b))), "approval.not_signed"
    ),
    "somebody else's approval": Mutant(
        APPROVAL.becomes(body(lambda b: sites.approval(STUDY, "P3").encode())), "approval.other_sender"
    ),
    "an approval of another study": Mutant(
        APPROVAL.becomes(body(lambda b: sites.approval(OTHER_STUDY, "P2").encode())), "approval.another_study"
    ),
    # The record.
    "a record without a message": Mutant(record(lambda b: without(b, 5)), "chain.message_missing"),
    "a record with another body": Mutant(
        record(lambda b: re.sub(rb'"body":"..', b'"body":"AA', b, count=1)), "message.not_signed"
    ),
    "a part beyond the last": Mutant(
        RECORD.becomes(lambda p: replace(hubs.part(5, 1, b"x")(p), number=5)), "record.no_piece"
    ),
    "no parts at all": Mutant(RECORD.becomes(hubs.part(0, -1, b"x")), "record.no_piece"),
    "a part of text": Mutant(RECORD.becomes(hubs.part(0, 1, "x")), "record.no_piece"),
}


def lines(content: bytes) -> list[bytes]:
    return content.splitlines(keepends=True)


def without(content: bytes, at: int) -> bytes:
    there = lines(content)
    return b"".join(there[:at] + there[at + 1 :])


def run_with(mutant: Mutant, folder: Path) -> Sites:
    """The run in which the reader gets what somebody made; as far as the reader's end."""
    run = Sites(STUDY, folder)
    run.between = lambda name, way: HubCarrier(way, mutant.change) if name == mutant.reader else way
    return run.run(until=lambda: mutant.reader in run.ends)


@pytest.mark.parametrize("what", STOPS)
def test_what_is_changed_on_the_way_stops_the_reader_by_its_own_rule(what: str, tmp_path: Path) -> None:
    mutant = STOPS[what]
    run = run_with(mutant, tmp_path)
    why = run.facts(mutant.reader)["why"]
    assert run.ends[mutant.reader] in ("aborted", "deadline"), run.said[mutant.reader]
    assert run.facts(mutant.reader)["code"] == mutant.code, why
    assert not re.match(r"(P2|P3|charlie)\b", why)  # whose fault it is nobody says
    assert mutant.reader not in run.releases()


NO_EFFECT = {
    "an approval more": besides(approved(sites.approval(STUDY, "P2", "more"), 1)),
    "an abort that P2 did not sign": besides(said(STUDY, "P2", "aborted", SESSION, by="mallory")),
    "an abort of P3 as one of P2": besides(replace(said(STUDY, "P3", "aborted", SESSION), sender="P2")),
    "an abort of another session": besides(said(STUDY, "P2", "aborted", bytes(32))),
    "an abort of another study": besides(said(STUDY, "P2", "aborted", SESSION, of=OTHER_STUDY.digest)),
    "an abort of before the session": besides(said(STUDY, "P2", "aborted", b"")),
    "a refusal that P2 did not sign": besides(said(STUDY, "P2", "refused", b"", lane="refusal", by="mallory")),
    "a refusal of another session": besides(said(STUDY, "P2", "refused", SESSION, lane="refusal")),
    "a notice of garbage": besides(Frame(STUDY.digest, "P2", "public", "notice", 7, b"\xff")),
    "the record as one of P3": besides(Frame(STUDY.digest, "P3", "public", "transcript", 0, b"\x83\x00\x01\x40")),
}
LEFT_OUT = r"ignored a malformed status message of 'P2'|ignored a status message of P2"


@pytest.mark.parametrize("reader", ["P1", pytest.param("charlie", marks=pytest.mark.slow)])
def test_what_is_made_up_beside_the_mail_changes_nothing(reader: str, curator_run: Sites, tmp_path: Path) -> None:
    """All of it comes with P2's greeting, each under a number of its own."""
    made = [make(Frame("", "", "", "envelope", 0, b""))[1] for make in NO_EFFECT.values()]
    forged = [replace(p, number=p.number + at) if p.lane in ("notice", "refusal") else p for at, p in enumerate(made)]
    run = Sites(STUDY, tmp_path)
    change = GREETING.becomes(besides(*forged))
    run.between = lambda name, way: HubCarrier(way, change) if name == reader else way
    run.run()
    assert sites.ends(run) == ["released"] * 4
    assert sites.stage_result(run) == sites.stage_result(curator_run)
    left_out = [line for line in run.said[reader] if re.match(LEFT_OUT, line)]
    assert len(left_out) == sum(p.lane in ("notice", "refusal") for p in forged)


def test_who_is_done_ends_nothing_any_more(curator_run: Sites, tmp_path: Path) -> None:
    done = At("P2", "public", "notice", 0)
    run = Sites(STUDY, tmp_path)
    change = done.becomes(lambda p: [said(STUDY, "P2", "aborted", SESSION), p])
    run.between = lambda name, way: HubCarrier(way, change)
    assert sites.stage_result(run.run()) == sites.stage_result(curator_run)


def test_where_parties_may_vanish_a_party_ends_nothing_for_all(sum_run: Sites, tmp_path: Path) -> None:
    study = sum_run.study
    session = study.session(sites.approvals(study)).id
    change = GREETING.becomes(besides(said(study, "P2", "aborted", session)))
    run = Sites(study, tmp_path)
    run.between = lambda name, way: HubCarrier(way, change) if name in ("P1", "P3") else way
    assert sites.stage_result(run.run()) == sites.stage_result(sum_run)


def test_evidence_is_kept_of_what_stopped_a_site(tmp_path: Path) -> None:
    run = run_with(STOPS["two letters of one number"], tmp_path)
    one, other = (p for p in map(Frame.decode, run.evidence("P1")) if LETTER.is_of(p))
    assert one.digest != other.digest
    assert any(p.lane == "notice" and p.sender == "P1" and b'"aborted"' in p.body for p in run.frames())
    assert all(p.body.count(b"somebody") == 0 for p in run.frames())  # others hear a code
