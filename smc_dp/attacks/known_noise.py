"""`known-noise`: in the linear protocol a malicious P_1 locks its own row at every place, and knows the noise.

Whichever row opens for Charlie is P_1's, and no message looks different for it. Only P_1 knows what to take off.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from protocols import linear
from protocols.arithmetic.rng import Stream
from protocols.linear import party as follows
from protocols.linear import publication, selection, setup, submission
from protocols.linear.parameters import Parameters
from protocols.linear.values import Announced, Gathered, PartyInput
from protocols.runtime.endpoint import Endpoint
from protocols.runtime.message import PARTY
from protocols.runtime.session import Program
from smc_dp.attacks.attack import StepCode, Variant, describe_attack
from smc_dp.attacks.sessions import PartySecret, draw_secrets, linear_variant, run_program, sum_of_models
from smc_dp.attacks.strip_noise import subtract_noise

PARTIES, DIMENSION = 5, 2


def repeat_own_row(p: Parameters, gathered: Gathered) -> Gathered:
    """Return P_1's own row in place of everybody's."""
    return replace(gathered, epks=gathered.epks[:1] * p.K, rows=gathered.rows[:1] * p.K)


async def _party(me: Endpoint, p: Parameters, mine: PartyInput) -> Announced:
    if me.index:
        return await follows(me, p, mine)
    keys = await me.stage(setup.party, p)
    left, gathered = await me.stage(submission.first, p, keys, mine)
    summand = await me.stage(selection.first, p, repeat_own_row(p, gathered), mine.w)
    return await me.stage(publication.party, p, summand, left.masks)


MALICIOUS_PROGRAM = replace(linear.PROGRAM, roles={**linear.PROGRAM.roles, PARTY: _party})


def make_first_largest(drawn: Sequence[PartySecret]) -> list[PartySecret]:
    """Move the largest size to P_1: as the smallest party it would know the noise anyway."""
    n = sorted(secret.n for secret in drawn)
    sizes = [n[-1], *(s.n for s in drawn if s.n != n[-1])]
    return [replace(secret, n=size) for secret, size in zip(drawn, sizes, strict=True)]


def _attacked(program: Program, name: str, about: str) -> Variant:
    def trial(rng: Stream, key_bits: int) -> bool:
        drawn = make_first_largest(draw_secrets(PARTIES, DIMENSION, rng))
        S = run_program(program, drawn, key_bits, rng).lifted
        return subtract_noise(S, drawn[0].eta) == sum_of_models(drawn)

    malicious = program is MALICIOUS_PROGRAM
    code: tuple[StepCode, ...] = (repeat_own_row,) if malicious else (selection.first,)
    return linear_variant(name, about, trial, malicious=malicious, code=code)


ATTACK = describe_attack(
    "known-noise",
    variants=(
        _attacked(MALICIOUS_PROGRAM, "own row everywhere", "P_1 locks its own row at every place"),
        _attacked(linear.PROGRAM, "rows as sent", "P_1 locks the rows that it was sent"),
    ),
    uses_keys=False,
)
