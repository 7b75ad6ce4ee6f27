"""Ledger of one site, a file as `smc-dp ledger init` makes it.

Every method takes the id of the session, and may be called again after a crash at any point: what was done is found
done, and nothing is written. Other ledgers of the party are not known here.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from smc_dp.core import reading
from smc_dp.core.errors import FieldValue, InputError, InputFault
from smc_dp.data.fingerprint import fingerprint_data
from smc_dp.privacy.ledger.entry import ChargeEnd, Entry
from smc_dp.privacy.ledger.head import is_recovered_since
from smc_dp.privacy.ledger.history import History
from smc_dp.privacy.ledger.ledger import RELEASED, Ledger, run_key
from smc_dp.run.agreement import Agreement
from smc_dp.run.budget_charge import GivenUp, OpenCharge, charge_of_run
from smc_dp.run.duplicate_data import RowsAsRead


@dataclass(frozen=True)
class SiteLedger:
    """Ledger in this file; every method raises InputError for a file that is none."""

    path: Path

    def check(self, agreement: Agreement) -> None:
        """Raise what `reserve` would raise now for a new session; nothing is written."""
        charge = charge_of_run(agreement)
        with Ledger.open(self.path) as ledger:
            ledger.check(charge)

    def has(self, session_id: bytes) -> bool:
        """Return whether this session was ever charged here, whatever became of it."""
        with Ledger.open(self.path) as ledger:
            return ledger.history().last_under(run_key(session_id, RELEASED)) is not None

    def reserve(self, session_id: bytes, agreement: Agreement, held: RowsAsRead, approval: bytes | None = None) -> int:
        """Charge the session for the rows, as they were read, before its first message; return the number of the entry.

        A site calls this whenever its program begins, and is charged once. Raises InputError for a session that was
        given up, for other rows or another charge than before, beyond the limit, and for an `approval` that has served
        another session: a site that lost its state approves anew.
        """
        key = run_key(session_id, RELEASED)
        with Ledger.open(self.path) as ledger:
            history = ledger.history()
            known = history.last_under(key)
            ended = known and history.outcome(known.number)
            if known and ended and ended.is_refund:
                raise self._refused("ledger.session_given_up", number=known.number)
            name = ledger.dataset(partial(fingerprint_data, held=held))
            digest = None if approval is None else hashlib.sha256(approval).hexdigest()
            return ledger.reserve(name, agreement.mechanism, charge_of_run(agreement), key, digest)

    def refund(self, session_id: bytes, given_up: GivenUp) -> None:
        """Refund the session that was given up, if it was charged; InputError where its release was seen before.

        A charge from before a recovery of the ledger stays: what the lost ledger knew of its release is not known.
        """
        with Ledger.open(self.path) as ledger:
            history = ledger.history()
            if entry := history.last_under(run_key(session_id, RELEASED)):
                self._settle(ledger, history, entry, "refunded", None)

    def released(self, session_id: bytes, release: Path, charge: OpenCharge, *, member: bool) -> None:
        """Enter the release in this file, with the party's contribution if it is a `member`.

        Raises InputError where the session was not charged, was given up, or has another release.
        """
        digest = hashlib.sha256(reading.read_file(release)).hexdigest()
        with Ledger.open(self.path) as ledger:
            history = ledger.history()
            entry = history.last_under(run_key(session_id, RELEASED))
            if entry is None:
                raise self._refused("ledger.session_unknown")
            if end := charge.end(member):
                self._settle(ledger, history, entry, end, digest if end == "released" else None)

    def _refused(self, code: str, **fields: FieldValue) -> InputError:
        return InputError(InputFault(code, fields, f"ledger {self.path}: "))

    def _settle(self, ledger: Ledger, history: History, entry: Entry, end: ChargeEnd, digest: str | None) -> None:
        known = history.outcome(entry.number)
        if known is None and end != "released" and is_recovered_since(history, entry.number):
            return
        if known is None:
            ledger.settle(entry.number, end, digest)
        elif known.state != end:
            raise self._refused("ledger.other_outcome", number=entry.number, state=known.state, wanted=end)
        elif known.run != digest:
            raise self._refused("ledger.other_release", number=entry.number)
