"""Open an SQLite file so that it is safe against crashes, and against what a stranger wrote into it.

The journal is a rollback journal, so that between transactions everything is in one file: with a write-ahead log, a
copy of the file alone would miss the last entries. `synchronous = EXTRA` is FULL, and syncs the folder once the
journal is gone: else a power cut could take back a commit, and with it what somebody relied on.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

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
