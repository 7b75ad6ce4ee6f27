"""What a site's own rows, book, key and terms say to a study: looked at here, before anything is sent, all at once.

Nothing that is found leaves the site: an error tells the site's own people what a cell holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from protocols.arithmetic.rng import Stream
from smc_dp.core.documents import UnfitError
from smc_dp.core.errors import InputError
from smc_dp.data.bounds import Bounds
from smc_dp.data.federation import Rows
from smc_dp.data.file_form import FileForm
from smc_dp.data.preprocess import encode, faults, labelled_rows
from smc_dp.data.table import Table
from smc_dp.data.tables import read_table
from smc_dp.deploy.study import JointStudy
from smc_dp.deploy.terms import OwnTerms
from smc_dp.run.agreement import Agreement
from smc_dp.run.auxiliary import AuxiliaryRows
from smc_dp.run.identities import read_key
from smc_dp.run.party import OwnPart
from smc_dp.run.site_ledger import OwnLedger

NO_TERMS = "terms: wanted a file of the site's own terms, without which no party takes part, got none"


@dataclass(frozen=True, eq=False, repr=False)
class OwnRows:
    """A party's rows, as they were read and as they enter the training."""

    table: Table
    rows: Rows


@dataclass
class Fit:
    """What was looked at: every fault, who looks, and what was read on the way; of what was not, None."""

    faults: list[str] = field(default_factory=list)
    name: str | None = None
    agreement: Agreement | None = None
    own: OwnRows | None = field(default=None, repr=False)

    @contextmanager
    def looking(self, where: str = "") -> Iterator[None]:
        """A step whose faults are kept, and after which others follow. `where`: what each of several begins with."""
        try:
            yield
        except InputError as error:
            said = [f"{where}{fault}" for fault in error.faults] if isinstance(error, UnfitError) else [str(error)]
            self.faults += [fault for fault in said if fault not in self.faults]

    def require(self, where: str) -> None:
        """Raises `UnfitError` with every fault, if there is any."""
        if self.faults:
            raise UnfitError(where, self.faults)


@dataclass(frozen=True)
class OwnFiles:
    """Where a site's data and its book of releases lie, and the public rows that all have, as far as it has them.

    A site that has `begun` was looked at before, and its book may be charged for the study by now.
    """

    data: Path | None = None
    ledger: Path | None = None
    auxiliary: Path | None = None
    begun: bool = False


def look_at_files(study: JointStudy, key: Path, terms: Path | None, files: OwnFiles) -> Fit:
    """As `look`, where the key and the terms are still to be read: what is wrong with them hides nothing else."""
    first, public, own = Fit(), None, None
    with first.looking():
        public = read_key(key).public
    if terms is not None:
        with first.looking(f"terms {terms}: "):
            own = OwnTerms.read(terms)
    found = look(study, public, own, files)
    said = [fault for fault in found.faults if fault != NO_TERMS or terms is None]
    found.faults = first.faults + said
    return found


def look(study: JointStudy, public: bytes | None, terms: OwnTerms | None, files: OwnFiles) -> Fit:
    """Whether whoever holds this identity can take part with this book, these rows and these terms: it reads, no more.

    Charlie has neither rows nor a book, and needs no terms. The terms may name a party's data. Without an identity
    whoever has data or a book is looked at as some party.
    """
    found = look_at_terms(study, public, terms, files.auxiliary)
    if found.name in study.parties or (public is None and (files.data or files.ledger)):
        _look_at_party(found, study.bounds, terms, files.data)
        _look_at_ledger(found, files)
    return found


def look_at_terms(
    study: JointStudy, public: bytes | None, terms: OwnTerms | None, auxiliary: Path | None = None
) -> Fit:
    """As `look`, at the key and the terms alone: what an approval needs."""
    found = Fit()
    if public is not None:
        with found.looking():
            found.name = participant(study, public)
    with found.looking():
        found.agreement = agreement_of(study, auxiliary)
    if terms is not None and found.agreement is not None:
        found.faults += terms.faults_of(study, found.agreement)
    if terms is None and found.name in study.parties:
        found.faults.append(NO_TERMS)
    return found


def agreement_of(study: JointStudy, auxiliary: Path | None) -> Agreement:
    """What a run agrees on, with the public rows in this file, if the study has any."""
    return study.agreement(None if auxiliary is None else read_auxiliary(auxiliary, study.bounds))


def participant(study: JointStudy, public: bytes) -> str:
    """Who of the study has this identity; InputError when nobody has."""
    for name, key in study.identities.items():
        if key == public:
            return name
    raise InputError(f"key: belongs to the public key {public.hex()}, which nobody has in the study")


def read_rows(path: Path, bounds: Bounds, form: FileForm | None = None) -> OwnRows:
    """The rows of a file under the study's bounds; `UnfitError` has every fault.

    form: how the file is written, None where that stands beside it, if anywhere.
    """
    table = read_table(path, f"data {path}", form=form)
    if not table.rows:
        raise InputError(f"{table.source}: has no rows, wanted at least one")
    label = _label(bounds)
    if found := faults(table, bounds, label):
        raise UnfitError(table.source, [fault.placed(table.source) for fault in found])
    return OwnRows(table, labelled_rows(table, bounds, label, warn=True))


def read_auxiliary(path: Path, bounds: Bounds) -> AuxiliaryRows:
    """The public rows without labels of a file, under these bounds."""
    return AuxiliaryRows(encode(read_table(path, f"file {path}"), bounds), f"file {path}")


def _label(bounds: Bounds) -> str:
    if bounds.label is None:
        raise InputError("bounds: wanted the column of classes as [bounds.label] column, got none")
    return bounds.label


def _look_at_party(found: Fit, bounds: Bounds, terms: OwnTerms | None, data: Path | None) -> None:
    path = data if data is not None or terms is None else terms.data_path
    if path is None:
        found.faults.append("data: wanted a file of rows, here or in the terms, got none")
        return
    with found.looking():
        found.own = read_rows(path, bounds, None if terms is None else terms.form)
    if found.own is not None and found.agreement is not None:
        for table in (found.own.table, None):  # the second time without what only a table shows, which comes first
            with found.looking():
                OwnPart(found.name or str(path), found.own.rows, found.agreement, Stream.from_system(), table).check()


def _look_at_ledger(found: Fit, files: OwnFiles) -> None:
    if files.ledger is None:
        found.faults.append("ledger: wanted the party's book of what it has released, got none")
        return
    if found.agreement is not None and not files.begun:
        with found.looking():
            OwnLedger(files.ledger).check(found.agreement)
