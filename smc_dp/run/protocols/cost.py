"""What comes out of a protocol: the value of a functionality, what was left, and what it cost."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from itertools import pairwise
from typing import Any

from protocols.runtime.network import LINK_MODELS, Traffic, traffic
from protocols.runtime.session import Session
from protocols.runtime.simulate import Run, Setting
from protocols.runtime.transcript import Transcript


@dataclass(frozen=True)
class StageCost:
    """What one stage cost, as the record shows it; `seconds` maps each role to the time that it says it computed."""

    stage: str
    messages: int
    bytes: int
    rounds: int
    seconds: dict[str, float]


@dataclass(frozen=True)
class Cost:
    """What the whole protocol cost; `seconds` from start to end, on the link model's clock if any."""

    seconds: float
    messages: int
    bytes: int
    rounds: int
    by_stage: tuple[StageCost, ...]

    @classmethod
    def of(cls, session: Session, run: Run, setting: Setting) -> Cost:
        """Messages, bytes and rounds as the record has them, seconds from the clock of the run."""
        seconds, sent = run.clock.seconds, run.traffic
        stages = tuple(
            StageCost(name, found.messages, found.bytes, found.rounds, dict(seconds.get(name, {})))
            for name in order_stages(list(sent), list(seconds))
            for found in (sent.get(name, Traffic()),)
        )
        return cls(
            max(run.clock.now.values()),
            sum(s.messages for s in stages),
            sum(s.bytes for s in stages),
            sum(s.rounds for s in stages),
            stages,
        )

    @classmethod
    def counted(cls, session: Session, record: Transcript) -> Cost:
        """What the record shows, of a session at separate sites: nobody's seconds."""
        sent = traffic(record.read(), session, LINK_MODELS["none"], "mesh")
        stages = tuple(StageCost(name, t.messages, t.bytes, t.rounds, {}) for name, t in sent.items())
        messages, size, rounds = (sum(getattr(s, name) for s in stages) for name in ("messages", "bytes", "rounds"))
        return cls(0.0, messages, size, rounds, stages)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)


def order_stages(sent: list[str], entered: list[str]) -> list[str]:
    """The stages by their last envelopes; one in which nothing is sent is behind the one entered before."""
    found = list(sent)
    for before, name in pairwise(["", *entered]):
        if name not in found:
            found.insert(found.index(before) + 1 if before in found else 0, name)
    return found


@dataclass(frozen=True)
class Execution:
    """What a protocol left behind.

    `shares`: the published additive shares, name -> d integers in [0, modulus), for whoever published one; none where
    the sum itself is published. `members`: the parties whose parts are in the value, `vanished`: who was gone before
    the end. `transcript`: the wire record, which lies where the setting of the run put it. `views` maps each
    participant to the bytes of its view, which are secret: empty unless asked for.
    """

    shares: dict[str, list[int]]
    modulus: int
    members: tuple[str, ...]
    vanished: tuple[str, ...]
    cost: Cost | None
    transcript: Transcript
    views: dict[str, bytes] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class Outcome:
    """The value of a functionality; `execution` is None when it was computed in the clear."""

    value: Any
    execution: Execution | None = field(default=None, compare=False)
