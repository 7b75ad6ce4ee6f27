"""A dry run by whole actors, with every seal and signature: what the dry runs of an audit are held against."""

from __future__ import annotations

from collections import deque
from typing import Any

from protocols.arithmetic.rng import Stream
from protocols.crypto.identity import Identity
from protocols.errors import StallError
from protocols.programs import Protocol
from protocols.runtime.actor import Actor, actors
from protocols.runtime.bulletin_board import BulletinBoard
from protocols.runtime.envelope import Envelope
from protocols.runtime.inbox import Absent, InboxEntry
from protocols.runtime.message import Message
from protocols.runtime.session import SESSION_BYTES, Session
from smc_dp.audit.run.conformity.dry_run import NO_ABSENCES, Absences, Script
from smc_dp.audit.run.conformity.dry_run_role import Move
from smc_dp.audit.run.conformity.expected_schedule import walk_transcript


class FullDryRun:
    """One execution at toy size, and its observer; its data and coins follow from its number, and protect nothing."""

    def __init__(self, protocol: Protocol, toy: Any, number: int, absences: Absences = NO_ABSENCES) -> None:
        root = Stream.insecure_from_seed(f"toy run {number}")
        drawn = root.fork("inputs")
        inputs = protocol.model.inputs(toy, lambda _, bits: drawn.bits(bits))
        own = {name: root.fork(f"participant {j}") for j, name in enumerate(inputs)}
        identities = {name: Identity.generate(rng.fork("identity")) for name, rng in own.items()}
        pinned = {name: identity.public for name, identity in identities.items()}
        self.session = Session(protocol.program, toy, pinned, root.fork("nonce").bytes(SESSION_BYTES))
        seeds = {name: rng.fork("seed") for name, rng in own.items()}
        self.sent_by_all: list[Envelope] = []
        self._stages = {("setup", name) for name in self.session.names}
        self._moves: dict[str, list[Move]] = {name: [] for name in self.session.names}
        self._mail: dict[str, deque[Envelope]] = {name: deque() for name in self.session.names}
        self._board = BulletinBoard(self.session)
        self._marks = absences.marks
        self._roles = actors(self.session, identities, seeds, inputs, self._board.greetings, self)
        for name, left in absences.sent:
            if name in self._roles:
                self._roles[name].drop_out(left)
        for name, absent in absences.marks:
            if name in self._roles:
                self._roles[name].mark(absent)

    @property
    def scripts(self) -> dict[str, Script]:
        """What each role did, in its order."""
        return {name: tuple(moves) for name, moves in self._moves.items()}

    @property
    def rounds(self) -> int:
        """How many causal steps there were, in the walk of an auditor over what was sent."""
        late = {absent.sender for _, absent in self._marks}
        found = walk_transcript(self.scripts, {}, dict(enumerate(self.sent_by_all)), late)
        assert found.line is None
        return found.rounds

    @property
    def entered_stages(self) -> frozenset[tuple[str, str]]:
        """Each stage with each role that was in it."""
        return frozenset(self._stages)

    @property
    def awaited_absences(self) -> frozenset[tuple[str, Absent]]:
        """The marks, whether anybody came to them or not."""
        return frozenset((name, absent) for name, absent in self._marks if name in self.session.names)

    def finish(self, most: int) -> bool:
        """Run to the end, unless more than `most` messages are sent: then False. Raises `StallError` for a deadlock."""
        roles = self._roles.values()
        try:
            while any(role.end is None for role in roles):
                before = self._happened
                for role in roles:
                    self._turn(role)
                    if len(self.sent_by_all) > most:
                        return False
                if self._happened == before:
                    raise StallError({role.name: role.waiting for role in roles if role.waiting})
            for role in roles if all(role.end != "stopped" for role in roles) else ():
                if role.done:
                    role.release()
        finally:
            for role in roles:
                role.close()
            self._roles = {}
        return len(self.sent_by_all) <= most

    @property
    def _happened(self) -> int:
        return sum(len(moves) for moves in self._moves.values())

    def _turn(self, role: Actor) -> None:
        if role.end == "gone":
            return
        self._deliver(role.name)
        role.advance()

    def _deliver(self, name: str) -> None:
        mail = self._mail[name]
        while mail:
            self._roles[name].deliver(mail.popleft())

    # The observer of every actor.

    def stage(self, name: str, stage: str) -> None:
        """A role enters a stage."""
        self._stages.add((stage, name))

    def posted(self, name: str, to: str, message: Message) -> None:
        """Not looked at."""

    def started(self, name: str) -> None:
        """Not looked at."""

    def sent(self, envelope: Envelope) -> None:
        """A role posts an envelope."""
        if envelope.is_public:
            self._board.post(envelope)
        else:
            self._mail[envelope.to].append(envelope)
        self.sent_by_all.append(envelope)
        move = Move(True, envelope.to, envelope.kind, envelope.stage)
        self._moves[envelope.sender].append(move)

    def consumed(self, receiver: str, mail: InboxEntry) -> None:
        """A role takes a letter out of its mail."""
        self._moves[receiver].append(Move(False, mail.sender, mail.kind, mail.stage))

    def read(self, receiver: str, mail: InboxEntry, message: Message) -> None:
        """Not looked at."""
