"""Recovery of a lost ledger: what its owner has to count as spent, by the heads that its witnesses keep.

The owner has an older copy, or a new ledger. Each head is signed by the owner, names study and session, and says how
many charges the ledger had. All participants signed the study, so what a session cost at most is known: the full charge
of its study, whatever became of it. No witness can add a charge by a word. One that leaves out a head is found by the
number of charges.

What is charged is never less than what was spent up to the largest head:

* A charge is explained if it is in the part of the ledger that a head proves, or if a head is for its session. Where
  fewer charges are explained than a head has, the whole budget counts as spent.
* The order of charges matters around the first Gaussian one (`composition`). Where heads do not fix it, the whole
  budget counts as spent.

If no witness answers, the whole budget counts as spent. What was charged after the largest head is not known here: a
witness that has seen it refuses the recovered ledger (`head.check_extends`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from smc_dp.core.errors import InputError
from smc_dp.privacy.ledger.guarantee import LEAST_EPSILON, Guarantee
from smc_dp.privacy.ledger.head import LedgerRecovery, charge_of, charges_in, check_extends, generation_of, study_of
from smc_dp.privacy.ledger.history import PARTIES, RECORDS, History, Limit
from smc_dp.privacy.ledger.signed_note import Checkpoint

Charge = tuple[str, str, Guarantee]
"""Mechanism, key and guarantee of a charge."""


def lost_charges(history: History, heads: Sequence[Checkpoint], costs: Mapping[str, Guarantee]) -> list[Charge]:
    """Return the charges by which a ledger recovers these heads of its owner; without heads, the whole budget.

    costs: what each study charges, by its digest. InputError where the ledger extends all heads, so nothing is lost,
    and for a study without a cost.
    """
    own = LedgerRecovery.of(history).generation
    lost = [head for head in heads if not _is_extended(history, head)]
    if heads and not lost:
        raise InputError("recovery.nothing_lost")
    generation = 1 + max(own, *map(generation_of, heads), 0)
    if not lost or any(generation_of(head) != own for head in lost):
        return _whole_budget(history.limit, generation)
    known = [head for head in heads if generation_of(head) == own]
    proven = max((head.size for head in known if _is_extended(history, head)), default=1)
    first = _first_heads(known)
    held = {entry.run for entry in history.entries if entry.state == "reserved"}
    proven_keys = {entry.run for entry in history.entries[:proven] if entry.state == "reserved"}
    charges = [charges_in(head) for head in known]
    most = None if None in charges else max(charge for charge in charges if charge is not None)
    beyond = {key: _cost(head, costs) for key, head in first.items() if key not in proven_keys}
    if most is None or most > len(proven_keys | first.keys()) or not _is_ordered(history, proven, first, beyond):
        return _whole_budget(history.limit, generation)
    recovery = LedgerRecovery(generation, most)
    new = [(recovery.text, key, cost) for key, cost in beyond.items() if key not in held]
    return new or [_mark(recovery, Guarantee("pure", LEAST_EPSILON, Fraction(0), *RECORDS))]


def _is_extended(history: History, head: Checkpoint) -> bool:
    try:
        check_extends(history, head, "")
    except InputError:
        return False
    return True


def _first_heads(heads: Iterable[Checkpoint]) -> dict[str, Checkpoint]:
    """Return the first head of each session by the key of its charge, in the order of their charges."""
    found: dict[str, Checkpoint] = {}
    for head in sorted(heads, key=lambda head: charges_in(head) or 0):
        if (key := charge_of(head)) is not None:
            found.setdefault(key, head)
    return found


def _cost(head: Checkpoint, costs: Mapping[str, Guarantee]) -> Guarantee:
    study = study_of(head) or ""
    if study not in costs:
        raise InputError("recovery.study_missing", study=study)
    return costs[study]


def _is_ordered(
    history: History, proven: int, first: Mapping[str, Checkpoint], beyond: Mapping[str, Guarantee]
) -> bool:
    """Return whether the first Gaussian charge stands where it stood, if it is not in the proven part.

    All charges are explained, so heads with different numbers of charges fix the order of those that they are for. A
    charge or a refund since the copy was put back stands before the lost ones here, and came after them.
    """
    since = history.entries[proven:]
    kinds = {*(cost.kind for cost in beyond.values()), *(entry.guarantee.kind for entry in since if entry.kind)}
    if "zcdp" not in kinds or any(entry.kind == "zcdp" for entry in history.entries[:proven]):
        return True
    numbers = [charges_in(first[key]) for key in beyond]
    fixed = kinds == {"zcdp"} or len(set(numbers)) == len(numbers)
    return fixed and all(entry.state == "released" for entry in since)


def _whole_budget(limit: Limit, generation: int) -> list[Charge]:
    """Return a charge with more delta than the limit has, after which no release fits in any account."""
    cost = Guarantee("approx", limit.epsilon, (limit.delta + 1) / Fraction(2), *PARTIES)
    return [_mark(LedgerRecovery(generation, None), cost)]


def _mark(recovery: LedgerRecovery, cost: Guarantee) -> Charge:
    """Return a charge that is of no session, so that the ledger states its recovery."""
    return recovery.text, hashlib.sha256(recovery.text.encode()).hexdigest(), cost
