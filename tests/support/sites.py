"""Studies of a few small sites with toy keys, all of whose coins follow from public seeds, driven in one thread.

Time is the driver's: it stands still while anybody can move, and goes on when nobody can.
"""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from protocols.arithmetic.rng import Stream
from protocols.crypto.identity import Identity
from protocols.curator import CURATOR_NAME
from protocols.runtime.envelope import Envelope
from protocols.runtime.simulate import Setting, simulate
from smc_dp.data.federation import Rows
from smc_dp.deploy.approval import Approval
from smc_dp.deploy.curator_site import CuratorBusiness
from smc_dp.deploy.frame import Carrier, Frame
from smc_dp.deploy.ledger_heads import own_witness
from smc_dp.deploy.party_site import PartyBusiness
from smc_dp.deploy.relay_store import RelayStore
from smc_dp.deploy.session_driver import Business, Member, SessionDriver
from smc_dp.deploy.store import SiteStore
from smc_dp.deploy.study import STUDY_FORMAT, JointStudy
from smc_dp.privacy.ledger.ledger import Ledger
from smc_dp.run.approvals import RANDOM_BYTES
from smc_dp.run.release import RELEASE
from smc_dp.run.site_ledger import SiteLedger
from smc_dp.run.site_process import SiteRandomness
from support.relay_carriers import InMemoryCarrier

GREETINGS, MESSAGES = 60.0, 30.0
NOON = 1_000_000.0
_TICK = 7.0
BOUNDS = {"label": {"classes": ["0", "1"], "column": "y"}, "columns": {"a": [0, 1], "b": [0, 1]}}
PRR_MEAN = {
    "method": {"name": "prr_mean", "lambda": "1/10"},
    "target": {"epsilon": "1", "noise": "knorm", "calibration": "proven"},
    "protocol": {"name": "pathak2010", "key_bits": 256, "comparison": "tournament", "ring_bits": 64},
    "insecure_test_keys": True,
}
LINEAR = {
    **{name: said for name, said in PRR_MEAN.items() if name != "insecure_test_keys"},
    "protocol": {"name": "linear", "ring_bits": 64, "ring_degree": 8},
}


def newton(*, colluders: int = 1, dropouts: int = 0) -> dict[str, Any]:
    """What a study by Newton's method over secure sums says."""
    return {
        "method": {"name": "newton", "adjacency": "replace"},
        "target": {"epsilon": "1", "delta": "1/100000", "noise": "ddg", "calibration": "proven"},
        "protocol": {
            **{"name": "secure_sum", "colluders": colluders, "dropouts": dropouts, "most_rows": 100},
            **{"sizes": "hidden", "verifiable": False, "output": "curator", "left_out": []},
        },
    }


def few_sums(*, colluders: int = 0, dropouts: int = 1) -> dict[str, Any]:
    """What a study says in which four sums are all."""
    said = newton(colluders=colluders, dropouts=dropouts)
    return {**said, "method": {"name": "gd", "adjacency": "replace"}, "target": {**said["target"], "epsilon": "1/100"}}


def one_sum(*, colluders: int = 0, dropouts: int = 1) -> dict[str, Any]:
    """What a study says in which one sum is all."""
    said = newton(colluders=colluders, dropouts=dropouts)
    return {
        "method": {"name": "wsum", "lambda": "1/10"},
        "target": {"epsilon": "1", "noise": "vg", "calibration": "proven"},
        "protocol": {**said["protocol"], "sizes": "released"},
    }


def identity(name: str) -> Identity:
    """The toy identity of this name."""
    return Identity.generate(Stream.insecure_from_seed(f"identity of {name}"))


def names(parties: int) -> tuple[str, ...]:
    """P1, P2, ..."""
    return tuple(f"P{j}" for j in range(1, parties + 1))


def document(stated: Mapping[str, Any], parties: int = 3) -> dict[str, Any]:
    """A study as plain values."""
    return {
        **{
            "format": STUDY_FORMAT,
            "title": "trial",
            "purpose": "research",
            "relay": "nats://relay.example:4222",
            "bounds": BOUNDS,
        },
        "deadlines": {"greetings": GREETINGS, "messages": MESSAGES},
        "parties": [{"name": name, "key": identity(name).public.hex()} for name in names(parties)],
        "curator": {"key": identity(CURATOR_NAME).public.hex()},
        **stated,
    }


def joint(stated: Mapping[str, Any], parties: int = 3) -> JointStudy:
    """A study of so many parties."""
    return JointStudy.model_validate(document(stated, parties))


def approval(study: JointStudy, name: str, random: str = "") -> Approval:
    """The approval of this participant, with bytes that follow from its name."""
    drawn = Stream.insecure_from_seed(f"approval {name}{random}").bytes(RANDOM_BYTES)
    return Approval.made(study.digest, name, identity(name), drawn)


def approvals(study: JointStudy) -> dict[str, Approval]:
    """Those of all."""
    return {name: approval(study, name) for name in study.names}


@cache
def rows(name: str) -> Rows:
    """Twelve rows of this party."""
    seed = sum(name.encode())
    rng = np.random.default_rng(seed)
    X = np.hstack([rng.uniform(0, 0.5, size=(12, 2)), np.full((12, 1), 0.1)])
    y = np.array([0, 1] * 6, dtype=np.int64)
    return Rows(X, y)


def coins(name: str) -> SiteRandomness:
    """Everything random of this site."""
    return SiteRandomness(Stream.insecure_from_seed(f"role of {name}"), Stream.insecure_from_seed(f"home of {name}"))


class Clock:
    """Seconds that pass when the driver says so."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> float:
        return self.now


class PromptCarrier(InMemoryCarrier):
    """Asks the relay once, and does not wait."""

    def fetch(self, seconds: float) -> list[Frame]:
        return super().fetch(0)


@dataclass
class AtHand:
    """What one site has: its folder, and what is put between it and the rest."""

    study: JointStudy
    name: str
    folder: Path
    approval: Approval

    @property
    def ledger(self) -> Path:
        return self.folder / "own.ledger"

    @property
    def release(self) -> Path:
        return self.folder / "run" / RELEASE

    def store(self, kind: Callable[..., SiteStore] = SiteStore) -> SiteStore:
        purpose = {"study": self.study.digest, "participant": self.name}
        return kind(self.folder / "state", self.folder / "counters", purpose, identity(self.name))

    def prepared(self) -> AtHand:
        """Its ledger is there."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if self.name != CURATOR_NAME and not self.ledger.exists():
            Ledger.create(self.ledger, Fraction(5), Fraction(1, 100)).close()
        return self

    def business(self) -> Business:
        member = self.member
        if self.name == CURATOR_NAME:
            return CuratorBusiness(member, self.folder / "run")
        return PartyBusiness(member, rows(self.name), None, SiteLedger(self.ledger), self.folder / "run")

    @property
    def member(self) -> Member:
        return Member(self.study, self.name, identity(self.name), self.approval, self.study.agreement())

    def participation(
        self, store: SiteStore, carrier: Carrier, business: Business | None = None, **options: Any
    ) -> SessionDriver:
        """Its program, with coins by its name."""
        given = {"coins": coins(self.name), **options}
        clock = options.get("clock", lambda: NOON)
        witness = partial(own_witness, self.folder / "counters", identity(self.name).public, clock)
        return SessionDriver(self.member, store, carrier, business or self.business(), witness, **given)

    def entries(self) -> list[str]:
        """Of each charge in its ledger what became of it: "released", "refunded", or "open"."""
        with Ledger.open(self.ledger) as ledger:
            history = ledger.history()
        outcomes = [history.outcome(entry.number) for entry in history.entries if entry.state == "reserved"]
        return ["open" if outcome is None else outcome.state for outcome in outcomes]


Between = Callable[[str, Carrier], Carrier]


@dataclass
class Sites:
    """All sites of one study. `between`: what is put between a site and its relay; `kind`: of which kind stores are.

    `away`: who gets no turn. `said`: what each told its own people.
    """

    study: JointStudy
    root: Path
    between: Between = lambda name, carrier: carrier
    kind: Callable[..., SiteStore] = SiteStore
    clock: Clock = field(default_factory=Clock)
    relay: RelayStore = field(default_factory=RelayStore)
    options: Mapping[str, Any] = field(default_factory=dict)
    most_turns: int = 500

    def __post_init__(self) -> None:
        given = approvals(self.study)
        self.at = {
            name: AtHand(self.study, name, self.root / name, given[name]).prepared() for name in self.study.names
        }
        self.stores: dict[str, SiteStore] = {}
        self.going: dict[str, SessionDriver] = {}
        self.ends: dict[str, str] = {}
        self.said: dict[str, list[str]] = defaultdict(list)
        self.away: set[str] = set()

    def begin(self, name: str) -> None:
        """Start its program, anew or for the first time."""
        self.stop(name)
        self.ends.pop(name, None)
        here = self.at[name]
        store = self.stores[name] = here.store(self.kind)
        carrier = self.between(name, PromptCarrier(self.relay, name, self.study.digest))
        usual = {
            "clock": self.clock,
            "sleep": self._sleep,
            "hear": lambda text: self.said[name].append(text.on_screen()),
        }
        going = self.going[name] = here.participation(store, carrier, **{**usual, **self.options})
        going.begin()

    def stop(self, name: str) -> None:
        """Its program is gone, as if it were killed."""
        self.going.pop(name, None)
        if name in self.stores:
            self.stores.pop(name).close()

    def turn(self, name: str) -> None:
        """One look at its mail; at the end it settles."""
        if not self.going[name].turn():
            self.ends[name] = self.going[name].finish()

    def run(self, until: Callable[[], bool] = lambda: False) -> Sites:
        """Everybody takes turns until all who are not away have come to an end, or `until`."""
        for name in self.study.names:
            if name not in self.going and name not in self.away and name not in self.ends:
                self.begin(name)
        for _ in range(self.most_turns):
            due = [name for name in self.study.names if name not in self.ends and name not in self.away]
            if not due:
                return self
            before = self.count
            for name in due:
                if until():
                    return self
                self.turn(name)
            if self.count == before:
                self.clock.now += _TICK
        raise AssertionError(f"no end: {self.ends}, {dict(self.said)}")

    def again(self, root: Path) -> Sites:
        """The same sites at the same point in other folders: each has begun anew and has its session."""
        shutil.copytree(self.root, root)
        run = Sites(self.study, root)
        run.clock.now = self.clock.now
        for frame in self.frames():
            run.relay.put(frame)
        return run.run(until=lambda: all(going._site for going in run.going.values()))

    @property
    def count(self) -> tuple[int, int]:
        """How much has happened."""
        return sum(store._connection.total_changes for store in self.stores.values()), len(self.ends)

    def frames(self) -> list[Frame]:
        """All that the relay has, in its order."""
        return [Frame.decode(row[0]) for row in self.relay._execute("SELECT frame FROM frames ORDER BY position", ())]

    def facts(self, name: str) -> dict[str, Any]:
        """What its store says in public."""
        return self.stores[name].facts()

    def evidence(self, name: str) -> list[bytes]:
        """What it kept of what is wrong."""
        return [row[0] for row in self.stores[name]._connection.execute("SELECT frame FROM evidence")]

    def releases(self) -> dict[str, bytes]:
        """The release of each who has one."""
        return {name: here.release.read_bytes() for name, here in self.at.items() if here.release.exists()}

    def close(self) -> None:
        """Let go of all stores."""
        for name in self.study.names:
            self.stop(name)

    def _sleep(self, seconds: float) -> None:
        self.clock.now += seconds


def by_link(frames: Iterable[Frame]) -> dict[tuple[str, str], list[bytes]]:
    """The envelopes of each link, in their order."""
    mail = sorted((p for p in frames if p.lane == "envelope"), key=lambda p: p.number)
    links: dict[tuple[str, str], list[bytes]] = defaultdict(list)
    for frame in mail:
        links[frame.sender, frame.to].append(frame.body)
    return dict(links)


def stage_result(ended: Sites) -> tuple[dict[tuple[str, str], list[bytes]], dict[str, bytes]]:
    """What has to be the same, whatever happened on the way: all envelopes by link, and the releases."""
    return by_link(ended.frames()), ended.releases()


def ends(found: Sites) -> Sequence[str]:
    """How each came to its end, in the study's order."""
    return [found.ends.get(name, "") for name in found.study.names]


def simulated(run: Sites, vanish: Mapping[str, int] | None = None) -> dict[tuple[str, str], list[bytes]]:
    """What the simulator sends for the same approvals, rows and seeds."""
    given = approvals(run.study)
    session = run.study.session(given)
    brought = {name: run.at[name].business().begins(session, given, over=True, resumed=True) for name in session.names}
    inputs = {name: at.inputs(coins(name).home) for name, at in brought.items()}
    homes = {name: at.answers(coins(name).home, inputs[name]) for name, at in brought.items()}
    links: dict[tuple[str, str], list[bytes]] = defaultdict(list)

    def noted(n: int, envelope: Envelope) -> Iterable[tuple[str, Envelope]]:
        links[envelope.sender, envelope.to].append(envelope.encode())
        return [(envelope.to, envelope)]

    simulate(
        session,
        {name: identity(name) for name in session.names},
        {name: coins(name).seed for name in session.names},
        inputs,
        Setting(tamper=noted, drop_outs=vanish or {}),
        {name: home for name, home in homes.items() if home},
    )
    return dict(links)


def sent(run: Sites, name: str) -> list[Envelope]:
    """What the relay has of this participant."""
    return [Envelope.decode(p.body) for p in run.frames() if p.lane == "envelope" and p.sender == name]
