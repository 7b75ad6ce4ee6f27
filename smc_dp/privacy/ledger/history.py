"""History of a ledger, apart from its file: entries in a chain, their totals, and what may come next.

The chain notices a changed, missing or exchanged entry, and another key. It does not notice a chain that was made anew
as a whole, or whose end was cut off: witnesses of its heads do (`head`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

from typing_extensions import override

from smc_dp.core.errors import InputError
from smc_dp.privacy.ledger import composition
from smc_dp.privacy.ledger.composition import EXACT_SUM, Total
from smc_dp.privacy.ledger.entry import ChargeEnd, Entry
from smc_dp.privacy.ledger.guarantee import Guarantee
from smc_dp.privacy.ledger.numbers import (
    delta_rounded_up,
    digits_rounded_down,
    digits_rounded_up,
    to_text,
    without_rounding,
)
from smc_dp.privacy.statement import Adjacency, PrivacyStatement, Unit
from smc_dp.privacy.target import LEAST_DELTA


class BrokenLedgerError(InputError):
    """The entries can be read, and are not what was written."""


class OverBudgetError(InputError):
    """A release would pass the limit."""


class Limit(NamedTuple):
    """Limit of each account."""

    epsilon: Fraction
    delta: Fraction

    @override
    def __str__(self) -> str:
        return f"epsilon {digits_rounded_down(self.epsilon)}" + (
            f", delta {digits_rounded_down(self.delta)}" if self.delta else ""
        )


class Account(NamedTuple):
    """Account with a budget: `RECORDS` for all releases, `PARTIES` for those that protect all records of a party.

    Every release costs single records something, so all count there, as what they guarantee where one is replaced
    (`Guarantee.of_records`): another adjacency or unit gives no second budget. A release that protects parties counts
    in both. What a release that protects records costs a party has no figure, and is not in `PARTIES`.

    Whatever their data sets: a person in this year's table was most likely in last year's, and a table with one row
    more or other public bounds must not have the whole budget again. Guarantees add up all the same when the record
    that is replaced stands in several data sets. A party whose data sets have nobody in common may keep a ledger each.
    """

    unit: Unit
    adjacency: Adjacency


RECORDS, PARTIES = Account("record", "replace"), Account("party", "party")


@dataclass(frozen=True)
class Standing:
    """Standing of an account. `total` is None when no bound holds at the limit's delta; then nothing is `left`."""

    limit: Limit
    total: Total | None

    @property
    def left(self) -> Fraction:
        """The limit's epsilon without the total; negative when the limit is passed.

        The next release may cost another amount: a pure release after a Gaussian one adds more than its epsilon to the
        total, and a further Gaussian one less. Where all are pure and added as they are, a pure release of this
        epsilon fits.
        """
        return self.limit.epsilon - self.total.epsilon if self.total else Fraction(-1)

    @property
    def fits(self) -> bool:
        """True where the limit is kept."""
        return self.left >= 0

    def as_dict(self) -> dict[str, str | None]:
        """Return exact fractions as text, for JSON."""
        return {
            "limit": to_text(self.limit.epsilon),
            "delta": to_text(self.limit.delta),
            "spent": to_text(self.total.epsilon) if self.total else None,
            "left": to_text(max(self.left, Fraction(0))),
            "bound": self.total.how if self.total else None,
        }


@dataclass(frozen=True)
class History:
    """Entries in order; `start` is what the chain begins with."""

    start: str
    entries: tuple[Entry, ...]

    @classmethod
    def read(cls, start: str, rows: Iterable[Mapping[str, Any]]) -> History:
        """Read entries of stored rows; InputError for what is none, BrokenLedgerError for entries that do not link."""
        history = cls(start, tuple(Entry.read(row) for row in rows))
        _check_chain(history)
        _check_order(history)
        return history

    @classmethod
    def begin(cls, start: str, limit: Limit, date: str, party: str | None = None) -> History:
        """Begin with the limit alone, for this party if it is named; InputError unless the limit's epsilon is positive
        and its delta 0 or in [1e-100, 1).
        """
        if limit.epsilon <= 0:
            raise InputError("budget.not_positive")
        if limit.delta != 0 and not LEAST_DELTA <= limit.delta < 1:
            raise InputError("budget.delta_out_of_range", least=float(LEAST_DELTA))
        first = Entry(1, "limit", date, epsilon=limit.epsilon, delta=limit.delta, party=party)
        return cls(start, (first.after(start),))

    @property
    def head(self) -> str:
        """The digest of the last entry, which fixes all the others."""
        return self.entries[-1].digest

    @property
    def limit(self) -> Limit:
        """Limit that the first entry sets."""
        first = self.entries[0]
        if first.epsilon is None or first.delta is None:
            raise ValueError("the first entry is the limit")
        return Limit(first.epsilon, first.delta)

    @property
    def party(self) -> str | None:
        """Party whose ledger it is; None where it was made for no party by name."""
        return self.entries[0].party

    def outcome(self, number: int) -> Entry | None:
        """Return the outcome of the charge with this number, if it has one."""
        return next((entry for entry in self.entries if entry.refers == number), None)

    def last_under(self, run: str) -> Entry | None:
        """Return the last charge under this key, whatever its outcome."""
        made = [entry for entry in self.entries if entry.state == "reserved" and entry.run == run]
        return made[-1] if made else None

    @cached_property
    def charged(self) -> Mapping[Account, list[Entry]]:
        """Charges by account, without refunded ones: one without an outcome counts as spent."""
        refunded = {entry.refers for entry in self.entries if entry.is_refund}
        found: dict[Account, list[Entry]] = {}
        for entry in self.entries:
            for account in costs_by_account(entry.guarantee) if entry.state == "reserved" else ():
                found.setdefault(account, []).extend([] if entry.number in refunded else [entry])
        return found

    @property
    def data_sets(self) -> frozenset[str]:
        """The names of all that something is charged for."""
        return frozenset(entry.dataset or "" for charged in self.charged.values() for entry in charged)

    @property
    def pending(self) -> list[int]:
        """The numbers of the reservations without outcome."""
        settled = {entry.refers for entry in self.entries}
        return [entry.number for entry in self.entries if entry.state == "reserved" and entry.number not in settled]

    def standing(self, account: Account, *further: Guarantee) -> Standing:
        """Return how the account stands, or would stand if `further` were released too."""
        found, exact = self._counted(account)
        costs = [costs_by_account(release)[account] for release in (*found, *further)]
        known = [cost for cost in costs if cost is not None]
        is_known = len(known) == len(costs)
        return Standing(self.limit, composition.total(known, self.limit.delta, exact) if is_known else None)

    def holds_however_chosen(self, account: Account) -> bool:
        """Tell whether the limit of the account holds also where figures were chosen in view of earlier releases."""
        found, exact = self._counted(account)
        known = [costs_by_account(release)[account] for release in found]
        return composition.holds_however_chosen((g for g in known if g is not None), exact)

    def _counted(self, account: Account) -> tuple[list[Guarantee], int | None]:
        """Return the releases that count in an account, and the number of those that come before the switch.

        The first Gaussian reservation is the switch, also where it was refunded. See `composition`.
        """
        reserved = [e for e in self.entries if e.state == "reserved" and account in costs_by_account(e.guarantee)]
        switch = next((e.number for e in reserved if e.kind == "zcdp"), None)
        if switch is None:
            return [e.guarantee for e in self.charged.get(account, [])], None
        refunded = {entry.refers for entry in self.entries if entry.is_refund}
        after = [e for e in reserved if e.number >= switch and e.number not in refunded]
        # A charge from before the switch that is refunded after it still counts where an answer since may be known.
        first = after[0].number if after else len(self.entries)
        in_time = {entry.refers for entry in self.entries[:first] if entry.is_refund}
        before = [e for e in reserved if e.number < switch and e.number not in in_time]
        return [e.guarantee for e in (*before, *after)], len(before)

    def check(self, guarantee: Guarantee) -> None:
        """Raise OverBudgetError when a release with this guarantee would pass the limit."""
        for account, cost in costs_by_account(guarantee).items():
            if not (after := self.standing(account, guarantee)).fits:
                raise _over_budget(self.standing(account), after, cost or guarantee)

    def reservation(
        self, dataset: str, mechanism: str, guarantee: Guarantee, run: str, approval: str | None = None
    ) -> int | None:
        """Return the number of the charge under this key that was not refunded; None if there is none.

        InputError when anything else was reserved under the key, even if it came to nothing: a key means one release.
        InputError too when something was reserved by this approval under another key: it approves of one session.
        """
        refunded = {entry.refers for entry in self.entries if entry.is_refund}
        made = [entry for entry in self.entries if entry.state == "reserved" and entry.run == run]
        for entry in self.entries:
            if approval is not None and entry.approval == approval and entry.run != run:
                raise InputError("ledger.approval_used", number=entry.number)
        for entry in made:
            fields = {
                "data set": entry.dataset == dataset,
                "mechanism": entry.mechanism == mechanism,
                "guarantee": entry.guarantee == guarantee,
            }
            if other := [what for what, same in fields.items() if not same]:
                raise InputError("ledger.same_run_other_release", number=entry.number, what=other[0])
        return next((entry.number for entry in made if entry.number not in refunded), None)

    def reserved(
        self, dataset: str, mechanism: str, guarantee: Guarantee, run: str, date: str, approval: str | None = None
    ) -> Entry:
        """Return the entry that charges a release; OverBudgetError when one of its accounts would pass the limit."""
        self.check(guarantee)
        return self.charge(dataset, mechanism, guarantee, run, date, approval)

    def charge(
        self, dataset: str, mechanism: str, guarantee: Guarantee, run: str, date: str, approval: str | None = None
    ) -> Entry:
        """Return the entry of a charge, whatever the limit."""
        made = Entry(
            len(self.entries) + 1, "reserved", date, None, dataset, guarantee.unit, guarantee.adjacency, mechanism,
            guarantee.kind, guarantee.epsilon, guarantee.delta, guarantee.rho, run, mu=guarantee.mu, approval=approval,
        )  # fmt: skip
        return Entry.read(made.after(self.head).values())

    def settled(self, number: int, state: ChargeEnd, run: str | None, date: str) -> Entry:
        """Return the entry of a charge's outcome; ValueError when there is no such charge, or it has an outcome."""
        if not 1 <= number <= len(self.entries) or self.entries[number - 1].state != "reserved":
            raise ValueError(f"entry {number} is no reservation")
        if self.outcome(number) is not None:
            raise ValueError(f"entry {number} has been settled already")
        made = Entry(len(self.entries) + 1, state, date, refers=number, run=run)
        return Entry.read(made.after(self.head).values())


def costs_by_account(guarantee: Guarantee) -> Mapping[Account, Guarantee | None]:
    """Return the guarantee that a release counts as in each of its accounts; None for more than any limit."""
    return {RECORDS: guarantee.of_records} | ({PARTIES: guarantee} if guarantee.unit == "party" else {})


def account_of(release: Guarantee | PrivacyStatement) -> Account:
    """Return the account that is shown for a release: that of the unit it protects."""
    return PARTIES if release.unit == "party" else RECORDS


def _check_chain(history: History) -> None:
    previous = history.start
    for place, entry in enumerate(history.entries, start=1):
        if (entry.number, entry.previous) != (place, previous):
            raise BrokenLedgerError("ledger.entry_out_of_order", number=place)
        if entry.digest != entry.computed():
            raise BrokenLedgerError("ledger.entry_changed", number=place)
        previous = entry.digest


def _check_order(history: History) -> None:
    """Raise BrokenLedgerError unless the limit comes first and alone, and each outcome once and after its charge."""
    if not history.entries:
        raise BrokenLedgerError("ledger.entry_out_of_order", number=1)
    open_charges = set[int | None]()
    for place, entry in enumerate(history.entries, start=1):
        settles = entry.refers is not None
        if (entry.state == "limit") != (place == 1) or (settles and entry.refers not in open_charges):
            raise BrokenLedgerError("ledger.entry_out_of_order", number=place)
        open_charges.discard(entry.refers)
        if entry.state == "reserved":
            open_charges.add(place)


def _over_budget(standing: Standing, after: Standing, guarantee: Guarantee) -> OverBudgetError:
    spent = standing.total.epsilon if standing.total else standing.limit.epsilon
    fields = {
        "spent": digits_rounded_up(spent),
        "limit": str(standing.limit),
        "left": digits_rounded_down(max(standing.left, Fraction(0))),
    }
    # Of composed releases the difference is no bound for the next one, so the sentence has it for a plain sum alone.
    is_sum = standing.total is None or standing.total.how == EXACT_SUM
    fields["remaining"] = (
        f" Left: {fields['left']}."
        if is_sum
        else " All costs are counted at the delta of the limit, so the total can be less or more than the sum of the "
        "epsilons."
    )
    epsilon, delta = digits_rounded_up(guarantee.epsilon), delta_rounded_up(guarantee.delta)
    if without_rounding(guarantee.delta) > standing.limit.delta:
        return OverBudgetError("budget.other_delta", **fields, epsilon=epsilon, delta=delta)
    fields["at_delta"] = " at this delta" if standing.limit.delta else ""
    fields["after"] = (
        f"epsilon {digits_rounded_up(after.total.epsilon)}"
        if after.total
        else "none, because the deltas add up to more than that of the limit"
    )
    return OverBudgetError(
        "budget.passed", **fields, epsilon=epsilon, with_delta=f", delta {delta}" if guarantee.delta else ""
    )
