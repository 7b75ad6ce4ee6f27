"""The protocol computes its ideal functionality, integer for integer; the printed one shows its defects."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest
from broken.curator_twins import planted
from hypothesis import given, settings
from hypothesis import strategies as st
from support.pathak import Trial, lifted, released, trial
from support.sessions import with_roles
from support.toy import paillier_key

from protocols.arithmetic.permutation import Permutation
from protocols.comparison.messages import ComparisonKey
from protocols.crypto import admission, dgk, paillier
from protocols.errors import LocalError, PeerError
from protocols.pathak2010 import PROGRAM, as_published, ideal, stage1
from protocols.pathak2010.messages import PaillierKey
from protocols.pathak2010.parameters import Parameters
from protocols.pathak2010.values import PartyKeys
from protocols.runtime.endpoint import Endpoint
from protocols.runtime.message import CURATOR
from protocols.runtime.session import Program
from tests.support.refusals import refused

SIZES = st.one_of(st.integers(1, 3), st.integers(1, 2**32 - 1), st.sampled_from([1, 2**32 - 1]))
SIGNED = st.integers(-(2**63), 2**63 - 1)


@st.composite
def trials(draw: st.DrawFn) -> Trial:
    K, d = draw(st.integers(2, 5)), draw(st.integers(1, 5))
    vectors = st.lists(st.lists(SIGNED, min_size=d, max_size=d), min_size=K, max_size=K)
    return trial(
        draw(st.lists(SIZES, min_size=K, max_size=K)),
        d,
        draw(st.integers(0, 2**32)),
        weights=draw(vectors),
        noise=draw(vectors),
        comparison=draw(st.sampled_from(["tournament", "all-pairs"])),
    )


@settings(max_examples=8)
@given(trials())
def test_equals_the_ideal_functionality_on_shared_coins(t: Trial) -> None:
    p = t.parameters
    assert released(t.run(), p) == ideal.functionality(p, t.inputs, t.ties)


def test_sum_is_that_of_independent_integers() -> None:
    weights, noise = [[5, -7], [100, 2**40], [-3, -(2**41)]], [[1, 2], [-1000, 3], [7, -8]]
    t = trial([50, 20, 30], weights=weights, noise=noise)
    plain = [sum(column) + e for column, e in zip(zip(*weights, strict=True), noise[1], strict=True)]
    assert lifted(released(t.run(), t.parameters)) == plain


def test_parameters_are_read_back_and_no_others() -> None:
    """Transcripts from before there was a choice do not say that exponents are full."""
    for exponents in ("full", "short"):
        p = Parameters(("A", "B"), 3, 512, exponents=exponents)
        assert Parameters.from_dict(p.as_dict()) == p
        assert ("exponents" in p.as_dict()) == (exponents == "short")
        assert (ideal.SHORT_EXPONENTS_ASSUMPTION in ideal.assumed(p)) == (exponents == "short")
    for change in ({"dimension": True}, {"parties": [1, 2]}, {"sigma": 1}, {"more": 1}, {"exponents": "full"}):
        with refused("parameters.not_as_written", error=LocalError, name=next(iter(change))):
            Parameters.from_dict(p.as_dict() | change)


def test_a_party_without_a_comparison_key_compares_nothing() -> None:
    async def without(me: Endpoint, p: Parameters, mine: object) -> None:
        await me.stage(stage1.compare, p, PartyKeys(xi, xi.public, Permutation((0, 1)), None), [])

    xi = paillier_key("xi")
    with refused("comparison.without_a_key", error=LocalError, name="P1"):
        replace(trial([1, 2]), program=with_roles(PROGRAM, party=without)).run()


@pytest.mark.parametrize("program", [as_published.PROGRAM, as_published.PLAIN_BLINDING], ids=["as published", "plain"])
def test_both_readings_of_the_published_steps_add_up_to_k_times_the_noise(program: Program) -> None:
    """And the sum without K, or with the noise of another party, is none of theirs."""
    t = replace(trial([5, 2, 9], printed=True), program=program)
    p, published = t.parameters, t.run().published
    inputs = {name: (p, x) for name, x in zip(p.parties, t.inputs, strict=True)}
    agrees = partial(as_published.agrees_as_published, p, published=published)
    assert agrees(inputs)
    for name, change in (("P2", {"n": 6}), ("P2", {"eta": (0, 0)}), ("P1", {"w": (0, 0)})):
        assert not agrees(inputs | {name: (p, replace(inputs[name][1], **change))})


def test_ring_wraps_silently() -> None:
    top = 2**63 - 1
    t = trial([9, 3], 1, weights=[[top], [top]], noise=[[0], [top]])
    assert lifted(released(t.run(), t.parameters)) == [3 * top - 2**65 + 2**64]


@pytest.mark.slow
def test_real_keys() -> None:
    t = trial([40, 30, 50], 31)
    real = Trial(Parameters(t.parameters.parties, 31), t.inputs)
    assert released(real.run(), real.parameters) == ideal.functionality(real.parameters, real.inputs, real.ties)


@pytest.mark.parametrize(
    ("letter", "place"),
    [("r", "Blinded.a"), ("s", "Masked.psi")],
)
def test_what_is_merely_refreshed_does_not_return_to_the_owner_of_its_key(letter: str, place: str) -> None:
    twin = f"{letter} is added to what is merely refreshed"
    with planted(twin), refused("ciphertext.not_blinded", error=LocalError) as caught:
        trial([5, 6, 7]).run()
    assert caught.value.fault.place == f"{place}: "


def test_parties_who_were_shown_different_keys_get_no_further() -> None:
    """A Charlie with a key for each party could tell them apart by it later; their commitments are to the keys."""

    async def two_faced(me: Endpoint, p: Parameters) -> None:
        await me.stage(shows_two_keys, p, name="setup")

    async def shows_two_keys(me: Endpoint, p: Parameters) -> None:
        for name in me.parties:
            key = paillier.generate(p.key_bits, me.rng)
            proof = admission.prove(key, me.session_id + me.name.encode())
            me.send(name, PaillierKey(key.public.n, proof))
        compare = dgk.generate(p.key_bits, p.u, me.rng).public
        me.send(me.parties[0], ComparisonKey(compare.n, compare.g, compare.h))
        await me.receive(me.parties[0], PaillierKey)

    t = trial([5, 6, 7])
    program = replace(t.program, roles={**t.program.roles, CURATOR: two_faced})
    with refused("coin.not_as_committed_or_other_keys", error=PeerError):
        replace(t, program=program).run()


def test_vectors_of_the_wrong_length_are_refused() -> None:
    t = trial([5, 6], 2)
    short = [replace(x, eta=x.eta[:1]) for x in t.inputs]
    with refused("vector.of_another_length", error=LocalError, dimension=2, length=1):
        replace(t, inputs=short).run()
