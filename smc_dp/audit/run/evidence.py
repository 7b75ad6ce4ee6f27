"""Evidence of an audit, read with suspicion: a run folder, pinned identities, views. Data of strangers, not code.

Every file is bounded in size and must be a plain file inside its folder; every value is looked at before it is used.
What cannot be read at all raises InputError; what can be read and is wrong is kept as it is, for a check to find.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from protocols.errors import ReplayError
from protocols.programs import Protocol
from protocols.runtime.attestation import Attestation
from protocols.runtime.envelope import Envelope
from protocols.runtime.protocol import Limits
from protocols.runtime.session import Session
from protocols.runtime.transcript import Line
from protocols.runtime.view import MAX_VIEW_BYTES, RecordedView, recompute
from protocols.runtime.view import Recomputed as Recomputed
from smc_dp.core import reading
from smc_dp.core.documents import Read, validate_document
from smc_dp.core.errors import InputError
from smc_dp.run.auxiliary import AuxiliaryRows
from smc_dp.run.documents import ReleaseFile, SharesFile, StatedDigests, StatedParameters, refuse_other_format
from smc_dp.run.folder import listed_files, parse_release, read_content, recompute_release, warn_of_page
from smc_dp.run.identities import PUBLIC_FILE, parse_identities
from smc_dp.run.release import AUXILIARY, COSIGNED, RELEASE, SHARES, STUDY, TIMINGS, TRANSCRIPT, PublishedRelease
from smc_dp.run.release_consistency import ReleaseEvidence
from smc_dp.run.run_files import RunPlace, has_file, path_of, read_run_file
from smc_dp.run.transcript_header import read_head, read_session
from smc_dp.run.transcript_lines import Absence, TranscriptLines, parse_lines

# What an audit looks at must fit into 2 GB of memory, whatever stands in it.
MAX_TRANSCRIPT_BYTES = 1 << 28  # of the transcript
_MAX_REPLAYED = 1 << 18  # lines of a transcript beside which views are read: what views open stays in memory
_MAX_VIEWS_BYTES = 1 << 27


@dataclass(frozen=True, repr=False)
class Evidence:
    """Evidence that an audit was given.

    `files`: the raw bytes of the run folder by name. `release`, `shares`: the JSON objects in two of them; `shares` is
    None where no shares were published. `head` is line 0 of the transcript, `lines` are the others; `envelopes` and
    `absences` hold, by line, those that can be read. `session` is what line 0 describes (a check compares its id).
    `pinned`: identities known from elsewhere, or None. `views`: by role. `auxiliary`: the public rows in the folder, if
    the release states any. `handed_over`: the SHA-256 of each file beside the folder, under the name of its kind.
    """

    folder: RunPlace
    files: Mapping[str, bytes]
    release: Mapping[str, Any]
    shares: Mapping[str, Any] | None
    head: Line
    lines: TranscriptLines
    envelopes: Mapping[int, Envelope]
    absences: Mapping[int, Absence]
    protocol: Protocol
    session: Session
    pinned: Mapping[str, bytes] | None
    views: Mapping[str, RecordedView]
    auxiliary: AuxiliaryRows | None = None
    handed_over: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def recomputed(self) -> Mapping[str, Recomputed]:
        """Recomputed role of each view; kept, because it costs as much as the role did."""
        return {name: recompute(self.session, view, self.envelopes) for name, view in self.views.items()}

    @cached_property
    def recorded(self) -> ReleaseEvidence:
        """Evidence on the release in the transcript alone."""
        return ReleaseEvidence(self.head, self.session, self.envelopes, self.absences)

    @cached_property
    def recorded_and_viewed(self) -> ReleaseEvidence:
        """Evidence on the release in transcript and views; it costs as much as `recomputed`."""
        again = self.recomputed
        signed = ((name, said) for name, view in self.views.items() for said in view.statements)
        stated = (Attestation(name, *said[1:]) for name, said in signed)
        return replace(
            self.recorded,
            results={name: found.result for name, found in again.items() if found.result is not None},
            statements=(*stated, *(said for found in again.values() for said in found.heard)),
        )

    @property
    def study(self) -> bytes | None:
        """Document that everybody approved, where the release states one."""
        return self.files.get(STUDY)

    @property
    def took_detour(self) -> bool:
        """Return whether the protocol took its detour, because a message was not as it should be."""
        detour = self.protocol.model.detour
        return detour is not None and any(e.kind == detour.shown_by.__name__ for e in self.envelopes.values())

    @cached_property
    def timings(self) -> bytes | None:
        """File of costs, None where there is none; raises InputError for one that cannot be read."""
        if not has_file(self.folder, TIMINGS):
            return None
        return read_run_file(self.folder, TIMINGS, reading.MAX_JSON_BYTES)

    @cached_property
    def cosigned(self) -> bytes | None:
        """Cosigned head of the transcript, None without one; raises InputError for a file that cannot be read."""
        return read_content(self.folder, COSIGNED) if has_file(self.folder, COSIGNED) else None

    @cached_property
    def digests(self) -> Mapping[str, str]:
        """Digests that the release states of the files beside it; raises InputError for what is no such section."""
        return self._section(StatedDigests, "digests").named

    @cached_property
    def parameters(self) -> StatedParameters:
        """Parameters that the release states; raises InputError for what is no such section."""
        return self._section(StatedParameters, "parameters")

    @cached_property
    def shares_file(self) -> SharesFile:
        """Published shares; raises InputError for what are none."""
        return validate_document(SharesFile, self.shares or {}, SHARES)

    @cached_property
    def release_file(self) -> ReleaseFile:
        """Release as its file states it; raises InputError for what is none."""
        return validate_document(ReleaseFile, self.release, RELEASE)

    @cached_property
    def published_release(self) -> PublishedRelease:
        """Release, held against the shares if there are any; raises InputError for what is none."""
        if self.shares is None:
            return parse_release(self.release_file, self.auxiliary)
        return recompute_release(self.release_file, self.shares_file, self.auxiliary)

    def _section(self, kind: type[Read], name: str) -> Read:
        return validate_document(kind, self.release.get(name), name)


def load_evidence(folder: RunPlace, identities: Path | None = None, views: Path | None = None) -> Evidence:
    """Read all evidence; raise InputError, naming the file, for what cannot be read."""
    files = {RELEASE: read_run_file(folder, RELEASE, reading.MAX_JSON_BYTES)}
    release, shares = reading.parse_object(files[RELEASE], str(path_of(folder, RELEASE))), None
    try:
        refuse_other_format(release)
    except InputError as error:
        raise error.within(str(path_of(folder, RELEASE))) from None
    named = listed_files(release)
    if has_file(folder, SHARES) or SHARES in named:
        files[SHARES] = read_run_file(folder, SHARES, reading.MAX_JSON_BYTES)
        shares = reading.parse_object(files[SHARES], str(path_of(folder, SHARES)))
    rows = None
    if AUXILIARY in named:
        files[AUXILIARY] = read_run_file(folder, AUXILIARY, reading.MAX_JSON_BYTES)
        rows = AuxiliaryRows.read(files[AUXILIARY], str(path_of(folder, AUXILIARY)))
    if STUDY in named:
        files[STUDY] = read_run_file(folder, STUDY, reading.MAX_JSON_BYTES)
    files[TRANSCRIPT] = read_run_file(folder, TRANSCRIPT, MAX_TRANSCRIPT_BYTES)
    where = str(path_of(folder, TRANSCRIPT))
    lines, head = _read(files[TRANSCRIPT], where)
    if views is not None and len(lines) > _MAX_REPLAYED:
        raise InputError("views.record_too_long", views=str(views), most=_MAX_REPLAYED)
    protocol, session = read_session(head, f"{where} line 0")
    envelopes, absences = parse_lines(session, lines)
    pinned, handed_over = None, {}
    if identities is not None:
        identities = identities / PUBLIC_FILE if identities.is_dir() else identities
        content = reading.read_file(identities, reading.MAX_JSON_BYTES)
        pinned, handed_over = (
            parse_identities(content, str(identities)),
            _digest("identities", identities.name, content),
        )
    read = {} if views is None else _views(views, session, protocol.limits)
    for _, of_view in read.values():
        handed_over |= of_view
    if isinstance(folder, Path):  # files that were read before are used after this audit, with this warning
        warn_of_page(folder)
    return Evidence(
        folder, files, release, shares, head, lines, envelopes, absences, protocol, session, pinned,
        {role: view for role, (view, _) in read.items()}, auxiliary=rows, handed_over=handed_over,
    )  # fmt: skip


def _digest(kind: str, name: str, content: bytes) -> dict[str, str]:
    """Return the digest of a file under a name that no file of a run folder has."""
    readable = os.fsencode(name).decode(errors="replace")
    return {f"{kind}/{readable}": hashlib.sha256(content).hexdigest()}


def _read(content: bytes, where: str) -> tuple[TranscriptLines, dict[str, Any]]:
    """Return the lines of a transcript, and its line 0, which is of this program's format."""
    if not content.isascii():
        raise InputError("transcript.not_ascii", where=where)
    try:
        lines = TranscriptLines(content)
    except InputError as error:
        raise error.within(where) from None
    return lines, read_head(lines.text(0), where)


def _views(folder: Path, session: Session, limits: Limits) -> dict[str, tuple[RecordedView, dict[str, str]]]:
    """Return the view of each role, with the digest of its file."""
    try:
        names = sorted(entry.name for entry in os.scandir(folder) if entry.name.endswith(".view"))
    except OSError as error:
        raise InputError("views.unreadable", folder=str(folder), why=error.strerror) from None
    most, keys = limits.parties + 1, limits.keys
    if not names or len(names) > most:
        raise InputError("views.too_few_or_many", folder=str(folder), most=most, got=len(names))
    if keys is not None and keys.bits(session.parameters) > keys.replayed:
        raise InputError("views.keys_too_long", folder=str(folder), most=keys.replayed, parameter=keys.parameter)
    views: dict[str, tuple[RecordedView, dict[str, str]]] = {}
    left = _MAX_VIEWS_BYTES
    for name in names:
        content = reading.read_file(folder / name, min(MAX_VIEW_BYTES, left))
        left -= len(content)
        try:
            view = RecordedView.loads(content, session)
        except ReplayError as error:
            raise InputError(error.fault.within(str(folder / name))) from None
        if view.role in views:
            raise InputError("views.role_twice", file=str(folder / name), role=view.role)
        views[view.role] = view, _digest("views", name, content)
    return views
