"""Audit of `prr_mean` through its whole protocol: rows go in, and the sum of the published shares is audited."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from protocols import pathak2010
from protocols.arithmetic.rng import Stream
from protocols.pathak2010 import as_published
from protocols.pathak2010.parameters import Parameters
from smc_dp.audit.epsilon.case import Case
from smc_dp.audit.epsilon.mechanisms import twice_epsilon
from smc_dp.audit.epsilon.mutants import HALF_NOISE, MutantName, check_audited_noise, check_mutant
from smc_dp.core.arrays import Array
from smc_dp.data.federation import Public, Rows
from smc_dp.methods.functionality import Contribution, Vector, ideal
from smc_dp.methods.pathak2010.mean import PathakMean
from smc_dp.methods.pathak2010.models import model_of
from smc_dp.privacy.target import NOISES_AS_PUBLISHED, Target
from smc_dp.run.protocols.execution import open_session, run_session

PATHAK_METHOD = "prr_mean"
PATHAK_SCOPE = (
    "This audit looks at the sum of the published shares of whole runs with test keys, not at the messages. A run "
    "takes long, so there are few draws, and they find gross faults only, such as half the noise or residues. The "
    "ideal functionality gives the same distribution and takes no time, so it made the draws of the mutant with half "
    "the noise."
)
PATHAK_MUTANTS: tuple[MutantName, ...] = ("k-times-integer", "stripped")
"""Mutants of the whole protocol; it has half the noise besides."""
_LAM = 10.0
_KEY_BITS = 256
_WHOSE = ("the smallest", "the second")
_SIZES, _SIZES_AS_PUBLISHED = (4, 8), (4, 8, 8)  # two label flips are two apart modulo 2, so that there K is 3


def pathak_case(target: Target, mutant: MutantName | None = None, *, use_ideal: bool = False) -> Case:
    """Return the case of `prr_mean` with small test keys, d = 1.

    `use_ideal`: by the ideal functionality, which has the same output distribution and takes no time.
    `k-times-integer` is the protocol and its noise as published; `stripped` is the release less the smallest party's
    own noise. Raise InputError for another mutant.
    """
    check_mutant(PATHAK_METHOD, mutant, (*HALF_NOISE, *PATHAK_MUTANTS))
    check_audited_noise(PATHAK_METHOD, target.noise, NOISES_AS_PUBLISHED)
    published_variant = mutant == "k-times-integer"
    method = PathakMean(_LAM, as_published=published_variant)
    agreed = replace(target, calibration="paper") if published_variant else target
    drawn = twice_epsilon(target) if mutant == "half-noise" else agreed
    sizes = _SIZES_AS_PUBLISHED if published_variant else _SIZES
    public = Public(len(sizes), 1, 2)
    functionality = method.functionality(public, agreed)
    changed = 1 if mutant == "stripped" else 0
    bits = [[world if j == changed else 0 for j in range(len(sizes))] for world in (0, 1)]
    weights = [[model_of(_rows(*party), _LAM)[0] for party in zip(sizes, labels, strict=True)] for labels in bits]
    parameters = Parameters(tuple(f"party {j}" for j in range(len(sizes))), 1, _KEY_BITS)
    program = as_published.PROGRAM if published_variant else pathak2010.PROGRAM

    def draw(world: int, rng: Stream) -> Array:
        parts = [
            Contribution(n, (w,), tuple(method.distribution(drawn, n, public).sample(rng)))
            for n, w in zip(sizes, weights[world], strict=True)
        ]
        known = float(parts[0].noise[0]) if mutant == "stripped" else 0.0
        if use_ideal:
            return _opened(ideal(functionality, parts, rng)) - known
        own = rng.spawn()
        return _opened(run_session(functionality, parts, open_session(program, parameters, own), rng=own).value) - known

    how = "the protocol as published" if published_variant else "the whole protocol"
    return Case(
        f"{how}, {agreed.calibration} {agreed.noise}" + (f": {mutant}" if mutant else ""),
        f"one record of {_WHOSE[changed]} of {len(sizes)} parties has the other label; d = 1, test keys",
        replace(method, as_published=False).statement(public, agreed, "secure"),  # what the noise is said to give
        (np.array([float(sum(weights[0]))]), np.array([float(sum(weights[1]))])),
        draw,
        whole=True,
    )


def _rows(n: int, bit: int) -> Rows:
    """Return a record at 1 with the label that the bit says, and others at 0."""
    y = (np.arange(n) + 1) % 2
    y[0] = bit
    return Rows(np.eye(n)[:, :1], y)


def _opened(value: Vector) -> Array:
    """Return the released sum; floats hold what is needed of it."""
    return np.array([float(value[0])])
