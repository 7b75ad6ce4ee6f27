"""How a site stands can be read after its program was killed in the middle of a commit."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from protocols.arithmetic.rng import Stream
from protocols.crypto.identity import Identity
from smc_dp.deploy.store import SiteStore, standing

ROWS = 200


def test_a_commit_that_a_killed_program_has_left_half_done_did_not_happen(tmp_path: Path) -> None:
    signer = Identity.generate(Stream.insecure_from_seed("north"))
    store = SiteStore(tmp_path / "state", tmp_path / "counters", {"participant": "north"}, signer)
    store.commit(facts={"stage": "setup"})
    inside = store._connection
    inside.execute("PRAGMA cache_size = 1")  # so that it writes to the file before the end
    inside.execute("BEGIN IMMEDIATE")
    inside.executemany("INSERT INTO facts VALUES (?, ?)", [(f"fact {n}", f'"{"x" * 500}"') for n in range(ROWS)])
    killed = tmp_path / "killed"
    shutil.copytree(tmp_path / "state", killed)  # what is on the disk now
    assert (killed / "site.db-journal").stat().st_size > 0
    store.close()
    with (
        closing(sqlite3.connect(f"{(killed / 'site.db').as_uri()}?mode=ro", uri=True)) as looking_only,
        pytest.raises(sqlite3.OperationalError, match="readonly"),  # who may not undo it cannot read
    ):
        looking_only.execute("SELECT name FROM facts")
    assert standing(killed) == standing(killed) == {"participant": "north", "stage": "setup"}
