"""Twins made by somebody who had not read the checks: the matrix catches each."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from broken import strangers_twins as strangers

from protocols.errors import LocalError
from protocols.pathak2010 import PROGRAM, ideal
from protocols.pathak2010.protocol import LIMITS
from protocols.programs import Protocol
from protocols.runtime.session import Program
from smc_dp.leakage.matrix import LEVELS, Row, coalition_matrix
from tests.support.refusals import refused

ONE_SETTING = replace(ideal.MODEL, variants=lambda p: ())
TWINS = {twin.name: twin for twin in strangers.TWINS}
# Name -> how the name of the secret begins that is told; or the code of the refusal.
SHOWN = {
    "the share for Charlie has the size above the ring": "n_2",
    "ties are broken by slot": "n_",
}
REFUSED = {
    "the coin under the parties' key is a hash of the session": "role.needs_a_number",
    "a stale ciphertext is called fresh by hand": "role.sends_no_number",
}


def found(program: Program, twin: strangers.Twin, model: Any = ONE_SETTING) -> tuple[Row, ...]:
    """What the coalition gets among two parties."""
    members = tuple(name for name in ("P1", "P2", "P3", "charlie") if name in twin.who)
    return coalition_matrix(Protocol(program, model, None, LIMITS), 2, chosen=(members,)).rows


@cache
def honest(name: str) -> tuple[Row, ...]:
    return found(PROGRAM, TWINS[name])


def test_every_stranger_has_its_check() -> None:
    assert {*SHOWN, *REFUSED} == set(TWINS)


@pytest.mark.parametrize("name", SHOWN)
def test_the_matrix_shows(name: str) -> None:
    twin = TWINS[name]
    more = {
        secret
        for row, other in zip(found(twin.program, twin), honest(twin.name), strict=True)
        for secret, cell in row.cells.items()
        if LEVELS.index(cell.level) > LEVELS.index(other.cells[secret].level)
    }
    assert any(secret.startswith(SHOWN[name]) for secret in more), more


@pytest.mark.parametrize("name", REFUSED)
def test_the_run_over_symbols_is_refused(name: str) -> None:
    twin = TWINS[name]
    with refused(REFUSED[name], error=LocalError):
        found(twin.program, twin)
