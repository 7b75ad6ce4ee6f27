"""Whole runs of the linear path, for tests."""

from __future__ import annotations

from collections.abc import Sequence

from protocols.arithmetic.rng import Stream
from protocols.curator import CURATOR_NAME
from protocols.linear import PROGRAM
from protocols.linear.parameters import Parameters
from protocols.linear.values import PartyInput
from protocols.runtime.session import Program
from support.sessions import Setup, names, start


def linear(
    sizes: Sequence[int], d: int = 2, seed: int | str = 1, *, ring_bits: int = 64, program: Program = PROGRAM
) -> Setup:
    """A session in which parties have these sizes; weights and noise follow from the seed."""
    p = Parameters(names(len(sizes)), d, ring_bits)
    private = Stream.insecure_from_seed(f"linear {seed}")
    inputs = {
        name: (p, PartyInput(n, *(p.weights.random_vector(d, private) for _ in range(2))))
        for name, n in zip(p.parties, sizes, strict=True)
    }
    return start(program, p, {**inputs, CURATOR_NAME: (p,)}, seed)
