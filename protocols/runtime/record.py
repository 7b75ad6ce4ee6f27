"""Whether a wire record can be what its participants sent: what an auditor sees without any secret.

The hash chain of `transcript` ties the lines together, and anybody could make it anew. Only signatures tie them to
the participants: each greeting, each mark at the end of a stage and each published share is signed by an identity,
over a header that holds the chain of all that this sender sent before.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from protocols.runtime.channel import HELLO, START, Envelope, is_signed
from protocols.runtime.session import PUBLIC_NAME, session_id
from protocols.runtime.transcript import first_break, read_envelope


def fault(text: str, pinned: Mapping[str, bytes] | None = None) -> str | None:
    """What is wrong with a record, in words that name the line; None when nothing is.

    `pinned` are the identities known from elsewhere; without them the record is only consistent with the identities
    that it states itself.
    """
    broken = first_break(text)
    if broken is not None:
        return f"line {broken} is not as it was recorded after the lines before"
    head, *lines = [json.loads(line) for line in text.splitlines()]
    try:
        identities = {str(name): bytes.fromhex(key) for name, key in head["identities"].items()}
        nonce = bytes.fromhex(head["nonce"])
        session = session_id(head["protocol"], head["version"], head["parameters"], identities, nonce)
    except (AttributeError, KeyError, TypeError, ValueError):
        return "line 0 does not describe a session"
    if pinned is not None and dict(pinned) != identities:
        return "line 0 states other identities than those pinned"
    if session.hex() != head["session"]:
        return "line 0 states a session that its parameters do not give"
    return _senders(identities, [read_envelope(session, line) for line in lines])


def _senders(identities: Mapping[str, bytes], envelopes: list[Envelope]) -> str | None:
    chain = dict.fromkeys(identities, START)
    numbers: dict[tuple[str, str], int] = {}
    signed = dict.fromkeys(identities, False)
    for n, envelope in enumerate(envelopes, start=1):
        sender, edge = envelope.sender, (envelope.sender, envelope.to)
        if sender not in identities or envelope.to not in (*identities, PUBLIC_NAME) or envelope.to == sender:
            return f"line {n} is not between participants of the session"
        if envelope.prev != chain[sender]:
            return f"line {n} does not follow what {sender} sent before"
        if envelope.number != numbers.get(edge, 0):
            return f"line {n} has number {envelope.number} on its link, wanted {numbers.get(edge, 0)}"
        signed[sender] = envelope.kind == HELLO or envelope.to == PUBLIC_NAME
        if signed[sender] and not is_signed(identities[sender], envelope):
            return f"line {n} is not signed by {sender}"
        chain[sender], numbers[edge] = envelope.digest, envelope.number + 1
    for sender, last in signed.items():
        if not last or (sender, PUBLIC_NAME) not in numbers:
            return f"the record ends before {sender} has signed what it sent"
    return None
