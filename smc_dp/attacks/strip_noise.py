"""`strip-noise`: the party whose noise was selected recognises it in the release and takes it off.

Every party keeps the noise that it offered. With S the released sum, w_j the party's own model and eta_j its noise of
the mean, it accepts if |S/K - eta_j - w_j| < |eta_j|/2: had another's noise been selected, the remainder would be about
as long as both noises together. A party that accepts subtracts, and holds the exact sum of all models.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np

from protocols import linear, pathak2010
from protocols.arithmetic.rng import Stream
from protocols.pathak2010 import as_published
from protocols.runtime.session import Program
from protocols.secure_sum import steps
from smc_dp.attacks.attack import Variant, describe_attack
from smc_dp.attacks.sessions import PartySecret, run_program, variant_names
from smc_dp.attacks.sums import run_secure_sum, secure_sum_variant, shared_weighted_sum
from smc_dp.attacks.synthetic import ADULT_DIMENSION, adult_like_rows
from smc_dp.data.federation import Federation, Public
from smc_dp.methods.method import Trained
from smc_dp.methods.model import LinearModel
from smc_dp.methods.pathak2010.mean import PathakMean
from smc_dp.methods.pathak2010.models import model_of
from smc_dp.methods.sums.threat_model import ThreatModel
from smc_dp.methods.sums.weighted_sum import WeightedSum
from smc_dp.privacy.distributed.share_distributions import GammaShares
from smc_dp.privacy.output import GRID, calibrate_noise
from smc_dp.privacy.target import Target

_SIZES = (326, 450, 700, 1030)
EPSILON, LAM = Fraction(1, 2), 1.0


def recognises_noise(S: Sequence[int], w: Sequence[int], noise: Sequence[int], parts: int) -> bool:
    """Return whether the party with model w finds its own noise in S, the sum of `parts` models; all on one grid."""
    total, model, own = (np.array(x, dtype=float) for x in (S, w, noise))
    return bool(np.linalg.norm((total - own) / parts - model) < np.linalg.norm(own / parts) / 2)


def strip_own_noise(S: Sequence[int], w: Sequence[int], noise: Sequence[int], parts: int) -> list[int] | None:
    """Return the release without the party's own noise, if it takes the noise for its own; else None."""
    return subtract_noise(S, noise) if recognises_noise(S, w, noise, parts) else None


def subtract_noise(S: Sequence[int], noise: Sequence[int]) -> list[int]:
    """Subtract a party's own noise from the release."""
    return [s - e for s, e in zip(S, noise, strict=True)]


@dataclass(frozen=True, repr=False)
class Stripping:
    """Run after the attack: the exact sum of the inputs, the release, and the remainder of each party by size.

    A remainder is None where the party does not take the noise for its own.
    """

    exact: list[int]
    release: list[int]
    held: tuple[list[int] | None, ...]


def strip_in_protocol(program: Program, rng: Stream, key_bits: int) -> Stripping:
    """Run a protocol in which every party tests whether the noise of the release is its own."""
    is_as_published, K = program is as_published.PROGRAM, len(_SIZES)
    method, target = (
        PathakMean(LAM, as_published=is_as_published),
        Target(EPSILON, "paper" if is_as_published else "proven"),
    )
    noise = [method.distribution(target, n, Public(K, ADULT_DIMENSION, 2)).sample(rng) for n in _SIZES]
    secrets = [PartySecret(n, w, eta) for n, w, eta in zip(_SIZES, _models(), noise, strict=True)]
    S = run_program(program, secrets, key_bits, rng).lifted
    copies = K if is_as_published else 1  # the steps as published multiply the noise by K
    held = (strip_own_noise(S, s.w, [copies * e for e in s.eta], K) for s in secrets)
    return Stripping([sum(column) for column in zip(*_models(), strict=True)], S, tuple(held))


def strip_in_secure_sum(rng: Stream) -> Stripping:
    """Run a secure sum in which every party takes its own share of the noise off, without a test."""
    spec, numbers = shared_weighted_sum(ThreatModel(len(_SIZES), 1, 1), ADULT_DIMENSION, EPSILON, lam=LAM), _scaled()
    secrets = [PartySecret(n, z, spec.noise.distribution.share(rng)) for n, z in zip(_SIZES, numbers, strict=True)]
    S = run_secure_sum(spec, secrets, rng).lifted
    exact = [sum(column) for column in zip(*numbers, strict=True)]
    return Stripping(exact, S, tuple(subtract_noise(S, secret.eta) for secret in secrets))


def _attacked(program: Program) -> Variant:
    def trial(rng: Stream, key_bits: int) -> bool:
        seen = strip_in_protocol(program, rng, key_bits)
        return seen.held == (seen.exact, *[None] * (len(_SIZES) - 1))

    is_as_published = program is as_published.PROGRAM
    code = (as_published.stage2_party,) if is_as_published else ()
    return Variant(*variant_names(program), "succeeds", trial, no_fix_yet=not is_as_published, code=code)


def _weighted_sum(rng: Stream, _key_bits: int) -> bool:
    """Try every party with noise of the right distribution, which no party draws in a weighted sum."""
    method, target = WeightedSum(LAM), Target(EPSILON)
    n = sum(_SIZES)
    model = _trained().release(target, rng).model
    if not isinstance(model, LinearModel):
        raise TypeError("a weighted sum gives a linear model")
    S = [round(value * n * (1 << GRID.fraction_bits)) for value in (model.W[1] - model.W[0]).tolist()]
    noise_distribution = calibrate_noise(target, ADULT_DIMENSION, method.sensitivity).distribution
    exact = np.array([sum(column) for column in zip(*_scaled(), strict=True)], dtype=float)
    tried = [strip_own_noise(S, w, noise_distribution.sample(rng), n) for w in _models()]
    near = [x is not None and np.linalg.norm(np.array(x, dtype=float) - exact) < 1e-6 * 2**40 for x in tried]
    return any(near)


def _secure_sum(rng: Stream, _key_bits: int) -> bool:
    seen = strip_in_secure_sum(rng)
    return seen.exact in seen.held


def _scaled() -> list[list[int]]:
    """Return every model times its number of rows, on the grid of the models, which is that of both sums."""
    return [[size * x for x in w] for size, w in zip(_SIZES, _models(), strict=True)]


@cache
def _models() -> tuple[tuple[int, ...], ...]:
    """Return the parties' models on the grid; the same in every trial, which only draws noise."""
    return tuple(tuple(model_of(adult_like_rows(n, seed), LAM)) for seed, n in enumerate(_SIZES, start=1))


@cache
def _trained() -> Trained:
    rows = tuple(adult_like_rows(n, seed) for seed, n in enumerate(_SIZES, start=1))
    return WeightedSum(LAM).train(Federation(rows, 2))


ATTACK = describe_attack(
    "strip-noise",
    variants=(
        _attacked(as_published.PROGRAM),
        _attacked(pathak2010.PROGRAM),
        _attacked(linear.PROGRAM),
        Variant(
            "trusted centre",
            "weighted sum",
            "a trusted centre that draws the noise of a weighted sum",
            "fails",
            _weighted_sum,
        ),
        secure_sum_variant(
            "where every party draws a share of the noise", _secure_sum, code=(GammaShares.share, steps.masked_input)
        ),
    ),
)
