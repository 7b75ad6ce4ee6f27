"""What one participant can hand to an auditor: its input, its coins and its opened mail; and what follows from them.

A role is a deterministic function of input, coins and mail. So whoever has these and the wire record can make every
message of the role again (`recompute`) and hold it against the record. The identity key is not part of a view:
signatures are taken from the record and hold only for the very bytes that they were made over.

A view is secret: written only on request, shown to nobody but an auditor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from protocols.arithmetic.rng import KEY_BYTES, Stream
from protocols.crypto.identity import SIGNATURE_BYTES
from protocols.errors import PeerError, ProtocolError, ReplayError
from protocols.runtime import state as states
from protocols.runtime.channel import HELLO, Envelope
from protocols.runtime.claims import View
from protocols.runtime.message import Key, Message
from protocols.runtime.opened_mail import Letter, Links
from protocols.runtime.process import Mail, Process
from protocols.runtime.session import PUBLIC_NAME, Session

VERSION = 1
MAX_VIEW_BYTES = 1 << 26


@dataclass(frozen=True, repr=False)
class RecordedView:
    """One role's view of one session, as it stands in a file.

    `seed` is the key of the role's stream, `insecure` its mark. `mail` holds (line of the wire record, kind, payload)
    of whatever the role opened, greetings apart, in the order in which it read.
    """

    session: bytes
    role: str
    seed: bytes
    insecure: bool
    inputs: tuple[Any, ...]
    mail: tuple[tuple[int, str, bytes], ...]

    def dumps(self, session: Session) -> bytes:
        """The bytes of a file."""
        program = session.program
        kept = [VERSION, program.name, program.version, self.session, self.role]
        kept += [self.seed, self.insecure, self.inputs, self.mail]
        return states.dump(kept, _records(session))

    @classmethod
    def loads(cls, data: bytes, session: Session) -> RecordedView:
        """The view; raises `ReplayError` unless these are exactly the bytes of a view of this session."""
        if len(data) > MAX_VIEW_BYTES:
            raise ReplayError(f"a view has at most {MAX_VIEW_BYTES} bytes, got {len(data)}")
        program = session.program
        kept = states.load(data, _records(session))
        if not isinstance(kept, list) or len(kept) != 9 or kept[:3] != [VERSION, program.name, program.version]:
            raise ReplayError("not a view of this program and version")
        view = cls(*kept[3:])
        if not view._is_well_formed():
            raise ReplayError("not a view: a part of it has not the type that it should have")
        if view.session != session.id or view.role not in session.names:
            raise ReplayError("the view belongs to another session")
        agreed = session.parameters  # a role would do whatever work other ones ask for
        if any(x != agreed for x in view.inputs if type(x) is type(agreed)):
            raise ReplayError("the view's inputs hold other parameters than the session's")
        return view

    def _is_well_formed(self) -> bool:
        types = [type(x) for x in (self.session, self.role, self.seed, self.insecure, self.inputs, self.mail)]
        return (
            types == [bytes, str, bytes, bool, tuple, tuple]
            and len(self.seed) == KEY_BYTES
            and all(isinstance(item, tuple) and [type(x) for x in item] == [int, str, bytes] for item in self.mail)
        )


@dataclass(frozen=True, repr=False)
class Recomputed:
    """What follows from a view and the mail that the record holds for its role.

    `sent`: every envelope that the role sends, in order, and `posted` the (addressee, message) of each sealed one.
    `reads`: (line, sender, message) for all mail that it read, and `opened` the same as (line, kind, payload). `view`:
    its inputs, what its stages left, its mail, for checks. `keys`: those that it was told, by their names. `links`:
    its session keys. `letters`: all its sealed mail in the record, both ways, read or not.

    `fault` is what stopped the role before its end, `at` the line that did if any, `culprit` whom the role itself
    blames, which is its owner where it cannot run on its own inputs.
    """

    sent: tuple[Envelope, ...]
    reads: tuple[tuple[int, str, Message], ...]
    opened: tuple[tuple[int, str, bytes], ...]
    view: View
    posted: tuple[tuple[str, Message], ...]
    keys: Mapping[str, Key]
    links: Links
    letters: tuple[Letter, ...]
    fault: str | None = None
    at: int | None = None
    culprit: str | None = None


def _records(session: Session) -> tuple[type[Any], ...]:
    return (*session.program.records, type(session.parameters))


class _RecordedSigner:
    """Gives back the signatures that the record holds, and nothing for bytes that nobody signed."""

    def __init__(self, public: bytes, envelopes: Sequence[Envelope]) -> None:
        self.public = public
        self._signatures = {e.header + e.body[:-SIGNATURE_BYTES]: e.body[-SIGNATURE_BYTES:] for e in envelopes}

    def sign(self, message: bytes) -> bytes:
        return self._signatures.get(message, bytes(SIGNATURE_BYTES))


class _Reader:
    """An observer that keeps what the role reads."""

    def __init__(self) -> None:
        self.reads: list[tuple[int, str, Message]] = []
        self.opened: list[tuple[int, str, bytes]] = []

    def stage(self, name: str, stage: str) -> None:
        pass

    def sent(self, envelope: Envelope) -> None:
        pass

    def consumed(self, receiver: str, reference: int) -> None:
        pass

    def read(self, receiver: str, sender: str, message: Message, mail: Mail) -> None:
        self.reads.append((mail.reference, sender, message))
        self.opened.append((mail.reference, mail.kind, mail.payload))


class _Watched(Process):
    """A process that keeps the messages it sends as they are before they become bytes."""

    posted: list[tuple[str, Message]]

    def post(self, to: str, message: Message) -> None:
        """Send, and keep."""
        super().post(to, message)
        self.posted.append((to, message))


def recompute(session: Session, view: RecordedView, record: Mapping[int, Envelope]) -> Recomputed:
    """Run the role again on its view and the recorded mail, `record` mapping lines to envelopes.

    The mail is taken from the record, not from the view: what the role could not open there stops it, and `fault` says
    so in the words of the protocol. Compare `sent` with what the record holds from the role, `opened` with the view.
    """
    name, reader = view.role, _Reader()
    signed = [e for e in record.values() if e.sender == name and (e.kind == HELLO or e.to == PUBLIC_NAME)]
    signer = _RecordedSigner(session.identities[name], signed)
    process = _Watched(session, name, signer, Stream(view.seed, insecure=view.insecure), view.inputs, observer=reader)
    process.posted = []
    links = Links(session, name, process.channel.secret, record)
    sent: list[Envelope] = []
    fault, at, culprit = _run(process, record, sent)
    mail = tuple((sender, message) for _, sender, message in reader.reads)
    kept = View(name, view.inputs, tuple(process.progress.results), mail)
    known = zip(reader.opened, reader.reads, strict=True)
    letters = links.open_all(process.keys, {line: (payload, read[2]) for (line, _, payload), read in known})
    opened, posted = tuple(reader.opened), tuple(process.posted)
    return Recomputed(
        tuple(sent), tuple(reader.reads), opened, kept, posted, process.keys, links, letters, fault, at, culprit
    )


def _run(
    process: Process, record: Mapping[int, Envelope], sent: list[Envelope]
) -> tuple[str | None, int | None, str | None]:
    """Let the process run on its recorded mail; what stopped it, at which line, and whom it blames."""
    try:
        sent += process.advance()
        for line, envelope in record.items():
            if envelope.to == process.name:
                process.deliver(envelope, line)
                sent += process.advance()
        if not process.done:
            return f"{process.name} still waits for {process.waiting}", None, None
        sent += process.release()
    except PeerError as error:
        return f"{error.culprit}: {error.rule}", next(iter(error.evidence), None), error.culprit
    except ProtocolError as error:
        return str(error), None, process.name
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        # The inputs of a view come from a file: whatever a role cannot work with ends here.
        return f"{process.name} cannot run on the inputs of its view: {type(error).__name__}", None, process.name
    finally:
        process.close()
    return None, None, None
