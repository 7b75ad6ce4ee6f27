"""Statements: whether what participants signed beside their messages contradicts itself, and holds by itself.

Nobody is named here but by its own signature of what is wrong. That somebody was absent, refused, entered false numbers
or sealed to one reader a share that it had not committed to shows nobody else who was to blame.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from protocols.crypto.identity import verify
from protocols.errors import DecodeError
from protocols.runtime import message as messages
from protocols.runtime.attestation import Attestation, signing_input
from protocols.runtime.claims import DisclosedMessage
from smc_dp.audit.run.blame import Culprit, identity_key, line_signer, signed_greeting
from smc_dp.audit.run.check import Check, CheckOutcome, failed, not_applicable, not_possible, passed, refuted_outcome
from smc_dp.audit.run.evidence import Evidence
from smc_dp.audit.run.view_messages import NO_VIEWS_OUTCOME, decrypted_messages, describe_views
from smc_dp.core.errors import InputError, shown
from smc_dp.run.protocols.openings import read_greetings
from smc_dp.run.release_consistency import openings_fault, promise_fault


def check_statements(evidence: Evidence) -> CheckOutcome:
    """Check that nobody signed two different statements of one kind about the same thing, named by their first field.

    They are those in the given views, those that their roles saw to be signed, and those in what was published.
    """
    if not evidence.session.program.statements:
        return not_applicable("statements.none_in_protocol")
    found = {said: None for said in _all_signed(evidence) if _holds(evidence, said)}
    about: dict[tuple[str, str, bytes], Attestation] = {}
    for said in found:
        first = about.setdefault((said.name, said.kind, _about(evidence, said)), said)
        if first.payload != said.payload:
            signed = signing_input(evidence.session.id, *said[:3])
            culprit = Culprit(said.name, evidence, signed, said.signature)
            return failed("statement.contradicted", culprit=culprit, name=shown(said.name), kind=said.kind)
    if not found:
        if not evidence.views:
            return NO_VIEWS_OUTCOME
        return not_applicable("statements.none_in_views")
    return passed("statements.hold", statements=len(found), signers=len({said.name for said in found}))


def _all_signed(evidence: Evidence) -> Iterator[Attestation]:
    verified_statements: list[Attestation] = []
    openings_fault(evidence.recorded, verified_statements)
    yield from (*evidence.recorded_and_viewed.statements, *verified_statements)


def _holds(evidence: Evidence, said: Attestation) -> bool:
    public = identity_key(evidence, said.name)
    signed = signing_input(evidence.session.id, *said[:3])
    return public is not None and verify(public, signed, said.signature)


def _about(evidence: Evidence, said: Attestation) -> bytes:
    """Return the first field of a statement, as it is encoded; all of it when it is none of this protocol's."""
    kind = next((kind for kind in evidence.session.program.statements if kind.__name__ == said.kind), None)
    try:
        read: Any = messages.decode(kind, said.payload, evidence.session.layout, {}) if kind else None
    except DecodeError:
        read = None
    return said.payload if read is None else repr(getattr(read, read.slots[0].name)).encode()


def check_word(evidence: Evidence) -> CheckOutcome:
    """Check that what was published is what the owners of the given views were told, sealed or signed."""
    if evidence.session.program.broken_commitment is None:
        return not_applicable("published_values.none_in_protocol")
    if not evidence.views:
        return NO_VIEWS_OUTCOME
    recorded = evidence.recorded_and_viewed
    if not recorded.published:
        return not_applicable("published_values.nothing_published")
    if wrong := promise_fault(recorded):
        return refuted_outcome(evidence, wrong)
    return passed("published_values.holds", owners=len(recorded.results), statements=len(recorded.statements))


def check_commitments(evidence: Evidence) -> CheckOutcome:
    """Check that opened messages open what their senders committed to in greetings."""
    checkable = evidence.protocol.public_verification
    if checkable is None:
        return not_applicable("commitments.none_in_protocol")
    if not evidence.views:
        return NO_VIEWS_OUTCOME
    try:
        greeted = read_greetings(evidence.session, evidence.recorded.greetings)
    except InputError as error:
        return not_possible(error.code, **error.fault.fields)
    messages = [
        DisclosedMessage(decrypted.envelope.sender, decrypted.envelope.to, decrypted.envelope.stage, decrypted.message)
        for decrypted in decrypted_messages(evidence)
        if decrypted.message is not None
    ]
    wrong = checkable.verify_messages(evidence.session.parameters, greeted, messages)
    if wrong is None:
        return passed("commitments.hold", messages=len(messages), evidence=describe_views(evidence))
    found = signed_greeting(evidence, wrong.name) if wrong.name else None
    line = found[0] if found else None
    return failed(wrong.fault, line=line, culprit=None if line is None else line_signer(evidence, line))


CHECKS: tuple[Check, ...] = (
    Check(
        "statements",
        "statements",
        "Did each participant sign at most one statement about each thing?",
        check_statements,
    ),
    Check(
        "statements",
        "published-values",
        "Are the published values those that the owners of views received?",
        check_word,
    ),
    Check("statements", "commitments", "Do messages open the commitments of the greetings?", check_commitments),
)
