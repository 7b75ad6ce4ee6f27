"""What all participants of a run agree on before the first message: protocol, parameters, names, identities."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import cbor2

from protocols.errors import LocalError
from protocols.runtime.message import CURATOR, PARTY, PUBLIC, Kind, Layout

CURATOR_NAME = "charlie"
PUBLIC_NAME = "public"
SESSION_BYTES = 32
MAX_NAME = 100

Role = Callable[..., Awaitable[Any]]


@dataclass(frozen=True)
class Program:
    """A protocol as its drivers need it: its roles, its messages, the values its stages leave behind.

    `parameters` is the class of its parameters, whose `from_dict` reads what `as_dict` wrote; without it nobody can
    read a record of this protocol back. `kept(session id, names, result, published)` is how a participant, whose role
    has returned this result, holds what all published against what its role was told before: who broke its word, and
    how; None when nobody did.
    """

    name: str
    version: int
    roles: Mapping[Kind, Role]
    kinds: tuple[type[Any], ...]
    records: tuple[type[Any], ...]
    parameters: type[Any] | None = None
    kept: Callable[[bytes, tuple[str, ...], Any, Mapping[str, Any]], tuple[str, str] | None] | None = None

    def __post_init__(self) -> None:
        for what, classes in (("message", self.kinds), ("record", self.records)):
            names = [c.__name__ for c in classes]
            if len(set(names)) != len(names):
                raise LocalError(f"{self.name}: two {what} classes have one name")


@dataclass(frozen=True)
class Session:
    """One run of a protocol. `identities` maps every participant's name to its pinned public identity.

    The session id is a hash of all of it and a nonce, so whoever disagrees about anything cannot exchange a message.
    """

    program: Program
    parameters: Any = field(repr=False)
    identities: Mapping[str, bytes] = field(repr=False)
    nonce: bytes = field(repr=False)

    def __post_init__(self) -> None:
        if not all(name.isprintable() and 0 < len(name) <= MAX_NAME for name in self.parties):
            raise LocalError(f"a party's name has 1 to {MAX_NAME} printable characters")
        if CURATOR_NAME in self.parties or PUBLIC_NAME in self.parties:
            raise LocalError(f"no party can be called {CURATOR_NAME} or {PUBLIC_NAME}")
        if set(self.identities) != set(self.names):
            raise LocalError(f"wanted identities of {', '.join(self.names)}, got {', '.join(sorted(self.identities))}")
        if len(self.nonce) != SESSION_BYTES:
            raise LocalError(f"a nonce has {SESSION_BYTES} bytes, got {len(self.nonce)}")

    @cached_property
    def id(self) -> bytes:
        """The session id."""
        parameters = self.parameters.as_dict()
        return session_id(self.program.name, self.program.version, parameters, self.identities, self.nonce)

    @property
    def parties(self) -> tuple[str, ...]:
        """P_1 ... P_K, in the order of the parameters."""
        return tuple(self.parameters.parties)

    @property
    def names(self) -> tuple[str, ...]:
        """All participants, the curator last."""
        return (*self.parties, CURATOR_NAME)

    @cached_property
    def layout(self) -> Layout:
        """The widths of all fields, from the public parameters."""
        layout: Layout = self.parameters.layout()
        return layout

    def kind(self, name: str) -> Kind:
        """What kind of participant has this name."""
        if name in (CURATOR_NAME, PUBLIC_NAME):
            return CURATOR if name == CURATOR_NAME else PUBLIC
        if name in self.parties:
            return PARTY
        raise LocalError(f"nobody in this session is called {name}")


def session_id(
    program: str, version: int, parameters: Mapping[str, Any], identities: Mapping[str, bytes], nonce: bytes
) -> bytes:
    """The id of the session in which all of this was agreed on."""
    agreed = [program, version, dict(parameters), dict(identities), nonce]
    return hashlib.sha256(b"smc-dp session" + cbor2.dumps(agreed, canonical=True)).digest()
