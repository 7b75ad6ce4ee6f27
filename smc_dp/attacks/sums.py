"""Runs of a weighted sum by the secure sum, on made-up secrets, with the views of all participants.

A malicious party keeps what others erase, so here every party keeps it; an attack gets the views of its own only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

from protocols.arithmetic.rng import Stream
from protocols.curator import CURATOR_NAME
from protocols.runtime.endpoint import Endpoint
from protocols.runtime.message import PARTY
from protocols.secure_sum import PROGRAM, complete, setup, sums
from protocols.secure_sum.parameters import Block, Parameters, stage
from protocols.secure_sum.values import Addends, Vault
from smc_dp.attacks.attack import AttackTrial, StepCode, Variant
from smc_dp.attacks.sessions import FinishedRun, PartySecret
from smc_dp.data.federation import Public
from smc_dp.leakage.executions import execute
from smc_dp.methods.sums.threat_model import AnnouncedRows, RowCounts, ThreatModel
from smc_dp.methods.sums.weighted_sum import SharedWeightedSum, WeightedSum
from smc_dp.privacy.target import NoiseName, Target

ROW_CAP = 2000
"""The public cap on each party's number of rows; the attacks have fewer."""


@cache
def shared_weighted_sum(
    threat_model: ThreatModel,
    dimension: int,
    epsilon: Fraction,
    *,
    lam: float = 1.0,
    noise: NoiseName = "vg",
    sizes: RowCounts = "hidden",
) -> SharedWeightedSum:
    """Return a weighted sum among these parties: each party's input, and the distribution of its share of the noise."""
    public = Public(threat_model.parties, dimension, 2)
    return WeightedSum(lam).shared(public, Target(epsilon, noise=noise), threat_model, AnnouncedRows(ROW_CAP, sizes))


def run_secure_sum(spec: SharedWeightedSum, entered: Sequence[PartySecret], rng: Stream) -> FinishedRun:
    """Run the secure sum for parties P1, P2, ...: each enters its vector w and its share eta."""
    names = tuple(f"P{j}" for j in range(1, len(entered) + 1))
    blocks = tuple(Block(length, noise_distribution) for length, noise_distribution in spec.sums[0])
    p = Parameters(names, spec.threat_model.colluders, spec.threat_model.dropouts, (blocks,), spec.grid.ring_bits)
    inputs: dict[str, tuple[Any, ...]] = {CURATOR_NAME: (p,)}
    for name, secret in zip(names, entered, strict=True):
        inputs[name] = (p, Addends((p.ring.vector(secret.w),), (p.ring.vector(secret.eta),)))
    run = execute(_KEEPING, p, inputs, rng)
    return FinishedRun(p, p.ring, run.published[CURATOR_NAME].S, run.views)


def secure_sum_variant(about: str, trial: AttackTrial, trials: int = 20, *, code: tuple[StepCode, ...]) -> Variant:
    """Return the variant in which an attack is tried on a weighted sum by the secure sum, where it fails."""
    about = f"a weighted sum by the secure sum, {about}"
    return Variant("secure sum", "weighted sum", about, "fails", trial, trials, code=code)


async def _keeping(me: Endpoint, p: Parameters, mine: Addends) -> Vault:
    """Run P_j in a session of one sum, without the erasure after it."""
    vault = await me.stage(setup.party, p)
    one = sums.party if p.D else complete.party
    return await me.stage(one, p, vault, mine, 0, name=stage(0))


_KEEPING = replace(PROGRAM, roles={**PROGRAM.roles, PARTY: _keeping})
