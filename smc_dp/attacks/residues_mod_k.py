"""`residues-mod-k`: K times an integer leaves no trace mod K.

The printed stage 3 puts K (eta + s) into a sum of integers. What is published is congruent to the sum of all models
mod K, in each coordinate, without any noise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from protocols.arithmetic.rng import Stream
from protocols.pathak2010 import as_published, stage3
from protocols.runtime.session import Program
from smc_dp.attacks.attack import AttackOutcome, MeasuredAttack, StepCode, Variant
from smc_dp.attacks.sessions import (
    HARDENED_PROGRAM,
    LINEAR_PROGRAM,
    PRINTED_PROGRAM,
    draw_secrets,
    run_program,
    sum_of_models,
    variant_names,
)

PARTIES, DIMENSION = 3, 8
_CODE: Mapping[str, tuple[StepCode, ...]] = MappingProxyType(
    {
        PRINTED_PROGRAM.name: (as_published.stage3_party, as_published.stage3_curator),
        HARDENED_PROGRAM.name: (stage3.party, stage3.curator),
    }
)
"""What puts the noise into the sum."""


def read_residues(released: Sequence[int], parties: int) -> list[int]:
    """Return an outsider's answer for the sum of all models mod K, from the released sum as signed integers."""
    return [x % parties for x in released]


def _attacked(program: Program) -> Variant:
    def trial(rng: Stream, key_bits: int) -> bool:
        drawn = draw_secrets(PARTIES, DIMENSION, rng)
        played = run_program(program, drawn, key_bits, rng)
        return read_residues(played.lifted, PARTIES) == [x % PARTIES for x in sum_of_models(drawn)]

    outcome: AttackOutcome = "succeeds" if program is PRINTED_PROGRAM else "fails"
    return Variant(*variant_names(program), outcome, trial, code=_CODE.get(program.name, ()))


ATTACK = MeasuredAttack(
    name="residues-mod-k",
    paper="Pathak et al. 2010",
    step="steps 3.1, 3.2",
    flaw="K (eta + s) is a multiple of K: mod K the noise is gone [N6].",
    attacker="an outsider",
    takes="the published shares",
    success=f"the sum of all models mod K is stated right in all {DIMENSION} coordinates",
    when="always, whatever epsilon is",
    steps=(
        "The outsider adds up the published shares.",
        "It divides each coordinate by K, the number of parties, and keeps the remainder.",
        "Noise that was multiplied by K has the remainder 0, so this is the remainder of the exact sum.",
        "Any two sums that differ in a remainder are told apart for certain, whatever epsilon is.",
    ),
    variants=(_attacked(PRINTED_PROGRAM), _attacked(HARDENED_PROGRAM), _attacked(LINEAR_PROGRAM)),
    chance=float(PARTIES) ** -DIMENSION,
)
