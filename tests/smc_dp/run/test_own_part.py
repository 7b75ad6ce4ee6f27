"""One party's whole part: what a simulation and a site of its own have in common, and what outlives a process."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest
from support import byte_steps
from support.audited import agreement, hospitals, sum_agreement

from protocols.arithmetic.rng import Stream
from protocols.runtime import replay
from protocols.runtime.actor import Actor, LocalProgram
from protocols.runtime.envelope import HELLO, Envelope
from protocols.runtime.session import Session
from smc_dp.data.federation import Rows
from smc_dp.data.table import Table
from smc_dp.methods.gradients.newton import Newton
from smc_dp.methods.sums.clipped_average import ClippedAverage
from smc_dp.run.agreement import Agreement
from smc_dp.run.party import LocalParty
from smc_dp.run.protocols import execution
from smc_dp.run.protocols.execution import SimulatedSession
from tests.support.refusals import refused

ROOT = Stream.insecure_from_seed("own part")
FOUR = hospitals((12, 8, 20, 9), 2)
NAMES = FOUR.federation.names
NEWTON = sum_agreement(FOUR, Newton(), colluders=1, dropouts=1, most_rows=100)


def own(name: str, agreed: Agreement = NEWTON) -> LocalParty:
    """All that a party's program knows when it begins, for the first time or anew."""
    return LocalParty(name, FOUR.federation.by_name[name], agreed, ROOT.fork(f"party {name}"))


class Held(NamedTuple):
    """A session that was held in one process, and its envelopes."""

    taking_part: SimulatedSession
    envelopes: list[Envelope]


@pytest.fixture(scope="module")
def held() -> Held:
    taking_part = NEWTON.session(ROOT.fork("protocol"))
    parts = [own(name).contribution for name in NAMES]
    outcome = execution.run_session(NEWTON.functionality, parts, taking_part, rng=ROOT.fork("protocol"))
    assert outcome.execution is not None
    return Held(taking_part, list(outcome.execution.transcript.envelopes))


AtHome = Callable[[LocalParty, Session, tuple[Any, ...]], LocalProgram | None]


def alone(held: Held, name: str, at_home: AtHome = LocalParty.answers) -> list[Envelope]:
    """What a party sends whose program begins anew after every letter: of its actor nothing is left but the state."""
    session, me, mail = held.taking_part.session, held.taking_part.identities[name], held.envelopes
    board = {e.sender: e for e in mail if e.kind == HELLO}
    seed = ROOT.fork("protocol").fork(f"seed {name}")
    first = byte_steps.begin(session, name, me, seed, own(name).inputs(session), board)
    state, counter, sent = first.state, first.counter, list(first.mail)
    for letter in [e for e in mail if e.to == name]:
        actor = resumed(held, name, board, state, counter, at_home)
        sent += actor.advance()
        actor.deliver(letter)
        sent += actor.advance()
        state, counter = replay.save(actor), actor.counter
        actor.close()
    return sent


def resumed(held: Held, name: str, board: Mapping[str, Envelope], state: bytes, counter: int, at_home: AtHome) -> Actor:
    """A new actor; who is at home is known at the first question, from the inputs that came with the state."""
    session, me = held.taking_part.session, held.taking_part.identities[name]

    def answer(*said: Any) -> Any:
        home = at_home(own(name), session, actor.inputs)
        return home(*said) if home else None

    actor = replay.resume(session, state, me, counter, board, local_program=answer)
    return actor


@pytest.mark.parametrize("name", NAMES[:2])
def test_begun_anew_after_every_letter_every_byte_is_the_same(held: Held, name: str) -> None:
    """Of eight sums of `newton`, one after the other."""
    wanted = [(e.header, e.body) for e in held.envelopes if e.sender == name]
    assert [(e.header, e.body) for e in alone(held, name)] == wanted
    assert sum(e.kind == "Masked" for e in held.envelopes if e.sender == name) == 8


def test_a_home_whose_count_is_lost_does_not_go_on(held: Held) -> None:
    """The twin begins from 0 each time: what it is asked next is not its first sum."""
    with refused("sum.out_of_turn", number=1, count=8, answered=0):
        alone(held, NAMES[0], lambda part, session, inputs: part.answers(session, inputs[:2]))


def test_an_older_question_is_not_answered_again(held: Held) -> None:
    """Sums 0 and 1 were answered, and the second is asked for once more, after another sum 0."""
    session = held.taking_part.session
    S = tuple(range(-2, 3))  # a gradient and a curvature in two dimensions
    inputs = own(NAMES[0]).inputs(session)
    for said in ((), (S,)):
        inputs = (*inputs, asked(inputs, session, said))
    other = (tuple(x + 2**24 for x in S),)
    with refused("sum.out_of_turn", number=1, count=8, answered=2):
        asked(inputs, session, other)


def asked(inputs: tuple[Any, ...], session: Session, values: tuple[Any, ...]) -> Any:
    """What a program answers that begins anew."""
    home = own(NAMES[0]).answers(session, inputs)
    assert home is not None
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
