"""What a role charges while it runs: each label once, in its session, on disk when the call returns."""

from __future__ import annotations

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
from smc_dp.privacy.ledger.guarantee import Guarantee
from smc_dp.privacy.ledger.history import OverBudgetError
from smc_dp.privacy.ledger.ledger import Ledger, run_key

DATA = "a" * 64
HALF = Guarantee("pure", Fraction(1, 2), Fraction(0), "record", "replace")
SESSIONS = (b"s" * 32, b"t" * 32)


# Spend, say so, and die; or, as the twin, say so, and mean to spend later.
@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "x"
    Ledger.create(found, Fraction(1)).close()
    return found


def test_keys_differ_in_session_and_label() -> None:
    labels = ("", "release", "sum 1", "sum 11", "sum 2", "\N{GREEK SMALL LETTER SIGMA}")
    assert len({run_key(session, label) for session, label in product(SESSIONS, labels)}) == 12


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
