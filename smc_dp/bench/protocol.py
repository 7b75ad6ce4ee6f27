"""What the protocol's cryptography costs, against a straightforward port on phe, in one run and in processor seconds.

`bench.port` is the port. Key generation is measured apart.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from protocols import pathak2010
from protocols.arithmetic.permutation import Permutation
from protocols.arithmetic.rng import Stream
from protocols.pathak2010.parameters import Parameters
from smc_dp.aggregation import Contribution, Outcome, SumWithSmallestNoise, participants, secure
from smc_dp.bench.apart import peak_megabytes
from smc_dp.bench.clocks import CpuSeconds
from smc_dp.bench.port import run_port


@dataclass(frozen=True)
class Bench:
    """Processor seconds by part; `ours` has a part for each stage, with key generation apart in `keys`."""

    parties: int
    dimension: int
    key_bits: int
    naive: CpuSeconds
    ours: CpuSeconds
    keys: float
    megabytes: float | None

    @property
    def ratio(self) -> float:
        """How many times less processor time ours needs, key generation apart."""
        return sum(self.naive.values()) / sum(self.ours.values())

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "parties": self.parties,
            "dimension": self.dimension,
            "key_bits": self.key_bits,
            "cpu_seconds": {"naive": self.naive, "ours": self.ours, "key_generation": self.keys},
            "ratio": self.ratio,
            "peak_megabytes": self.megabytes,
        }


def bench_protocol(parties: int, dimension: int, key_bits: int, hear: Callable[[str], None] = lambda _: None) -> Bench:
    """Run both on the same sizes, weights and noise; raises RuntimeError when they disagree."""
    rng = Stream.from_system()
    contributions = made_up(parties, dimension, rng)
    parameters = Parameters(tuple(f"P{j + 1}" for j in range(parties)), dimension, key_bits)
    hear("running the protocol")
    session = participants(pathak2010.PROGRAM, parameters, rng)
    outcome = secure(SumWithSmallestNoise(), contributions, session, rng=rng)
    megabytes = peak_megabytes()
    hear("running the port on phe")
    naive, total = run_port(contributions, parameters, rng)
    if parameters.weights.vector(outcome.value) != total:
        raise RuntimeError("the protocol and the port on phe disagree")
    ours = by_stage(outcome)
    keys = ours.pop("keys")
    return Bench(parties, dimension, key_bits, naive, ours, keys, megabytes)


def made_up(parties: int, dimension: int, rng: Stream) -> list[Contribution]:
    """Parts of so many parties, of 1000 rows and more, no two with as many; anybody may be the smallest."""
    return [
        Contribution(
            1000 + j,
            tuple(rng.bits(42) for _ in range(dimension)),
            tuple(rng.bits(44) - (1 << 43) for _ in range(dimension)),
        )
        for j in Permutation.random(parties, rng).images
    ]


def by_stage(outcome: Outcome) -> CpuSeconds:
    """Processor seconds of all roles together, by stage."""
    if outcome.execution is None or outcome.execution.cost is None:
        raise RuntimeError("the protocol did not report its cost")
    return {stage.stage: sum(stage.seconds.values()) for stage in outcome.execution.cost.by_stage}
