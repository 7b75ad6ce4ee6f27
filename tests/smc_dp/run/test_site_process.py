"""What a site keeps of its role: no key of a role that has published, and no randomness of an answer that was given."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from support.votes import alone

from protocols.arithmetic.rng import Stream
from protocols.errors import StoppedError
from protocols.runtime.envelope import Envelope
from smc_dp.run.site_process import SiteActor, SiteInputs, SiteRandomness
from tests.support.refusals import refused

HOME = Stream.insecure_from_seed("home")
DRAWS = ("first", "second")


def done(*, keeps_seed: bool = False) -> SiteActor:
    """A site whose role has asked twice and is done; its answers are drawn with the randomness for them. No stage uses
    the inputs of one before it.
    """
    session, identities, seeds, given = alone(lambda me: me.ask(me.ask(me.name)))
    forgetful = replace(session.program, unspent=lambda p, name, inputs, results: ((), results))
    session = replace(session, program=forgetful)
    board: dict[str, Envelope] = {}
    labels = list(DRAWS)

    def answers(randomness: Any, inputs: tuple[Any, ...]) -> Any:
        return lambda said: randomness.fork(labels.pop(0)).below(2**16)

    made = {
        name: SiteActor(
            session, name, identities[name], SiteInputs(lambda home, name=name: given[name], answers, DRAWS), board,
            randomness=SiteRandomness(seeds[name], HOME), keeps_seed=keeps_seed,
        )
        for name in session.names
    }  # fmt: skip
    board.update({name: site.actor.advance()[0] for name, site in made.items()})
    site = made["P1"]
    keys = [HOME.fork(label).key for label in DRAWS]
    assert all(key in site.state() for key in keys)
    site.actor.advance()
    assert not labels
    assert not any(key in site.state() for key in keys)
    return site


@pytest.mark.parametrize("keeps_seed", [False, True])
def test_keys_and_inputs_that_no_later_stage_uses_are_kept_for_a_view_alone(keeps_seed: bool) -> None:
    site = done(keeps_seed=keeps_seed)
    assert (site.actor.inputs == ()) == (not keeps_seed)
    assert not site.actor.forgotten
    site.release()
    assert site.actor.forgotten == (not keeps_seed)


def test_once_the_session_is_over_nothing_new_leaves() -> None:
    site = done()
    site.leaving("sum 0")
    site.sends_nothing = True
    site.leaving("sum 0")
    with refused("session.over", error=StoppedError, label="sum 1"):
        site.leaving("sum 1")
    assert site.charge.left == {"sum 0"}
