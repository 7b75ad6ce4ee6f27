"""`link-sender`: in step 1.2 as published the senders of messages reveal pi_1.

P_j sends its half of a size to Charlie "with the index changed according to the permutation": the index is pi_1(j), the
sender is P_j. Charlie, who made pi_2 and finds the place of the smallest, then names the party.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import factorial

from protocols import pathak2010
from protocols.arithmetic.permutation import Permutation
from protocols.arithmetic.rng import Stream
from protocols.pathak2010 import as_published, stage1
from protocols.pathak2010.as_published import PrintedCuratorShare
from protocols.pathak2010.values import Halves
from protocols.runtime.claims import View, stage_result
from protocols.runtime.session import Program
from smc_dp.attacks.attack import StepCode, Variant, describe_attack
from smc_dp.attacks.sessions import draw_secrets, run_program, variant_names

_PARTIES = 7


def guess_pi1(charlie: View, parties: Sequence[str], rng: Stream) -> Permutation:
    """Return Charlie's answer for pi_1: the index that each sender named; a guess where senders name none."""
    named = {sender: m.index for sender, m in charlie.messages if isinstance(m, PrintedCuratorShare)}
    if set(named) != set(parties):
        return Permutation.random(len(parties), rng)
    return Permutation(tuple(named[name] for name in parties))


def guess_smallest(charlie: View, pi1: Permutation) -> int:
    """Return the smallest party if this is pi_1, counted from 0: j~ with Charlie's own pi_2 and pi_1 undone."""
    halves: Halves = stage_result(charlie, Halves)
    place: int = stage_result(charlie, int)
    return pi1.inverse[halves.pi2.inverse[place]]


def _attacked(program: Program) -> Variant:
    def trial(rng: Stream, key_bits: int) -> bool:
        drawn = draw_secrets(_PARTIES, 1, rng)
        finished = run_program(program, drawn, key_bits, rng)
        pi1 = guess_pi1(finished.charlie, finished.parameters.parties, rng)
        truth = finished.party(0).results[0].pi1
        named = guess_smallest(finished.charlie, pi1)
        return pi1 == truth and named == min(range(_PARTIES), key=lambda j: drawn[j].n)

    is_as_published = program is as_published.PROGRAM
    code: tuple[StepCode, ...] = (
        (as_published.find_smallest,) if is_as_published else (stage1.party, stage1.relays_and_covers)
    )
    return Variant(*variant_names(program), "succeeds" if is_as_published else "fails", trial, code=code)


ATTACK = describe_attack(
    "link-sender",
    variants=(_attacked(as_published.PROGRAM), _attacked(pathak2010.PROGRAM)),
    chance=1 / factorial(_PARTIES),  # of naming one permutation
    parties=_PARTIES,
)
