"""Twins made by somebody who had not read the checks: the matrix catches each."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from broken import strangers_twins as strangers
from support.repetitions import with_slow

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
    "one coin for all packs": "eta_2",
    "the share for Charlie has the size above the ring": "n_2",
    "from the third party on nothing is shared": "n_3",
    "ties are broken by slot": "n_",
    "matches are played in the order of the slots": "pi_2",
    "as many matches more as the slot of the smallest says": "exact sum",
}
REFUSED = {
    "the coin under the parties' key is a hash of the session": "role.needs_a_number",
    "a half has its size in the spare bits": "symbol.bits_overlap",
    "a stale ciphertext is called fresh by hand": "role.sends_no_number",
    "whoever has few records says how many and stops": "symbol.compared",
}
# Among three parties, with all their worlds.
SLOW = ("one coin for all packs", "from the third party on nothing is shared")


def found(program: Program, twin: strangers.Twin, model: Any = ONE_SETTING) -> tuple[Row, ...]:
    """What the coalition gets, among two parties if that is enough to show it."""
    members = tuple(name for name in ("P1", "P2", "P3", "charlie") if name in twin.who)
    parties = 3 if "P3" in members or twin is strangers.THIRD_PARTY else 2
    return coalition_matrix(Protocol(program, model, None, LIMITS), parties, chosen=(members,)).rows


@cache
def honest(name: str) -> tuple[Row, ...]:
    return found(PROGRAM, TWINS[name])


def test_every_stranger_has_its_check() -> None:
    assert {*SHOWN, *REFUSED} == set(TWINS)


@pytest.mark.parametrize("name", with_slow(SHOWN, *SLOW))
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
