"""Audit of `wsum` through the secure sum: what Charlie and one party of his, which deviates, can make of a run.

They take what their party has added off the sum. By the theorem the rest is what the honest parties add, with at least
H shares of the noise: the same distribution whatever the malicious party enters, and the claim is for H shares.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from protocols import secure_sum
from protocols.arithmetic.ring import Vector
from protocols.arithmetic.rng import Stream
from protocols.curator import CURATOR_NAME
from protocols.secure_sum.parameters import Block, Parameters
from protocols.secure_sum.values import Addends
from smc_dp.audit.epsilon import deviations
from smc_dp.audit.epsilon.case import Case
from smc_dp.audit.epsilon.deviations import Deviation
from smc_dp.audit.epsilon.mutants import MutantName
from smc_dp.core.arrays import Array
from smc_dp.core.errors import InputError
from smc_dp.data.federation import Public
from smc_dp.leakage.executions import execute
from smc_dp.methods.functionality import Addend, ideal
from smc_dp.methods.neighbours import STRONG_LAMBDA, labelled_rows
from smc_dp.methods.sums.threat_model import AnnouncedRows, ThreatModel
from smc_dp.methods.sums.weighted_sum import SharedWeightedSum, WeightedSum
from smc_dp.privacy.distributed.share_distributions import GammaShares, GaussianShares, ShareDistribution
from smc_dp.privacy.target import SHARED_NOISES, Target

SECURE_SUM_METHOD = "wsum"
SECURE_SUM_SCOPE = (
    "What was looked at is what Charlie and one party of his can make of whole runs: the sum less what that party "
    "added.\nA run takes 10 ms, so there are few draws: they find gross faults. Integer for integer it is what the "
    "ideal\nfunctionality gives, and half the noise was drawn by that, as it takes no time."
)
PARTIES, COLLUDERS = 3, 1
_ROWS = 8  # of every other party than the first, and the public cap

NoisyAddends: TypeAlias = list[Addend]
"""Addends of each party, with its share of the noise."""


def secure_sum_case(
    target: Target, deviation: Deviation | None = None, mutant: MutantName | None = None, *, use_ideal: bool = False
) -> Case:
    """Return the case of `wsum` by three parties of whom the last is Charlie's own, d = 1.

    `use_ideal`: by the ideal functionality of the honest. `all-honest` is noise in shares that are enough only if
    nobody colludes. Raise InputError for another mutant.
    """
    if mutant not in (None, "half-noise", "all-honest"):
        raise InputError("twin.not_of_secure_sum", got=mutant)
    if target.noise not in SHARED_NOISES:
        raise InputError("noise.not_of_secure_sum", shared=SHARED_NOISES, got=target.noise)
    spec = audited_sum(target)
    distribution = spec.noise.distribution if mutant is None else _broken(spec.noise.distribution, mutant)
    see = ideal_view if use_ideal else view_of_coalition(deviation)
    numbers = [numbers_in_world(spec, world) for world in (0, 1)]

    def draw(world: int, rng: Stream) -> Array:
        return _number(see(spec, add_noise(spec, numbers[world], distribution, rng), rng))

    way = "all follow the protocol" if deviation is None else f"one of three {deviations.DEVIATIONS[deviation]}"
    return Case(
        f"wsum by the secure sum, {target.noise}, {'in the clear' if use_ideal else way}"
        + (f": {mutant}" if mutant else ""),
        "one record of the first of 3 parties has the other label; d = 1",
        spec.statement,  # what H shares are said to give
        (_number(_honest(numbers[0])), _number(_honest(numbers[1]))),
        draw,
        whole=spec.grid.ring_bits <= 64,
    )


def audited_sum(target: Target) -> SharedWeightedSum:
    """Return the weighted sum that is audited."""
    among = ThreatModel(PARTIES, COLLUDERS, 0)
    return WeightedSum(STRONG_LAMBDA).shared(Public(PARTIES, 1, 2), target, among, AnnouncedRows(_ROWS, "released"))


def numbers_in_world(spec: SharedWeightedSum, world: int) -> list[Vector]:
    """Return what each party adds without noise in a world."""
    other = labelled_rows(*(i % 2 for i in range(_ROWS)))
    nobody = Stream.from_system()  # a share comes with it, which is not used
    return [tuple(spec.part(rows, nobody).numbers) for rows in (labelled_rows(world, 1, 0, 1), other, other)]


def add_noise(
    spec: SharedWeightedSum, numbers: list[Vector], distribution: ShareDistribution, rng: Stream
) -> NoisyAddends:
    """Return the numbers of each party with a fresh share of the noise."""
    unprotected = (0,) * (spec.length - spec.public.dimension)
    return [Addend(z, (*distribution.share(rng), *unprotected)) for z in numbers]


def dilute_shares(distribution: ShareDistribution, counted: int) -> ShareDistribution:
    """Return shares that give as much noise only where so many are honest; InputError for the noise named `self`."""
    if isinstance(distribution, GaussianShares):
        return replace(distribution, variance=distribution.variance * distribution.honest / counted, honest=counted)
    if isinstance(distribution, GammaShares):
        return replace(distribution, honest=counted)
    raise InputError("twin.not_with_noise_self")


def _broken(distribution: ShareDistribution, mutant: MutantName) -> ShareDistribution:
    if mutant == "all-honest":
        return dilute_shares(distribution, PARTIES)
    if isinstance(distribution, GaussianShares):
        return replace(distribution, variance=distribution.variance / 4)
    return replace(distribution, scale=distribution.scale / 2)


# What Charlie and his party make of it.


def ideal_view(spec: SharedWeightedSum, parts: NoisyAddends, rng: Stream) -> Vector:
    """Return the ideal functionality of what the honest parties add."""
    return tuple(ideal(spec.functionality, parts[:-COLLUDERS], rng))


def view_of_coalition(deviation: Deviation | None) -> Callable[[SharedWeightedSum, NoisyAddends, Stream], Vector]:
    """Return a whole run as Charlie's coalition sees it: the released sum less what its party has added."""

    def seen(spec: SharedWeightedSum, parts: NoisyAddends, rng: Stream) -> Vector:
        S, added = run_sum(spec, parts, deviation, rng)
        return tuple(spec.grid.lift(x - y) for x, y in zip(S, added, strict=True))

    return seen


def run_sum(
    spec: SharedWeightedSum, parts: NoisyAddends, deviation: Deviation | None, rng: Stream
) -> tuple[Vector, Vector]:
    """Run a sum; return the release, and what the last party has added, as elements of the ring."""
    p = _parameters(spec)
    addends = [Addends((p.ring.vector(part.numbers),), (p.ring.vector(part.noise),)) for part in parts]
    inputs: dict[str, tuple[Any, ...]] = {name: (p, mine) for name, mine in zip(p.parties, addends, strict=True)}
    program = secure_sum.PROGRAM if deviation is None else deviations.deviating_program(deviation)
    own = rng.spawn()
    done = execute(program, p, {**inputs, CURATOR_NAME: (p,)}, own)
    released: Vector = done.published[CURATOR_NAME].S
    if deviation is None:
        return released, p.ring.add_vectors(addends[-1].numbers[0], addends[-1].noise[0])
    return released, done.results[p.parties[-1]][0]


@cache
def _parameters(spec: SharedWeightedSum) -> Parameters:
    names = tuple(f"party {j}" for j in range(1, PARTIES + 1))
    blocks = tuple(Block(length, distribution) for length, distribution in spec.sums[0])
    return Parameters(names, COLLUDERS, 0, (blocks,), spec.grid.ring_bits)


def _honest(numbers: list[Vector]) -> Vector:
    return tuple(sum(column) for column in zip(*numbers[:-COLLUDERS], strict=True))


def _number(total: Vector) -> Array:
    """Return the weight without the number of rows, which both neighbours share; floats hold what is needed of it."""
    return np.array([float(total[0])])
