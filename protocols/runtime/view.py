"""Views: what one participant hands to an auditor (its input, its randomness, the messages it read, its absence marks),
and what follows from it.

A role is a deterministic function of input, randomness, greetings, messages and marks. So anybody with these and the
transcript can recompute every message of the role (`recompute`) and compare it with the transcript. A view can be made
at any later time from input, randomness and transcript (`reconstruct_view`). The identity key is not part of it:
signatures are taken from the transcript and the view, and hold only for the very bytes that they were made over.

Anybody can write a view. So its owner signs the digest of all of it, for this session: an unsigned view can be read and
replayed, and nobody answers for its content.

A view is secret: it is written only on request, for an auditor alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from typing import Any, Literal, TypeAlias

import cbor2
from typing_extensions import override

from protocols.arithmetic.rng import KEY_BYTES, Stream
from protocols.crypto.identity import SIGNATURE_BYTES, Signer
from protocols.errors import PeerError, ProtocolError, ReplayError, UnansweredError
from protocols.runtime import state as states
from protocols.runtime.actor import Actor
from protocols.runtime.attestation import Attestation, signing_input
from protocols.runtime.claims import View
from protocols.runtime.envelope import HELLO, Envelope, first_greetings, signed_payload
from protocols.runtime.inbox import Absent, InboxEntry
from protocols.runtime.link_decryption import DecryptedEnvelope, LinkDecryption
from protocols.runtime.message import Key, Message
from protocols.runtime.observer import Observer
from protocols.runtime.session import FORMAT, PUBLIC_NAME, Session

MAX_VIEW_BYTES = 1 << 26
_LABEL = b"smc-dp view"
_HEAD = 3  # what stands before the fields in a file: the format, the program and its version

ReadEntry: TypeAlias = tuple[str, int, str, str, int, bytes]
"""Inbox entry that a role read: its sender, number on the link, kind, stage, round and payload."""
Cause: TypeAlias = Literal["mail", "itself", "waiting"]
"""Cause of a role's early end: a message, its own inputs, or a message or answer that never came."""


@dataclass(frozen=True, repr=False)
class RecordedView:
    """One role's view of one session, as stored in a file.

    `seed` is the key of the role's stream, `insecure` its mark. `messages` holds the inbox entries that the role read,
    in this order, `marks` the absences (sender, kind, stage, read), `statements` its attestations (stage, kind,
    payload, signature), `greetings` the digests of those that it relied on, by sender. `signature` is its owner's, over
    all of it, or empty.
    """

    session: bytes
    role: str
    seed: bytes
    insecure: bool
    inputs: tuple[Any, ...]
    messages: tuple[ReadEntry, ...]
    marks: tuple[tuple[str, str, str, int], ...]
    statements: tuple[tuple[str, str, bytes, bytes], ...]
    greetings: tuple[tuple[str, bytes], ...] = ()
    signature: bytes = b""

    def dumps(self, session: Session) -> bytes:
        """Return the bytes of the file."""
        program = session.program
        kept = [FORMAT, program.name, program.version, *vars(self).values()]
        return states.dump_state(kept, _records(session))

    def to_sign(self, session: Session) -> bytes:
        """Return the bytes that the owner signs: an array of four, where the header of an envelope is one of eight, and
        a statement one of five.

        They bind the session, the owner and the digest of the file without a signature.
        """
        digest = hashlib.sha256(replace(self, signature=b"").dumps(session)).digest()
        return cbor2.dumps([_LABEL, session.id, self.role, digest], canonical=True)

    def signed(self, session: Session, signer: Signer) -> RecordedView:
        """Return the same view with a signature by this signer."""
        return replace(self, signature=signer.sign(self.to_sign(session)))

    @classmethod
    def loads(cls, data: bytes, session: Session) -> RecordedView:
        """Return the view; raise `ReplayError` unless these are exactly the bytes of a view of this session.

        The signature is not checked here: a view can be read without one.
        """
        if len(data) > MAX_VIEW_BYTES:
            raise ReplayError("view.too_large", most=MAX_VIEW_BYTES, got=len(data))
        program = session.program
        kept = states.load_state(data, _records(session))
        if not isinstance(kept, list) or kept[:_HEAD] != [FORMAT, program.name, program.version]:
            raise ReplayError("view.of_another_program")
        if len(kept) != _HEAD + len(cls.__dataclass_fields__) or not (view := cls(*kept[_HEAD:]))._is_well_formed():
            raise ReplayError("view.malformed")
        if view.session != session.id or view.role not in session.names:
            raise ReplayError("view.of_another_session")
        agreed = session.parameters  # a role would do whatever work other ones ask for
        if any(x != agreed for x in view.inputs if type(x) is type(agreed)):
            raise ReplayError("view.of_other_parameters")
        return view

    def _is_well_formed(self) -> bool:
        types = [type(x) for x in vars(self).values()]
        return (
            types == [bytes, str, bytes, bool, tuple, tuple, tuple, tuple, tuple, bytes]
            and len(self.seed) == KEY_BYTES
            and len(self.signature) in (0, SIGNATURE_BYTES)
            and _all_are(self.messages, (str, int, str, str, int, bytes))
            and _all_are(self.marks, (str, str, str, int))
            and _all_are(self.statements, (str, str, bytes, bytes))
            and _all_are(self.greetings, (str, bytes))
        )


def _all_are(items: Iterable[Any], types: tuple[type, ...]) -> bool:
    return all(isinstance(item, tuple) and tuple(type(x) for x in item) == types for item in items)


@dataclass(frozen=True, repr=False)
class Recomputed:
    """Result of recomputing a role from its view and its messages in the transcript.

    `sent`: every envelope of the role, in order, and `posted` the (addressee, message) of each sealed one. `reads`:
    (line, sender, message) of all that it read, and `messages_read` the same as a view has it. `view`: its inputs,
    results of stages and messages, for checks. `keys`: keys that it received, by name. `links`: its session keys.
    `decrypted`: all its sealed envelopes in the transcript, both ways, read or not. `greetings`: digests of those that
    it relied on, by sender. `result`: the role's result, None before its end. `heard`: attestations of others that it
    verified. `doubted`: the messages that it read and disregarded as if absent.

    `fault` is the reason of an early end, in words that name nobody as its author, `at` the line that caused it if any,
    and `cause` its kind. Signatures decide who answers for it.
    """

    sent: tuple[Envelope, ...]
    reads: tuple[tuple[int, str, Message], ...]
    messages_read: tuple[ReadEntry, ...]
    view: View
    posted: tuple[tuple[str, Message], ...]
    keys: Mapping[str, Key]
    links: LinkDecryption
    decrypted: tuple[DecryptedEnvelope, ...]
    greetings: tuple[tuple[str, bytes], ...]
    result: Any = None
    heard: tuple[Attestation, ...] = ()
    doubted: frozenset[Absent] = frozenset()
    fault: str | None = None
    at: int | None = None
    cause: Cause | None = None


def _records(session: Session) -> tuple[type[Any], ...]:
    return (*session.program.records, type(session.parameters))


class _KnownSigner:
    """Signer that returns known signatures, and zeros for bytes that nobody signed."""

    def __init__(self, public: bytes, envelopes: Sequence[Envelope], statements: Mapping[bytes, bytes]) -> None:
        self.public = public
        self._signatures: dict[bytes, bytes] = {
            e.header + signed_payload(e): e.body[-SIGNATURE_BYTES:] for e in envelopes
        } | dict(statements)

    def sign(self, message: bytes) -> bytes:
        return self._signatures.get(message, bytes(SIGNATURE_BYTES))


class _Reader(Observer):
    """Observer that keeps the messages that the role reads and sends."""

    def __init__(self) -> None:
        self.entries: list[tuple[InboxEntry, Message]] = []
        self.written: list[tuple[str, Message]] = []

    @override
    def posted(self, name: str, to: str, message: Message) -> None:
        self.written.append((to, message))

    @override
    def read(self, receiver: str, entry: InboxEntry, message: Message) -> None:
        self.entries.append((entry, message))


def view_of(actor: Actor, signer: Signer, seed: Stream, read: Iterable[InboxEntry]) -> RecordedView:
    """Return the view of an actor, signed by its owner, from its first stream and the entries that it read."""
    statements = actor.progress.statements.items()
    view = RecordedView(
        actor.session.id,
        actor.name,
        seed.key,
        seed.insecure,
        actor.inputs,
        tuple(_opened(entry) for entry in read),
        tuple(sorted(astuple(mark) for mark in actor.marks)),
        tuple((*place, *signed) for place, signed in statements),
        _relied_on(actor),
    )
    return view.signed(actor.session, signer)


def reconstruct_view(
    session: Session,
    name: str,
    signer: Signer,
    seed: Stream,
    inputs: tuple[Any, ...],
    record: Mapping[int, Envelope],
    marks: Iterable[Absent] = (),
) -> RecordedView:
    """Return the signed view of a participant from its seed, its inputs, the transcript's envelopes by line, and its
    marks.

    It signs that it read the messages of this transcript, so it must be one that it kept itself. Raise what its role
    raises on these messages, and `ReplayError` when the transcript has other messages of its own than follow.
    """
    reader = _Reader()
    actor = Actor(session, name, signer, seed, inputs, first_greetings(record.values()), observer=reader)
    for mark in marks:
        actor.mark(mark)
    sent = actor.advance()
    for envelope in record.values():
        if envelope.to == name:
            actor.deliver(envelope)
            sent += actor.advance()
    sent += actor.release() if actor.done else []
    actor.close()
    own = [envelope for envelope in record.values() if envelope.sender == name]
    if own != sent[: len(own)]:
        raise ReplayError("view.sends_otherwise", name=name)
    return view_of(actor, signer, seed, [entry for entry, _ in reader.entries])


def recompute(session: Session, view: RecordedView, record: Mapping[int, Envelope]) -> Recomputed:
    """Run the role again on its view and the transcript, `record` mapping lines to envelopes.

    Messages are taken from the transcript, not from the view: one that the role cannot open there ends it, and `fault`
    gives the error of the protocol. Compare `sent` with the transcript, `messages_read` with the view.
    """
    name, reader = view.role, _Reader()
    signed = [e for e in record.values() if e.sender == name and e.is_public]
    known = {signing_input(session.id, name, kind, said): signature for _, kind, said, signature in view.statements}
    signer = _KnownSigner(session.identities[name], signed, known)
    seed = Stream(view.seed, insecure=view.insecure)
    actor = Actor(session, name, signer, seed, view.inputs, first_greetings(record.values()), observer=reader)
    for mark in view.marks:
        actor.inbox.marks.add(Absent(*mark))
    links = LinkDecryption(session, name, actor.channel.secret, record)
    sent: list[Envelope] = []
    stopped = _stopped_by(actor, record, sent)
    lines: dict[tuple[str, int], int] = {}
    for n, e in record.items():
        if e.to == name:
            lines.setdefault((e.sender, e.number), n)
    reads = tuple((lines[entry.sender, entry.number], entry.sender, message) for entry, message in reader.entries)
    kept = View(name, view.inputs, tuple(actor.progress.results), tuple((s, m) for _, s, m in reads), session.id)
    known_by_line = {n: (entry.payload, m) for (n, _, m), (entry, _) in zip(reads, reader.entries, strict=True)}
    keys = actor.keys
    opened, disclosed = tuple(_opened(entry) for entry, _ in reader.entries), links.open_all(keys, known_by_line)
    greetings = _relied_on(actor)
    return Recomputed(
        tuple(sent), reads, opened, kept, tuple(reader.written), keys, links, disclosed, greetings,
        actor.result if actor.done else None, tuple(actor.heard), frozenset(actor.doubted), *stopped,
    )  # fmt: skip


def _stopped_by(
    actor: Actor, record: Mapping[int, Envelope], sent: list[Envelope]
) -> tuple[str | None, int | None, Cause | None]:
    """Run the actor on its recorded messages; return the fault of an early end, its line, and its cause."""
    line: int | None = None
    try:
        sent += actor.advance()
        for n, envelope in record.items():
            line = n
            if envelope.to == actor.name:
                actor.deliver(envelope)
                sent += actor.advance()
        if actor.end is None:
            return f"{actor.name} still waits for {actor.waiting}", None, "waiting"
        if actor.done:
            sent += actor.release()
    except PeerError as error:
        of = (error.culprit, PUBLIC_NAME if error.rule.startswith(HELLO) else actor.name)
        named = [n for n, e in record.items() if (e.sender, e.to) == of and e.number in error.evidence]
        return error.rule, named[0] if named else line, "mail"
    except UnansweredError as error:
        return str(error), None, "waiting"
    except ProtocolError as error:
        return str(error), None, "itself"
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        # The inputs of a view come from a file: whatever a role cannot work with ends here.
        return f"the role cannot run on the inputs of the view: {type(error).__name__}", None, "itself"
    finally:
        actor.close()
    return None, None, None


def _relied_on(actor: Actor) -> tuple[tuple[str, bytes], ...]:
    """Return the digests of the greetings whose signatures this actor verified and used."""
    return tuple(sorted((name, hello.digest) for name, hello in actor.channel.greetings.items()))


def _opened(entry: InboxEntry) -> ReadEntry:
    return entry.sender, entry.number, entry.kind, entry.stage, entry.round, entry.payload
