"""A full disk, a spoilt database, two programs at once: one line, and nothing is sent that is not committed."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from support import sites
from support.sites import Sites

from protocols.curator import CURATOR_NAME
from smc_dp.deploy.store import StoreError
from tests.support.refusals import refused


@pytest.fixture(scope="module")
def played(curator_run: Sites, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sites]:
    run = Sites(curator_run.study, tmp_path_factory.mktemp("played"))
    yield run.run(until=lambda: len(run.frames()) > len(curator_run.frames()) // 2)
    run.close()


@pytest.fixture
def halfway(played: Sites, tmp_path: Path) -> Iterator[Sites]:
    """A run in which P1 has mail to take."""
    run = played.again(tmp_path / "run")
    for going in run.going.values():
        going._flush()
    yield run
    run.close()


def of_p1(run: Sites) -> list[bytes]:
    return [p.body for p in run.frames() if p.sender == "P1"]


def full_database(run: Sites, monkeypatch: pytest.MonkeyPatch) -> None:
    connection = run.stores["P1"]._connection
    connection.execute(f"PRAGMA max_page_count = {connection.execute('PRAGMA page_count').fetchone()[0]}")
    connection.execute("PRAGMA cache_size = 0")
    with suppress(sqlite3.OperationalError):
        while True:  # of its pages
            connection.execute("INSERT INTO evidence VALUES (randomblob(32), zeroblob(64))")


def full_disk(run: Sites, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(file: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)


FULL = {"the database": full_database, "the disk of the number": full_disk}


@pytest.mark.parametrize("what", FULL)
def test_nothing_is_sent_when_there_is_no_room_and_later_the_same_is(
    what: str, halfway: Sites, curator_run: Sites, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = of_p1(halfway)
    with monkeypatch.context() as patch:
        FULL[what](halfway, patch)
        with refused("state.unusable", error=StoreError):
            halfway.run()
        assert of_p1(halfway) == before
    halfway.begin("P1")
    halfway.run()
    assert sites.stage_result(halfway) == sites.stage_result(curator_run)
    assert halfway.at["P1"].entries() == ["released"]


def test_a_changed_state_does_not_open(halfway: Sites) -> None:
    store = halfway.stores["P1"]
    store._connection.execute("UPDATE state SET sealed = CAST(zeroblob(length(sealed)) AS BLOB)")
    with refused("state.does_not_open", error=StoreError):
        store.newest()


def test_nobody_else_reads_a_state(halfway: Sites) -> None:
    """Neither the files, by their mode, nor what is in them: the state is sealed."""
    for name in ("P1", CURATOR_NAME):
        folder = halfway.at[name].folder
        kept_apart = [folder / "state", folder / "counters"]  # the second holds the key of the state
        files = [*kept_apart, *(path for each in kept_apart for path in each.iterdir())]
        assert {path.name for path in files if path.stat().st_mode & 0o077} == set()
        assert {path.parent for path in files} > {*kept_apart}
        site = halfway.going[name]._site
        assert site
        secret = site.actor.seed.key
        assert all(secret not in path.read_bytes() for path in folder.rglob("*") if path.is_file())
        kept = halfway.stores[name].newest()
        assert kept
        assert secret in kept.content  # the twin: opened, it is there
