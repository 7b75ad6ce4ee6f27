"""Twins made by somebody who had not read the checks: the matrix catches each.

A twin that is refused because its author copied what stands in `crypto` into a role (the strangers' copy of the honest
comparison is refused as well) is caught all the same: role files compute nothing.
"""

from __future__ import annotations

import hashlib
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
from smc_dp.leakage.symbolic.box import Commitments
from tests.support.refusals import refused

ONE_SETTING = replace(ideal.MODEL, variants=lambda p: ())
TWINS = {twin.name: twin for twin in strangers.TWINS}
# Name -> how the name of the secret begins that is told; or the code of the refusal.
SHOWN = {
    "one mask for all coordinates": "selected noise",
    "one blind for all parties": "pi_2",
    "one coin for all packs": "eta_2",
    "one coin for all slots of the indicator": "who is smallest",
    "one share for all others": "w_2",
    "the share for Charlie has the size above the ring": "n_2",
    "P_2 waits for all shares and publishes its weights": "w_2",
    "a mask as wide as the ring": "selected noise",
    "from the third party on nothing is shared": "n_3",
    "ties are broken by slot": "n_",
    "only the first coordinate is shared": "w_2",
    "matches are played in the order of the slots": "pi_2",
    "blinded halves are sent in the order of the slots": "pi_2",
    "as many matches more as the slot of the smallest says": "exact sum",
}
REFUSED = {
    "the mask is expanded from the share b of stage 1": "symbol.used_as_a_number",
    "the coins of the last sharing follow from the parties' key": "symbol.put_into_words",
    "the coin under the parties' key is a hash of the session": "role.needs_a_number",
    "the parties' key has close primes": "role.needs_a_number",
    "the coins of the comparisons spell where P_1 stands": "symbol.used_as_a_number",
    "covers are drawn until they end like the size": "symbol.asked_for_equality",
    "a half has its size in the spare bits": "symbol.bits_overlap",
    "the opening is a hash of the weights": "role.needs_a_number",
    "shares are random multiples of the weights": "symbol.two_multiplied",
    "the last comparison is not blinded": "role.needs_a_number",
    "the differences are turned by K places instead of shuffled": "role.needs_a_number",
    "the coins of the bits of y are short": "role.needs_a_number",
    "a stale ciphertext is called fresh by hand": "role.sends_no_number",
    "whoever has few records says how many and stops": "symbol.compared",
}
# Among three parties, with all their worlds; and those whose way of telling another one has too.
SLOW = {
    "a mask as wide as the ring",
    "blinded halves are sent in the order of the slots",
    "one blind for all parties",
    "one coin for all packs",
    "only the first coordinate is shared",
    "one coin for all slots of the indicator",
    "one share for all others",
    "P_2 waits for all shares and publishes its weights",
    "from the third party on nothing is shared",
}
WITH_LONG_KEYS = "no mask with keys of more than 512 bits"


def found(program: Program, twin: strangers.Twin, model: Any = ONE_SETTING) -> tuple[Row, ...]:
    """What the coalition gets, among two parties if that is enough to show it."""
    members = tuple(name for name in ("P1", "P2", "P3", "charlie") if name in twin.who)
    parties = 3 if "P3" in members or twin is strangers.THIRD_PARTY else 2
    return coalition_matrix(Protocol(program, model, None, LIMITS), parties, chosen=(members,)).rows


@cache
def honest(name: str) -> tuple[Row, ...]:
    return found(PROGRAM, TWINS[name])


@pytest.fixture
def copied(monkeypatch: pytest.MonkeyPatch) -> None:
    """The strangers commit by a function that is not for roles; here it is, so that no twin is refused for that."""

    def digest(self: Commitments, context: bytes, value: Any, opening: bytes) -> bytes:
        made = hashlib.sha256(context + opening).digest()
        self._tape.strings.hashed[made] = opening
        self._tape.commitments[made] = (context, value, opening)
        return made

    monkeypatch.setattr(Commitments, "_digest", digest, raising=False)


def test_every_stranger_has_its_check() -> None:
    assert {*SHOWN, *REFUSED, WITH_LONG_KEYS} == set(TWINS)


@pytest.mark.usefixtures("copied")
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


@pytest.mark.usefixtures("copied")
@pytest.mark.parametrize("name", REFUSED)
def test_the_run_over_symbols_is_refused(name: str) -> None:
    twin = TWINS[name]
    with refused(REFUSED[name], error=LocalError):
        found(twin.program, twin)


def test_what_is_not_masked_with_long_keys_shows_with_long_keys_only() -> None:
    twin = TWINS[WITH_LONG_KEYS]
    assert [row.cells for row in found(twin.program, twin)] == [row.cells for row in honest(twin.name)]
    longer = replace(ideal.MODEL, variants=lambda p: ideal.variants(p)[1:2])
    for row in found(twin.program, twin, longer):
        assert row.cells["selected noise(1)"].beyond
        assert "so with key_bits 2048" in row.cells["selected noise(1)"].how
