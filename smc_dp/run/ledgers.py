"""Ledgers of all parties of a simulation, each charged before the first message.

Every party is charged what the privacy statement says. The statement is about one record of any party, so it holds for
each of them; for parties with more rows than the smallest it is more than they lose, but how much more would show the
sizes. A statement about all records of a party charges another account than that of single records. It holds against
the adversary that it names: the party whose noise was chosen, and Charlie with any other, are outside, and a ledger has
no charge for what they learn about the rest. That party's own records are covered by its noise, as all are.

A party that stops before its own share has left has revealed nothing (protocols/pathak2010/NOTES.md, [N8]: all shares
but one are uniform), so an abort refunds its charge. A share that has left stays charged: see `budget_charge`. After
any other failure nobody knows, and all reservations stay; one without an outcome counts as spent. In a secure sum a
masked input is what leaves: its party is charged before, and refunded if it holds the proof, signed by enough of the
others, that the sum is one without it.

A session of several sums is one entry, charged as a whole and once. A party that took part in some of them only has
paid for all, which is more than it lost: the cost of a single sum is not kept apart.

The same rows get no second budget in one folder under another name or other bounds: see `duplicate_data` and its
limits. A ledger that was made here names its party, so files that were exchanged are refused; a ledger of an earlier
version, or of `ledger init`, names nobody. A run that guarantees nothing (kind `none`: made from a seed, or as
published) is refused: no finite charge would be true, and an infinite one would end the account for a trial.
"""

from __future__ import annotations

import hashlib
import string
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path

from protocols.errors import ProtocolError
from smc_dp.core import reading
from smc_dp.core.errors import Fault, InputError, InputFault, plain_name
from smc_dp.data.fingerprint import fingerprint_data
from smc_dp.privacy.ledger.guarantee import Guarantee
from smc_dp.privacy.ledger.history import Account, History, Limit, Standing, account_of
from smc_dp.privacy.ledger.ledger import Ledger
from smc_dp.run import duplicate_data
from smc_dp.run.agreement import Agreement
from smc_dp.run.budget_charge import OpenCharge
from smc_dp.run.duplicate_data import RowsAsRead

ABORTS: tuple[type[BaseException], ...] = (InputError, ProtocolError, KeyboardInterrupt, SystemExit)
"""Errors after which nothing more leaves a party: wrong input, an abort, Ctrl-C and SIGTERM."""
REFUNDED = "nothing was revealed, and no budget charged"
KEPT = "something may have been revealed: the run counts as spent in every ledger"
_LONGEST_FILE_NAME = 200
_AS_THEY_ARE = (string.ascii_lowercase + string.digits + "-_").encode()


@dataclass(frozen=True)
class Ledgers:
    """Folder with one ledger for each party; a missing one is made with `limit`, and is an error without.

    has_usual_delta: nobody stated the limit's delta. It is then that of the runs (`for_runs`), and a ledger that is
    there may have another.
    """

    folder: Path
    limit: Limit | None = None
    has_usual_delta: bool = False

    def for_runs(self, agreements: Iterable[Agreement]) -> Ledgers:
        """Return the ledgers with the delta that these runs ask for, where none was stated; 0 if all are pure."""
        if self.limit is None or not self.has_usual_delta:
            return self
        deltas = (agreement.target.delta for agreement in agreements if agreement.statement.delta)
        return replace(self, limit=Limit(self.limit.epsilon, max(deltas, default=Fraction(0))))

    def path(self, party: str) -> Path:
        """Return the path of a party's ledger: a to z, digits, - and _ of its name as they are, any other byte as %XX.

        Two names never share a file, even where the system does not tell capitals apart, and none leaves the folder.
        """
        name = "".join(chr(b) if b in _AS_THEY_ARE else f"%{b:02X}" for b in party.encode())
        if not 0 < len(name) <= _LONGEST_FILE_NAME:
            raise InputError("ledger.name_too_long", party=plain_name(party))
        return self.folder / f"{name}{duplicate_data.ENDING}"

    def check(self, parties: Mapping[str, RowsAsRead], guarantee: Guarantee) -> None:
        """Raise what `reserve` would raise now, so that nobody trains in vain; nothing is written."""
        for party in parties:
            if self.limit is not None and not self.path(party).exists():
                with _named(party):
                    History.begin("", self.limit, "").check(guarantee)
            else:
                with self._opened(party) as ledger:
                    ledger.check(guarantee)
        key = duplicate_data.read_rows_key(self.folder)
        if key is not None:  # without one no ledger here knows any rows
            self._refuse_elsewhere(
                key, parties, {party: fingerprint_data(key, held) for party, held in parties.items()}
            )

    def reserve(
        self, parties: Mapping[str, RowsAsRead], mechanism: str, guarantee: Guarantee, run: str
    ) -> Reservations:
        """Charge every party for its rows, as they were read, or, whatever stops it, nobody.

        `run`: the key of a new release; see `ledger.run_key`. Raises InputError, which names the first party whose
        limit would be passed, with what it has left, or whose rows are charged in another ledger already.
        """
        names: dict[str, str] = {}
        reserved = Reservations(account_of(guarantee), {}, had_charges=self._had_charges())
        with accounted(reserved, harmless=(BaseException,)):
            for party, held in parties.items():
                with self._opened(party) as ledger:
                    _refuse_known(ledger, run)
                    key = duplicate_data.make_rows_key(self.folder)
                    names[party] = fingerprint_data(key, held)
                    number = ledger.reserve(names[party], mechanism, guarantee, run)
                    reserved.entries[party] = ledger.path, number
            # After the charge: of two runs at once, one sees the other.
            self._refuse_elsewhere(duplicate_data.make_rows_key(self.folder), parties, names)
        return reserved

    def _refuse_elsewhere(self, key: bytes, parties: Mapping[str, RowsAsRead], names: Mapping[str, str]) -> None:
        own = {party: self.path(party) for party in parties}
        duplicate_data.refuse_duplicates(self.folder, key, own, parties, names)

    def _had_charges(self) -> bool:
        """Return whether something was charged here before the folder had a key."""
        keyless = self.folder.is_dir() and duplicate_data.read_rows_key(self.folder) is None
        return keyless and duplicate_data.has_charges(self.folder)

    @contextmanager
    def _opened(self, party: str) -> Iterator[Ledger]:
        path = self.path(party)
        with _named(party):
            if not path.exists():
                self._make(path, party)
            with Ledger.open(path) as ledger:
                held, owner = (history := ledger.history()).limit, history.party
                if owner not in (None, party):
                    raise InputError("ledger.of_another_party", path=str(path), owner=plain_name(owner or ""))
                if not self._allows(held):
                    raise InputError("ledger.other_limit", path=str(path), held=str(held), got=str(self.limit))
                yield ledger

    def _allows(self, held: Limit) -> bool:
        if self.limit is None or self.has_usual_delta:
            return self.limit is None or held.epsilon == self.limit.epsilon
        return held == self.limit

    def _make(self, path: Path, party: str) -> None:
        if self.limit is None:
            raise InputError("ledger.missing", path=str(path))
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise InputError("folder.cannot_be_made", folder=str(self.folder), why=error.strerror) from None
        try:
            Ledger.create(path, *self.limit, party).close()
        except InputError:
            if not path.exists():  # else another process was faster
                raise


@dataclass(frozen=True)
class Reservations:
    """Reservations of one run in the parties' ledgers, and what has left of each party.

    `entries`: file of the ledger and number of the entry, by party. `charges`: of each party of which something has
    left; the others have revealed nothing. `had_charges`: the folder had charges before it had a key for rows.
    """

    account: Account
    entries: dict[str, tuple[Path, int]]
    charges: dict[str, OpenCharge] = field(default_factory=dict)
    had_charges: bool = False

    @property
    def remarks(self) -> tuple[Fault, ...]:
        """Warnings about the ledgers for the person who started the run."""
        unknown = InputFault("ledgers.rows_unknown_before", {"file": duplicate_data.KEY_FILE})
        return (unknown,) if self.had_charges else ()

    def leaving(self, name: str, label: str) -> None:
        """Note that something leaves under this label: the reservation stays, unless that is taken back."""
        self.charges[name] = self.charge(name).leaving(label)

    def disowned(self, name: str, label: str) -> None:
        """Note the proof that what had left under this label is of no use to anybody, and costs nothing."""
        self.charges[name] = self.charge(name).disowned(label)

    def charge(self, name: str) -> OpenCharge:
        """Return the charge of this participant, with what has left."""
        return self.charges.get(name, OpenCharge())

    def has_left(self, party: str) -> bool:
        """Return whether anything left of this party that counts."""
        return bool(self.charge(party).standing)

    def refund(self) -> list[str]:
        """Refund the parties of which nothing has left; return those whose ledger cannot be written to."""
        charged = []
        for party in self.unreleased:
            path, number = self.entries[party]
            try:
                with Ledger.open(path) as ledger:
                    ledger.settle(number, "refunded")
            except InputError:
                charged.append(party)
        return charged

    @property
    def unreleased(self) -> list[str]:
        """Parties whose share has not left."""
        return [party for party in self.entries if not self.has_left(party)]

    def released(self, release: Path, members: Collection[str]) -> dict[str, Standing]:
        """Enter the release in this file, made of its members' contributions; return the standing of each account.

        A party that is no member is refunded if nothing of it has left; else it stays charged.
        """
        digest = hashlib.sha256(reading.read_file(release)).hexdigest()
        standings = {}
        for party, (path, number) in self.entries.items():
            with _named(party), Ledger.open(path) as ledger:
                if end := self.charge(party).end(party in members):
                    ledger.settle(number, end, digest if end == "released" else None)
                standings[party] = ledger.history().standing(self.account)
        return standings


@contextmanager
def accounted(
    reserved: Reservations | None, harmless: tuple[type[BaseException], ...] = (), run: str = ""
) -> Iterator[None]:
    """Add a note of its cost to any error; one of a `harmless` kind refunds the parties whose share has not left.

    `run`: what the note calls the run, where the error is of another one.
    """
    try:
        yield
    except BaseException as error:
        if reserved is not None and reserved.entries:
            aborted = isinstance(error, harmless) and reserved.unreleased
            note = _refund_note(reserved, reserved.refund()) if aborted else KEPT
            error.add_note(f"{run}: {note}" if run else note)
        raise


def _refund_note(reserved: Reservations, charged: Sequence[str]) -> str:
    left = [party for party in reserved.entries if reserved.has_left(party)]
    if not left and not charged:
        return REFUNDED
    unwritten = f"the ledgers of {_names(charged)} cannot be written to: there it counts as spent"
    if not left:
        return f"nothing was revealed, but {unwritten}"
    spared = _names(reserved.unreleased)
    said = f"the shares of {_names(left)} had left: there the run counts as spent; those of {spared} had not"
    return f"{said}, but {unwritten}" if charged else f"{said}, and no budget is charged there"


def _names(parties: Iterable[str]) -> str:
    return ", ".join(map(plain_name, parties))


def _refuse_known(ledger: Ledger, run: str) -> None:
    """Raise an InputError for a reservation that was there before: it is not this run's to refund."""
    known = [entry.number for entry in ledger.history().entries if entry.state == "reserved" and entry.run == run]
    if known:
        raise InputError("ledger.run_known", path=str(ledger.path), entry=known[0])


@contextmanager
def _named(party: str) -> Iterator[None]:
    try:
        yield
    except InputError as error:
        raise error.within(f"party {plain_name(party)}") from None
