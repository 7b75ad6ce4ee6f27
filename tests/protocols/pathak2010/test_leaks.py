"""Attacks: each succeeds on the printed protocol, on a mutant, or on a coalition that is not claimed; none on ours.

Those that have a name in `smc_dp.attacks` are tested there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from statistics import median

import pytest
from broken.curator_twins import planted
from support import byte_steps
from support.canaries import canaries
from support.pathak import Trial, lifted, released, trial

from protocols.arithmetic.permutation import Permutation
from protocols.arithmetic.rng import Stream
from protocols.crypto import paillier, sealing
from protocols.curator import CURATOR_NAME
from protocols.pathak2010 import PROGRAM, ideal, minimum, noisy_sum_claims, parameters, setup
from protocols.pathak2010.parameters import COMPARISONS, Parameters
from protocols.programs import PROTOCOLS
from protocols.runtime import state as states
from protocols.runtime.claims import public_fields, readings
from protocols.runtime.envelope import signed_payload
from protocols.runtime.simulate import Run, Setting
from smc_dp.leakage.limitations import try_attacks
from smc_dp.privacy.statement import security_bits


def watched(t: Trial) -> Run:
    return t.run(Setting(views=True))


# Step 1.2: who sends to whom.


def traffic(run: Run) -> list[tuple[str, str, str, str, int, int]]:
    """What the wire record tells without any key, apart from digests of ciphertexts."""
    return [(e.sender, e.to, e.kind, e.stage, e.number, e.size) for e in run.transcript.envelopes]


def visible_edges(t: Trial, monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    """How many different wire records, and how many different sets of public fields in Charlie's mail, permutations of
    three parties make, all else being equal.
    """
    records, fields = set(), set()
    for images in ((0, 1, 2), (1, 0, 2), (2, 0, 1)):
        monkeypatch.setattr(setup, "permutation", lambda seeds, size, images=images: Permutation(images))
        run = watched(t)
        assert {run.views[name].results[0].pi1.images for name in t.parameters.parties} == {images}
        records.add(tuple(traffic(run)))
        fields.add(tuple((place, tuple(values)) for place, values in public_fields(run.views[CURATOR_NAME]).items()))
    return len(records), len(fields)


@pytest.mark.parametrize("kind", ["tournament", "all-pairs"])
def test_neither_the_wire_nor_charlies_public_fields_move_with_pi_1(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert visible_edges(trial([10, 20, 30], 2, comparison=kind), monkeypatch) == (1, 1)


def test_as_printed_both_show_pi_1(monkeypatch: pytest.MonkeyPatch) -> None:
    assert visible_edges(trial([10, 20, 30], 2, printed=True), monkeypatch) == (3, 3)


@pytest.mark.parametrize("kind", ["tournament", "all-pairs"])
def test_the_wire_is_the_same_for_all_data_and_all_coins(kind: str) -> None:
    worlds = [
        trial(sizes, 3, seed, comparison=kind, weights=[[w] * 3] * 4, noise=[[w] * 3] * 4)
        for seed, (sizes, w) in enumerate((([0] * 4, 0), ([2**32 - 1] * 4, -1), ([9, 1, 5, 1], 2**62)))
    ]
    assert len({tuple(traffic(t.run())) for t in worlds}) == 1


# What is not claimed: every such sentence comes true.

SIZES = [0x6B1D0F35, 0x5EC4E701, 0x7A93C2E9]  # P2 is the smallest
WEIGHTS = [[0x1B7A_45D2_9C03_E861], [0x2F60_8A1C_77B4_D093], [0x3A95_C4E7_061F_B528]]
ETA = [[0x4C1E_D8B3_5F72_0A96], [0x5D07_1B6A_E2C9_4F38], [0x6E82_F045_3B9D_C17A]]


def marked() -> Trial:
    return trial(SIZES, 1, "not claimed", weights=WEIGHTS, noise=ETA)


def read_together(names: Sequence[str]) -> dict[str, bool]:
    """Which distinctive numbers these participants find in what they read together."""
    t = marked()
    views = watched(t).views
    found, p = readings(*(views[name] for name in names)), t.parameters
    numbers = {f"{what}{j + 1}": x[j][0] for j in range(3) for what, x in (("w", WEIGHTS), ("eta", ETA))}
    sizes = {f"n{j + 1}": SIZES[j] for j in range(3)}
    seen = {*canaries(found, numbers, p.weights.modulus), *canaries(found, sizes, p.sizes.modulus, p.tie_bits)}
    return {name: name in seen for name in (*sizes, *numbers)}


def the_smallest_strips_its_noise() -> None:
    t = marked()
    p = t.parameters
    S = released(t.run(), p)
    assert p.weights.subtract_vectors(S, t.inputs[1].eta) == p.weights.vector([sum(w[0] for w in WEIGHTS)])
    assert p.weights.subtract_vectors(S, t.inputs[0].eta) != p.weights.vector([sum(w[0] for w in WEIGHTS)])


def charlie_and_any_party_find_every_size() -> None:
    for party in ("P1", "P2", "P3"):
        found = read_together([CURATOR_NAME, party])
        assert all(found[f"n{j + 1}"] for j in range(3))
        assert not any(found[f"w{j + 1}"] for j in range(3))
        assert party == "P1" or not found["eta2"]


def charlie_and_the_first_party_find_the_selected_noise() -> None:
    found = read_together([CURATOR_NAME, "P1"])
    assert found["eta2"]
    assert not found["eta1"]
    assert not found["eta3"]


def the_release_tells_of_the_smallest_size() -> None:
    """The same models, and noise of scale 2**50 / n for n = 10 and n = 1000: the release of one is far larger."""
    spread = []
    for n in (10, 1000):
        rng, seen = Stream.insecure_from_seed(f"scale {n}"), []
        for seed in range(40):
            noise = [[rng.below((1 << 51) // n) - (1 << 50) // n] for _ in range(2)]
            t = trial([n, 2 * n], 1, seed, weights=[[7], [8]], noise=noise)
            seen.append(abs(lifted(ideal.functionality(t.parameters, t.inputs, (0, 0)))[0]))
        spread.append(median(seen))
    assert spread[0] > 20 * spread[1]


def a_malicious_charlie_selects_no_noise() -> None:
    t = marked()
    with planted("nothing is selected"):
        run = t.run()
    assert released(run, t.parameters) == t.parameters.weights.vector([sum(w[0] for w in WEIGHTS)])


def one_party_enters_no_rows_and_no_noise() -> None:
    t = marked()
    p, w = t.parameters, [sum(w[0] for w in WEIGHTS)]
    for own in ([0], [5]):  # none, or noise that it can subtract and nobody else
        inputs = list(t.inputs)
        inputs[2] = replace(inputs[2], n=0, eta=p.weights.vector(own))
        released_then = released(replace(t, inputs=tuple(inputs)).run(), p)
        assert p.weights.subtract_vectors(released_then, p.weights.vector(own)) == p.weights.vector(w)


def the_last_ones_weights_are_all_that_is_left() -> None:
    t = marked()
    views, p = watched(t).views, t.parameters
    S = released(t.run(), p)
    for left, others in (("P1", ("P2", "P3")), ("P3", ("P1", "P2"))):
        found = noisy_sum_claims.weights_of_the_last(p, [views[name] for name in others], S)
        assert found == p.weights.vector(WEIGHTS[int(left[1:]) - 1])
    assert noisy_sum_claims.weights_of_the_last(p, [views["P1"], views["P3"]], S) != p.weights.vector(WEIGHTS[1])


def a_first_party_that_lies_once_sees_by_the_refusal_how_two_places_stand() -> None:
    """Of three places: refused exactly if the two are the smallest and the largest, for any ranking and any pair."""
    search = minimum.search("all-pairs", 3)
    for rank in permutations(range(3)):
        for lie in range(len(search.pairs)):
            answers = [int(rank[i] < rank[j]) ^ (k == lie) for k, (i, j) in enumerate(search.pairs)]
            after, ends = search.after(answers), {rank[i] for i in search.pairs[lie]} == {0, 2}
            with pytest.raises(ValueError, match="no place") if ends else nullcontext():
                assert after.winner in range(3)


def a_state_has_the_input_and_the_keys_of_its_owner() -> None:
    session, identities, seeds, inputs = trial([5, 7], 1).setup
    first = byte_steps.begin(session, "P1", identities["P1"], seeds["P1"], inputs["P1"])
    kept = states.load_state(first.state, (*session.program.records, type(session.parameters)))
    assert kept["role"][3] == inputs["P1"]
    assert signed_payload(first.mail[0]).startswith(sealing.public_key(kept["channel"][0]))


BEYOND = {
    "If an attacker reads the memory of a participant": a_state_has_the_input_and_the_keys_of_its_owner,
    "One malicious party removes all noise": one_party_enters_no_rows_and_no_noise,
    "A malicious Charlie removes all noise": a_malicious_charlie_selects_no_noise,
    "All parties but one, with the smallest among them": the_last_ones_weights_are_all_that_is_left,
    "Where all pairs are compared": a_first_party_that_lies_once_sees_by_the_refusal_how_two_places_stand,
    "The party with the smallest data set knows": the_smallest_strips_its_noise,
    "Charlie together with any party learns every size": charlie_and_any_party_find_every_size,
    "Charlie together with P_1, the first party, learns the noise": charlie_and_the_first_party_find_the_selected_noise,
    "The size of the smallest data set sets the scale": the_release_tells_of_the_smallest_size,
}


@pytest.mark.parametrize("sentence", [unclaimed.sentence for unclaimed in ideal.CLAIM.limitations])
def test_what_is_not_claimed_is_really_lost(sentence: str) -> None:
    shown: list[Callable[[], None]] = [show for start, show in BEYOND.items() if sentence.startswith(start)]
    assert len(shown) == 1
    shown[0]()


@pytest.mark.parametrize(("K", "kind"), [(2, "all-pairs"), (4, "tournament")])
def test_attacks_succeed_for_other_numbers_of_parties_and_in_all_pairs(K: int, kind: str) -> None:
    """Whoever is the smallest, P_1 among them."""
    p = trial([1] * K, 2, comparison=kind).parameters
    for one in try_attacks(PROTOCOLS[PROGRAM.name], p, Stream.insecure_from_seed(f"{K} {kind}"), runs=3):
        assert (one.found, one.mistaken) == (one.tries, 0)
        assert one.tries in (3, 3 * (K - 1), 3 * K)


# The distance that the theorem leaves, apart from its assumptions.


def of_ties_alone(p: Parameters) -> float:
    """-log2 of the chance that two of K equal sizes get the same tie bits, by the birthday product."""
    return -math.log2(-math.expm1(sum(math.log1p(-j * 2.0**-p.tie_bits) for j in range(p.K))))


@pytest.mark.parametrize("comparison", COMPARISONS)
def test_the_distance_is_below_2_to_the_minus_41_and_made_of_equal_sizes(comparison: str) -> None:
    for K in (2, 3, 4, 5, 16, 17, 50, 64, 128, 500, 1000):
        p = Parameters(tuple(f"P{j}" for j in range(K)), 124, comparison=comparison)
        distance = ideal.distance(p)
        assert distance < Fraction(1, 1 << 41)
        assert -math.log2(distance) == pytest.approx(of_ties_alone(p), abs=1e-2)
    assert security_bits(ideal.distance(Parameters(tuple(f"P{j}" for j in range(50)), 124))) == "41.7"


def test_every_width_moves_the_distance(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten bits less of anything that hides shows, alone against the others."""
    p = Parameters(("P1", "P2", "P3"), 200, exponents="full")
    for where, name in ((parameters, "SIGMA"), (parameters, "TIE_SECURITY"), (paillier, "RANDOMISER_SLACK")):
        with monkeypatch.context() as patched:
            before = ideal.distance(p)
            patched.setattr(where, name, getattr(where, name) - 30)
            assert ideal.distance(p) > before
    assert ideal.distance(replace(p, key_bits=512)) > 2**10 * ideal.distance(p)  # orders of 64 bits
