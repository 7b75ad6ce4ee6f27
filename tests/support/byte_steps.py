"""A participant from bytes to bytes: each call resumes the saved actor, goes on, and saves it again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from protocols.arithmetic.rng import Stream
from protocols.crypto.identity import Signer
from protocols.runtime.actor import Actor, Greetings, LocalProgram
from protocols.runtime.envelope import Envelope
from protocols.runtime.inbox import Absent
from protocols.runtime.replay import resume, save
from protocols.runtime.session import Session


@dataclass(frozen=True)
class Step:
    """What one call leaves: the new state and its number, the envelopes to send, how the role ended if it did."""

    state: bytes = field(repr=False)
    counter: int
    mail: tuple[Envelope, ...]
    end: str | None
    result: Any = field(default=None, repr=False)

    @property
    def done(self) -> bool:
        """Whether the role has returned."""
        return self.end == "done"


def begin(
    session: Session,
    name: str,
    signer: Signer,
    seed: Stream,
    inputs: tuple[Any, ...],
    board: Greetings | None = None,
    charge: Callable[[str], None] | None = None,
    voided: Callable[[str], None] | None = None,
    home: LocalProgram | None = None,
) -> Step:
    """The first call: greet the others and go as far as possible."""
    known = {} if board is None else board
    actor = Actor(session, name, signer, seed, inputs, known, charge=charge, refund=voided, local_program=home)
    return _finish(actor, actor.advance())


def step(
    session: Session,
    state: bytes,
    mail: Sequence[Envelope],
    signer: Signer,
    counter: int,
    board: Greetings | None = None,
    marks: Sequence[Absent] = (),
    charge: Callable[[str], None] | None = None,
    voided: Callable[[str], None] | None = None,
    home: LocalProgram | None = None,
) -> Step:
    """Continue with new mail and marks. Raises what `resume` raises, and when state, code and past do not agree."""
    actor = resume(session, state, signer, counter, board, charge=charge, refund=voided, local_program=home)
    out = actor.advance()  # up to where it stood, so that marks can be held against what it waits for
    for absent in marks:
        actor.mark(absent)
    for envelope in mail:
        actor.deliver(envelope)
    return _finish(actor, out + actor.advance())


def release(session: Session, state: bytes, signer: Signer, counter: int, board: Greetings | None = None) -> Step:
    """Publish, once the role is done."""
    actor = resume(session, state, signer, counter, board)
    out = actor.advance()
    return _finish(actor, out + actor.release())


def _finish(actor: Actor, out: list[Envelope]) -> Step:
    new = save(actor)
    actor.close()
    return Step(new, actor.counter, tuple(out), actor.end, actor.result)
