"""Conformity: transcript and release are those of the session that line 0 describes, down to each line's text."""

from __future__ import annotations

from collections.abc import Callable

from smc_dp.audit.run.check import Check, CheckOutcome, Takes, Work
from smc_dp.audit.run.conformity import conversation, links, publication, session
from smc_dp.audit.run.conformity.conversation import ScheduledTranscript, with_schedule
from smc_dp.audit.run.evidence import Evidence


def _check(
    name: str, asks: str, run: Callable[[Evidence], CheckOutcome], work: Work = "little", takes: Takes = "folder"
) -> Check:
    return Check("conformity", name, asks, run, work, takes=takes)


def _scheduled(name: str, asks: str, run: Callable[[ScheduledTranscript], CheckOutcome]) -> Check:
    return _check(name, asks, with_schedule(run), "much")


LINK_CHECKS: tuple[Check, ...] = (
    _check("schema", "Is every line in the canonical form of a transcript?", links.check_schema, "lines"),
    _check("hash-chain", "Does each line continue the digest of the line before?", links.check_hash_chain, "lines"),
    _check("participants", "Is every message between participants of the session?", links.check_participants, "lines"),
    _check(
        "sender-chain",
        "Does each message continue the chain of its sender, with the next number?",
        links.check_sender_chain,
        "lines",
    ),
    _check("signatures", "Has each participant signed all its messages?", links.check_signatures, "lines"),
)
SESSION_CHECKS: tuple[Check, ...] = (
    _check(
        "session", "Does the session id follow from the protocol, parameters and identities?", session.check_session
    ),
    _check(
        "identities", "Are the identities those known from elsewhere?", session.check_identities, takes="identities"
    ),
    _check("routes", "Does every message travel on a declared route?", session.check_routes),
    _check("sizes", "Is every message as long as the public parameters say?", session.check_message_sizes),
    _check(
        "greetings", "Did every participant send its session keys (its greeting) at most once?", session.check_greetings
    ),
)
CONVERSATION_CHECKS: tuple[Check, ...] = (
    _scheduled(
        "order", "Did each participant send the messages of its role, in their order?", conversation.check_order
    ),
    _scheduled(
        "rounds", "Was every message sent after the messages that it depends on?", conversation.check_causal_rounds
    ),
    _scheduled("completeness", "Is every message there exactly once?", conversation.check_completeness),
    _check("headers", "Do headers reveal nothing about data or randomness?", conversation.check_headers, "much"),
)
PUBLICATION_CHECKS: tuple[Check, ...] = (
    _check("files", "Do the files have the digests that the release states?", publication.check_files),
    _check("shares", "Are the shares the ones that the participants published?", publication.check_shares),
    _check("release", "Do the released weights follow from what was published?", publication.check_release),
    _check("openings", "Can anybody recompute the published values?", publication.check_openings),
    _check(
        "members", "Does the transcript have the input of each member of a published sum?", publication.check_members
    ),
    _check("absences", "Did each participant sign the list of absent parties?", publication.check_absences, "much"),
    _check("agreed", "Did every participant agree on the facts that the release states?", publication.check_agreement),
    _check("cost", "Is the stated cost the one of the transcript?", publication.check_cost),
)
STUDY_CHECKS: tuple[Check, ...] = (
    _check("approvals", "Did every participant approve of the study that was run?", publication.check_approvals),
    _check(
        "cosigned",
        "Is this the transcript that other sites of the study cosigned?",
        publication.check_cosigned_transcript,
    ),
)
CHECKS: tuple[Check, ...] = (*LINK_CHECKS, *SESSION_CHECKS, *CONVERSATION_CHECKS, *PUBLICATION_CHECKS, *STUDY_CHECKS)
