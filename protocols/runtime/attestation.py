"""Attestations: statements that a participant signs apart from its messages, so that a third party can verify them."""

from __future__ import annotations

from typing import NamedTuple

import cbor2

from protocols.errors import LocalError
from protocols.runtime import message as messages
from protocols.runtime import shared_work
from protocols.runtime.message import PUBLIC, Keys, Message
from protocols.runtime.session import Session

_LABEL = b"smc-dp statement"


class Attestation(NamedTuple):
    """Statement with its signature: name of the signer, kind of the statement, its canonical bytes, the signature."""

    name: str
    kind: str
    payload: bytes
    signature: bytes


def signing_input(session_id: bytes, name: str, kind: str, payload: bytes) -> bytes:
    """Return the bytes that are signed: an array of five, where the header of an envelope is one of eight."""
    return cbor2.dumps([_LABEL, session_id, name, kind, payload], canonical=True)


def encode_statement(session: Session, name: str, message: Message, keys: Keys) -> bytes:
    """Return the canonical bytes of a statement; raise `LocalError` for one that the participant may not attest."""
    kind = type(message)
    if kind not in session.program.statements or not kind.route.allows(session.kind(name), PUBLIC):
        raise LocalError("statement.not_declared", kind=kind.__name__, name=name, program=session.program.name)
    return messages.encode(message, session.layout, keys)


def is_signed_attestation(session: Session, said: Attestation) -> bool:
    """Tell whether the pinned identity of its signer signed a statement of this session."""
    signed = signing_input(session.id, said.name, said.kind, said.payload)
    return shared_work.verify(session.identities[said.name], signed, said.signature)
