"""One role, one call at a time, from bytes to bytes: `step(state, mail) -> (state, mail)`.

For engines whose clients are called once per message and keep nothing in memory. The state holds the role's seed and
the mail of the open stage; each call runs the coroutine again from the last finished stage, compares the digest of
every message it makes again with the one it made before, and stops on a difference before anything is sealed twice
under one nonce.

The state is secret: whoever has it is the role. The engine keeps it sealed at rest, and keeps a counter outside of
it: `step` cannot tell an old state from the newest, and asking the same role the same question twice with different
mail is an attack. A finished stage leaves only its result behind; its coins, mail and masks are gone from the state.
An engine carries `envelope.encode()` and hands back what `Envelope.decode` makes of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from protocols.arithmetic.rng import Stream
from protocols.crypto.identity import Identity
from protocols.errors import ReplayError
from protocols.runtime import state as states
from protocols.runtime.channel import Envelope
from protocols.runtime.process import Mail, Process, Progress
from protocols.runtime.session import Session


@dataclass(frozen=True)
class Step:
    """What one call leaves: the new state, the envelopes to send, and the role's result once it is done."""

    state: bytes = field(repr=False)
    mail: tuple[Envelope, ...]
    done: bool
    result: Any = field(default=None, repr=False)


def begin(session: Session, name: str, identity: Identity, seed: Stream, inputs: tuple[Any, ...]) -> Step:
    """The first call: greet the others and go as far as possible."""
    return _finish(Process(session, name, identity, seed, inputs), identity, inputs)


def step(session: Session, state: bytes, mail: Sequence[Envelope]) -> Step:
    """Continue from `state` with new mail. Raises `ReplayError` when state, code and past do not agree."""
    process, identity, inputs = _load(session, state)
    for envelope in mail:
        process.deliver(envelope, envelope.number)
    return _finish(process, identity, inputs)


def release(session: Session, state: bytes) -> Step:
    """Publish, once every participant is done."""
    process, identity, inputs = _load(session, state)
    process.advance()
    out = process.release()
    return _finish(process, identity, inputs, out)


def _finish(process: Process, identity: Identity, inputs: tuple[Any, ...], out: list[Envelope] | None = None) -> Step:
    out = process.advance() if out is None else out
    new = _dump(process, identity, inputs)
    process.close()
    return Step(new, tuple(out), process.done, process.result)


def _dump(process: Process, identity: Identity, inputs: tuple[Any, ...]) -> bytes:
    program, channel, progress = process.session.program, process.channel, process.progress
    mail = [(sender, m.kind, m.payload, m.reference) for sender, m in progress.mail]
    kept = {
        "program": (program.name, program.version, process.session.id),
        "role": (process.name, identity.seed, process.seed.key, process.seed.insecure, inputs),
        "channel": (channel.secret, channel.peers, channel.sent, channel.received, channel.chain),
        "keys": process.keys,
        "progress": (progress.results, mail, progress.sent, progress.made, progress.stage),
        "unpublished": process.unpublished,
    }
    return states.dump(kept, (*program.records, type(process.session.parameters)))


def _load(session: Session, state: bytes) -> tuple[Process, Identity, tuple[Any, ...]]:
    program = session.program
    kept = states.load(state, (*program.records, type(session.parameters)))
    if not isinstance(kept, dict) or kept.get("program") != (program.name, program.version, session.id):
        raise ReplayError("the state belongs to another program, version or session")
    try:
        return _restored(session, kept)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ReplayError(f"not a state of this program: {type(error).__name__}") from None


def _restored(session: Session, kept: dict[str, Any]) -> tuple[Process, Identity, tuple[Any, ...]]:
    name, identity_seed, key, insecure, inputs = kept["role"]
    identity = Identity(identity_seed)
    process = Process(session, name, identity, Stream(key, insecure=insecure), inputs)
    channel = process.channel
    channel.secret, channel.peers, channel.sent, channel.received, channel.chain = kept["channel"]
    results, mail, sent, made, stage = kept["progress"]
    opened = [(sender, Mail(kind, payload, reference)) for sender, kind, payload, reference in mail]
    process.restore(Progress(results, opened, sent, made, stage), kept["keys"], channel)
    process.unpublished = kept["unpublished"]
    return process, identity, inputs
