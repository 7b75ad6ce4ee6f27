"""What an engine tells whoever measures a run."""

from __future__ import annotations

from typing import Protocol

from protocols.runtime.endpoint import Want
from protocols.runtime.envelope import Envelope
from protocols.runtime.inbox import InboxEntry
from protocols.runtime.message import Message


class Observer(Protocol):
    """Whoever measures a run; no role can reach it."""

    def stage(self, name: str, stage: str) -> None:
        """A role enters a stage."""
        ...

    def sent(self, envelope: Envelope) -> None:
        """A role posts an envelope."""
        ...

    def posted(self, name: str, to: str, message: Message) -> None:
        """A role sends a message, which is sealed next."""
        ...

    def started(self, name: str) -> None:
        """A role has the greetings that it needs."""
        ...

    def waits(self, name: str, want: Want) -> None:
        """A role waits for this, be it there or not."""
        ...

    def consumed(self, receiver: str, mail: InboxEntry) -> None:
        """A role takes a letter out of its mail."""
        ...

    def read(self, receiver: str, mail: InboxEntry, message: Message) -> None:
        """A role reads a message, the content of this letter."""
        ...
