"""What a person reads of a ledger."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from smc_dp.core.errors import plain_name
from smc_dp.privacy.ledger.history import Account, History, Standing
from smc_dp.privacy.ledger.numbers import at_least, at_most

HEADINGS = ("entry", "date", "state", "of", "data set", "mechanism", "kind", "epsilon", "delta", "run")
NUMBERS = ("entry", "of", "epsilon", "delta")
_SHOWN = 16  # digits of a digest


def budgets(standings: Mapping[str, Standing], account: Account) -> Iterator[str]:
    """What each party has left in this account, a line for each, and that there may be others."""
    for party, standing in standings.items():
        yield f"Budget of {plain_name(party)}: {sentence(standing)}"
    if standings:
        yield (
            f"This counts unit {account.unit}, adjacency {account.adjacency}: releases that protect otherwise have "
            "accounts of their own, each up to the limit, and what they cost here is not added."
        )


def accounts(history: History) -> Iterator[str]:
    """The limit, and what is charged to each account and for each data set."""
    yield f"Limit: {history.limit}" + ("" if history.charged else "; nothing has been charged")
    for account in history.charged:
        yield standing_of(account, history)
        for name, alone in history.by_data_set(account).items():
            spent = "more than the limit's delta" if alone.total is None else at_most(alone.total.epsilon)
            yield f"  data set {name[:_SHOWN]}: {spent}"
        if left_out := history.unshown(account):
            yield f"  and {left_out:,} data sets more, each with its own entries below"


def entries(history: History) -> Iterator[tuple[str, ...]]:
    """A row of text under `HEADINGS` for every entry."""
    for e in history.entries:
        numbers = ("" if v is None else at_most(v) for v in (e.epsilon, e.delta))
        texts = ((e.dataset or "")[:_SHOWN], e.mechanism or "", e.kind or "")
        of = "" if e.refers is None else str(e.refers)
        yield str(e.number), e.date, e.state, of, *texts, *numbers, (e.run or "")[:_SHOWN]


def verified(history: History) -> Iterator[str]:
    """What was checked of a ledger whose entries link: the chain, every account against the limit, open entries."""
    yield f"chain holds: {len(history.entries)} entries, head {history.head}"
    for account in history.charged:
        kept = history.standing(account).fits
        yield standing_of(account, history) + ("" if kept else ": FAILED, the limit is passed")
    if history.pending:
        yield f"without outcome, counted as spent: entries {', '.join(map(str, history.pending))}"


def standing_of(account: Account, history: History) -> str:
    """An account, and how it stands."""
    return f"unit {account.unit}, adjacency {account.adjacency}: {sentence(history.standing(account))}"


def sentence(standing: Standing) -> str:
    """What is spent and what is left."""
    if standing.total is None:
        return f"more than the limit's delta spent of {standing.limit}; nothing left"
    left = at_least(max(standing.left, Fraction(0)))
    return f"{at_most(standing.total.epsilon)} spent of {standing.limit}; {left} left ({standing.total.how})"
