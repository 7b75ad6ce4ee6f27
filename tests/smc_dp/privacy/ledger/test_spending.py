"""What a role charges while it runs: each label once, in its session, on disk when the call returns."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest
from support.sessions import start
from support.spending import Spending
from support.toy_sum import PROGRAM, Sums, inputs

from protocols.runtime.actor import Actor
from protocols.runtime.envelope import HELLO
from protocols.runtime.replay import resume, save
from smc_dp.privacy.ledger import export
from smc_dp.privacy.ledger.guarantee import Guarantee
from smc_dp.privacy.ledger.history import OverBudgetError
from smc_dp.privacy.ledger.ledger import Ledger, run_key
from tests.support.refusals import refused

DATA, OTHER = "a" * 64, "b" * 64
HALF = Guarantee("pure", Fraction(1, 2), Fraction(0), "record", "replace")
SESSIONS = (b"s" * 32, b"t" * 32)

# Spend, say so, and die; or, as the twin, say so, and mean to spend later.
CHILD = """
import json, os, sys
from fractions import Fraction
from pathlib import Path
from smc_dp.privacy.ledger.guarantee import Guarantee
from smc_dp.privacy.ledger.ledger import Ledger
from smc_dp.privacy.ledger.ledger import run_key

path, later = json.loads(sys.argv[1])
half = Guarantee("pure", Fraction(1, 2), Fraction(0), "record", "replace")
ledger = Ledger.open(Path(path))


def spend(label):
    ledger.reserve("a" * 64, "m", half, run_key(b"s" * 32, label))


if not later:
    spend("sum 1")
print("spent", flush=True)
os.kill(os.getpid(), 9)
spend("sum 1")
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "x"
    Ledger.create(found, Fraction(1)).close()
    return found


def test_one_label_is_one_charge_and_two_are_two(path: Path) -> None:
    with Ledger.open(path) as ledger:
        spend = Spending(ledger, DATA, "m", HALF, SESSIONS[0])
        for _ in range(3):
            spend("sum 1")
        assert len(ledger.history().entries) == 2
        spend("sum 2")
        spend("sum 1")
        entries = ledger.history().entries
        assert [entry.run for entry in entries[1:]] == [run_key(SESSIONS[0], label) for label in ("sum 1", "sum 2")]
        with refused("budget.passed", error=OverBudgetError, spent="1", epsilon="0.5", left="0"):
            spend("sum 3")
        with refused("ledger.same_run_other_release", number=2, what="data set"):
            Spending(ledger, OTHER, "m", HALF, SESSIONS[0])("sum 1")
        assert ledger.history().entries == entries


def test_a_session_of_its_own_is_a_charge_of_its_own(path: Path) -> None:
    with Ledger.open(path) as ledger:
        for session in SESSIONS:
            Spending(ledger, DATA, "m", HALF, session)("sum 1")
        assert len(ledger.history().entries) == 3


def test_keys_differ_in_session_and_label() -> None:
    labels = ("", "release", "sum 1", "sum 11", "sum 2", "\N{GREEK SMALL LETTER SIGMA}")
    assert len({run_key(session, label) for session, label in product(SESSIONS, labels)}) == 12


@pytest.mark.parametrize("later", [False, True])
def test_killed_right_after_the_call(path: Path, later: bool) -> None:
    """The entry is there, and asked again it is the same one; the twin, which writes afterwards, has lost it."""
    command = [sys.executable, "-c", CHILD, json.dumps([str(path), later])]
    done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ), timeout=120, check=False)
    assert (done.returncode, done.stdout) == (-signal.SIGKILL, "spent\n"), done.stderr
    assert [entry.state for entry in export.read_history(path).entries] == (
        ["limit"] if later else ["limit", "reserved"]
    )
    with Ledger.open(path) as ledger:
        Spending(ledger, DATA, "m", HALF, SESSIONS[0])("sum 1")
    assert [entry.state for entry in export.read_history(path).entries] == ["limit", "reserved"]


def test_a_role_that_is_killed_after_it_has_spent_is_charged_once(path: Path) -> None:
    """The charge is on disk before the first share leaves; the process that comes next asks again, and pays nothing."""
    p = Sums(("P1", "P2", "P3"))
    made = start(PROGRAM, p, inputs(p, lambda name, bits: 1))
    board = {e.sender: e for e in made.simulate().transcript.envelopes if e.kind == HELLO}
    with Ledger.open(path) as ledger:
        spend = Spending(ledger, DATA, "m", HALF, made.session.id)

        def begun(state: bytes | None = None) -> Actor:
            if state is not None:
                return resume(made.session, state, made.identities["P1"], 1, board, charge=spend)
            own = made.identities["P1"], made.seeds["P1"], made.inputs["P1"]
            return Actor(made.session, "P1", *own, board, charge=spend)

        assert len(ledger.history().entries) == 1
        sent = begun().advance()  # and killed: nothing of it was saved
        assert [e.kind for e in sent] == ["Hello", "Part", "Part"]
        entries = ledger.history().entries
        assert [entry.state for entry in entries] == ["limit", "reserved"]
        actor = begun()
        assert actor.advance() == sent
        begun(save(actor)).advance()
        assert ledger.history().entries == entries


def test_a_role_beyond_its_budget_sends_nothing(path: Path) -> None:
    p = Sums(("P1", "P2", "P3"))
    made = start(PROGRAM, p, inputs(p, lambda name, bits: 1))
    with Ledger.open(path) as ledger:
        twice = Guarantee("pure", Fraction(2), Fraction(0), "record", "replace")
        own = made.identities["P1"], made.seeds["P1"], made.inputs["P1"]
        board = {e.sender: e for e in made.simulate().transcript.envelopes if e.kind == HELLO}
        actor = Actor(made.session, "P1", *own, board, charge=Spending(ledger, DATA, "m", twice, made.session.id))
        with pytest.raises(OverBudgetError):
            actor.advance()
        assert [e.kind for e in actor.out] == ["Hello"]
