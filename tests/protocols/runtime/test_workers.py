"""Roles in worker processes: the record, the views, the charges and the errors of a run in one process."""

from __future__ import annotations

import multiprocessing
import os
import signal
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from support import votes
from support.linear_path import linear
from support.repetitions import with_slow
from support.sessions import Setup, names, setup, start
from support.star import star
from support.sums import Ledger, made, parameters

from protocols.curator import parties_and_curator
from protocols.errors import LocalError, StallError, StoppedError
from protocols.pathak2010 import as_published
from protocols.runtime import simulate as simulator
from protocols.runtime import worker, workers
from protocols.runtime.actor import Actor, Greetings, actors
from protocols.runtime.endpoint import Endpoint
from protocols.runtime.message import CURATOR, PARTY, Message, message, public
from protocols.runtime.observer import Observer
from protocols.runtime.session import Program
from protocols.runtime.simulate import DropOutAfter, Run, Setting, simulate
from protocols.runtime.worker import work
from protocols.runtime.workers import WorkerRole, WorkersFailedError

SESSIONS: dict[str, Callable[[], Setup]] = {
    "star": lambda: star(6),
    "curator": lambda: setup(4, 3),
    "as printed": lambda: setup(3, 2, program=as_published.PROGRAM),
    "linear": lambda: linear([5, 3, 3, 9]),
    "drop-outs": lambda: made(parameters(4, 0, 1, (2, 1))),
    "no links": lambda: made(parameters(3, 1, 0, output="shares")),
}


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is run a second time in one process."""

    def again(*_: Any) -> None:
        raise AssertionError("the workers did not hold")

    monkeypatch.setattr(simulator._Everybody, "begin_again", again)


def left(run: Run) -> dict[str, Any]:
    return {
        "record": run.transcript.dumps(),
        "published": run.published,
        "results": run.results,
        "ends": run.ends,
        "notes": run.notes,
        "absent": run.absent,
        "views": {name: view.dumps(run.transcript._session) for name, view in run.recorded.items()},
        "seen": run.views,
        "traffic": run.traffic,
        "roles": {stage: list(by_role) for stage, by_role in run.clock.processor_seconds.items()},
    }


@pytest.mark.usefixtures("held")
@pytest.mark.parametrize("name", with_slow(SESSIONS, "as printed", "linear", "no links"))
def test_workers_leave_what_one_process_leaves(name: str) -> None:
    session = SESSIONS[name]()
    one, two = Ledger(), Ledger()
    wanted = session.simulate(views=True, charge=one.spend, refund=one.voided)
    found = session.simulate(views=True, charge=two.spend, refund=two.voided, workers=2)
    assert left(found) == left(wanted)
    assert (sorted(two.charged), sorted(two.void)) == (sorted(one.charged), sorted(one.void))
    assert found.clock.now.keys() == wanted.clock.now.keys()
    assert min(found.clock.now.values()) > 0
    assert not multiprocessing.active_children()


@pytest.mark.usefixtures("held")
@pytest.mark.parametrize("workers", with_slow([3, 50], 50))
def test_any_number_of_workers_on_a_star(workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """And where the others run whenever the first role of a worker has sent something."""
    monkeypatch.setattr(worker, "_LONG", 0.0)
    monkeypatch.setattr(worker, "_SECONDS", 0.0)
    session = setup(4, 2)
    assert left(session.simulate(workers=workers, topology="star")) == left(session.simulate(topology="star"))


@pytest.mark.parametrize("vanish", [{"P2": 5}, {"P1": DropOutAfter(2), "P3": 9}])
def test_who_vanishes_vanishes_in_one_process(vanish: dict[str, int | DropOutAfter]) -> None:
    session = made(parameters(4, 0, 1, (2, 1)))
    assert left(session.simulate(drop_outs=vanish, workers=2)) == left(session.simulate(drop_outs=vanish))


# What a role asks, is charged for, and raises.


@dataclass(frozen=True)
class Asking:
    """Parties by name."""

    parties: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        return {"parties": list(self.parties)}

    def layout(self) -> dict[str, int]:
        return {"word": 8}


@message("1", PARTY >> CURATOR)
class Answer(Message):
    """What came from home."""

    x: Annotated[int, public("word")]


@message("2", CURATOR >> PARTY)
class Heard(Message):
    """The sum of it."""

    x: Annotated[int, public("word")]


async def asks(me: Endpoint) -> int:
    me.spend("answer")
    me.send(me.curator, Answer(me.ask(me.index)))
    return (await me.receive(me.curator, Heard)).x


async def hears(me: Endpoint) -> None:
    me.broadcast(me.parties, Heard(sum(answer.x for answer in await me.gather(me.parties, Answer))))


async def party(me: Endpoint, p: Asking) -> int:
    return await me.stage(asks)


async def curator(me: Endpoint, p: Asking) -> None:
    await me.stage(hears)


ASKING = Program(
    "asking", 1, {PARTY: party, CURATOR: curator}, (Answer, Heard), (), Asking, participants=parties_and_curator
)
HERE = os.getpid()
LocalProgram = Callable[[int], int]


def asked(answers: LocalProgram, workers: int, ledger: Callable[[str, str], None] | None = None, **more: Any) -> Run:
    p = Asking(names(4))
    session = start(ASKING, p, dict.fromkeys(ASKING.participants(p), (p,)))
    return simulate(*session, Setting(workers=workers, charge=ledger, **more), dict.fromkeys(p.parties, answers))


@pytest.mark.usefixtures("held")
def test_homes_answer_where_their_roles_run_and_charges_are_written_here() -> None:
    places: list[int] = []
    run = asked(lambda j: os.getpid(), 2, lambda name, label: places.append(os.getpid()))
    assert places == [HERE] * 4
    pids = {view.inputs[-1] for view in asked(lambda j: os.getpid(), 2, views=True).views.values() if view.inputs[1:]}
    assert len(pids) == 2
    assert HERE not in pids
    assert run.results["P1"] != 4 * HERE


def fails_late(j: int) -> int:
    if j == 2:
        raise LocalError("answer.missing", value="s3cr3t")
    return j


def stops(j: int) -> int:
    raise StoppedError("toy.nobody_at_home")


def fails_elsewhere(j: int) -> int:
    """As a worker without memory would."""
    if os.getpid() != HERE:
        raise MemoryError("s3cr3t")
    return j


def dies_elsewhere(j: int) -> int:
    if os.getpid() != HERE:
        os._exit(1)
    return j


def hangs_elsewhere(j: int) -> int:
    """P1 does, and does not let itself be terminated; P2 raises, in the other worker."""
    if os.getpid() != HERE and j == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(600)
    return fails_elsewhere(j)


def ended(answers: LocalProgram, workers: int) -> tuple[str, bytes]:
    with tempfile.TemporaryFile() as record:
        record.write(b"before")
        try:
            what = left(asked(answers, workers, record=record))
            why = str({key: what[key] for key in ("results", "ends", "absent", "traffic")})
        except (LocalError, StallError, StoppedError) as error:
            why = f"{type(error).__name__}: {error}"
        record.seek(0)
        return why, record.read()


@pytest.mark.parametrize("answers", [fails_late, stops, fails_elsewhere, dies_elsewhere, hangs_elsewhere])
def test_errors_and_stops_are_those_of_one_process(
    answers: LocalProgram, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "_PATIENCE", 0.1)
    assert ended(answers, 2) == ended(answers, 1)
    assert capfd.readouterr() == ("", "")  # whatever a role had in its hands
    assert not multiprocessing.active_children()


@pytest.mark.parametrize(
    ("session", "names", "last"),
    [
        (setup(2, 1), ("charlie", "P2"), "events"),  # it waits for P1
        (votes.alone(lambda me: me.stop("votes.too_few")), votes.NAMES, "given up"),
    ],
)
def test_a_worker_gives_up_by_itself_and_ends_when_nobody_listens(
    session: Setup, names: tuple[str, ...], last: str
) -> None:
    def make(board: Greetings, observer: Observer, charge: Any, refund: Any, names: Any) -> dict[str, Actor]:
        return actors(*session, board, observer, names=names)

    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    process = context.Process(target=work, args=(there, (here,), make, names, None))
    process.start()
    there.close()
    while here.recv()[0] != last:
        pass
    here.close()
    process.join(60)
    assert process.exitcode == 0


class BudgetError(Exception):
    """What a ledger raises."""


def test_what_a_ledger_raises_ends_the_run() -> None:
    def full(name: str, label: str) -> None:
        raise BudgetError(name)

    with pytest.raises(BudgetError, match="P"):
        asked(lambda j: j, 2, full)
    assert not multiprocessing.active_children()


def test_nobody_is_absent_among_workers() -> None:
    session = setup(2, 1).session
    role = WorkerRole(session, "P1", None, {}, None)  # type: ignore[arg-type]
    assert role.awaited == ()
    with pytest.raises(WorkersFailedError, match="P1 would go on without P2"):
        role.miss("P2")


def at_once(role: WorkerRole, what: str, content: Any) -> bool:
    """The twin: tells what a worker has done, whatever was delivered."""
    return True


@pytest.fixture
def again(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    times: list[int] = []
    whole = simulator._Everybody.begin_again
    monkeypatch.setattr(simulator._Everybody, "begin_again", lambda every: (times.append(1), whole(every)))
    return times


def test_a_schedule_that_does_not_wait_for_letters_is_seen(again: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    session = setup(3, 2)
    wanted = session.simulate(workers=2).transcript.dumps()
    assert again == []
    monkeypatch.setattr(WorkerRole, "_could", at_once)
    assert session.simulate(workers=2).transcript.dumps() == wanted
    assert again == [1]
