"""A relay that repeats, delays, reorders and loses: no effect, or a wait that names whom, and a deadline in the end."""

from __future__ import annotations

from pathlib import Path

import pytest
from support import sites
from support.carrier_suite import RoughCarrier
from support.relay_carriers import PassingCarrier
from support.sites import Sites

from protocols.arithmetic.rng import Stream
from smc_dp.deploy.frame import Carrier, Frame
from smc_dp.deploy.relay_store import RelayStore
from smc_dp.deploy.study import JointStudy


@pytest.mark.slow
def test_a_rough_relay_changes_no_sum(sum_run: Sites, fast_path: Path) -> None:
    draws = Stream.insecure_from_seed("rough")
    run = Sites(sum_run.study, fast_path, options={"sleep": lambda seconds: None})
    run.between = lambda name, way: RoughCarrier(way, draws.fork(name))
    run.run()
    assert sites.stage_result(run) == sites.stage_result(sum_run)
    run.close()


class LosingCarrier(PassingCarrier):
    """Brings everything but one frame: of this sender in this lane, the last that has come or a numbered one."""

    def __init__(self, inner: Carrier, sender: str, lane: str, number: int) -> None:
        super().__init__(inner)
        self._lost = (sender, lane, number)

    def fetch(self, seconds: float) -> list[Frame]:
        came = super().fetch(seconds)
        lost = [p for p in came if (p.sender, p.lane, p.number) == self._lost]
        if len(lost) == len(came):
            self.taken(lost)
        return [p for p in came if p not in lost]


def without(study: JointStudy, folder: Path, reader: str, sender: str, lane: str, number: int) -> Sites:
    """The run in which this reader never gets that frame."""
    return Sites(
        study,
        folder,
        between=lambda name, way: LosingCarrier(way, sender, lane, number) if name == reader else way,
    ).run()


def test_an_approval_that_is_lost_for_ever_is_waited_for_by_name(curator_run: Sites, fast_path: Path) -> None:
    run = without(curator_run.study, fast_path, "P1", "P2", "approval", 0)
    assert "waiting for the approvals of P2" in run.said["P1"]
    assert run.ends["P1"] == "deadline"
    assert run.facts("P1")["code"] == "approvals.deadline"
    assert not run.releases()
    states = [run.at[name].entries() for name in run.study.parties]
    assert states == [[], ["refunded"], ["refunded"]]  # the others had begun
    run.close()


def test_a_letter_that_is_lost_for_ever_is_waited_for_by_name_and_then_no_more(fast_path: Path) -> None:
    run = without(sites.joint(sites.PRR_MEAN), fast_path, "P1", "P2", "envelope", 1)
    assert any("waiting for P2" in line for line in run.said["P1"])
    assert run.ends == {"P1": "ended", "P2": "ended", "P3": "ended", "charlie": "deadline"}  # he waits the least
    assert run.facts("P1")["code"] == "session.ended_by_others"
    assert not run.releases()
    assert [run.at[name].entries() for name in run.study.parties] == [["refunded"]] * 3
    run.close()


def test_a_lost_record_is_looked_for_again(curator_run: Sites, fast_path: Path) -> None:
    run = without(curator_run.study, fast_path, "P1", "charlie", "transcript", 0)
    assert run.ends == {"P1": "waiting", "P2": "released", "P3": "released", "charlie": "released"}
    assert "the role is at its end: waiting for the transcript of charlie" in run.said["P1"]
    assert run.at["P1"].entries() == ["open"]
    run.between = lambda name, way: way
    run.begin("P1")
    run.run()
    assert run.ends["P1"] == "released"
    assert run.at["P1"].entries() == ["released"]
    assert sites.stage_result(run) == sites.stage_result(curator_run)
    run.close()


def test_what_a_relay_has_lost_it_gets_again(sum_run: Sites, fast_path: Path) -> None:
    """A power cut takes back what a relay had not synced: sites that begin again send it once more."""
    run = Sites(sum_run.study, fast_path)
    run.run(until=lambda: len(run.frames()) > 20)
    kept = run.frames()[:10]
    run.relay = RelayStore()
    for frame in kept:
        run.relay.put(frame)
    for name in run.study.names:
        run.begin(name)
    run.run()
    assert sites.stage_result(run) == sites.stage_result(sum_run)
    run.close()


class JunkCarrier(PassingCarrier):
    """Brings, once a minute and without an end, one more notice of a peer that is none."""

    def __init__(self, inner: Carrier, study: str, clock: sites.Clock) -> None:
        super().__init__(inner)
        self._study, self._number, self._clock = study, 0, clock

    def fetch(self, seconds: float) -> list[Frame]:
        self._number += 1
        self._clock.now += 60
        return [*super().fetch(seconds), Frame(self._study, "P2", "public", "notice", self._number, b"{}")]


def test_a_peer_that_never_stops_talking_postpones_no_deadline(sum_run: Sites, fast_path: Path) -> None:
    run = Sites(sum_run.study, fast_path, most_turns=100)
    run.away |= {"P2", "P3", "charlie"}
    run.between = lambda name, way: JunkCarrier(way, run.study.digest, run.clock)
    run.run()
    assert run.ends["P1"] == "deadline"
    run.close()
