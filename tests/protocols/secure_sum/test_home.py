"""Sums that are asked for one after the other: what a party adds to the next follows from those before, at home."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from support import byte_steps
from support.sessions import Setup, by_link, start
from support.sums import Ledger, parameters

from protocols.arithmetic.ring import Vector
from protocols.curator import CURATOR_NAME
from protocols.errors import Fault, LocalError
from protocols.runtime.envelope import HELLO, Envelope
from protocols.runtime.simulate import DropOutAfter, Run, Setting, simulate
from protocols.runtime.view import RecordedView, recompute
from protocols.secure_sum import PROGRAM, ideal
from protocols.secure_sum.parameters import Parameters
from protocols.secure_sum.values import Addends, join_addends
from tests.support.refusals import refused

COMPLETE, WITH_DROP_OUTS = parameters(3, 1, 0, (2, 1, 3)), parameters(4, 0, 1, (2, 1, 3))
AFTER_ITS_INPUT = 1 + 3 + 1  # letters of P4: greeting, shares, that it is ready
LocalProgram = Callable[[tuple[Vector, ...]], Addends]


class Answering:
    """A home whose numbers depend on all sums so far; it keeps what it was asked and what it answered."""

    def __init__(self, p: Parameters, j: int) -> None:
        self.p, self.j = p, j
        self.asked: list[tuple[Vector, ...]] = []
        self.answers: list[Addends] = []

    def __call__(self, values: tuple[Vector, ...]) -> Addends:
        self.asked.append(values)
        seen = sum((r + 1) * x for r, S in enumerate(values) for x in S)
        d, M = self.p.length(len(values)), self.p.ring.modulus
        numbers = self.p.ring.vector([(7 * self.j + 3 * i + seen) % M for i in range(d)])
        self.answers.append(Addends((numbers,), (self.p.ring.vector([self.j] * d),)))
        return self.answers[-1]


def asking(p: Parameters) -> Setup:
    """Nothing is known beforehand."""
    inputs: dict[str, tuple[Any, ...]] = {name: (p, Addends((), ())) for name in p.parties}
    return start(PROGRAM, p, {**inputs, CURATOR_NAME: (p,)})


def homes(p: Parameters) -> dict[str, Answering]:
    return {name: Answering(p, j) for j, name in enumerate(p.parties, start=1)}


def ran(setup: Setup, home: Mapping[str, LocalProgram], **setting: Any) -> Run:
    return simulate(*setup, Setting(**setting), home)


def is_ideal(p: Parameters, run: Run, home: Mapping[str, Answering]) -> bool:
    """The sums are those of what the members answered, and everybody was asked once a sum, after the sums before."""
    result = run.results[CURATOR_NAME]
    given = {name: join_addends(p, *(a.answers or [Addends((), ())])) for name, a in home.items()}
    for r, (S, members) in enumerate(zip(result.values, result.members, strict=True)):
        if ideal.functionality(p, given, r, p.members(members)) != S:
            return False
        if any(len(a.asked) > r and a.asked[r] != result.values[:r] for a in home.values()):
            return False
    return all(len(a.asked) == p.R for name, a in home.items() if run.ends[name] == "done")


@pytest.mark.parametrize("p", [COMPLETE, WITH_DROP_OUTS])
def test_each_sum_is_the_ideal_one_of_what_the_sums_before_lead_to(p: Parameters) -> None:
    home = homes(p)
    run = ran(asking(p), home)
    assert is_ideal(p, run, home)
    assert tuple(x for S in run.results[CURATOR_NAME].values for x in S) == run.published[CURATOR_NAME].S
    home["P1"].answers[1] = home["P1"].answers[0]  # a sum of other answers is not taken for it
    with refused("numbers.of_other_lengths", error=LocalError):
        is_ideal(p, run, home)


@pytest.mark.parametrize(("letters", "in_sums"), [(AFTER_ITS_INPUT, 0), (AFTER_ITS_INPUT + 1, 1), (11, 2)])
def test_who_vanishes_is_in_no_sum_after_that(letters: int, in_sums: int) -> None:
    p, home = WITH_DROP_OUTS, homes(WITH_DROP_OUTS)
    run = ran(asking(p), home, drop_outs={"P4": DropOutAfter(letters)})
    assert is_ideal(p, run, home)
    taken = [3 in p.members(members) for members in run.results[CURATOR_NAME].members]
    assert taken == [r < in_sums for r in range(p.R)]


@pytest.mark.parametrize("p", [COMPLETE, WITH_DROP_OUTS])
def test_answers_are_inputs_of_whoever_runs_the_role_again(p: Parameters) -> None:
    """With everything known beforehand every byte is the same; a view has all answers, and asks nobody."""
    setup, home = asking(p), homes(p)
    run = ran(setup, home, views=True)
    known = {name: (p, *a.answers) for name, a in home.items()}
    again = simulate(*setup._replace(inputs={**known, CURATOR_NAME: (p,)}), Setting())
    assert by_link(again.transcript.envelopes) == by_link(run.transcript.envelopes)
    view = RecordedView.loads(run.recorded["P2"].dumps(setup.session), setup.session)
    assert view.inputs == (p, Addends((), ()), *home["P2"].answers)
    record = dict(enumerate(run.transcript.envelopes))
    found = recompute(setup.session, view, record)
    assert found.fault is None
    assert [e.body for e in found.sent] == [e.body for e in record.values() if e.sender == "P2"]
    short = recompute(setup.session, RecordedView(**{**vars(view), "inputs": view.inputs[:-1]}), record)
    assert str(Fault("role.nobody_answers", {"name": "P2"})) in (short.fault or "")


def test_a_resumed_role_asks_at_home_as_well_and_no_state_asks_twice() -> None:
    """Saved and resumed after every letter, where an answer is in the state."""
    p, setup = WITH_DROP_OUTS, asking(WITH_DROP_OUTS)
    run = ran(setup, homes(p))
    home = Answering(p, 2)
    sent = stepped(setup, run, "P2", home)
    assert [e.body for e in sent] == [e.body for e in run.transcript.envelopes if e.sender == "P2"]
    assert len(home.asked) == p.R


def stepped(setup: Setup, run: Run, name: str, home: LocalProgram) -> list[Envelope]:
    """What a party sends by `byte_steps.step`, letter by letter."""
    session, me, mail = setup.session, setup.identities[name], run.transcript.envelopes
    board = {e.sender: e for e in mail if e.kind == HELLO}
    step = byte_steps.begin(session, name, me, setup.seeds[name], setup.inputs[name], board)
    sent = list(step.mail)
    for letter in [e for e in mail if e.to == name]:
        step = byte_steps.step(session, step.state, [letter], me, step.counter, board, home=home)
        sent += step.mail
    return sent


def test_whoever_is_not_at_home_adds_nothing_and_pays_nothing() -> None:
    paid = Ledger()
    with refused("role.nobody_answers", error=LocalError, name="P1"):
        ran(asking(COMPLETE), {}, charge=paid.spend)
    assert paid.charged == []


def test_an_answer_of_another_length_is_refused_before_it_is_charged() -> None:
    p, paid = COMPLETE, Ledger()
    short = Addends((p.ring.vector([1]),), (p.ring.vector([1]),))
    with refused("numbers.of_other_lengths", error=LocalError):
        ran(asking(p), {**homes(p), "P1": lambda values: short}, charge=paid.spend)
    assert ("P1", "sum 0") not in paid.charged


def test_numbers_for_more_sums_than_there_are_make_no_input() -> None:
    p = COMPLETE
    every = [Answering(p, 1)(((),) * r) for r in range(p.R)]
    with refused("numbers.of_other_lengths", error=LocalError):
        join_addends(p, *every, every[0])


def test_what_is_known_beforehand_is_not_asked_for() -> None:
    p, home = COMPLETE, homes(COMPLETE)
    setup = asking(p)
    first = {name: Answering(p, j)(()) for j, name in enumerate(p.parties, start=1)}
    inputs: dict[str, tuple[Any, ...]] = {**{n: (p, one) for n, one in first.items()}, CURATOR_NAME: (p,)}
    run = ran(setup._replace(inputs=inputs), home)
    assert [len(values) for values in home["P3"].asked] == [1, 2]
    assert run.results["P3"] == ran(setup, homes(p)).results["P3"]
