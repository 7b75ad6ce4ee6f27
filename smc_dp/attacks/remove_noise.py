"""`remove-noise`: a malicious party enters no rows and no noise, and the release is the exact sum.

The noise of the release is that of the party with the fewest rows, and nobody checks either input. So everybody gets
the exact sum of all models.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from protocols.arithmetic.rng import Stream
from protocols.pathak2010 import as_published
from protocols.runtime.session import Program
from protocols.secure_sum import steps
from smc_dp.attacks.attack import MeasuredAttack, Variant
from smc_dp.attacks.sessions import (
    HARDENED_PROGRAM,
    LINEAR_PROGRAM,
    PRINTED_PROGRAM,
    PartySecret,
    draw_secrets,
    run_program,
    sum_of_models,
    variant_names,
)
from smc_dp.attacks.sums import run_secure_sum, secure_sum_variant, shared_weighted_sum
from smc_dp.methods.sums.among import Among
from smc_dp.privacy.distributed.laws import GammaShares

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

    printed = program is PRINTED_PROGRAM
    code = (as_published.find_smallest, as_published.stage2_party) if printed else ()
    return Variant(*variant_names(program), "succeeds", trial, no_fix_yet=not printed, code=code)


def _secure_sum(rng: Stream, _key_bits: int) -> bool:
    form = shared_weighted_sum(Among(PARTIES, 1, 0), DIMENSION, Fraction(1, 2))
    honest = [replace(s, eta=form.noise.law.share(rng)) for s in draw_secrets(PARTIES, DIMENSION, rng)]
    liar = rng.below(PARTIES)
    S = run_secure_sum(form, [without_rows_and_noise(s) if j == liar else s for j, s in enumerate(honest)], rng).lifted
    return sum_of_models(honest) == S


ATTACK = MeasuredAttack(
    name="remove-noise",
    paper="Pathak et al. 2010",
    step="steps 1.1, 2.3",
    flaw="The noise of the release is an input of one party, chosen by a size that is an input too.",
    attacker="any one party, which breaks the rules",
    takes="nothing but its own inputs",
    success="what is released, to everybody, is the exact sum of all models",
    when="always: the party need not be the smallest, and nobody who follows the rules sees it",
    steps=(
        "The party states that it has no rows, so that its noise is the one to be selected.",
        "It enters a noise of zero; or noise that it keeps, if it wants the exact sum for itself alone.",
        "All follow the protocol from there on. The sum of the published shares has no noise.",
    ),
    variants=(
        _attacked(PRINTED_PROGRAM),
        _attacked(HARDENED_PROGRAM),
        _attacked(LINEAR_PROGRAM),
        secure_sum_variant(
            "where every party draws a share of the noise", _secure_sum, code=(GammaShares.share, steps.blinded)
        ),
    ),
    reading="The function that the protocol computes allows this, so no proof about the protocol rules it out; another "
    "function does, in which noise is no single party's input: in the secure sum a party leaves out its own share, and "
    "those of the others are counted on alone.",
    noted="Not departures, but known",
)
