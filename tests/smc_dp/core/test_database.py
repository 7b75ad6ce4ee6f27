"""What SQLite is told of a file: no test that kills a process notices that it is told less."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from smc_dp.core.database import open_database


def test_a_commit_is_on_disk_and_nothing_in_the_file_is_trusted(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "file")):
        pass
    (tmp_path / "file").touch()
    with closing(open_database(tmp_path / "file", 1.0)) as database:
        names = ("synchronous", "journal_mode", "trusted_schema")
        assert [database.execute(f"PRAGMA {name}").fetchone()[0] for name in names] == [3, "delete", 0]
