"""The secure sum is the ideal one, integer for integer, and bound to its session, roster, number and query."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.sessions import Setup, with_roles
from support.sums import Ledger, Loose, made, outcome, parameters, simulated, wrong

from protocols.arithmetic.rng import Stream
from protocols.crypto import masking
from protocols.curator import CURATOR_NAME
from protocols.errors import LocalError
from protocols.runtime.attestation import encode_statement, signing_input
from protocols.runtime.endpoint import Endpoint
from protocols.runtime.session import Program
from protocols.secure_sum import PROGRAM, complete, ideal, publishing, roster, setup, steps, sums
from protocols.secure_sum.messages import Ended, Result
from protocols.secure_sum.parameters import SHARES, Parameters, most_dropouts, stage
from protocols.secure_sum.values import CuratorState
from tests.support.refusals import refused


@st.composite
def sessions(draw: st.DrawFn) -> Parameters:
    """Any K up to 6, both profiles, one to three sums of other lengths, rings of 8 to 1024 bits."""
    K = draw(st.integers(2, 6))
    t = draw(st.integers(0, K - 1))
    D = draw(st.integers(0, most_dropouts(K, t)))
    lengths = tuple(draw(st.lists(st.integers(1, 5), min_size=1, max_size=3)))
    bits = 8 * draw(st.sampled_from([1, 2, 7, 8, 9, 32, 128]))
    if D == 0 and draw(st.booleans()):
        return parameters(K, t, D, lengths[:1], bits, output=SHARES)
    return parameters(K, t, D, lengths, bits, verifiable=draw(st.booleans()))


def is_ideal(p: Parameters, seed: int) -> bool:
    session, ledger = made(p, seed), Ledger()
    left = outcome(simulated(session, ledger))
    if p.output == SHARES:
        whole = ideal.agrees(p, session.inputs, left.published)
        return whole and wrong(session, left, ledger) == [] and len(ledger.charged) == p.K
    (said,) = left.published.values()
    everybody = (p.everybody,) * p.R
    assert wrong(session, left, ledger) == []
    assert len(ledger.charged) == p.K * p.R
    assert all(result.members == everybody for result in left.results.values())
    return bool(said.members == everybody and ideal.agrees(p, session.inputs, left.published))


@settings(max_examples=8, suppress_health_check=[HealthCheck.too_slow])
@given(sessions(), st.integers(0, 99))
def test_the_sum_is_the_ideal_one(p: Parameters, seed: int) -> None:
    assert is_ideal(p, seed)


@pytest.mark.slow
@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(sessions(), st.integers(0, 10**6))
def test_many_sums_are_the_ideal_ones(p: Parameters, seed: int) -> None:
    assert is_ideal(p, seed)


@pytest.mark.slow
def test_eighty_parties_come_to_the_ideal_sum() -> None:
    assert is_ideal(parameters(80, 79, 0, (1,)), 1)


def test_an_input_of_another_length_is_refused() -> None:
    session = made(parameters(3, 0, 1, (2, 1)))
    p, mine = session.inputs["P1"]
    fewer, other = replace(mine, numbers=mine.numbers[:1]), replace(mine, noise=((1,), *mine.noise[1:]))
    for wrong_input in (fewer, other, mine.unspent(1)):
        broken = session._replace(inputs={**session.inputs, "P1": (p, wrong_input)})
        with refused("numbers.of_other_lengths", error=LocalError):
            broken.simulate()


# What masks and statements are bound to.


def contexts(session: Setup) -> list[bytes]:
    """Of all sums, as Charlie reads them."""
    run = session.simulate(views=True)
    read = [message for _, message in run.views[CURATOR_NAME].messages if type(message).__name__ == "Masked"]
    assert all(len({m.context for m in read[r * 3 : r * 3 + 3]}) == 1 for r in range(len(read) // 3))
    return [message.context for message in read[::3]]


@pytest.mark.parametrize("D", [0, 1])
def test_the_context_differs_for_each_sum_session_roster_and_result(D: int) -> None:
    p = parameters(3, 0, D, (1, 1, 1))
    session = made(p)
    first = contexts(session)
    other_nonce = session._replace(session=replace(session.session, nonce=bytes(32)))
    other_keys = session._replace(seeds={**session.seeds, "P2": Stream.insecure_from_seed("another")})
    mine = session.inputs["P1"][1]
    more = replace(mine, numbers=((mine.numbers[0][0] ^ 1,), *mine.numbers[1:]))
    other_numbers = session._replace(inputs={**session.inputs, "P1": (p, more)})
    seen = [*first, *contexts(other_nonce), *contexts(other_keys)]
    assert len(set(seen)) == 9
    again = contexts(other_numbers)
    assert again[0] == first[0]
    assert not set(again[1:]) & set(seen)  # the second query depends on the first result


# Charlie tells one party another sum.


def lying(session: Setup, victim: str) -> Program:
    """A Charlie who tells one party that the first sum is another, with his signature; two statements about one sum,
    which his own actor would not sign.
    """

    def announce(
        me: Endpoint, p: Parameters, state: CuratorState, r: int, members: int, S: Any, opening: Any
    ) -> CuratorState:
        at = roster.sum_context(me.session_id, state.vault.roster, r, state.vault.query)
        for name in p.parties:
            told = (S[0] ^ 1, *S[1:]) if name == victim and r == 0 else S
            said = Ended(at, members, masking.digest(told, p.width))
            bytes_ = signing_input(
                me.session_id, me.name, "Ended", encode_statement(session.session, me.name, said, {})
            )
            me.send(name, Result(told, session.identities[me.name].sign(bytes_)))
        return replace(state, vault=steps.vault_after(me, p, state.vault, r, members, S))

    async def curator(me: Endpoint, p: Parameters) -> Any:
        state = await me.stage(setup.curator, p)
        for r in range(p.R):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(steps, "announce_result", announce)
                one = sums.curator if p.D else complete.curator
                state = await me.stage(one, p, state, r, name=stage(r), replaces=True)
        return await me.stage(publishing.publish_sums, p, state, replaces=True)

    return with_roles(PROGRAM, curator=curator)


@pytest.mark.parametrize("D", [0, 1])
def test_who_was_told_another_sum_is_out_by_itself(D: int) -> None:
    """With D = 1 the others' second sum is right without it; with D = 0 there is no second sum."""
    honest = made(parameters(3, 0, D, (2, 1)))
    session = honest._replace(session=replace(honest.session, program=lying(honest, "P2")))
    loose = Loose(session, Stream.insecure_from_seed("lie"))
    left = loose.run()
    doubted = [note.rule.code for note in loose.roles[CURATOR_NAME].notes]
    assert doubted == ["sum.masked_otherwise"]
    if not D:
        assert (left.published, loose.raised) == ({}, {})
        return
    assert left.published[CURATOR_NAME].members == (0b111, 0b101)
    assert {name: (error.culprit, error.broken.code) for name, error in loose.raised.items()} == {
        "P2": (CURATOR_NAME, "survivors.too_few_signatures")
    }
    assert wrong(session, left, loose.ledger) == []
