"""What one participant can hand to an auditor: its input, its coins, its opened mail and who was absent to it; and what
follows from them.

A role is a deterministic function of input, coins, greetings, mail and marks. So whoever has these and the wire record
can make every message of the role again (`recompute`) and hold it against the record. A view can be made at any time
afterwards from input, coins and record (`reconstruct_view`). The identity key is not part of it: signatures of messages
are taken from the record and from the view, and hold only for the very bytes that they were made over.

Anybody can write a view. So its owner signs the digest of all of it, for this session: without that signature a view
can be read and replayed, and nobody answers for what it says.

A view is secret: written only on request, shown to nobody but an auditor.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from typing import Any, Literal, TypeAlias

import cbor2

from protocols.arithmetic.rng import KEY_BYTES, Stream
from protocols.crypto.identity import SIGNATURE_BYTES, Signer
from protocols.errors import PeerError, ProtocolError, ReplayError, UnansweredError
from protocols.runtime import state as states
from protocols.runtime.actor import Actor
from protocols.runtime.attestation import Attestation, signing_input
from protocols.runtime.claims import View
from protocols.runtime.endpoint import Want
from protocols.runtime.envelope import HELLO, Envelope, first_greetings, signed_payload
from protocols.runtime.inbox import Absent, InboxEntry
from protocols.runtime.link_decryption import DecryptedEnvelope, LinkDecryption
from protocols.runtime.message import Key, Message
from protocols.runtime.session import FORMAT, PUBLIC_NAME, Session

MAX_VIEW_BYTES = 1 << 26
VIEW_FORMAT = 2  # of a view's file: since 2 it is signed, and says which greetings its owner relied on
_LABEL = b"smc-dp view"
_HEAD = 4  # what stands before the fields in a file: two formats, the program and its version

ReadEntry: TypeAlias = tuple[str, int, str, str, int, bytes]
"""A letter that a role read: its sender, its number on the link, its kind, stage, round and payload."""
Cause: TypeAlias = Literal["mail", "itself", "waiting"]
"""What stopped a role before its end: what somebody sent it, what it was given itself, or what never came, from others
or from home.
"""


@dataclass(frozen=True, repr=False)
class RecordedView:
    """One role's view of one session, as it stands in a file.

    `seed` is the key of the role's stream, `insecure` its mark. `mail` holds whatever the role opened, in the order in
    which it read, `marks` who was absent (sender, kind, stage, read), `statements` what it attested (stage, kind,
    payload, signature), `greetings` the digests of those that it relied on, by sender. `signature` is its owner's, over
    all of it; empty for a view that nobody signed.
    """

    session: bytes
    role: str
    seed: bytes
    insecure: bool
    inputs: tuple[Any, ...]
    mail: tuple[ReadEntry, ...]
    marks: tuple[tuple[str, str, str, int], ...]
    statements: tuple[tuple[str, str, bytes, bytes], ...]
    greetings: tuple[tuple[str, bytes], ...] = ()
    signature: bytes = b""

    def dumps(self, session: Session) -> bytes:
        """The bytes of a file."""
        program = session.program
        kept = [VIEW_FORMAT, FORMAT, program.name, program.version, *vars(self).values()]
        return states.dump(kept, _records(session))

    def to_sign(self, session: Session) -> bytes:
        """What its signature is over: an array of four, where the header of an envelope is one of eight, and a
        statement one of five.

        It binds the session, the owner and the digest of the file as it is without a signature.
        """
        digest = hashlib.sha256(replace(self, signature=b"").dumps(session)).digest()
        return cbor2.dumps([_LABEL, session.id, self.role, digest], canonical=True)

    def signed(self, session: Session, signer: Signer) -> RecordedView:
        """The same view with the signature of whoever this is."""
        return replace(self, signature=signer.sign(self.to_sign(session)))

    @classmethod
    def loads(cls, data: bytes, session: Session) -> RecordedView:
        """The view; raises `ReplayError` unless these are exactly the bytes of a view of this session.

        Whether it is signed, and by whom, is for others to check: it can be read without.
        """
        if len(data) > MAX_VIEW_BYTES:
            raise ReplayError("view.too_large", most=MAX_VIEW_BYTES, got=len(data))
        program = session.program
        kept = states.load(data, _records(session))
        if isinstance(kept, list) and kept[:3] == [FORMAT, program.name, program.version]:
            raise ReplayError("view.of_an_old_format", wanted=VIEW_FORMAT)
        if not isinstance(kept, list) or kept[:_HEAD] != [VIEW_FORMAT, FORMAT, program.name, program.version]:
            raise ReplayError("view.of_another_program")
        if len(kept) != _HEAD + len(cls.__dataclass_fields__):
            raise ReplayError("view.without_its_parts")
        view = cls(*kept[_HEAD:])
        if not view._is_well_formed():
            raise ReplayError("view.part_of_another_type")
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
            and _all_are(self.mail, (str, int, str, str, int, bytes))
            and _all_are(self.marks, (str, str, str, int))
            and _all_are(self.statements, (str, str, bytes, bytes))
            and _all_are(self.greetings, (str, bytes))
        )


def _all_are(items: Iterable[Any], types: tuple[type, ...]) -> bool:
    return all(isinstance(item, tuple) and tuple(type(x) for x in item) == types for item in items)


@dataclass(frozen=True, repr=False)
class Recomputed:
    """What follows from a view and the mail that the record holds for its role.

    `sent`: every envelope that the role sends, in order, and `posted` the (addressee, message) of each sealed one.
    `reads`: (line, sender, message) for all mail that it read, and `opened` the same as the view has it. `view`: its
    inputs, what its stages left, its mail, for checks. `keys`: those that it was told, by their names. `links`: its
    session keys. `letters`: all its sealed mail in the record, both ways, read or not. `greetings`: the digests of
    those that it relied on, by sender. `result`: what the role came to, None before its end. `heard`: the statements of
    others that it saw to be signed. `doubted`: the letters that it read and left out of account, as if they had not
    come.

    `fault` is what stopped the role before its end, in words that name nobody as the one who did, `at` the line that
    did if any, and `cause` what kind of thing it was. Who answers for it is for signatures to say.
    """

    sent: tuple[Envelope, ...]
    reads: tuple[tuple[int, str, Message], ...]
    opened: tuple[ReadEntry, ...]
    view: View
    posted: tuple[tuple[str, Message], ...]
    keys: Mapping[str, Key]
    links: LinkDecryption
    letters: tuple[DecryptedEnvelope, ...]
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
    """Gives back signatures that are known, and nothing for bytes that nobody signed."""

    def __init__(self, public: bytes, envelopes: Sequence[Envelope], statements: Mapping[bytes, bytes]) -> None:
        self.public = public
        self._signatures: dict[bytes, bytes] = {
            e.header + signed_payload(e): e.body[-SIGNATURE_BYTES:] for e in envelopes
        } | dict(statements)

    def sign(self, message: bytes) -> bytes:
        return self._signatures.get(message, bytes(SIGNATURE_BYTES))


class _Reader:
    """An observer that keeps what the role reads and writes."""

    def __init__(self) -> None:
        self.mail: list[tuple[InboxEntry, Message]] = []
        self.written: list[tuple[str, Message]] = []

    def stage(self, name: str, stage: str) -> None:
        pass

    def sent(self, envelope: Envelope) -> None:
        pass

    def posted(self, name: str, to: str, message: Message) -> None:
        self.written.append((to, message))

    def started(self, name: str) -> None:
        pass

    def waits(self, name: str, want: Want) -> None:
        pass

    def consumed(self, receiver: str, mail: InboxEntry) -> None:
        pass

    def read(self, receiver: str, mail: InboxEntry, message: Message) -> None:
        self.mail.append((mail, message))


def view_of(actor: Actor, signer: Signer, seed: Stream, read: Iterable[InboxEntry]) -> RecordedView:
    """Return the view of an actor, signed by its owner, from the stream it began with and the mail that it read."""
    stated = actor.progress.statements.items()
    view = RecordedView(
        actor.session.id,
        actor.name,
        seed.key,
        seed.insecure,
        actor.inputs,
        tuple(_opened(mail) for mail in read),
        tuple(sorted(astuple(mark) for mark in actor.marks)),
        tuple((*place, *signed) for place, signed in stated),
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
    """The view of a participant, from its seed and inputs, and the record: envelopes by line, its marks.

    It signs that it read what stands in this record, so it must be one that it kept itself. Raises what its role raises
    on this mail, and `ReplayError` when the record has other messages of its own than follow from it.
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
    return view_of(actor, signer, seed, [mail for mail, _ in reader.mail])


def recompute(session: Session, view: RecordedView, record: Mapping[int, Envelope]) -> Recomputed:
    """Run the role again on its view and the recorded mail, `record` mapping lines to envelopes.

    The mail is taken from the record, not from the view: what the role could not open there stops it, and `fault` says
    so in the words of the protocol. Compare `sent` with what the record holds from the role, `opened` with the view.
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
    reads = tuple((lines[mail.sender, mail.number], mail.sender, message) for mail, message in reader.mail)
    kept = View(name, view.inputs, tuple(actor.progress.results), tuple((s, m) for _, s, m in reads), session.id)
    known_by_line = {n: (mail.payload, m) for (n, _, m), (mail, _) in zip(reads, reader.mail, strict=True)}
    keys = actor.keys
    opened, letters = tuple(_opened(mail) for mail, _ in reader.mail), links.open_all(keys, known_by_line)
    greetings = _relied_on(actor)
    return Recomputed(
        tuple(sent), reads, opened, kept, tuple(reader.written), keys, links, letters, greetings,
        actor.result if actor.done else None, tuple(actor.heard), frozenset(actor.doubted), *stopped,
    )  # fmt: skip


def _stopped_by(
    actor: Actor, record: Mapping[int, Envelope], sent: list[Envelope]
) -> tuple[str | None, int | None, Cause | None]:
    """Let the actor run on its recorded mail; what stopped it, at which line, and what kind of thing that was."""
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
    """The digests of the greetings whose signatures this actor checked and used."""
    return tuple(sorted((name, hello.digest) for name, hello in actor.channel.greetings.items()))


def _opened(mail: InboxEntry) -> ReadEntry:
    return mail.sender, mail.number, mail.kind, mail.stage, mail.round, mail.payload
