"""A release held against the record beside it: what anybody can check before using it, without running an audit.

The shares, or the sum itself, are those that stand signed in the record, the session in which they were signed is bound
to all that the release states, and the privacy statement is the one that follows. Whose identities signed, and whether
the conversation was the protocol's, an audit says.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from protocols.errors import DecodeError
from protocols.runtime.envelope import Envelope, is_signed
from protocols.runtime.session import Session
from protocols.runtime.transcript import read_envelope
from smc_dp.core import reading
from smc_dp.core.errors import Fault, InputError, one_line
from smc_dp.run import approvals, release_consistency
from smc_dp.run.auxiliary import AuxiliaryRows
from smc_dp.run.documents import ReleaseFile, SharesFile
from smc_dp.run.folder import auxiliary, beside, opened, read, read_document, shares, stated, study, warn_of_page
from smc_dp.run.release import SHARES, TIMINGS, TRANSCRIPT, PublishedRelease
from smc_dp.run.run_files import RunPlace, has_file
from smc_dp.run.transcript_header import read_head, read_session

_LONGEST_LINE = 1 << 27  # bytes: twice the longest envelope
_MOST_PUBLIC = 128  # lines for everybody of each participant: more than the stages of a run of 100 sums


@dataclass(frozen=True)
class Checked:
    """A release in a folder, and the files that were missing to hold it against its record."""

    release: PublishedRelease
    folder: RunPlace
    missing: tuple[str, ...]

    @property
    def unaudited(self) -> str | None:
        """What was missing to hold the release against its record, in words; None where nothing was."""
        return f"{self.folder} has no {' and no '.join(self.missing)}" if self.missing else None


@dataclass(frozen=True)
class PublishedRecord:
    """Line 0 of a record, the session that it describes, and what stands published and signed there, by name."""

    head: Mapping[str, Any]
    session: Session
    published: Mapping[str, Envelope]


def checked(folder: RunPlace) -> Checked:
    """The release in a folder, held against whatever lies beside it.

    Raises InputError, naming the field, for what is malformed and for what contradicts the record. Without a record
    nothing is known but that the weights are the sum of the shares, and without shares not even that.
    """
    document = read_document(folder)
    wanted = [name for name in (SHARES, TRANSCRIPT) if name in document.digests.named]
    missing = tuple(name for name in wanted if not has_file(folder, name))
    found = read(folder) if missing == (TRANSCRIPT,) and SHARES in wanted else _held(folder, document, missing)
    warn_of_page(folder)
    return Checked(found, folder, missing)


def _held(folder: RunPlace, document: ReleaseFile, missing: Container[str]) -> PublishedRelease:
    """Return the release, held against the record if there is one."""
    try:
        rows = auxiliary(folder, document)
        if TRANSCRIPT in missing:
            return stated(document, rows)
        return _beside_record(folder, document, rows, SHARES in missing)
    except InputError as error:
        raise error.within(f"run folder {folder}") from None


def _beside_record(
    folder: RunPlace, document: ReleaseFile, rows: AuxiliaryRows | None, no_shares: bool
) -> PublishedRelease:
    """The release, once it has been seen to be what the record says; of the record's own shares if there are no others.

    Raises InputError when it is not.
    """
    record = read_record(beside(folder, document, TRANSCRIPT))
    if has_file(folder, TIMINGS):
        beside(folder, document, TIMINGS)
    found, published, said = stated(document, rows), None, study(folder, document)
    if found.agreement.publishes_shares:
        published = _shares(found, record) if no_shares else shares(folder, document)
        found = opened(document, published, rows)
    if fault := next(filter(None, _faults(found, published, record, said)), None):
        raise InputError(fault.within("release.json and transcript.jsonl differ"))
    return found


def _faults(
    found: PublishedRelease, published: SharesFile | None, record: PublishedRecord, said: bytes | None
) -> Iterator[Fault | None]:
    yield release_consistency.session_fault(record.head, record.session)
    yield release_consistency.agreement_fault(found, record.head, record.session)
    if published is None:
        yield release_consistency.weights_fault(found, record.session, record.published)
    else:
        for name in record.session.names:
            yield release_consistency.share_fault(
                record.session, name, published.shares.get(name), record.published.get(name)
            )
    yield release_consistency.statement_fault(found.privacy, found.agreement.statement.as_dict())
    yield approvals.fault(said, found.agreement, record.head, record.session)


def _shares(found: PublishedRelease, record: PublishedRecord) -> SharesFile:
    """What shares.json would hold; InputError where somebody published none."""
    try:
        numbers = {name: release_consistency.share_numbers(record.session, e) for name, e in record.published.items()}
    except DecodeError as error:
        raise InputError("transcript.no_share_published", why=str(error)) from None
    grid = found.agreement.grid
    texts = {name: [str(y) for y in share] for name, share in numbers.items()}
    return SharesFile(modulus=str(1 << grid.ring_bits), fraction_bits=grid.fraction_bits, shares=texts)


def read_record(content: bytes) -> PublishedRecord:
    """Line 0 of a record, and what was published and signed in it; InputError for what cannot be that."""
    head = read_head(_line(content, 0), TRANSCRIPT)
    _, session = read_session(head, f"{TRANSCRIPT} line 0")
    envelopes = list(_for_everybody(content, session))
    if fault := release_consistency.published_twice(envelopes):
        raise InputError(fault.within(TRANSCRIPT))
    said = {name: e for name, (_, e) in release_consistency.published(envelopes).items()}
    for name, envelope in said.items():
        if name not in session.identities or not is_signed(session.identities[name], envelope):
            raise InputError("transcript.not_signed", name=name[:100])
    return PublishedRecord(head, session, said)


def _for_everybody(content: bytes, session: Session) -> Iterator[tuple[int, Envelope]]:
    """Messages for everybody, with their lines; other lines are not even parsed, for a record may be long."""
    end, number = content.find(b"\n"), 0
    for _ in range(_MOST_PUBLIC * len(session.names)):
        found = content.find(release_consistency.FOR_EVERYBODY, end) if end >= 0 else -1
        if found < 0:
            return
        start = content.rfind(b"\n", 0, found) + 1
        number += content.count(b"\n", end, start)  # from the last one on: a record may be long
        line = _line(content, start)
        end = start + len(line)
        yield number, _envelope(session, line, f"{TRANSCRIPT} line {number}")
    raise InputError("transcript.too_many_messages", parties=len(session.names))


def _line(content: bytes, start: int) -> bytes:
    """The line that begins here, without its end."""
    end = content.find(b"\n", start, start + _LONGEST_LINE)
    if end < 0 and len(content) - start > _LONGEST_LINE:
        raise InputError("transcript.long_line", most=_LONGEST_LINE)
    return content[start : end if end >= 0 else len(content)]


def _envelope(session: Session, line: bytes, where: str) -> Envelope:
    try:
        made = read_envelope(session.id, reading.parse_object(line, where))
        made.encode()  # no integer and no text that CBOR cannot hold
    except InputError:
        raise
    except (ArithmeticError, ValueError) as error:
        raise InputError("transcript.no_message", where=where, why=one_line(str(error))) from None
    return made
