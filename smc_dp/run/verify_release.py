"""Verification of a release against the transcript beside it, which anybody can do before using it, without an audit.

The shares, or the sum itself, have to stand signed in the transcript; the session in which they were signed has to be
bound to all that the release states; and the privacy statement has to follow from it. An audit says whose identities
signed, and whether the messages were those of the protocol.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from protocols.errors import ProtocolError
from protocols.runtime.envelope import Envelope
from protocols.runtime.session import PUBLIC_NAME, Session
from protocols.runtime.transcript import ABSENT, read_absence, read_envelope
from smc_dp.core import reading
from smc_dp.core.errors import InputError, one_line
from smc_dp.run.coefficients import coefficients_fault
from smc_dp.run.documents import ReleaseFile
from smc_dp.run.folder import (
    parse_release,
    read_listed_file,
    read_public_rows,
    read_release_file,
    read_run_files,
    read_shares,
    read_study_bytes,
    recompute_release,
    warn_of_page,
)
from smc_dp.run.release import SHARES, TIMINGS, TRANSCRIPT, PublishedRelease
from smc_dp.run.release_consistency import ReleaseEvidence, find_contradictions, required_messages
from smc_dp.run.run_files import RunFiles, RunPlace, has_file
from smc_dp.run.transcript_header import read_head, read_session

PUBLIC_LINE_MARK = f'"to":"{PUBLIC_NAME}"'.encode()
"""Mark of a line with a published message, as a transcript writes it."""
_Line = TypeVar("_Line")
_LONGEST_LINE = 1 << 27  # bytes: twice the longest envelope
_MOST_PUBLIC = 128  # lines of one kind of each participant: more than the stages of a run of 100 sums


@dataclass(frozen=True)
class VerifiedRelease:
    """Verified release of a folder, and the files that were missing to verify it against its transcript."""

    release: PublishedRelease
    folder: RunFiles
    missing: tuple[str, ...]

    @property
    def missing_files_text(self) -> str | None:
        """Sentence about the missing files; None where the release was verified with all of them."""
        return f"{self.folder} has no {' and no '.join(self.missing)}" if self.missing else None

    def require_transcript(self) -> None:
        """Raise an InputError without the transcript, from which alone figures with intervals follow."""
        if TRANSCRIPT in self.missing:
            missing = self.missing_files_text or ""
            raise InputError("run.not_whole", run=str(self.folder), missing=missing)


def verify_release(folder: RunPlace) -> VerifiedRelease:
    """Return the release in a folder, verified against all files beside it.

    Raises InputError, which names the field, for what is malformed or contradicts the transcript. Without a transcript
    only the weights are verified against the shares, and without shares nothing.
    """
    files = folder if isinstance(folder, RunFiles) else read_run_files(folder)  # each is read once
    document = read_release_file(files)
    wanted = [name for name in (SHARES, TRANSCRIPT) if name in document.digests.named]
    missing = tuple(name for name in wanted if not has_file(files, name))
    found = _verified(files, document, missing)
    if fault := coefficients_fault(found.coefficients, found.result, found.bounds):
        raise InputError(fault.within(f"run folder {files}"))
    warn_of_page(files)
    return VerifiedRelease(found, files, missing)


def _verified(folder: RunFiles, document: ReleaseFile, missing: Container[str]) -> PublishedRelease:
    """Return the release, verified against the transcript if there is one, and against its shares if no others."""
    try:
        rows = read_public_rows(folder, document)
        if has_file(folder, TIMINGS):
            read_listed_file(folder, document, TIMINGS)
        if TRANSCRIPT in missing:
            if SHARES in missing or SHARES not in document.digests.named:
                return parse_release(document, rows)
            return recompute_release(document, read_shares(folder, document), rows)
        recorded = read_release_evidence(read_listed_file(folder, document, TRANSCRIPT))
        found, published, study = parse_release(document, rows), None, read_study_bytes(folder, document)
        if found.agreement.publishes_shares and SHARES not in missing:
            published = read_shares(folder, document)
            found = recompute_release(document, published, rows)
        if wrong := next(find_contradictions(recorded, found, published, study), None):
            raise InputError(wrong.fault.within("release.json and transcript.jsonl differ"))
        return found
    except InputError as error:
        raise error.within(f"run folder {folder}") from None


def read_release_evidence(content: bytes) -> ReleaseEvidence:
    """Return the evidence in a transcript; InputError for what cannot be one.

    Only the lines that the rules need are parsed, for a transcript may be long.
    """
    head = read_head(_line(content, 0), TRANSCRIPT)
    _, session = read_session(head, f"{TRANSCRIPT} line 0")
    most = _MOST_PUBLIC * len(session.names)
    public = _envelopes(session, _marked(content, PUBLIC_LINE_MARK, most))
    absent = {n: _parsed(line, n, read_absence) for n, line in _marked(content, _kind(ABSENT), most)}
    known = ReleaseEvidence(head, session, public, absent)
    try:
        kinds = sorted({need.kind for need in required_messages(known)})
    except (ProtocolError, ValueError):  # the rules report that
        return known
    sent = [entry for kind in kinds for entry in _marked(content, _kind(kind), most)]
    return ReleaseEvidence(head, session, public | _envelopes(session, sent), absent)


def _marked(content: bytes, mark: bytes, most: int) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that have this mark in them, with their numbers; raise InputError for more than so many."""
    end, number = content.find(b"\n"), 0
    for _ in range(most):
        found = content.find(mark, end) if end >= 0 else -1
        if found < 0:
            return
        start = content.rfind(b"\n", 0, found) + 1
        number += content.count(b"\n", end, start)  # from the last one on: a transcript may be long
        line = _line(content, start)
        end = start + len(line)
        yield number, line
    raise InputError("transcript.too_many_messages", most=most, mark=mark.decode())


def _kind(name: str) -> bytes:
    """Return the mark of a line of this kind, as a transcript writes it."""
    return f'"kind":"{name}"'.encode()


def _envelopes(session: Session, lines: Iterable[tuple[int, bytes]]) -> dict[int, Envelope]:
    def read(found: dict[str, Any]) -> Envelope:
        envelope = read_envelope(session.id, found)
        envelope.encode()  # no integer and no text that CBOR cannot hold
        return envelope

    return {n: _parsed(line, n, read) for n, line in lines if _kind(ABSENT) not in line}


def _parsed(line: bytes, number: int, read: Callable[[dict[str, Any]], _Line]) -> _Line:
    """Return what a line holds; raise an InputError, which names the line, for anything else."""
    where = f"{TRANSCRIPT} line {number}"
    try:
        return read(reading.parse_object(line, where))
    except InputError:
        raise
    except (ArithmeticError, ValueError) as error:
        raise InputError("transcript.no_message", where=where, why=one_line(str(error))) from None


def _line(content: bytes, start: int) -> bytes:
    """Return the line that begins here, without its end."""
    end = content.find(b"\n", start, start + _LONGEST_LINE)
    if end < 0 and len(content) - start > _LONGEST_LINE:
        raise InputError("transcript.long_line", most=_LONGEST_LINE)
    return content[start : end if end >= 0 else len(content)]
