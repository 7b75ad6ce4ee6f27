"""Notes, checkpoints and cosignatures against the examples of C2SP, of Go, and against a witness in operation."""

from __future__ import annotations

import base64
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.crypto.identity import Identity
from smc_dp.core.errors import InputError
from smc_dp.privacy.ledger.merkle import leaf_hash
from smc_dp.privacy.ledger.signed_note import (
    COSIGNATURE,
    ED25519,
    Checkpoint,
    SignedNote,
    VerifierKey,
    cosign_note,
    sign_note,
)
from tests.support.refusals import refused

VECTORS = tomllib.loads((Path(__file__).parents[3] / "vectors" / "signed_notes.toml").read_text(encoding="utf-8"))
NOTES = {name: str(vector["note"]) for name, vector in VECTORS.items()}
VERIFIED = [(NOTES[name], str(key)) for name, vector in VECTORS.items() for key in vector["keys"]]
FOO = NOTES["c2sp_vkey"]
SIGNER = Identity(bytes(range(32)))


@pytest.mark.parametrize(("text", "key"), VERIFIED, ids=["c2sp", "go", "log", "witness"])
def test_published_signatures_are_valid_and_no_other_text_time_or_byte_is(text: str, key: str) -> None:
    known = VerifierKey.read(key)
    note = SignedNote.read(text.encode())
    found = known.signature_in(note)
    assert known.text == key
    for spoilt in (replace(note, text=f"x{note.text}"), replace(note, text=f"{note.text}x\n")):
        with refused("note.false_signature"):
            known.signature_in(spoilt)
    for place in range(len(found.signature)):
        wrong = bytearray(found.signature)
        wrong[place] ^= 1
        other = SignedNote(note.text, (replace(found, signature=bytes(wrong)),))
        with refused("note.false_signature"):
            known.signature_in(other)


def test_a_cosignature_is_over_the_time_and_the_text_and_is_no_other_signature() -> None:
    text = Checkpoint("example.com/log", 3, leaf_hash(b"")).text
    note = cosign_note(SignedNote(text), "south", SIGNER, 1679315147)
    made = note.signatures[0]
    assert made.signature[8:] == SIGNER.sign(b"cosignature/v1\ntime 1679315147\n" + text.encode())
    assert VerifierKey("south", COSIGNATURE, SIGNER.public).signature_in(note) == made
    assert VerifierKey("south", ED25519, SIGNER.public).signature_in(note) is None
    late = (1 << 63).to_bytes(8, "big") + SIGNER.sign(f"cosignature/v1\ntime {1 << 63}\n{text}".encode())
    too_late = SignedNote(text, (replace(made, signature=late),))
    with refused("note.false_signature"):
        VerifierKey("south", COSIGNATURE, SIGNER.public).signature_in(too_late)


def test_lines_of_unknown_keys_are_ignored_even_under_a_known_name() -> None:
    note = sign_note(SignedNote("text\n"), "north", SIGNER)
    other = Identity(bytes(32))
    both = sign_note(note, "north", other)
    assert VerifierKey("north", ED25519, SIGNER.public).signature_in(both) == note.signatures[0]
    assert VerifierKey("west", ED25519, SIGNER.public).signature_in(both) is None


NO_NOTES = {
    "no signatures": "text\n",
    "no line after the gap": "text\n\n",
    "no end": FOO.removesuffix("\n"),
    "an empty line at the end": f"{FOO}\n",
    "a carriage return": FOO.replace("\n", "\r\n"),
    "a zero": FOO.replace("example message", "\0"),
    "a hyphen for the dash": FOO.replace("—", "-"),
    "no name": FOO.replace("example.com/foo", ""),
    "a plus in the name": FOO.replace("example.com/foo", "a+b"),
    "a wide space in the name": FOO.replace("example.com/foo", "a\u2003b"),
    "no base64": FOO.replace("Uw2Q", "Uw2*"),
    "base64 without its end": FOO.replace("=\n", "\n"),
    "base64 with bits that mean nothing": FOO.replace("QM=\n", "QN=\n"),
    "an ID alone": f"{FOO[:29]}— a {base64.b64encode(b'abcd').decode()}\n",
    "too long": "x" * (1 << 16) + FOO,
}


@pytest.mark.parametrize("text", NO_NOTES.values(), ids=NO_NOTES)
def test_other_bytes_are_no_note(text: str) -> None:
    for content in (text.encode(), b"\xff" + text.encode()):
        with pytest.raises(InputError):
            SignedNote.read(content)


@pytest.mark.parametrize(
    "text",
    [
        *("", "a\n", "a\n1\n", "\n1\nroot\n", "a\n01\nroot\n", "a\n-1\nroot\n", "a\n+1\nroot\n", "a\n1_0\nroot\n"),
        *(
            "a\n0x1\nroot\n",
            f"a\n{1 << 63}\nroot\n",
            "a\n\u0661\nroot\n",
            "a\n1\nroot",
            "a\n1\nroot\n\n",
            "a\n1\nAAAA\n",
        ),
        "a\n1\nroot\n\nextension\n",
    ],
)
def test_other_texts_are_no_checkpoint(text: str) -> None:
    filled = text.replace("root", base64.b64encode(bytes(32)).decode())
    with pytest.raises(InputError):
        Checkpoint.read(filled)


@pytest.mark.parametrize("key", [key for _, key in VERIFIED])
def test_no_other_text_is_a_key(key: str) -> None:
    parts = {key[start:end] for start in range(len(key)) for end in range(start, len(key) + 1)} - {key}
    changed = {f"{key[:place]}{chr(ord(key[place]) + 1)}{key[place + 1 :]}" for place in range(len(key))}
    for text in parts | changed:
        with pytest.raises(InputError):
            VerifierKey.read(text)


@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_reading_never_fails_otherwise(content: bytes) -> None:
    for end in (b"", b"\n\n\xe2\x80\x94 a AAAAAAAA\n"):
        try:
            assert SignedNote.read(content + end).encode() == content + end
        except InputError:
            continue
