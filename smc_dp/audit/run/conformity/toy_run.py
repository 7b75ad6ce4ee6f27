"""One execution of a protocol at toy size, by its own code, and what each role sent and read in it, in its order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from protocols.arithmetic.rng import Stream
from protocols.crypto.identity import PUBLIC_BYTES
from protocols.errors import StallError
from protocols.programs import Protocol
from protocols.runtime.session import SESSION_BYTES, Session
from smc_dp.audit.run.conformity.toy_role import Move, Post, ToyRole

Script: TypeAlias = tuple[Move, ...]
Scripts: TypeAlias = Mapping[str, Script]


class ToyRun:
    """One execution at toy size; its data and coins follow from its number, and protect nothing."""

    def __init__(self, protocol: Protocol, toy: Any, number: int) -> None:
        root = Stream.insecure_from_seed(f"toy run {number}")
        drawn = root.fork("inputs")
        inputs = protocol.model.inputs(toy, lambda _, bits: drawn.bits(bits))
        identities = {name: root.fork(f"identity {j}").bytes(PUBLIC_BYTES) for j, name in enumerate(inputs)}
        self.session = Session(protocol.program, toy, identities, root.fork("nonce").bytes(SESSION_BYTES))
        self._post = Post(self.session)
        names = enumerate(self.session.names)
        seeds = {name: root.fork(f"participant {j}") for j, name in names}
        self._roles = [ToyRole(name, self._post, seeds[name], inputs[name]) for name in self.session.names]

    @property
    def rounds(self) -> int:
        """How many causal steps there were."""
        return self._post.rounds

    @property
    def scripts(self) -> dict[str, Script]:
        """What each role did, in its order."""
        return {role.name: tuple(role.moves) for role in self._roles}

    @property
    def stages(self) -> frozenset[tuple[str, str]]:
        """Each stage with each role that was in it; keys are made in a stage of their own."""
        return frozenset((stage, role.name) for role in self._roles for stage in role.stages)

    def finish(self, most: int) -> bool:
        """Run to the end, unless more than `most` messages are sent: then False. Raises `StallError` for a deadlock."""
        try:
            while not all(role.done for role in self._roles):
                before = self._happened
                for role in self._roles:
                    role.advance()
                    if self._post.sent > most:
                        return False
                if self._happened == before:
                    raise StallError({role.name: role.waiting for role in self._roles if not role.done})
            for role in self._roles:
                role.release()
        finally:
            for role in self._roles:
                role.close()
        return self._post.sent <= most

    @property
    def _happened(self) -> int:
        return sum(len(role.moves) + role.done for role in self._roles)
