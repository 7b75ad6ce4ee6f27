"""Whole runs of a weighted sum by the secure sum, on secrets made for an attack, with the views of all participants.

Whoever deviates keeps what others erase, so here every party keeps it; an attack is given the views of its own only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from protocols.arithmetic.rng import Stream
from protocols.curator import CURATOR_NAME
from protocols.runtime.claims import View
from protocols.runtime.endpoint import Endpoint
from protocols.runtime.message import PARTY
from protocols.secure_sum import PROGRAM, complete, setup, sums
from protocols.secure_sum.parameters import Block, Parameters, stage
from protocols.secure_sum.values import Addends, Vault
from smc_dp.attacks.sessions import PartySecret
from smc_dp.audit.code.executions import execute
from smc_dp.data.federation import Public
from smc_dp.methods.sums.among import Among
from smc_dp.methods.sums.secure_sum import RowCounts, SharedWeightedSum
from smc_dp.methods.sums.weighted_sum import WeightedSum
from smc_dp.privacy.target import NoiseName, Target

MOST_ROWS = 2000
"""The public cap on each party's number of rows; the attacks have fewer."""


@dataclass(frozen=True, repr=False)
class Summed:
    """A finished run: what is public, the released sum as signed integers, what each participant saw."""

    parameters: Parameters
    released: list[int]
    views: dict[str, View] = field(repr=False)

    @property
    def charlie(self) -> View:
        """What Charlie saw."""
        return self.views[CURATOR_NAME]

    def party(self, j: int) -> View:
        """What P_j saw, j counted from 0."""
        return self.views[self.parameters.parties[j]]


def weighted_sum(
    among: Among,
    dimension: int,
    epsilon: Fraction,
    *,
    lam: float = 1.0,
    noise: NoiseName = "vg",
    sizes: RowCounts = "hidden",
) -> SharedWeightedSum:
    """A weighted sum among these parties: what each of them enters, and the law of its share of the noise."""
    public = Public(among.parties, dimension, 2)
    return WeightedSum(lam).shared(public, Target(epsilon, noise=noise), among, MOST_ROWS, sizes)


def add_up(form: SharedWeightedSum, entered: Sequence[PartySecret], rng: Stream) -> Summed:
    """Run the secure sum for parties P1, P2, ...: each enters its vector w, whatever it is, and its share eta."""
    names = tuple(f"P{j}" for j in range(1, len(entered) + 1))
    blocks = tuple(Block(length, law) for length, law in form.blocks)
    p = Parameters(names, form.among.colluders, form.among.dropouts, (blocks,), form.grid.ring_bits)
    inputs: dict[str, tuple[Any, ...]] = {CURATOR_NAME: (p,)}
    for name, secret in zip(names, entered, strict=True):
        inputs[name] = (p, Addends((p.ring.vector(secret.w),), (p.ring.vector(secret.eta),)))
    run = execute(_KEEPING, p, inputs, rng)
    half = p.ring.modulus // 2
    S = [p.ring.reduce(x + half) - half for x in run.published[CURATOR_NAME].S]
    return Summed(p, S, run.views)


async def _keeping(me: Endpoint, p: Parameters, mine: Addends) -> Vault:
    """P_j in a session of one sum, without the erasure after it."""
    vault = await me.stage(setup.party, p)
    one = sums.party if p.D else complete.party
    return await me.stage(one, p, vault, mine, 0, name=stage(0))


_KEEPING = replace(PROGRAM, roles={**PROGRAM.roles, PARTY: _keeping})
