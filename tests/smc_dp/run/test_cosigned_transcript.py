"""A transcript is a log that is closed once: signed by the curator, cosigned by parties, and held by the audit."""

from __future__ import annotations

import base64
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from support import audits, sites
from support.sites import LINEAR, Sites

from protocols.curator import CURATOR_NAME
from smc_dp.audit.run.check import CheckOutcome
from smc_dp.audit.run.evidence import load_evidence
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
