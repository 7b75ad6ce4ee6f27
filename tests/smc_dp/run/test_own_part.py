"""One party's whole part: what a simulation and a site of its own have in common, and what outlives a process."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from support.audited import agreement, hospitals, sum_agreement

from protocols.arithmetic.rng import Stream
from protocols.runtime.session import Session
from smc_dp.data.federation import Public, Rows
from smc_dp.data.table import Table
from smc_dp.methods.gradients.newton import Newton
from smc_dp.methods.pathak2010.mean import PathakMean
from smc_dp.methods.sums.clipped_average import ClippedAverage
from smc_dp.privacy.target import Target
from smc_dp.run.agreement import Agreement
from smc_dp.run.party import LocalParty
from tests.support.refusals import refused

ROOT = Stream.insecure_from_seed("own part")
FOUR = hospitals((12, 8, 20, 9), 2)
NAMES = FOUR.federation.names
NEWTON = sum_agreement(FOUR, Newton(), colluders=1, dropouts=1, most_rows=100)


def own(name: str, agreed: Agreement = NEWTON) -> LocalParty:
    """All that a party's program knows when it begins, for the first time or anew."""
    return LocalParty(name, FOUR.federation.by_name[name], agreed, ROOT.fork(f"party {name}"))


def test_a_program_that_begins_anew_answers_as_one_that_went_on_and_no_question_twice() -> None:
    """Sums 0 and 1 were answered, and the second is asked for once more, after another sum 0."""
    session = NEWTON.session(ROOT).session
    S = tuple(range(-2, 3))  # a gradient and a curvature in two dimensions
    inputs = own(NAMES[0]).inputs(session)
    went_on = own(NAMES[0]).answers(session, inputs)
    for said in ((), (S,)):
        inputs = (*inputs, asked(inputs, session, said))
        assert inputs[-1] == went_on(said)
    other = (tuple(x + 2**24 for x in S),)
    with refused("sum.out_of_turn", number=1, count=8, answered=2):
        asked(inputs, session, other)


def asked(inputs: tuple[Any, ...], session: Session, values: tuple[Any, ...]) -> Any:
    """What a program answers that begins anew."""
    home = own(NAMES[0]).answers(session, inputs)
    return home(values)


def test_who_is_asked_nothing_has_nobody_at_home_and_trains_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a single sum or the curator protocol needs is in the state: whoever resumes it need not train again."""
    for agreed in (sum_agreement(FOUR, ClippedAverage(0.1), colluders=1), sum_agreement(FOUR), agreement(FOUR)):
        session = agreed.session(ROOT).session
        inputs = own(NAMES[0], agreed).inputs(session)
        assert len(inputs) == 2
        with monkeypatch.context() as patched:
            patched.setattr(LocalParty, "contribution", property(lambda _: pytest.fail("a party trained")))
            assert own(NAMES[0], agreed).answers(session, inputs) is None
            with pytest.raises(pytest.fail.Exception, match="trained"):
                own(NAMES[0], agreed).inputs(session)


def test_what_goes_in_follows_from_the_rows_and_the_coins() -> None:
    """So it is the same whenever it is made. Twin: other coins."""
    agreed = sum_agreement(FOUR)
    session = agreed.session(ROOT).session
    one, again = (own(NAMES[0], agreed).inputs(session) for _ in range(2))
    other = replace(own(NAMES[0], agreed), rng=ROOT.fork("other")).inputs(session)
    assert one == again != other


def test_a_part_looks_at_its_rows_before_it_trains() -> None:
    """At how many there are; and where the method needs both classes, at those of the table that they came from."""
    few = own(NAMES[0], replace(NEWTON, terms=replace(NEWTON.terms, most_rows=3)))
    mean = own(NAMES[0], agreement(FOUR))
    of_one = replace(mean, table=Table("a file", {"outcome": ["no"] * 12}, range(12)))
    of_one = replace(of_one, rows=Rows(mean.rows.X, np.zeros(12, dtype=np.int64)))
    for unfit, code in ((few, "party.more_rows_than_announced"), (of_one, "rows.one_class")):
        for begun in (unfit.check, lambda part=unfit: part.contribution):
            with refused(code):
                begun()
    mean.check()
    replace(of_one, agreement=NEWTON).check()  # sums do without the other class, and say nothing of it


@pytest.mark.parametrize("given", [{"target": Target(Fraction(1, 10**9))}, {"lam": 1e-9}, {"ring_bits": 40}])
def test_numbers_that_may_be_too_large_for_the_grid_are_refused_whatever_the_rows_are(given: dict[str, Any]) -> None:
    part = own(NAMES[0], agreement(FOUR, **given))
    for unfit in (part, replace(part, rows=replace(part.rows, X=0 * part.rows.X))):
        with refused("grid.too_small", at=f"party {NAMES[0]}"):
            unfit.check()


def test_a_party_beyond_the_public_cap_on_rows_is_refused() -> None:
    big = Rows(np.broadcast_to(np.zeros(1), (10**7 + 1, 1)), np.zeros(1, dtype=np.int64))
    with refused("party.too_many_rows", at=f"party {NAMES[0]}", most=10000000, got=10000001):
        replace(own(NAMES[0], agreement(FOUR)), rows=big).check()


def test_steps_as_printed_draw_the_noise_of_the_mean_and_refuse_another_calibration() -> None:
    """They multiply it by K; drawn for the sum, as in our own steps, it would come out K times too large."""
    printed, ours, public = PathakMean(0.1, as_published=True), PathakMean(0.1), Public(5, 31, 2)
    target = Target(1, "paper")
    assert printed.distribution(target, 91, public).scale * 5 == ours.distribution(target, 91, public).scale
    assert float(printed.distribution(target, 91, public).scale) == pytest.approx(2 / (91 * 1 * 0.1) * 2**40, rel=1e-12)
    assert printed.functionality(public, target).times == 5
    with refused("calibration.of_printed_steps"):
        agreement(FOUR, Target(1), as_printed=True)
