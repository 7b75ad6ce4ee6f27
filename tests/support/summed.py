"""Runs of the secure sum at small sizes, as folders with everybody's views, for tests of audits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from protocols.arithmetic.rng import Stream
from protocols.runtime.session import Program
from protocols.runtime.simulate import DropOutAfter, Run
from protocols.secure_sum import PROGRAM, ideal
from protocols.secure_sum.parameters import SHARES, Block, Parameters
from smc_dp.run.agreement import SEEDED
from support.audited import Folders
from support.audited_sums import written
from support.sessions import Setup, names, start


def summing(
    K: int = 3, t: int = 0, D: int = 1, lengths: tuple[int, ...] = (2,), program: Program = PROGRAM, **settings: Any
) -> Setup:
    """A session of sums of these lengths; everything follows from the numbers."""
    p = Parameters(names(K), t, D, tuple((Block(length, "none"),) for length in lengths), **settings)
    drawn = Stream.insecure_from_seed(f"numbers of {K}")
    return start(program, p, ideal.inputs(p, lambda name, bits: drawn.bits(bits)))


def simulated(made: Setup, **vanish: int) -> Run:
    """One run; `vanish`: so many letters of whom."""
    return made.simulate(marks=(SEEDED,), views=True, drop_outs={name: DropOutAfter(n) for name, n in vanish.items()})


def recorded(folder: Path, made: Setup, **vanish: int) -> Folders:
    """One run as a folder, with everybody's views."""
    p = made.session.parameters
    return written(folder, made, simulated(made, **vanish), p.ring.modulus if p.output == SHARES else None)
