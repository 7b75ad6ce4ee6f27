"""Dry run: one execution of a protocol at small size, by its own code, and what each role sent and read in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from protocols.arithmetic.rng import Stream
from protocols.crypto.identity import PUBLIC_BYTES
from protocols.errors import StallError
from protocols.runtime.claims import Detour, Model
from protocols.runtime.inbox import Absent
from protocols.runtime.session import SESSION_BYTES, Program, Session
from smc_dp.audit.run.conformity.dry_run_role import DryRunMessages, DryRunRole, Move

Script: TypeAlias = tuple[Move, ...]
Scripts: TypeAlias = Mapping[str, Script]


@dataclass(frozen=True)
class Absences:
    """Absences of a transcript: all in which two runs without a malicious role could differ.

    `marks`: who went on without which message. `sent`: the number of messages of each sender without whom somebody went
    on. `published`: who published; a role may do so as soon as it is done, also where another was stopped, but where
    one process runs them all nobody does then. `detour`: whether the session took that of its model.
    """

    marks: frozenset[tuple[str, Absent]] = frozenset()
    sent: frozenset[tuple[str, int]] = frozenset()
    published: frozenset[str] = frozenset()
    detour: bool = False

    def of(self, reader: str) -> frozenset[Absent]:
        """Return what this participant went on without."""
        return frozenset(absent for name, absent in self.marks if name == reader)

    def detour_of(self, model: Model) -> Detour | None:
        """Return the detour for which a message has to be spoilt: none where one that is absent does as much."""
        detour = model.detour if self.detour else None
        return None if detour and any(absent.kind == detour.spoils.__name__ for _, absent in self.marks) else detour


NO_ABSENCES = Absences()


class DryRun:
    """Execution at small size; its data and randomness follow from its number, and protect nothing."""

    def __init__(self, program: Program, model: Model, small: Any, number: int, absences: Absences) -> None:
        root = Stream.insecure_from_seed(f"toy run {number}")
        drawn = root.fork("inputs")
        inputs = model.inputs(small, lambda _, bits: drawn.bits(bits))
        identities = {name: root.fork(f"identity {j}").bytes(PUBLIC_BYTES) for j, name in enumerate(inputs)}
        self.session = Session(program, small, identities, root.fork("nonce").bytes(SESSION_BYTES))
        self._messages = DryRunMessages(self.session, absences.detour_of(model))
        names = enumerate(self.session.names)
        seeds = {name: root.fork(f"participant {j}") for j, name in names}
        left, self._published = dict(absences.sent), absences.published
        self._roles = [
            DryRunRole(name, self._messages, seeds[name], inputs[name], absences.of(name))
            for name in self.session.names
        ]
        for role in self._roles:
            if role.name in left:
                role.drop_out(left[role.name])

    @property
    def rounds(self) -> int:
        """Number of causal steps."""
        return self._messages.rounds

    @property
    def scripts(self) -> dict[str, Script]:
        """Moves of each role, in its order."""
        return {role.name: tuple(role.moves) for role in self._roles}

    @property
    def awaited_absences(self) -> frozenset[tuple[str, Absent]]:
        """Pairs (reader, absence) where the reader waited for the message that is absent."""
        return frozenset((role.name, absent) for role in self._roles for absent in role.met)

    def finish(self, most: int) -> bool:
        """Run to the end; return False if more than `most` messages are sent. Raises `StallError` for a deadlock."""
        try:
            while not all(role.end for role in self._roles):
                before = self._happened
                for role in self._roles:
                    role.step()
                    if self._messages.sent > most:
                        return False
                if self._happened == before:
                    raise StallError({role.name: role.waiting for role in self._roles if role.waiting})
            stopped = any(role.end == "stopped" for role in self._roles)
            for role in self._roles:
                if not stopped or role.name in self._published:
                    role.release()
        finally:
            for role in self._roles:
                role.close()
        return self._messages.sent <= most

    @property
    def _happened(self) -> int:
        return sum(len(role.moves) + (role.end is not None) for role in self._roles)
