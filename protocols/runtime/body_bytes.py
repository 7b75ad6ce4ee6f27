"""Lengths of the bodies of envelopes: a function of public parameters alone, for counts, audits and plans."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TypeAlias

from protocols.crypto.identity import SIGNATURE_BYTES
from protocols.crypto.sealing import KEY_BYTES, OVERHEAD_BYTES
from protocols.runtime import message as messages
from protocols.runtime.envelope import HELLO, STAGE_END
from protocols.runtime.session import PUBLIC_NAME, Session

BodyBytes: TypeAlias = Callable[[str, str, str, str], int | None]
"""Length of a body by sender, addressee, kind and stage; None for an unknown kind."""


def body_bytes(session: Session) -> BodyBytes:
    """Return the function that gives the length of each body of a session."""

    @cache
    def payload(kind: str, stage: str) -> int:
        return messages.size(session.kinds[kind], session.layout_in(stage))

    @cache
    def said(name: str) -> int:
        greeting = session.says(name)
        return messages.size(greeting.kind, session.layout) if greeting else 0

    def length(sender: str, to: str, kind: str, stage: str) -> int | None:
        if kind == HELLO:
            return KEY_BYTES + said(sender) + SIGNATURE_BYTES
        if kind == STAGE_END:
            return SIGNATURE_BYTES
        around = SIGNATURE_BYTES if to == PUBLIC_NAME else OVERHEAD_BYTES
        return payload(kind, stage) + around if kind in session.kinds else None

    return length
