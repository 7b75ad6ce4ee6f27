"""`remove-noise`: a malicious party enters no rows and no noise, and the release is the exact sum.

The noise of the release is that of the party with the fewest rows, and nobody checks either input. So everybody gets
the exact sum of all models.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from protocols import linear, pathak2010
from protocols.arithmetic.rng import Stream
from protocols.pathak2010 import as_published
from protocols.runtime.session import Program
from protocols.secure_sum import steps
from smc_dp.attacks.attack import Variant, describe_attack
from smc_dp.attacks.sessions import PartySecret, draw_secrets, run_program, sum_of_models, variant_names
from smc_dp.attacks.sums import run_secure_sum, secure_sum_variant, shared_weighted_sum
from smc_dp.methods.sums.threat_model import ThreatModel
from smc_dp.privacy.distributed.share_distributions import GammaShares

PARTIES, DIMENSION = 3, 2


def without_rows_and_noise(own: PartySecret) -> PartySecret:
    """Return the party's input with size and noise replaced by zero."""
    return replace(own, n=0, eta=[0] * len(own.w))


def _attacked(program: Program) -> Variant:
    def trial(rng: Stream, key_bits: int) -> bool:
        honest = draw_secrets(PARTIES, DIMENSION, rng)
        liar = rng.below(PARTIES)
        entering = [without_rows_and_noise(s) if j == liar else s for j, s in enumerate(honest)]
        S = run_program(program, entering, key_bits, rng).lifted
        return sum_of_models(honest) == S

    is_as_published = program is as_published.PROGRAM
    code = (as_published.find_smallest, as_published.stage2_party) if is_as_published else ()
    return Variant(*variant_names(program), "succeeds", trial, no_fix_yet=not is_as_published, code=code)


def _secure_sum(rng: Stream, _key_bits: int) -> bool:
    spec = shared_weighted_sum(ThreatModel(PARTIES, 1, 0), DIMENSION, Fraction(1, 2))
    honest = [replace(s, eta=spec.noise.distribution.share(rng)) for s in draw_secrets(PARTIES, DIMENSION, rng)]
    liar = rng.below(PARTIES)
    S = run_secure_sum(spec, [without_rows_and_noise(s) if j == liar else s for j, s in enumerate(honest)], rng).lifted
    return sum_of_models(honest) == S


ATTACK = describe_attack(
    "remove-noise",
    variants=(
        _attacked(as_published.PROGRAM),
        _attacked(pathak2010.PROGRAM),
        _attacked(linear.PROGRAM),
        secure_sum_variant(
            "where every party draws a share of the noise", _secure_sum, code=(GammaShares.share, steps.masked_input)
        ),
    ),
    parties=PARTIES,
)
