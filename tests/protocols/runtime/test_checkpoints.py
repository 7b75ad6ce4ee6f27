"""Two checkpoints of one stage: who is absent in the second was there in the first, and stays so for an auditor."""

from __future__ import annotations

from functools import partial

import pytest
from support import byte_steps
from support.parties import Parties
from support.sessions import Setup
from support.votes import Word, made

from protocols.errors import LocalError
from protocols.runtime.endpoint import Endpoint
from protocols.runtime.envelope import HELLO
from protocols.runtime.inbox import Absent
from protocols.runtime.simulate import Run
from protocols.runtime.view import recompute
from tests.support.refusals import refused

LAST = 3  # P3 greets and sends its first two words


async def adding(me: Endpoint, mine: int) -> int:
    """Tell a word to all, and add up what there is of theirs."""
    me.broadcast(me.others, Word(mine))
    return sum(word.value for word in (await me.collect(me.others, Word)).values())


async def party(me: Endpoint, p: Parties, mine: int) -> tuple[int, int]:
    first = await me.stage(adding, mine, name="adding")
    return first, await me.stage(adding, first, name="adding")


def left_by_the_third() -> tuple[Setup, Run]:
    setup = made(party)
    return setup, setup.simulate(drop_outs={"P3": LAST}, views=True)


def made_again(setup: Setup, run: Run) -> list[bool]:
    """Whether each of those who are left sends the same again, for whoever has its view."""
    record = dict(enumerate(run.transcript.envelopes, start=1))
    again = {name: recompute(setup.session, run.recorded[name], record) for name in ("P1", "P2")}
    return [list(found.sent) == [e for e in record.values() if e.sender == name] for name, found in again.items()]


def test_a_mark_says_how_much_of_the_whole_stage_was_read() -> None:
    setup, run = left_by_the_third()
    assert run.results == {"P1": (5, 4), "P2": (4, 5), "P3": None}
    missed = frozenset({Absent("P3", "Word", "adding", 1)})
    assert run.absent == {"P1": missed, "P2": missed, "P3": frozenset()}
    assert made_again(setup, run) == [True, True]


def test_the_count_is_kept_in_the_state() -> None:
    """P1 is resumed in the second checkpoint, and told there that P3 is gone."""
    setup, run = left_by_the_third()
    sent = run.transcript.envelopes
    board = {e.sender: e for e in sent if e.kind == HELLO}
    given, signer = setup.inputs["P1"], setup.identities["P1"]
    step = byte_steps.begin(setup.session, "P1", signer, setup.seeds["P1"], given, board)
    for envelope in [e for e in sent if e.to == "P1"]:
        step = byte_steps.step(setup.session, step.state, [envelope], signer, step.counter, board)
    assert step.end is None
    go_on = partial(byte_steps.step, setup.session, step.state, [], signer, step.counter, board)
    with refused("absence.too_late", error=LocalError, kind="Word", sender="P3", stage="adding"):
        go_on([Absent("P3", "Word", "adding", 0)])
    done = go_on([Absent("P3", "Word", "adding", 1)])
    assert (done.end, done.result) == ("done", run.results["P1"])


@pytest.mark.parametrize("when", ["before", "between", "after"])
def test_there_is_no_randomness_outside_of_a_stage(when: str) -> None:
    """A later run of the role would draw other values there: that of a stage is deleted with it."""

    async def party(me: Endpoint, p: Parties, mine: int) -> bytes:
        for name in ("before", "between", "after"):
            if name == when:
                return me.rng.bytes(1)
            mine = await me.stage(adding, mine, name=name)
        raise AssertionError

    with refused("stage.needed", error=LocalError):
        made(party).simulate()
