"""Report a ledger: its limit, what is spent and left in each account, its entries, and the checks of its chain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from fractions import Fraction

from smc_dp.core.errors import plain_name
from smc_dp.pages.blocks import PageBlock, PageTable, Prose, coded_prose
from smc_dp.privacy.ledger.composition import EXACT_SUM
from smc_dp.privacy.ledger.head import Seen
from smc_dp.privacy.ledger.history import PARTIES, RECORDS, Account, History, Standing
from smc_dp.privacy.ledger.numbers import delta_rounded_up, digits_rounded_down, digits_rounded_up

_HEADINGS = ("entry", "date", "state", "outcome of", "data set", "mechanism", "kind", "epsilon", "delta", "run")
_SHOWN = 16  # digits of a digest
_COUNTED = {
    RECORDS: "how much each release may reveal about any one record",
    PARTIES: "releases that protect all records of a party; the account of records counts them too",
}


def budget_blocks(standings: Mapping[str, Standing], account: Account) -> Iterator[Prose]:
    """Yield what each party has left in this account, and that there may be others."""
    for party, standing in standings.items():
        yield Prose(f"Budget of {plain_name(party)}: {standing_sentence(standing)}")
    if standings:
        yield Prose(f"This counts {_COUNTED[account]}.")


def blocks(history: History) -> Iterator[PageBlock]:
    """Yield the limit, what is charged to each account, and every entry."""
    yield Prose(f"Limit: {history.limit}" + ("" if history.charged else "; nothing has been charged"))
    for account in history.charged:
        yield Prose(_account(account, history))
    if history.entries:
        yield PageTable("Entries", _HEADINGS, tuple(_entries(history)), numbers=(0, 3, 7, 8))
    yield Prose(
        f"Head (digest of all entries): {history.head}. Keep it elsewhere: with it you can tell later whether entries "
        "are missing."
    )


def _entries(history: History) -> Iterator[tuple[str, ...]]:
    """Yield a row of text under `_HEADINGS` for every entry."""
    for e in history.entries:
        epsilon = "" if e.epsilon is None else digits_rounded_up(e.epsilon)
        delta = "" if e.delta is None else delta_rounded_up(e.delta)
        texts = ((e.dataset or "")[:_SHOWN], e.mechanism or "", e.kind or "")
        of = "" if e.refers is None else str(e.refers)
        state = "refunded" if e.is_refund else e.state
        yield str(e.number), e.date, state, of, *texts, epsilon, delta, (e.run or "")[:_SHOWN]


def check_blocks(history: History) -> Iterator[Prose]:
    """Yield the checks of a ledger whose entries link: the chain, every account against the limit, open entries."""
    yield coded_prose("ledger.chain_holds", entries=len(history.entries), head=history.head)
    for account in history.charged:
        code = "ledger.within_limit" if history.standing(account).fits else "ledger.limit_passed"
        yield coded_prose(code, account=_account(account, history))
    yield from _open_entries(history)


def recovery_blocks(history: History) -> Iterator[Prose]:
    """Yield every account of a ledger that was recovered, and its open entries.

    The charge of a whole budget is above the limit on purpose, so this is no check against the limit.
    """
    for account in history.charged:
        yield Prose(_account(account, history))
    yield from _open_entries(history)


def _open_entries(history: History) -> Iterator[Prose]:
    if history.pending:
        yield coded_prose("ledger.entry_without_outcome", entries=history.pending)


def witness_block(history: History, witness: str, seen: Seen | None) -> Prose:
    """Return what a witness has seen of a ledger that extends it, if it has cosigned anything."""
    if seen is None:
        return coded_prose("head.not_cosigned", name=witness)
    when = f"{datetime.fromtimestamp(seen.time, UTC):%Y-%m-%d %H:%M} UTC"
    return coded_prose("head.cosigned", name=witness, seen=seen.entries, entries=len(history.entries), time=when)


def _account(account: Account, history: History) -> str:
    """Return an account, and how it stands."""
    of = {RECORDS: "records (one row of a party replaced)", PARTIES: "whole parties (all rows of one replaced)"}
    said = f"Account of {of[account]}: {standing_sentence(history.standing(account))}"
    if not history.holds_however_chosen(account):
        said += ", if no figure was chosen in view of an earlier release: an approximate one came after a Gaussian one"
    if any(entry.kind == "zcdp" for entry in history.charged[account]):
        said += ". This way of adding up is made for Gaussian noise: a release with delta 0, such as one of prr_mean, "
        said += "is charged more than its epsilon"
    return said


def standing_sentence(standing: Standing) -> str:
    """Return what is spent and what is left, in a sentence."""
    if standing.total is None:
        return f"the whole of {standing.limit} is spent: the delta of the charges exceeds that of the limit"
    spent = f"{digits_rounded_up(standing.total.epsilon)} spent of {standing.limit}"
    if standing.total.how == EXACT_SUM:
        return f"{spent}; {digits_rounded_down(max(standing.left, Fraction(0)))} left"
    # What is left is no difference: several such releases cost less together than their sum.
    return f"{spent}, added up by {standing.total.how}"
