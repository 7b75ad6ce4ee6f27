"""Hold what a protocol returns: the value of a functionality, and what was left of the session that computed it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from protocols.runtime.transcript import Transcript
from smc_dp.run.protocols.cost import Cost


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
