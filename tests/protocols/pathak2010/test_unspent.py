"""What a state keeps of a session: nothing that no later stage uses."""

from __future__ import annotations

from typing import Any

import pytest
from support.sessions import setup

from protocols.curator import CURATOR_NAME
from protocols.pathak2010 import unspent
from protocols.pathak2010.parameters import Parameters
from protocols.pathak2010.values import PartyInput
from protocols.runtime.actor import Actor

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


def test_a_role_that_keeps_nothing_for_a_view_forgets_its_inputs_and_does_the_same() -> None:
    made = setup(2, 1)
    roles: dict[str, Actor] = {}

    def makes(board: Any, observer: Any, charge: Any, refund: Any) -> dict[str, Actor]:
        for name in made.session.names:
            given = (made.identities[name], made.seeds[name], made.inputs[name], board)
            roles[name] = Actor(made.session, name, *given, observer=observer, keeps_spent=False)
        return roles

    assert made.simulate(make_actors=makes).transcript.dumps() == made.simulate().transcript.dumps()
    assert roles["P1"].inputs[1] == PartyInput(0, made.inputs["P1"][1].w, ())
