"""Witness of other sites' ledgers: it cosigns a head only if that extends the last one that it cosigned.

Its rules and refusals are those of C2SP tlog-witness. It checks the old size and stores the new head in one
transaction, on disk before it answers, so of two requests at once one is refused, and a crash forgets no head that was
answered. It has a key of its own, which is not its site's identity key. The key stands in the same file as the heads: a
witness without its memory has no key either. An older copy of this file is not detected, and is as useless as no
witness for what came after it.
"""

from __future__ import annotations

import secrets
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from protocols.crypto.identity import SEED_BYTES, Identity
from smc_dp.core.database import create_database, open_database, transaction
from smc_dp.core.errors import InputError, one_line, shown
from smc_dp.privacy.ledger.head import HeadRequest, generation_of, key_of, origin_of, verify_head
from smc_dp.privacy.ledger.merkle import EMPTY_ROOT, is_extension
from smc_dp.privacy.ledger.signed_note import (
    COSIGNATURE,
    Checkpoint,
    SignedNote,
    VerifierKey,
    cosign_note,
    is_key_name,
)

WITNESS_REFUSALS = (
    "witness.other_size",
    "witness.not_extended",
    "witness.old_beyond_head",
    "witness.recovered_since",
)
"""Codes of heads that do not follow the last one."""

_NAME = "smc-dp.witness/"
_WAIT = 30.0  # seconds for another process to finish
_SCHEMA = """
CREATE TABLE witness (name TEXT NOT NULL, seed BLOB NOT NULL) STRICT;
CREATE TABLE heads (number INTEGER PRIMARY KEY, origin TEXT NOT NULL, note BLOB NOT NULL) STRICT;
"""


def witness_name(public: bytes) -> str:
    """Return the name of the witness of the site with this identity, and of its cosigning key."""
    return f"{_NAME}{public.hex()}"


class Witness:
    """Witness in a file; use it in a `with` block or `close` it. InputError for an unusable file."""

    def __init__(self, path: Path, connection: sqlite3.Connection, clock: Callable[[], float] = time.time) -> None:
        self.path, self._connection, self._clock = path, connection, clock

    @classmethod
    def create(cls, path: Path, name: str) -> Witness:
        """Create a witness with a new key under this name; InputError when the file exists."""
        if not is_key_name(name):
            raise InputError("witness.bad_name", got=shown(name))

        def write(connection: sqlite3.Connection) -> None:
            connection.executescript(f"BEGIN; {_SCHEMA}")
            connection.execute("INSERT INTO witness VALUES (?, ?)", (name, secrets.token_bytes(SEED_BYTES)))
            connection.execute("COMMIT")

        create_database(path, f"witness {path}", lambda partial: open_database(partial, _WAIT), write)
        return cls.open(path)

    @classmethod
    def open(cls, path: Path, clock: Callable[[], float] = time.time) -> Witness:
        """Open the witness in a file."""
        with _naming_faults(path):
            made = cls(path, open_database(path, _WAIT), clock)
            try:
                made._own()
            except BaseException:
                made.close()
                raise
        return made

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def __enter__(self) -> Witness:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def key(self) -> VerifierKey:
        """Public key that others check cosignatures with."""
        name, identity = self._own()
        return VerifierKey(name, COSIGNATURE, identity.public)

    def cosign(self, request: HeadRequest, owner: bytes) -> SignedNote:
        """Return the head of this owner's ledger, cosigned, and on disk by then.

        InputError refuses it: `head.of_another_ledger` (404 of tlog-witness), `head.not_signed` (403),
        `witness.old_beyond_head` (400), `witness.other_size` (409) and `witness.not_extended` (422); and
        `witness.recovered_since`, for a head of the lost ledger after its recovery.
        """
        head = verify_head(request.note, owner)
        if request.old > head.size:
            raise InputError("witness.old_beyond_head", old=request.old, entries=head.size)
        # The owner's verified line alone: anybody can add others on the way, and make the note too long to be read.
        cosigned = self._cosigned(request.note, key_of(owner, head.origin))
        with self._transaction():
            last, none = self._last(owner), Checkpoint(head.origin, 0, EMPTY_ROOT)
            seen = none if last is None else Checkpoint.read(last.text)
            if generation_of(seen) > generation_of(head):
                raise InputError("witness.recovered_since")
            if seen.origin != head.origin:
                seen = none
            if request.old != seen.size:
                raise InputError("witness.other_size", seen=seen.size, old=request.old, entries=head.size)
            if not is_extension(seen.size, seen.root, head.size, head.root, request.proof):
                raise InputError("witness.not_extended", seen=seen.size, entries=head.size)
            self._keep(head.origin, HeadRequest(request.old, request.proof, cosigned))
        return cosigned

    def cosign_closed(self, note: SignedNote, log: VerifierKey) -> SignedNote:
        """Return the head of a log that was closed, cosigned, and on disk by then. It is the only one of this log.

        The same head again has the same answer. InputError refuses another one (`witness.closed_before`), and a head
        without the signature of the log (`head.not_signed`).
        """
        if Checkpoint.read(note.text).origin != log.name or log.signature_in(note) is None:
            raise InputError("head.not_signed", name=log.name)
        cosigned = self._cosigned(note, log)
        with self._transaction():
            kept = self._kept("origin = ?", (log.name,))
            if kept and kept[0].note.text != note.text:
                raise InputError("witness.closed_before", name=log.name)
            if kept:
                return kept[0].note
            self._keep(log.name, HeadRequest(0, (), cosigned))
        return cosigned

    def _cosigned(self, note: SignedNote, log: VerifierKey) -> SignedNote:
        """Return a head with the signature of its log and the cosignature of this witness, and no other line."""
        name, identity = self._own()
        line = log.signature_in(note)
        own = SignedNote(note.text, () if line is None else (line,))
        cosigned = cosign_note(own, name, identity, int(self._clock()))
        SignedNote.read(cosigned.encode())  # what is kept can be read again
        return cosigned

    def _keep(self, origin: str, head: HeadRequest) -> None:
        self._connection.execute("INSERT INTO heads (origin, note) VALUES (?, ?)", (origin, head.encode()))

    def last(self, owner: bytes) -> SignedNote | None:
        """Return the last head of this owner's ledger that was cosigned; None where there is none."""
        with _naming_faults(self.path):
            return self._last(owner)

    def heads(self, owner: bytes) -> list[HeadRequest]:
        """Return all heads of this owner's ledger that were cosigned, in their order and with their proofs."""
        with _naming_faults(self.path):
            return self._kept_of(owner, "ASC")

    def _last(self, owner: bytes) -> SignedNote | None:
        return next((request.note for request in self._kept_of(owner, "DESC LIMIT 1")), None)

    def _kept_of(self, owner: bytes, order: str) -> list[HeadRequest]:
        origin = origin_of(owner)
        return self._kept(f"origin = ? OR origin GLOB ? ORDER BY number {order}", (origin, f"{origin}/*"))

    def _kept(self, condition: str, values: Sequence[str]) -> list[HeadRequest]:
        rows = self._connection.execute(f"SELECT note FROM heads WHERE {condition}", values)  # noqa: S608
        return [HeadRequest.read(note) for (note,) in rows]

    def _own(self) -> tuple[str, Identity]:
        with _naming_faults(self.path):
            rows = self._connection.execute("SELECT name, seed FROM witness LIMIT 2").fetchall()
        if len(rows) != 1 or len(rows[0][1]) != SEED_BYTES:
            raise InputError("witness.not_usable", reason="wanted one key").within(f"witness {self.path}")
        return rows[0][0], Identity(rows[0][1])

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with _naming_faults(self.path), transaction(self._connection, "BEGIN IMMEDIATE"):
            yield


@contextmanager
def _naming_faults(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise InputError("witness.not_usable", reason=one_line(str(error))).within(f"witness {path}") from None
