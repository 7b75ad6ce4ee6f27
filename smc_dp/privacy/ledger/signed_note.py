"""Signed notes, checkpoints and cosignatures in the form of C2SP (signed-note, tlog-checkpoint, tlog-cosignature).

A note is a text with signature lines. A checkpoint is a note of three lines: the origin of a log, its size, and the
root of its Merkle tree. The log signs it (type 1, Ed25519 over the text). A witness cosigns it (type 4, Ed25519 over
`cosignature/v1`, a time and the text). A cosignature states that at this time the checkpoint was the largest that the
witness had seen of the log, and extends all that it had seen before.

Ed25519 and not ML-DSA-44, which C2SP recommends for new logs: every identity here is an Ed25519 key, so a head cannot
be harder to forge than the key that it is bound to. A cosignature matters while a study runs, and not in later decades.
Assumption: Ed25519 signatures cannot be forged.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from protocols.crypto.identity import PUBLIC_BYTES, Signer, verify
from smc_dp.core.errors import InputError, shown
from smc_dp.privacy.ledger.merkle import HASH_BYTES

MOST_NOTE_BYTES = 1 << 16
ED25519: Final = 1
COSIGNATURE: Final = 4
_MOST_SIZE, _ID_BYTES, _TIME_BYTES, _MOST_NAME = 1 << 63, 4, 8, 200
_LATEST = 253_402_300_800  # seconds from 1970 to the year 10000: calendars end there
_DASH = "\N{EM DASH} "
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f]")
_DECIMAL = re.compile(r"0|[1-9][0-9]{0,18}", re.ASCII)


@dataclass(frozen=True)
class NoteSignature:
    """Signature line of a note: name and ID of a key, and the bytes that it made."""

    name: str
    key_id: bytes
    signature: bytes

    @property
    def line(self) -> str:
        """The line, with its end."""
        return f"{_DASH}{self.name} {_to_base64(self.key_id + self.signature)}\n"

    @classmethod
    def read(cls, line: str) -> NoteSignature:
        """Read a line, without its end; InputError for any other text."""
        name, space, encoded = line.removeprefix(_DASH).partition(" ")
        found = _from_base64(encoded)
        if not line.startswith(_DASH) or not space or not is_key_name(name) or len(found) <= _ID_BYTES:
            raise malformed_note()
        return cls(name, found[:_ID_BYTES], found[_ID_BYTES:])


@dataclass(frozen=True)
class SignedNote:
    """Text with its signature lines. Nothing of it counts before a signature by a known key was verified."""

    text: str
    signatures: tuple[NoteSignature, ...] = ()

    @classmethod
    def read(cls, content: bytes) -> SignedNote:
        """Read a note; InputError for bytes that are not exactly one."""
        if len(content) > MOST_NOTE_BYTES:
            raise malformed_note()
        try:
            decoded = content.decode()
        except UnicodeDecodeError:
            raise malformed_note() from None
        text, gap, lines = decoded.rpartition("\n\n")
        if not gap or not lines.endswith("\n") or _CONTROL.search(decoded):
            raise malformed_note()
        return cls(f"{text}\n", tuple(map(NoteSignature.read, lines.removesuffix("\n").split("\n"))))

    def encode(self) -> bytes:
        """Encode the note, with its signatures in their order."""
        return f"{self.text}\n{''.join(signature.line for signature in self.signatures)}".encode()

    def signed(self, *signatures: NoteSignature) -> SignedNote:
        """Return the note with these signatures below the others."""
        return replace(self, signatures=(*self.signatures, *signatures))


@dataclass(frozen=True)
class Checkpoint:
    """Head of a log: the number of its entries, the root of their tree, and further lines that its owner may sign."""

    origin: str
    size: int
    root: bytes
    further: tuple[str, ...] = ()

    @classmethod
    def read(cls, text: str) -> Checkpoint:
        """Read the text of a note; InputError for one that is no checkpoint."""
        origin, size, root, *others = text.removesuffix("\n").split("\n") if text.count("\n") >= 3 else ("", "", "")
        if not origin or "" in others or not text.endswith("\n"):
            raise InputError("checkpoint.malformed", got=shown(text))
        return cls(origin, read_size(size), read_hash(root), tuple(others))

    @property
    def text(self) -> str:
        """The text that is signed."""
        return "".join(f"{line}\n" for line in (self.origin, self.size, _to_base64(self.root), *self.further))


@dataclass(frozen=True)
class VerifierKey:
    """Public key under a name, for one type of signatures. Its text, a vkey, is what others are given."""

    name: str
    kind: int
    public: bytes

    @classmethod
    def read(cls, text: str) -> VerifierKey:
        """Read a vkey; InputError for a text that is none, or of another type."""
        name, _, rest = text.partition("+")
        _, _, encoded = rest.partition("+")
        content = _from_base64(encoded)
        found = cls(name, content[0] if content else 0, content[1:])
        wanted = found.kind in (ED25519, COSIGNATURE) and len(found.public) == PUBLIC_BYTES and is_key_name(name)
        if not wanted or found.text != text:
            raise InputError("vkey.malformed")  # the text may be that of a secret key
        return found

    @property
    def text(self) -> str:
        """The key as a vkey."""
        return f"{self.name}+{self.key_id.hex()}+{_to_base64(bytes([self.kind]) + self.public)}"

    @property
    def key_id(self) -> bytes:
        """First bytes of a digest, by which a signature line finds its key. It proves nothing."""
        content = self.name.encode() + b"\n" + bytes([self.kind]) + self.public
        return hashlib.sha256(content).digest()[:_ID_BYTES]

    def signature_in(self, note: SignedNote) -> NoteSignature | None:
        """Return the first valid signature of this key; None where it has none, InputError for a false one."""
        mine = [s for s in note.signatures if (s.name, s.key_id) == (self.name, self.key_id)]
        for signature in mine:
            if not self._is_valid(note.text, signature.signature):
                raise InputError("note.false_signature", name=self.name)
        return mine[0] if mine else None

    def _is_valid(self, text: str, signature: bytes) -> bool:
        if self.kind == ED25519:
            return verify(self.public, text.encode(), signature)
        time, made = int.from_bytes(signature[:_TIME_BYTES], "big"), signature[_TIME_BYTES:]
        return 0 < time < _LATEST and verify(self.public, _cosigned(text, time), made)


def sign_note(note: SignedNote, name: str, signer: Signer) -> SignedNote:
    """Return the note with the signature of a log below."""
    key = VerifierKey(name, ED25519, signer.public)
    return note.signed(NoteSignature(name, key.key_id, signer.sign(note.text.encode())))


def cosign_note(note: SignedNote, name: str, signer: Signer, time: int) -> SignedNote:
    """Return a checkpoint with the cosignature of a witness below. The caller has checked what it states.

    InputError for a time before 1970 or after 9999.
    """
    if not 0 < time < _LATEST:
        raise InputError("witness.wrong_clock", got=time)
    key = VerifierKey(name, COSIGNATURE, signer.public)
    made = time.to_bytes(_TIME_BYTES, "big") + signer.sign(_cosigned(note.text, time))
    return note.signed(NoteSignature(name, key.key_id, made))


def cosigned_at(signature: NoteSignature) -> int:
    """Return the time of a cosignature, in seconds since 1970."""
    return int.from_bytes(signature.signature[:_TIME_BYTES], "big")


def _cosigned(text: str, time: int) -> bytes:
    return f"cosignature/v1\ntime {time}\n{text}".encode()


def malformed_note() -> InputError:
    """Return the refusal of bytes that are no signed note."""
    return InputError("note.malformed", most=MOST_NOTE_BYTES)


def is_key_name(name: str) -> bool:
    """Return whether a key may have this name: printable, without spaces and without a plus."""
    return 0 < len(name) <= _MOST_NAME and name.isprintable() and "+" not in name and not re.search(r"\s", name)


def read_size(text: str) -> int:
    """Read a number of leaves, decimal and without leading zeros; InputError for any other text."""
    if not _DECIMAL.fullmatch(text) or int(text) >= _MOST_SIZE:
        raise InputError("checkpoint.malformed", got=shown(text))
    return int(text)


def read_hash(text: str) -> bytes:
    """Read a hash in base64; InputError for any other text."""
    found = _from_base64(text)
    if len(found) != HASH_BYTES:
        raise InputError("checkpoint.malformed", got=shown(text))
    return found


def _to_base64(content: bytes) -> str:
    """Return bytes in standard base64."""
    return base64.b64encode(content).decode()


def _from_base64(text: str) -> bytes:
    """Return the bytes of a text in standard base64, of which each has one; nothing for any other text."""
    try:
        found = base64.b64decode(text, validate=True)
    except ValueError:
        return b""
    return found if _to_base64(found) == text else b""


def hash_lines(hashes: Sequence[bytes]) -> str:
    """Return a line of base64 for each hash."""
    return "".join(f"{_to_base64(one)}\n" for one in hashes)
