"""`known-noise`: in the linear protocol a malicious P_1 locks its own row at every place, and knows the noise.

Whichever row opens for Charlie is P_1's, and no message looks different for it. Only P_1 knows what to take off.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from protocols.arithmetic.rng import Stream
from protocols.linear import party as follows
from protocols.linear import publication, selection, setup, submission
from protocols.linear.parameters import Parameters
from protocols.linear.values import Announced, Gathered, PartyInput
from protocols.runtime.endpoint import Endpoint
from protocols.runtime.message import PARTY
from protocols.runtime.session import Program
from smc_dp.attacks.attack import MeasuredAttack, StepCode, Variant
from smc_dp.attacks.sessions import (
    LINEAR_PROGRAM,
    PartySecret,
    draw_secrets,
    linear_variant,
    run_program,
    sum_of_models,
)
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


MALICIOUS_PROGRAM = replace(LINEAR_PROGRAM, roles={**LINEAR_PROGRAM.roles, PARTY: _party})


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

    deviates = program is MALICIOUS_PROGRAM
    code: tuple[StepCode, ...] = (repeat_own_row,) if deviates else (selection.first,)
    return linear_variant(name, about, trial, deviates=deviates, code=code)


ATTACK = MeasuredAttack(
    name="known-noise",
    paper="the linear protocol",
    step="round 3",
    flaw="Nobody but P_1 sees which rows it locks, and Charlie cannot tell one row from another.",
    attacker="P_1, which breaks the rules",
    takes="its own noise, and the release",
    success="P_1 states the sum of all models without noise, in sessions in which its own data set is the largest",
    when="always, and nobody notices",
    steps=(
        "P_1 gathers all rows, and locks its own one at every place in their stead.",
        "Whatever Charlie opens is P_1's noise. All letters have the sizes that are due.",
        "P_1 takes its noise off the release.",
    ),
    variants=(
        _attacked(MALICIOUS_PROGRAM, "own rows", "P_1 locks its own row at every place"),
        _attacked(LINEAR_PROGRAM, "as agreed", "P_1 locks the rows that it was sent"),
    ),
    reading="The claim is about participants who follow the protocol. With noise of zero everybody would have the "
    "exact sum.",
    uses_keys=False,
)
