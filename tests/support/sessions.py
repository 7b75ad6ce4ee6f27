"""Sessions with toy keys, and the same session from one saved state to the next."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from protocols.arithmetic.rng import Stream
from protocols.crypto.identity import Identity
from protocols.curator import CURATOR_NAME
from protocols.pathak2010 import PROGRAM, as_published
from protocols.pathak2010.parameters import Parameters
from protocols.pathak2010.values import PartyInput
from protocols.runtime.bulletin_board import BulletinBoard
from protocols.runtime.envelope import Envelope
from protocols.runtime.message import CURATOR, PARTY
from protocols.runtime.session import SESSION_BYTES, Program, Role, Session
from protocols.runtime.simulate import Run, Setting, simulate
from support import byte_steps

KEY_BITS = 512
PRINTED = as_published.PROGRAM
PROGRAMS = (PROGRAM, PRINTED)
Links = dict[tuple[str, str], list[tuple[bytes, bytes]]]


class Setup(NamedTuple):
    """What each driver is given."""

    session: Session
    identities: Mapping[str, Identity]
    seeds: Mapping[str, Stream]
    inputs: Mapping[str, tuple[Any, ...]]

    def simulate(self, **setting: Any) -> Run:
        """One run in the simulator."""
        return simulate(*self, Setting(**setting))


def names(K: int) -> tuple[str, ...]:
    """P1 ... PK."""
    return tuple(f"P{j + 1}" for j in range(K))


def setup(
    K: int = 3,
    d: int = 3,
    comparison: str = "tournament",
    *,
    seed: int | str = 1,
    program: Program = PROGRAM,
    sizes: Sequence[int] | None = None,
    weights: Sequence[int] | None = None,
) -> Setup:
    """A session; everything follows from `seed`, but the given sizes, and the value of each weight and noise."""
    root = Stream.insecure_from_seed(seed)
    p = Parameters(names(K), d, KEY_BITS, 64, comparison)
    kind = as_published.PrintedInput if program.name == PRINTED.name else PartyInput
    private, inputs = root.fork("inputs"), {}
    for j, party in enumerate(p.parties):
        n = private.below(1000) if sizes is None else sizes[j]
        w, eta = (p.weights.random_vector(d, private) for _ in range(2))
        if weights is not None:
            w = eta = (weights[j],) * d
        inputs[party] = (p, kind(n, w, eta))
    return start(program, p, inputs | {CURATOR_NAME: (p,)}, seed)


def start(program: Program, parameters: Any, inputs: Mapping[str, tuple[Any, ...]], seed: int | str = 1) -> Setup:
    """A session of any program."""
    root = Stream.insecure_from_seed(seed)
    identities = {name: Identity.generate(root.fork(f"identity {name}")) for name in inputs}
    session = Session(program, parameters, {n: i.public for n, i in identities.items()}, root.bytes(SESSION_BYTES))
    return Setup(session, identities, {name: root.fork(f"seed {name}") for name in inputs}, inputs)


def with_roles(program: Program, *, party: Role | None = None, curator: Role | None = None) -> Program:
    """The program with a role replaced."""
    roles = {PARTY: party or program.roles[PARTY], CURATOR: curator or program.roles[CURATOR]}
    return replace(program, roles=roles)


def by_link(envelopes: Iterable[Envelope]) -> Links:
    """Header and body of every envelope, in order, link by link."""
    links: Links = {}
    for e in envelopes:
        links.setdefault((e.sender, e.to), []).append((e.header, e.body))
    return links


class Played(NamedTuple):
    """What a driver left: what was published or returned, every envelope, every state kept on the way, the ends."""

    results: dict[str, Any]
    envelopes: list[Envelope]
    states: dict[str, list[bytes]]
    ends: dict[str, str]


def play(setup: Setup, order: Callable[[list[str]], list[str]] = list, batch: int | None = None) -> Played:
    """The session by `byte_steps.step`, roles called in the given order with at most `batch` envelopes at a time."""
    session, identities, seeds, inputs = setup
    sent: list[Envelope] = []
    board = BulletinBoard(session)
    boxes: dict[str, list[Envelope]] = {name: [] for name in session.names}
    states: dict[str, list[bytes]] = {name: [] for name in session.names}
    steps: dict[str, byte_steps.Step] = {}

    def keep(name: str, step: byte_steps.Step) -> None:
        steps[name] = step
        states[name].append(step.state)
        for envelope in step.mail:
            sent.append(envelope)
            if envelope.is_public:
                board.post(envelope)
            else:
                boxes[envelope.to].append(envelope)

    for name in order(list(session.names)):
        keep(name, byte_steps.begin(session, name, identities[name], seeds[name], inputs[name], board.greetings))
    started = False
    while not all(step.end for step in steps.values()):
        for name in order(list(session.names)):
            mail, boxes[name] = boxes[name][:batch], boxes[name][len(boxes[name][:batch]) :]
            if mail or not started:
                last, me = steps[name], identities[name]
                keep(name, byte_steps.step(session, last.state, mail, me, last.counter, board.greetings))
        started = True
    results = {name: step.result for name, step in steps.items()}
    for name in session.names:
        last = steps[name]
        if last.done:
            keep(name, byte_steps.release(session, last.state, identities[name], last.counter, board.greetings))
    return Played(results, sent, states, {name: step.end or "" for name, step in steps.items()})
