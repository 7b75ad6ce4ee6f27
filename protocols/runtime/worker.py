"""Worker process: it runs some of the roles of a simulation, and reports their events to the simulator.

It knows nothing of the other roles but their envelopes. Each event has the processor time that the role took for it;
envelopes between its own roles it delivers itself, at once. Where a role does not simply come to its end, the worker
gives up: the simulator then runs all roles in its own process, see `workers`.
"""

from __future__ import annotations

import os
import signal
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeAlias

from protocols.runtime.actor import Actor, Greetings
from protocols.runtime.claims import View
from protocols.runtime.endpoint import Want
from protocols.runtime.envelope import HELLO, Envelope
from protocols.runtime.inbox import InboxEntry
from protocols.runtime.message import Message
from protocols.runtime.observer import Observer
from protocols.runtime.view import RecordedView

EventKind: TypeAlias = Literal["stage", "sent", "started", "waits", "consumed", "done", "released"]
RoleEvent: TypeAlias = tuple[str, EventKind, float, Any]
"""Event of a role: its name, the kind of event, the seconds that it took, its content."""
SpendingListener: TypeAlias = Callable[[str, str], None] | None
"""Function told of a charge or a refund (name, label), or None."""
MakeActors: TypeAlias = Callable[
    [Greetings, Observer, SpendingListener, SpendingListener, Iterable[str]], Mapping[str, Actor]
]
"""Function that returns the actors of some participants, from the posted greetings and the listeners."""
MakeView: TypeAlias = Callable[[Actor, list[tuple[str, Message]], list[InboxEntry]], tuple[View, RecordedView]]
"""Function that returns the view of an actor, for checks and for files."""
if TYPE_CHECKING:
    WorkerLine: TypeAlias = Connection[Any, Any]
else:
    WorkerLine = Connection  # takes no parameters while the program runs

_SECONDS = 0.001  # longest wait of an event for its report, while the role runs
_LONG = 0.005  # seconds between two messages of a hub, after which other roles go first


class GivenUpError(Exception):
    """Role that did not simply come to its end."""


def work(
    line: WorkerLine, others: Iterable[WorkerLine], make: MakeActors, names: tuple[str, ...], views: MakeView | None
) -> None:
    """Run a worker in a process of its own; `others` are ends of lines that are not its own."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever interrupts the simulator ends its workers as well
    for other in others:
        other.close()
    try:
        _Worker(line, make, names, views).live()
    except (EOFError, OSError):  # nobody listens any more
        pass
    except Exception:  # what it was may hold secrets, and is found again by whoever runs the roles in one process
        with suppress(OSError):
            line.send(("given up", None))
    os._exit(0)  # what the simulator has opened or begun to print is not this process's to close


class _Worker:
    """Roles of one worker, with the line to the simulator. It is the observer of its roles."""

    def __init__(self, line: WorkerLine, make: MakeActors, names: tuple[str, ...], views: MakeView | None) -> None:
        self._line, self._views = line, views
        self._inbox: SimpleQueue[bytes | None] = SimpleQueue()
        self._later: deque[tuple[str, Any]] = deque()  # what came while a charge was being written down
        self._board: dict[str, Envelope] = {}
        self._looked = 0  # greetings on the board when everybody looked there last
        self._post: deque[Envelope] = deque()  # between own roles
        self._events: list[RoleEvent] = []
        self._flushed = self._mark = time.process_time()
        self._owed: dict[str, float] = defaultdict(float)  # seconds that no event has told yet
        self._read: dict[str, list[tuple[str, Message]]] = {name: [] for name in names}
        self._entries: dict[str, list[InboxEntry]] = {name: [] for name in names}
        self._roles = make(self._board, self, partial(self._report, "charge"), partial(self._report, "void"), names)
        self._ready = dict.fromkeys(names)
        self._hub = names[0]  # for whom others may wait, so it goes first
        self._between = False  # the others run while the hub has just sent something

    def live(self) -> NoReturn:
        """Run the roles until the simulator ends the worker; raise `EOFError` then."""
        Thread(target=_listen, args=(self._line, self._inbox), daemon=True).start()
        while True:
            while self._later or not self._inbox.empty():
                self._hear(self._next())
            if not self._ready and len(self._board) != self._looked:
                self._looked = len(self._board)
                self._ready = dict.fromkeys(name for name, role in self._roles.items() if role.end is None)
            if self._ready:
                name = self._hub if self._hub in self._ready else next(iter(self._ready))
                self._run(name)
            else:
                self._flush()
                self._hear(self._next())

    def _next(self) -> tuple[str, Any]:
        if self._later:
            return self._later.popleft()
        data = self._inbox.get()
        if data is None:
            raise EOFError
        what, content = ForkingPickler.loads(data)
        return what, content

    def _hear(self, said: tuple[str, Any]) -> None:
        """Carry out a command of the simulator."""
        what, content = said
        if what == "envelopes":
            for envelope in content:
                self._take(envelope)
        elif what == "release":
            role = self._roles[content]
            self._mark = time.process_time()
            role.release()
            self._note(role.name, "released", None)
            self._flush()
        elif what == "views" and self._views:  # pragma: no branch: nobody asks a worker that has none for views
            views = self._views
            self._line.send(("views", {n: views(r, self._read[n], self._entries[n]) for n, r in self._roles.items()}))

    def _run(self, name: str) -> None:
        del self._ready[name]
        self._move(self._roles[name])
        self._carry()

    def _let_others(self) -> None:
        """Run the other roles while the hub computes on: it may need their answers next.

        Envelopes to the hub wait.
        """
        self._between = True
        self._carry()
        while others := [name for name in self._ready if name != self._hub]:
            for name in others:
                self._run(name)
        self._between = False
        self._mark = time.process_time()

    def _take(self, envelope: Envelope) -> None:
        """Put a greeting on the board, any other envelope into the inbox of its reader."""
        if envelope.is_public:
            self._board[envelope.sender] = envelope
            return
        self._mark = time.process_time()
        self._roles[envelope.to].deliver(envelope)
        self._owed[envelope.to] += time.process_time() - self._mark
        self._ready[envelope.to] = None

    def _carry(self) -> None:
        """Deliver the envelopes between own roles."""
        kept: deque[Envelope] = deque()
        while self._post:
            envelope = self._post.popleft()
            if self._between and envelope.to == self._hub:
                kept.append(envelope)
            else:
                self._take(envelope)
        self._post = kept

    def _move(self, role: Actor) -> None:
        self._mark = time.process_time()
        role.advance()
        if role.end == "stopped" or role.notes:
            raise GivenUpError(role.name)
        if role.end == "done":
            self._note(role.name, "done", (role.result, role.publishes))
        self._owed[role.name] += time.process_time() - self._mark

    def _note(self, name: str, what: EventKind, content: Any) -> None:
        now = time.process_time()
        self._events.append((name, what, self._owed.pop(name, 0.0) + now - self._mark, content))
        self._mark = now
        if now - self._flushed > _SECONDS:
            self._flush()

    def _flush(self) -> None:
        if self._events:
            self._line.send(("events", self._events))
            self._events = []
        self._flushed = time.process_time()

    def _report(self, what: str, name: str, label: str) -> None:
        """Report a charge or refund, and wait until the simulator has recorded it: nothing leaves before."""
        self._flush()
        self._line.send((what, (name, label)))
        later, self._later = self._later, deque()
        while (said := self._next())[0] != "written":
            later.append(said)
        self._later = later

    # The observer of every actor.

    def stage(self, name: str, stage: str) -> None:
        self._note(name, "stage", stage)

    def sent(self, envelope: Envelope) -> None:
        if envelope.kind == HELLO or envelope.to in self._roles:
            self._post.append(envelope)
        long = time.process_time() - self._mark > _LONG
        self._note(envelope.sender, "sent", envelope)
        if long and envelope.sender == self._hub:
            self._let_others()

    def posted(self, name: str, to: str, message: Message) -> None:
        pass

    def started(self, name: str) -> None:
        self._note(name, "started", None)

    def waits(self, name: str, want: Want) -> None:
        self._note(name, "waits", (want.senders, want.greetings))

    def consumed(self, receiver: str, entry: InboxEntry) -> None:
        self._note(receiver, "consumed", replace(entry, payload=b""))  # what it says stays with its reader

    def read(self, receiver: str, entry: InboxEntry, message: Message) -> None:
        if self._views:
            self._read[receiver].append((entry.sender, message))
            self._entries[receiver].append(entry)


def _listen(line: WorkerLine, inbox: SimpleQueue[bytes | None]) -> None:
    """Take data off the line at once, so that no writer waits for a role."""
    try:
        while True:
            inbox.put(line.recv_bytes())
    except (EOFError, OSError):
        inbox.put(None)
