"""Replay: an actor as bytes and back, so that a participant outlives its process.

`save` after every `advance`, and commit three things at once: the messages that were taken, the new state, and what is
to be sent; only then send. `resume` runs the open stage again, compares the digest of every message it makes again with
the one it made before, and stops on a difference before anything is sealed twice under one nonce. The answers of the
local program are part of the state.

The state is secret: it opens the role's messages. It holds no identity key, so that it cannot sign. An old state is an
attack: asked again with other messages, a role seals two plaintexts under one nonce, and answers the same question
twice. No state shows that it is old. So each is numbered; the number of the newest is kept where backups do not reach,
presented to `resume`, and a state of any other number is refused.

A finished stage leaves only its result behind; its randomness, messages and masks are gone from the state, and so are
the keys of closed links. Inputs and results are kept until the last stage that uses them is over (`Program.unspent`).
So a state leads to no earlier one: the key of a stage's randomness is made from that of the stage before, one way, and
what else made earlier messages is not there. A role that has forgotten (`Actor.forget`) is kept with its result, and
with its absence marks.
"""

from __future__ import annotations

from collections import ChainMap, Counter
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from protocols.arithmetic.rng import Stream
from protocols.crypto.identity import Signer
from protocols.crypto.sealing import LinkKeys
from protocols.errors import Fault, ReplayError
from protocols.runtime import state as states
from protocols.runtime.actor import Actor, Greetings, LocalProgram
from protocols.runtime.channel import Counters
from protocols.runtime.envelope import Envelope
from protocols.runtime.inbox import Absent, InboxEntry, Note
from protocols.runtime.role_stepper import Progress
from protocols.runtime.session import FORMAT, Session


def save(actor: Actor, *, keep_spent: bool = False) -> bytes:
    """Return the state of an actor as plain bytes, secret and not sealed, under the next number, `actor.counter` after.

    `keep_spent`: with spent inputs and all results of stages, for a view that is to be made in the end.
    """
    session, channel, inbox = actor.session, actor.channel, actor.inbox
    progress, at = actor.progress, channel.counters
    inputs, results = actor.inputs, progress.results
    if session.program.unspent and not keep_spent and results:
        inputs, results = session.program.unspent(session.parameters, actor.name, inputs, results)
    kept = {
        "program": (FORMAT, session.program.name, session.program.version, session.id),
        "counter": actor.counter + 1,
        "end": (actor.end, None if actor.why is None else tuple(vars(actor.why).values())),
        "result": (actor.forgotten, actor.result if actor.forgotten else None),
        "role": (actor.name, actor.seed.key, actor.seed.insecure, inputs, actor.greeted),
        "channel": (channel.secret, at.sent, at.received, at.chain, at.round),
        "left": {peer: (keys.outgoing, keys.incoming) for peer, keys in channel.left.items()},
        "greetings": {name: hello.encode() for name, hello in channel.greetings.items()},
        "early": [envelope.encode() for envelope in actor.held.envelopes],
        "keys": actor.keys,
        "progress": tuple({**vars(progress), "results": results}.values()),
        "mail": [tuple(vars(entry).values()) for entry in inbox.log],
        "marks": sorted(tuple(vars(mark).values()) for mark in inbox.marks),
        "away": sorted(inbox.away),
        "ended": sorted(inbox.ended),
        "read": (inbox.latest, inbox.read, inbox.before),
        "notes": [(note.sender, note.number, *vars(note.rule).values()) for note in inbox.notes.values()],
    }
    state = states.dump_state(kept, (*session.program.records, type(session.parameters)))
    actor.counter += 1
    return state


def resume(
    session: Session,
    state: bytes,
    signer: Signer,
    counter: int,
    board: Greetings | None = None,
    *,
    charge: Callable[[str], None] | None = None,
    refund: Callable[[str], None] | None = None,
    local_program: LocalProgram | None = None,
    keeps_spent: bool = True,
) -> Actor:
    """Return the actor with this state.

    `board` holds the greetings posted by now, `counter` the newest state's number. Raise `ReplayError` for a state that
    is not of this session and number, or no state; `LocalError` for another identity than the session pins.
    """
    program = session.program
    kept = states.load_state(state, (*program.records, type(session.parameters)))
    if not isinstance(kept, dict) or kept.get("program") != (FORMAT, program.name, program.version, session.id):
        raise ReplayError("state.of_another_session")
    if kept.get("counter") != counter:
        raise ReplayError("state.not_the_newest", number=kept.get("counter"), wanted=counter)
    try:
        make = partial(Actor, charge=charge, refund=refund, local_program=local_program, keeps_spent=keeps_spent)
        return _restored(session, kept, signer, {} if board is None else board, make)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ReplayError("state.not_restorable", error=type(error).__name__) from None


def _restored(
    session: Session, kept: Mapping[str, Any], signer: Signer, board: Greetings, make: Callable[..., Actor]
) -> Actor:
    name, key, insecure, inputs, greeted = kept["role"]
    greetings = {sender: Envelope.decode(hello) for sender, hello in kept["greetings"].items()}
    seed, known = Stream(key, insecure=insecure), ChainMap(greetings, board)  # type: ignore[arg-type]
    actor = make(session, name, signer, seed, inputs, known)
    actor.counter, actor.greeted = kept["counter"], greeted
    for envelope in kept["early"]:
        actor.hold(Envelope.decode(envelope))
    secret, *at = kept["channel"]
    left = {peer: LinkKeys(*keys) for peer, keys in kept["left"].items()}
    actor.channel.restore(secret, Counters(*at), greetings, left)
    actor.restore(Progress(*kept["progress"]), kept["keys"])
    inbox = actor.inbox
    inbox.marks = {Absent(*mark) for mark in kept["marks"]}
    inbox.away, inbox.ended = set(kept["away"]), set(kept["ended"])
    inbox.latest, read, inbox.before = kept["read"]
    inbox.read = Counter(read)
    for sender, number, *rule in kept["notes"]:
        inbox.note(Note(sender, number, Fault(*rule)))
    for entry in kept["mail"]:
        inbox.put(InboxEntry(*entry))
    end, why = kept["end"]
    actor.why = Fault(*why) if why else None
    actor.forgotten, actor.result = kept["result"]
    if actor.forgotten or end in ("stopped", "gone"):  # another that is done is run again, for its result
        actor.end = end
    actor.rising = actor.end is None
    return actor
