"""One session costs a party once and is answered by it once: whatever is lost, put back, or said by the relay.

An old state that went on would seal two letters under one key and nonce.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from support import sites
from support.sites import Sites

from smc_dp.deploy.approval import Approval
from smc_dp.deploy.frame import Frame, Lane
from smc_dp.deploy.relay_store import RelayStore
from smc_dp.deploy.store import StoreError
from smc_dp.privacy.ledger.ledger import RELEASED
from smc_dp.run.approvals import RANDOM_BYTES
from tests.support.refusals import refused


def begun_anew(whole: Sites, folder: Path, relay: RelayStore | None = None) -> Sites:
    """P1 has its ledger, and neither its state nor the number of it; all others, and the relay, play the run again."""
    run = Sites(whole.study, folder, relay=relay or RelayStore(), options={"coins": None})
    shutil.copy(whole.at["P1"].ledger, run.at["P1"].ledger)
    return run


def test_a_session_that_was_charged_by_a_lost_state_is_not_answered_again(curator_run: Sites, tmp_path: Path) -> None:
    """The relay says that it has nothing of P1: that its book knows the session is what stops it."""
    run = begun_anew(curator_run, tmp_path)
    with refused("ledger.charged_by_another_state"):
        run.run()
    assert not [p for p in run.frames() if (p.sender, p.lane) == ("P1", "envelope")]


def test_an_approval_does_not_serve_a_second_session(
    curator_run: Sites, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """P1 lost its state and the number of it, and kept its ledger and its approval; all others have approved anew."""
    before = sites.approvals(curator_run.study)
    again = {
        n: Approval.made(curator_run.study.digest, n, sites.identity(n), bytes([7]) * RANDOM_BYTES) for n in before
    }
    monkeypatch.setattr(sites, "approvals", lambda study: {**again, "P1": before["P1"]})
    run = begun_anew(curator_run, tmp_path)
    with refused("ledger.approval_used", number=2):
        run.run()
    assert not [p for p in run.frames() if (p.sender, p.lane) == ("P1", "envelope")]
    assert run.at["P1"].entries() == ["released"]
    run.close()
    monkeypatch.setattr(sites, "approvals", lambda study: again)
    renewed = begun_anew(curator_run, tmp_path / "renewed")
    assert set(sites.ends(renewed.run())) == {"released"}
    assert renewed.at["P1"].entries() == ["released"] * 2
    renewed.close()


def stopped_after_release(whole: Sites, folder: Path) -> Sites:
    """P1's share is out; then its program begins anew, and the relay brings another frame under a known key."""
    run = Sites(whole.study, folder)
    run.run(until=lambda: run.facts("P1").get("left") == [RELEASED])
    run.begin("P1")
    run.turn("P1")
    there = next(p for p in run.stores["P1"].received() if p.lane == "envelope")
    run.relay.put(Frame(there.study, there.sender, there.to, "envelope", there.number, b"another"))
    run.run(until=lambda: "P1" in run.ends)
    return run


def test_a_charge_stays_once_the_share_is_out_and_a_program_that_begins_anew_knows_it(
    curator_run: Sites, tmp_path: Path
) -> None:
    run = stopped_after_release(curator_run, tmp_path)
    assert (run.ends["P1"], run.facts("P1")["left"], run.at["P1"].entries()) == ("aborted", [RELEASED], ["open"])


@pytest.fixture
def ended(curator_run: Sites, tmp_path: Path) -> Iterator[Sites]:
    """P1 met two frames under one key and has said so; of the minute before there is a copy."""
    run = Sites(curator_run.study, tmp_path / "run")
    run.run(until=lambda: run.facts("P1").get("stage") not in (None, "", "approvals", "witnesses", "setup"))
    there = next(p for p in run.stores["P1"].received() if p.lane == "envelope")
    run.begin("P1")
    run.turn("P1")
    shutil.copytree(run.at["P1"].folder, tmp_path / "copy")  # nothing is being committed
    run.relay.put(Frame(there.study, there.sender, there.to, "envelope", there.number, b"another"))
    run.run(until=lambda: "P1" in run.ends)
    assert run.ends["P1"] == "aborted"
    run.stop("P1")
    yield run
    run.close()


def test_a_state_of_before_the_end_is_refused_by_its_number_and_by_what_it_has_said_since(
    ended: Sites, tmp_path: Path
) -> None:
    """An operator puts back the state, and then its number as well."""
    own = ended.at["P1"].folder
    for folder, code, fields in (
        ("state", "state.is_old", {}),
        ("counters", "state.older_than_relay", {"frame": "notice 0 from P1 to public"}),
    ):
        shutil.rmtree(own / folder)
        shutil.copytree(tmp_path / "copy" / folder, own / folder)
        with refused(code, error=StoreError, **fields):
            ended.begin("P1")


@pytest.mark.parametrize(
    ("lost", "code", "fields"),
    [
        (["counters"], "state.is_old", {"said": "is not there"}),
        (["state"], "state.is_old", {"number": 0}),
        (["state", "counters"], "state.older_than_relay", {}),
    ],
)
def test_without_its_state_or_its_number_a_site_does_not_go_on(
    lost: list[str], code: str, fields: dict[str, object], ended: Sites
) -> None:
    for folder in lost:
        shutil.rmtree(ended.at["P1"].folder / folder)
    with refused(code, error=StoreError, **fields):
        ended.begin("P1")


@pytest.mark.parametrize("lane", ["approval", "envelope"])
def test_a_state_does_not_go_on_where_the_relay_has_another_frame_under_a_key_of_its_own(
    lane: Lane, curator_run: Sites, tmp_path: Path
) -> None:
    """The relay has no more than this state has sent; but the last of it is of another state of the same site."""
    run = Sites(curator_run.study, tmp_path)
    run.run(until=lambda: run.facts("P1").get("stage") not in (None, "", "approvals", "witnesses", "setup"))
    run.stop("P1")
    mine = [p for p in run.frames() if (p.sender, p.lane) == ("P1", lane)]
    run.relay = RelayStore()
    for frame in (*mine[:-1], replace(mine[-1], body=mine[-1].body[::-1])):
        run.relay.put(frame)
    with refused("state.older_than_relay", error=StoreError):
        run.begin("P1")
