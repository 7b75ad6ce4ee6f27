"""Recovery of a lost ledger: what its owner has to count as spent, by the heads that its witnesses keep.

The owner has an older copy, or a new ledger. Each head is signed by the owner, names study and session, and says how
many charges the ledger had. All participants signed the study, so what a session cost at most is known: the full charge
of its study, whatever became of it. A witness hands over its heads in order, each with the proof that it extends the
one before. No witness can add a charge, or mix heads of two logs.

The sessions are charged one by one only if the heads of one witness, a chain, explain everything:

* The ledger extends the head that the chain goes on from, or both begin without a charge. Since that head nothing was
  charged to the ledger, and nothing refunded.
* From there on the number of charges grows by one at a time, each time with a head for a session that is new. So
  no charge is left out, and their order is that of the chain.
* Every other head that was given is one of the chain, or the ledger extends it.

Else the whole budget counts as spent: without heads, for heads of two logs (a copy that was put back and charged),
for a charge that no session explains, and for a head that was left out in between. Then what is charged is never less
than what was spent up to the heads that were given. What was spent after them is not known here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from fractions import Fraction

from smc_dp.core.errors import InputError
from smc_dp.privacy.ledger.guarantee import LEAST_EPSILON, Guarantee
from smc_dp.privacy.ledger.head import (
    HeadRequest,
    LedgerRecovery,
    charge_of,
    charged_keys,
    charges_in,
    check_extends,
    generation_of,
    study_of,
)
from smc_dp.privacy.ledger.history import PARTIES, RECORDS, History
from smc_dp.privacy.ledger.merkle import EMPTY_ROOT, is_extension
from smc_dp.privacy.ledger.signed_note import Checkpoint

Charge = tuple[str, str, Guarantee]
"""Mechanism, key and guarantee of a charge."""


def lost_charges(
    history: History, chains: Sequence[Sequence[HeadRequest]], costs: Mapping[str, Guarantee]
) -> list[Charge]:
    """Return the charges by which a ledger recovers these heads of its owner, of each witness in their order.

    costs: what each study charges, by its digest. InputError where the ledger extends all heads, so nothing is lost,
    and for a study without a cost.
    """
    heads = [request.head for chain in chains for request in chain]
    lost = {head for head in heads if not _is_extended(history, head)}
    if heads and not lost:
        raise InputError("recovery.nothing_lost")
    generation = 1 + max(LedgerRecovery.of(history).generation, *map(generation_of, heads), 0)
    for chain in chains if lost else ():
        explained = _explained(history, chain, lost)
        if explained is not None:
            most, sessions = explained
            recovery = LedgerRecovery(generation, most)
            new = [(recovery.text, key, _cost(head, costs)) for key, head in sessions.items()]
            return new or [_mark(recovery, Guarantee("pure", LEAST_EPSILON, Fraction(0), *RECORDS))]
    # More delta than the limit has: no release fits after it, in any account.
    most_delta = (history.limit.delta + 1) / Fraction(2)
    return [_mark(LedgerRecovery(generation, None), Guarantee("approx", Fraction(1), most_delta, *PARTIES))]


def _is_extended(history: History, head: Checkpoint) -> bool:
    try:
        check_extends(history, head, "")
    except InputError:
        return False
    return True


def _explained(
    history: History, chain: Sequence[HeadRequest], lost: set[Checkpoint]
) -> tuple[int, dict[str, Checkpoint]] | None:
    """Return the number of charges at the end of a chain, and the heads of sessions that the ledger lacks, in order.

    The heads are under the keys of their charges. None where this chain does not explain everything.
    """
    own = LedgerRecovery.of(history).generation
    mine = [request for request in chain if request.head in lost]
    held = [request.head for request in chain if request.head not in lost]
    proven = [head for head in held if generation_of(head) == own]  # of an earlier one the charges alone are here
    last = max(proven, key=lambda head: head.size, default=Checkpoint("", 0, EMPTY_ROOT))
    size = max(last.size, 1)  # the first entry is the limit
    if {request.head for request in mine} != lost or any(e.state != "released" for e in history.entries[size:]):
        return None
    charged, found = charged_keys(history, size), dict[str, Checkpoint]()
    for request in mine:
        head, key = request.head, charge_of(request.head)
        if not is_extension(last.size, last.root, head.size, head.root, request.proof):
            return None
        if charges_in(head) == len(charged) + 1 and key and key not in charged:
            charged.append(key)
            found[key] = head
        elif charges_in(head) != len(charged) or (charged and key not in charged):
            return None
        last = head
    return len(charged), found


def _cost(head: Checkpoint, costs: Mapping[str, Guarantee]) -> Guarantee:
    study = study_of(head) or ""
    if study not in costs:
        raise InputError("recovery.study_missing", study=study)
    return costs[study]


def _mark(recovery: LedgerRecovery, cost: Guarantee) -> Charge:
    """Return a charge that is of no session, so that the ledger states its recovery."""
    return recovery.text, hashlib.sha256(recovery.text.encode()).hexdigest(), cost
