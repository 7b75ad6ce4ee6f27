"""`residues-mod-k`: K times an integer leaves no trace mod K.

Stage 3 as published puts K (eta + s) into a sum of integers. What is published is congruent to the sum of all models
mod K, in each coordinate, without any noise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from protocols import linear, pathak2010
from protocols.arithmetic.rng import Stream
from protocols.pathak2010 import as_published, stage3
from protocols.runtime.session import Program
from smc_dp.attacks.attack import AttackOutcome, StepCode, Variant, describe_attack
from smc_dp.attacks.sessions import draw_secrets, run_program, sum_of_models, variant_names

PARTIES, DIMENSION = 3, 8
_CODE: Mapping[str, tuple[StepCode, ...]] = MappingProxyType(
    {
        as_published.PROGRAM.name: (as_published.stage3_party, as_published.stage3_curator),
        pathak2010.PROGRAM.name: (stage3.party, stage3.curator),
    }
)
"""What puts the noise into the sum."""


def read_residues(released: Sequence[int], parties: int) -> list[int]:
    """Return an outsider's answer for the sum of all models mod K, from the released sum as signed integers."""
    return [x % parties for x in released]


def _attacked(program: Program) -> Variant:
    def trial(rng: Stream, key_bits: int) -> bool:
        drawn = draw_secrets(PARTIES, DIMENSION, rng)
        finished = run_program(program, drawn, key_bits, rng)
        return read_residues(finished.lifted, PARTIES) == [x % PARTIES for x in sum_of_models(drawn)]

    outcome: AttackOutcome = "succeeds" if program is as_published.PROGRAM else "fails"
    return Variant(*variant_names(program), outcome, trial, code=_CODE.get(program.name, ()))


ATTACK = describe_attack(
    "residues-mod-k",
    variants=(_attacked(as_published.PROGRAM), _attacked(pathak2010.PROGRAM), _attacked(linear.PROGRAM)),
    chance=float(PARTIES) ** -DIMENSION,
    dimension=DIMENSION,
    parties=PARTIES,
)
