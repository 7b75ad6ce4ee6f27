"""A relay that loses, or a peer that never stops talking: a wait that names whom, and a deadline in the end."""

from __future__ import annotations

from pathlib import Path

from support import sites
from support.relay_carriers import PassingCarrier
from support.sites import Sites

from smc_dp.deploy.frame import Carrier, Frame
from smc_dp.deploy.relay_store import RelayStore


class LosingCarrier(PassingCarrier):
    """Brings everything but the transcript."""

    def fetch(self, seconds: float) -> list[Frame]:
        return [frame for frame in super().fetch(seconds) if frame.lane != "transcript"]


def test_a_lost_record_is_looked_for_again(curator_run: Sites, tmp_path: Path) -> None:
    run = Sites(curator_run.study, tmp_path, lambda name, way: LosingCarrier(way) if name == "P1" else way).run()
    assert run.ends == {"P1": "waiting", "P2": "released", "P3": "released", "charlie": "released"}
    assert "the role is at its end: waiting for the transcript of charlie" in run.said["P1"]
    assert run.at["P1"].entries() == ["open"]
    run.between = lambda name, way: way
    run.begin("P1")
    run.run()
    assert run.ends["P1"] == "released"
    assert run.at["P1"].entries() == ["released"]
    assert sites.stage_result(run) == sites.stage_result(curator_run)


def test_what_a_relay_has_lost_it_gets_again(sum_run: Sites, tmp_path: Path) -> None:
    """A power cut takes back what a relay had not synced: sites that begin again send it once more."""
    run = Sites(sum_run.study, tmp_path)
    run.run(until=lambda: len(run.frames()) > 20)
    kept = run.frames()[:10]
    run.relay = RelayStore()
    for frame in kept:
        run.relay.put(frame)
    for name in run.study.names:
        run.begin(name)
    run.run()
    assert sites.stage_result(run) == sites.stage_result(sum_run)


class JunkCarrier(PassingCarrier):
    """Brings, once a minute and without an end, one more notice of a peer that is none."""

    def __init__(self, inner: Carrier, study: str, clock: sites.Clock) -> None:
        super().__init__(inner)
        self._study, self._number, self._clock = study, 0, clock

    def fetch(self, seconds: float) -> list[Frame]:
        self._number += 1
        self._clock.now += 60
        return [*super().fetch(seconds), Frame(self._study, "P2", "public", "notice", self._number, b"{}")]


def test_a_peer_that_never_stops_talking_postpones_no_deadline(sum_run: Sites, tmp_path: Path) -> None:
    run = Sites(sum_run.study, tmp_path, most_turns=100)
    run.away |= {"P2", "P3", "charlie"}
    run.between = lambda name, way: JunkCarrier(way, run.study.digest, run.clock)
    run.run()
    assert run.ends["P1"] == "deadline"
