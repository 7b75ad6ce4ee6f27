"""Openings that anybody can check: published messages have to follow from the participants' greetings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from protocols.crypto.sealing import KEY_BYTES
from protocols.errors import DecodeError
from protocols.programs import PROTOCOLS
from protocols.runtime import message as messages
from protocols.runtime.attestation import Attestation, encode_statement, is_signed_attestation
from protocols.runtime.claims import PublicVerification, Violation
from protocols.runtime.endpoint import Greeted
from protocols.runtime.envelope import Envelope, is_signed, signed_payload
from protocols.runtime.message import Message
from protocols.runtime.session import Session
from smc_dp.core.errors import InputError, shown


def has_openings(session: Session) -> bool:
    """Return whether anybody can compute again what this session publishes."""
    verification = verification_of(session)
    return verification is not None and verification.opens(session.parameters)


def verification_of(session: Session) -> PublicVerification | None:
    """Return the public verification of the session's protocol; None where none is declared."""
    protocol = PROTOCOLS.get(session.program.name)
    return None if protocol is None else protocol.public_verification


def find_wrong_opening(
    session: Session,
    greetings: Mapping[str, Envelope],
    published: Mapping[str, Any],
    verified_statements: list[Attestation] | None = None,
) -> Violation | None:
    """Return what is wrong with published messages, by name; None where nothing is, or nothing is opened.

    `greetings`: the first of each participant. `verified_statements` receives those whose signatures were verified.
    """
    checkable, p = verification_of(session), session.parameters
    if checkable is None or not checkable.opens(p):
        return None
    try:
        greeted = read_greetings(session, greetings)
    except InputError as error:
        return Violation(error.fault)

    def attested(name: str, message: Message, signature: bytes) -> bool:
        said = Attestation(name, type(message).__name__, encode_statement(session, name, message, {}), signature)
        holds = is_signed_attestation(session, said)
        if holds and verified_statements is not None:
            verified_statements.append(said)
        return holds

    said = {name: published[name] for name in session.names if name in published}
    return checkable.verify_publication(p, session.id, greeted, said, attested)


def read_greetings(session: Session, greetings: Mapping[str, Envelope]) -> dict[str, Greeted[Message]]:
    """Return the messages in the greetings; raise InputError where one is missing, unsigned or unreadable."""
    found = {}
    for name in session.greeters:
        envelope, says = greetings.get(name), session.says(name)
        if envelope is None or says is None or not is_signed(session.identities[name], envelope):
            raise InputError("greeting.unsigned", name=shown(name))
        try:
            said: Message = messages.decode(says.kind, signed_payload(envelope)[KEY_BYTES:], session.layout, {})
        except DecodeError as error:
            raise InputError("greeting.unreadable", name=shown(name), why=str(error)) from None
        found[name] = Greeted(said, envelope.digest)
    return found
