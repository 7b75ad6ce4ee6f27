"""`average-uploads`: noise that is drawn anew in each round averages out.

A party of OFPA or OFAA uploads a model in each of T rounds, around the same point. As published each has noise for the
whole epsilon, so that the mean of T uploads has an error 1/sqrt T as long. Where epsilon is shared among the rounds, or
noise is drawn once, the mean of the uploads is no better than one upload of a single round.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import sqrt
from types import MappingProxyType

import numpy as np

from protocols.arithmetic.rng import Stream
from smc_dp.attacks.attack import AttackOutcome, StepCode, Variant, describe_attack
from smc_dp.attacks.synthetic import ball_rows
from smc_dp.core.arrays import Array
from smc_dp.data.federation import Federation
from smc_dp.methods.collaborative.ofaa import Ofaa, with_noise_as_published
from smc_dp.methods.collaborative.ofpa import Ofpa, noise_as_published
from smc_dp.privacy.target import Calibration, Target

FEATURES, ROUNDS, SINGLES = 8, 25, 6
_ROWS = {Ofpa: 2000, Ofaa: 30_000}  # enough for OFAA as published to have minima to upload
SHRINKS = 2 / sqrt(ROUNDS)  # twice what 1/sqrt T predicts
_CODE: Mapping[tuple[type[Ofpa] | type[Ofaa], Calibration], tuple[StepCode, ...]] = MappingProxyType(
    {
        (Ofpa, "paper"): (Ofpa.party_as_published, noise_as_published),
        (Ofaa, "paper"): (Ofaa.answer, with_noise_as_published),
        (Ofpa, "proven"): (Ofpa.proven_party, Ofpa.perturbation),
        (Ofaa, "proven"): (Ofaa.functionality, Ofaa.finish),
    }
)
"""What draws the noise of the rounds."""


def average_model(uploads: Array) -> Array:
    """Return the server's answer for a party's model without noise, from its uploads: (T, d+1)."""
    mean: Array = uploads.mean(axis=0)
    return mean


def _against(method: type[Ofpa] | type[Ofaa], target: Target, name: str, words: str, trials: int) -> Variant:
    def trial(rng: Stream, _key_bits: int) -> bool:
        federation = Federation((ball_rows(_ROWS[method], FEATURES, rng),), 2)
        once, often = (method(rounds=rounds).train(federation) for rounds in (1, ROUNDS))
        exact = once.release(Target(None, target.calibration, target.noise), rng).uploads[0, 0]
        found = average_model(often.release(target, rng).uploads[:, 0])
        singles = np.array([once.release(target, rng).uploads[0, 0] for _ in range(SINGLES)])
        typical = sqrt(float(((singles - exact) ** 2).sum(axis=1).mean()))
        return bool(np.linalg.norm(found - exact) <= SHRINKS * typical)

    outcome: AttackOutcome = "succeeds" if target.calibration == "paper" else "fails"
    code = _CODE[method, target.calibration]
    return Variant(name, method.name.upper(), words, outcome, trial, trials, code=code)


_AS_PUBLISHED, _PROVEN = Target(Fraction(5), "paper", "laplace"), Target(Fraction(5))

ATTACK = describe_attack(
    "average-uploads",
    variants=(
        _against(Ofpa, _AS_PUBLISHED, "OFPA, as published", "OFPA as published", 20),
        _against(Ofaa, _AS_PUBLISHED, "OFAA, as published", "OFAA as published", 40),
        _against(Ofpa, _PROVEN, "OFPA, proven", "OFPA with epsilon/T in each of T rounds", 20),
        _against(Ofaa, _PROVEN, "OFAA, proven", "OFAA with noise drawn once", 40),
    ),
    uses_keys=False,
    rounds=ROUNDS,
    features=FEATURES,
    ofpa_rows=_ROWS[Ofpa],
    ofaa_rows=_ROWS[Ofaa],
)
