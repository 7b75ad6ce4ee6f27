"""The post between the roles of a toy run: nothing is sealed, signed, encoded or chained, and nobody listens."""

from __future__ import annotations

from typing import NamedTuple

from protocols.crypto.identity import SIGNATURE_BYTES
from protocols.crypto.sealing import OVERHEAD_BYTES
from protocols.runtime import message as messages
from protocols.runtime.endpoint import Greeted
from protocols.runtime.mailbox import Mail, Mailbox
from protocols.runtime.message import Message
from protocols.runtime.session import PUBLIC_NAME, Session


class Move(NamedTuple):
    """A role sends to a peer or to everybody, or reads a letter of a peer; `size` is that of the body.

    Greetings are sent like all else, but read by nobody: whoever starts has those of its peers before it.
    """

    sends: bool
    peer: str
    kind: str
    stage: str
    size: int


class Post:
    """The letters on their way, how many messages were sent, and how many rounds deep they go."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.sent = self.rounds = 0
        self.boxes = {name: Mailbox() for name in session.names}
        self.letters: list[Message] = []  # each by the number that its envelope has in a box
        self.greetings: dict[str, Greeted[Message] | None] = {}
        self._sizes: dict[tuple[type[Message], str], int] = {}

    def put(self, sender: str, to: str, message: Message, stage: str, number: int) -> None:
        """A letter of this round, in its reader's box."""
        kind = type(message).__name__
        self.boxes[to].put(Mail(sender, len(self.letters), kind, stage, number, b""))
        self.letters.append(message)

    def size(self, message: Message, stage: str, to: str) -> int:
        """How long the body around a message of this stage is."""
        kind = type(message)
        if (kind, stage) not in self._sizes:
            self._sizes[kind, stage] = messages.size(kind, self.session.layout_in(stage))
        return self._sizes[kind, stage] + (SIGNATURE_BYTES if to == PUBLIC_NAME else OVERHEAD_BYTES)

    def count(self, is_cause: bool, number: int) -> None:
        """Somebody sent a message of this round; only what can be read later is a cause of anything."""
        self.sent += 1
        if is_cause:
            self.rounds = max(self.rounds, number)
