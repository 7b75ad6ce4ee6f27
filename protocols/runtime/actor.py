"""One participant as an actor: its coroutine, its channel and its inbox. Every driver moves the same actors.

Theory of operation. An actor runs in process: it never does input or output, has no clock and starts nothing by itself.
A driver hands it envelopes (`deliver`) and says who is absent (`miss`), lets it run (`advance`), and carries away the
envelopes that it gets back. `awaited` names those without whom it cannot go on; when they have had time enough is for
the driver to say. In the end a role is `done`, with a result; or `stopped`, because somebody is absent whom it needs;
or `gone`, which only a driver can know. What a role has published is handed out by `release`, and not before it is
done.

Greetings are public. They are not delivered: `board` holds those that have been posted, by sender, and an actor looks
there when it needs one. It starts when all with whom it shares a link have greeted.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any, Literal, NoReturn, Protocol

from protocols.arithmetic.rng import Stream
from protocols.crypto.identity import Signer
from protocols.crypto.sealing import KEY_BYTES
from protocols.errors import (
    DecodeError,
    Fault,
    LocalError,
    PeerError,
    StoppedError,
    UnansweredError,
    shown,
    somebody_between,
)
from protocols.runtime import message as messages
from protocols.runtime.channel import GREETING, Channel
from protocols.runtime.desk import KEYS, Desk, Observer
from protocols.runtime.endpoint import Endpoint, Greeted, Want
from protocols.runtime.envelope import HELLO, MAX_ROUNDS, Envelope
from protocols.runtime.mailbox import Absent, EarlyMail, Mail, Note
from protocols.runtime.message import Message
from protocols.runtime.session import PUBLIC_NAME, Session

MAX_HELD_BYTES = 1 << 26  # of mail whose senders have not greeted
End = Literal["done", "stopped", "gone"]
Greetings = Mapping[str, Envelope]
Home = Callable[..., Any]
"""A participant's own program, which answers what its role asks."""
NOBODY: Mapping[str, Home] = MappingProxyType({})


class Moved(Protocol):
    """What a driver moves: an `Actor`, or what stands for one that a worker process has."""

    @property
    def name(self) -> str:
        """Whose role it is."""
        ...

    @property
    def end(self) -> End | None:
        """How it ended."""
        ...

    @property
    def why(self) -> str:
        """Why it was stopped."""
        ...

    @property
    def result(self) -> Any:
        """What the role returned."""
        ...

    @property
    def done(self) -> bool:
        """Whether the role has returned."""
        ...

    @property
    def publishes(self) -> bool:
        """Whether the role has something to publish."""
        ...

    @property
    def signed(self) -> int:
        """How many envelopes it has signed for everybody."""
        ...

    @property
    def marks(self) -> frozenset[Absent]:
        """Who was absent when."""
        ...

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was left out of account."""
        ...

    @property
    def awaited(self) -> tuple[str, ...]:
        """Those without whom the role cannot go on."""
        ...

    @property
    def waiting(self) -> str | None:
        """What it waits for, in words."""
        ...

    def deliver(self, envelope: Envelope) -> None:
        """Keep a letter for the role."""
        ...

    def advance(self) -> list[Envelope]:
        """Let the role run."""
        ...

    def release(self) -> list[Envelope]:
        """Publish."""
        ...

    def miss(self, *senders: str) -> list[Absent]:
        """Go on without these."""
        ...

    def vanish(self) -> None:
        """Nothing more comes of it."""
        ...

    def close(self) -> None:
        """Give up the role."""
        ...


class Actor:
    """A role, its inputs and its channel. `deliver` mail, then `advance`; what it sends comes back from `advance`.

    `charge` is the driver's ledger, which has what it is told on the disk before it returns, see `Endpoint.spend`;
    `voided` hears which charge has turned out to cost nothing, see `Endpoint.void`. `home` answers what the role asks
    (`Endpoint.ask`); each answer is added to `inputs`, so that whoever runs the role again needs nobody at home.
    """

    def __init__(
        self,
        session: Session,
        name: str,
        signer: Signer,
        seed: Stream,
        inputs: tuple[Any, ...],
        board: Greetings,
        *,
        observer: Observer | None = None,
        charge: Callable[[str], None] | None = None,
        voided: Callable[[str], None] | None = None,
        home: Home | None = None,
    ) -> None:
        self.session, self.name, self.inputs, self.board = session, name, inputs, board
        self.channel = Channel(session, name, signer, seed.fork("channel"), board)
        self.desk = Desk(session, name, signer, seed, self.channel, observer, charge, voided, self._asked)
        self.greeted = False
        self.counter = 0  # of the states that were saved of it
        self.end: End | None = None
        self.why = ""
        self.result: Any = None
        self.rising = False  # resumed, and not yet where it stood
        self.early = EarlyMail()
        self.broken: Exception | None = None  # what the role or its mail raised: it does not go on after that
        self._observer, self._home = observer, home
        self._started = False
        self._posted = 0  # greetings on the board when it looked there last
        self._want: Want | None = None
        self._role: Coroutine[Any, Any, Any] | None = None

    @property
    def done(self) -> bool:
        """Whether the role has returned."""
        return self.end == "done"

    @property
    def publishes(self) -> bool:
        """Whether the role has something to publish."""
        return bool(self.desk.progress.unpublished)

    @property
    def signed(self) -> int:
        """How many envelopes it has signed for everybody."""
        return self.channel.counters.sent.get(PUBLIC_NAME, 0)

    @property
    def marks(self) -> frozenset[Absent]:
        """Who was absent when, as far as the driver has said."""
        return frozenset(self.desk.mailbox.marks)

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was left out of account: late mail, and messages that the role doubted."""
        return tuple(self.desk.mailbox.notes)

    def deliver(self, envelope: Envelope) -> None:
        """Open an envelope and keep it for the role; raises `PeerError` when it does not belong.

        What comes before its sender's greeting waits, and what follows it on the same link waits behind it.
        """
        sender = envelope.sender
        unmet = sender in self.channel.peers and sender not in self.board
        if unmet or sender in self.early.senders:
            self.hold(envelope)
        else:
            self._open(envelope)

    def hold(self, envelope: Envelope) -> None:
        """Keep mail until its sender has greeted; raises `PeerError` for what is not of this session, or too much."""
        here = (envelope.session, envelope.to) == (self.session.id, self.name)
        if not here or self.early.bytes + envelope.size > MAX_HELD_BYTES:
            raise PeerError(
                somebody_between(envelope.sender),
                "early_mail.unusable",
                "mail to {name} before the greeting is not of this session, or too much",
                name=self.name,
            )
        self.early.put(envelope)

    def _open_early(self) -> None:
        """Open what had to wait. Nobody vouches for it yet, so what does not open is left out with a note."""
        held, self.early = self.early, EarlyMail()
        for envelope in held.envelopes:
            if envelope.sender not in self.board:
                self.early.put(envelope)
                continue
            try:
                self._open(envelope)
            except PeerError as error:
                if error.evidence:
                    raise
                self.desk.mailbox.note(Note(error.culprit, None, error.rule))

    def _open(self, envelope: Envelope) -> None:
        payload = self.channel.open(envelope)
        mail = Mail(envelope.sender, envelope.number, envelope.kind, envelope.stage, envelope.round, payload)
        self.desk.mailbox.put(mail)
        if self.end is not None:
            self._refuse_unread()

    def mark(self, absent: Absent) -> None:
        """Let the role go on without this letter, whether it comes or not.

        Raises `LocalError` when the role has read it already: a mark has to be there before.
        """
        marks = self.desk.mailbox.marks
        if absent not in marks and (self.rising or not self._is_to_come(absent)):
            raise LocalError(
                "absence.too_late",
                "{name}: {kind} of {sender} in {stage} cannot be marked absent",
                name=self.name,
                kind=absent.kind,
                sender=absent.sender,
                stage=absent.stage,
            )
        marks.add(absent)

    def miss(self, *senders: str) -> list[Absent]:
        """The driver has waited long enough for these senders: mark what the role waits for; the marks."""
        if unasked := set(senders).difference(self.awaited):
            raise LocalError(
                "absence.not_awaited", "{name} does not wait for {unasked}", name=self.name, unasked=sorted(unasked)
            )
        marks = [self._due(sender) for sender in senders]
        for absent in marks:
            self.mark(absent)
        return marks

    def advance(self) -> list[Envelope]:
        """Run until the role waits for mail that is not there, or ends; return what it sent.

        What a role has raised it raises again: it has read what made it stop, and cannot go on from there.
        """
        if self.broken:
            raise self.broken
        try:
            return self._advance()
        except Exception as error:
            self.broken = error
            raise

    def _advance(self) -> list[Envelope]:
        if not self.greeted:
            self.greeted = True
            self.desk.emit(self.channel.greet(self._said()))
        if len(self.board) != self._posted:  # else those who had not greeted have not greeted yet
            self._posted = len(self.board)
            self._open_early()
        if self.end is None and self._has_greetings():
            self._run()
        self.rising = False
        return self.desk.taken()

    def release(self) -> list[Envelope]:
        """Sign and emit what the role published; a driver calls it when the role is done."""
        if not self.done:
            raise LocalError(
                "role.publishes_before_its_end",
                "{name}: nothing is published before the role has finished",
                name=self.name,
            )
        unpublished, self.desk.progress.unpublished = self.desk.progress.unpublished, []
        for kind, stage, payload in unpublished:
            self.desk.emit(self.channel.sign(kind, stage, payload))
        return self.desk.taken()

    def vanish(self) -> None:
        """The driver knows that this participant is gone; nothing more comes of it."""
        self.end, self.why, self.result, self._want = "gone", f"{self.name} is gone", None, None
        self.close()

    @property
    def awaited(self) -> tuple[str, ...]:
        """Those without whom the role cannot go on, as long as nothing of them is there and no mark."""
        if self.end is not None:
            return ()
        if not self._started:
            return tuple(p for p in self._peers() if p not in self.board)
        return self._missing(self._want) if self._want else ()

    @property
    def waiting(self) -> str | None:
        """What the actor waits for, in words; None when it has come to an end."""
        if self.end is not None:
            return None
        missing = ", ".join(self.awaited)
        if not missing:
            return "its turn"
        if self._want is None or self._want.greetings:
            return f"{HELLO} from {missing}"
        return f"{self._want.kind.__name__} from {missing} at {self._where()}"

    def close(self) -> None:
        """Give up the role where it stands."""
        if self._role is not None:
            self._role.close()

    def _asked(self, *said: Any) -> Any:
        if self._home is None:
            raise UnansweredError(
                "role.nobody_answers",
                "{name}: nobody is at home to answer, and the answer is not among the inputs",
                name=self.name,
            )
        answer = self._home(*said)
        self.inputs = (*self.inputs, answer)
        return answer

    def _due(self, sender: str) -> Absent:
        if self._want is None or self._want.greetings:
            return Absent(sender, HELLO, GREETING)
        return self.desk.mailbox.due(sender, self._want.kind.__name__, self.desk.stage or "")

    def _is_to_come(self, absent: Absent) -> bool:
        mailbox, stage = self.desk.mailbox, self.desk.stage
        if self.end is not None or absent.sender not in self.session.participants:
            return False
        if absent.kind == HELLO:
            asked = self._want is not None and self._want.greetings and absent.sender not in self.board
            return asked or not self._started
        if absent.stage == stage:
            return mailbox.due(absent.sender, absent.kind, stage).read <= absent.read
        return absent.stage not in mailbox.ended

    def _peers(self) -> tuple[str, ...]:
        return self.session.peers(self.name)

    def _said(self) -> bytes:
        greeting = self.session.says(self.name)
        if greeting is None:
            return b""
        self._measure(KEYS)
        made = greeting.make(self.session.parameters, self.name, self.desk.seed.fork("greeting"))
        self._measure(GREETING)
        return messages.encode(made, self.session.layout, {})

    def _measure(self, stage: str) -> None:
        if self._observer:
            self._observer.stage(self.name, stage)

    def _has_greetings(self) -> bool:
        if self._started:
            return True
        for peer in self._peers():
            if Absent(peer, HELLO, GREETING) in self.desk.mailbox.marks:
                self._stop(f"{self.name}: {peer} has not greeted")
                return False
            if peer not in self.board:
                return False
        self._started = True
        if self._observer:
            self._observer.started(self.name)
        return True

    def _start(self) -> Coroutine[Any, Any, Any]:
        role = self.session.program.roles[self.session.kind(self.name)]
        return role(Endpoint(self.session, self.name, self.desk), *self.inputs)  # type: ignore[return-value]

    def _run(self) -> None:
        self._role = self._role or self._start()
        try:
            while (found := self._answer()) is not None:
                self._want = self._resumed(self._role, found)
                if self._observer:
                    self._observer.waits(self.name, self._want)
                if unknown := [name for name in self._want.senders if name not in self.session.participants]:
                    raise LocalError(
                        "role.waits_for_a_stranger",
                        "{name}: nobody is called {unknown}",
                        name=self.name,
                        unknown=unknown[0],
                    )
        except StopIteration as stop:
            self.end, self.result, self._want = "done", stop.value, None
            self.desk.sign_off()
            self._refuse_unread()
        except StoppedError as stopped:
            self._stop(str(stopped))

    def _answer(self) -> dict[str, Mail | Envelope | Absent] | None:
        """What there is of each sender that the role waits for; None as long as somebody's is missing."""
        want = self._want
        if want is None:
            return {}
        asked = want.senders
        if want.of is not None and not self.desk.mailbox.marks and all(map(self.board.__contains__, asked)):
            asked = want.of  # all have greeted, and no more is to be read
        found = {sender: self._found(want, sender) for sender in asked}
        there = {sender: answer for sender, answer in found.items() if answer is not None}
        return there if len(there) == len(found) or _is_given_up(want, there.values()) else None

    def _resumed(self, role: Coroutine[Any, Any, Any], found: Mapping[str, Mail | Envelope | Absent]) -> Want:
        """Give the role what it waited for, or tell it that this will not come; what it wants next."""
        want = self._want
        if want is None:
            first: Want = role.send(None)
            return first
        absent = [sender for sender, answer in found.items() if isinstance(answer, Absent)]
        if absent and want.all:
            self._throw(role, HELLO if want.greetings else want.kind.__name__, absent)
        for sender in absent:
            self.desk.mailbox.miss(sender)
        got = {
            sender: self._take(want, answer) if isinstance(answer, Mail) else self._greeting(want, sender)
            for sender, answer in found.items()
            if not isinstance(answer, Absent) and want.wants(sender)
        }
        following: Want = role.send(got)
        return following

    def _throw(self, role: Coroutine[Any, Any, Any], what: str, absent: list[str]) -> NoReturn:
        """Tell the role, and stop it whatever it makes of that: what it would do next could depend on what has come."""
        stopped = StoppedError(
            "message.will_not_come",
            "{name}: {what} of {absent} will not come",
            name=self.name,
            what=what,
            absent=absent,
        )
        with suppress(StopIteration):
            role.throw(stopped)
        role.close()
        raise stopped

    def _stop(self, why: str) -> None:
        self.end, self.why, self._want = "stopped", why, None
        self.desk.sign_off()

    def _missing(self, want: Want) -> tuple[str, ...]:
        """Of whom there is neither what the role waits for nor a mark; nobody when a mark ends the waiting."""
        found = {sender: self._found(want, sender) for sender in want.senders}
        given_up = _is_given_up(want, found.values())
        return () if given_up else tuple(sender for sender, answer in found.items() if answer is None)

    def _found(self, want: Want, sender: str) -> Mail | Envelope | Absent | None:
        if not want.greetings:
            return self.desk.mailbox.look(sender, want.kind.__name__, self.desk.stage or "")
        marks = self.desk.mailbox.marks
        if marks and (mark := Absent(sender, HELLO, GREETING)) in marks:
            return mark
        return self.board.get(sender)

    def _take(self, want: Want, mail: Mail) -> Message:
        sender = mail.sender
        self.desk.mailbox.take(mail)
        self.desk.last[sender] = mail.number
        if self._observer:
            self._observer.consumed(self.name, mail)
        if not 0 < mail.round < MAX_ROUNDS:
            raise PeerError(
                sender,
                "message.states_no_round",
                "states round {round} to {name}",
                [mail.number],
                round=mail.round,
                name=self.name,
            )
        self.channel.has_read(mail.round)
        if mail.kind != want.kind.__name__:
            raise PeerError(
                sender,
                "message.of_another_kind",
                "sent {kind} to {name}, wanted {wanted}",
                [mail.number],
                kind=shown(mail.kind),
                name=self.name,
                wanted=want.kind.__name__,
            )
        if not want.kind.route.allows(self.session.kind(sender), self.session.kind(self.name)):
            raise LocalError(
                "message.without_a_route",
                "{kind} has no route from {sender} to {to}",
                kind=mail.kind,
                sender=sender,
                to=self.name,
            )
        try:
            layout = self.session.layout_in(self.desk.stage or "")
            read: Message = messages.decode(want.kind, mail.payload, layout, self.desk.keys)
        except DecodeError as error:
            fault = _in_field(mail.kind, error).followed_by(" (to {reader})", reader=self.name)
            raise PeerError(sender, fault, evidence=[mail.number]) from None
        if self._observer:
            self._observer.read(self.name, mail, read)
        return read

    def _greeting(self, want: Want, sender: str) -> Greeted[Message]:
        said = self.channel.greeting(sender)[KEY_BYTES:]
        try:
            read: Message = messages.decode(want.kind, said, self.session.layout, {})
        except DecodeError as error:
            fault = _in_field(HELLO, error).followed_by(" (public)")
            raise PeerError(sender, fault, evidence=[0]) from None
        return Greeted(read, self.channel.greetings[sender].digest)

    def _refuse_unread(self) -> None:
        for mail in self.desk.mailbox.unread() if self.done else ():
            raise PeerError(
                mail.sender,
                "message.not_wanted",
                "sent {kind} to {name}, which wanted nothing more",
                [mail.number],
                kind=shown(mail.kind),
                name=self.name,
            )

    def _where(self) -> str:
        """Where in the protocol's code the role stands: its innermost coroutine outside the endpoint."""
        where = "its start"
        inner: Any = self._role
        while (frame := getattr(inner, "cr_frame", None)) is not None:
            if not frame.f_code.co_filename.endswith("endpoint.py"):
                where = f"{frame.f_code.co_filename.rpartition('/')[2]} line {frame.f_lineno}"
            inner = inner.cr_await
        return where


def _in_field(kind: str, error: DecodeError) -> Fault:
    """Return what is wrong with a field, which comes first in its sentence, with the kind of its message before it."""
    return replace(error.fault, place=f"{kind}.{error.fault.place}")


def _is_given_up(want: Want, found: Iterable[Mail | Envelope | Absent | None]) -> bool:
    """Whether a mark ends the waiting: of those who are all needed one is absent."""
    return want.all and any(isinstance(answer, Absent) for answer in found)


def overdue(roles: Mapping[str, Moved]) -> dict[str, list[str]]:
    """For each reader the senders of whom nothing more will come: what a driver marks when nobody can move."""
    over = {name for name, role in roles.items() if role.end in ("gone", "stopped")}
    found = {name: [sender for sender in role.awaited if sender in over] for name, role in roles.items()}
    return {name: senders for name, senders in found.items() if senders}


def actors(
    session: Session,
    identities: Mapping[str, Signer],
    seeds: Mapping[str, Stream],
    inputs: Mapping[str, tuple[Any, ...]],
    board: Greetings,
    observer: Observer | None = None,
    charge: Callable[[str, str], None] | None = None,
    voided: Callable[[str, str], None] | None = None,
    home: Mapping[str, Home] = NOBODY,
    names: Iterable[str] | None = None,
) -> dict[str, Actor]:
    """Make one actor for each participant; `charge(name, label)` is told what each spends, `voided` what cost nothing.

    `home`: who answers what the role of a participant asks, by name. `names`: whose actors to make, if not all.
    """
    return {
        name: Actor(
            session,
            name,
            identities[name],
            seeds[name],
            inputs[name],
            board,
            observer=observer,
            charge=partial(charge, name) if charge else None,
            voided=partial(voided, name) if voided else None,
            home=home.get(name),
        )
        for name in (session.names if names is None else names)
    }


def hold_to_their_word(session: Session, roles: Iterable[Moved], published: Mapping[str, Any]) -> None:
    """Raises `PeerError`, without evidence: what somebody was told came sealed, and convinces nobody else."""
    kept = session.program.kept
    for role in roles:
        broken = kept(session.id, session.names, role.result, published) if kept and role.done else None
        if broken is not None:
            raise PeerError(*broken)
