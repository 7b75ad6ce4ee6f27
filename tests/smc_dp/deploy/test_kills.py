"""Whoever dies when, and begins anew: the same envelopes, the same release, one charge."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from support import sites
from support.relay_carriers import PassingCarrier
from support.sites import Sites

from protocols.arithmetic.rng import Stream
from smc_dp.deploy.curator_site import CuratorBusiness
from smc_dp.deploy.frame import Carrier, Frame
from smc_dp.deploy.party_site import PartyBusiness
from smc_dp.deploy.store import KeptState, SiteStore, StateNumber

BEFORE, COMMITTED, SENT, NOTED, TAKEN = "before its commit", "committed", "sent", "noted as sent", "taken"
CHARGED, WRITTEN, UNCOUNTED = "charged", "written", "committed, and not counted"
RUNS, OTHERS = 10, 4


class Killed(BaseException):
    """A program died."""


class Fate:
    """At which places programs die, once each, and what each death was about."""

    def __init__(self, places: Iterable[str]) -> None:
        self.left = set(places)
        self.deaths: list[list[str]] = []

    def meet(self, where: str, what: Iterable[str]) -> None:
        """Die here if it is one of the places, and nobody has died of it before."""
        there = [f"{where}: {it}" for it in what]
        if self.left.intersection(there):
            self.left.difference_update(there)
            self.deaths.append(there)
            raise Killed

    def of(self, frames: Sequence[Frame], where: str) -> None:
        """As `meet`."""
        self.meet(where, map(called, frames))


def called(frame: Frame) -> str:
    """What a place calls a frame."""
    return f"{frame.lane} {frame.number} from {frame.sender} to {frame.to}"


class DyingStore(SiteStore):
    """Dies before and after what it commits."""

    def __init__(self, fate: Fate, *args: Any) -> None:
        self._fate = fate
        super().__init__(*args)

    def commit(
        self,
        taken: Sequence[Frame] = (),
        sending: Sequence[Frame] = (),
        state: Callable[[], KeptState] | None = None,
        facts: Mapping[str, Any] | None = None,
        evidence: Sequence[Frame] = (),
    ) -> None:
        self._fate.of(sending, BEFORE)
        super().commit(taken, sending, state, facts, evidence)
        self._fate.of(sending, COMMITTED)
        self._fate.of(taken, TAKEN)

    def sent(self, frames: Sequence[Frame]) -> None:
        super().sent(frames)
        self._fate.of(frames, NOTED)

    def _write(self, count: StateNumber) -> None:
        self._fate.meet(UNCOUNTED, [f"{self.path.parent.parent.name} {count.number}"])
        super()._write(count)


class DyingCarrier(PassingCarrier):
    """Dies after one frame of many was sent."""

    def __init__(self, fate: Fate, inner: Carrier) -> None:
        super().__init__(inner)
        self._fate = fate

    def send(self, frames: Sequence[Frame]) -> None:
        for frame in frames:
            super().send([frame])
            self._fate.of([frame], SENT)


class Mortal(Sites):
    """Whoever dies begins anew at once, as a program of the same thread."""

    def begin(self, name: str) -> None:
        try:
            super().begin(name)
        except Killed:
            self.begin(name)

    def turn(self, name: str) -> None:
        try:
            super().turn(name)
        except Killed:
            self.begin(name)


def dying(monkeypatch: pytest.MonkeyPatch, fate: Fate, kind: type[Any], method: str, where: str) -> None:
    """From now on whoever has done this for its business may die of it."""
    given = getattr(kind, method)

    def done(self: Any, *said: Any, **how: Any) -> Any:
        found = given(self, *said, **how)
        fate.meet(where, [self.member.name])
        return found

    monkeypatch.setattr(kind, method, done)


def mortal(whole: Sites, folder: Path, fate: Fate, patch: pytest.MonkeyPatch, **options: Any) -> Sites:
    """The same run, in which programs die."""
    dying(patch, fate, PartyBusiness, "begins", CHARGED)
    for kind in (PartyBusiness, CuratorBusiness):
        dying(patch, fate, kind, "released", WRITTEN)
    run = Mortal(
        whole.study, folder, lambda name, way: DyingCarrier(fate, way), partial(DyingStore, fate), options=options
    )
    return run.run()


def plans(frames: Sequence[Frame], names: Sequence[str], runs: int, others: int) -> list[list[str]]:
    """For each of so many runs its places: over all runs one between every commit and its send, and one after every
    charge and release; in each run `others` drawn uniformly over all other places.
    """
    draws = Stream.insecure_from_seed("where to die")
    every = [f"{where}: {called(frame)}" for where in (BEFORE, SENT, NOTED, TAKEN) for frame in frames]
    sure = [f"{COMMITTED}: {called(frame)}" for frame in frames]
    sure += [f"{where}: {name}" for where in (CHARGED, WRITTEN) for name in names]
    return [sure[at::runs] + [every[draws.below(len(every))] for _ in range(others)] for at in range(runs)]


@pytest.mark.slow
def test_ten_runs_with_kills_everywhere_leave_what_one_without_leaves(
    curator_run: Sites, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frames, met = curator_run.frames(), set[str]()
    for number, places in enumerate(plans(frames, curator_run.study.names, RUNS, OTHERS)):
        fate = Fate(places)
        with monkeypatch.context() as patch:
            run = mortal(curator_run, tmp_path / str(number), fate, patch)
        assert sites.stage_result(run) == sites.stage_result(curator_run)
        assert [run.at[name].entries() for name in run.study.parties] == [["released"]] * 3
        met |= {place for death in fate.deaths for place in death}
        run.close()
    assert {f"{COMMITTED}: {called(frame)}" for frame in frames} <= met
    assert {place.partition(":")[0] for place in met} == {BEFORE, COMMITTED, SENT, NOTED, TAKEN, CHARGED, WRITTEN}


def test_dead_between_a_commit_and_its_send_a_site_sends_what_it_committed(
    curator_run: Sites, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Coins are the system's, so that nothing is made twice by chance."""
    fate = Fate([f"{COMMITTED}: envelope 0 from P2 to public"])
    run = mortal(curator_run, tmp_path, fate, monkeypatch, coins=None)
    assert sites.ends(run) == ["released"] * 4
    assert len(fate.deaths) == 1


def test_dead_between_two_things_that_belong_together_a_site_does_the_second(
    curator_run: Sites, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its charge and its first state; a state and the number of it; its release and the end of its study."""
    fate = Fate([f"{CHARGED}: P1", f"{UNCOUNTED}: P1 3", f"{WRITTEN}: P2", f"{WRITTEN}: charlie"])
    run = mortal(curator_run, tmp_path, fate, monkeypatch)
    assert sites.stage_result(run) == sites.stage_result(curator_run)
    assert [run.at[name].entries() for name in run.study.parties] == [["released"]] * 3
    assert not fate.left
