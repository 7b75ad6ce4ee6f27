"""Audit of methods by several sums: what Charlie and one party of his can make of a whole session, at its worst.

A record of the first party is another one, or is there or not, and Charlie announces sums, the same to all, at which
the two lie as far apart as can be (`worst_pairs`). A session in which he tells the truth shows no more. The two take
what their party has added off each sum; by the theorem the rest has at least H shares of the noise in every sum,
whatever that party enters.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from protocols.arithmetic.ring import Vector
from protocols.arithmetic.rng import Stream
from protocols.curator import CURATOR_NAME
from protocols.secure_sum import PROGRAM
from protocols.secure_sum.parameters import Block, Parameters
from protocols.secure_sum.values import Addends, join_addends
from smc_dp.audit.epsilon import deviations
from smc_dp.audit.epsilon.case import Case
from smc_dp.audit.epsilon.deviations import AnnouncedSum, Deviation
from smc_dp.audit.epsilon.mutants import SHARE_MUTANTS, MutantName, check_audited_noise, check_mutant
from smc_dp.audit.epsilon.secure_sum import dilute_shares
from smc_dp.audit.epsilon.worst_pairs import WORST_PAIRS, with_unclipped_weights
from smc_dp.core.arrays import Array
from smc_dp.data.federation import Public, Rows
from smc_dp.leakage.executions import execute
from smc_dp.methods.functionality import Addend, RoundAnswer, add_vectors
from smc_dp.methods.gradients.gradient_sums import GradientSums
from smc_dp.methods.sums.threat_model import AnnouncedRows, ThreatModel
from smc_dp.privacy.distributed.share_distributions import GaussianShares, ShareDistribution
from smc_dp.privacy.statement import RecordAdjacency
from smc_dp.privacy.target import Target
from smc_dp.run.protocols.bindings import BINDINGS

ROUNDS_SCOPE = (
    "This audit looks at what the curator and one colluding party can make of whole sessions: all sums less what that "
    "party added. The curator announces sums at which the records that differ are as far apart as possible. There are "
    "few draws, and they find gross faults only. The ideal functionality takes no time, so it made the draws of the "
    "mutant with half the noise."
)
PARTIES, COLLUDERS = 3, 1
_ROWS = 2  # the public cap
_UNCLIPPED_ROWS = 5  # of a party whose weights enter as they are, the largest as four records


def rounds_case(
    method: str,
    target: Target,
    deviation: Deviation | None = None,
    mutant: MutantName | None = None,
    *,
    use_ideal: bool = False,
    adjacency: RecordAdjacency = "replace",
    weighted: bool = False,
) -> Case:
    """Return the case of a session of three parties of whom the last is Charlie's own.

    `use_ideal`: by the ideal functionality of the honest, asked what Charlie asks. `all-honest` is noise in shares that
    are enough only if nobody colludes, `silent-party` an honest party without noise. weighted: rows have weights from 0
    to 4; with `unclipped-weight` they enter as they are, beside noise for the weight 1. Raise InputError for another
    mutant or noise.
    """
    worst = WORST_PAIRS[method]
    check_mutant(method, mutant, (*SHARE_MUTANTS, "unclipped-weight") if worst.has_weights else SHARE_MUTANTS)
    check_audited_noise(method, target.noise, ("ddg",))
    weighted = weighted or mutant == "unclipped-weight"
    session = DrivenSession(audited_rounds(method, target, adjacency, weighted=weighted), mutant)
    worlds = [worst.rows_in_world(world, adjacency, weighted=weighted) for world in (0, 1)]
    if mutant == "unclipped-weight":
        worlds = [[with_unclipped_weights(rows) for rows in world] for world in worlds]
    centres = session.centre(worlds[0]), session.centre(worlds[1])
    far = (centres[1] - centres[0]) / session.variances

    def draw(world: int, rng: Stream) -> Array:
        return session.coalition_outputs(worlds[world], deviation, rng)

    def in_the_clear(world: int, rng: Stream) -> Array:
        return centres[world] + session.noise(rng)

    way = "the others follow the protocol" if deviation is None else f"one of three {deviations.DEVIATIONS[deviation]}"
    differs = worst.differs if adjacency == "replace" else "is there or not"
    rows = ", rows with weights" if weighted else ""
    record = "record of the largest weight" if weighted else "record"
    return Case(
        f"{method} by the secure sum{rows}, {'in the clear' if use_ideal else way}" + (f": {mutant}" if mutant else ""),
        f"one {record} of the first of 3 parties {differs}, all sums are asked at {worst.place}; d = {worst.dimension}",
        session.spec.statement,  # what H shares are said to give
        centres,
        in_the_clear if use_ideal else draw,
        whole=True,
        own_scores=(lambda outputs: outputs @ far,),  # the log-likelihood ratio, but for a constant
    )


def audited_rounds(
    method: str, target: Target, adjacency: RecordAdjacency = "replace", *, weighted: bool = False
) -> GradientSums:
    """Return the sums that are audited."""
    announced = AnnouncedRows(_UNCLIPPED_ROWS if weighted else _ROWS)
    worst = WORST_PAIRS[method]
    public = Public(PARTIES, worst.dimension, worst.classes, weighted=weighted)
    return worst.method(adjacency=adjacency).shared(public, target, ThreatModel(PARTIES, COLLUDERS, 0), announced)


@dataclass(frozen=True)
class DrivenSession:
    """Session of R sums, with a mutant's noise if one is named, of which Charlie announces what he likes.

    announce: None for what keeps neighbours as far apart as can be.
    """

    spec: GradientSums
    mutant: MutantName | None = None
    announce: AnnouncedSum | None = None

    @property
    def announced(self) -> AnnouncedSum:
        """Function that says what Charlie announces."""
        return self.announce or WORST_PAIRS[self.spec.method.name].announced

    @cached_property
    def distributions(self) -> tuple[tuple[ShareDistribution, ...], ...]:
        """Distributions of a share in each block of each sum."""
        return tuple(
            tuple(self._drawn_distribution(distribution) for distribution in distributions)
            for distributions in self.spec.noise.distributions
        )

    def _drawn_distribution(self, distribution: GaussianShares) -> ShareDistribution:
        if self.mutant == "all-honest":
            return dilute_shares(distribution, PARTIES)
        if self.mutant == "half-noise":
            return replace(distribution, variance=distribution.variance / 4)
        return distribution

    @property
    def variances(self) -> Array:
        """Variances of the view, under the distributions that are said to be used."""
        every = [distribution for distributions in self.spec.noise.distributions for distribution in distributions]
        return np.array(
            [
                float(distribution.honest * distribution.variance)
                for distribution in every
                for _ in range(distribution.dimension)
            ]
        )

    @property
    def announced_sums(self) -> tuple[Vector, ...]:
        """Sums that Charlie announces."""
        p = self._parameters
        return tuple(p.ring.nearest(self.announced(p, (0,) * p.length(r))) for r in range(p.R))

    def centre(self, rows: Sequence[Rows]) -> Array:
        """Return the view of these rows without noise."""
        nobody = Stream.from_system()  # a share comes with it, which is not used
        parts = [self.spec.part(own, nobody.fork(f"{j}")) for j, own in enumerate(rows[:-COLLUDERS])]
        sums = [
            add_vectors([part(self.announced_sums[:r]).numbers for part in parts])
            for r in range(len(self.distributions))
        ]
        return _floats(sums)

    def noise(self, rng: Stream) -> Array:
        """Draw the noise of the honest parties, all sums end to end."""
        honest = range(1 if self.mutant == "silent-party" else 0, PARTIES - COLLUDERS)
        shares = [[self._share(r, rng) for r in range(len(self.distributions))] for _ in honest]
        total: Array = np.sum([_floats(of_party) for of_party in shares], axis=0)
        return total

    def _share(self, r: int, rng: Stream) -> Vector:
        return tuple(x for distribution in self.distributions[r] for x in distribution.share(rng))

    def coalition_outputs(self, rows: Sequence[Rows], deviation: Deviation | None, rng: Stream) -> Array:
        """Return the view of the two in a whole session: every sum, less what the party that may deviate has added."""
        ring = self._parameters.ring
        sums, own = self.run(rows, deviation, rng)
        return _floats([ring.nearest(ring.subtract_vectors(S, z)) for S, z in zip(sums, own, strict=True)])

    def run(
        self, rows: Sequence[Rows], deviation: Deviation | None, rng: Stream
    ) -> tuple[tuple[Vector, ...], tuple[Vector, ...]]:
        """Run a session; return the true sums, and what the last party has added to each, as elements of the ring."""
        p, realisation = self._parameters, BINDINGS[PROGRAM.name]
        own = rng.spawn()  # a fork of `rng` is the same in every draw
        parts = [self._answers(j, mine, own.fork(f"party {j}")) for j, mine in enumerate(rows)]
        home = {name: realisation.answers(p, part) for name, part in zip(p.parties, parts, strict=True)}
        inputs: dict[str, tuple[Any, ...]] = {name: (p, Addends((), ())) for name in p.parties}
        program = deviations.deviating_program(deviation, self.announced)
        answering = {name: answers for name, answers in home.items() if answers}
        done = execute(program, p, {**inputs, CURATOR_NAME: (p,)}, own, local_programs=answering)
        last = p.parties[-1]
        if deviation is not None:
            return done.results[CURATOR_NAME], done.results[last]
        mine = join_addends(p, *done.views[last].inputs[1:])
        sent = tuple(p.ring.add_vectors(x, e) for x, e in zip(mine.numbers, mine.noise, strict=True))
        return done.results[CURATOR_NAME], sent

    def _answers(self, j: int, rows: Rows, rng: Stream) -> RoundAnswer:
        """Return the program of party j, with the noise of the mutant."""
        part = self.spec.part(rows, rng)
        if self.mutant is None or (self.mutant == "silent-party" and j):
            return part
        silent = self.mutant == "silent-party"

        def answer(values: tuple[Vector, ...]) -> Addend:
            said = part(values)
            return replace(said, noise=(0,) * len(said.noise) if silent else self._share(len(values), rng))

        return answer

    @cached_property
    def _parameters(self) -> Parameters:
        names = tuple(f"party {j}" for j in range(1, PARTIES + 1))
        sums = tuple(tuple(Block(length, distribution) for length, distribution in blocks) for blocks in self.spec.sums)
        return Parameters(names, COLLUDERS, 0, sums, self.spec.grid.ring_bits)


def _floats(sums: Iterable[Vector]) -> Array:
    """Return all sums end to end; floats hold what is needed of them."""
    return np.array([float(x) for S in sums for x in S])
