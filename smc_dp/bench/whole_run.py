"""One whole run of a protocol on made-up parts, its record in a file as a run has it: seconds, memory, messages, bytes.

Run as a program, it measures one size in a process of its own.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from protocols import linear, pathak2010, secure_sum
from protocols.arithmetic.ring import Ring
from protocols.arithmetic.rng import Stream
from protocols.linear.parameters import Parameters as LinearParameters
from protocols.pathak2010.parameters import Parameters
from protocols.runtime.session import Program
from protocols.runtime.simulate import Setting
from protocols.secure_sum.parameters import Block
from protocols.secure_sum.parameters import Parameters as SumParameters
from smc_dp.aggregation import Addend, Functionality, SumWithShares, SumWithSmallestNoise, participants, secure
from smc_dp.bench.apart import Measured, answer, peak_megabytes
from smc_dp.bench.clocks import agreed
from smc_dp.bench.protocol import by_stage, made_up

LINEAR, CURATOR_PROTOCOL, SECURE_SUM = (one.PROGRAM.name for one in (linear, pathak2010, secure_sum))
KEYS = "keys"
_NUMBER_BITS = 42


@dataclass(frozen=True)
class MadeUpRun:
    """A program with its parameters, what it computes, the parts of all parties, and the ring of the result."""

    program: Program
    parameters: Any
    functionality: Functionality
    parts: Sequence[Any]
    ring: Ring


def names(K: int) -> tuple[str, ...]:
    """P1 ... PK."""
    return tuple(f"P{j}" for j in range(1, K + 1))


def made_up_run(protocol: str, parties: int, dimension: int, rng: Stream, **settings: Any) -> MadeUpRun:
    """Of the protocol of this name; `settings` are further parameters of it, by name."""
    who = names(parties)
    if protocol == SECURE_SUM:
        settings = {"colluders": 0, "dropouts": 0, **settings}
        p = SumParameters(who, sums=((Block(dimension, "none"),),), **settings)
        parts = [
            Addend(tuple(rng.bits(_NUMBER_BITS) for _ in range(dimension)), (0,) * dimension) for _ in range(parties)
        ]
        return MadeUpRun(secure_sum.PROGRAM, p, SumWithShares(dimension), parts, p.ring)
    given, wanted = made_up(parties, dimension, rng), SumWithSmallestNoise()
    if protocol == LINEAR:
        own = LinearParameters(who, dimension, **settings)
        return MadeUpRun(linear.PROGRAM, own, wanted, given, own.weights)
    stated = Parameters(who, dimension, **settings)
    return MadeUpRun(pathak2010.PROGRAM, stated, wanted, given, stated.weights)


def whole_run(protocol: str, parties: int, dimension: int, workers: int = 1, **settings: Any) -> Measured:
    """Processor and wall seconds, with greetings, seals and record; key generation is in them and apart in `keys`.

    Processor seconds are those of this process, without its workers' if there are several. Raises DisagreeError unless
    the result is right.
    """
    rng = Stream.from_system()
    made = made_up_run(protocol, parties, dimension, rng, **settings)
    session = participants(made.program, made.parameters, rng)
    with tempfile.TemporaryFile() as record:
        setting = Setting(record=record, workers=workers)
        wall, start = time.perf_counter(), time.process_time()
        outcome = secure(made.functionality, made.parts, session, rng=rng, setting=setting)
        seconds, waited = time.process_time() - start, time.perf_counter() - wall
    right = made.functionality.compute(made.parts, rng)
    agreed(f"a run of {protocol}", made.ring.vector(outcome.value), made.ring.vector(right))
    cost = outcome.execution.cost if outcome.execution else None
    return {
        "seconds": seconds,
        "keys": by_stage(outcome).get(KEYS, 0.0),
        "wall_seconds": waited,
        "megabytes": peak_megabytes() or 0.0,
        "messages": cost.messages if cost else 0,
        "bytes": cost.bytes if cost else 0,
    }


if __name__ == "__main__":
    answer(whole_run)
