"""Head of a ledger: a checkpoint over its entries, signed with the site's identity key, for witnesses to cosign.

Each leaf is the digest of an entry. The digest covers the entry before it, and so the secret key of the ledger: a head
and its proofs show a witness the number of entries and of charges, and no guess of an entry can be tested with them.
The origin is the site's public key, so one identity has one ledger that others witness. Another ledger under the same
identity is found as an older copy is. A lost ledger that was recovered (`recovery`) is another log: behind the key its
origin has the number of recoveries.

A head is detected to be older, or another one, by each witness that has seen a later one and has kept it. Nothing
detects an owner who makes a new ledger under a new identity.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from protocols.crypto.identity import Signer
from smc_dp.core import reading
from smc_dp.core.errors import InputError, shown
from smc_dp.privacy.ledger.history import History
from smc_dp.privacy.ledger.ledger import RELEASED, run_key
from smc_dp.privacy.ledger.merkle import consistency_proof, is_extension, leaf_hash, tree_root
from smc_dp.privacy.ledger.signed_note import (
    COSIGNATURE,
    ED25519,
    MOST_NOTE_BYTES,
    Checkpoint,
    SignedNote,
    VerifierKey,
    cosigned_at,
    hash_lines,
    malformed_note,
    read_hash,
    read_size,
    sign_note,
)

ORIGIN = "smc-dp.ledger/"
_OLD, _STUDY, _SESSION, _CHARGES, _MOST_PROOF_HASHES = "old ", "study ", "session ", "charges ", 63
_GENERATION = re.compile("(?:/([1-9][0-9]{0,8}))?", re.ASCII)
_RECOVERED = re.compile("recovered ([1-9][0-9]{0,8}): (?:([0-9]{1,9}) charges|whole budget)", re.ASCII)
HeadRelation: TypeAlias = Literal["head.same", "head.extended", "head.contradicted", "head.unproved", "head.recovered"]

EXTENDS: tuple[HeadRelation, ...] = ("head.same", "head.extended")
"""Relations of two heads of which the larger one extends the other."""


class LedgerRecovery(NamedTuple):
    """Recovery of a lost ledger: how many there were, and the charges of the lost one that are all in this one.

    `charges` is None where the whole budget counts as spent. A ledger states it as the mechanism of what it recovered.
    """

    generation: int = 0
    charges: int | None = 0

    @property
    def text(self) -> str:
        """The mechanism of the entries of this recovery."""
        return f"recovered {self.generation}: " + (
            "whole budget" if self.charges is None else f"{self.charges} charges"
        )

    @classmethod
    def all_in(cls, history: History) -> list[LedgerRecovery]:
        """Return the recovery of each recovered charge in a ledger."""
        found = (_RECOVERED.fullmatch(entry.mechanism or "") for entry in history.entries)
        return [cls(int(match[1]), None if match[2] is None else int(match[2])) for match in found if match]

    @classmethod
    def of(cls, history: History) -> LedgerRecovery:
        """Return the last recovery in a ledger."""
        return next(reversed(cls.all_in(history)), cls())


def origin_of(public: bytes, generation: int = 0) -> str:
    """Return the origin of the ledger of this identity after so many recoveries."""
    return f"{ORIGIN}{public.hex()}{f'/{generation}' if generation else ''}"


def generation_of(head: Checkpoint) -> int:
    """Return the number of recoveries of a ledger before this head of it."""
    return int(head.origin.removeprefix(ORIGIN).partition("/")[2] or 0)


def key_of(owner: bytes, origin: str) -> VerifierKey:
    """Return the key that signs the heads of this owner's ledger with this origin."""
    return VerifierKey(origin, ED25519, owner)


def verify_head(note: SignedNote, owner: bytes) -> Checkpoint:
    """Return the head of this owner's ledger; InputError for the head of another one, or without its signature."""
    head, wanted = Checkpoint.read(note.text), origin_of(owner)
    if not head.origin.startswith(wanted) or not _GENERATION.fullmatch(head.origin.removeprefix(wanted)):
        raise InputError("head.of_another_ledger", wanted=wanted, got=shown(head.origin))
    if key_of(owner, head.origin).signature_in(note) is None:
        raise InputError("head.not_signed", name=head.origin)
    return head


def _leaves(history: History) -> list[bytes]:
    return [leaf_hash(bytes.fromhex(entry.digest)) for entry in history.entries]


@dataclass(frozen=True)
class HeadRequest:
    """Head with the proof that it extends the one of size `old`, in the form of tlog-witness (`add-checkpoint`)."""

    old: int
    proof: tuple[bytes, ...]
    note: SignedNote

    @classmethod
    def make(cls, history: History, signer: Signer, old: int = 0, study: str = "", session: str = "") -> HeadRequest:
        """Sign the head of this history; InputError where it has fewer entries than a witness has seen.

        study, session: digest of the study and id of the session that the head is for, if it is for one.
        """
        leaves, origin = _leaves(history), origin_of(signer.public, LedgerRecovery.of(history).generation)
        if old > len(leaves):
            raise InputError("head.fewer_entries", entries=len(leaves), old=old)
        charges = str(sum(entry.state == "reserved" for entry in history.entries))
        stated = ((_STUDY, study), (_SESSION, session), (_CHARGES, charges))
        further = [f"{mark}{value}" for mark, value in stated if value]
        head = Checkpoint(origin, len(leaves), tree_root(leaves), tuple(further))
        return cls(old, consistency_proof(leaves, old), sign_note(SignedNote(head.text), origin, signer))

    @classmethod
    def read(cls, content: bytes) -> HeadRequest:
        """Read a request, or a signed head alone, without a proof; InputError for any other bytes."""
        if not content.startswith(_OLD.encode()):
            return cls(0, (), SignedNote.read(content))
        said, _, note = content.partition(b"\n\n")
        first, *lines = said.decode(errors="replace").split("\n")
        if len(lines) > _MOST_PROOF_HASHES:
            raise InputError("head.proof_too_long", most=_MOST_PROOF_HASHES)
        return cls(read_size(first.removeprefix(_OLD)), tuple(map(read_hash, lines)), SignedNote.read(note))

    @classmethod
    def read_file(cls, path: Path) -> HeadRequest:
        """Read a request or a signed head from a file; InputError for any other file."""
        try:
            return cls.read(reading.read_file(path, 2 * MOST_NOTE_BYTES))
        except InputError as error:
            raise error.within(f"head {path}") from None

    @classmethod
    def read_all(cls, content: bytes) -> list[HeadRequest]:
        """Read requests with an empty line between them; InputError for any other bytes."""
        parts = content.removesuffix(b"\n").split(b"\n\n")
        if len(parts) % 3:
            raise malformed_note()
        return [cls.read(b"%b\n\n%b\n\n%b\n" % tuple(parts[at : at + 3])) for at in range(0, len(parts), 3)]

    @property
    def head(self) -> Checkpoint:
        """The head, whose signature is not verified here."""
        return Checkpoint.read(self.note.text)

    def encode(self) -> bytes:
        """Encode the request."""
        return f"{_OLD}{self.old}\n{hash_lines(self.proof)}\n".encode() + self.note.encode()


def relate(first: HeadRequest, second: HeadRequest, owner: bytes) -> HeadRelation:
    """Compare two signed heads of this owner's ledger, in any order, the larger one with its proof.

    `head.contradicted` is evidence against the owner: one size with two roots, which no ledger has that only grows.
    `head.unproved` asks the owner for a proof. InputError for a head of another ledger, or without its signature.
    """
    one, other = verify_head(first.note, owner), verify_head(second.note, owner)
    if one.origin != other.origin:
        return "head.recovered"
    if one.size > other.size:
        return relate(second, first, owner)
    if one.size == other.size:
        return "head.same" if one.root == other.root else "head.contradicted"
    proves = second.old == one.size and is_extension(one.size, one.root, other.size, other.root, second.proof)
    return "head.extended" if proves else "head.unproved"


def is_for_study(head: Checkpoint, study: str) -> bool:
    """Return whether a head is for the study with this digest."""
    return f"{_STUDY}{study}" in head.further


def study_of(head: Checkpoint) -> str | None:
    """Return the digest of the study that a head is for, if it is for one."""
    return _stated(head, _STUDY)


def charge_of(head: Checkpoint) -> str | None:
    """Return the key of the charge of the session that a head is for, if it is for one; an empty text for no id."""
    session = _stated(head, _SESSION)
    try:
        return None if session is None else run_key(bytes.fromhex(session), RELEASED)
    except ValueError:
        return ""


def charges_in(head: Checkpoint) -> int | None:
    """Return the number of charges in the ledger at this head; None where it does not say."""
    charges = _stated(head, _CHARGES)
    return None if charges is None else read_size(charges)


def _stated(head: Checkpoint, mark: str) -> str | None:
    return next((line.removeprefix(mark) for line in head.further if line.startswith(mark)), None)


def check_extends(history: History, head: Checkpoint, name: str) -> None:
    """Raise InputError unless a history extends a head that a witness of this name has seen, or has recovered it.

    Then the ledger is an older copy, or another one.
    """
    if generation_of(head) > LedgerRecovery.of(history).generation:
        raise InputError("head.recovered_since", name=name)
    leaves = _leaves(history)
    if head.size <= len(leaves) and tree_root(leaves[: head.size]) == head.root:
        return
    if later := [found for found in LedgerRecovery.all_in(history) if found.generation > generation_of(head)]:
        if not _is_recovered(history, later, head):
            raise InputError("head.not_recovered", name=name)
    elif head.size > len(leaves):
        raise InputError("head.seen_further", name=name, seen=head.size, entries=len(leaves))
    else:
        raise InputError("head.of_other_entries", name=name, seen=head.size)


def _is_recovered(history: History, later: Sequence[LedgerRecovery], head: Checkpoint) -> bool:
    """Return whether the recoveries after a head count the charge that it is for, and as many as it has.

    The first of them has recovered the log of this head. A head of no session does not say of which log it is.
    """
    if any(found.charges is None for found in later):
        return True
    charges, first = charges_in(head), later[0]
    if charges is None or charges > (first.charges or 0):
        return False
    last = max(entry.number for entry in history.entries if entry.mechanism == first.text)
    return charges == 0 or charge_of(head) in charged_keys(history, last)


def charged_keys(history: History, entries: int) -> list[str | None]:
    """Return the key of each charge among so many first entries."""
    return [entry.run for entry in history.entries[:entries] if entry.state == "reserved"]


def is_recovered_since(history: History, number: int) -> bool:
    """Return whether the charge with this number was recovered, or stands before one that was."""
    return any(_RECOVERED.fullmatch(entry.mechanism or "") for entry in history.entries[number - 1 :])


class Seen(NamedTuple):
    """Number of entries that a witness has seen, and when, in seconds since 1970."""

    entries: int
    time: int


def check_cosigned(
    history: History, notes: Iterable[SignedNote], owner: bytes, witness: VerifierKey, study: str = ""
) -> Seen | None:
    """Return the most that this witness has seen, by those of these heads that it has cosigned; None without any.

    study: digest of the study that the head has to be for. InputError where the history does not extend such a head:
    then the ledger is an older copy, or another one.
    """
    found = list[Seen]()
    for note in notes:
        head, signature = verify_head(note, owner), witness.signature_in(note)
        if witness.kind != COSIGNATURE or signature is None or (study and not is_for_study(head, study)):
            continue
        check_extends(history, head, witness.name)
        found.append(Seen(head.size, cosigned_at(signature)))
    return max(found, default=None)
