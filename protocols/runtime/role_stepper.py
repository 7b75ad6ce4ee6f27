"""Stepper of roles: the rules by which a role waits, meets an absence, goes on and ends.

Theory of operation. A role is a coroutine that yields a `Want` where it needs messages: one message of one kind from
each of these senders, or their greetings. It waits nowhere else. `RoleStepper` answers it, and stands behind
`Endpoint`, the only interface of a role. Three engines inherit from it, and replace what their name says:

    Actor          seals, signs, numbers and records what a role sends; goes on from a saved state
    DryRunRole     hands messages over as they are; counts them, and keeps their order
    SymbolicRole   draws unknowns in place of numbers, and hands messages over as they are

A role is in one of these states. `end` is None in the first two, and names the others.

    greeting   it has greeted, and misses greetings of peers, i.e. of those with whom it shares a link
    waiting    it stands at a `Want`
    done       it has returned
    stopped    it has aborted: somebody is absent whom it needs, or it has given up by itself
    gone       it has dropped out: no envelope leaves any more

    state      event                                                        next
    greeting   every peer has greeted                                       waiting, after the first step
    greeting   the greeting of a peer is marked absent                      stopped
    waiting    each sender has sent a message, or (`Want.all` is False)     waiting at the next `Want`, or done
               is marked absent
    waiting    a sender is marked absent, and `Want.all` is True            stopped; the role gets `StoppedError`, and
                                                                            nothing that it does then has an effect
    waiting    the role raises `StoppedError`                               stopped
    any        an envelope is to leave after the last one that may          gone, without that envelope

A sender is absent to a reader where a mark says so; the mark overrides whatever has arrived (`inbox.py`), and holds to
the end of the stage. A driver sets marks: it asks for whom a role waits (`awaited`), and decides when it has waited
long enough (`miss`). So a role does the same with the same input, seed, messages and marks, in every engine.

Drop-outs are simulated here and nowhere else: `drop_out` sets the number of envelopes that still leave.

A stage is a checkpoint. When a role enters one, it signs the end of the one before, unless both have one name; when it
leaves one, its messages, values and randomness are deleted, and the seed is replaced by a one-way function of itself.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Literal, NoReturn

from protocols.arithmetic.rng import Stream
from protocols.errors import Fault, LocalError, PeerError, StoppedError, UnansweredError, shown
from protocols.runtime.attestation import encode_statement
from protocols.runtime.channel import GREETING_STAGE
from protocols.runtime.endpoint import Endpoint, Want
from protocols.runtime.envelope import HELLO, STAGE_END
from protocols.runtime.inbox import Absent, Inbox, InboxEntry
from protocols.runtime.message import Key, Message
from protocols.runtime.observer import Observer
from protocols.runtime.session import PUBLIC_NAME, Session

KEY_STAGE = "keys"  # what is made once, i.e. keys, is measured as a stage of its own
End = Literal["done", "stopped", "gone"]


class DroppedOutError(Exception):
    """Drop-out of a participant with the envelope that it was about to send; it computes no further."""


@dataclass(repr=False)
class Progress:
    """Progress of a role: all that is kept between two runs of it, beside keys, inbox and seed.

    `results` are those of finished stages, None where a later one replaced it. Of the open stage: its name until the
    chain has been signed for it, digests of what was sent, values made once. `statements` maps stage and kind to the
    payload and its signature. `unpublished` waits for its release, in the engine's form.
    """

    results: list[Any] = field(default_factory=list)
    stage: str | None = None
    sent: list[bytes] = field(default_factory=list)
    once_values: dict[str, Any] = field(default_factory=dict)
    statements: dict[tuple[str, str], tuple[bytes, bytes]] = field(default_factory=dict)
    unpublished: list[Any] = field(default_factory=list)


class RoleStepper(ABC):
    """Stepper of one role. `board` holds the greetings that are posted, by sender.

    `met`: the marks that the role came to. `last`: the number of the message read last, by sender. `unsent`: the
    envelope with which the participant dropped out, as others miss it. `why`: the reason of an early end.
    """

    def __init__(
        self,
        session: Session,
        name: str,
        seed: Stream,
        inputs: tuple[Any, ...],
        board: Mapping[str, Any],
        observer: Observer | None = None,
    ) -> None:
        self.observer = observer
        self.session, self.name, self.seed, self.inputs, self.board = session, name, seed, inputs, board
        self.inbox = Inbox()
        self.progress = Progress()
        self.keys: dict[str, Key] = {}
        self.last: dict[str, int] = {}
        self.met: set[Absent] = set()
        self.unsent: Absent | None = None
        self.stage: str | None = None
        self.greeted = False
        self.end: End | None = None
        self.why: Fault | None = None
        self.result: Any = None
        self._secrets: Any = None  # behind its greeting, in the first stage
        self._finished = 0  # stages that an earlier engine of this role has finished
        self._entered = 0
        self._replaces = False
        self._spent: set[str] = set()
        self._started = False
        self._want: Want | None = None
        self._role: Coroutine[Any, Any, Any] | None = None
        self._handed: list[Message] = []
        self._left: int | None = None  # envelopes that leave before the participant drops out
        self._counts_sealed = False

    # What the driver does with a role.

    @property
    def done(self) -> bool:
        """True when the role has returned."""
        return self.end == "done"

    def drop_out(self, after: int, *, counts_sealed: bool = False) -> None:
        """Let `after` envelopes leave, and none from then on.

        With `counts_sealed` only the greeting and sealed envelopes count, as for an observer that does not look inside.
        """
        self._left, self._counts_sealed = after, counts_sealed

    def hand(self, sender: str, message: Message, stage: str, number: int = 1) -> None:
        """Put a message of this stage and round into the inbox as it is, for engines that seal nothing."""
        self.inbox.put(InboxEntry(sender, len(self._handed), type(message).__name__, stage, number, b""))
        self._handed.append(message)

    def step(self) -> None:
        """Greet, and run until the role waits for a message that is not there, or ends."""
        with self.until_dropped_out():
            self.greet_once()
            if self.end is None and self._has_greetings():
                self._run()

    @property
    def awaited(self) -> tuple[str, ...]:
        """Senders without whom the role cannot go on: neither a message nor a mark is there."""
        if self.end is not None:
            return ()
        if not self._started:
            return tuple(p for p in self.session.peers(self.name) if p not in self.board)
        return self._missing(self._want) if self._want else ()

    @property
    def deadlines(self) -> int | None:
        """Number of deadlines for which the role waits; None for the usual number."""
        return self._want.deadlines if self._want else None

    @property
    def waiting(self) -> str | None:
        """Description of what the role waits for; None at its end."""
        if self.end is not None:
            return None
        missing = ", ".join(self.awaited)
        if not missing:
            return "its turn"
        if self._want is None or self._want.greetings:
            return f"{HELLO} from {missing}"
        return f"{self._want.kind.__name__} from {missing} at {self._where()}"

    def mark(self, absent: Absent) -> None:
        """Let the role go on without this message, whether it arrives or not.

        Raise `LocalError` when the role has read it already: a mark has to precede the message.
        """
        marks = self.inbox.marks
        if absent not in marks and not self.may_still_read(absent):
            raise LocalError(
                "absence.too_late", name=self.name, kind=absent.kind, sender=absent.sender, stage=absent.stage
            )
        marks.add(absent)

    def miss(self, *senders: str) -> list[Absent]:
        """Mark the awaited messages of these senders as absent; return the marks.

        Raise `LocalError` for a sender for whom the role does not wait.
        """
        if unasked := set(senders).difference(self.awaited):
            raise LocalError("absence.not_awaited", name=self.name, unasked=sorted(unasked))
        marks = [self._due(sender) for sender in senders]
        for absent in marks:
            self.mark(absent)
        return marks

    def close(self) -> None:
        """Close the role where it stands."""
        if self._role is not None:
            self._role.close()

    # What the endpoint asks for.

    def post(self, to: str, message: Message) -> None:
        """Send a message; raise `LocalError` for an undeclared kind, route or link, or outside a stage."""
        if to == PUBLIC_NAME:
            raise LocalError("message.published_not_sent", name=self.name, kind=type(message).__name__)
        self.check_route(to, message)
        self.send(to, message)

    def publish(self, message: Message) -> None:
        """Keep a message for publication until the driver releases it."""
        self.check_route(PUBLIC_NAME, message)
        self.keep(message)

    def begin_stage(self, name: str, replaces: bool) -> tuple[bool, Any, Stream]:
        """Begin a stage; return whether it was finished before, its result, and its randomness."""
        if self.stage is not None:
            raise LocalError("stage.inside_another", name=self.name, inner=name, stage=self.stage)
        number, self._entered = self._entered, self._entered + 1
        rng = self.seed.fork(f"stage {number} {name}")
        if number < self._finished:
            return True, self.progress.results[number], rng
        self.stage, self._replaces = name.partition(".")[0], replaces
        if self.stage in self.inbox.ended and self.stage != self.inbox.latest:
            raise LocalError("stage.entered_again", name=self.name, stage=self.stage)
        self._sign_off(unless=self.stage)
        self.progress.stage = self.stage
        self.measure(self.stage)
        return False, None, rng

    def finish_stage(self, result: Any) -> None:
        """End the stage: keep its result, delete the rest, and the result that it replaces."""
        results = self.progress.results
        if self._replaces and results:
            results[-1] = None
        results.append(result)
        self.inbox.end_stage(self.stage or "")
        self.progress.sent, self.progress.once_values = [], {}
        # One way: nobody who gets hold of the new seed can draw this stage's coins again.
        self.seed, self._secrets = self.seed.fork("next stage"), None
        self.stage = None

    def once(self, label: str, make: Callable[[Stream], Any]) -> Any:
        """Return a value made from a stream of its own, or the one made before in this stage."""
        if self.stage is None:
            raise LocalError("stage.needed", name=self.name, what=label)
        if label not in self.progress.once_values:
            self.measure(KEY_STAGE)
            self.progress.once_values[label] = make(self.seed.fork(f"once {self._entered} {label}"))
            self.measure(self.stage)
        return self.progress.once_values[label]

    def admit(self, name: str, key: Key) -> None:
        """Use this key to encrypt and check the fields under its name."""
        self.keys[name] = key

    def evidence(self, sender: str) -> list[int]:
        """Return the number of the message last read from the sender, if any."""
        return [self.last[sender]] if sender in self.last else []

    def greeting_secrets(self) -> Any:
        """Return the secrets behind the participant's own greeting, which exist in the first stage only."""
        if self.stage is None or self.progress.results:
            raise LocalError("greeting.randomness_too_late", name=self.name)
        return self._drawn_secrets()

    def made_greeting(self) -> Message | None:
        """Return the message in the participant's own greeting, if there is one."""
        greeting = self.session.says(self.name)
        if greeting is None:
            return None
        self.measure(KEY_STAGE)
        return greeting.make(self.session.parameters, self.name, self._drawn_secrets())

    def _drawn_secrets(self) -> Any:
        # Drawn once: they follow from the seed, and stay as long as that does.
        greeting = self.session.program.greeting
        if greeting and self._secrets is None:
            self._secrets = greeting.draw(self.session.parameters, self.seed.fork("greeting"))
        return self._secrets

    def attest(self, message: Message) -> bytes:
        """Sign a statement, or return the signature of an equal one again."""
        kind = type(message).__name__
        if self.stage is None:
            raise LocalError("stage.needed", name=self.name, what=kind)
        payload, place = self.statement_bytes(self.name, message), (self.stage, kind)
        if place not in self.progress.statements:
            self.progress.statements[place] = payload, self.statement_signature(self.name, kind, payload)
        attested_payload, signature = self.progress.statements[place]
        if attested_payload != payload:
            raise LocalError("statement.attested_another", name=self.name, kind=kind, stage=self.stage)
        return signature

    def attested(self, name: str, message: Message, signature: bytes) -> bool:
        """Tell whether this participant signed this statement."""
        return signature == self.statement_signature(name, type(message).__name__, self.statement_bytes(name, message))

    def spend(self, label: str) -> None:
        """Charge the budget."""
        self._spent.add(label)

    def refund(self, label: str) -> None:
        """Refund a charge; raise `LocalError` for a label without one."""
        if label not in self._spent:
            raise LocalError("charge.void_before_spent", name=self.name, label=label)

    def ask(self, said: tuple[Any, ...]) -> Any:
        """Query the local program; raise `UnansweredError` where there is none."""
        raise UnansweredError("role.nobody_answers", name=self.name)

    def doubt(self, sender: str, rule: Fault) -> None:
        """Raise `LocalError`: where nothing is sealed everybody follows the protocol."""
        raise LocalError("role.doubts_the_honest", name=self.name, sender=sender, rule=str(rule))

    def note(self, sender: str, rule: Fault) -> None:
        """Raise `LocalError`, for the same reason."""
        self.doubt(sender, rule)

    # What an engine replaces.

    @abstractmethod
    def send(self, to: str, message: Message) -> None:
        """Send a message whose route was checked."""

    @abstractmethod
    def keep(self, message: Message) -> None:
        """Keep a message for publication whose route was checked."""

    @abstractmethod
    def greet(self) -> None:
        """Send the greeting."""

    @abstractmethod
    def announce_stage_end(self, stage: str) -> None:
        """Announce the end of a stage to everybody."""

    @abstractmethod
    def statement_signature(self, signer: str, kind: str, payload: bytes) -> bytes:
        """Return the signature of `signer` under the encoded statement `payload` of this kind.

        An engine that has the participant's own key alone signs with it: it attests for nobody else.
        """

    def statement_bytes(self, name: str, message: Message) -> bytes:
        """Return the canonical bytes of a statement."""
        return encode_statement(self.session, name, message, self.keys)

    def measure(self, stage: str) -> None:
        """Report that the role's further work belongs to this stage."""
        if self.observer:
            self.observer.stage(self.name, stage)

    def consume(self, entry: InboxEntry) -> None:
        """Report that the role takes this entry out of its inbox."""
        if self.observer:
            self.observer.consumed(self.name, entry)

    def read_message(self, want: Want, entry: InboxEntry) -> Message:
        """Return the message of this entry."""
        return self._handed[entry.number]

    def greeting(self, want: Want, sender: str) -> Any:
        """Return the message in this sender's greeting, with the digest of the greeting."""
        return self.board[sender]

    # The waiting rule.

    def greet_once(self) -> None:
        """Send the greeting, unless that was done before."""
        if not self.greeted:
            self.greeted = True
            self.greet()

    def _has_greetings(self) -> bool:
        if self._started:
            return True
        peers = self.session.peers(self.name)
        for peer in peers:
            if self._hello(peer) in self.inbox.marks:
                self.met |= self.inbox.marks.intersection(map(self._hello, peers))
                self._stop(Fault("greeting.not_there", {"name": self.name, "peer": peer}))
                return False
            if peer not in self.board:
                return False
        self._started = True
        if self.observer:
            self.observer.started(self.name)
        return True

    def _run(self) -> None:
        self._role = self._role or self._start()
        try:
            while (found := self._answer()) is not None:
                self._want = self._resumed(self._role, found)
                if unknown := [name for name in self._want.senders if name not in self.session.participants]:
                    raise LocalError("role.waits_for_a_stranger", name=self.name, unknown=unknown[0])
        except StopIteration as stop:
            self.end, self.result, self._want = "done", stop.value, None
            self._sign_off()
            self.refuse_unread()
        except StoppedError as stopped:
            self._stop(stopped.fault)

    def _start(self) -> Coroutine[Any, Any, Any]:
        role = self.session.program.roles[self.session.kind(self.name)]
        return role(Endpoint(self.session, self.name, self), *self.inputs)  # type: ignore[return-value]

    def _answer(self) -> dict[str, Any] | None:
        """Return the messages that the role waits for; None as long as one is missing."""
        want = self._want
        if want is None:
            return {}
        senders = want.senders
        if want.of is not None and not self.inbox.marks and all(map(self.board.__contains__, senders)):
            senders = want.of  # all have greeted, and no more is to be read
        found = {sender: self._found(want, sender) for sender in senders}
        there = {sender: answer for sender, answer in found.items() if answer is not None}
        return there if len(there) == len(found) or _is_given_up(want, there.values()) else None

    def _resumed(self, role: Coroutine[Any, Any, Any], found: Mapping[str, Any]) -> Want:
        """Give the role what it waited for, or the absence; return its next request."""
        want = self._want
        if want is None:
            first: Want = role.send(None)
            return first
        absent = {sender: answer for sender, answer in found.items() if isinstance(answer, Absent)}
        self.met.update(absent.values())
        if absent and want.all:
            self._throw(role, HELLO if want.greetings else want.kind.__name__, absent)
        for sender in absent:
            self.inbox.miss(sender)
        got = {
            sender: self._read(want, answer) if isinstance(answer, InboxEntry) else self.greeting(want, sender)
            for sender, answer in found.items()
            if sender not in absent and want.wants(sender)
        }
        following: Want = role.send({sender: read for sender, read in got.items() if read is not None})
        return following

    def _read(self, want: Want, entry: InboxEntry) -> Message | None:
        try:
            return self._taken(want, entry)
        except PeerError as error:
            if not want.doubts:
                raise
            self.doubt(entry.sender, error.broken)
            return None

    def _throw(self, role: Coroutine[Any, Any, Any], what: str, absent: Iterable[str]) -> NoReturn:
        """Raise `StoppedError` in the role, and end it whatever it does then: that could depend on what has arrived."""
        stopped = StoppedError("message.will_not_come", name=self.name, what=what, absent=list(absent))
        with suppress(StopIteration):
            role.throw(stopped)
        role.close()
        raise stopped

    def _taken(self, want: Want, entry: InboxEntry) -> Message:
        self.inbox.take(entry)
        self.last[entry.sender] = entry.number
        self.consume(entry)
        if entry.kind != want.kind.__name__:
            wrong = {"kind": shown(entry.kind), "name": self.name, "wanted": want.kind.__name__}
            raise PeerError(entry.sender, Fault("message.of_another_kind", wrong), [entry.number])
        return self.read_message(want, entry)

    def _missing(self, want: Want) -> tuple[str, ...]:
        """Return the senders without a message or mark; none when a mark ends the waiting."""
        found = {sender: self._found(want, sender) for sender in want.senders}
        given_up = _is_given_up(want, found.values())
        return () if given_up else tuple(sender for sender, answer in found.items() if answer is None)

    def _found(self, want: Want, sender: str) -> Any:
        """Return the next message of the sender, or its greeting; a mark; None while there is neither."""
        if not want.greetings:
            return self.inbox.look(sender, want.kind.__name__, self.stage or "")
        marks = self.inbox.marks
        if marks and (mark := self._hello(sender)) in marks:
            return mark
        return self.board.get(sender)

    def may_still_read(self, absent: Absent) -> bool:
        """Tell whether the role has not read the message of this mark yet, and may still come to it."""
        if self.end is not None or absent.sender not in self.session.participants:
            return False
        if absent.kind == HELLO:
            is_awaited = self._want is not None and self._want.greetings and absent.sender not in self.board
            return is_awaited or not self._started
        if absent.stage == self.stage:
            return self.inbox.due(absent.sender, absent.kind, self.stage).read <= absent.read
        return absent.stage not in self.inbox.ended

    def _due(self, sender: str) -> Absent:
        if self._want is None or self._want.greetings:
            return self._hello(sender)
        return self.inbox.due(sender, self._want.kind.__name__, self.stage or "")

    @staticmethod
    def _hello(sender: str) -> Absent:
        return Absent(sender, HELLO, GREETING_STAGE)

    # Ends.

    @contextmanager
    def until_dropped_out(self) -> Iterator[None]:
        """End the role with the first envelope that does not leave."""
        try:
            yield
        except DroppedOutError:
            self.end, self.result, self._want = "gone", None, None
            self.why = Fault("role.dropped_out", {"name": self.name})
            self.close()

    def count_out(self, to: str, kind: str, stage: str) -> None:
        """Count an envelope that is about to leave; raise `DroppedOutError` for the first that does not."""
        if self._left is None:
            return
        public = to == PUBLIC_NAME
        if self._left <= 0:
            self.unsent = Absent(self.name, kind if public else STAGE_END, stage)
            raise DroppedOutError
        self._left -= kind == HELLO or not (public and self._counts_sealed)

    def _stop(self, why: Fault) -> None:
        self.end, self.why, self._want = "stopped", why, None
        self._sign_off()

    def _sign_off(self, unless: str | None = None) -> None:
        """Announce the end of a stage once: two checkpoints may share a stage."""
        if self.progress.stage not in (None, unless):
            self.announce_stage_end(self.progress.stage or "")
            self.progress.stage = None

    def refuse_unread(self) -> None:
        """Raise `PeerError` for a message to a role that is done, naming its sender."""
        for entry in self.inbox.unread() if self.done else ():
            raise PeerError(entry.sender, "message.not_wanted", [entry.number], kind=shown(entry.kind), name=self.name)

    def check_route(self, to: str, message: Message) -> None:
        """Raise `LocalError` for an undeclared kind or route, or outside a stage."""
        kind = type(message)
        if self.stage is None:
            raise LocalError("stage.needed", name=self.name, what=kind.__name__)
        if kind not in self.session.program.kinds:
            raise LocalError(
                "message.of_another_program", name=self.name, kind=kind.__name__, program=self.session.program.name
            )
        if not kind.route.allows(self.session.kind(self.name), self.session.kind(to)) or to == self.name:
            raise LocalError("message.without_a_route", kind=kind.__name__, sender=self.name, to=to)

    def _where(self) -> str:
        """Return the place of the role in the protocol's code: its innermost coroutine outside the endpoint."""
        where = "its start"
        inner: Any = self._role
        while (frame := getattr(inner, "cr_frame", None)) is not None:
            if not frame.f_code.co_filename.endswith("endpoint.py"):
                where = f"{frame.f_code.co_filename.rpartition('/')[2]} line {frame.f_lineno}"
            inner = inner.cr_await
        return where


def _is_given_up(want: Want, found: Iterable[Any]) -> bool:
    """Tell whether a mark ends the waiting: of those that are all needed one is absent."""
    return want.all and any(isinstance(answer, Absent) for answer in found)
