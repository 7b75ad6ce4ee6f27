"""Open the file of a ledger: an SQLite file, and refuse files that are no ledgers."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from smc_dp.core.database import open_database
from smc_dp.core.errors import InputError, one_line
from smc_dp.privacy.ledger.entry import LATER_COLUMNS

MOST_LEDGER_BYTES = 1 << 25  # some 40,000 entries
_LONGEST_VALUE = 1 << 16
_WAIT = 30.0  # seconds for another process to finish
_OF_SEVERAL = bytes.fromhex("d9d505f920a163d7")
SCHEMA = """
CREATE TABLE secret (key BLOB NOT NULL);
CREATE TABLE entries (
  number INTEGER PRIMARY KEY, state, date, refers UNIQUE, dataset, unit, adjacency, mechanism, kind,
  epsilon, delta, rho, run, previous, digest
, mu);
CREATE TRIGGER no_update BEFORE UPDATE ON entries BEGIN SELECT RAISE(ABORT, 'entries are never changed'); END;
CREATE TRIGGER no_delete BEFORE DELETE ON entries BEGIN SELECT RAISE(ABORT, 'entries are never taken away'); END;
CREATE TRIGGER no_replace BEFORE INSERT ON entries
WHEN NEW.number IS NOT (SELECT coalesce(max(number), 0) + 1 FROM entries)
  OR EXISTS (SELECT 1 FROM entries WHERE refers = NEW.refers)
BEGIN SELECT RAISE(ABORT, 'entries are only added'); END;
CREATE TRIGGER one_key BEFORE INSERT ON secret WHEN EXISTS (SELECT 1 FROM secret)
BEGIN SELECT RAISE(ABORT, 'the key is there'); END;
CREATE TRIGGER no_other_key BEFORE UPDATE ON secret BEGIN SELECT RAISE(ABORT, 'the key stays'); END;
CREATE TRIGGER no_lost_key BEFORE DELETE ON secret BEGIN SELECT RAISE(ABORT, 'the key stays'); END;
"""
# A new ledger has these at once, one of version 0.1.0 before its next entry.
ADD_LATER_COLUMNS = tuple(f"ALTER TABLE entries ADD COLUMN {name};" for name in LATER_COLUMNS)


def open_checked(path: Path) -> sqlite3.Connection:
    """Connect to a file whose form is that of a ledger; InputError for any other."""
    with naming_faults(path):
        _refuse_unusable(path)
        connection = connect_ledger(path)
        try:
            if _form(connection) not in map(_wanted_form, (SCHEMA, "".join((SCHEMA, *ADD_LATER_COLUMNS)))):
                raise InputError("ledger.not_readable", reason="its tables are not those of this version")
        except BaseException:
            connection.close()
            raise
    return connection


def add_later_columns(connection: sqlite3.Connection) -> None:
    """Add to a ledger of version 0.1.0, inside a transaction that writes, the columns that it lacks, empty."""
    there = {name for _, name, *_ in connection.execute("PRAGMA table_info(entries)")}
    if not there.issuperset(LATER_COLUMNS):
        for added in ADD_LATER_COLUMNS:
            connection.execute(added)


def connect_ledger(path: Path) -> sqlite3.Connection:
    """Connect to a file that is there, whatever is in it."""
    connection = open_database(path, _WAIT)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_VALUE)
    return connection


@contextmanager
def naming_faults(path: Path) -> Iterator[None]:
    """Turn every fault of the file into one line that names it."""
    try:
        yield
    except sqlite3.OperationalError as error:
        reason = one_line(str(error))
        unusable = InputError("ledger.not_usable", reason=reason)
        in_use = InputError("ledger.in_use")
        raise (in_use if "locked" in reason else unusable).within(f"ledger {path}") from None
    except (sqlite3.Error, OverflowError, UnicodeDecodeError) as error:
        unreadable = InputError("ledger.not_readable", reason=one_line(str(error)))
        raise unreadable.within(f"ledger {path}") from None
    except InputError as error:
        raise error.within(f"ledger {path}") from None


def _refuse_unusable(path: Path) -> None:
    try:
        found = path.lstat()
    except OSError as error:
        raise InputError("ledger.not_readable", reason=error.strerror) from None
    if not stat.S_ISREG(found.st_mode):
        raise InputError("ledger.not_readable", reason="wanted a plain file")
    if found.st_size > MOST_LEDGER_BYTES:
        raise InputError("ledger.not_readable", reason=f"wanted at most {MOST_LEDGER_BYTES} bytes")
    _refuse_beside(path)


def _refuse_beside(path: Path) -> None:
    """Refuse files beside a ledger that no ledger has: SQLite takes them up, and a journal may name others to delete.

    A journal of several databases ends with these eight bytes after the name of a further file, which goes once the
    journal has been played back, whatever file it is. A ledger's own journal has no such end.
    """
    journal = path.with_name(f"{path.name}-journal")
    try:
        if any(os.path.lexists(path.with_name(path.name + ending)) for ending in ("-wal", "-shm")):
            raise InputError("ledger.foreign_journal")
        if not os.path.lexists(journal):
            return
        if not stat.S_ISREG(journal.lstat().st_mode) or journal.stat().st_size > MOST_LEDGER_BYTES:
            raise InputError("ledger.foreign_journal")
        with journal.open("rb") as file:
            file.seek(max(0, journal.stat().st_size - len(_OF_SEVERAL)))
            if file.read() == _OF_SEVERAL:
                raise InputError("ledger.foreign_journal")
    except FileNotFoundError:  # another process has finished with it
        return
    except OSError:
        raise InputError("ledger.foreign_journal") from None


def _form(connection: sqlite3.Connection) -> frozenset[tuple[object, ...]]:
    """Return every table, index and trigger as it was written: nothing else may run when an entry is added."""
    found = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master LIMIT 100")
    return frozenset(tuple(row) for row in found)


@cache
def _wanted_form(schema: str) -> frozenset[tuple[object, ...]]:
    connection = sqlite3.connect(":memory:")
    try:
        connection.executescript(schema)
        return _form(connection)
    finally:
        connection.close()
