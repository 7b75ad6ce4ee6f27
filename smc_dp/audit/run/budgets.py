"""Budget before and after: each party's ledger when this run was charged to it, as the ledger says.

A ledger is a stranger's file here: its chain is checked, and nothing is written to it. Beside it may lie a head that
its owner signed, `NAME.head` or `NAME.cosigned`: the ledger has to extend it, so no older copy is shown. No file can
say whether it is the only one that its owner keeps.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from smc_dp.audit.run.check import make_fault
from smc_dp.audit.run.run_summary import AuditedRun
from smc_dp.core.errors import Fault, InputError, plain_name
from smc_dp.privacy.ledger import export
from smc_dp.privacy.ledger.entry import Entry
from smc_dp.privacy.ledger.guarantee import Guarantee
from smc_dp.privacy.ledger.head import HeadRequest, check_extends, verify_head
from smc_dp.privacy.ledger.history import History, Standing, account_of
from smc_dp.privacy.ledger.ledger import RELEASED, run_key
from smc_dp.run.budget_charge import charge_of_run
from smc_dp.run.ledgers import Ledgers
from smc_dp.run.release import RELEASE

ChargeOutcome: TypeAlias = Literal["released", "reserved", "refunded"]
_EXPORT = ".json"
_HEADS = (".head", ".cosigned")


@dataclass(frozen=True)
class ChargedRun:
    """Run in one ledger: the entry's number and outcome, the account before and after, and doubts about the entry."""

    entry: int
    outcome: ChargeOutcome
    guarantee: Guarantee
    before: Standing
    after: Standing
    doubts: tuple[Fault, ...] = ()


@dataclass(frozen=True)
class PartyBudget:
    """Ledger of a party: the digest of its last entry, None without a ledger; its charge, None without one.

    `signed`: number of entries in the largest head that the party signed and the ledger extends, None without one.
    """

    party: str
    head: str | None = None
    charged: ChargedRun | None = None
    signed: int | None = None


def read_budgets(folder: Path, audited: AuditedRun) -> tuple[PartyBudget, ...]:
    """Read the charge of this run in the ledgers of a folder, or in exports of them, each found by its party's name.

    Raises InputError, naming the party, for a ledger that cannot be read or does not hold together, and where the
    folder has none of any party.
    """
    if not folder.is_dir():
        raise InputError("ledgers.no_folder", folder=str(folder))
    paths = {party: _path(folder, party) for party in audited.parties}
    if not any(paths.values()):
        first = plain_name(audited.parties[0])
        raise InputError("ledgers.none", folder=str(folder), first=first)
    return tuple(_budget(party, path, audited) for party, path in paths.items())


def _path(folder: Path, party: str) -> Path | None:
    ledger = Ledgers(folder).path(party)
    there = [path for path in (ledger, ledger.with_suffix(_EXPORT)) if os.path.lexists(path)]
    if len(there) > 1:
        raise InputError("ledgers.ledger_and_export", folder=str(folder), party=plain_name(party))
    return there[0] if there else None


def _budget(party: str, path: Path | None, audited: AuditedRun) -> PartyBudget:
    if path is None:
        return PartyBudget(party)
    try:
        history = export.read_history(path)
        signed = _signed_entries(history, party, path, bytes.fromhex(audited.identities[party]))
    except InputError as error:
        raise error.within(f"party {plain_name(party)}") from None
    return PartyBudget(party, history.head, find_charge(history, audited), signed)


def _signed_entries(history: History, party: str, path: Path, owner: bytes) -> int | None:
    """Return the entries in the largest signed head beside a ledger; InputError unless it extends all of them."""
    sizes = list[int]()
    for beside in filter(os.path.lexists, map(path.with_suffix, _HEADS)):
        head = verify_head(HeadRequest.read_file(beside).note, owner)
        check_extends(history, head, plain_name(party))
        sizes.append(head.size)
    return max(sizes, default=None)


def find_charge(history: History, audited: AuditedRun) -> ChargedRun | None:
    """Return the charge of this run in a ledger, None where it never was charged."""
    entry = history.last_under(run_key(bytes.fromhex(audited.session), RELEASED))
    if entry is None:
        return None
    end, account = history.outcome(entry.number), account_of(entry.guarantee)
    outcome: ChargeOutcome = "reserved" if end is None else "refunded" if end.is_refund else "released"
    before = _until(history, entry.number - 1).standing(account)
    after = before if outcome == "refunded" else _until(history, entry.number).standing(account)
    doubts = tuple(_doubts(entry, end, audited))
    return ChargedRun(entry.number, outcome, entry.guarantee, before, after, doubts)


def _until(history: History, number: int) -> History:
    """Return the ledger when it had so many entries."""
    return History(history.start, history.entries[:number])


def _doubts(entry: Entry, end: Entry | None, audited: AuditedRun) -> Sequence[Fault]:
    found = []
    if audited.release is not None and _figures(entry.guarantee) != _figures(_release_charge(audited)):
        found.append(make_fault("entry.other_price"))
    if end is not None and end.state == "released" and end.run != audited.files.get(RELEASE):
        found.append(make_fault("entry.other_release"))
    return found


def _release_charge(audited: AuditedRun) -> Guarantee | None:
    """Return the cost of the release; None where it guarantees nothing."""
    try:
        return None if audited.release is None else charge_of_run(audited.release.agreement)
    except InputError:
        return None


def _figures(priced: Guarantee | None) -> Sequence[object]:
    """Return the charged figures; entries from before there was a mu have none."""
    return () if priced is None else (priced.kind, priced.epsilon, priced.delta, priced.unit, priced.adjacency)
