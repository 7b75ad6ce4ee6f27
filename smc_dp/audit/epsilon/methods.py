"""Case of every method: from the rows of two neighbours to what its statement says everybody may see."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from protocols.arithmetic.rng import Stream
from smc_dp.audit.epsilon import canary
from smc_dp.audit.epsilon.case import Case
from smc_dp.audit.epsilon.mechanisms import twice_epsilon
from smc_dp.audit.epsilon.mutants import HALF_NOISE, MutantName, check_mutant
from smc_dp.audit.epsilon.one_run import Canaries
from smc_dp.core.arrays import Array
from smc_dp.data.federation import Rows
from smc_dp.methods.collaborative.rounds import RoundsRelease
from smc_dp.methods.feature_method import CheckedSites
from smc_dp.methods.hamm2016.release_all import Committee
from smc_dp.methods.method import Trained
from smc_dp.methods.model import LinearModel
from smc_dp.methods.neighbours import NeighbourPair, Parties
from smc_dp.methods.registry import find_method
from smc_dp.privacy.target import Target

_PROBE = Rows(np.ones((1, 1)), np.array([1]))
"""Row that is asked about where only answers are released."""


def method_case(
    name: str, target: Target, mutant: MutantName | None = None, searched: NeighbourPair | None = None
) -> Case:
    """Return the case of a method with this target, or half its noise, on its own or the `searched` neighbours.

    Raise InputError for a mutant that it does not have.
    """
    check_mutant(name, mutant, HALF_NOISE)
    method = find_method(name)
    found = searched or find_method(name).audit_pair(target.calibration)
    if not method.calibrations:
        target = Target(None)
    trained = tuple(found.method.train(federation) for federation in found.worlds)
    # One release from the system's generator: nothing of it is used but the statement, which is none for a seed.
    claim = trained[0].release(target, Stream.from_system()).privacy
    without = Target(None, noise=target.noise)
    drawn = twice_epsilon(target) if mutant else target
    nobody = Stream.from_system()
    title = name if target.epsilon is None else f"{name}, {target.calibration} {target.noise}"
    if target.calibration == "paper":
        title += f" (nominal epsilon {float(target.wanted):g})"
    centres = visible_outputs(trained[0], without, nobody)[0], visible_outputs(trained[1], without, nobody)[0]
    return Case(
        title + (f": {mutant}" if mutant else ""),
        found.text,
        claim,
        centres,
        lambda world, rng: visible_outputs(trained[world], drawn, rng)[0],
        canaries=_canaries(name, found, drawn),
        own_scores=found.own_scores,
        neighbour_distance=(
            canary.measure_neighbour_distance(name, searched, target.noise, centres) if searched else None
        ),
    )


def visible_outputs(trained: Trained, target: Target, rng: Stream) -> Array:
    """Return what the adversary of the statement sees of one release: a line for each party, or a single one."""
    if isinstance(trained, CheckedSites):
        return trained.classifiers(target, rng)
    release = trained.release(target, rng)
    if isinstance(release, RoundsRelease):
        return np.moveaxis(release.uploads, 0, 1).reshape(release.uploads.shape[1], -1)
    model = release.model
    if isinstance(model, LinearModel):
        return model.W.reshape(1, -1)
    if isinstance(model, Committee):
        return model.V.reshape(len(model.V), -1)
    return np.array([[model.accuracy(_PROBE)]])


def _canaries(name: str, found: NeighbourPair, target: Target) -> Callable[[int, Stream], Canaries] | None:
    if found.parties:
        return _of_parties(found, found.parties, target)
    # A vector with independent coordinates; a label that changes is no record more or less.
    if found.worlds[0].public.dimension > 1 and target.noise == "gauss" and name != "wsum_ar":
        return _of_axes(name, found, target)
    return None


def _of_parties(found: NeighbourPair, parties: Parties, target: Target) -> Callable[[int, Stream], Canaries]:
    # What the attacker knows beforehand: both ends without noise. Nothing of it depends on the secret bits.
    zero, one = visible_outputs(found.method.train(parties([0, 1])), Target(None), Stream.from_system())
    apart = one - zero

    def run(number: int, rng: Stream) -> Canaries:
        """Make one release of so many parties, each with one bit in its rows."""
        bits = [rng.bits(1) for _ in range(number)]
        noisy = visible_outputs(found.method.train(parties(bits)), target, rng)
        return Canaries((noisy - zero) @ apart / (apart @ apart), np.array(bits))

    return run


def _of_axes(name: str, found: NeighbourPair, target: Target) -> Callable[[int, Stream], Canaries]:
    d = found.worlds[0].public.dimension

    def weights(bits: list[int], wanted: Target, rng: Stream) -> Array:
        trained = found.method.train(canary.orthogonal_canaries(name, found.method, bits))
        both = visible_outputs(trained, wanted, rng)[0].reshape(2, d)
        apart: Array = both[1] - both[0]
        return apart

    zero, one = (weights([bit] * d, Target(None), Stream.from_system()) for bit in (0, 1))

    def run(number: int, rng: Stream) -> Canaries:
        """Make as many releases as it takes, with a canary for each dimension."""
        bits = np.array([[rng.bits(1) for _ in range(d)] for _ in range(-(-number // d))])
        noisy = np.array([weights(row.tolist(), target, rng) for row in bits])
        return Canaries(((noisy - zero) / (one - zero)).ravel(), bits.ravel())

    return run
