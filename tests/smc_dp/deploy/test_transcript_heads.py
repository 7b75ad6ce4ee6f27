"""A transcript is a log that is closed once: signed by the curator, cosigned by parties, and held by the audit."""

from __future__ import annotations

import base64
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from support import audits, sites
from support.hubs import At, HubCarrier, body
from support.relay_carriers import PassingCarrier
from support.sites import LINEAR, MESSAGES, Sites

from protocols.curator import CURATOR_NAME
from protocols.runtime.session import PUBLIC_NAME
from smc_dp.audit.run.check import CheckOutcome
from smc_dp.audit.run.evidence import load_evidence
from smc_dp.core.errors import InputFault
from smc_dp.deploy.frame import CarrierError, Frame
from smc_dp.deploy.ledger_heads import MOST_HEAD_BYTES, may_carry, own_witness
from smc_dp.deploy.store import StoreError
from smc_dp.privacy.ledger.signed_note import ED25519, NoteSignature, SignedNote, VerifierKey, cosign_note, sign_note
from smc_dp.privacy.ledger.witness import Witness, witness_name
from smc_dp.run.cosigned_transcript import CosignedTranscript, head_of_transcript, transcript_key
from smc_dp.run.publication import publish_run
from smc_dp.run.release import COSIGNED, TRANSCRIPT
from tests.smc_dp.privacy.ledger.test_merkle import tree
from tests.support.refusals import refused

STUDY = sites.joint(LINEAR)
CURATOR = sites.identity(CURATOR_NAME)
SESSION = bytes(range(32))
HEAD, COSIGNED_BY_P1 = At(CURATOR_NAME, PUBLIC_NAME, "head", 0), At("P1", CURATOR_NAME, "cosigned", 0)


@pytest.fixture
def folder(curator_run: Sites, tmp_path: Path) -> Path:
    """The curator's run folder, to be changed."""
    shutil.copytree(curator_run.at[CURATOR_NAME].folder / "run", tmp_path / "run")
    return tmp_path / "run"


def outcome(folder: Path) -> CheckOutcome:
    return audits.outcome("cosigned", load_evidence(folder))


def test_the_file_is_a_cosigned_checkpoint_of_the_lines_to_a_reader_who_knows_only_the_texts_of_c2sp(
    curator_run: Sites,
) -> None:
    folder = curator_run.at[CURATOR_NAME].folder / "run"
    head, lines, *statements = (folder / COSIGNED).read_text(encoding="utf-8").removesuffix("\n").split("\n\n")
    said = (folder / TRANSCRIPT).read_bytes().splitlines(keepends=True)
    origin, size, root = head.split("\n")
    assert (int(size), base64.b64decode(root)) == (len(said), tree(said))
    keys = {}
    for text, line in zip(statements[::2], statements[1::2], strict=True):
        identity = bytes.fromhex(text.split("\n")[0].partition("/")[2])
        Ed25519PublicKey.from_public_bytes(identity).verify(signature(line)[4:], f"{text}\n".encode())
        assert text.split("\n")[2] == f"session {origin.partition('/')[2]}"
        keys[text.split("\n")[0]] = base64.b64decode(text.split("\n")[1].split("+", 2)[2])
    assert list(keys) == [f"smc-dp.witness/{sites.identity(name).public.hex()}" for name in STUDY.parties]
    curator, *cosigned = lines.split("\n")
    Ed25519PublicKey.from_public_bytes(CURATOR.public).verify(signature(curator)[4:], f"{head}\n".encode())
    for line in cosigned:
        key, made = keys[line.split(" ")[1]], signature(line)
        assert key[0] == 4
        text = f"cosignature/v1\ntime {int.from_bytes(made[4:12], 'big')}\n{head}\n"
        Ed25519PublicKey.from_public_bytes(key[1:]).verify(made[12:], text.encode())


def signature(line: str) -> bytes:
    return base64.b64decode(line.split(" ")[2])


def test_the_audit_names_who_cosigned_and_a_party_has_its_own_cosignature(curator_run: Sites) -> None:
    found = {name: outcome(here.folder / "run") for name, here in curator_run.at.items()}
    assert {name: said.code for name, said in found.items()} == dict.fromkeys(STUDY.names, "cosigned.holds")
    names = {name: said.fault.fields["names"] for name, said in found.items()}
    assert names == {**{name: (name,) for name in STUDY.parties}, CURATOR_NAME: STUDY.parties}


def test_a_published_folder_has_it_and_a_folder_without_it_says_so(folder: Path, tmp_path: Path) -> None:
    assert COSIGNED in publish_run(folder, tmp_path / "public")
    assert outcome(tmp_path / "public").holds
    (folder / COSIGNED).unlink()
    assert (outcome(folder).code, outcome(folder).inapplicable) == ("cosigned.none", True)
    assert COSIGNED not in publish_run(folder, tmp_path / "without")


def test_a_head_of_another_transcript_is_not_published(folder: Path, tmp_path: Path) -> None:
    kept = CosignedTranscript.read((folder / COSIGNED).read_bytes())
    session = bytes.fromhex(kept.head.text.split("\n")[0].partition("/")[2])
    other = CosignedTranscript.sign(session, (folder / TRANSCRIPT).read_bytes() + b"x\n", CURATOR)
    stranger = CosignedTranscript.sign(session, (folder / TRANSCRIPT).read_bytes(), sites.identity("stranger"))
    for content, code in (
        *((other.encode(), "cosigned.other_transcript"), (stranger.encode(), "cosigned.not_signed")),
        (b"north, 1970-01-01, F32\n", "cosigned.malformed"),
    ):
        (folder / COSIGNED).write_bytes(content)
        with refused(code, at=str(folder / COSIGNED)):
            publish_run(folder, tmp_path / "public")
    assert not (tmp_path / "public").exists()


def test_a_file_that_is_too_long_is_a_fault_of_it_and_ends_no_audit(folder: Path, tmp_path: Path) -> None:
    kept = CosignedTranscript.read((folder / COSIGNED).read_bytes())
    (folder / COSIGNED).write_bytes(replace(kept, statements=kept.statements * 200).encode())
    assert (folder / COSIGNED).stat().st_size > 1 << 17
    assert outcome(folder).code == "file.too_large"
    with refused("file.too_large"):
        publish_run(folder, tmp_path / "public")


def test_the_audit_refuses_another_transcript_and_every_signature_that_is_missing(folder: Path) -> None:
    kept = CosignedTranscript.read((folder / COSIGNED).read_bytes())
    session = bytes.fromhex(kept.head.text.split("\n")[0].partition("/")[2])
    content = (folder / TRANSCRIPT).read_bytes()

    def code_of(found: CosignedTranscript) -> str:
        (folder / COSIGNED).write_bytes(found.encode())
        return outcome(folder).code

    other = head_of_transcript(session, content + b"x\n")
    lines = kept.head.signatures
    assert code_of(CosignedTranscript(sign_note(SignedNote(other.text), other.origin, CURATOR))) == (
        "cosigned.other_transcript"
    )
    assert code_of(replace(kept, head=SignedNote(kept.head.text, lines[1:]))) == "cosigned.not_signed"
    assert code_of(CosignedTranscript(SignedNote(kept.head.text, lines[:1]))) == "cosigned.by_nobody"
    assert code_of(replace(kept, statements=())) == "cosigned.by_nobody"  # whose keys these are nobody knows
    stranger = sites.identity("stranger")
    named = replace(kept.statements[0], signatures=sign_note(SignedNote("x\n"), "x", stranger).signatures)
    assert code_of(replace(kept, statements=(named,))) == "cosigned.by_nobody"
    false = replace(lines[1], signature=lines[2].signature)
    assert code_of(replace(kept, head=SignedNote(kept.head.text, (lines[0], false)))) == "note.false_signature"
    (folder / COSIGNED).write_bytes(b"nothing\n")
    assert outcome(folder).code == "cosigned.malformed"
    with Witness.create(folder / "witness", witness_name(CURATOR.public)) as witness:  # of the curator itself
        own = witness.cosign_closed(SignedNote(kept.head.text, lines[:1]), transcript_key(session, CURATOR.public))
        made = CosignedTranscript(own).stating(session, witness.key, CURATOR)
    (folder / "witness").unlink()
    assert code_of(made) == "cosigned.by_nobody"


def test_a_line_without_its_end_is_another_log() -> None:
    heads = [head_of_transcript(SESSION, content) for content in (b"a\nb\n", b"a\nb", b"a\r\nb\n", b"a\n\nb\n")]
    assert len({(head.size, head.root) for head in heads}) == len(heads)


@pytest.mark.parametrize("wrong", ["session", "kind", "identity", "name"])
def test_a_statement_is_of_a_witness_for_one_session(wrong: str, tmp_path: Path) -> None:
    signed = CosignedTranscript.sign(SESSION, b"line\n", CURATOR)
    party, log = sites.identity("P1"), transcript_key(SESSION, CURATOR.public)
    with Witness.create(tmp_path / "witness", witness_name(party.public)) as witness:
        note, key = witness.cosign_closed(signed.head, log), witness.key
    good = CosignedTranscript(note).stating(SESSION, key, party)
    assert good.witnessed_by(SESSION, "P1", party.public) is not None
    (statement,) = good.statements
    other = sites.identity("P2").public
    line = NoteSignature(witness_name(other), VerifierKey(witness_name(other), ED25519, other).key_id, bytes(64))
    more = replace(good, statements=(statement.signed(line),))  # by a carrier, or by P1
    assert (found := more.witnessed_by(SESSION, "P1", party.public)) is not None
    assert found[0] == statement
    assert more.witnessed_by(SESSION, "P2", other) is None
    assert CosignedTranscript.read(good.encode()) == good
    if wrong == "session":
        bad = CosignedTranscript(note).stating(bytes(32), key, party)
    elif wrong == "kind":
        bad = CosignedTranscript(note).stating(SESSION, VerifierKey(key.name, 1, key.public), party)
    elif wrong == "name":
        bad = CosignedTranscript(note).stating(SESSION, VerifierKey("of-another", key.kind, key.public), party)
    else:
        own = cosign_note(signed.head, key.name, party, 1)
        bad = CosignedTranscript(own).stating(SESSION, VerifierKey(key.name, key.kind, party.public), party)
    with refused("cosigned.no_statement"):
        bad.witnessed_by(SESSION, "P1", party.public)


def test_a_witness_cosigns_one_transcript_of_a_session_and_that_one_again_with_the_same_answer(tmp_path: Path) -> None:
    first, other = (CosignedTranscript.sign(SESSION, content, CURATOR).head for content in (b"a\n", b"b\n"))
    log, clock = transcript_key(SESSION, CURATOR.public), iter((5.0, 6.0, 7.0, 8.0, 9.0))
    Witness.create(tmp_path / "witness", "south").close()
    with Witness.open(tmp_path / "witness", lambda: next(clock)) as witness:
        answer = witness.cosign_closed(first, log)
        assert witness.cosign_closed(first, log) == answer
        with refused("witness.closed_before"):
            witness.cosign_closed(other, log)
        for unsigned in (SignedNote(other.text), sign_note(SignedNote(other.text), log.name, sites.identity("P1"))):
            with refused("head.not_signed"):
                witness.cosign_closed(unsigned, log)
        with refused("head.not_signed"):
            witness.cosign_closed(first, transcript_key(bytes(32), CURATOR.public))
        assert witness.last(CURATOR.public) is None  # the head of no ledger


def of_another_transcript(body: bytes) -> bytes:
    signed = CosignedTranscript.read(body).head
    session = bytes.fromhex(signed.text.split("\n")[0].partition("/")[2])
    return CosignedTranscript.sign(session, b"other\n", CURATOR).encode()


@pytest.mark.parametrize("make", [of_another_transcript, lambda content: b"nothing"])
def test_a_party_does_not_cosign_another_head_and_has_its_release(
    make: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    run = Sites(STUDY, tmp_path, between=lambda name, way: HubCarrier(way, HEAD.becomes(body(make)))).run()
    assert set(run.ends.values()) == {"released"}
    assert not any(frame.lane == "cosigned" and frame.to == CURATOR_NAME for frame in run.frames())
    assert all((here.folder / "run" / COSIGNED).exists() == (name == CURATOR_NAME) for name, here in run.at.items())
    assert "did not cosign the transcript" in " ".join(run.said["P1"])
    assert outcome(run.at[CURATOR_NAME].folder / "run").code == "cosigned.by_nobody"


def test_a_false_cosignature_counts_for_nobody_and_is_waited_for_one_deadline(tmp_path: Path) -> None:
    def of_p2(frame: Frame) -> Frame:
        found = CosignedTranscript.read(frame.body)
        with own_witness(tmp_path / "P2" / "counters", sites.identity("P2").public, lambda: 1.0) as witness:
            return replace(frame, body=found.stating(SESSION, witness.key, sites.identity("P2")).encode()[:-90] + b"\n")

    run = Sites(STUDY, tmp_path, between=lambda name, way: HubCarrier(way, COSIGNED_BY_P1.becomes(of_p2))).run()
    assert outcome(run.at[CURATOR_NAME].folder / "run").fault.fields["names"] == ("P2", "P3")


def test_the_curator_waits_for_one_deadline_and_no_longer_and_comes_back_for_what_came_late(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its store has the transcript and all messages of the session: it is read once for all looks."""
    run = Sites(STUDY, tmp_path)
    run.run(until=lambda: run.ends.get("P1") == "released")
    run.away = {"P2", "P3"}
    run.run(until=lambda: run.facts(CURATOR_NAME).get("end") == "released")
    store, before = run.stores[CURATOR_NAME], run.clock.now
    reads = {name: Mock(wraps=getattr(store, name)) for name in ("received", "outgoing")}
    for name, read in reads.items():
        monkeypatch.setattr(store, name, read)
    run.run()
    assert MESSAGES < run.clock.now - before < 2 * MESSAGES
    assert all(sum(not asked.kwargs for asked in read.mock_calls) <= 1 for read in reads.values())  # of all frames
    folder = run.at[CURATOR_NAME].folder / "run"
    assert (run.ends[CURATOR_NAME], outcome(folder).fault.fields["names"]) == ("released", ("P1",))
    run.away = set()
    run.run()
    run.begin(CURATOR_NAME)
    run.run()
    assert outcome(folder).fault.fields["names"] == STUDY.parties


def test_a_clock_that_was_set_back_after_the_release_keeps_nobody(tmp_path: Path) -> None:
    run = Sites(STUDY, tmp_path)
    run.run(until=lambda: run.ends.get("P1") == "released")
    run.away = {"P2", "P3"}
    run.run(until=lambda: run.facts(CURATOR_NAME).get("end") == "released")
    run.clock.now = before = run.clock.now - 1e6
    run.run()
    assert run.ends[CURATOR_NAME] == "released"
    assert run.clock.now - before < MESSAGES
    assert (run.at[CURATOR_NAME].folder / "run" / COSIGNED).exists()


def is_over(run: Sites) -> bool:
    return run.facts(CURATOR_NAME).get("end") == "released"


def is_handed_over(run: Sites) -> bool:
    return any(frame.lane == "transcript" for frame in run.frames())


@pytest.mark.parametrize(
    ("read", "since"), [("received", is_over), ("outgoing", is_handed_over), ("facts", is_handed_over)]
)
def test_a_store_that_fails_after_the_release_is_reported_and_the_release_stands(
    read: str, since: Callable[[Sites], bool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Sites(STUDY, tmp_path)
    run.run(until=lambda: since(run))
    monkeypatch.setattr(run.stores[CURATOR_NAME], read, Mock(side_effect=StoreError("state.in_use")))
    run.run()
    assert run.ends == dict.fromkeys(STUDY.names, "released")
    assert str(InputFault("state.in_use")) in run.said[CURATOR_NAME]


@pytest.mark.parametrize("read", ["outgoing", "facts"])
def test_a_curator_whose_store_fails_before_the_transcript_is_handed_over_is_told_to_come_back(
    read: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Sites(STUDY, tmp_path)
    run.run(until=lambda: is_over(run))
    assert not is_handed_over(run)
    with monkeypatch.context() as patch, refused("record.not_handed_over", error=StoreError):
        patch.setattr(run.stores[CURATOR_NAME], read, Mock(side_effect=StoreError("state.in_use")))
        run.run()
    run.begin(CURATOR_NAME)
    assert run.run().ends == dict.fromkeys(STUDY.names, "released")


class Contradicting(PassingCarrier):
    """A relay that hands over each frame twice, and beside each cosignature another frame and one that nobody sends."""

    def fetch(self, seconds: float) -> list[Frame]:
        found = self.inner.fetch(seconds)
        made = [replace(p, body=b"y") for p in found if p.lane == "cosigned"]
        return [*found, *found, *made, *(replace(p, number=1) for p in made), *(replace(p, to="P3") for p in made)]


def test_frames_that_repeat_or_contradict_each_other_do_not_keep_the_curator_from_its_end(tmp_path: Path) -> None:
    run = Sites(
        STUDY, tmp_path, between=lambda name, inner: Contradicting(inner) if name == CURATOR_NAME else inner
    ).run()
    assert set(run.ends.values()) == {"released"}
    assert outcome(run.at[CURATOR_NAME].folder / "run").fault.fields["names"] == STUDY.parties


def test_a_head_that_the_curator_has_not_is_not_answered(tmp_path: Path) -> None:
    """The answer would have the key of the cosignature under the transcript."""
    run = Sites(STUDY, tmp_path)
    run.relay.put(Frame(STUDY.digest, CURATOR_NAME, "P1", "head", 0, b"x"))
    run.run()
    assert set(run.ends.values()) == {"released"}
    assert outcome(run.at[CURATOR_NAME].folder / "run").fault.fields["names"] == STUDY.parties


@pytest.mark.parametrize("back", [0.0, 1e6])
def test_a_relay_that_is_gone_after_the_release_keeps_nobody_for_longer_than_a_deadline(
    back: float, tmp_path: Path
) -> None:
    tries: list[Sequence[Frame]] = []

    class Gone(PassingCarrier):
        def send(self, frames: Sequence[Frame]) -> None:
            if any((p.lane, p.to) == ("cosigned", CURATOR_NAME) for p in frames):
                tries.append(frames)
                run.clock.now -= back if len(tries) == 2 else 0.0
                assert len(tries) < 1000, "it tries without end"
                raise CarrierError("relay.gone")
            self.inner.send(frames)

    run = Sites(STUDY, tmp_path, between=lambda name, inner: Gone(inner) if name == "P1" else inner)
    before = run.clock.now
    run.run()
    assert set(run.ends.values()) == {"released"}
    assert back or MESSAGES < run.clock.now - before < 4 * MESSAGES


def test_a_party_whose_witness_is_unusable_has_its_release(tmp_path: Path) -> None:
    run = Sites(STUDY, tmp_path)
    run.run(until=lambda: (run.at[CURATOR_NAME].folder / "run").exists())
    next((tmp_path / "P1" / "counters").glob("*.witness")).write_bytes(b"junk" * 1000)
    run.run()
    assert set(run.ends.values()) == {"released"}
    assert "did not cosign the transcript" in " ".join(run.said["P1"])


def test_frames_of_the_head_of_a_transcript_go_from_the_curator_to_all_and_back() -> None:
    def fits(sender: str, to: str, number: int = 0, size: int = 1) -> bool:
        lane = "head" if to == PUBLIC_NAME else "cosigned"
        return may_carry(STUDY.names, Frame("a" * 64, sender, to, lane, number, bytes(size)))  # type: ignore[arg-type]

    assert fits(CURATOR_NAME, PUBLIC_NAME)
    assert fits("P1", CURATOR_NAME)
    assert not fits("P1", PUBLIC_NAME)
    assert not fits("P4", CURATOR_NAME)
    assert not fits("P1", CURATOR_NAME, 1)
    # The curator is a witness, and has no ledger.
    assert may_carry(STUDY.names, Frame("a" * 64, CURATOR_NAME, "P1", "seen", 0, b"x"))
    assert not may_carry(STUDY.names, Frame("a" * 64, CURATOR_NAME, "P1", "head", 0, b"x"))
    assert not may_carry(STUDY.names, Frame("a" * 64, "P1", CURATOR_NAME, "seen", 0, b"x"))
    assert not fits(CURATOR_NAME, PUBLIC_NAME, 1)
    assert not fits(CURATOR_NAME, PUBLIC_NAME, size=MOST_HEAD_BYTES + 1)
