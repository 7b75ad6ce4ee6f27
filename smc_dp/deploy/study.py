"""A study: what organisations agree on before any of them takes part, one document that each of them reads and signs.

It states all of the agreement of a run, and besides who takes part under which identity, how long each waits, and
where the mail goes. A changed study is another study.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field, model_validator

from protocols.curator import CURATOR_NAME
from protocols.errors import LocalError
from protocols.programs import PROTOCOLS
from protocols.runtime.session import SESSION_BYTES, Session
from smc_dp.core.documents import Document, FaultCollector, UnfitError, canonical_text, read_document
from smc_dp.core.errors import Fault, InputError, InputFault, shown
from smc_dp.core.kinds import DigestText, OneLine, PositiveRatio
from smc_dp.data.bounds import Bounds, bounds_of
from smc_dp.data.bounds_file import BoundsFile
from smc_dp.data.partition import check_names
from smc_dp.deploy.approval import Approval, nonce
from smc_dp.deploy.fields import Duration, PublicKeyText, RelayAddress, SiteName
from smc_dp.privacy.target import Target
from smc_dp.run.agreement import (
    PLAIN,
    Agreement,
    as_printed,
    check,
    check_auxiliary,
    marks,
    method_and_target,
    secure_form,
    settings_wanted,
)
from smc_dp.run.auxiliary import AuxiliaryRows
from smc_dp.run.protocols.registry import FOLLOWS, Terms, setting_names, terms_of
from smc_dp.run.settings import MethodSettings, ProtocolSettings, RunSettings, TargetSettings, required
from smc_dp.run.transcript_header import refuse_beyond


class StudyMethod(MethodSettings):
    """A method and all of its settings, called as in a release; numbers become the fractions that they are."""

    name: OneLine = required(MethodSettings, "name")


class StudyTarget(TargetSettings):
    """What the release guarantees, or under calibration paper the printed figure."""

    epsilon: PositiveRatio = required(TargetSettings, "epsilon")
    noise: OneLine = required(TargetSettings, "noise")
    calibration: OneLine = required(TargetSettings, "calibration")


class StudyProtocol(ProtocolSettings):
    """A protocol and all of its settings, called as in a release."""

    name: OneLine = required(ProtocolSettings, "name")


class PinnedParty(Document):
    """A party and the identity under which it takes part."""

    name: SiteName
    key: PublicKeyText


class PinnedCurator(Document):
    """The identity of Charlie, who is called so in every study."""

    key: PublicKeyText


class Deadlines(Document):
    """Seconds from the last event: for all greetings to come, and for any letter that somebody waits for."""

    greetings: Duration
    letters: Duration


def _bounds(said: BoundsFile) -> BoundsFile:
    if bounds_of(said).label is None:
        raise InputError("bounds.no_label")
    return said


class JointStudy(RunSettings):
    """One study; see the module. `bounds` is the whole content of a file of bounds, `auxiliary` a digest of rows."""

    title: OneLine
    purpose: OneLine
    relay: RelayAddress
    auxiliary: DigestText | None = None
    method: StudyMethod
    target: StudyTarget
    protocol: StudyProtocol
    deadlines: Deadlines
    parties_pinned: Annotated[list[PinnedParty], Field(alias="parties")]
    curator: PinnedCurator
    bounds_stated: Annotated[BoundsFile, AfterValidator(_bounds), Field(alias="bounds")]

    @classmethod
    def read(cls, path: Path) -> JointStudy:
        """The study in a TOML file; an `UnfitError` lists every fault."""
        return read_document(cls, path, "study")

    @model_validator(mode="after")
    def _fits_together(self) -> JointStudy:
        if found := list(self._faults()):
            raise UnfitError("study", found)
        return self

    @cached_property
    def content(self) -> bytes:
        """All that it says as one JSON text, which stands in the folder of a run; how its own file writes it does not
        matter.
        """
        return canonical_text({"format": "smc-dp study 1", **self.as_dict()})

    @cached_property
    def digest(self) -> str:
        """SHA-256 of that text, as hexadecimals."""
        return hashlib.sha256(self.content).hexdigest()

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON, each in its one form."""
        sections: dict[str, StudyMethod | StudyProtocol] = {"method": self.method, "protocol": self.protocol}
        stated = {key: {"name": section.name, **section.said()} for key, section in sections.items()}
        return {**self.model_dump(by_alias=True), **stated, "bounds": self.bounds.as_dict()}

    @property
    def parties(self) -> tuple[str, ...]:
        """P_1 ... P_K."""
        return tuple(party.name for party in self.parties_pinned)

    @property
    def names(self) -> tuple[str, ...]:
        """Everybody who takes part, in the order of the session."""
        return (*self.parties, CURATOR_NAME)

    @cached_property
    def identities(self) -> Mapping[str, bytes]:
        """Everybody's pinned identity, by name."""
        found = {party.name: bytes.fromhex(party.key) for party in self.parties_pinned}
        return {**found, CURATOR_NAME: bytes.fromhex(self.curator.key)}

    @cached_property
    def bounds(self) -> Bounds:
        """The public bounds of the columns."""
        return bounds_of(self.bounds_stated)

    def agreement(self, auxiliary: AuxiliaryRows | None = None) -> Agreement:
        """What a run agrees on; InputError for public rows that are not those of the study."""
        came = None if auxiliary is None else auxiliary.digest
        if came != self.auxiliary:
            wanted = "no public rows" if self.auxiliary is None else f"public rows of digest {self.auxiliary}"
            raise InputError("study.other_auxiliary", wanted=wanted, got=came or "none")
        if auxiliary is not None:
            return self._agreement(auxiliary)
        return self._without_rows

    @cached_property
    def _without_rows(self) -> Agreement:
        return self._agreement(None)

    def session(self, approvals: Mapping[str, Approval], auxiliary: AuxiliaryRows | None = None) -> Session:
        """The session that these approvals make; InputError unless they are those of all, each signed by its own."""
        for name in self.names:
            if name not in approvals:
                raise InputError("approvals.missing", name=name)
        for name, approval in approvals.items():
            approval.check(self)
            if approval.name != name:
                raise InputError("approvals.of_another", name=name, got=approval.name)
        return self._session(nonce([approvals[name] for name in self.names]), auxiliary)

    def unapproved_session(self, auxiliary: AuxiliaryRows | None = None) -> Session:
        """The session before anybody has approved: it has no nonce, and everything else."""
        return self._session(bytes(SESSION_BYTES), auxiliary)

    def _session(self, made_of_all: bytes, auxiliary: AuxiliaryRows | None) -> Session:
        agreement = self.agreement(auxiliary)
        program, agreed = PROTOCOLS[agreement.protocol].program, agreement.bound(PLAIN)
        return Session(program, agreement.program_parameters(agreed), self.identities, made_of_all)

    def _agreement(self, auxiliary: AuxiliaryRows | None) -> Agreement:
        method, target, protocol, terms = self._settled()
        marked = marks(protocol, terms, seeded=False)
        made = Agreement(method, target, self.parties, self.bounds, protocol, terms, marked, auxiliary)
        if found := list(self._faults_of_agreement(made)):
            raise UnfitError("study", found)
        return made

    def _settled(self) -> tuple[Any, Target, str, Terms]:
        """Return what is stated of method, target and protocol; raises an InputError with all that is unreadable."""
        stated = {**self.method.said(), **self.target.said()}
        found, protocol = FaultCollector(), self.protocol.name
        with found.step():
            method, target, _ = method_and_target({**stated, "method": self.method.name, "protocol": protocol})
        with found.step():
            terms: Terms = terms_of(protocol).from_dict(self.protocol.said())
        found.require()
        return method, target, protocol, terms

    def _faults(self) -> Iterator[Fault]:
        yield from self._faults_of_names()
        try:
            kind, terms = secure_form(self.method.name, self.protocol.name), terms_of(self.protocol.name)
        except InputError as error:
            yield from error.faults
            return
        if as_printed(self.protocol.name):
            yield InputFault("study.protocol_as_printed", {"protocol": self.protocol.name})
        else:
            yield from self._faults_of_settings(kind, terms)

    def _faults_of_settings(self, kind: Any, terms: type[Any]) -> Iterator[Fault]:
        wanted = dict.fromkeys(FOLLOWS, False) | {name: name not in terms.unsaid for name in setting_names(terms)}
        stated, in_protocol = self.method.said(), self.protocol.said()
        yield from (*_unknown("method", stated, settings_wanted(kind)), *_unknown("protocol", in_protocol, wanted))
        missing = [*_missing("method", stated, settings_wanted(kind)), *_missing("protocol", in_protocol, wanted)]
        yield from missing
        if not missing:
            try:
                settled = self._settled()
            except InputError as error:
                yield from error.faults
            else:
                yield from self._faults_of_all(*settled)

    def _faults_of_all(self, method: Any, target: Target, protocol: str, terms: Terms) -> Iterator[Fault]:
        try:
            check(method, target, protocol, terms, test_keys=self.insecure_test_keys)
            check_auxiliary(method, given=self.auxiliary is not None)
        except InputError as error:
            yield from error.faults
            return
        if self.insecure_test_keys and not terms.weak(protocol):
            yield InputFault("study.no_test_keys")
        if self.protocol.said().get("left_out"):
            yield InputFault("study.party_left_out")
        if self.auxiliary is None:
            yield from self._faults_without_rows()

    def _faults_of_names(self) -> Iterator[Fault]:
        try:
            check_names(self.parties)
        except InputError as error:
            yield error.fault.within("parties")
        owners: dict[bytes, str] = {}
        for name, key in self.identities.items():
            if (other := owners.setdefault(key, name)) != name:
                yield InputFault("study.one_key_for_two", {"name": name, "other": other})

    def _faults_without_rows(self) -> Iterator[Fault]:
        try:
            self._without_rows.statement  # noqa: B018  what cannot be said cannot be agreed on
        except InputError as error:
            yield from error.faults

    def _faults_of_agreement(self, agreement: Agreement) -> Iterator[Fault]:
        """What shows only where everything is known, the public rows too."""
        try:
            participants, program = agreement.participants, PROTOCOLS[agreement.protocol]
            refuse_beyond("protocol", agreement.program_parameters("").as_dict(), program.limits)
        except (InputError, LocalError) as error:
            yield from error.faults
            return
        if CURATOR_NAME not in participants:
            yield InputFault("study.without_curator", {"protocol": self.protocol.name})
        for name, wanted in agreement.parameters.items():
            stated = self.protocol.said().get(name, wanted)
            if stated != wanted or type(stated) is not type(wanted):
                yield InputFault("study.other_value", {"name": name, "wanted": shown(wanted), "got": shown(stated)})
        if self.target.delta is not None and "delta" not in agreement.parameters:
            yield InputFault("study.needless_delta", {"noise": self.target.noise})
        if self.target.delta is None and "delta" in agreement.parameters:
            yield InputFault("study.delta_missing", {"noise": self.target.noise})


def _missing(section: str, stated: Mapping[str, Any], wanted: Mapping[str, bool]) -> Iterator[Fault]:
    for name, needed in wanted.items():
        if needed and name not in stated:
            yield InputFault("document.missing", place=f"{section}: {name}: ")


def _unknown(section: str, stated: Mapping[str, Any], wanted: Mapping[str, bool]) -> Iterator[Fault]:
    for name in stated:
        if name not in wanted:
            fields = {"key": shown(name), "wanted": ", ".join(wanted) or "no settings"}
            yield InputFault("study.unknown_setting", fields, f"{section}: ")
