"""A dealer of bad shares answers for them: its holder complains, and the dealer opens them or is the one left out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from support import role_code
from support.coalition import Coalition, session
from support.sums import Ledger, made, outcome, parameters, simulated, wrong

from protocols.curator import CURATOR_NAME
from protocols.secure_sum import dealing

CODE = role_code.honest()
"""Five parties, of whom one is malicious and one may drop out; T = 4."""


def spoilt(shares: Any) -> Any:
    return replace(shares, b=(bytes(32), *shares.b[1:]))


@pytest.fixture
def bad_to_p3(monkeypatch: pytest.MonkeyPatch) -> None:
    given = dealing.shares_for

    def dealt(of: dealing.Seeds, holder: int) -> Any:
        own = dealing.deal(SETUP.session.parameters, SETUP.seeds["P2"].fork("greeting")).b
        shares = given(of, holder)
        return spoilt(shares) if holder == 2 and of.b == own else shares

    monkeypatch.setattr(dealing, "shares_for", dealt)


SETUP = made(parameters(4, 1, 1, (2, 1)))


@pytest.mark.usefixtures("bad_to_p3")
def test_a_share_that_was_sent_wrong_and_disclosed_right_costs_nobody_anything() -> None:
    ledger = Ledger()
    run = simulated(SETUP, ledger)
    left = outcome(run)
    assert wrong(SETUP, left, ledger) == []
    assert left.published[CURATOR_NAME].members == (0b1111, 0b1111)
    kinds = [e.kind for e in left.sent if e.to == "P3" and e.sender == CURATOR_NAME]
    assert kinds[:5] == ["Start", "Accused", "Start", "Replaced", "Survivors"]
