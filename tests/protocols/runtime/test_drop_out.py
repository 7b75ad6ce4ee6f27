"""A participant that vanishes does nothing more: it leaves no result, blames nobody, pays nothing, in any order."""

from __future__ import annotations

import pytest
from support.votes import NAMES, Outcome, Word, made, of_two

from protocols.arithmetic.rng import Stream
from protocols.errors import Fault, PeerError
from protocols.runtime import replay
from protocols.runtime import state as states
from protocols.runtime.actor import Actor
from protocols.runtime.endpoint import Endpoint
from tests.support.refusals import refused


async def telling(me: Endpoint, mine: int) -> int:
    """All tell the others two words; P1 reads but one of each, and so refuses the second in the end."""
    for _ in range(2):
        me.broadcast(me.others, Word(mine))
    await me.collect(me.others, Word)
    if me.name != "P1":
        await me.collect(me.others, Word)
    return mine


async def paying(me: Endpoint, total: int) -> int:
    """Pay, and say what there is to publish."""
    me.spend("release")
    me.publish(Outcome(total))
    return total


ORDERS = [None, *range(6)]
BEFORE_THE_LAST = 1 + 4 + 1  # P1 greets, sends four words and ends a stage; the mark of the second is its last


def ordered(order: int | None) -> Stream | None:
    return None if order is None else Stream.insecure_from_seed(f"gone {order}")


@pytest.mark.parametrize("order", ORDERS)
def test_who_vanishes_refuses_nothing_and_leaves_nothing(order: int | None) -> None:
    toy = made(of_two(telling, paying))
    with refused("message.not_wanted", error=PeerError, kind="Word", name="P1"):
        toy.simulate(schedule=ordered(order))
    run = toy.simulate(schedule=ordered(order), drop_outs={"P1": BEFORE_THE_LAST})
    assert run.ends == {"P1": "gone", "P2": "done", "P3": "done"}
    assert run.results == {"P1": None, "P2": 2, "P3": 3}


@pytest.mark.parametrize("order", ORDERS)
def test_who_vanishes_pays_nothing_after_it(order: int | None) -> None:
    """With one envelope less, P1 does not come to its charge."""
    toy, paid = made(of_two(telling, paying)), list[str]()
    for left, count in ((BEFORE_THE_LAST, 3), (BEFORE_THE_LAST - 1, 2)):
        paid.clear()
        toy.simulate(schedule=ordered(order), drop_outs={"P1": left}, charge=lambda name, label: paid.append(name))
        assert (len(paid), paid.count("P1")) == (count, count - 2)


def test_who_vanishes_before_its_share_leaves_is_gone() -> None:
    toy = made()
    sent = sum(e.sender == "P1" for e in toy.simulate().transcript.envelopes)
    run = toy.simulate(drop_outs={"P1": sent - 1})
    assert run.ends == {"P1": "gone", "P2": "done", "P3": "done"}
    assert (list(run.published), run.results["P1"]) == (["P2", "P3"], None)
    assert toy.simulate(drop_outs={"P1": sent}).published.keys() == set(NAMES)


def test_an_early_end_is_a_code_that_a_state_keeps() -> None:
    session, identities, seeds, inputs = made(of_two(telling, paying))
    why = Fault("role.dropped_out", {"name": "P1"})
    actor = Actor(session, "P1", identities["P1"], seeds["P1"], inputs["P1"], {})
    actor.drop_out(0)
    actor.advance()
    assert (actor.end, actor.why) == ("gone", why)
    state, records = replay.save(actor), (*session.program.records, type(session.parameters))
    assert replay.resume(session, state, identities["P1"], 1).why == why
    kept = states.load_state(state, records)
    assert kept["end"] == ("gone", tuple(vars(why).values()))
