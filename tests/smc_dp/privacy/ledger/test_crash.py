"""A ledger whose process is killed before any statement, and one that several processes charge at the same time.

This file is also the program that the tests start: it forks, so it has to be a process without threads.
"""

from __future__ import annotations

import json
import os
import secrets
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from smc_dp.core.errors import InputError
from smc_dp.privacy.ledger import storage
from smc_dp.privacy.ledger.entry import Entry
from smc_dp.privacy.ledger.guarantee import Guarantee
from smc_dp.privacy.ledger.history import Account, OverBudgetError
from smc_dp.privacy.ledger.ledger import Ledger

DATA, RUN = "a" * 64, "c" * 64

HALF = Guarantee("pure", Fraction(1, 2), Fraction(0), "record", "replace")
WHOLE = Guarantee("pure", Fraction(1), Fraction(0), "record", "replace")
ACCOUNT = Account("record", "replace")
PROCESSES, TESTS = 6, Path(__file__).parents[3]

pytestmark = [
    pytest.mark.slow,  # a process that forks hundreds and kills them
    pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked"),
]


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """What the program prints of all its jobs, and where each worked."""
    folder = tmp_path_factory.mktemp("jobs")
    places = os.pathsep.join(map(str, (TESTS.parent, TESTS)))
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": places}
    command = [sys.executable, __file__, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return folder, json.loads(done.stdout)


@pytest.fixture
def found(ended: tuple[Path, dict[str, Any]], job: str) -> tuple[Path, Any]:
    return ended[0] / job, ended[1][job]


def lost(folder: Path, deaths: list[str]) -> list[int]:
    """The deaths after which a ledger is broken, or says less than had been reported."""
    found = []
    for number, reported in enumerate(deaths):
        path = folder / f"{number}.ledger"
        states = []
        if path.exists():
            with Ledger.open(path) as ledger:
                states = [entry.state for entry in ledger.history().entries]
        wanted = {
            "nothing": [],
            "reserved": ["limit", "reserved"],
            "released": ["limit", "reserved", "released"],
        }[reported]
        if states[: len(wanted)] != wanted:
            found.append(number)
    return found


Found = tuple[Path, Any]


@pytest.mark.parametrize("job", ["crash"])
def test_killed_before_any_statement(found: Found) -> None:
    """The chain holds and no charge is lost: once reserve has returned, it is there whatever happened."""
    folder, deaths = found
    assert len(deaths) >= 15
    assert {*deaths} == {"nothing", "reserved", "released"}
    assert lost(folder, deaths) == []


@pytest.mark.parametrize(("job", "winners"), [("race", 1), ("same", PROCESSES)])
def test_one_of_many_gets_the_last_budget_and_the_same_release_is_charged_once(found: Found, winners: int) -> None:
    folder, won = found
    assert won == winners
    with Ledger.open(folder / "x") as ledger:
        assert len(ledger.history().entries) == 2


@pytest.mark.parametrize("job", ["careless"])
def test_checking_first_and_charging_later_lets_several_win(found: Found) -> None:
    """The twin: limit check and reservation in two transactions."""
    assert found[1] > 1


@pytest.mark.parametrize("job", ["create"])
def test_many_make_the_same_ledger(found: Found) -> None:
    folder, won = found
    assert won == 1
    with Ledger.open(folder / "x") as ledger:
        assert ledger.history().limit.epsilon == 1
    assert os.listdir(folder) == ["x"]


# The program.


def crash(folder: Path) -> list[str]:
    """Kill a child before its first, second, ... statement until one lives; what each had reported by then."""
    deaths = []
    for number in range(200):
        report, into = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(report)
            kill_before(number)
            in_order(folder / f"{number}.ledger", into)
            os._exit(0)
        os.close(into)
        _, status = os.waitpid(child, 0)
        with os.fdopen(report, "rb") as file:
            said = file.read().decode().split()
        deaths.append(said[-1] if said else "nothing")
        if os.waitstatus_to_exitcode(status) == 0:
            return deaths
    raise RuntimeError("the child never lived")


def kill_before(last: int) -> None:
    """End this process, as a power cut would, before this statement of any ledger."""
    left = iter(range(last))
    connected = storage.connect_ledger

    def traced(path: Path) -> sqlite3.Connection:
        connection = connected(path)
        connection.set_trace_callback(lambda _: None if next(left, None) is not None else os.kill(os.getpid(), 9))
        return connection

    storage.connect_ledger = traced


def in_order(path: Path, report: int) -> None:
    with Ledger.create(path, Fraction(1)) as ledger:
        number = ledger.reserve(DATA, "m", HALF, RUN)
        os.write(report, b"reserved ")
        ledger.settle(number, "released", RUN)
        os.write(report, b"released ")


def raced(attempt: Callable[[], None]) -> int:
    """How many of several processes succeed when they all begin at once."""
    wait, go = os.pipe()
    children = []
    for _ in range(PROCESSES):
        child = os.fork()
        if child == 0:
            os.close(go)
            os.read(wait, 1)  # until the other end is closed
            try:
                attempt()
            except OverBudgetError:
                os._exit(1)
            except InputError as error:
                os._exit(1 if error.code == "file.exists" else 2)
            os._exit(0)
        children.append(child)
    os.close(go)
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    if set(codes) - {0, 1}:
        raise RuntimeError(f"exit codes {codes}")
    return codes.count(0)


def careful(path: Path) -> None:
    with Ledger.open(path) as ledger:
        ledger.reserve(DATA, "m", WHOLE, secrets.token_hex(32))


def the_same(path: Path) -> None:
    with Ledger.open(path) as ledger:
        ledger.reserve(DATA, "m", WHOLE, RUN)


def careless(path: Path) -> None:
    with Ledger.open(path) as ledger:
        if not ledger.history().standing(ACCOUNT, WHOLE).fits:
            raise OverBudgetError
        time.sleep(0.3)
        with ledger._transaction("BEGIN IMMEDIATE") as (_, history):
            made = Entry(
                len(history.entries) + 1, "reserved", "2026-01-31T12:00:00Z", None, DATA, "record", "replace", "m",
                "pure", WHOLE.epsilon, WHOLE.delta, None, RUN,
            )  # fmt: skip
            ledger._append(made.after(history.head))


RACES = {"race": careful, "same": the_same, "careless": careless}


def done(job: str, folder: Path) -> object:
    folder.mkdir()
    path = folder / "x"
    if job == "crash":
        return crash(folder)
    if job == "create":
        return raced(lambda: Ledger.create(path, Fraction(1)).close())
    Ledger.create(path, Fraction(1)).close()
    return raced(lambda: RACES[job](path))


if __name__ == "__main__":
    print(json.dumps({job: done(job, Path(sys.argv[1]) / job) for job in ("crash", *RACES, "create")}))
