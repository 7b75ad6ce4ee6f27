"""`link-sender`: in the printed step 1.2 the senders of messages reveal pi_1.

P_j sends its half of a size to Charlie "with the index changed according to the permutation": the index is pi_1(j), the
sender is P_j. Charlie, who made pi_2 and finds the place of the smallest, then names the party.
"""

from __future__ import annotations

from collections.abc import Sequence

from protocols.arithmetic.permutation import Permutation
from protocols.arithmetic.rng import Stream
from protocols.pathak2010 import as_published, stage1
from protocols.pathak2010.as_published import PrintedCuratorShare
from protocols.pathak2010.values import Halves
from protocols.runtime.claims import View
from protocols.runtime.session import Program
from smc_dp.attacks.attack import AttackOutcome, MeasuredAttack, StepCode, Variant
from smc_dp.attacks.sessions import (
    HARDENED_PROGRAM,
    PRINTED_PROGRAM,
    draw_secrets,
    run_program,
    stage_result,
    variant_names,
)

_PARTIES = 7


def guess_pi1(charlie: View, parties: Sequence[str], rng: Stream) -> Permutation:
    """Return Charlie's answer for pi_1: the index that each sender named; a guess where senders name none."""
    named = {sender: m.index for sender, m in charlie.mail if isinstance(m, PrintedCuratorShare)}
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
        played = run_program(program, drawn, key_bits, rng)
        pi1 = guess_pi1(played.charlie, played.parameters.parties, rng)
        truth = played.party(0).results[0].pi1
        named = guess_smallest(played.charlie, pi1)
        return pi1 == truth and named == min(range(_PARTIES), key=lambda j: drawn[j].n)

    printed = program is PRINTED_PROGRAM
    code: tuple[StepCode, ...] = (as_published.find_smallest,) if printed else (stage1.party, stage1.relays_and_covers)
    outcome: AttackOutcome = "succeeds" if printed else "fails"
    return Variant(*variant_names(program), outcome, trial, code=code)


ATTACK = MeasuredAttack(
    name="link-sender",
    paper="Pathak et al. 2010",
    step="step 1.2",
    flaw="A message has a sender: together with the index in it, that is an edge of pi_1 [N1].",
    attacker="Charlie",
    takes="the messages that he receives",
    success="Charlie states pi_1 for all parties, and who has the smallest data set",
    when="always",
    steps=(
        "Charlie receives from each party its half of a size, under an index.",
        "As printed the index is the party's place after pi_1, so sender and index together are pi_1.",
        "He made pi_2 himself and learns which place holds the smallest size.",
        "He undoes both permutations and has the name of the smallest party. Without pi_1 he guesses it.",
    ),
    variants=(_attacked(PRINTED_PROGRAM), _attacked(HARDENED_PROGRAM)),
    chance=1 / 5040,  # of naming one permutation of seven
)
