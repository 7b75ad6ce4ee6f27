"""Conformity: whether record and release are those of the session that line 0 describes, down to each line's text."""

from __future__ import annotations

from collections.abc import Callable

from smc_dp.audit.run.check import Check, CheckOutcome, Takes, Work
from smc_dp.audit.run.conformity import conversation, links, publication, session
from smc_dp.audit.run.conformity.conversation import Given, beside_schedule
from smc_dp.audit.run.evidence import Evidence


def _check(
    name: str, asks: str, run: Callable[[Evidence], CheckOutcome], work: Work = "little", takes: Takes = "folder"
) -> Check:
    return Check("conformity", name, asks, run, work, takes=takes)


def _scheduled(name: str, asks: str, run: Callable[[Given], CheckOutcome]) -> Check:
    return _check(name, asks, beside_schedule(run), "much")


LINKS: tuple[Check, ...] = (
    _check("schema", "Is every line written exactly as a record writes it?", links.schema, "lines"),
    _check("hash-chain", "Does each line continue the digest of the line before?", links.hash_chain, "lines"),
    _check("participants", "Is every message between participants of the session?", links.participants, "lines"),
    _check("sender-chain", "Does each message continue its sender's own chain and count?", links.sender_chain, "lines"),
    _check("signatures", "Has each participant signed all that it sent?", links.signatures, "lines"),
)
SESSION: tuple[Check, ...] = (
    _check("session", "Is the session the one that its protocol, parameters and identities give?", session.session),
    _check("identities", "Are the identities those known from elsewhere?", session.identities, takes="identities"),
    _check("routes", "Does every message travel on a declared route?", session.routes),
    _check("sizes", "Is every message as long as the public parameters say?", session.sizes),
    _check("greetings", "Has nobody greeted twice?", session.greetings),
)
CONVERSATION: tuple[Check, ...] = (
    _scheduled("order", "Did everybody send what its role sends, in that order?", conversation.order),
    _scheduled("rounds", "Was nothing sent before what it follows from?", conversation.rounds),
    _scheduled("completeness", "Is nothing missing and nothing there twice?", conversation.completeness),
    _scheduled("headers", "Do headers tell nothing about data or coins?", conversation.headers),
)
PUBLICATION: tuple[Check, ...] = (
    _check("files", "Are the files those whose digests the release states?", publication.files),
    _check("shares", "Are the shares those that the participants published?", publication.shares),
    _check("release", "Are the released weights the sum of the shares?", publication.release),
    _check("openings", "Can anybody make again what was published?", publication.openings),
    _check("members", "Has each member of a published sum its input in the record?", publication.members),
    _check("absences", "Did everybody sign whom it went on without?", publication.absences, "much"),
    _check("agreed", "Did everybody agree on what the release states?", publication.agreement),
    _check("cost", "Is the stated cost that of the record?", publication.cost, "much"),
)
STUDY: tuple[Check, ...] = (
    _check("approvals", "Did everybody approve of the study that was run?", publication.approvals),
)
CHECKS: tuple[Check, ...] = (*LINKS, *SESSION, *CONVERSATION, *PUBLICATION, *STUDY)
