"""`newton` and `gd` as sums: who is in each, once and in order, and what that guarantees."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from protocols import secure_sum
from protocols.arithmetic.rng import Stream
from protocols.runtime.simulate import DropOutAfter, Setting
from protocols.secure_sum.parameters import Block, Parameters
from smc_dp.data.federation import Public, Rows
from smc_dp.methods.functionality import Addend, ideal
from smc_dp.methods.gradients.gradient_descent import GradientDescent
from smc_dp.methods.gradients.gradient_sums import GradientSums
from smc_dp.methods.gradients.newton import Newton
from smc_dp.methods.statistics.logistic import LogisticCoefficients
from smc_dp.methods.sums.threat_model import AnnouncedRows, ThreatModel
from smc_dp.privacy.distributed import sums_signal
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
    assert "is taken to be 90, a public figure" in gd.statement.plain_words()
    assert "is taken to be" not in newton.statement.plain_words()
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
