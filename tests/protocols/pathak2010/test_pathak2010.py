"""The protocol computes its ideal functionality, integer for integer; the printed one shows its defects."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial
from itertools import permutations

import pytest
from broken import pathak_mutants as mutants
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare
from support.pathak import Trial, lifted, released, trial
from support.sessions import with_roles
from support.toy import paillier_key

from protocols.arithmetic.permutation import Permutation
from protocols.arithmetic.rng import Stream
from protocols.comparison.messages import ComparisonKey
from protocols.crypto import admission, dgk, paillier
from protocols.errors import LocalError, PeerError
from protocols.pathak2010 import PROGRAM, as_published, ideal, minimum, stage1
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
    changes = {
        "parameters.missing": ({"dimension": True}, {"parties": [1, 2]}),
        "pathak2010.parameters_not_derived": ({"sigma": 1}, {"more": 1}, {"exponents": "full"}),
    }
    for code, change in ((code, change) for code, of in changes.items() for change in of):
        with refused(code, error=LocalError):
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
def test_equal_sizes_choose_every_party_equally_often() -> None:
    noise = [[1], [2], [3]]
    chosen = Counter(
        lifted(released((t := trial([7, 7, 7], 1, seed, weights=[[0]] * 3, noise=noise)).run(), t.parameters))[0]
        for seed in range(90)
    )
    assert set(chosen) == {1, 2, 3}
    assert chisquare(list(chosen.values())).pvalue > 1e-6


@pytest.mark.parametrize("K", [2, 3, 4])
def test_both_permutations_are_undone(K: int) -> None:
    """For every pi_1 and pi_2 the indicator with both undone marks a smallest size."""
    sizes = [5, 3, 9, 3][:K]
    for pi1 in map(Permutation, permutations(range(K))):
        for pi2 in map(Permutation, permutations(range(K))):
            blinded = pi2(pi1(sizes))
            j_tilde = blinded.index(min(blinded))
            u = [int(place == j_tilde) for place in range(K)]
            v = pi1.inverse(pi2.inverse(u))
            assert sizes[v.index(1)] == min(sizes)
            swapped = pi2.inverse(pi1.inverse(u))  # the broken twin: undone in the wrong order
            if pi1(pi2(sizes)) != blinded:
                wrong = sizes[swapped.index(1)] != min(sizes)
                assert wrong or Counter(sizes)[min(sizes)] > 1 or swapped == v


@pytest.mark.parametrize("kind", ["tournament", "all-pairs"])
@pytest.mark.parametrize("K", [2, 3, 4, 5, 7])
def test_searches_find_the_minimum(kind: str, K: int) -> None:
    rng = Stream.insecure_from_seed(K)
    for _ in range(50):
        ranks = Permutation.random(K, rng).images
        search, asked = minimum.search(kind, K), 0
        while not search.found:
            asked += len(search.pairs)
            search = search.after([int(ranks[i] < ranks[j]) for i, j in search.pairs])
        assert ranks[search.winner] == 0
        assert asked == minimum.comparisons(kind, K)


@pytest.mark.slow
def test_printed_protocol_publishes_the_weights_modulo_k() -> None:
    """K(eta + s) on integers: the release is congruent to the sum of the weights mod K, without noise. Ours is not."""
    leaks = hidden = 0
    for seed in range(6):
        for printed in (True, False):
            t = trial([10, 20, 30, 40, 50], 3, seed, printed=printed)
            W = [sum(column) for column in zip(*(lifted(x.w) for x in t.inputs), strict=True)]
            S = lifted(released(t.run(), t.parameters))
            equal = [(s - w) % 5 == 0 for s, w in zip(S, W, strict=True)]
            leaks += printed and all(equal)
            hidden += not printed and not all(equal)
    assert leaks == 6
    assert hidden == 6


@pytest.mark.slow
def test_residues_of_the_release_are_uniform() -> None:
    """S - sum w_j mod K is that of the noise, uniform on a wide range here; the literal K eta is always zero."""
    K, counts = 3, Counter()
    rng = Stream.insecure_from_seed("residues")
    for seed in range(60):
        noise = [[rng.bits(40) for _ in range(4)] for _ in range(K)]
        t = trial([5, 6, 7], 4, seed, noise=noise)
        W = [sum(column) for column in zip(*(lifted(x.w) for x in t.inputs), strict=True)]
        counts.update((s - w) % K for s, w in zip(lifted(released(t.run(), t.parameters)), W, strict=True))
    assert chisquare([counts[r] for r in range(K)]).pvalue > 1e-6
    literal = [K * 60 * 4 if r == 0 else 0 for r in range(K)]
    assert chisquare(literal).pvalue < 1e-12


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"parties": ("A",)}, "parties.too_few_or_twice"),
        ({"parties": ("A", "A")}, "parties.too_few_or_twice"),
        ({"dimension": 0}, "vectors.no_dimension_or_ring"),
        ({"ring_bits": 60}, "vectors.no_dimension_or_ring"),
        ({"comparison": "guess"}, "comparison.unknown"),
        ({"exponents": "long"}, "exponents.unknown"),
        ({"key_bits": 128}, "key_bits.without_room"),
        ({"key_bits": 515}, "key_bits.without_room"),
    ],
)
def test_parameters_refuse(change: dict[str, object], code: str) -> None:
    with refused(code, error=LocalError):
        Parameters(**{"parties": ("A", "B"), "dimension": 2, "key_bits": 512} | change)  # type: ignore[arg-type]


def test_widths_leave_room() -> None:
    """The inequalities behind the masks, written out again: no plaintext wraps, no slot carries."""
    for K in (2, 5, 50, 1000):
        for d in (1, 31, 124, 1000):
            p = Parameters(tuple(f"P{j}" for j in range(K)), d)
            assert 2**32 * 2**p.tie_bits <= p.sizes.modulus // 2
            assert p.sizes.modulus + 2**p.blind_bits < 2 ** (p.key_bits - 1)
            assert p.weights.modulus + 2**p.mask_bits <= 2**p.packing_slot_bits
            assert p.packing.slots * p.packing_slot_bits < p.key_bits
            assert p.mask_bits - p.ring_bits >= 64 + (d - 1).bit_length()


@pytest.mark.slow
def test_real_keys() -> None:
    t = trial([40, 30, 50], 31)
    real = Trial(Parameters(t.parameters.parties, 31), t.inputs)
    assert released(real.run(), real.parameters) == ideal.functionality(real.parameters, real.inputs, real.ties)


@pytest.mark.parametrize(
    ("program", "place"),
    [(mutants.REFRESHED_BLINDING, "Blinded.a"), (mutants.REFRESHED_MASK, "Masked.psi")],
    ids=["Blinded.a", "Masked.psi"],
)
def test_what_is_merely_refreshed_does_not_return_to_the_owner_of_its_key(program: Program, place: str) -> None:
    with refused("ciphertext.not_blinded", error=LocalError) as caught:
        replace(trial([5, 6, 7]), program=program).run()
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
