"""A study: what organisations agree on before any of them takes part, one document that each of them reads and signs.

It states all of the agreement of a run, and besides who takes part under which identity, how long each waits, and
the relay. A changed study is another study.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, get_args

from pydantic import AfterValidator, Field, ModelWrapValidatorHandler, ValidationError, model_validator

from protocols.crypto.identity import verify
from protocols.curator import CURATOR_NAME
from protocols.errors import LocalError
from protocols.programs import PROTOCOLS
from protocols.runtime.session import SESSION_BYTES, Session
from smc_dp.core.documents import Document, canonical_text, faults_in, read_document, readable
from smc_dp.core.errors import Fault, FaultCollector, InputError, InputFault, UnfitError, shown
from smc_dp.core.kinds import DigestText, OneLine, PositiveRatio
from smc_dp.data.bounds import Bounds, bounds_from_file
from smc_dp.data.bounds_file import BoundsFile
from smc_dp.data.partition import check_names
from smc_dp.data.usual_clip import CLIP_OF_STUDIES
from smc_dp.deploy.approval import Approval, nonce
from smc_dp.deploy.fields import Count, Duration, PublicKeyText, RelayAddress, SiteName
from smc_dp.run.agreement import (
    DEFAULT_SIMULATION,
    Agreement,
    SettledRun,
    check_auxiliary,
    is_as_published,
    required_settings,
    secure_method,
)
from smc_dp.run.approvals import approval_text
from smc_dp.run.auxiliary import AuxiliaryRows
from smc_dp.run.metrics import has_probabilities
from smc_dp.run.protocols.registry import DERIVED_SETTINGS, find_terms, setting_names
from smc_dp.run.settings import SECTIONS, MethodSettings, ProtocolSettings, RunSettings, TargetSettings, required_field
from smc_dp.run.transcript_header import refuse_beyond

StudyFormat: TypeAlias = Literal["smc-dp study 2"]
STUDY_FORMAT: StudyFormat
(STUDY_FORMAT,) = get_args(StudyFormat)
"""Format of the studies that this version reads and writes."""
LAST_OF_FORMAT_1 = "0.1.0"
"""Last version of smc-dp that reads studies of format 1."""
MOST_WITNESSES = 16
"""Witnesses of one ledger in a study."""
PARTY_PATIENCE = 2  # times as long as the curator, which may wait itself; a program can declare others


APPROVALS, WITNESSES = "approvals", "witnesses"
"""Stages of a site before its role begins."""


def witnesses_of(names: Sequence[str], party: str) -> tuple[str, ...]:
    """Return the participants that witness the ledger of a party: those that come next among these, around."""
    after = names.index(party) + 1
    return (*names[after:], *names[: after - 1])[:MOST_WITNESSES]


class StudyMethod(MethodSettings):
    """A method and all of its settings, called as in a release; numbers become the fractions that they are."""

    name: OneLine = required_field(MethodSettings, "name")


class StudyTarget(TargetSettings):
    """Guarantee of the release, or under calibration paper the published figure."""

    epsilon: PositiveRatio = required_field(TargetSettings, "epsilon")
    noise: OneLine = required_field(TargetSettings, "noise")
    calibration: OneLine = required_field(TargetSettings, "calibration")


class StudyProtocol(ProtocolSettings):
    """A protocol and all of its settings, called as in a release."""

    name: OneLine = required_field(ProtocolSettings, "name")


class PinnedParty(Document):
    """A party and the identity under which it takes part."""

    name: SiteName
    key: PublicKeyText


class PinnedCurator(Document):
    """Identity of the curator, whose name is charlie in every study."""

    key: PublicKeyText


class Deadlines(Document):
    """Seconds from the last progress: for all greetings to come, and for any message that a participant waits for."""

    greetings: Duration
    messages: Duration

    def of_message(self, name: str, declared: int | None) -> float:
        """Return the seconds that this participant waits for a message; `declared`: deadlines, by its program."""
        return self.messages * (declared or (1 if name == CURATOR_NAME else PARTY_PATIENCE))

    def after(self, facts: Mapping[str, Any]) -> float:
        """Return the seconds from the last progress that a site with these facts waits."""
        if facts.get("stage") == WITNESSES:
            return self.greetings / 2  # so that nobody's greeting is late by the silence of another
        if facts.get("stage") in (None, "", APPROVALS):
            return self.greetings
        return self.of_message(str(facts.get("participant")), facts.get("deadlines"))


def _bounds(said: BoundsFile) -> BoundsFile:
    found = bounds_from_file(said, CLIP_OF_STUDIES)
    if found.has_label and found.label is None:
        raise InputError("bounds.no_label")
    return said


def _other_format(said: Mapping[str, Any]) -> InputError:
    """Return the refusal of a study in another format. Studies of format 1 do not state it."""
    if "format" in said:
        return InputError("study.other_format", wanted=STUDY_FORMAT, got=shown(said["format"]))
    return InputError("study.earlier_format", wanted=STUDY_FORMAT, version=LAST_OF_FORMAT_1)


class JointStudy(RunSettings):
    """One study; see the module.

    `bounds` is the whole content of a file of bounds, `auxiliary` a digest of rows. `threshold`: the probability above
    which a row is taken for the second of two classes; None leaves it at 1/2, and out of the document.
    `witnesses_needed`: how many other participants have to cosign the head of a party's ledger before its session; 1
    stays out of the document.
    """

    format: StudyFormat
    title: OneLine
    purpose: OneLine
    relay: RelayAddress
    auxiliary: DigestText | None = None
    threshold: PositiveRatio | None = None
    witnesses_needed: Count = 1
    method: StudyMethod
    target: StudyTarget
    protocol: StudyProtocol
    deadlines: Deadlines
    parties_pinned: Annotated[list[PinnedParty], Field(alias="parties")]
    curator: PinnedCurator
    bounds_stated: Annotated[BoundsFile, AfterValidator(_bounds), Field(alias="bounds")]

    @classmethod
    def read(cls, path: Path) -> JointStudy:
        """Read a study from a TOML file. An `UnfitError` lists every fault."""
        return read_document(cls, path, "study")

    @model_validator(mode="wrap")
    @classmethod
    def _with_every_fault(cls, said: Any, read: ModelWrapValidatorHandler[JointStudy]) -> JointStudy:
        """Refuse at once what single fields show, and what shows where those that can be read are read together.

        Other fields of a study in another format may have other names: its format is its only fault.
        """
        if isinstance(said, dict) and said.get("format") != STUDY_FORMAT:
            raise _other_format(said)
        found, parts = FaultCollector(), dict[str, Any]()
        try:
            made = read(said)
        except ValidationError as error:
            found.faults += faults_in(cls, error)
            made, parts = readable(cls, said if isinstance(said, dict) else {})
        found.faults += made._faults(parts)
        if found.faults:
            raise UnfitError("study", found.faults)
        return made

    @cached_property
    def content(self) -> bytes:
        """Study as one canonical JSON text, which does not depend on how its file writes it."""
        return canonical_text(self.as_dict())

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the content, in hexadecimal digits."""
        return hashlib.sha256(self.content).hexdigest()

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, each in its one form."""
        stated = {key: self._sections[key] for key in ("method", "protocol")}
        usual = {"threshold": self.threshold is None, "witnesses_needed": self.witnesses_needed == 1}
        left_out = {name for name, is_usual in usual.items() if is_usual}  # studies from before it keep their digest
        return {**self.model_dump(by_alias=True, exclude=left_out), **stated, "bounds": self.bounds.as_dict()}

    @property
    def parties(self) -> tuple[str, ...]:
        """Names P_1 ... P_K of the parties."""
        return tuple(party.name for party in self.parties_pinned)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all participants, in the order of the session."""
        return (*self.parties, CURATOR_NAME)

    @cached_property
    def identities(self) -> Mapping[str, bytes]:
        """Pinned identities of all participants, by name."""
        found = {party.name: bytes.fromhex(party.key) for party in self.parties_pinned}
        return {**found, CURATOR_NAME: bytes.fromhex(self.curator.key)}

    def participant(self, public: bytes) -> str:
        """Return the participant with this public identity; raise InputError where there is none."""
        for name, key in self.identities.items():
            if key == public:
                return name
        raise InputError("key.not_in_study", public_key=public.hex())

    @cached_property
    def bounds(self) -> Bounds:
        """Public bounds of the columns."""
        return bounds_from_file(self.bounds_stated, CLIP_OF_STUDIES)

    @property
    def remaining(self) -> int:
        """Number of parties that are left if as many drop out as may."""
        return self.stated.terms.threat_model(len(self.parties)).remaining

    def agreement(self, auxiliary: AuxiliaryRows | None = None) -> Agreement:
        """Return the agreement of a run. InputError for public rows that are not those of the study."""
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
        """Return the session that these approvals make. InputError unless all participants have signed."""
        for name in self.names:
            if name not in approvals:
                raise InputError("approvals.missing", name=name)
        for name, approval in approvals.items():
            self.check_approval(approval)
            if approval.name != name:
                raise InputError("approvals.of_another", name=name, got=approval.name)
        return self._session(nonce([approvals[name] for name in self.names]), auxiliary)

    def check_approval(self, approval: Approval) -> None:
        """Raise InputError unless the participant signed exactly this study."""
        name, pinned = approval.name, self.identities.get(approval.name)
        if pinned is None:
            raise InputError("approval.of_nobody", name=name)
        if approval.study != self.digest:
            raise InputError("approval.another_study", name=name, study=approval.study, wanted=self.digest)
        text = approval_text(self.digest, name, approval.random)
        if not verify(pinned, text, bytes.fromhex(approval.signature)):
            raise InputError("approval.not_signed", name=name)

    def unapproved_session(self, auxiliary: AuxiliaryRows | None = None) -> Session:
        """Return the session without the nonce that approvals make."""
        return self._session(bytes(SESSION_BYTES), auxiliary)

    def _session(self, made_of_all: bytes, auxiliary: AuxiliaryRows | None) -> Session:
        agreement = self.agreement(auxiliary)
        program, agreed = (
            PROTOCOLS[agreement.protocol].program,
            agreement.session_binding(DEFAULT_SIMULATION, self.content),
        )
        return Session(program, agreement.program_parameters(agreed), self.identities, made_of_all)

    def _agreement(self, auxiliary: AuxiliaryRows | None) -> Agreement:
        made = self.stated.with_parties(self.parties, self.bounds, auxiliary)
        if found := list(self._faults_of_agreement(made)):
            raise UnfitError("study", found)
        return made

    @property
    def _sections(self) -> dict[str, dict[str, Any]]:
        """Settings as the document has them, without missing ones."""
        return {section: self._said(section, {}) for section in SECTIONS}

    @cached_property
    def stated(self) -> SettledRun:
        """Settings of the study, without participants and bounds."""
        return SettledRun.from_sections(self._sections)

    def _faults(self, parts: Mapping[str, Any]) -> Iterator[Fault]:
        """Yield what shows where several fields are read together, of those that could be read; see `readable`."""
        whole = [vars(party) for party in self.__dict__.get("parties_pinned", ())]
        yield from self._faults_of_names(parts.get("parties_pinned", whole))
        yield from self._faults_of_threshold()
        yield from self._faults_of_witnesses()
        said = {section: self._said(section, parts) for section in SECTIONS}
        if said["method"].get("name") and said["protocol"].get("name"):
            yield from self._faults_of_settings(said)

    def _said(self, section: str, parts: Mapping[str, Any]) -> dict[str, Any]:
        """Return what is said in a section, and None for what of it cannot be read."""
        if section not in self.__dict__:
            return dict(parts.get(section, {}))
        own = getattr(self, section)
        return own.given() if section == "target" else {"name": own.name, **own.given()}

    def _faults_of_names(self, parties: list[dict[str, str]]) -> Iterator[Fault]:
        found, names = FaultCollector(), [party["name"] for party in parties if party.get("name")]
        if len(names) > 1 or "parties_pinned" in self.__dict__:
            with found.step("parties"):
                check_names(names)
        yield from found.faults
        curator = {CURATOR_NAME: self.curator.key} if "curator" in self.__dict__ else {}
        pinned = {party["name"]: party["key"] for party in parties if party.get("name") and party.get("key")}
        owners: dict[str, str] = {}
        for name, key in (pinned | curator).items():
            if (other := owners.setdefault(key, name)) != name:
                yield InputFault("study.one_key_for_two", {"name": name, "other": other})

    def _faults_of_threshold(self) -> Iterator[Fault]:
        if self.__dict__.get("threshold") is None:
            return
        if not 0 < float(Fraction(self.threshold or 0)) < 1:
            yield InputFault("study.threshold_not_inside", {"got": self.threshold})
        if "bounds_stated" in self.__dict__ and len(self.bounds.classes) != 2:
            yield InputFault("study.threshold_of_two_classes", {"classes": len(self.bounds.classes)})

    def _faults_of_witnesses(self) -> Iterator[Fault]:
        if not {"parties_pinned", "witnesses_needed"} <= self.__dict__.keys():
            return
        most = min(len(self.names) - 1, MOST_WITNESSES)
        if not 1 <= self.witnesses_needed <= most:
            yield InputFault("study.witnesses_needed", {"most": most, "got": self.witnesses_needed})

    def _faults_of_settings(self, sections: dict[str, dict[str, Any]]) -> Iterator[Fault]:
        name, by, found = sections["method"].pop("name"), sections["protocol"].pop("name"), FaultCollector()
        with found.step():
            kind, declared = secure_method(name, by), find_terms(by)
        if found.faults or is_as_published(by):
            yield from found.faults or [InputFault("study.protocol_as_printed", {"protocol": by})]
            return
        needed = {setting: setting not in declared.unsaid for setting in setting_names(declared)}
        known = {"method": required_settings(kind), "protocol": dict.fromkeys(DERIVED_SETTINGS, False) | needed}
        complete = [section for section in sections if section in self.__dict__]
        for section, wanted in known.items():
            said, listed = sections[section], ", ".join(wanted) or "no settings"
            for key in [key for key in said if key not in wanted]:
                yield InputFault("study.unknown_setting", {"key": shown(key), "wanted": listed}, f"{section}: ")
            missing = [key for key in wanted if wanted[key] and key not in said]
            yield from (InputFault("document.missing", {"wanted": ""}, f"{section}: {key}: ") for key in missing)
            if missing and section in complete:
                complete.remove(section)
        read = {section: {key: v for key, v in said.items() if v is not None} for section, said in sections.items()}
        settled = SettledRun.read_sections(name, by, read, complete, found)
        if settled is not None:
            self._look_together(settled, found)
        yield from found.faults

    def _look_together(self, settled: SettledRun, found: FaultCollector) -> None:
        has = self.__dict__.keys()
        if "insecure_test_keys" in has:
            with found.step():
                settled.check(test_keys=self.insecure_test_keys)
        if "auxiliary" in has:
            with found.step():
                check_auxiliary(settled.method, given=self.auxiliary is not None)
        if found.faults or not {"insecure_test_keys", "auxiliary"} <= has:
            return
        if self.insecure_test_keys and not settled.marks:
            found.faults.append(InputFault("study.no_test_keys"))
        if self.protocol.given().get("left_out"):
            found.faults.append(InputFault("study.party_left_out"))
        if self.auxiliary is None and {"parties_pinned", "bounds_stated"} <= has:
            with found.step():
                self._without_rows.statement  # noqa: B018  what cannot be said cannot be agreed on
                made, threshold = self._without_rows, self.__dict__.get("threshold")
                if threshold is not None and (made.describes or not has_probabilities(made.spec)):
                    raise InputError("study.threshold_without_probabilities")

    def _faults_of_agreement(self, agreement: Agreement) -> Iterator[Fault]:
        """Yield the faults that show only where the public rows are known too."""
        try:
            participants, program = agreement.participants, PROTOCOLS[agreement.protocol]
            refuse_beyond("protocol", agreement.program_parameters("").as_dict(), program.limits)
        except (InputError, LocalError) as error:
            yield from error.faults
            return
        if agreement.threat_model.has_sparse_graph and not agreement.parameters.get("semi_honest"):
            if agreement.threat_model.sparse:
                yield InputFault("study.sparse_graph_only")
            else:
                yield InputFault("study.semi_honest_only", {"parties": agreement.threat_model.parties})
        if CURATOR_NAME not in participants:
            yield InputFault("study.without_curator", {"protocol": self.protocol.name})
        for name, wanted in agreement.parameters.items():
            stated = self.protocol.given().get(name, wanted)
            if stated != wanted or type(stated) is not type(wanted):
                yield InputFault("study.other_value", {"name": name, "wanted": shown(wanted), "got": shown(stated)})
        if self.target.delta is not None and "delta" not in agreement.parameters:
            yield InputFault("study.needless_delta", {"noise": self.target.noise})
        if self.target.delta is None and "delta" in agreement.parameters:
            yield InputFault("study.delta_missing", {"noise": self.target.noise})
