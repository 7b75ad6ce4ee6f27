"""Role of a dry run: a participant of whom nothing is sealed, signed, encoded or chained.

Nobody listens to a dry run, so that a role is handed the very messages that others sent. What is left is the role, and
so all that decides on who sends what to whom after reading what, or after it was told that this will not come.
"""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

from typing_extensions import override

from protocols.arithmetic.rng import Stream
from protocols.runtime.attestation import signing_input
from protocols.runtime.channel import GREETING_STAGE
from protocols.runtime.claims import Detour
from protocols.runtime.endpoint import Greeted
from protocols.runtime.envelope import HELLO, STAGE_END
from protocols.runtime.inbox import Absent, InboxEntry
from protocols.runtime.message import Message
from protocols.runtime.role_stepper import RoleStepper
from protocols.runtime.session import PUBLIC_NAME, Session


class Move(NamedTuple):
    """Move of a role: it sends to a peer or to everybody, or reads a message of a peer.

    The length follows from the kind. Greetings are read by nobody: a role starts with those of its peers before it.
    """

    sends: bool
    peer: str
    kind: str
    stage: str


class DryRunMessages:
    """Roles by name, their greetings, and the number of messages and rounds; on a detour one message is spoilt."""

    def __init__(self, session: Session, detour: Detour | None = None) -> None:
        self.session = session
        self._detour = detour
        self.sent = self.rounds = 0
        self.roles: dict[str, DryRunRole] = {}
        self.greetings: dict[str, Greeted[Message] | None] = {}

    def carried(self, message: Message) -> Message:
        """Return the message as its reader gets it: the first that a detour spoils is another."""
        detour = self._detour
        if detour is None or not isinstance(message, detour.spoils):
            return message
        self._detour = None
        return detour.make_incorrect(message)


class DryRunRole(RoleStepper):
    """Role whose messages are counted and handed over. `moves`: what it did."""

    def __init__(
        self, name: str, under_way: DryRunMessages, seed: Stream, inputs: tuple[Any, ...], marks: frozenset[Absent]
    ) -> None:
        super().__init__(under_way.session, name, seed, inputs, under_way.greetings)
        self.moves: list[Move] = []
        self.inbox.marks = set(marks)
        self._round = 0
        self._under_way = under_way
        under_way.roles[name] = self

    def release(self) -> None:
        """Publish what the role has published, if it is done."""
        with self.until_dropped_out():
            for kind, stage in self.progress.unpublished if self.done else ():
                self._move(PUBLIC_NAME, kind, stage)

    # What it replaces of the engine.

    @override
    def greet(self) -> None:
        greeted = None
        if made := self.made_greeting():
            greeted = Greeted(made, hashlib.sha256(f"greeting of {self.name}".encode()).digest())
        self._move(PUBLIC_NAME, HELLO, GREETING_STAGE)
        self._round = 1
        self._under_way.greetings[self.name] = greeted

    @override
    def send(self, to: str, message: Message) -> None:
        kind, stage = type(message).__name__, self.stage or ""
        self._move(to, kind, stage)
        self._under_way.roles[to].hand(self.name, self._under_way.carried(message), stage, self._round + 1)

    @override
    def keep(self, message: Message) -> None:
        self.progress.unpublished.append((type(message).__name__, self.stage or ""))

    @override
    def announce_stage_end(self, stage: str) -> None:
        self._move(PUBLIC_NAME, STAGE_END, stage)

    @override
    def consume(self, entry: InboxEntry) -> None:
        self.moves.append(Move(False, entry.sender, entry.kind, entry.stage))
        self._round = max(self._round, entry.round)

    @override
    def statement_signature(self, signer: str, kind: str, payload: bytes) -> bytes:
        # nobody forges any here
        return hashlib.sha512(signing_input(self.session.id, signer, kind, payload)).digest()

    def _move(self, to: str, kind: str, stage: str) -> None:
        self.count_out(to, kind, stage)
        self._under_way.sent += 1
        if to != PUBLIC_NAME or kind == HELLO:  # only what can be read later is a cause of anything
            self._under_way.rounds = max(self._under_way.rounds, self._round + 1)
        self.moves.append(Move(True, to, kind, stage))
