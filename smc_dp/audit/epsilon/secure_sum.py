"""Audit of `wsum` and `describe` by the secure sum: what Charlie and a party of his, which deviates, can make of a run.

They take what their party has added off the sum. By the theorem the rest is what the honest parties add, with at least
H shares of the noise: the same distribution whatever the malicious party enters, and the claim is for H shares.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from types import MappingProxyType
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
from smc_dp.audit.epsilon.mutants import SHARE_MUTANTS, MutantName, check_audited_noise, check_mutant
from smc_dp.core.arrays import Array
from smc_dp.data.columns import CategoricalColumn, NumericColumn
from smc_dp.data.federation import Public, Rows
from smc_dp.data.usual_clip import longest_norm
from smc_dp.leakage.executions import execute
from smc_dp.methods.functionality import Addend, ideal
from smc_dp.methods.neighbours import STRONG_LAMBDA, labelled_rows
from smc_dp.methods.statistics.describe import Describe, DescribeSum
from smc_dp.methods.sums.threat_model import AnnouncedRows, ThreatModel
from smc_dp.methods.sums.weighted_sum import SharedWeightedSum, WeightedSum
from smc_dp.privacy.distributed.share_distributions import GaussianShares, ShareDistribution
from smc_dp.privacy.target import SHARED_NOISES, NoiseName, Target

SECURE_SUM_METHODS: Mapping[str, NoiseName] = MappingProxyType({WeightedSum.name: "vg", Describe.name: "ddg"})
"""Methods by one sum that can be audited through it, with the noise of each where none is named."""
SECURE_SUM_SCOPE = (
    "This audit looks at what the curator and one colluding party can make of whole runs: the sum less what that party "
    "added. A run takes 10 ms, so there are few draws, and they find gross faults only. The ideal functionality gives "
    "the same integers and takes no time, so it made the draws of the mutant with half the noise."
)
PARTIES, COLLUDERS = 3, 1
_ROWS = 8  # of every other party than the first, and the public cap
_COLUMNS = (CategoricalColumn("ward", ("a", "b")), NumericColumn("age", 0.0, 1.0))  # that `describe` describes

NEIGHBOURS = MappingProxyType(
    {
        WeightedSum.name: "one record of the first of 3 parties has the other label; d = 1",
        Describe.name: "one record of the first of 3 parties has the other level, and a number at its other bound",
    }
)
"""What differs between the two worlds of each method."""

AuditedSum: TypeAlias = SharedWeightedSum | DescribeSum
NoisyAddends: TypeAlias = list[Addend]
"""Addends of each party, with its share of the noise."""


def secure_sum_case(
    target: Target,
    deviation: Deviation | None = None,
    mutant: MutantName | None = None,
    *,
    use_ideal: bool = False,
    method: str = WeightedSum.name,
) -> Case:
    """Return the case of a method by three parties of whom the last is Charlie's own.

    `use_ideal`: by the ideal functionality of the honest. `all-honest` is noise in shares that are enough only if
    nobody colludes, `silent-party` an honest party without noise. Raise InputError for another mutant or noise.
    """
    check_audited_noise(method, target.noise, SHARED_NOISES)
    # With noise "self" one share is enough, of any honest party.
    check_mutant(method, mutant, [x for x in SHARE_MUTANTS if (target.noise, x) != ("self", "all-honest")])
    spec = audited_sum(target, method)
    distribution = spec.noise.distribution if mutant is None else _broken(spec.noise.distribution, mutant)
    see = ideal_view if use_ideal else view_of_coalition(deviation)
    numbers = [numbers_in_world(spec, world) for world in (0, 1)]

    def draw(world: int, rng: Stream) -> Array:
        parts = add_noise(spec, numbers[world], distribution, rng)
        if mutant == "silent-party":
            parts[0] = replace(parts[0], noise=(0,) * spec.length)
        return _noisy(spec, see(spec, parts, rng))

    way = "all follow the protocol" if deviation is None else f"one of three {deviations.DEVIATIONS[deviation]}"
    return Case(
        f"{method} by the secure sum, {target.noise}, {'in the clear' if use_ideal else way}"
        + (f": {mutant}" if mutant else ""),
        NEIGHBOURS[method],
        spec.statement,  # what H shares are said to give
        (_noisy(spec, _honest(numbers[0])), _noisy(spec, _honest(numbers[1]))),
        draw,
        whole=spec.grid.ring_bits <= 64,
    )


def audited_sum(target: Target, method: str = WeightedSum.name) -> AuditedSum:
    """Return the sum that is audited."""
    among, announced = ThreatModel(PARTIES, COLLUDERS, 0), AnnouncedRows(_ROWS, "released")
    if method == Describe.name:
        return Describe().shared(Public(PARTIES, 3, 2, columns=_COLUMNS), target, among, announced)
    return WeightedSum(STRONG_LAMBDA).shared(Public(PARTIES, 1, 2), target, among, announced)


def numbers_in_world(spec: AuditedSum, world: int) -> list[Vector]:
    """Return what each party adds without noise in a world."""
    made = _described_rows if spec.method.name == Describe.name else labelled_rows
    other = made(*(i % 2 for i in range(_ROWS)))
    nobody = Stream.from_system()  # a share comes with it, which is not used
    return [tuple(spec.part(rows, nobody).numbers) for rows in (made(world, 1, 0, 1), other, other)]


def _described_rows(*ends: int) -> Rows:
    """Return rows with the first level and the least number, or both others."""
    one = np.array([(1 - end, end, 2 * end - 1) for end in ends], dtype=np.float64)
    return Rows(one / longest_norm(len(_COLUMNS)), np.zeros(len(ends), dtype=np.int64))


def add_noise(spec: AuditedSum, numbers: list[Vector], distribution: ShareDistribution, rng: Stream) -> NoisyAddends:
    """Return the numbers of each party with a fresh share of the noise."""
    unprotected = (0,) * spec.plain
    return [Addend(z, (*distribution.share(rng), *unprotected)) for z in numbers]


def dilute_shares(distribution: ShareDistribution, counted: int) -> ShareDistribution:
    """Return shares that give as much noise only where so many are honest."""
    if isinstance(distribution, GaussianShares):
        return replace(distribution, variance=distribution.variance * distribution.honest / counted, honest=counted)
    return replace(distribution, honest=counted)


def _broken(distribution: ShareDistribution, mutant: MutantName) -> ShareDistribution:
    if mutant == "silent-party":
        return distribution
    if mutant == "all-honest":
        return dilute_shares(distribution, PARTIES)
    if isinstance(distribution, GaussianShares):
        return replace(distribution, variance=distribution.variance / 4)
    return replace(distribution, scale=distribution.scale / 2)


# What Charlie and his party make of it.


def ideal_view(spec: AuditedSum, parts: NoisyAddends, rng: Stream) -> Vector:
    """Return the ideal functionality of what the honest parties add."""
    return tuple(ideal(spec.functionality, parts[:-COLLUDERS], rng))


def view_of_coalition(deviation: Deviation | None) -> Callable[[AuditedSum, NoisyAddends, Stream], Vector]:
    """Return a whole run as Charlie's coalition sees it: the released sum less what its party has added."""

    def seen(spec: AuditedSum, parts: NoisyAddends, rng: Stream) -> Vector:
        S, added = run_sum(spec, parts, deviation, rng)
        return tuple(spec.grid.lift(x - y) for x, y in zip(S, added, strict=True))

    return seen


def run_sum(spec: AuditedSum, parts: NoisyAddends, deviation: Deviation | None, rng: Stream) -> tuple[Vector, Vector]:
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
def _parameters(spec: AuditedSum) -> Parameters:
    names = tuple(f"party {j}" for j in range(1, PARTIES + 1))
    blocks = tuple(Block(length, distribution) for length, distribution in spec.sums[0])
    return Parameters(names, COLLUDERS, 0, (blocks,), spec.grid.ring_bits)


def _honest(numbers: list[Vector]) -> Vector:
    return tuple(sum(column) for column in zip(*numbers[:-COLLUDERS], strict=True))


def _noisy(spec: AuditedSum, total: Vector) -> Array:
    """Return the numbers with noise, without those that neighbours share; floats hold what is needed of them."""
    return np.array([float(x) for x in total[: spec.length - spec.plain]])
