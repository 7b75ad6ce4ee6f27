"""Workers: roles in worker processes as the simulator sees them, with the same transcript as in one process.

A role is a function of its input, its seed and its messages. So workers run their roles as messages come, which are
handed on as soon as they are sent, and all compute at once; their events are replayed in the simulator, role by role in
its own order, where a message is read no earlier than it would be if roles took turns in one process. Lines of the
transcript, rounds and seconds on the virtual clock come from there.

That holds where every role comes to its end. Else the workers are terminated (`WorkersFailedError`), and all roles run
again in one process: each does the same as before, and aborts as it would have. A charge may then stand for a party
that had gone further than it would have come by turns: what left a worker had left.
"""

from __future__ import annotations

import multiprocessing
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from multiprocessing.connection import wait
from typing import Any, Final, TypeAlias

from protocols.errors import Fault
from protocols.runtime.actor import Actor, Greetings
from protocols.runtime.claims import View
from protocols.runtime.envelope import HELLO, Envelope
from protocols.runtime.inbox import Absent, Note
from protocols.runtime.observer import Observer
from protocols.runtime.role_stepper import End
from protocols.runtime.session import PUBLIC_NAME, Session
from protocols.runtime.view import RecordedView
from protocols.runtime.worker import EventKind, MakeActors, MakeView, RoleEvent, SpendingListener, WorkerLine, work

_PATIENCE = 5.0  # seconds that a worker gets to end by itself
_HOW: Final = "fork"  # what roles are made from stays where it is: inputs and identities travel over no line


class WorkersFailedError(Exception):
    """Failure of the workers: not every role came to its end."""


def can_fork() -> bool:
    """Tell whether this process can have workers."""
    return _HOW in multiprocessing.get_all_start_methods() and not multiprocessing.current_process().daemon


class ReportedTime:
    """Processor time of the roles, as the workers report it."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def read(self) -> float:
        """Return the seconds of all events that have been replayed."""
        return self.seconds


class Workers:
    """Worker processes and the lines to them. `charge` and `refund` hear at once what a role charges and refunds.

    `reported_time` is the clock of the run: the processor time of the events that have been replayed.
    """

    def __init__(
        self, session: Session, make: MakeActors, count: int, views: MakeView | None, charge: SpendingListener,
        refund: SpendingListener,
    ) -> None:  # fmt: skip
        self.reported_time = ReportedTime()
        self._session, self._charge, self._refund = session, charge, refund
        self._of = {name: i for i, names in enumerate(_shared_out(session, count)) for name in names}
        self._events: dict[str, deque[tuple[EventKind, float, Any]]] = {name: deque() for name in session.names}
        self._views: list[Mapping[str, tuple[View, RecordedView]]] = []
        self._lines: list[WorkerLine] = []
        self._processes: list[Any] = []
        context = multiprocessing.get_context(_HOW)
        for names in _shared_out(session, count):
            here, there = context.Pipe()
            self._lines.append(here)
            # A forked worker inherits these ends; unless it closes them, no line ends with the simulator.
            given = (there, tuple(self._lines), make, names, views)
            self._processes.append(context.Process(target=work, args=given, daemon=True))
            self._processes[-1].start()
            there.close()

    def roles(self, board: Greetings, observer: Observer) -> dict[str, WorkerRole]:
        """Return a stand-in for each role, which reports its events to `observer`."""
        return {n: WorkerRole(self._session, n, self, board, observer) for n in self._session.names}

    def process_reports(self) -> None:
        """Record the events and charges that workers have reported by now, and hand on the envelopes among them."""
        self._process_reports(0.0)

    def next_of(self, name: str) -> tuple[EventKind, float, Any]:
        """Return this role's next event without removing it; wait for it."""
        while not self._events[name]:
            self._process_reports(None)
        return self._events[name][0]

    def mark_replayed(self, name: str) -> None:
        """Remove this role's next event, and count its seconds."""
        self.reported_time.seconds += self._events[name].popleft()[1]

    def release(self, name: str) -> None:
        """Let a role publish."""
        self._lines[self._of[name]].send(("release", name))

    def views(self) -> dict[str, tuple[View, RecordedView]]:
        """Return the views of all participants from the workers."""
        for line in self._lines:
            line.send(("views", None))
        while len(self._views) < len(self._lines):
            self._process_reports(None)
        found = {name: both for some in self._views for name, both in some.items()}
        return {name: found[name] for name in self._session.names}

    def end(self) -> None:
        """Terminate the workers."""
        for line, process in zip(self._lines, self._processes, strict=True):
            line.close()  # which ends it, unless a role is computing
            process.terminate()
            process.join(_PATIENCE)
            if process.is_alive():
                process.kill()
                process.join()

    def _process_reports(self, timeout: float | None) -> None:
        """Process the reports of workers, each once; wait up to `timeout` seconds for the first, None: without end."""
        outgoing: dict[int, list[Envelope]] = {}
        ready = wait(self._lines, timeout)
        for worker, line in enumerate(self._lines):
            if line not in ready:
                continue
            try:
                what, content = line.recv()
            except (EOFError, OSError):
                raise WorkersFailedError("a worker has ended") from None
            if what == "events":
                self._keep(content, worker, outgoing)
            elif what == "views":
                self._views.append(content)
            elif what in ("charge", "void"):
                hears = self._charge if what == "charge" else self._refund
                if hears:
                    hears(*content)
                line.send(("written", None))
            else:
                raise WorkersFailedError("a role did not simply come to its end")
        for reader, envelopes in outgoing.items():
            self._lines[reader].send(("envelopes", envelopes))

    def _keep(self, events: list[RoleEvent], worker: int, outgoing: dict[int, list[Envelope]]) -> None:
        for name, what, seconds, content in events:
            self._events[name].append((what, seconds, content))
            if what == "sent" and content.kind == HELLO:
                for other in range(len(self._lines)):
                    if other != worker:
                        outgoing.setdefault(other, []).append(content)
            elif what == "sent" and not content.is_public and self._of[content.to] != worker:
                outgoing.setdefault(self._of[content.to], []).append(content)


class WorkerRole:
    """Role in a worker, in place of an `Actor` for the simulator's turns.

    In its turn it goes as far as the envelopes delivered to it here lead, whatever its worker has done. Nobody is
    absent where every role comes to its end: it has no absence `marks`, no `notes` on disregarded messages, no envelope
    that it left `unsent`, and it awaits nobody. `signed_count`: number of envelopes that it has signed for everybody.
    `advance` and `release` return no envelopes, for the observer has seen them.
    """

    end: End | None = None
    why: Fault | None = None
    marks: frozenset[Absent] = frozenset()
    notes: tuple[Note, ...] = ()
    unsent: Absent | None = None
    awaited: tuple[str, ...] = ()
    waiting: str | None = "its worker"

    def __init__(self, session: Session, name: str, workers: Workers, board: Greetings, observer: Observer) -> None:
        self.session, self.name, self.signed_count = session, name, 0
        self.result: Any = None
        self.publishes = False
        self._workers, self._board, self._observer = workers, board, observer
        self._unread: Counter[str] = Counter()  # by sender, those that are there and not read yet

    @property
    def done(self) -> bool:
        """True when the role has returned."""
        return self.end == "done"

    def deliver(self, envelope: Envelope) -> None:
        """Count an envelope for the role."""
        if self.done:
            raise WorkersFailedError(f"{self.name} wanted nothing more")
        self._unread[envelope.sender] += 1

    def advance(self) -> list[Envelope]:
        """Replay the events of the role until it waits for a message that has not been delivered here; return []."""
        self._workers.process_reports()
        while self.end is None:
            what, _, content = self._workers.next_of(self.name)
            if not self._could(what, content):
                break
            self._tell(what, content)
        return []

    def release(self) -> list[Envelope]:
        """Let the role publish, and replay what it publishes; return []."""
        self._workers.release(self.name)
        while (event := self._workers.next_of(self.name))[0] != "released":
            self._tell(event[0], event[2])
        self._workers.mark_replayed(self.name)
        return []

    def miss(self, *senders: str) -> list[Absent]:
        """Raise `WorkersFailedError`: nobody is absent where every role comes to its end."""
        raise WorkersFailedError(f"{self.name} would go on without {', '.join(senders)}")

    def close(self) -> None:
        """Do nothing: the worker ends the role."""

    def _could(self, what: EventKind, content: Any) -> bool:
        """Tell whether the role would come to this event by now."""
        if what == "started":
            return all(peer in self._board for peer in self.session.peers(self.name))
        if what != "waits":
            return True
        senders, greetings = content
        if greetings:
            return all(sender in self._board for sender in senders)
        return all(self._unread[sender] for sender in senders)

    def _tell(self, what: EventKind, content: Any) -> None:
        self._workers.mark_replayed(self.name)
        if what == "stage":
            self._observer.stage(self.name, content)
        elif what == "sent":
            self.signed_count += content.to == PUBLIC_NAME
            self._observer.sent(content)
        elif what == "started":
            self._observer.started(self.name)
        elif what == "consumed":
            self._unread[content.sender] -= 1
            self._observer.consumed(self.name, content)
        elif what == "done":
            self.end = "done"
            self.result, self.publishes = content


DrivenRole: TypeAlias = Actor | WorkerRole
"""Role as a driver sees it: an actor, or the stand-in for one in a worker process."""


@contextmanager
def hired(workers: Workers) -> Iterator[Workers]:
    """Provide the workers, and terminate them afterwards."""
    try:
        yield workers
    finally:
        workers.end()


def _shared_out(session: Session, count: int) -> list[tuple[str, ...]]:
    """Return the roles of each worker; curator and first party, which have the most to do, are in different ones."""
    names = [*([session.curator] if session.curator else []), *session.parties]
    names += [name for name in session.names if name not in names]
    return [tuple(names[i::count]) for i in range(min(count, len(names)))]
