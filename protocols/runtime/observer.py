"""Observer: the interface by which an engine reports to the measurement of a run."""

from __future__ import annotations

from typing import Protocol

from protocols.runtime.endpoint import Want
from protocols.runtime.envelope import Envelope
from protocols.runtime.inbox import InboxEntry
from protocols.runtime.message import Message


class Observer(Protocol):
    """Observer of a run; no role can reach it."""

    def stage(self, name: str, stage: str) -> None:
        """Note that a role enters a stage."""
        ...

    def sent(self, envelope: Envelope) -> None:
        """Note that a role sends an envelope."""
        ...

    def posted(self, name: str, to: str, message: Message) -> None:
        """Note a message that a role is about to seal."""
        ...

    def started(self, name: str) -> None:
        """Note that a role has the greetings that it needs."""
        ...

    def waits(self, name: str, want: Want) -> None:
        """Note the request of a waiting role, whether or not the messages are there."""
        ...

    def consumed(self, receiver: str, mail: InboxEntry) -> None:
        """Note that a role takes an entry out of its inbox."""
        ...

    def read(self, receiver: str, mail: InboxEntry, message: Message) -> None:
        """Note the message that a role decoded from this entry."""
        ...
