"""A party's program that begins anew between two sums: it goes on with the same answers, and answers nothing again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from protocols.arithmetic.ring import Vector
from protocols.arithmetic.rng import Stream
from smc_dp.data.federation import Public, Rows
from smc_dp.methods.functionality import Addend
from smc_dp.methods.gradients.contributor import Contributor
from smc_dp.methods.gradients.gradient_descent import GradientDescent
from smc_dp.methods.gradients.gradient_sums import GradientSums
from smc_dp.methods.gradients.newton import Newton
from smc_dp.methods.sums.threat_model import AnnouncedRows, ThreatModel
from smc_dp.methods.training.integer_rows import RowBounds
from smc_dp.privacy.target import Target
from tests.support.refusals import refused

CASES: dict[str, tuple[Any, int]] = {
    "newton": (Newton(), 2),
    "newton, three classes": (Newton(), 3),
    "gd": (GradientDescent(rows=36), 2),
}


def spec(name: str) -> GradientSums:
    method, classes = CASES[name]
    made: GradientSums = method.shared(
        Public(3, 3, classes), Target(1, noise="ddg"), ThreatModel(3, 1, 0), AnnouncedRows(12)
    )
    return made


def rows(classes: int) -> Rows:
    rng = np.random.default_rng(3)
    return Rows(rng.uniform(-0.5, 0.5, (12, 3)), rng.integers(classes, size=12))


def begun(made: GradientSums, answered: int = 0, coins: str = "coins") -> Contributor:
    """The party's program, anew: nothing is left of an earlier one."""
    return made.resume_part(rows(made.public.classes), Stream.insecure_from_seed(coins), answered)


def others(made: GradientSums, r: int, answer: Addend) -> Vector:
    """What sum r comes to, with what the others enter."""
    rng = np.random.default_rng(r)
    return tuple(x + e + int(rng.integers(-(2**20), 2**20)) for x, e in zip(answer.numbers, answer.noise, strict=True))


def lived(made: GradientSums) -> tuple[list[tuple[Vector, ...]], list[Addend]]:
    """What one that lived through all sums was asked, and what it answered."""
    part, asked, answers = made.part(rows(made.public.classes), Stream.insecure_from_seed("coins")), [], []
    values: tuple[Vector, ...] = ()
    for r in range(len(made.sums)):
        asked.append(values)
        answers.append(part(values))
        values = (*values, others(made, r, answers[-1]))
    return asked, answers


@pytest.mark.parametrize("name", CASES)
def test_begun_anew_after_any_sum_it_goes_on_with_the_same_answers(name: str) -> None:
    made = spec(name)
    asked, answers = lived(made)
    assert len(answers) >= 4
    for r in range(len(answers)):
        part = begun(made, r)
        assert [part(values) for values in asked[r:]] == answers[r:]
    other = begun(made, 2, "other coins")(asked[2])  # twin: coins that were not kept are a second draw of the noise
    assert other.numbers == answers[2].numbers
    assert other.noise != answers[2].noise


def test_answers_follow_from_all_values_that_are_given() -> None:
    """Whatever it was told before: what it made of the first sums is used as long as they are the same."""
    made = spec("newton")
    asked, answers = lived(made)
    part = begun(made)
    part(asked[0])
    moved = (tuple(x + 2**24 for x in asked[1][0]),)
    assert part(moved).numbers != answers[1].numbers
    assert part(asked[2]) == answers[2]


@pytest.mark.parametrize("said", [0, -1, (1 << 63) - 1, -(1 << 63)])
def test_whatever_is_said_of_the_sums_an_answer_is_no_longer_than_rows_allow(said: int) -> None:
    made, bounds, values = spec("newton"), RowBounds.of(2), tuple[Vector, ...]()
    part = begun(made)
    for r, blocks in enumerate(made.sums):
        gradient = part(values).numbers[:3]
        most = 12 * (bounds.gradient if r else bounds.start_gradient)
        assert sum(x * x for x in gradient) <= most**2
        values = (*values, (said,) * sum(length for length, _ in blocks))


@pytest.mark.parametrize("known", [True, False])
def test_a_count_that_is_lost_answers_a_sum_twice(known: bool) -> None:
    """Sum 2 was answered, and its program begins anew; told that the sums before went otherwise it must not answer.

    The twin believes that it has answered one sum less: two answers to one sum, at other weights, with the same noise.
    """
    made = spec("newton")
    asked, answers = lived(made)
    first, second = asked[2]
    lie = (first, tuple(x + 2**24 for x in second))
    part = begun(made, 3 if known else 2)
    if known:
        for values in (asked[2], lie, asked[1], (), asked[4]):
            with refused("sum.out_of_turn", number=len(values), count=8, answered=3):
                part(values)
        assert repr(part) == "Contributor(3 sums answered)"  # and never the rows
        assert part(asked[3]) == answers[3]
        return
    again = part(lie)
    assert again.noise == answers[2].noise
    assert again.numbers != answers[2].numbers


@pytest.mark.parametrize("answered", [-1, 9])
def test_nobody_has_answered_more_sums_than_there_are(answered: int) -> None:
    with refused("sum.impossible_count", count=8, answered=answered):
        begun(spec("newton"), answered)
    with refused("sum.out_of_turn", number=8, count=8, answered=8):
        begun(spec("newton"), 8)(((),) * 8)
