"""Runs of the curator protocol, or of the linear one, on made-up secrets, with everybody's views.

An attack gets the views of the attackers, and what is public: nothing else of a run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from protocols import linear, pathak2010
from protocols.arithmetic.ring import Ring, Vector
from protocols.arithmetic.rng import Stream
from protocols.curator import CURATOR_NAME
from protocols.linear.parameters import Parameters as LinearParameters
from protocols.pathak2010 import as_published
from protocols.pathak2010.noisy_sum_claims import published_sum
from protocols.pathak2010.parameters import Parameters
from protocols.pathak2010.values import PartyInput
from protocols.runtime.claims import View
from protocols.runtime.session import Program
from smc_dp.attacks.attack import AttackOutcome, AttackTrial, StepCode, Variant
from smc_dp.leakage.executions import execute

_PROGRAM_NAMES = {
    as_published.PROGRAM.name: "as published",
    pathak2010.PROGRAM.name: "hardened",
    linear.PROGRAM.name: "linear",
}


@dataclass(frozen=True, repr=False)
class PartySecret:
    """Input of a party: its number of rows, its weights and its noise, signed integers on one grid.

    The noise is that of the sum; for the steps as published, which multiply it by K, that of the mean.
    """

    n: int
    w: Sequence[int]
    eta: Sequence[int]


@dataclass(frozen=True, repr=False)
class FinishedRun:
    """Finished run: public values, among them the released sum in its ring, and each participant's view."""

    parameters: Any
    ring: Ring
    released: Vector
    views: dict[str, View] = field(repr=False)

    @property
    def charlie(self) -> View:
        """Charlie's view."""
        return self.views[CURATOR_NAME]

    def party(self, j: int) -> View:
        """Return the view of P_j, j counted from 0."""
        return self.views[self.parameters.parties[j]]

    @property
    def lifted(self) -> list[int]:
        """Released sum as signed integers."""
        return list(self.ring.nearest(self.released))


def variant_names(program: Program) -> tuple[str, str, str]:
    """Return the name, the target and the description of a variant against this program."""
    name = _PROGRAM_NAMES[program.name]
    return (
        name,
        f"{'linear' if name == 'linear' else 'curator'} protocol",
        "the protocol as published" if name == "as published" else f"the {name} protocol",
    )


def linear_variant(
    name: str, about: str, trial: AttackTrial, *, malicious: bool, code: tuple[StepCode, ...]
) -> Variant:
    """Return the variant with a malicious participant in the linear protocol, or its honest control."""
    _, target, protocol = variant_names(linear.PROGRAM)
    outcome: AttackOutcome = "succeeds" if malicious else "fails"
    return Variant(name, target, f"{protocol}, {about}", outcome, trial, no_fix_yet=malicious, code=code)


def sum_of_models(secrets: Sequence[PartySecret]) -> list[int]:
    """Return the sum of these parties' weights: not multiplied by their rows, and without noise."""
    return [sum(column) for column in zip(*(secret.w for secret in secrets), strict=True)]


def run_program(program: Program, secrets: Sequence[PartySecret], key_bits: int, rng: Stream) -> FinishedRun:
    """Run the protocol for parties P1, P2, ... with these secrets; the linear one ignores `key_bits`."""
    names = tuple(f"P{j}" for j in range(1, len(secrets) + 1))
    p = _parameters(program, names, len(secrets[0].w), key_bits)
    inputs: dict[str, tuple[Any, ...]] = {
        name: (p, _input(program, p, s)) for name, s in zip(names, secrets, strict=True)
    }
    inputs[CURATOR_NAME] = (p,)
    run = execute(program, p, inputs, rng)
    return FinishedRun(p, p.weights, published_sum(p, run.published), run.views)


def _parameters(program: Program, names: tuple[str, ...], dimension: int, key_bits: int) -> Any:
    if program.name == linear.PROGRAM.name:
        return LinearParameters(names, dimension)
    return Parameters(names, dimension, key_bits)


def _input(program: Program, p: Any, secret: PartySecret) -> PartyInput | as_published.PrintedInput:
    w = p.weights.vector(secret.w)
    if program.name in (pathak2010.PROGRAM.name, linear.PROGRAM.name):
        return PartyInput(secret.n, w, p.weights.vector(secret.eta))
    return as_published.PrintedInput(secret.n, w, tuple(secret.eta))


def draw_sizes(count: int, rng: Stream) -> list[int]:
    """Draw numbers of rows from 1 to 10^5, no two alike."""
    sizes: list[int] = []
    while len(sizes) < count:
        n = 1 + rng.below(100_000)
        if n not in sizes:
            sizes.append(n)
    return sizes


def draw_secrets(count: int, dimension: int, rng: Stream) -> list[PartySecret]:
    """Draw parties of different sizes, with weights up to 2^36 and noise up to 2^40 in absolute value."""

    def vector(bits: int) -> list[int]:
        return [rng.bits(bits + 1) - (1 << bits) for _ in range(dimension)]

    return [PartySecret(n, vector(36), vector(40)) for n in draw_sizes(count, rng)]
