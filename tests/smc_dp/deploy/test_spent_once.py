"""One session costs a party once and is answered by it once: whatever is lost, and whatever the relay says it has."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from support import sites
from support.sites import Sites

from smc_dp.deploy.approval import RANDOM_BYTES, Approval
from smc_dp.deploy.frame import Frame
from smc_dp.deploy.party_site import PartyBusiness
from smc_dp.deploy.relay_store import RelayStore
from smc_dp.deploy.store import StoreError
from smc_dp.privacy.ledger.ledger import RELEASED
from tests.support.refusals import refused


def begun_anew(whole: Sites, folder: Path, relay: RelayStore | None = None) -> Sites:
    """P1 has its ledger, and neither its state nor the number of it; all others, and the relay, play the run again."""
    run = Sites(whole.study, folder, relay=relay or RelayStore(), options={"coins": None})
    shutil.copy(whole.at["P1"].ledger, run.at["P1"].ledger)
    return run


def test_a_session_that_was_charged_by_a_lost_state_is_not_answered_again(curator_run: Sites, fast_path: Path) -> None:
    """The relay says that it has nothing of P1: that its book knows the session is what stops it."""
    run = begun_anew(curator_run, fast_path)
    with refused("ledger.charged_by_another_state"):
        run.run()
    assert not [p for p in run.frames() if (p.sender, p.lane) == ("P1", "envelope")]
    run.close()


def test_an_approval_does_not_serve_a_second_session(
    curator_run: Sites, fast_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """P1 lost its state and the number of it, and kept its ledger and its approval; all others have approved anew."""
    before = sites.approvals(curator_run.study)
    again = {n: Approval.made(curator_run.study, n, sites.identity(n), bytes([7]) * RANDOM_BYTES) for n in before}
    monkeypatch.setattr(sites, "approvals", lambda study: {**again, "P1": before["P1"]})
    run = begun_anew(curator_run, fast_path)
    with refused("ledger.approval_used", number=2):
        run.run()
    assert not [p for p in run.frames() if (p.sender, p.lane) == ("P1", "envelope")]
    assert run.at["P1"].entries() == ["released"]
    run.close()
    monkeypatch.setattr(sites, "approvals", lambda study: again)
    renewed = begun_anew(curator_run, fast_path / "renewed")
    assert set(sites.ends(renewed.run())) == {"released"}
    assert renewed.at["P1"].entries() == ["released"] * 2
    renewed.close()


def test_a_program_that_died_between_its_book_and_its_first_state_goes_on(
    curator_run: Sites, fast_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begins, died = PartyBusiness.begins, []

    def die_once(self: PartyBusiness, *said: object, **how: bool) -> object:
        made = begins(self, *said, **how)  # type: ignore[arg-type]
        if not died:
            died.append(self.member.name)
            raise InterruptedError
        return made

    monkeypatch.setattr(PartyBusiness, "begins", die_once)
    run = Sites(curator_run.study, fast_path)
    with pytest.raises(InterruptedError):
        run.run()
    run.begin(died[0])
    run.run()
    assert sites.stage_result(run) == sites.stage_result(curator_run)
    assert run.at[died[0]].entries() == ["released"]
    run.close()


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
    curator_run: Sites, fast_path: Path
) -> None:
    run = stopped_after_release(curator_run, fast_path)
    assert (run.ends["P1"], run.facts("P1")["left"], run.at["P1"].entries()) == ("aborted", [RELEASED], ["open"])
    run.close()


@pytest.fixture
def ended(curator_run: Sites, fast_path: Path) -> Iterator[Sites]:
    """P1 met two frames under one key and has said so; then an operator put back the state of a minute before."""
    run = Sites(curator_run.study, fast_path / "run")
    run.run(until=lambda: run.facts("P1").get("stage") not in (None, "", "approvals", "witnesses", "setup"))
    folder = run.at["P1"].folder
    there = next(p for p in run.stores["P1"].received() if p.lane == "envelope")
    run.begin("P1")
    run.turn("P1")
    shutil.copytree(folder, fast_path / "copy")  # nothing is being committed
    run.relay.put(Frame(there.study, there.sender, there.to, "envelope", there.number, b"another"))
    for _ in range(4):
        if "P1" not in run.ends:
            run.turn("P1")
    assert run.ends["P1"] == "aborted"
    run.stop("P1")
    yield run
    run.close()


def put_back(run: Sites, copy: Path, *folders: str) -> None:
    for name in folders:
        shutil.rmtree(run.at["P1"].folder / name)
        shutil.copytree(copy / name, run.at["P1"].folder / name)


def test_a_state_of_before_the_end_is_refused_by_its_number_and_by_what_it_has_said_since(
    ended: Sites, fast_path: Path
) -> None:
    put_back(ended, fast_path / "copy", "state")
    with refused("state.is_old", error=StoreError):
        ended.begin("P1")
    put_back(ended, fast_path / "copy", "counters")
    with refused("state.older_than_relay", error=StoreError, frame="notice 0 from P1 to public"):
        ended.begin("P1")
