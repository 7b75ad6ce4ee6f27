"""The public board: what everybody can read, in the order it was posted."""

from __future__ import annotations

from typing import Any

from protocols.errors import DecodeError, PeerError
from protocols.runtime import message as messages
from protocols.runtime.channel import STAGE_END, Envelope, check_header, verify_signed
from protocols.runtime.message import PUBLIC
from protocols.runtime.session import PUBLIC_NAME, Session


class Board:
    """Public mail of one session; `received` counts each sender's, `published` holds each participant's one message."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.received: dict[str, int] = {}
        self.published: dict[str, Any] = {}

    def post(self, envelope: Envelope, reference: int) -> None:
        """Take the next envelope of its sender; raises `PeerError` for one that does not belong or does not hold."""
        sender = envelope.sender
        wanted = self.received.get(sender, 0)
        check_header(self.session, PUBLIC_NAME, envelope, wanted, reference)
        try:
            self._read(envelope, verify_signed(self.session, envelope))
        except DecodeError as error:
            raise PeerError(sender, f"{envelope.kind} (public): {error}", [reference]) from None
        self.received[sender] = wanted + 1

    def _read(self, envelope: Envelope, payload: bytes) -> None:
        sender = envelope.sender
        if envelope.kind == STAGE_END:
            if payload:
                raise DecodeError("the mark at the end of a stage carries nothing")
            return
        kinds = {kind.__name__: kind for kind in self.session.program.kinds}
        kind = kinds.get(envelope.kind)
        if kind is None or not kind.route.allows(self.session.kind(sender), PUBLIC):
            raise DecodeError("not a message that its sender may publish")
        if sender in self.published:
            raise DecodeError("published before")
        self.published[sender] = messages.decode(kind, payload, self.session.layout, {})
