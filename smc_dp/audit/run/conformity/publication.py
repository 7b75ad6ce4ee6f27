"""Publication: what was published is what the transcript commits to: files, shares, weights, parameters, cost."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import fields

import numpy as np

from protocols.runtime.network import LINK_MODELS, Traffic, traffic
from smc_dp.audit.run.blame import absent_senders
from smc_dp.audit.run.check import (
    CheckOutcome,
    failed,
    make_fault,
    not_applicable,
    not_possible,
    passed,
    refuted_outcome,
)
from smc_dp.audit.run.conformity.conversation import refuted_readers
from smc_dp.audit.run.evidence import Evidence
from smc_dp.core import reading
from smc_dp.core.documents import validate_document
from smc_dp.core.errors import Fault, InputError, shown
from smc_dp.privacy.ledger.signed_note import Checkpoint
from smc_dp.run.coefficients import coefficients_fault
from smc_dp.run.cosigned_transcript import CosignedTranscript
from smc_dp.run.documents import StageTimings, TimingsFile
from smc_dp.run.protocols.openings import has_openings
from smc_dp.run.release import COSIGNED, RELEASE, SHARES, TIMINGS, TRANSCRIPT
from smc_dp.run.release_consistency import (
    absences_fault,
    agreement_fault,
    approvals_fault,
    members_fault,
    openings_fault,
    required_messages,
    shares_fault,
    weights_fault,
)
from smc_dp.run.transcript_header import APPROVALS

_NAMED = 8  # more participants are counted
_COUNTED = tuple(field.name for field in fields(Traffic))


def check_files(evidence: Evidence) -> CheckOutcome:
    """Check that every file of the folder has the digest that the release states."""
    digests = evidence.digests
    contents = {name: content for name, content in evidence.files.items() if name != RELEASE}
    if evidence.timings is not None:
        contents[TIMINGS] = evidence.timings
    for name, content in contents.items():
        if digests.get(name) != hashlib.sha256(content).hexdigest():
            return failed("file.other_digest", name=name, release=RELEASE)
    return passed("files.hold", names=tuple(contents))


def check_shares(evidence: Evidence) -> CheckOutcome:
    """Check that shares.json holds, number by number, what the participants signed and published."""
    if evidence.shares is None:
        return not_applicable("shares.none", shares=SHARES)
    stated = evidence.shares_file.shares
    hygiene = evidence.protocol.model.hygiene
    if hygiene is None:
        return not_applicable("shares.ring_not_declared")
    ring_bits = hygiene.ring_bits(evidence.session.parameters)
    if evidence.shares_file.modulus != str(1 << ring_bits):
        return failed("shares.other_modulus", ring_bits=ring_bits, got=shown(evidence.shares_file.modulus))
    said = evidence.recorded.published
    if evidence.absences and not said:
        return not_possible("shares.nothing_published")
    names = [name for name in evidence.session.names if name in said or name not in absent_senders(evidence)]
    reading.require_keys("shares", stated, set(names))
    if wrong := shares_fault(evidence.shares_file, evidence.recorded):
        return refuted_outcome(evidence, wrong)
    return passed("shares.hold", shares=len(names), numbers=len(stated[names[0]]))


def check_release(evidence: Evidence) -> CheckOutcome:
    """Check that the release is well-formed, its weights those of the shares' sum or of the published result, and its
    coefficients those of the weights; or its description that of the published result.
    """
    found = evidence.published_release
    if evidence.shares is None and (wrong := weights_fault(found, evidence.recorded)):
        return refuted_outcome(evidence, wrong)
    if fault := coefficients_fault(found.coefficients, found.result, found.bounds):
        return failed(fault)
    if found.description is not None:
        return passed("release.describes_published_sum", numbers=len(found.description.sums))
    if evidence.shares is None:
        return passed("release.is_published_sum", weights=np.size(found.weights))
    return passed("release.is_sum_of_shares", weights=np.size(found.weights), parties=len(evidence.session.parties))


def check_agreement(evidence: Evidence) -> CheckOutcome:
    """Check that the session is bound to parameters, bounds, grid and insecure markers of the release."""
    found = evidence.published_release
    if wrong := agreement_fault(found, evidence.recorded, evidence.study):
        return refuted_outcome(evidence, wrong)
    columns = len(found.bounds.columns)
    return passed("agreed.holds", parameters=len(found.parameters), columns=columns)


def check_approvals(evidence: Evidence) -> CheckOutcome:
    """Check that each participant signed its approval of one study, which says what the release says.

    The session's nonce is made of these approvals, so that they were given for this session alone. Whose identities
    these are is asked by `identities`.
    """
    head, study = evidence.head, evidence.study
    if APPROVALS not in head and study is None:
        return not_applicable("approvals.simulation")
    if wrong := approvals_fault(study, evidence.published_release, evidence.recorded):
        return refuted_outcome(evidence, wrong)
    count = len(evidence.session.names)
    return passed("approvals.hold", count=count, study=hashlib.sha256(study or b"").hexdigest())


def check_absences(evidence: Evidence) -> CheckOutcome:
    """Check that each participant that went on without a message signed that.

    If its own messages refute that, the conversation is held against its schedule without its word; nobody else is
    blamed.
    """
    if APPROVALS not in evidence.head:
        return not_applicable("absences.simulation")
    if approvals_fault(evidence.study, evidence.published_release, evidence.recorded):
        return not_possible("absences.not_approved")
    if wrong := absences_fault(evidence.recorded):
        return refuted_outcome(evidence, wrong)
    refuted = sorted(refuted_readers(evidence))
    if refuted:
        return passed("absences.refuted", count=len(evidence.absences), names=refuted)
    return passed("absences.hold", count=len(evidence.absences))


def check_openings(evidence: Evidence) -> CheckOutcome:
    """Check that the publication can be made again from all greetings and what was published beside it."""
    recorded = evidence.recorded
    if not has_openings(evidence.session):
        return not_applicable("openings.not_public")
    if not recorded.published:
        return not_possible("openings.letters_given_up" if evidence.absences else "openings.nothing_published")
    if wrong := openings_fault(recorded):
        return refuted_outcome(evidence, wrong)
    said = recorded.published
    return passed("openings.hold", who=", ".join(said) if len(said) <= _NAMED else f"all {len(said)} participants")


def check_members(evidence: Evidence) -> CheckOutcome:
    """Check that each member of a published sum has its input in the transcript, and is not absent there."""
    if wrong := members_fault(evidence.recorded):
        return refuted_outcome(evidence, wrong)
    if not (count := len(tuple(required_messages(evidence.recorded)))):
        return not_applicable("members.not_listed")
    return passed("members.hold", count=count)


def check_cost(evidence: Evidence) -> CheckOutcome:
    """Check that the messages, bytes and rounds in timings.json are those of the transcript, in all and by stage.

    Rounds are counted from what messages state, which `rounds` checks. Seconds cannot be checked.
    """
    content = evidence.timings
    if content is None:
        return not_applicable("timings.none")
    stated = validate_document(TimingsFile, reading.parse_object(content, TIMINGS), TIMINGS)
    link, topology = evidence.parameters.link, evidence.head["topology"]
    found = traffic(evidence.envelopes.values(), evidence.session, LINK_MODELS[link], topology)
    if fault := _stages_fault(stated.by_stage, found):
        return failed(fault)
    total = {name: sum(getattr(stage, name) for stage in found.values()) for name in _COUNTED}
    for name, value in total.items():
        if (said := getattr(stated, name)) != value:
            return failed("timings.other_total", name=name, stated=said, recorded=value)
    counted = ", ".join(f"{value} {name}" for name, value in total.items())
    seconds = "the seconds were not checked" if _has_seconds(stated) else "no seconds are stated"
    return passed("cost.holds", counted=counted, seconds=seconds)


def _has_seconds(stated: TimingsFile) -> bool:
    """Return whether anybody says how long it took: separate sites measure nothing together."""
    return stated.seconds != 0 or any(stage.seconds for stage in stated.by_stage)


def _stages_fault(stated: list[StageTimings], found: Mapping[str, Traffic]) -> Fault | None:
    """Return the fault in the figures of a stage; one with seconds alone has no messages."""
    named: set[str] = set()
    for stage in stated:
        if stage.stage in named:
            return make_fault("timings.stage_twice", stage=shown(stage.stage))
        named.add(stage.stage)
        sent = found.get(stage.stage, Traffic())
        for name in _COUNTED:
            if (said := getattr(stage, name)) != getattr(sent, name):
                return make_fault(
                    "timings.other_figure",
                    stated=said,
                    name=name,
                    stage=shown(stage.stage),
                    recorded=getattr(sent, name),
                )
    if (missing := next((name for name in found if name not in named), None)) is None:
        return None
    return make_fault("timings.lacks_stage", stage=shown(missing))


def check_cosigned_transcript(evidence: Evidence) -> CheckOutcome:
    """Check that the transcript is the one whose head the curator signed, and say which other sites cosigned it.

    The release does not state this head, which is made after it: a folder without one is as the sites left it, or
    somebody has removed it.
    """
    try:
        if evidence.cosigned is None:
            return not_applicable("cosigned.none", file=COSIGNED)
        found = CosignedTranscript.read(evidence.cosigned)
        names = found.cosigners(evidence.session, evidence.files[TRANSCRIPT])
    except InputError as error:
        return failed(error.fault)
    if not names:
        return not_applicable("cosigned.by_nobody")
    return passed("cosigned.holds", lines=Checkpoint.read(found.head.text).size, names=tuple(names))
