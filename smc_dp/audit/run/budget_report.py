"""Report the budgets of parties before and after a run."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

from smc_dp.audit.run.budgets import PartyBudget
from smc_dp.privacy.ledger.history import Standing, account_of
from smc_dp.privacy.ledger.numbers import delta_rounded_up, digits_rounded_down, digits_rounded_up

BUDGET_HEADINGS = ("party", "before: spent", "this run", "after: spent", "left", "limit")
LEDGER_NOTE = (
    "Each as its party's ledger has it. The account of records counts every release, as what it guarantees where one "
    "record is replaced. No ledger shows whether it is the only one for these rows."
)
_OUTCOMES = {"released": "charged", "reserved": "charged, without an outcome", "refunded": "refunded"}


def budget_row(found: PartyBudget) -> tuple[str, ...]:
    """Return a row under `BUDGET_HEADINGS`."""
    charged = found.charged
    if charged is None:
        why = "no ledger was given" if found.head is None else "no charge for this run in the ledger"
        return (found.party, "", why, "", "", "")
    left, cost = digits_rounded_down(max(charged.after.left, Fraction(0))), charged.guarantee
    at = f" at delta {delta_rounded_up(cost.delta)}" if cost.delta else ""
    said = f"{_OUTCOMES[charged.outcome]}: epsilon {digits_rounded_up(cost.epsilon)}{at}"
    return (found.party, _spent(charged.before), said, _spent(charged.after), left, str(charged.after.limit))


def budget_sentence(found: PartyBudget) -> str:
    """Return the figures of a row as a sentence, without the party's name."""
    _, before, said, after, left, limit = budget_row(found)
    if found.charged is None:
        return f"{said}."
    doubts = "".join(f" {doubt}" for doubt in found.charged.doubts)
    account = {"record": "records", "party": "parties"}[account_of(found.charged.guarantee).unit]
    return (
        f"{said}. In the account of {account}, all at the delta of the ledger: {before} spent before this run, {after} "
        f"after it, {left} left of {limit}.{doubts}"
    )


def budget_share(found: PartyBudget) -> str:
    """Return how much of the budget was spent, in percent, as a sentence without a symbol or the party's name."""
    charged = found.charged
    if charged is None:
        return budget_sentence(found)
    doubts = " This entry is in doubt: see the annex." if charged.doubts else ""
    before, after = map(_percent, (charged.before, charged.after))
    return f"{before} of the budget was spent before this run, {after} after it; {_OUTCOMES[charged.outcome]}.{doubts}"


def _percent(standing: Standing) -> str:
    """Return the share of the limit's epsilon that is spent, rounded up."""
    if standing.total is None:
        return "more than all"
    return f"{math.ceil(100 * standing.total.epsilon / standing.limit.epsilon)} %"


def group_budgets(
    budgets: Sequence[PartyBudget], tell: Callable[[PartyBudget], str]
) -> Iterator[tuple[list[str], str]]:
    """Yield each sentence once, with all parties that it is true of; first what somebody should look into."""
    parties: dict[str, list[str]] = {}
    for found in sorted(budgets, key=_worst):
        parties.setdefault(tell(found), []).append(found.party)
    yield from ((names, said) for said, names in parties.items())


def _worst(found: PartyBudget) -> tuple[bool, Fraction]:
    """Return a key that sorts doubted entries before all, then missing ones, then by what is left."""
    if found.charged is None:
        return True, Fraction(-2)
    return not found.charged.doubts, found.charged.after.left


def _spent(standing: Standing) -> str:
    return "more than the limit's delta" if standing.total is None else digits_rounded_up(standing.total.epsilon)
