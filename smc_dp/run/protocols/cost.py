"""Outcome of a protocol: the value of a functionality, what it left behind, and its cost."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from itertools import pairwise
from typing import Any

from protocols.runtime.network import LINK_MODELS, Traffic, traffic
from protocols.runtime.session import Session
from protocols.runtime.simulate import Run
from protocols.runtime.transcript import Transcript


@dataclass(frozen=True)
class StageCost:
    """Cost of one stage, as the transcript shows it; `seconds` maps each role to the time that it says it computed."""

    stage: str
    messages: int
    bytes: int
    rounds: int
    seconds: dict[str, float]


@dataclass(frozen=True)
class Cost:
    """Cost of the whole protocol; `seconds` from start to end, on the clock of the link model if there is one."""

    seconds: float
    messages: int
    bytes: int
    rounds: int
    by_stage: tuple[StageCost, ...]

    @classmethod
    def of(cls, run: Run) -> Cost:
        """Return messages, bytes and rounds of the transcript, and seconds from the clock of the run."""
        seconds, sent = run.clock.processor_seconds, run.traffic
        stages = tuple(
            StageCost(name, found.messages, found.bytes, found.rounds, dict(seconds.get(name, {})))
            for name in order_stages(list(sent), list(seconds))
            for found in (sent.get(name, Traffic()),)
        )
        return cls._of_stages(max(run.clock.now.values()), stages)

    @classmethod
    def counted(cls, session: Session, transcript: Transcript) -> Cost:
        """Return the cost that a transcript of separate sites shows: no seconds."""
        sent = traffic(transcript.read(), session, LINK_MODELS["none"], "mesh")
        stages = tuple(StageCost(name, t.messages, t.bytes, t.rounds, {}) for name, t in sent.items())
        return cls._of_stages(0.0, stages)

    @classmethod
    def _of_stages(cls, seconds: float, stages: tuple[StageCost, ...]) -> Cost:
        messages, size, rounds = (sum(getattr(s, name) for s in stages) for name in ("messages", "bytes", "rounds"))
        return cls(seconds, messages, size, rounds, stages)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return asdict(self)


def order_stages(sent: list[str], entered: list[str]) -> list[str]:
    """Return the stages by their last envelopes; one in which nothing is sent follows the one entered before it."""
    found = list(sent)
    for before, name in pairwise(["", *entered]):
        if name not in found:
            found.insert(found.index(before) + 1 if before in found else 0, name)
    return found


@dataclass(frozen=True)
class Execution:
    """Results of a session beside the value.

    `shares`: the published additive shares, name -> d integers in [0, modulus); none where the sum itself is
    published. `members_of_sums`: the parties whose contributions are in each sum of the value. `transcript`: kept
    where the setting of the run put it. `views`: SECRET, the bytes of each participant's view; empty unless they were
    asked for.
    """

    shares: dict[str, list[int]]
    modulus: int
    members_of_sums: tuple[tuple[str, ...], ...]
    dropped_out: tuple[str, ...]
    cost: Cost | None
    transcript: Transcript
    views: dict[str, bytes] = field(default_factory=dict, repr=False)

    @property
    def members(self) -> tuple[str, ...]:
        """Parties whose contributions are in some sum."""
        return tuple(dict.fromkeys(name for members in self.members_of_sums for name in members))


@dataclass(frozen=True)
class Outcome:
    """Value of a functionality; `execution` is None where it was computed in the clear."""

    value: Any
    execution: Execution | None = field(default=None, compare=False)
