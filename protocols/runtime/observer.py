"""Observer: the hooks by which an engine reports the events of roles, for clocks, logs, transcripts and views.

Theory of operation. A role cannot reach its observer, and no hook returns anything, so a run is the same with any
observer. For each role an engine calls the hooks in this order:

    stage      at each stage, and around values that are made once (`role_stepper.KEY_STAGE`)
    started    once, when the role has the greetings of its peers
    consumed   for each entry that the role takes out of its inbox, before it is decoded
    read       for the message that was decoded from it; none for one that is refused
    posted     for each message that is sealed next; in a replay, again for those that were sent before
    sent       for each envelope that leaves, a greeting and the end of a stage too; once, whatever is replayed
"""

from __future__ import annotations

from protocols.runtime.envelope import Envelope
from protocols.runtime.inbox import InboxEntry
from protocols.runtime.message import Message


class Observer:
    """Observer of a run; no role can reach it. Each hook does nothing until it is overridden."""

    def stage(self, name: str, stage: str) -> None:
        """Note that a role enters a stage."""

    def sent(self, envelope: Envelope) -> None:
        """Note that a role sends an envelope."""

    def posted(self, name: str, to: str, message: Message) -> None:
        """Note a message that a role is about to seal."""

    def started(self, name: str) -> None:
        """Note that a role has the greetings that it needs."""

    def consumed(self, receiver: str, entry: InboxEntry) -> None:
        """Note that a role takes an entry out of its inbox."""

    def read(self, receiver: str, entry: InboxEntry, message: Message) -> None:
        """Note the message that a role decoded from this entry."""
