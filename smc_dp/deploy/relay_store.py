"""Store of a relay whose engine has none for us: every frame of a study, in the order of arrival, in SQLite.

Nothing in it is secret, and nothing of it is believed: frames are sealed or signed inside.
"""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

from protocols.runtime.session import PUBLIC_NAME
from smc_dp.deploy.frame import CarrierError, Frame, Lane

_SCHEMA = """
CREATE TABLE IF NOT EXISTS frames (
  position INTEGER PRIMARY KEY AUTOINCREMENT, sender TEXT NOT NULL, addressee TEXT NOT NULL, lane TEXT NOT NULL,
  number INTEGER NOT NULL, digest BLOB NOT NULL, frame BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX IF NOT EXISTS once ON frames (sender, addressee, lane, number, digest);
"""


class RelayStore:
    """Frames of one study. A frame survives a crash of the machine once `put` has returned.

    A repeat is dropped. Two different frames under one key are both kept and both handed on: their reader stops.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._lock = threading.Lock()
        self._connection = sqlite3.connect(path or ":memory:", check_same_thread=False, isolation_level=None)
        self._connection.executescript(f"PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; {_SCHEMA}")

    def put(self, frame: Frame) -> None:
        """Store a frame."""
        row = (frame.sender, frame.to, frame.lane, frame.number, frame.digest, frame.encode())
        self._execute(
            "INSERT OR IGNORE INTO frames (sender, addressee, lane, number, digest, frame) VALUES (?, ?, ?, ?, ?, ?)",
            row,
        )

    def since(self, position: int, name: str, *, everything: bool = False, most: int = 256) -> list[tuple[int, Frame]]:
        """Return frames after this position for this site and for all, with positions; `everything`: all envelopes."""
        rows = self._execute(
            "SELECT position, frame FROM frames WHERE position > ? AND sender <> ? "
            "AND (addressee IN (?, ?) OR (? AND lane = 'envelope')) ORDER BY position LIMIT ?",
            (position, name, name, PUBLIC_NAME, everything, most),
        )
        return [(at, Frame.decode(frame)) for at, frame in rows]

    def last(self, sender: str, to: str, lane: Lane) -> Frame | None:
        """Return the frame with the highest number."""
        rows = self._execute(
            "SELECT frame FROM frames WHERE sender = ? AND addressee = ? AND lane = ? ORDER BY number DESC LIMIT 1",
            (sender, to, lane),
        )
        return Frame.decode(rows[0][0]) if rows else None

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _execute(self, statement: str, values: tuple[object, ...]) -> list[Any]:
        try:
            with self._lock, closing(self._connection.execute(statement, values)) as cursor:
                return cursor.fetchall()
        except sqlite3.Error as error:
            raise CarrierError("relay.store_unusable", why=str(error)) from None
