"""Cosigned head of a transcript: its lines as a Merkle log that was closed once, in the form of C2SP.

Each leaf is a line with its end, so the head fixes every byte. The origin names the session. The curator signs the head
with its identity key, and other sites of the study cosign it, each with the key of its witness. The file beside a
transcript has the head with all signatures, and below it a statement of each witness: its cosigning key for this
session, signed with its identity key. With the identities a verifier needs nothing else.

A cosignature claims that at its time the site had compared this transcript with its own messages and made its release
from it, and that it cosigns no other transcript of the session. So two transcripts of one session are never cosigned by
one honest site. It does not say that a message is true, or that a site which did not cosign agrees. A site that is
malicious, or whose witness was put back to an older copy, can cosign two; the time is that of the witness's clock.
Assumptions: SHA-256 is collision-resistant, and Ed25519 signatures cannot be forged.
"""

from __future__ import annotations

import io
from dataclasses import dataclass, replace

from protocols.crypto.identity import Signer
from protocols.curator import CURATOR_NAME
from protocols.runtime.session import Session
from smc_dp.core.errors import InputError
from smc_dp.privacy.ledger.merkle import leaf_hash, tree_root
from smc_dp.privacy.ledger.signed_note import (
    COSIGNATURE,
    ED25519,
    Checkpoint,
    NoteSignature,
    SignedNote,
    VerifierKey,
    sign_note,
)
from smc_dp.privacy.ledger.witness import witness_name

_ORIGIN = "smc-dp.transcript/"
_SESSION = "session "


def transcript_key(session_id: bytes, curator: bytes) -> VerifierKey:
    """Return the key that signs the head of a session's transcript."""
    return VerifierKey(f"{_ORIGIN}{session_id.hex()}", ED25519, curator)


def head_of_transcript(session_id: bytes, content: bytes) -> Checkpoint:
    """Return the head of a transcript."""
    leaves = [leaf_hash(line) for line in io.BytesIO(content)]  # the lines concatenate to the content
    return Checkpoint(f"{_ORIGIN}{session_id.hex()}", len(leaves), tree_root(leaves))


@dataclass(frozen=True)
class CosignedTranscript:
    """Signed head of a transcript, with cosignatures, and the statements of the keys that made them."""

    head: SignedNote
    statements: tuple[SignedNote, ...] = ()

    @classmethod
    def sign(cls, session_id: bytes, content: bytes, curator: Signer) -> CosignedTranscript:
        """Sign the head of a transcript as its curator."""
        head = head_of_transcript(session_id, content)
        return cls(sign_note(SignedNote(head.text), head.origin, curator))

    @classmethod
    def read(cls, content: bytes) -> CosignedTranscript:
        """Read the file beside a transcript; InputError for any other bytes."""
        parts = content.removesuffix(b"\n").split(b"\n\n")
        if len(parts) % 2 or not content.endswith(b"\n"):
            raise InputError("cosigned.malformed")
        notes = [SignedNote.read(b"%b\n\n%b\n" % pair) for pair in zip(parts[::2], parts[1::2], strict=True)]
        return cls(notes[0], tuple(notes[1:]))

    def encode(self) -> bytes:
        """Encode the file."""
        return b"\n".join(note.encode() for note in (self.head, *self.statements))

    def stating(self, session_id: bytes, key: VerifierKey, witness: Signer) -> CosignedTranscript:
        """Add the statement that this key is the one with which a witness cosigns in the session."""
        text = _key_statement(session_id, key, witness.public)
        made = sign_note(SignedNote(text), witness_name(witness.public), witness)
        return replace(self, statements=(*self.statements, made))

    def witnessed_by(self, session_id: bytes, name: str, identity: bytes) -> tuple[SignedNote, NoteSignature] | None:
        """Return the statement and the cosignature of a participant; None without them, InputError for false ones.

        The statement has its own signature alone: nobody vouches for other lines below it.
        """
        signer = VerifierKey(witness_name(identity), ED25519, identity)
        for note in self.statements:
            of_another = note.text.split("\n")[0] != signer.name
            if of_another or (own := signer.signature_in(note)) is None:
                continue
            key = VerifierKey.read(note.text.split("\n")[1])
            stated = note.text == _key_statement(session_id, key, identity)
            if not stated or key.kind != COSIGNATURE or key.name != signer.name or key.public == identity:
                raise InputError("cosigned.no_statement", name=name)
            if (made := key.signature_in(self.head)) is not None:
                return replace(note, signatures=(own,)), made
        return None

    def cosigners(self, session: Session, transcript: bytes) -> list[str]:
        """Return the parties that cosigned this transcript; InputError unless the curator signed its head."""
        self.check_signed(session.id, session.identities[CURATOR_NAME], head_of_transcript(session.id, transcript))
        others = [name for name in session.names if name != CURATOR_NAME]
        return [name for name in others if self.witnessed_by(session.id, name, session.identities[name])]

    def check_signed(self, session_id: bytes, curator: bytes, head: Checkpoint) -> None:
        """Raise InputError unless this is the head of this transcript, signed by the curator."""
        if transcript_key(session_id, curator).signature_in(self.head) is None:
            raise InputError("cosigned.not_signed", name=CURATOR_NAME)
        if self.head.text != head.text:
            raise InputError("cosigned.other_transcript", lines=head.size, signed=Checkpoint.read(self.head.text).size)


def _key_statement(session_id: bytes, key: VerifierKey, witness: bytes) -> str:
    return f"{witness_name(witness)}\n{key.text}\n{_SESSION}{session_id.hex()}\n"
