"""Store of one site in one study, and the rule by which it keeps state.

The messages that were read, the new state and what is to be sent are committed in one transaction; only then
anything is sent.
So whatever dies when, the next process goes on from the last commit, and what it sends again is the same.

The state is numbered. The number of the newest stands in a file apart, where backups do not reach: an old state is an
attack (it would seal two messages under one nonce, and answer the same query twice), and is refused. The number is
written after the commit and before anything leaves, so a state may be one ahead of it, and never behind.

Beside the number stands the key of that state, which is drawn anew for each, and that of the next. To
open a state takes three things: the file that it is in, the identity (and passphrase) of the site, and this key. When
the number goes on, the key is gone, and with it every copy of the state: in a backup, in a journal that SQLite has
unlinked, in a page that it has freed. So nothing has to be overwritten, and the identity alone opens nothing.

A study that is over here ends with an erased state: it is empty, no key is kept, and no state follows it. What is left
in this folder is envelopes as the relay has them, sealed under keys that were in the state alone, and public facts.
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
import secrets
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import cbor2
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCMSIV
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from protocols.crypto.identity import Signer
from smc_dp.core.database import open_database, transaction
from smc_dp.core.errors import InputError, InputFault, one_line
from smc_dp.core.writing import sync_folder, write_file
from smc_dp.deploy.approval import Approval
from smc_dp.deploy.frame import Frame, Lane

SALT_BYTES = 32
_NONCE_BYTES = 12
_KEY_BYTES = 32
_LABEL = b"smc-dp state at rest"


class Seal:
    """Encryption of a site's state, each under a key of its own. A repeated nonce reveals only whether contents are
    equal.
    """

    __slots__ = ("_own", "_salt")

    def __init__(self, signer: Signer, salt: bytes, passphrase: str | None = None) -> None:
        typed = b"" if passphrase is None else _stretched(passphrase, salt)
        self._own, self._salt = signer.sign(_LABEL + salt) + typed, salt

    def seal(self, content: bytes, bound: bytes, key: bytes) -> bytes:
        """Return the content sealed. It opens with the same `bound` and key only."""
        nonce = secrets.token_bytes(_NONCE_BYTES)
        return nonce + self._aead(key).encrypt(nonce, content, bound)

    def open(self, sealed: bytes, bound: bytes, key: bytes) -> bytes:
        """Return the content. InputError for another identity, passphrase or key, or for changed bytes."""
        try:
            return self._aead(key).decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], bound)
        except (InvalidTag, ValueError):
            raise InputError("state.does_not_open") from None

    def _aead(self, key: bytes) -> AESGCMSIV:
        return AESGCMSIV(HKDF(SHA256(), _KEY_BYTES, self._salt, _LABEL).derive(self._own + key))


def _stretched(passphrase: str, salt: bytes) -> bytes:
    return Scrypt(salt=salt, length=_KEY_BYTES, n=1 << 15, r=8, p=1).derive(passphrase.encode())


DATABASE, LOCK, COUNTER_ENDING, _PARTIAL = "site.db", "site.lock", ".counter", ".partial"
PURPOSE = ("study", "participant", "approval")
_NO_KEY, _MOST_DIGITS = "-", 15
_WAIT = 30.0
_SECOND, _NONE = InputFault("state.in_use"), "state.missing"
_SCHEMA = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE seal (salt BLOB NOT NULL, proof BLOB NOT NULL) STRICT;
CREATE TABLE state (only INTEGER PRIMARY KEY CHECK (only = 1), counter INTEGER NOT NULL, sealed BLOB NOT NULL) STRICT;
CREATE TABLE inbox (position INTEGER PRIMARY KEY, sender TEXT, addressee TEXT, lane TEXT, number INTEGER,
  digest BLOB NOT NULL, frame BLOB NOT NULL, UNIQUE (sender, addressee, lane, number)) STRICT;
CREATE TABLE outbox (position INTEGER PRIMARY KEY, sender TEXT, addressee TEXT, lane TEXT, number INTEGER,
  digest BLOB NOT NULL, frame BLOB NOT NULL, sent INTEGER NOT NULL DEFAULT 0,
  UNIQUE (sender, addressee, lane, number)) STRICT;
CREATE TABLE evidence (digest BLOB PRIMARY KEY, frame BLOB NOT NULL) STRICT;
"""


class StoreError(InputError):
    """Failure of a site's store: it cannot be read or written, or its state is not the newest."""


@dataclass(frozen=True)
class KeptState:
    """State with its number. Without content it is erased."""

    counter: int
    content: bytes = field(repr=False)


@dataclass(frozen=True)
class StateNumber:
    """Number of the newest state, its key (empty for an erased one), and the key of the next. It is kept apart."""

    number: int
    key: bytes = field(default=b"", repr=False)
    following: bytes = field(default=b"", repr=False)

    def next(self, erased: bool) -> StateNumber:
        """Return the number of the state that follows this one."""
        if erased:
            return StateNumber(self.number + 1)
        return StateNumber(self.number + 1, self.following, secrets.token_bytes(_KEY_BYTES))

    def line(self) -> str:
        """Return the line that is written."""
        return f"{self.number} {self.key.hex() or _NO_KEY} {self.following.hex() or _NO_KEY}\n"

    @classmethod
    def read(cls, path: Path) -> StateNumber:
        """Read a number and its keys. StoreError for any other file, also for one of an earlier format."""
        words = path.read_text(errors="replace").split()
        numbered = bool(words) and words[0].isascii() and words[0].isdigit() and len(words[0]) <= _MOST_DIGITS
        if numbered and len(words) == 1:
            raise StoreError("state.of_an_old_format", file=str(path))
        keys = [b"" if word == _NO_KEY else _key(word) for word in words[1:]]
        if not numbered or len(keys) != 2 or None in keys:
            raise StoreError("state.no_counter", file=str(path))
        return cls(int(words[0]), *(key or b"" for key in keys))


def _key(word: str) -> bytes | None:
    """Return a key as `StateNumber` writes it, None for another word."""
    try:
        key = bytes.fromhex(word)
    except ValueError:
        return None
    return key if len(key) == _KEY_BYTES else None


class SiteStore:
    """Store in one SQLite file, mode 0600; number and keys of its newest state lie in a file of another folder.

    `facts` are small public values by name, for `status` and the next start.
    `purpose` says what it is for (study, participant): a store is opened for nothing else. Two processes on one store:
    the second does not begin; and where the lock between them is of no use, the one that commits second stops. Without
    a `signer` it can be brought to an end, and no state be read. Every method raises `StoreError`.
    """

    def __init__(
        self,
        folder: Path,
        counters: Path,
        purpose: Mapping[str, str],
        signer: Signer | None,
        passphrase: str | None = None,
    ) -> None:
        self.path = folder / DATABASE
        self._counter_file = counters / f"{'-'.join(purpose.values())}{COUNTER_ENDING}"
        self._bound = json.dumps(dict(purpose), sort_keys=True).encode()
        self._facts: dict[str, Any] | None = None
        with self._reported(), ExitStack() as opened:
            for place in (folder, counters):
                place.mkdir(mode=0o700, parents=True, exist_ok=True)
            opened.enter_context(closing(_locked(folder / LOCK)))
            self._connection = opened.enter_context(closing(_connected(self.path, _WAIT)))
            self._prepare(purpose, signer, passphrase)
            self._own_seal = None if signer is None else self._unlocked(signer, passphrase)
            self._count = self._checked()
            self._opened = opened.pop_all()

    @property
    def counter(self) -> int:
        """Number of the newest state, 0 before the first."""
        return self._count.number

    def close(self) -> None:
        """Close the file."""
        self._opened.close()

    def facts(self) -> dict[str, Any]:
        """Return all facts."""
        # A site asks several times in a turn, and facts change with a commit of this process alone.
        if self._facts is None:
            with self._reported():
                rows = self._connection.execute("SELECT name, value FROM facts").fetchall()
            self._facts = {name: json.loads(value) for name, value in rows}
        return dict(self._facts)

    def newest(self) -> KeptState | None:
        """Return the newest state, if there is one."""
        with self._reported():
            row = self._connection.execute("SELECT counter, sealed FROM state").fetchone()
            if row is None or not row[1]:
                return None if row is None else KeptState(row[0], b"")
            return KeptState(row[0], self._seal.open(row[1], self._bound + b" %d" % row[0], self._count.key))

    def received(self) -> list[Frame]:
        """Return all frames that were taken, in order."""
        return self._frames("SELECT frame FROM inbox ORDER BY position")

    def outgoing(self, *, unsent: bool = False) -> list[Frame]:
        """Return all frames to be sent, in order; with `unsent` those that may not have been sent yet."""
        return self._frames(f"SELECT frame FROM outbox {'WHERE sent = 0' if unsent else ''} ORDER BY position")  # noqa: S608

    def commit(
        self,
        taken: Sequence[Frame] = (),
        sending: Sequence[Frame] = (),
        state: Callable[[], KeptState] | None = None,
        facts: Mapping[str, Any] | None = None,
        evidence: Sequence[Frame] = (),
    ) -> None:
        """Commit all of it or nothing. A fact `end` erases the state."""
        self._facts = None
        with self._reported(), transaction(self._connection, "BEGIN IMMEDIATE"):
            execute = self._connection.execute
            self._stop_second()
            _insert(execute, "inbox", taken)
            _insert(execute, "outbox", sending)
            for frame in evidence:
                execute("INSERT OR IGNORE INTO evidence VALUES (?, ?)", (frame.digest, frame.encode()))
            for name, value in (facts or {}).items():
                execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, json.dumps(value)))
            if (facts or {}).get("end"):
                kept = KeptState(self.counter + 1, b"") if self._count.key else None
            else:
                kept = None if state is None else state()
            if kept is not None:
                self._replace(kept)
        if kept is not None:
            with self._reported():
                self._write(self._count.next(erased=not kept.content))

    def sent(self, frames: Sequence[Frame]) -> None:
        """Note that the relay has these frames."""
        with self._reported(), transaction(self._connection, "BEGIN IMMEDIATE"):
            for frame in frames:
                self._connection.execute("UPDATE outbox SET sent = 1 WHERE digest = ?", (frame.digest,))

    def _stop_second(self) -> None:
        """Raise StoreError where another process has committed a newer state."""
        row = self._connection.execute("SELECT counter FROM state").fetchone()
        if (row[0] if row else 0) != self.counter:
            raise StoreError(_SECOND)

    def _replace(self, kept: KeptState) -> None:
        """Replace the state that this process knows as the newest by the next one."""
        if kept.counter != self.counter + 1 or not self._count.following:
            raise StoreError("state.does_not_follow", counter=kept.counter, newest=self.counter)
        bound = self._bound + b" %d" % kept.counter
        sealed = self._seal.seal(kept.content, bound, self._count.following) if kept.content else b""
        self._connection.execute("INSERT OR REPLACE INTO state VALUES (1, ?, ?)", (kept.counter, sealed))

    def _write(self, count: StateNumber) -> None:
        partial = self._counter_file.with_suffix(f".{secrets.token_hex(4)}{_PARTIAL}")
        write_file(partial, count.line().encode(), 0o600)
        partial.replace(self._counter_file)
        sync_folder(self._counter_file.parent)
        self._count = count

    def _checked(self) -> StateNumber:
        """Check that the state is the newest and return its number and key; remove files that were half written."""
        for partial in self._counter_file.parent.glob(f"{glob.escape(self._counter_file.stem)}.*{_PARTIAL}"):
            partial.unlink()
        row = self._connection.execute("SELECT counter, sealed FROM state").fetchone()
        found, erased = (row[0], not row[1]) if row else (0, False)
        there = self._counter_file.exists()
        self._count = (
            StateNumber.read(self._counter_file) if there else StateNumber(0, following=secrets.token_bytes(_KEY_BYTES))
        )
        counted = self._count.number
        if found != counted and not (there and found == counted + 1):
            said = f"says that {counted} is the newest" if there else "is not there"
            raise StoreError("state.is_old", number=found, file=str(self._counter_file), said=said)
        if found > counted:
            self._write(self._count.next(erased))
        elif not there:
            self._write(self._count)
        return self._count

    @property
    def _seal(self) -> Seal:
        if self._own_seal is None:
            raise StoreError("state.does_not_open")
        return self._own_seal

    def _unlocked(self, signer: Signer, passphrase: str | None) -> Seal:
        salt, proof = self._connection.execute("SELECT salt, proof FROM seal").fetchone()
        found = Seal(signer, salt, passphrase)
        found.open(proof, self._bound, b"")  # else a wrong passphrase would seal what follows
        return found

    def _prepare(self, purpose: Mapping[str, str], signer: Signer | None, passphrase: str | None) -> None:
        connection = self._connection
        connection.execute("PRAGMA secure_delete = ON")
        if signer and not connection.execute("SELECT name FROM sqlite_master WHERE name = 'seal'").fetchone():
            salt = secrets.token_bytes(SALT_BYTES)
            connection.executescript(f"BEGIN; {_SCHEMA}")
            proof = Seal(signer, salt, passphrase).seal(b"", self._bound, b"")
            connection.execute("INSERT INTO seal VALUES (?, ?)", (salt, proof))
            for name, value in purpose.items():
                connection.execute("INSERT INTO facts VALUES (?, ?)", (name, json.dumps(value)))
            connection.execute("COMMIT")
        for name, value in purpose.items():
            row = connection.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
            if row is None or json.loads(row[0]) != value:
                raise StoreError("state.of_another", purpose=name)

    def _frames(self, statement: str) -> list[Frame]:
        with self._reported():
            return [Frame.decode(row[0]) for row in self._connection.execute(statement)]

    @contextmanager
    def _reported(self) -> Iterator[None]:
        try:
            yield
        except InputError as error:
            raise StoreError(error.fault.within(f"state {self.path}")) from None
        except (sqlite3.Error, OSError) as error:
            raise _unusable(self.path, error) from None


def open_store(folder: Path, approval: Approval, signer: Signer, counters: Path, passphrase: str | None) -> SiteStore:
    """Open the store of this approval: for no other study, participant or run."""
    digest = hashlib.sha256(approval.encode()).hexdigest()
    purpose = dict(zip(PURPOSE, (approval.study, approval.name, digest), strict=True))
    return SiteStore(folder, counters, purpose, signer, passphrase)


def open_without_key(folder: Path, counters: Path) -> SiteStore:
    """Open the store in a folder to bring it to an end; a state that was ended before, and not yet erased, is erased.

    It takes no identity, for no state is read. `StoreError` while a program uses it, or for the counters of another.
    """
    known = read_facts(folder)
    return SiteStore(folder, counters, {name: known[name] for name in PURPOSE if name in known}, None)


def _unusable(path: Path, error: Exception) -> StoreError:
    why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return StoreError("state.unusable", path=str(path), why=one_line(why))


def _connected(path: Path, wait: float) -> sqlite3.Connection:
    """Open the database in this file, which nobody else may read if it is new."""
    if not path.exists():
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    return open_database(path, wait)


def _locked(path: Path) -> sqlite3.Connection:
    """Open an empty database that nobody else can lock while this connection lives."""
    with ExitStack() as opened:
        try:
            connection = opened.enter_context(closing(_connected(path, 0)))
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError:
            raise StoreError(_SECOND) from None
        opened.pop_all()
    return connection


def _insert(execute: Callable[..., sqlite3.Cursor], table: str, frames: Iterable[Frame]) -> None:
    for p in frames:
        execute(
            f"INSERT INTO {table} (sender, addressee, lane, number, digest, frame) VALUES (?, ?, ?, ?, ?, ?)",  # noqa: S608
            (p.sender, p.to, p.lane, p.number, p.digest, p.encode()),
        )


def read_facts(folder: Path) -> dict[str, Any]:
    """Return the public facts in a site's folder, whether or not its program runs."""
    rows = _read(folder, "SELECT name, value FROM facts")
    try:
        return {name: json.loads(value) for name, value in rows}
    except (RecursionError, TypeError, ValueError):
        raise StoreError("state.changed", folder=str(folder)) from None


def is_begun(folder: Path) -> bool:
    """Return whether a site has a state in this folder. A program that was killed while it made the file has none."""
    try:
        read_facts(folder)
    except StoreError as error:
        if error.code != _NONE:
            raise
        return False
    return True


def read_frames(folder: Path, lanes: Sequence[Lane]) -> list[Frame]:
    """Return the frames of these lanes that a site has committed to send or has received, from its folder.

    None from a state of version 0.1.0. StoreError for a frame that was changed since.
    """
    if _read(folder, "SELECT name FROM pragma_table_info('inbox') WHERE name = 'parcel'"):
        return []
    found = dict[bytes, Frame]()
    its = " OR ".join(["lane = ? OR instr(frame, ?)"] * len(lanes))  # a changed column hides no frame
    asked = [value for lane in lanes for value in (lane, cbor2.dumps(lane))]
    for table in ("outbox", "inbox"):
        rows = _read(folder, f"SELECT digest, lane, frame FROM {table} WHERE {its} ORDER BY position", *asked)  # noqa: S608
        for digest, lane, content in rows:
            found[digest] = frame = Frame.decode(content)
            if (frame.digest, frame.lane) != (digest, lane):
                raise StoreError("state.changed", folder=str(folder))
    return [frame for frame in found.values() if frame.lane in lanes]


def _read(folder: Path, statement: str, *values: str | bytes) -> list[Any]:
    path = folder / DATABASE
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        raise StoreError(_NONE, folder=str(folder)) from None
    except OSError as error:
        raise _unusable(path, error) from None
    try:
        with closing(open_database(path, _WAIT)) as connection:
            if connection.execute("SELECT name FROM sqlite_master").fetchone():
                return connection.execute(statement, values).fetchall()
    except sqlite3.Error as error:
        raise _unusable(path, error) from None
    raise StoreError(_NONE, folder=str(folder))
