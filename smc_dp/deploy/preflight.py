"""Preflight check of a site's own rows, ledger, key and policy against a study, before anything is sent.

Nothing that is found leaves the site: an error tells the site's own people what a cell holds.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import TypeAlias

from protocols.arithmetic.rng import Stream
from smc_dp.core.errors import Fault, InputError, InputFault, UnfitError, one_line
from smc_dp.data.bounds import Bounds
from smc_dp.data.federation import NO_ROWS, Rows
from smc_dp.data.file_format import FileFormat
from smc_dp.data.preprocess import encode_rows, examine_table, warn_of_clipping
from smc_dp.data.refused_file import complete_refusal
from smc_dp.data.refused_input import settings_of
from smc_dp.data.table import Table
from smc_dp.data.table_reader import read_table
from smc_dp.data.validation_errors import AUTHOR, SITE
from smc_dp.deploy import paths
from smc_dp.deploy.ledger_heads import OwnHeads
from smc_dp.deploy.site_policy import SitePolicy
from smc_dp.deploy.status import check_state
from smc_dp.deploy.store import is_begun, read_frames
from smc_dp.deploy.study import JointStudy
from smc_dp.privacy.ledger.ledger import Ledger
from smc_dp.run.agreement import Agreement
from smc_dp.run.auxiliary import AuxiliaryRows
from smc_dp.run.identities import read_identity
from smc_dp.run.party import LocalParty
from smc_dp.run.site_ledger import SiteLedger

AskWitnesses: TypeAlias = Callable[[SitePolicy], None]
_NO_POLICY, _NO_DATA, _NO_LEDGER = map(InputFault, ("terms.missing", "data.missing", "ledger.none_given"))
_FIXED_BY = tomllib.loads(files("smc_dp.deploy").joinpath("fixed_by.toml").read_text(encoding="utf-8"))


def fixed_by(fault: Fault) -> tuple[str, ...]:
    """Return who can fix a fault of a preflight check, the nearest first: this "site", the "author" of the study."""
    said = fault.fields.get("fixed_by")
    if isinstance(said, tuple):
        return tuple(map(str, said))
    if settings_of(fault) or fault.code in _FIXED_BY["site"]:
        return (SITE,)
    if fault.code in _FIXED_BY["author"]:
        return (AUTHOR,)
    is_limit = fault.code.startswith("terms.")
    return (AUTHOR, SITE) if is_limit or fault.code in _FIXED_BY["author_or_site"] else (SITE,)


@dataclass(frozen=True, eq=False, repr=False)
class OwnRows:
    """Rows of a party, as they were read and as they enter the training."""

    table: Table
    rows: Rows


@dataclass
class PreflightResult:
    """Result of a preflight check: every fault, the participant, and what was read; None for what was not."""

    name: str | None = None
    faults: list[Fault] = field(default_factory=list)
    agreement: Agreement | None = None
    own: OwnRows | None = field(default=None, repr=False)

    @contextmanager
    def looking(self, where: str = "") -> Iterator[None]:
        """Keep the faults of a step after which others follow. `where`: the place of each of several."""
        try:
            yield
        except InputError as error:
            several = isinstance(error, UnfitError)
            self.add(fault.within(where) if several else fault for fault in error.faults)

    def add(self, faults: Iterable[Fault]) -> None:
        """Keep these faults, each once."""
        self.faults += [fault for fault in UnfitError("", faults).faults if fault not in self.faults]

    def require(self, where: str) -> Agreement:
        """Return the agreement; raise `UnfitError` with every fault, if there is any."""
        if self.faults or self.agreement is None:
            raise UnfitError(where, self.faults)
        return self.agreement


@dataclass(frozen=True)
class OwnFiles:
    """Paths of a site's data and ledger, of the public rows that all have, and of the study.

    Beside `study` are states of other studies, whose witnesses have seen the ledger. A site that has `begun` was looked
    at before, and its ledger may be charged for the study by now.
    """

    data: Path | None = None
    ledger: Path | None = None
    auxiliary: Path | None = None
    begun: bool = False
    study: Path | None = None


def preflight_of_files(study: JointStudy, key: Path, policy: Path | None, files: OwnFiles) -> PreflightResult:
    """Check as `run_preflight` does, and read key and policy first. A fault in them hides no other."""
    first, own = PreflightResult(), None
    with first.looking():
        first.name = study.participant(read_identity(key).public)
    if policy is not None:
        with first.looking(f"site policy {policy}"):
            own = SitePolicy.read(policy)
    found = run_preflight(study, first.name, own, files)
    unread = (_NO_POLICY, _NO_DATA) if own is None and policy is not None else ()
    found.faults = first.faults + [fault for fault in found.faults if fault not in unread]
    return found


def run_preflight(
    study: JointStudy,
    name: str | None,
    policy: SitePolicy | None,
    files: OwnFiles,
    ask: AskWitnesses | None = None,
) -> PreflightResult:
    """Check whether this participant can take part with this ledger, these rows and this policy. Write nothing.

    The curator has neither rows nor a ledger, and needs no policy. The policy may name a party's data. Without a name
    a participant with data or a ledger is checked as some party. `ask` asks witnesses of the ledger, if all else fits.
    """
    found = _look_at_policy(study, name, policy, files)
    if name in study.parties or (name is None and (files.data or files.ledger)):
        _look_at_rows(found, study.bounds, policy, files.data)
        _look_at_ledger(found, study, files)
    _look_at_witnesses(found, study, policy, files, ask)
    return found


def preflight_of_approval(
    study: JointStudy, name: str, policy: SitePolicy | None, files: OwnFiles, ask: AskWitnesses
) -> PreflightResult:
    """Check what an approval needs as `run_preflight` does. An approval needs neither rows nor a ledger.

    With a ledger it is checked as well, and the rows, if the policy names them.
    """
    found = _look_at_policy(study, name, policy, files)
    if files.ledger is not None and name in study.parties:
        if policy is not None and policy.data_path is not None:
            _look_at_rows(found, study.bounds, policy, None)
        _look_at_ledger(found, study, files)
    _look_at_witnesses(found, study, policy, files, ask)
    return found


def _look_at_policy(study: JointStudy, name: str | None, policy: SitePolicy | None, files: OwnFiles) -> PreflightResult:
    found = PreflightResult(name)
    with found.looking():
        found.agreement = agreement_of(study, files.auxiliary)
    if policy is not None and found.agreement is not None:
        found.add(policy.faults(study, found.agreement))
    if policy is None and name in study.parties:
        found.add([_NO_POLICY])
    return found


def _look_at_witnesses(
    found: PreflightResult, study: JointStudy, policy: SitePolicy | None, files: OwnFiles, ask: AskWitnesses | None
) -> None:
    """Check the witnesses of the ledger that the policy names. A site that does not fit shows them nothing."""
    if policy is None or policy.witnesses is None or found.name not in study.parties:
        return
    if files.ledger is None:
        found.add([_NO_LEDGER])
        return
    if ask is not None and not found.faults and not files.begun:
        with found.looking():  # no witness sees a head that a head here contradicts
            policy.check_witnesses(study, found.name, files.ledger, begun=True)
            ask(policy)
    with found.looking():
        policy.check_witnesses(study, found.name, files.ledger, files.begun)


def agreement_of(study: JointStudy, auxiliary: Path | None) -> Agreement:
    """Return what a run agrees on, with the public rows in this file, if the study has any."""
    rows = None if auxiliary is None else read_auxiliary(auxiliary, study.bounds)
    return study.agreement(rows)


def read_rows(path: Path, bounds: Bounds, form: FileFormat | None = None) -> OwnRows:
    """Read the rows of a file under the study's bounds. `UnfitError` has every fault.

    form: how the file is written, None where that stands beside it, if anywhere.
    """
    source = f"data {path}"
    try:
        table = read_table(path, source, form=form)
    except InputError as error:
        raise complete_refusal(error, path, source, bounds) from None
    table.warn_of_ignored()
    return OwnRows(table, encode_party_rows(table, bounds))


def encode_party_rows(table: Table, bounds: Bounds, *, strict: bool = False) -> Rows:
    """Return the rows of a table under a study's bounds; raise `UnfitError` with every fault of the table.

    `strict`: a number outside its range is a fault, not clipped.
    """
    if not table.rows:
        raise InputError(NO_ROWS).within(table.source)
    found = examine_table(table, bounds, bounds.label, strict=strict)
    found.checked(table.source)
    warn_of_clipping(table.source, found, bounds)
    return found.labelled


def read_auxiliary(path: Path, bounds: Bounds) -> AuxiliaryRows:
    """Return the public rows without labels of a file, under these bounds."""
    return AuxiliaryRows(encode_rows(read_table(path, f"file {path}"), bounds), f"file {path}")


def _look_at_rows(found: PreflightResult, bounds: Bounds, policy: SitePolicy | None, data: Path | None) -> None:
    path = data if data is not None or policy is None else policy.data_path
    if path is None:
        found.add([_NO_DATA])
        return
    with found.looking():
        found.own = read_rows(path, bounds, None if policy is None else policy.form)
    if found.own is not None and found.agreement is not None:
        with found.looking():
            found.agreement.check_room(len(found.own.rows), found.own.table)
        for table in (found.own.table, None):  # the second time without what only a table shows, which comes first
            with found.looking():
                LocalParty(
                    found.name or str(path), found.own.rows, found.agreement, Stream.from_system(), table
                ).check()


def _look_at_ledger(found: PreflightResult, study: JointStudy, files: OwnFiles) -> None:
    if files.ledger is None:
        found.add([_NO_LEDGER])
    elif found.agreement is not None and not files.begun:
        with found.looking():
            SiteLedger(files.ledger).check(found.agreement)
        if files.study is not None and found.name is not None:
            with found.looking():
                _check_earlier_heads(files.study, found.name, study.identities[found.name], files.ledger)


def _check_earlier_heads(study: Path, name: str, owner: bytes, ledger: Path) -> None:
    """Raise InputError unless a ledger extends the heads of it in this party's states of studies beside one.

    Nobody is asked. A state without its study file, and one of another owner under this name, say nothing.
    """
    states = [(state, own) for state, own in _earlier_heads(study, name) if own.owner == owner]
    with Ledger.open(ledger) as opened:  # after the heads: another study may be charged meanwhile
        history = opened.history()
    for state, own in states:
        try:
            own.check(history)
        except InputError as error:
            raise error.within(f"ledger {ledger}: state {state}") from None


def _earlier_heads(study: Path, name: str) -> Iterator[tuple[Path, OwnHeads]]:
    """Yield the states of studies beside one that have heads, each with these; InputError for what cannot be read."""
    for state, file in paths.states_of(study, name):
        if not file.exists():
            continue
        try:
            came = read_frames(state, ("seen", "cosigned")) if is_begun(state) else []
            if not any(frame.to == name for frame in came):  # without its study, which may be of an earlier version
                continue
            its = JointStudy.read(file)
            check_state(its, name, state)
            own = OwnHeads.read(its, name, state)
        except InputError as error:
            raise InputError(
                "witnesses.unread_state", state=str(state), study=str(file), why=one_line(str(error))
            ) from None
        yield state, own
