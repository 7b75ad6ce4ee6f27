"""Session: protocol, parameters, names and identities, on which all participants agree before the first message."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, repeat
from typing import Any, TypeVar

import cbor2

from protocols.arithmetic.rng import Stream
from protocols.errors import Fault, LocalError, shown
from protocols.runtime.message import CURATOR, PARTY, PUBLIC, Kind, Layout, Message

FORMAT = 3
"""Version of every format that this code writes: envelopes, transcripts, states, views. Every session contains it."""

PUBLIC_NAME = "public"
SESSION_BYTES = 32
MAX_NAME = 100

_TAKEN = frozenset({"Hello", "StageEnd", "Absent", "Session"})  # what the runtime itself puts on the wire and on record

Role = Callable[..., Awaitable[Any]]
_P = TypeVar("_P")
KeptValues = tuple[tuple[Any, ...], list[Any]]
"""Inputs of a role and results of its finished stages, as a state keeps them."""


def until(over: int, values: Iterable[Any], *last: int) -> list[Any]:
    """Return these values, each until `last` stages are over and None from then on; those without a `last` stay."""
    return [None if over >= use else value for value, use in zip(values, chain(last, repeat(over + 1)), strict=False)]


@dataclass(frozen=True)
class Greeting:
    """Message that a program puts into greetings, beside the key of their links.

    `kind` has a route to the public from those who send it. `draw(p, rng)`: the secrets behind a message, which its
    role has as `Endpoint.greeting_secrets`. `make(p, name, secrets)`: the message of this participant.
    """

    kind: type[Message]
    draw: Callable[[Any, Stream], Any]
    make: Callable[[Any, str, Any], Message]


@dataclass(frozen=True)
class Program:
    """Protocol as its drivers need it: participants, roles, messages, values that its stages leave behind.

    `participants(p)`: the kind of each participant by name, in the order of the session. `parameters` is the class of
    its parameters, whose `from_dict` reads the result of `as_dict`; without it a transcript of this protocol cannot be
    read. `peers(p, name)`: the peers with whom a participant shares a link; without it, all to whom or from whom a
    message has a route. `statements`: what roles may attest; the first field of each is its subject, and no honest
    participant attests two of a kind about one subject. `broken_commitment(session_id, names, result, published)`: the
    participant that published something else than it had announced to a role with this result, and the fault, or None.
    `widths(p, stage)`: widths and counts of a stage, where messages are not equally long in all stages. `closed(p,
    name, stage)`: the peers with whom a participant exchanges nothing more after a stage; these links lose their keys.
    `unspent(p, name, inputs, results)`: the inputs and results of stages that a state keeps, in their order: each until
    the last stage that uses it is over. `doubted`: kinds of messages without which a role may go on if they are not
    readable.
    """

    name: str
    version: int
    roles: Mapping[Kind, Role]
    kinds: tuple[type[Any], ...]
    records: tuple[type[Any], ...]
    parameters: type[Any] | None = None
    participants: Callable[[Any], Mapping[str, Kind]] = field(kw_only=True)
    peers: Callable[[Any, str], Iterable[str]] | None = None
    greeting: Greeting | None = None
    statements: tuple[type[Any], ...] = ()
    broken_commitment: Callable[[bytes, tuple[str, ...], Any, Mapping[str, Any]], tuple[str, Fault] | None] | None = (
        None
    )
    widths: Callable[[Any, str], Layout] | None = None
    closed: Callable[[Any, str, str], Iterable[str]] | None = None
    unspent: Callable[[Any, str, tuple[Any, ...], list[Any]], KeptValues] | None = None
    doubted: tuple[type[Any], ...] = ()

    def __post_init__(self) -> None:
        taken = _TAKEN.intersection(kind.__name__ for kind in self.kinds)
        if taken:
            raise LocalError("program.message_name_taken", name=self.name, taken=sorted(taken))
        said = (self.greeting.kind,) if self.greeting else ()
        for what, classes in (("message", (*self.kinds, *self.statements, *said)), ("record", self.records)):
            names = [c.__name__ for c in classes]
            if len(set(names)) != len(names):
                raise LocalError("program.one_name_twice", name=self.name, what=what)


@dataclass(frozen=True)
class Session:
    """One run of a protocol. `identities` maps every participant's name to its pinned public identity.

    The session id is a hash of all of it and a nonce, so participants that disagree about anything cannot exchange a
    message.
    """

    program: Program
    parameters: Any = field(repr=False)
    identities: Mapping[str, bytes] = field(repr=False)
    nonce: bytes = field(repr=False)

    def __post_init__(self) -> None:
        if not all(name.isprintable() and 0 < len(name) <= MAX_NAME for name in self.names):
            raise LocalError("participant.name_unusable", most=MAX_NAME)
        if PUBLIC_NAME in self.names:
            raise LocalError("participant.name_taken", name=PUBLIC_NAME)
        if set(self.identities) != set(self.names):
            raise LocalError("session.identities_of_others", wanted=self.names, got=sorted(self.identities))
        if len(self.nonce) != SESSION_BYTES:
            raise LocalError("session.nonce_of_another_length", wanted=SESSION_BYTES, got=len(self.nonce))

    @cached_property
    def id(self) -> bytes:
        """Session id."""
        parameters = self.parameters.as_dict()
        return session_id(self.program.name, self.program.version, parameters, self.identities, self.nonce)

    @cached_property
    def participants(self) -> Mapping[str, Kind]:
        """Kind of each participant by name."""
        return dict(self.program.participants(self.parameters))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of all participants, in the program's order."""
        return tuple(self.participants)

    @cached_property
    def parties(self) -> tuple[str, ...]:
        """Names of P_1 ... P_K."""
        return tuple(name for name, kind in self.participants.items() if kind == PARTY)

    @cached_property
    def index(self) -> Mapping[str, int]:
        """Index j of each P_j, counted from 0."""
        return {name: j for j, name in enumerate(self.parties)}

    @cached_property
    def curator(self) -> str | None:
        """Name of the one curator, if the program has one."""
        return next((name for name, kind in self.participants.items() if kind == CURATOR), None)

    @cached_property
    def layout(self) -> Layout:
        """Widths of all fields, from the public parameters."""
        layout: Layout = self.parameters.layout()
        return layout

    def layout_in(self, stage: str) -> Layout:
        """Return the widths of all fields of messages in this stage."""
        if self.program.widths is None:
            return self.layout
        if stage not in self._layouts:
            self._layouts[stage] = {**self.layout, **self.program.widths(self.parameters, stage)}
        return self._layouts[stage]

    @cached_property
    def _layouts(self) -> dict[str, Layout]:
        return {}

    @cached_property
    def kinds(self) -> Mapping[str, type[Any]]:
        """Classes of the program's messages, by name; statements and greetings are not among them."""
        return {kind.__name__: kind for kind in self.program.kinds}

    def kind(self, name: str) -> Kind:
        """Return the kind of the participant with this name."""
        if name == PUBLIC_NAME:
            return PUBLIC
        if name not in self.participants:
            raise LocalError("participant.unknown", name=name)
        return self.participants[name]

    def peers(self, name: str) -> tuple[str, ...]:
        """Return the peers with whom this participant shares a link, in the order of `names`."""
        if name not in self._peers:
            self._peers[name] = self._linked_with(name)
        return self._peers[name]

    @cached_property
    def _peers(self) -> dict[str, tuple[str, ...]]:
        return {}

    def _linked_with(self, name: str) -> tuple[str, ...]:
        if self.program.peers is not None:
            declared = {peer for peer in self.program.peers(self.parameters, name) if peer in self._places}
            return tuple(sorted(declared, key=self._places.__getitem__))
        linked = self._linked[self.kind(name)]
        return tuple(peer for peer in linked if peer != name) if name in linked else tuple(linked)

    @cached_property
    def _places(self) -> Mapping[str, int]:
        return {name: place for place, name in enumerate(self.names)}

    @cached_property
    def _linked(self) -> Mapping[Kind, Mapping[str, Kind]]:
        """For each kind of participant those with whom some message has a route, either way."""
        ends = {pair for kind in self.program.kinds for pair in kind.route.ends}
        both = ends | {(b, a) for a, b in ends}
        everybody = self.participants.items()
        return {
            mine: {name: kind for name, kind in everybody if (mine, kind) in both}
            for mine in set(self.participants.values())
        }

    @cached_property
    def greeters(self) -> tuple[str, ...]:
        """Participants with a message in their greeting."""
        return tuple(name for name in self.names if self.says(name))

    def says(self, name: str) -> Greeting | None:
        """Return the declaration of the message in this participant's greeting, if there is one."""
        greeting = self.program.greeting
        return greeting if greeting and greeting.kind.route.allows(self.kind(name), PUBLIC) else None


def read_names(names: Iterable[Any]) -> tuple[str, ...]:
    """Return the names of parties, as `read_parameters` wants them."""
    return tuple(map(str, names))


def read_parameters(
    kind: type[_P], plain: Mapping[str, Any], reads: Mapping[str, Callable[[Any], Any]], **absent: Any
) -> _P:
    """Return the parameters that `as_dict` wrote, from each value by its function; `absent` has values of those that
    may be absent.

    Raise `LocalError`, which names the first one that is not so, unless `as_dict` writes exactly this again: neither
    True nor 1.0 stands for 1.
    """
    values, name = dict[str, Any](), ", ".join(reads)
    try:
        given = absent | dict(plain)
        for name, read in reads.items():
            values[name] = read(given[name])
        name = ", ".join(reads)  # where they do not go together
        made: Any = kind(**values)
        written = made.as_dict()
        for name in (*written, *plain):
            if json.dumps(written[name], sort_keys=True) != json.dumps(plain[name], sort_keys=True):
                raise LookupError  # as for a name that only one of them has
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        raise LocalError("parameters.not_as_written", name=shown(str(name))) from None
    found: _P = made
    return found


def session_id(
    program: str, version: int, parameters: Mapping[str, Any], identities: Mapping[str, bytes], nonce: bytes
) -> bytes:
    """Return the id of the session in which all of this was agreed on."""
    agreed = [FORMAT, program, version, dict(parameters), dict(identities), nonce]
    return hashlib.sha256(b"smc-dp session" + cbor2.dumps(agreed, canonical=True)).digest()
