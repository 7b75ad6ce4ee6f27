"""Whole runs of the curator protocol at toy keys, for tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from protocols import pathak2010
from protocols.arithmetic.rng import Stream
from protocols.curator import CURATOR_NAME
from protocols.pathak2010 import as_published
from protocols.pathak2010.parameters import Parameters
from protocols.pathak2010.values import PartyInput
from protocols.runtime.session import Program, Session
from protocols.runtime.simulate import Run, Setting, simulate
from support.sessions import KEY_BITS, Setup, names, start


@dataclass(frozen=True)
class Trial:
    """Everything that a run needs, determined by a seed and the private inputs."""

    parameters: Parameters
    inputs: Sequence[PartyInput]
    seed: int | str = 0
    program: Program = pathak2010.PROGRAM

    @cached_property
    def setup(self) -> Setup:
        p = self.parameters
        inputs = {name: (p, x) for name, x in zip(p.parties, self.inputs, strict=True)}
        return start(self.program, p, {**inputs, CURATOR_NAME: (p,)}, self.seed)

    @property
    def seeds(self) -> Mapping[str, Stream]:
        return self.setup.seeds

    @property
    def session(self) -> Session:
        return self.setup.session

    @property
    def ties(self) -> list[int]:
        """Each party's tie bits: the first thing it draws in stage 1."""
        coins = [self.seeds[name].fork("next stage").fork("stage 1 stage1.party") for name in self.parameters.parties]
        return [coin.bits(self.parameters.tie_bits) for coin in coins]

    def run(self, setting: Setting | None = None) -> Run:
        return simulate(*self.setup, setting)


def trial(
    sizes: Sequence[int],
    d: int = 2,
    seed: int | str = 0,
    *,
    printed: bool = False,
    weights: Sequence[Sequence[int]] | None = None,
    noise: Sequence[Sequence[int]] | None = None,
    **options: Any,
) -> Trial:
    """A trial with these sizes; weights and noise are drawn from the seed unless given (signed integers)."""
    p = Parameters(names(len(sizes)), d, KEY_BITS, **options)
    rng = Stream.insecure_from_seed(f"inputs {seed}")

    def drawn() -> list[list[int]]:
        return [[rng.bits(40) - (1 << 39) for _ in range(d)] for _ in sizes]

    w, eta = weights or drawn(), noise or drawn()
    if printed:
        made = [
            as_published.PrintedInput(n, p.weights.vector(x), tuple(e)) for n, x, e in zip(sizes, w, eta, strict=True)
        ]
        return Trial(p, made, seed, as_published.PROGRAM)  # type: ignore[arg-type]
    made_here = [PartyInput(n, p.weights.vector(x), p.weights.vector(e)) for n, x, e in zip(sizes, w, eta, strict=True)]
    return Trial(p, made_here, seed)


def released(run: Run, p: Parameters) -> tuple[int, ...]:
    """The sum of all published shares."""
    return p.weights.add_vectors(*(message.y for message in run.published.values()))


def lifted(values: Sequence[int], bits: int = 64) -> list[int]:
    """Elements of Z_(2**bits) as signed integers."""
    return [v - (1 << bits) if v >> (bits - 1) else v for v in values]
