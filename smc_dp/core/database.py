"""Open an SQLite file so that it is safe against crashes, and against what a stranger wrote into it.

The journal is a rollback journal, so that between transactions everything is in one file: with a write-ahead log, a
copy of the file alone would miss the last entries. `synchronous = EXTRA` is FULL, and syncs the folder once the
journal is gone: else a power cut could take back a commit, and with it what somebody relied on.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from smc_dp.core.errors import InputError, one_line
from smc_dp.core.writing import sync_folder

_SETTINGS = ("trusted_schema = OFF", "journal_mode = DELETE", "synchronous = EXTRA")


def open_database(path: Path, wait: float) -> sqlite3.Connection:
    """Open a file that is there, whatever is in it; wait for another process at most so many seconds.

    Raises sqlite3.Error. The caller begins and commits its transactions, and lets one thread at a time use them.
    """
    uri = f"{path.absolute().as_uri()}?mode=rw"
    connection = sqlite3.connect(uri, uri=True, timeout=wait, isolation_level=None, check_same_thread=False)
    try:
        for setting in _SETTINGS:
            connection.execute(f"PRAGMA {setting}")
    except BaseException:
        connection.close()
        raise
    return connection


def create_database(
    path: Path, where: str, connect: Callable[[Path], sqlite3.Connection], write: Callable[[sqlite3.Connection], None]
) -> None:
    """Make a private file and write a database into it: whole or not at all, and never over another.

    connect: opens the file, see `open_database`. Raises InputError at `where` when the file exists or cannot be made.
    """
    partial = path.with_name(f".{path.name}.{secrets.token_hex(4)}.partial")
    try:
        os.close(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        with closing(connect(partial)) as connection:
            write(connection)
        os.link(partial, path)
        sync_folder(path.parent)
    except FileExistsError:
        raise InputError("file.exists").within(where) from None
    except (OSError, sqlite3.Error) as error:
        why = one_line(getattr(error, "strerror", None) or str(error))
        raise InputError("file.not_written", why=why).within(where) from None
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def transaction(connection: sqlite3.Connection, begin: str) -> Iterator[None]:
    """Commit what is written meanwhile, or nothing of it where that fails."""
    connection.execute(begin)
    try:
        yield
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
