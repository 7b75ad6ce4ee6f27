"""`newton` and `gd` as sums: who is in each, once and in order, and what that guarantees."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np
import pytest

from protocols import secure_sum
from protocols.arithmetic.ring import Vector
from protocols.arithmetic.rng import Stream
from protocols.runtime.simulate import DropOutAfter, Setting
from protocols.secure_sum.parameters import Block, Parameters
from smc_dp.core.arrays import into_ball
from smc_dp.data.federation import Federation, Public, Rows
from smc_dp.methods.functionality import Addend, ideal
from smc_dp.methods.gradients.contributor import Contributor
from smc_dp.methods.gradients.gradient_descent import GradientDescent
from smc_dp.methods.gradients.gradient_sums import GradientSums
from smc_dp.methods.gradients.newton import CURVATURE_FLOOR, SUMS, Newton
from smc_dp.methods.statistics.logistic import LogisticCoefficients
from smc_dp.methods.sums.threat_model import AnnouncedRows, ThreatModel
from smc_dp.methods.training.integer_readings import Units
from smc_dp.methods.training.integer_rows import RowBounds
from smc_dp.privacy.distributed import SharedRounds, sums_signal
from smc_dp.privacy.pathak2010 import LARGEST_N
from smc_dp.privacy.target import Target
from smc_dp.run.protocols import execution
from smc_dp.run.protocols.cost import Outcome
from tests.support.refusals import refused

THREE, FOUR = ThreatModel(3, 1, 0), ThreatModel(4, 0, 1)
METHODS = {"newton": Newton(), "addremove": Newton("addremove"), "gd": GradientDescent(rows=90)}
LOGISTIC = LogisticCoefficients()


def rows(n: int, seed: int, classes: int = 2, d: int = 3) -> Rows:
    rng = np.random.default_rng(seed)
    X = rng.uniform(-0.5, 0.5, (n, d))
    return Rows(X, rng.integers(classes, size=n))


def spec(
    method: Any = METHODS["newton"], threat_model: ThreatModel = THREE, classes: int = 2, most: int = 100
) -> GradientSums:
    target = Target(Fraction(1), noise="ddg")
    made: GradientSums = method.shared(
        Public(threat_model.parties, 3, classes), target, threat_model, AnnouncedRows(most)
    )
    return made


@dataclass
class Listening:
    """A part that keeps what it has answered."""

    part: Any
    answers: list[Addend]

    def __call__(self, values: Any) -> Addend:
        self.answers.append(self.part(values))
        return self.answers[-1]


def parts(made: GradientSums) -> list[Listening]:
    rng = Stream.insecure_from_seed("coins")
    every = [rows(20 + j, j, made.public.classes) for j in range(made.threat_model.parties)]
    return [Listening(made.part(one, rng.fork(f"{j}")), []) for j, one in enumerate(every)]


def computed(made: GradientSums, given: list[Listening], **vanish: int) -> Outcome:
    names = tuple(f"P{j}" for j in range(1, made.threat_model.parties + 1))
    sums = tuple(tuple(Block(*block) for block in blocks) for blocks in made.sums)
    p = Parameters(names, made.threat_model.colluders, made.threat_model.dropouts, sums, made.grid.ring_bits)
    rng = Stream.insecure_from_seed("session")
    taking_part = execution.open_session(secure_sum.PROGRAM, p, rng)
    setting = Setting(drop_outs={name: DropOutAfter(n) for name, n in vanish.items()})
    return execution.run_session(made.functionality, given, taking_part, rng=rng, setting=setting)


@pytest.mark.parametrize(("method", "letters"), [*((METHODS["newton"], n) for n in (5, 6, 11)), (LOGISTIC, 6)])
def test_with_a_party_that_vanishes_each_sum_is_that_of_those_who_took_part(method: Any, letters: int) -> None:
    """P4 is in no sum, in one, in two: from there on the answers of the others follow from sums without it."""
    made = spec(method, FOUR)
    given = parts(made)
    found = computed(made, given, P4=letters)
    sums = 0
    for r, S in enumerate(found.value):
        everybody, three = ([g.answers[r] for g in some if len(g.answers) > r] for some in (given, given[:3]))
        with_P4 = len(everybody) == 4 and made.functionality.each[r].compute(everybody, Stream.from_system()) == S
        sums += with_P4
        assert with_P4 or made.functionality.each[r].compute(three, Stream.from_system()) == S
    assert sums == {5: 0, 6: 1, 11: 2}[letters]


def test_noise_is_new_in_every_sum_and_for_every_party() -> None:
    made = spec(METHODS["gd"])
    given = parts(made)
    ideal(made.functionality, given)
    drawn = [answer.noise for g in given for answer in g.answers]
    assert len({*drawn}) == len(drawn) == 3 * len(made.sums)
    assert all(any(noise) for noise in drawn)


def test_the_statement_counts_the_honest_and_names_what_is_public() -> None:
    newton, gd = spec(), spec(METHODS["gd"])
    for made, adjacency in ((newton, "replace"), (spec(METHODS["addremove"]), "addremove"), (gd, "replace")):
        stated = made.statement
        assert (stated.kind, stated.epsilon, stated.unit, stated.adjacency) == ("zcdp", 1.0, "record", adjacency)
        assert "at least 2 honest parties (3 parties, minus 0 " in stated.adversary
        assert made.noise.mu_squared <= made.target.mu**2
        assert {*made.threat_model.caveats()} <= {*stated.caveats}
    assert [sum(" 90," in one for one in made.statement.caveats) for made in (gd, newton)] == [1, 0]
    fewer = replace(newton, threat_model=ThreatModel(3, 0, 0))
    assert newton.noise.distributions[1][0].variance > fewer.noise.distributions[1][0].variance


@pytest.mark.parametrize(
    ("settings", "sizes", "n"),
    [({"rows": 500}, (40, 50), 500), ({}, (40, 50), 90), ({}, None, 200), ({"adjacency": "addremove"}, (40, 50), 200)],
)
@pytest.mark.parametrize("honest", [2, 1])
def test_gd_takes_a_public_number_of_rows(
    settings: dict[str, Any], sizes: tuple[int, ...] | None, n: int, honest: int
) -> None:
    """And of more noise, where fewer are honest, fewer sums can be told apart."""
    method, threat_model, announced = GradientDescent(**settings), ThreatModel(2, 2 - honest, 0), AnnouncedRows(100)
    public, target = Public(2, 3, 2, sizes), Target(Fraction(1), noise="ddg")
    found = method.shared(public, target, threat_model, announced)
    assert method.number(found) == n
    wanted = sums_signal(n, target.mu, 3, 2, honest, 2)
    assert len(found.sums) == min(100, max(4, int(np.ceil(np.sqrt(8 * wanted)))))
    steps: Any = found.steps
    assert steps.size == 4 / n


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda: Newton("party"), "setting.unknown_value"),  # type: ignore[arg-type]
        (lambda: GradientDescent(rows=0), "parameter.no_count"),
        (lambda: spec().part(rows(101, 1), Stream.from_system()), "party.more_rows_than_announced"),
        (lambda: Newton().shared(Public(3, 3, 2), Target(1), THREE, AnnouncedRows(9)), "noise.not_of_protocol"),
        (
            lambda: Newton().shared(Public(3, 3, 2), Target(1, noise="ddg"), THREE, AnnouncedRows(9, "released")),
            "sizes.not_hidden",
        ),
        (
            lambda: (
                GradientDescent().shared(Public(3, 3, 2), Target(1, noise="ddg"), THREE, AnnouncedRows(LARGEST_N)).steps
            ),
            "rows.not_public",
        ),
    ],
)
def test_what_cannot_be_is_refused(make: Any, code: str) -> None:
    with refused(code):
        make()


def test_more_columns_than_a_curvature_is_added_up_for_are_for_gd() -> None:
    target, announced = Target(Fraction(1), noise="ddg"), AnnouncedRows(9)
    with refused("features.too_many_for_newton", most=2000, got=2001):
        Newton().shared(Public(3, 2001, 2), target, THREE, announced).statement  # noqa: B018
    assert GradientDescent(rows=9).shared(Public(3, 2001, 2), target, THREE, announced).statement.epsilon == 1.0


# Somebody is trusted with the parts.


ONE = Target(Fraction(1), noise="ddg")


def dealt(parties: int = 3, n: int = 12) -> Federation:
    rng = np.random.default_rng(1)
    each = (Rows(rng.uniform(-0.5, 0.5, (n, 3)), rng.integers(2, size=n)) for _ in range(parties))
    return Federation(tuple(each), 2)


def test_every_sum_and_every_release_of_one_stream_has_noise_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """And it is drawn once, whatever the number of parties; one noise for two releases would cancel."""
    drawn: list[tuple[int, ...]] = []
    share = SharedRounds.share

    def listening(noise: SharedRounds, r: int, rng: Stream) -> list[int]:
        drawn.append(tuple(share(noise, r, rng)))
        return [*drawn[-1]]

    monkeypatch.setattr(SharedRounds, "share", listening)
    trained, rng = Newton().train(dealt()), Stream.insecure_from_seed("one")
    for _ in range(2):
        trained.release(ONE, rng)
    assert len({*drawn}) == len(drawn) == 2 * SUMS
    assert all(any(noise) for noise in drawn)


def test_the_true_number_of_rows_becomes_a_setting_under_replace_only() -> None:
    """A setting is published; where a row more makes a neighbour, its number is what is protected."""
    assert GradientDescent().with_row_counts((12, 30)).rows == 42
    assert GradientDescent(rows=7).with_row_counts((12, 30)).rows == 7
    assert GradientDescent("addremove").with_row_counts((12, 30)).rows is None


def test_the_floor_is_set_by_the_noise_of_all_parties_and_not_of_the_honest() -> None:
    made = Newton().shared(Public(4, 3, 2), ONE, ThreatModel(4, 1, 1), AnnouncedRows(50))
    steps: Any = made.steps
    deviation = sqrt(4 * made.noise.distributions[0][1].variance) / Units.of(2).curvature
    assert steps.floor == pytest.approx(CURVATURE_FLOOR * deviation * sqrt(2 * 3), rel=1e-12)


def test_noise_of_one_who_is_trusted_does_not_grow_with_the_number_of_parties() -> None:
    """It is drawn once, so that more parties are no trouble than a secure sum counts noise of."""
    few, many = dealt(3, 67), dealt(201, 1)
    assert Newton().spec(few.public, ONE).noise == Newton().spec(many.public, ONE).noise
    release = Newton().train(many).release(ONE, Stream.from_system())
    assert release.privacy.epsilon == 1.0
    # A form without noise says so.
    made = Newton().shared(Public(3, 3, 2), Target(None), ThreatModel(3, 1, 0), AnnouncedRows(50))
    assert made.statement.kind == "none"
    assert all(law == "none" for blocks in made.sums for _, law in blocks)


# Releases at a fixed seed: whoever changes their bits breaks runs that were released, and has to say so.


DIGESTS = {
    ("newton", 2, False): "05a27eacfa2958e7",
    ("newton", 2, True): "0e2b7a0c239624dc",
    ("newton", 3, False): "d5b9575cfc31ae1f",
    ("newton", 3, True): "deaefcc837e0496e",
    ("gd", 2, False): "5a759bcc13a83ac7",
    ("gd", 2, True): "ea6f061d320319ec",
    ("gd", 3, False): "cea314d453aa4e74",
    ("gd", 3, True): "2df38a45aa37f75a",
}


@pytest.mark.parametrize(("method", "k", "weighted"), list(DIGESTS))
def test_a_release_has_the_bits_that_it_had(method: str, k: int, weighted: bool) -> None:
    rng, parties = np.random.default_rng(7), []
    for _ in range(3):
        X, y = into_ball(rng.normal(size=(200, 4)), 2.0), rng.integers(k, size=200)
        parties.append(Rows(X, y, rng.uniform(size=200) if weighted else None))
    federation = Federation(tuple(parties), k)
    made = Newton() if method == "newton" else GradientDescent(rows=600)
    target = Target(Fraction(1), noise="ddg", delta=Fraction(1, 10**5))
    W = made.train(federation).release(target, Stream.insecure_from_seed("two")).model.W
    integers = np.rint(np.ldexp(W, 20)).astype("<i8")
    assert hashlib.sha256(integers.tobytes()).hexdigest()[:16] == DIGESTS[method, k, weighted]


# A party's program that begins anew between two sums.


CASES: dict[str, tuple[Any, int]] = {
    "newton": (Newton(), 2),
    "newton, three classes": (Newton(), 3),
    "gd": (GradientDescent(rows=36), 2),
}


def case(name: str) -> GradientSums:
    method, classes = CASES[name]
    return spec(method, classes=classes, most=12)


def begun(made: GradientSums, answered: int = 0, coins: str = "coins") -> Contributor:
    """The party's program, anew: nothing is left of an earlier one."""
    return made.resume_part(rows(12, 3, made.public.classes), Stream.insecure_from_seed(coins), answered)


def others(made: GradientSums, r: int, answer: Addend) -> Vector:
    """What sum r comes to, with what the others enter."""
    rng = np.random.default_rng(r)
    return tuple(x + e + int(rng.integers(-(2**20), 2**20)) for x, e in zip(answer.numbers, answer.noise, strict=True))


def lived(made: GradientSums) -> tuple[list[tuple[Vector, ...]], list[Addend]]:
    """What one that lived through all sums was asked, and what it answered."""
    part, asked, answers = made.part(rows(12, 3, made.public.classes), Stream.insecure_from_seed("coins")), [], []
    values: tuple[Vector, ...] = ()
    for r in range(len(made.sums)):
        asked.append(values)
        answers.append(part(values))
        values = (*values, others(made, r, answers[-1]))
    return asked, answers


@pytest.mark.parametrize("name", CASES)
def test_begun_anew_after_any_sum_it_goes_on_with_the_same_answers(name: str) -> None:
    made = case(name)
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
    made = case("newton")
    asked, answers = lived(made)
    part = begun(made)
    part(asked[0])
    moved = (tuple(x + 2**24 for x in asked[1][0]),)
    assert part(moved).numbers != answers[1].numbers
    assert part(asked[2]) == answers[2]


@pytest.mark.parametrize("said", [0, -1, (1 << 63) - 1, -(1 << 63)])
def test_whatever_is_said_of_the_sums_an_answer_is_no_longer_than_rows_allow(said: int) -> None:
    made, bounds, values = case("newton"), RowBounds.of(2), tuple[Vector, ...]()
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
    made = case("newton")
    asked, answers = lived(made)
    first, second = asked[2]
    lie = (first, tuple(x + 2**24 for x in second))
    part = begun(made, 3 if known else 2)
    if known:
        for values in (asked[2], lie, asked[1], (), asked[4]):
            with refused("sum.out_of_turn", number=len(values), count=8, answered=3):
                part(values)
        assert repr(part) == "Contributor(3 sums answered)"  # and never the own_rows
        assert part(asked[3]) == answers[3]
        return
    again = part(lie)
    assert again.noise == answers[2].noise
    assert again.numbers != answers[2].numbers


@pytest.mark.parametrize("answered", [-1, 9])
def test_nobody_has_answered_more_sums_than_there_are(answered: int) -> None:
    with refused("sum.impossible_count", count=8, answered=answered):
        begun(case("newton"), answered)
    with refused("sum.out_of_turn", number=8, count=8, answered=8):
        begun(case("newton"), 8)(((),) * 8)
