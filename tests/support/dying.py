"""Programs that die at drawn places around their commits and sends, each place once; and twins with other orders."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from protocols.arithmetic.rng import Stream
from protocols.runtime.session import Session
from smc_dp.deploy.approval import Approval
from smc_dp.deploy.frame import Carrier, Frame
from smc_dp.deploy.relay_store import RelayStore
from smc_dp.deploy.session_driver import Business
from smc_dp.deploy.site import Site
from smc_dp.deploy.store import KeptState, SiteStore
from smc_dp.privacy.ledger.history import History
from smc_dp.run.budget_charge import OpenCharge
from smc_dp.run.site_process import SiteInputs
from smc_dp.run.status_message import Notice
from support.relay_carriers import PassingCarrier

BEFORE, COMMITTED, SENT, NOTED, TAKEN = "before its commit", "committed", "sent", "noted as sent", "taken"
PUT, KEPT = "before it is put", "put"
CHARGED, WRITTEN = "charged", "written"
AT_SITE, AT_RELAY = (BEFORE, SENT, NOTED, TAKEN), (PUT, KEPT)


def called(frame: Frame) -> str:
    """What a place calls a frame."""
    return f"{frame.lane} {frame.number} from {frame.sender} to {frame.to}"


@dataclass(frozen=True)
class Fate:
    """At which places to die, once each: what was met stands in a folder, for whoever begins anew."""

    places: Collection[str]
    met: Path
    die: Callable[[], Any]

    def meet(self, where: str, what: Iterable[str]) -> None:
        """Die here if it is one of the places, and nobody has died of it before."""
        there = [f"{where}: {it}" for it in what]
        for place in there:
            if place in self.places and not self._mark(place).exists():
                self._mark(place).write_text(json.dumps(there))
                self.die()

    def of(self, frames: Sequence[Frame], where: str) -> None:
        """As `meet`."""
        self.meet(where, map(called, frames))

    def deaths(self) -> list[list[str]]:
        """What every death was about."""
        return [json.loads(path.read_text()) for path in sorted(self.met.iterdir())]

    def _mark(self, place: str) -> Path:
        return self.met / hashlib.sha256(place.encode()).hexdigest()


class Killed(BaseException):
    """A program died, where all run in one thread."""


def die() -> None:
    """Die in one thread."""
    raise Killed


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


class DyingCarrier(PassingCarrier):
    """Dies after one frame of many was sent."""

    def __init__(self, fate: Fate, inner: Carrier) -> None:
        super().__init__(inner)
        self._fate = fate

    def send(self, frames: Sequence[Frame]) -> None:
        for frame in frames:
            super().send([frame])
            self._fate.of([frame], SENT)


@dataclass(frozen=True)
class DyingBusiness:
    """Dies after the budget was charged, and after the release was written and before that is committed."""

    name: str
    fate: Fate
    inner: Business

    def begins(self, session: Session, approvals: Mapping[str, Approval], *, over: bool, resumed: bool) -> SiteInputs:
        brings = self.inner.begins(session, approvals, over=over, resumed=resumed)
        self.fate.meet(CHARGED, [self.name])
        return brings

    def history(self) -> History | None:
        return self.inner.history()

    def is_over(self, site: Site, notices: Mapping[str, Notice], *, patient: bool) -> bool:
        return self.inner.is_over(site, notices, patient=patient)

    def released(self, site: Site, approvals: Mapping[str, Approval], notices: Mapping[str, Notice]) -> Sequence[Frame]:
        sending = self.inner.released(site, approvals, notices)
        self.fate.meet(WRITTEN, [self.name])
        return sending

    def run_folder(self) -> Path:
        return self.inner.run_folder()

    def ended(self, session_id: bytes, charge: OpenCharge) -> None:
        self.inner.ended(session_id, charge)


class DyingRelay(RelayStore):
    """Dies before and after it keeps a frame."""

    def __init__(self, fate: Fate, path: Path) -> None:
        super().__init__(path)
        self._fate = fate

    def put(self, frame: Frame) -> None:
        self._fate.of([frame], PUT)
        super().put(frame)
        self._fate.of([frame], KEPT)


def plans(frames: Sequence[Frame], names: Sequence[str], runs: int, others: int) -> list[list[str]]:
    """For each of so many runs its places: over all runs one between every commit and its send, and one after every
    charge and release; in each run `others` drawn uniformly over all other places.
    """
    draws = Stream.insecure_from_seed("where to die")
    every = [f"{where}: {called(frame)}" for where in (*AT_SITE, *AT_RELAY) for frame in frames]
    sure = [f"{COMMITTED}: {called(frame)}" for frame in frames]
    sure += [f"{where}: {name}" for where in (CHARGED, WRITTEN) for name in names]
    return [sure[at::runs] + [every[draws.below(len(every))] for _ in range(others)] for at in range(runs)]
