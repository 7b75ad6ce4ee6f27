"""Summary of an audited run: public facts of it and of what was handed over, for readers without the files."""

from __future__ import annotations

import hashlib
from collections.abc import Container, Mapping
from contextlib import suppress
from dataclasses import dataclass

from protocols.errors import ProtocolError
from smc_dp.audit.run.evidence import Evidence
from smc_dp.core import reading
from smc_dp.core.errors import InputError
from smc_dp.privacy.statement import PrivacyStatement
from smc_dp.run.release import COSIGNED, STUDY, TIMINGS, PublishedRelease
from smc_dp.run.transcript_header import APPROVALS

_UNREADABLE = (ProtocolError, InputError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


@dataclass(frozen=True)
class SentCount:
    """Messages that one participant sent: sealed to one reader, signed for everybody, and the bytes of all of them."""

    sealed: int
    public: int
    size: int


@dataclass(frozen=True)
class ApprovedStudy:
    """Study of which all participants approved by signature, with the SHA-256 of its file."""

    title: str
    purpose: str
    digest: str


@dataclass(frozen=True)
class AuditedRun:
    """Run as its files describe it, and what an auditor had of it. Nothing here is a secret of a participant.

    `session`: the id in hexadecimal digits. `participants`: all of them; `parties`: those with rows. `files`: the
    SHA-256 of each file of the run folder that was read; `handed_over`: the same of identities and views, by the name
    of their kind. `viewed`: whose views were given. `identities`: the keys that line 0 states; `pinned`: those known
    from elsewhere, None where none were given. `sent`: what each participant sent. `missing`: those whose messages did
    not come, so that their rows may not be in the result. `release`: None where none can be read. `study`: what all
    approved, None where none can be read; `simulated`: the transcript has no approvals, because one process played all
    participants.
    """

    session: str
    protocol: str
    participants: tuple[str, ...]
    parties: tuple[str, ...]
    files: Mapping[str, str]
    handed_over: Mapping[str, str]
    viewed: tuple[str, ...]
    identities: Mapping[str, str]
    pinned: Mapping[str, str] | None
    sent: Mapping[str, SentCount]
    missing: tuple[str, ...]
    release: PublishedRelease | None
    study: ApprovedStudy | None
    simulated: bool

    @classmethod
    def of(cls, evidence: Evidence, refuted: Container[str] = (), *, with_release: bool = True) -> AuditedRun:
        """Return the summary of this evidence, without the release where it is not asked for.

        `refuted`: readers whose absences their own messages refute.
        """
        session, program = evidence.session, evidence.protocol.program
        return cls(
            session=session.id.hex(),
            protocol=f"{program.name} {program.version}",
            participants=tuple(session.names),
            parties=tuple(session.parties),
            files=_digests(evidence),
            handed_over=dict(evidence.handed_over),
            viewed=tuple(name for name in session.names if name in evidence.views),
            identities=_in_digits(session.identities),
            pinned=None if evidence.pinned is None else _in_digits(evidence.pinned),
            sent=_sent(evidence),
            missing=_missing(evidence, refuted),
            release=_release(evidence) if with_release else None,
            study=_study(evidence),
            simulated=APPROVALS not in evidence.head and STUDY not in evidence.files,
        )

    @property
    def statement(self) -> PrivacyStatement | None:
        """Privacy statement of the release, where it can be read."""
        if self.release is None:
            return None
        return PrivacyStatement(**{**self.release.privacy, "caveats": tuple(self.release.privacy["caveats"])})

    @property
    def read(self) -> dict[str, str]:
        """SHA-256 of every file that was read, by name."""
        return {**self.files, **self.handed_over}


def _sent(evidence: Evidence) -> dict[str, SentCount]:
    """Count what each participant sent; no envelope is kept, because a transcript may have millions."""
    found = {name: SentCount(0, 0, 0) for name in evidence.session.names}
    for envelope in evidence.envelopes.values():
        sent = found.get(envelope.sender, SentCount(0, 0, 0))
        public = int(envelope.is_public)
        found[envelope.sender] = SentCount(sent.sealed + 1 - public, sent.public + public, sent.size + envelope.size)
    return found


def _missing(evidence: Evidence, refuted: Container[str]) -> tuple[str, ...]:
    detour = evidence.protocol.model.detour if evidence.took_detour else None
    # The detour replaces these messages, so their sender is in the result; if it does not, another absence says so.
    replaced = detour.spoils.__name__ if detour else None
    claimed = (absent for reader, absent in evidence.absences.values() if reader not in refuted)
    return tuple(sorted({absent.sender for absent in claimed if absent.kind != replaced}))


def _study(evidence: Evidence) -> ApprovedStudy | None:
    """Return the approved study, None also where it cannot be read: the check of approvals says so."""
    content = evidence.files.get(STUDY)
    if APPROVALS not in evidence.head or content is None:
        return None
    with suppress(InputError):
        stated = reading.parse_object(content, STUDY)
        title, purpose = (reading.require_text(name, stated.get(name)) for name in ("title", "purpose"))
        return ApprovedStudy(title, purpose, hashlib.sha256(content).hexdigest())
    return None


def _in_digits(keys: Mapping[str, bytes]) -> dict[str, str]:
    return {name: key.hex() for name, key in keys.items()}


def _digests(evidence: Evidence) -> dict[str, str]:
    contents = dict(evidence.files)
    with suppress(InputError):  # it is there and cannot be read: the check that asks of it says so
        contents |= {} if evidence.timings is None else {TIMINGS: evidence.timings}
    with suppress(InputError):
        contents |= {} if evidence.cosigned is None else {COSIGNED: evidence.cosigned}
    return {name: hashlib.sha256(content).hexdigest() for name, content in sorted(contents.items())}


def _release(evidence: Evidence) -> PublishedRelease | None:
    """Return the release; None where checks find it unfit, which is for them to say, and no fact."""
    try:
        return evidence.published_release
    except _UNREADABLE:
        return None
