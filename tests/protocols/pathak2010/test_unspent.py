"""What a state keeps of a session: nothing that no later stage uses."""

from __future__ import annotations

from typing import Any

import pytest

from protocols.curator import CURATOR_NAME
from protocols.pathak2010 import unspent
from protocols.pathak2010.parameters import Parameters
from protocols.pathak2010.values import PartyInput

P = Parameters(("P1", "P2", "P3"), 2, 512)
MINE = PartyInput(7, (1, 2), (3, 4))


@pytest.mark.parametrize(
    ("over", "left"),
    [(1, MINE), (2, PartyInput(0, (1, 2), (3, 4))), (3, PartyInput(0, (1, 2), ()))],
)
def test_a_party_keeps_its_size_and_its_noise_until_they_are_used(over: int, left: PartyInput) -> None:
    results: list[Any] = [f"stage {i}" for i in range(over)]
    assert unspent(P, "P1", (P, MINE), results) == ((P, left), results)


def test_the_curator_keeps_the_halves_of_sizes_until_the_smallest_has_its_noise_in_the_sum() -> None:
    before = unspent(P, CURATOR_NAME, (P,), ["keys", "halves", "smallest"])
    after = unspent(P, CURATOR_NAME, (P,), ["keys", "halves", "smallest", None])
    assert before == ((P,), ["keys", "halves", "smallest"])
    assert after == ((P,), ["keys", None, None, None])
