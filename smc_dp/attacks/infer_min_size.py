"""`infer-min-size`: the length of a release tells how few rows the smallest party has.

K-norm noise has a length that is Gamma distributed with shape d, so that for d = 123 it is within a tenth or so of its
mean, and its mean is a public constant over the smallest size. Where noise outweighs the models, an outsider divides.
16 % is 1.8 of its standard deviations 1/sqrt d, so that a rate of success of about 92 % is to be expected.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from math import exp, log, sqrt
from typing import Any

import numpy as np

from protocols import linear, pathak2010
from protocols.arithmetic.rng import Stream
from protocols.pathak2010 import as_published
from protocols.runtime.session import Program
from smc_dp.attacks.attack import Variant, describe_attack
from smc_dp.attacks.sessions import PartySecret, run_program, variant_names
from smc_dp.attacks.sums import run_secure_sum, secure_sum_variant, shared_weighted_sum
from smc_dp.attacks.synthetic import ADULT_DIMENSION, adult_like_rows
from smc_dp.data.federation import Public
from smc_dp.methods.pathak2010.mean import PathakMean
from smc_dp.methods.pathak2010.models import model_of
from smc_dp.methods.sums.threat_model import ThreatModel
from smc_dp.methods.sums.weighted_sum import SharedWeightedSum, WeightedSum
from smc_dp.privacy.distributed.share_distributions import GammaShares
from smc_dp.privacy.output import calibrate_noise
from smc_dp.privacy.pathak2010 import SmallestNoise
from smc_dp.privacy.target import Target

FEWEST, MOST = 100, 1000  # the smallest party has between so many rows, uniform on a logarithmic scale
_OTHER_SIZES = (1500,)
_TOLERANCE = 0.16
EPSILON, LAM = Fraction(1, 20), 1.0


def estimate_size(released: Sequence[int], length_for_one_row: float) -> float:
    """Return an outsider's answer for the smallest size, given the mean length of noise for a single row."""
    return length_for_one_row / float(np.linalg.norm(np.array(released, dtype=float)))


def _attacked(program: Program) -> Variant:
    is_as_published = program is as_published.PROGRAM
    method, target = (
        PathakMean(LAM, as_published=is_as_published),
        Target(EPSILON, "paper" if is_as_published else "proven"),
    )
    public = Public(1 + len(_OTHER_SIZES), ADULT_DIMENSION, 2)
    copies = 1 + len(_OTHER_SIZES) if is_as_published else 1

    def trial(rng: Stream, key_bits: int) -> bool:
        n, w = _smallest(rng)
        secrets = [
            PartySecret(size, model, method.distribution(target, size, public).sample(rng))
            for size, model in zip((n, *_OTHER_SIZES), (w, *_other_models()), strict=True)
        ]
        distribution: Any = method.distribution(target, 1, public)
        one_row = copies * ADULT_DIMENSION * float(distribution.scale)
        return _is_near(estimate_size(run_program(program, secrets, key_bits, rng).lifted, one_row), n)

    code = (as_published.stage2_party, SmallestNoise.distribution) if is_as_published else ()
    return Variant(*variant_names(program), "succeeds", trial, trials=40, no_fix_yet=not is_as_published, code=code)


def _weighted_sum(rng: Stream, _key_bits: int) -> bool:
    """Try the length of noise that no size enters, with the factor at which the same division does best."""
    noise = calibrate_noise(Target(EPSILON), ADULT_DIMENSION, WeightedSum(LAM).sensitivity)
    n, w = _smallest(rng)
    models = zip((n, *_OTHER_SIZES), (w, *_other_models()), strict=True)
    weighted = [[size * x for x in model] for size, model in models]
    S = [sum(column) for column in zip(*weighted, noise.distribution.sample(rng), strict=True)]
    middle = (FEWEST * MOST) ** 0.5
    return _is_near(estimate_size(S, middle * ADULT_DIMENSION * float(noise.sensitivity / EPSILON)), n)


def _secure_sum(rng: Stream, _key_bits: int) -> bool:
    """Try the same division on the shares of all parties, whose scale no size enters either."""
    spec = shared_weighted_sum(ThreatModel(1 + len(_OTHER_SIZES), 1, 0), ADULT_DIMENSION, EPSILON, lam=LAM)
    n, w = _smallest(rng)
    entered = [
        PartySecret(size, [size * x for x in model], spec.noise.distribution.share(rng))
        for size, model in zip((n, *_OTHER_SIZES), (w, *_other_models()), strict=True)
    ]
    middle = (FEWEST * MOST) ** 0.5
    return _is_near(estimate_size(run_secure_sum(spec, entered, rng).lifted, middle * _usual_length(spec)), n)


def _usual_length(spec: SharedWeightedSum) -> float:
    """Return the usual length of the sum of all shares: the root of d times the mean of all their V."""
    distribution: Any = spec.noise.distribution
    return float(distribution.scale) * sqrt(2 * spec.threat_model.parties * float(distribution.shape) * ADULT_DIMENSION)


def _is_near(estimate: float, n: int) -> bool:
    return abs(estimate / n - 1) <= _TOLERANCE


def _smallest(rng: Stream) -> tuple[int, tuple[int, ...]]:
    """Draw a size, and return it with the model of so many rows."""
    n = round(exp(log(FEWEST) + rng.below(1 << 53) / (1 << 53) * log(MOST / FEWEST)))
    return n, _model(n, 0)


@cache
def _other_models() -> tuple[tuple[int, ...], ...]:
    return tuple(_model(n, seed) for seed, n in enumerate(_OTHER_SIZES, start=1))


def _model(n: int, seed: int) -> tuple[int, ...]:
    return tuple(model_of(adult_like_rows(max(MOST, *_OTHER_SIZES), seed).take(np.arange(n)), LAM))


ATTACK = describe_attack(
    "infer-min-size",
    variants=(
        _attacked(as_published.PROGRAM),
        _attacked(pathak2010.PROGRAM),
        _attacked(linear.PROGRAM),
        Variant("trusted centre", "weighted sum", "the release of a weighted sum", "fails", _weighted_sum, trials=200),
        secure_sum_variant(
            "which does not release the number of rows",
            _secure_sum,
            trials=100,
            code=(WeightedSum.sensitivity_to, GammaShares.share),
        ),
    ),
    # A constant c is near for n from c/(1 + _TOLERANCE) to c/(1 - _TOLERANCE), whatever c is.
    chance=log((1 + _TOLERANCE) / (1 - _TOLERANCE)) / log(MOST / FEWEST),
    within=_TOLERANCE,
    deviation=1 / sqrt(ADULT_DIMENSION),
    fewest=FEWEST,
    most=MOST,
    epsilon=float(EPSILON),
)
