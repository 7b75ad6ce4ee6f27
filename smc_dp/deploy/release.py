"""Release of a study, made from its transcript by every site for itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import cbor2

from protocols.arithmetic.rng import Stream
from protocols.crypto.identity import Signer
from protocols.curator import CURATOR_NAME
from protocols.errors import DecodeError, ProtocolError
from protocols.runtime.session import PUBLIC_NAME, Session
from protocols.runtime.view import reconstruct_view
from smc_dp.core.errors import InputError, InputFault
from smc_dp.core.writing import write_folder
from smc_dp.deploy.approval import Approval
from smc_dp.deploy.frame import Frame
from smc_dp.deploy.session_driver import Member
from smc_dp.deploy.site import Site
from smc_dp.deploy.site_transcript import PIECE_BYTES, build_transcript
from smc_dp.deploy.study import JointStudy
from smc_dp.run import folder as run_folder
from smc_dp.run.agreement import DEFAULT_SIMULATION
from smc_dp.run.protocols import execution
from smc_dp.run.protocols.cost import Execution
from smc_dp.run.release import PublishedRelease
from smc_dp.run.release_consistency import ReleaseEvidence, find_contradictions


# A view is secret: it holds the site's input and its randomness. It is made on request only, from the first seed of the
# role, and says that its owner read what stands in the transcript, so the site has to have checked the transcript.
def own_view(
    session: Session, name: str, signer: Signer, seed: Stream, inputs: tuple[Any, ...], found: ReleaseEvidence
) -> bytes:
    """Return the view of this participant as a file.

    `seed`: first seed of its role. `inputs`: those of its role with all local answers, as they
    stood in the end. `found`: as `check_transcript` returned it, with its own absences. Raises InputError where this is
    not what the transcript was made from: then the role would have sent something else.
    """
    try:
        view = reconstruct_view(session, name, signer, seed, inputs, found.envelopes, found.absent_to(name))
    except ProtocolError as error:
        raise InputError("view.does_not_follow", name=name, error=str(error)) from None
    return view.dumps(session)


_NO_PIECE = InputFault("record.no_piece")


class NoReleaseError(ProtocolError):
    """End of a session without a release, with the reason."""


def value_in(site: Site, published: Mapping[str, Any]) -> Any:
    """Return the value that these published messages give. `NoReleaseError` where they give none."""
    try:
        return execution.decode_value(site.session, published)
    except ValueError as error:
        raise NoReleaseError("release.no_value", why=str(error)) from None


def as_documents(study: JointStudy, approvals: Mapping[str, Approval]) -> list[dict[str, str]]:
    """Return all approvals as a transcript has them, in the order of the study's names."""
    return [{name: str(value) for name, value in approvals[name].model_dump().items()} for name in study.names]


def transcript_frames(study: str, content: bytes) -> list[Frame]:
    """Return the frames in which a transcript goes to all."""
    pieces = [content[at : at + PIECE_BYTES] for at in range(0, len(content), PIECE_BYTES)]
    bodies = [cbor2.dumps([number, len(pieces), piece]) for number, piece in enumerate(pieces)]
    return [Frame(study, CURATOR_NAME, PUBLIC_NAME, "transcript", i, body) for i, body in enumerate(bodies)]


def transcript_from_frames(frames: Sequence[Frame]) -> bytes | None:
    """Return the transcript in these frames, None while a part is missing. `NoReleaseError` for malformed parts."""
    pieces: dict[int, bytes] = {}
    total = None
    for frame in frames:
        if frame.lane != "transcript" or frame.sender != CURATOR_NAME:
            continue
        try:
            number, count, piece = cbor2.loads(frame.body, max_depth=2)
        except (cbor2.CBORError, ArithmeticError, LookupError, TypeError, ValueError):
            raise NoReleaseError(_NO_PIECE) from None
        if type(count) is not int or type(piece) is not bytes or total not in (None, count):
            raise NoReleaseError(_NO_PIECE)
        if number != frame.number or number >= count:
            raise NoReleaseError(_NO_PIECE)
        total, pieces[number] = count, piece
    if total is None or len(pieces) < total:
        return None
    return b"".join(pieces[number] for number in range(total))


@dataclass(frozen=True, repr=False)
class SessionRelease:
    """Release that was made from a transcript and checked against it, with its study."""

    release: PublishedRelease
    execution: Execution
    study: bytes

    def write(self, folder: Path) -> tuple[str, ...]:
        """Make the run folder; return the members of the release. InputError for a folder that holds anything else."""
        if not folder.exists():
            run_folder.write_run(folder, self.release, self.execution, self.study)
        elif not run_folder.has_release(folder, self.release, self.execution, self.study):  # it was made before a crash
            raise InputError("folder.other_release", folder=str(folder))
        return self.execution.members


def released_from(
    found: ReleaseEvidence, site: Site, member: Member, approvals: Sequence[Mapping[str, str]]
) -> SessionRelease:
    """Return the release of this session, made from its transcript and checked against it and this site's own results.

    `approvals` are as the transcript has them. `NoReleaseError` where nothing was published, or it does not hold.
    """
    agreement, study = member.agreement, member.study.content
    results = {site.name: site.actor.result} if site.actor.done else {}
    seen = replace(found, results=results, statements=tuple(site.actor.heard))
    sent, missed = found.envelopes.values(), found.marks
    transcript = build_transcript(site.session, sent, missed, approvals, agreement.marks, notices=found.notices)
    absent = sorted({mark.sender for _, mark in found.marks})
    try:
        value = value_in(site, seen.published_messages)
        outcome = execution.outcome_of_sites(site.session, seen.published_messages, value, transcript, tuple(absent))
    except DecodeError as error:
        raise NoReleaseError(error.fault) from None
    release = run_folder.make_release(outcome, agreement, DEFAULT_SIMULATION, study)
    if wrong := next(find_contradictions(seen, release, None, study), None):
        raise NoReleaseError(wrong.fault)
    if outcome.execution is None:
        raise NoReleaseError("release.nothing_executed")
    return SessionRelease(release, outcome.execution, study)


def write_own_view(folder: Path, site: Site, signer: Signer, found: ReleaseEvidence) -> None:
    """Write the SECRET view of this participant to a folder of its own, readable by its owner alone.

    The file is called after the participant's place in the session, so that those of all can lie in one folder.
    """
    if folder.exists():  # made before a crash
        return
    if site.first_seed is None:
        raise InputError("views.too_late")
    view = own_view(site.session, site.name, signer, site.first_seed, site.actor.inputs, found)
    write_folder(folder, {f"{site.session.names.index(site.name) + 1}.view": [view]}, 0o700)
