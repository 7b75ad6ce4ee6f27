"""An old state may not go on: it would seal two letters under one key and nonce, as a twin that lets it does."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest
from support import sites
from support.dying import Killed
from support.sites import Sites

from protocols.runtime.envelope import Envelope
from smc_dp.deploy.frame import Lane
from smc_dp.deploy.ledger_heads import HEAD_LANES
from smc_dp.deploy.relay_store import RelayStore
from smc_dp.deploy.store import SiteStore, StateNumber, StoreError
from tests.support.refusals import refused

STATE, COUNTERS = "state", "counters"


class Stopped(NamedTuple):
    """A run in which P1's program was stopped, a copy of what P1 had before, and what the relay had then."""

    run: Sites
    copy: Path
    relay: RelayStore


@pytest.fixture(scope="module")
def stopped(curator_run: Sites, fast_folder: Path) -> Iterator[Stopped]:
    """P1 has sent sealed letters; of the time when it had greeted there is a copy."""
    root = Path(tempfile.mkdtemp(dir=fast_folder))  # a worker may come back to this module
    run, copy, relay = Sites(curator_run.study, root / "old"), root / "copy", RelayStore()
    run.run(until=lambda: any(p.sender == "P1" and p.lane == "envelope" for p in run.frames()))
    assert not letters(run)
    run.stop("P1")
    shutil.copytree(run.at["P1"].folder, copy)
    for frame in run.frames():
        if frame.lane not in HEAD_LANES or (frame.sender, frame.lane) == (
            "P1",
            "seen",
        ):  # others begin with new ledgers
            relay.put(frame)
    run.run(until=lambda: len(letters(run)) > 3)
    run.stop("P1")
    yield Stopped(run, copy, relay)
    run.close()


def letters(run: Sites) -> dict[tuple[str, int], Envelope]:
    """The sealed letters of P1, by their place."""
    mail = [Envelope.decode(p.body) for p in run.frames() if p.lane == "envelope" and p.sender == "P1"]
    return {(e.to, e.number): e for e in mail if not e.is_public}


def restored(stopped: Stopped, *folders: str) -> Sites:
    """The run, after an operator has put back these folders of P1 from the copy."""
    for folder in folders:
        shutil.rmtree(stopped.run.at["P1"].folder / folder)
        shutil.copytree(stopped.copy / folder, stopped.run.at["P1"].folder / folder)
    return stopped.run


@pytest.fixture
def put_back(stopped: Stopped, fast_path: Path) -> Iterator[None]:
    """What P1 has is the newest again afterwards."""
    own = stopped.run.at["P1"].folder
    shutil.copytree(own, fast_path / "newest")
    yield
    stopped.run.stop("P1")
    shutil.rmtree(own)
    shutil.copytree(fast_path / "newest", own)


@pytest.mark.usefixtures("put_back")
def test_a_state_from_a_backup_is_refused_by_its_number(stopped: Stopped) -> None:
    with refused("state.is_old", error=StoreError, number=1):
        restored(stopped, STATE).begin("P1")


@pytest.mark.usefixtures("put_back")
def test_with_its_number_put_back_too_it_is_refused_by_what_the_relay_has(stopped: Stopped) -> None:
    with refused("state.older_than_relay", error=StoreError):
        restored(stopped, STATE, COUNTERS).begin("P1")


@pytest.mark.parametrize("lane", ["approval", "envelope"])
def test_a_state_does_not_go_on_where_the_relay_has_another_frame_under_a_key_of_its_own(
    lane: Lane, curator_run: Sites, fast_path: Path
) -> None:
    """The relay has no more than this state has sent; but the last of it is of another state of the same site."""
    run = Sites(curator_run.study, fast_path)
    run.run(until=lambda: len(letters(run)) > 3)
    run.stop("P1")
    mine = [p for p in run.frames() if (p.sender, p.lane) == ("P1", lane)]
    run.relay = RelayStore()
    for frame in mine[:-1]:
        run.relay.put(frame)
    run.relay.put(replace(mine[-1], body=mine[-1].body[::-1]))
    with refused("state.older_than_relay", error=StoreError):
        run.begin("P1")
    run.close()


@pytest.mark.usefixtures("put_back")
def test_an_empty_state_is_refused_as_well(stopped: Stopped) -> None:
    shutil.rmtree(stopped.run.at["P1"].folder / STATE)
    with refused("state.is_old", error=StoreError, number=0):
        stopped.run.begin("P1")
    shutil.rmtree(stopped.run.at["P1"].folder / COUNTERS)
    with refused("state.older_than_relay", error=StoreError):
        stopped.run.begin("P1")


@pytest.mark.usefixtures("put_back")
def test_without_the_file_of_its_number_a_state_does_not_go_on(stopped: Stopped) -> None:
    shutil.rmtree(stopped.run.at["P1"].folder / COUNTERS)
    with refused("state.is_old", error=StoreError, said="is not there"):
        stopped.run.begin("P1")


def test_killed_between_a_commit_and_its_number_a_state_goes_on(
    curator_run: Sites, fast_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The number may be one behind the state, for nothing has left by then."""
    write, died = SiteStore._write, []

    def die_once(self: SiteStore, count: StateNumber) -> None:
        if count.number == 3 and self.path.parent.parent.name == "P1" and not died:
            died.append(count)
            raise Killed
        write(self, count)

    monkeypatch.setattr(SiteStore, "_write", die_once)
    run = Sites(curator_run.study, fast_path)
    with pytest.raises(Killed):
        run.run()
    run.begin("P1")
    run.run()
    assert sites.stage_result(run) == sites.stage_result(curator_run)
    run.close()
