"""A ledger in a file: SQLite, append-only, safe against a crash at any point and against two processes.

Every operation reads and checks all entries inside its transaction; one that writes takes the lock first.
"""

from __future__ import annotations

import hashlib
import logging
import secrets
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

from smc_dp.core.database import create_database, transaction
from smc_dp.core.errors import InputError
from smc_dp.privacy.ledger import storage
from smc_dp.privacy.ledger.entry import ENTRY_COLUMNS, ChargeEnd, Entry
from smc_dp.privacy.ledger.guarantee import Guarantee
from smc_dp.privacy.ledger.history import History, Limit
from smc_dp.privacy.ledger.numbers import delta_rounded_up, digits_rounded_up

RELEASED = "release"
"""Label of a run's charge, because its protocol reveals one release, and of a published share."""
_LOG = logging.getLogger(__name__)
UNKNOWN_DATA = "0" * 64
"""Name of the data set of a recovered charge: a fingerprint of nothing."""
_KEY_BYTES = 32
_INSERT = f"INSERT INTO entries VALUES ({', '.join('?' for _ in ENTRY_COLUMNS)})"  # noqa: S608  question marks only


class Ledger:
    """One party's own ledger; use it in a `with` block or `close` it.

    Every method raises InputError for a file that cannot be used, BrokenLedgerError (which is one) for entries that
    are not what was written.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection

    @classmethod
    def create(cls, path: Path, epsilon: Fraction, delta: Fraction = Fraction(0), party: str | None = None) -> Ledger:
        """Create a ledger with this limit for each account, of this party if named; InputError when the file exists."""
        key = secrets.token_bytes(_KEY_BYTES)
        first = History.begin(_start(key), Limit(epsilon, delta), _now(), party).entries[0]

        def write(connection: sqlite3.Connection) -> None:
            connection.executescript(f"BEGIN; {storage.SCHEMA} {''.join(storage.ADD_LATER_COLUMNS)}")
            connection.execute("INSERT INTO secret VALUES (?)", (key,))
            connection.execute(_INSERT, tuple(first.values().values()))
            connection.execute("COMMIT")

        create_database(path, f"ledger {path}", storage.connect_ledger, write)
        return cls.open(path)

    @classmethod
    def open(cls, path: Path) -> Ledger:
        """Open the ledger in a file, whose form has been checked; its entries are checked at each use."""
        return cls(path, storage.open_checked(path))

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def dataset(self, fingerprint: Callable[[bytes], str]) -> str:
        """Return the name of a data set in this ledger: its fingerprint under the ledger's secret key."""
        with self._transaction("BEGIN") as (key, _):
            return fingerprint(key)

    def history(self) -> History:
        """Return all entries, after a check of the whole chain."""
        with self._transaction("BEGIN") as (_, history):
            return history

    def check(self, guarantee: Guarantee) -> None:
        """Raise OverBudgetError when a release with this guarantee would pass the limit now; nothing is written."""
        with self._transaction("BEGIN") as (_, history):
            history.check(guarantee)

    def reserve(self, dataset: str, mechanism: str, guarantee: Guarantee, run: str, approval: str | None = None) -> int:
        """Charge a release before it is made, and return the number of the entry, on disk by then.

        `run`: the key of the release; see `run_key`. `approval`: the digest of the own approval by which it is made, if
        there is one; it serves one key, whatever became of the release. Asked again for what stands under the key, it
        charges nothing and returns the number that it has: a caller that crashed after the first time cannot know, and
        asks again. What came to nothing has to be charged anew, by an entry of its own. Raises InputError when
        something else was reserved under the key, or by the approval, OverBudgetError when the limit would be passed;
        nothing is written then.
        """
        with self._transaction("BEGIN IMMEDIATE") as (_, history):
            standing = history.reservation(dataset, mechanism, guarantee, run, approval)
            number = standing or self._append(history.reserved(dataset, mechanism, guarantee, run, _now(), approval))
        epsilon, delta = digits_rounded_up(guarantee.epsilon), delta_rounded_up(guarantee.delta)
        what = "charged before" if standing else "charged"
        _LOG.info("ledger: entry %d %s: %s, epsilon %s, delta %s", number, what, mechanism, epsilon, delta)
        return number

    def recover(self, plan: Callable[[History], Sequence[tuple[str, str, Guarantee]]]) -> History:
        """Append charges that are known to have been made, whatever the limit; return the ledger with them.

        plan: returns mechanism, key and guarantee of each, from the ledger as it is.
        """
        with self._transaction("BEGIN IMMEDIATE") as (_, history):
            for mechanism, run, guarantee in plan(history):
                entry = history.charge(UNKNOWN_DATA, mechanism, guarantee, run, _now())
                self._append(entry)
                history = replace(history, entries=(*history.entries, entry))
        return history

    def settle(self, number: int, state: ChargeEnd, run: str | None = None) -> None:
        """Enter the outcome of a charge: `released`, with the digest of the release, or `refunded`.

        ValueError when there is no such reservation, or when it was settled before.
        """
        with self._transaction("BEGIN IMMEDIATE") as (_, history):
            self._append(history.settled(number, state, run, _now()))
        _LOG.info("ledger: entry %d is settled: %s", number, state)

    def _append(self, entry: Entry) -> int:
        storage.add_later_columns(self._connection)
        self._connection.execute(_INSERT, tuple(entry.values().values()))
        return entry.number

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[tuple[bytes, History]]:
        with storage.naming_faults(self.path), transaction(self._connection, begin):
            yield self._read()

    def _read(self) -> tuple[bytes, History]:
        keys = self._connection.execute("SELECT key FROM secret LIMIT 2").fetchall()
        if len(keys) != 1 or not isinstance(keys[0][0], bytes) or len(keys[0][0]) != _KEY_BYTES:
            raise InputError("ledger.not_readable", reason="wanted one key")
        rows = self._connection.execute("SELECT * FROM entries ORDER BY number")
        key: bytes = keys[0][0]
        columns = [name for name, *_ in rows.description]  # an older ledger has fewer
        return key, History.read(_start(key), (dict(zip(columns, row, strict=True)) for row in rows))


def _start(key: bytes) -> str:
    """Return the start of the chain, which commits to the key, and which an export may show."""
    return hashlib.sha256(b"smc-dp ledger 1" + key).hexdigest()


def _now() -> str:
    return f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"


def run_key(session_id: bytes, label: str) -> str:
    """Return the key of a release: no two sessions share one, because a session's id holds a nonce."""
    return hashlib.sha256(b"smc-dp release" + session_id + label.encode()).hexdigest()
