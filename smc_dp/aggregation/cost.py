"""What a protocol cost: messages, bytes, rounds, seconds."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from protocols.runtime.network import Meter


@dataclass(frozen=True)
class StageCost:
    """What one stage cost; `seconds` maps each role to the time it computed."""

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
    def of(cls, meter: Meter) -> Cost:
        """What was metered."""
        stages = tuple(
            StageCost(name, m.messages, m.bytes, m.rounds, dict(m.seconds)) for name, m in meter.stages.items()
        )
        return cls(
            max(meter.clock.values()),
            sum(s.messages for s in stages),
            sum(s.bytes for s in stages),
            sum(s.rounds for s in stages),
            stages,
        )

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)
