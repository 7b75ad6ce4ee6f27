"""What each coalition reads is what its simulator makes; every check here has a mutant that it catches.

The checks can refute the claims in `ideal.py`, and do not prove them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import permutations, product
from typing import Any, NamedTuple

import pytest
from broken.curator_twins import planted
from support.canaries import canaries
from support.pathak import Trial, trial
from support.toy import ACCEPT, REJECT, uniformity

from protocols.arithmetic.permutation import Permutation
from protocols.arithmetic.rng import Stream
from protocols.comparison import steps
from protocols.crypto.paillier import Ciphertext
from protocols.curator import CURATOR_NAME
from protocols.pathak2010 import ideal, minimum, setup
from protocols.pathak2010.messages import Indicator
from protocols.pathak2010.parameters import COMPARISONS, Parameters
from protocols.runtime.claims import Readings, View, readings
from protocols.runtime.simulate import Setting
from smc_dp.leakage.two_samples import reading_counts

# Whole runs of the curator protocol in two worlds that release the same sum.

CHARLIE = (CURATOR_NAME,)
WINNERS = [(j,) for j in range(3)]


class Search(NamedTuple):
    """What Charlie finds: the order of the places (or the winner's place), and the same by slot, with pi_2 undone."""

    places: tuple[int, ...]
    slots: tuple[int, ...]


def searched(p: Parameters, left_smaller: Any, pi2: Permutation) -> tuple[int, Search]:
    """The winner, and all that its search tells."""
    search = minimum.search(p.comparison, p.K)
    while not search.found:
        search = search.after([left_smaller(i, j) for i, j in search.pairs])
    if isinstance(search, minimum.Tournament):
        return search.winner, Search((search.winner,), (pi2.inverse[search.winner],))
    return search.winner, Search(search.wins, tuple(pi2.inverse(search.wins)))


def order_hidden(found: Sequence[Search], outcomes: Iterable[tuple[int, ...]]) -> float:
    """p-value that the order by slot is uniform, and independent of the order by place, which is uniform too."""
    cells = list(outcomes)
    return uniformity(found, [Search(places, slots) for places, slots in product(cells, repeat=2)])


@pytest.mark.parametrize("kind", COMPARISONS)
@pytest.mark.parametrize(("K", "d"), [(2, 1), (3, 4), (5, 7)])
def test_every_coalition_reads_what_its_simulator_makes_place_by_place(kind: str, K: int, d: int) -> None:
    t = trial([7] * K, d, comparison=kind)
    views = t.run(Setting(views=True)).views
    rng = Stream.insecure_from_seed("structure")
    assert ideal.CLAIM.trials
    read, simulate, parties = ideal.CLAIM.trials.read, ideal.simulation(t.parameters, rng), t.parameters.parties
    for coalition in (CHARLIE, *((name,) for name in parties), parties[:2], parties):
        assert reading_counts(read(t.parameters, tuple(views[name] for name in coalition))) == reading_counts(
            simulate(coalition)
        )


def test_terms_of_comparisons_are_condensed_one_by_one() -> None:
    p = Parameters(("A", "B"), 1, 512)
    terms, half = p.compared_bits + 1, (p.compared_bits + 1) // 2
    one, other = [*range(1, half + 1), 0, *range(half + 1, terms)], [p.u - 1] * terms
    read: Readings = {"Differences.c": [*one, *other], "Differences.delta": [1, 0], "Half.a_tilde": [5]}
    assert ideal.condensed(p, read) == {
        **{"zeros": [1, 0], "where": [7 * half // terms, 7], "answers": [0, 0]},
        **{"large": [0, terms], "equal": [0, terms * (terms - 1) // 2]},
        **{"Differences.delta": [1, 0], "Half.a_tilde": [5]},
    }
    assert ideal.condensed(p, {"Masked.psi": p.packing.pack([3])}) == {"Masked.psi": [3]}


def test_both_worlds_release_the_same_sum() -> None:
    for K, d in ((3, 1), (2, 2), (5, 3)):
        p = trial([1] * K, d).parameters
        sums = [ideal.functionality(p, [w[name][1] for name in p.parties], range(K)) for w in ideal.worlds(p)]
        assert sums == [(K * (K + 1) // 2 + 5,) * d] * 2


def test_the_lengths_of_keys_in_trials_differ_and_take_as_many_packs() -> None:
    p = ideal.small(ideal.sample(3))
    shorter, same = ideal.with_key_lengths(p)
    assert (same, replace(shorter, key_bits=p.key_bits)) == (p, p)
    assert shorter.key_bits < p.key_bits
    assert shorter.packing.packs == p.packing.packs


# What Charlie learns of the order (his comparisons, and pi_2 undone).


def order_in_the_clear(p: Parameters, sizes: Sequence[int], tie_bits: int, rng: Stream) -> Search:
    """What Charlie learns by steps 1.1 to 1.6, computed without encryption."""
    shares = [p.sizes.split(minimum.with_tie_bits(n, tie_bits, rng), rng) for n in sizes]
    pi1, pi2 = Permutation.random(p.K, rng), Permutation.random(p.K, rng)
    r = [rng.bits(p.blind_bits) for _ in sizes]
    a = pi2([p.sizes.reduce(a_i + r_i) for a_i, r_i in zip(pi1([a for a, _ in shares]), r, strict=True)])
    b = pi2([p.sizes.subtract(b_i, r_i) for b_i, r_i in zip(pi1([b for _, b in shares]), r, strict=True)])

    def left_smaller(i: int, j: int) -> int:
        x, flip = steps.chooser_half(p.sizes, p.sizes.subtract(a[i], a[j]))
        y, top = steps.holder_half(p.sizes, p.sizes.subtract(b[i], b[j]))
        return steps.is_negative(int(x <= y) ^ flip, top)

    return searched(p, left_smaller, pi2)[1]


@pytest.mark.parametrize("tie_bits", [None, 0], ids=["coins", "index"])
@pytest.mark.parametrize("sizes", [[5, 6, 7], [9, 9, 9], [2**32 - 1] * 3, [1, 1, 2**32 - 1]], ids=str)
@pytest.mark.parametrize("kind", COMPARISONS)
def test_the_order_that_charlie_sees_is_uniform(kind: str, sizes: list[int], tie_bits: int | None) -> None:
    p = Parameters(("A", "B", "C"), 1, 512, comparison=kind)
    rng = Stream.insecure_from_seed(f"{kind} {sizes}")
    bits = p.tie_bits if tie_bits is None else tie_bits
    outcomes = WINNERS if kind == "tournament" else list(permutations(range(3)))
    hidden = order_hidden([order_in_the_clear(p, sizes, bits, rng) for _ in range(500)], outcomes)
    if tie_bits is None or len(set(sizes)) == 3:
        assert hidden > ACCEPT
    else:
        assert hidden < REJECT


def test_the_winners_of_larger_tournaments_are_uniform() -> None:
    p = Parameters(tuple("ABCDE"), 1, 512)
    rng, outcomes = Stream.insecure_from_seed("five"), [(i,) for i in range(5)]
    for sizes in ([1, 2, 3, 4, 5], [8] * 5):
        found = [order_in_the_clear(p, sizes, p.tie_bits, rng) for _ in range(500)]
        assert order_hidden(found, outcomes) > ACCEPT


# Distinctive secrets are found nowhere else.


SIZES = [0x5EC4E701, 0x6B1D0F35, 0x7A93C2E9]
WEIGHTS = [[0x1B7A_45D2_9C03_E861], [0x2F60_8A1C_77B4_D093], [0x3A95_C4E7_061F_B528]]
NOISE = [[0x4C1E_D8B3_5F72_0A96], [0x5D07_1B6A_E2C9_4F38], [0x6E82_F045_3B9D_C17A]]


def marked(**options: Any) -> Trial:
    return trial(SIZES, 1, "canaries", weights=WEIGHTS, noise=NOISE, **options)


def found_secrets(t: Trial, views: dict[str, View], names: Sequence[str]) -> set[str]:
    """Which secrets of the others stand in what these participants read together."""
    others = [j for j, name in enumerate(t.parameters.parties) if name not in names]
    found, p = readings(*(views[name] for name in names)), t.parameters
    secret = {f"{what} {j + 1}": values[j][0] for j in others for what, values in (("w", WEIGHTS), ("eta", NOISE))}
    return {
        *canaries(found, secret, p.weights.modulus),
        *canaries(found, {f"n {j + 1}": SIZES[j] for j in others}, p.sizes.modulus, p.tie_bits),
        *canaries(found, {f"n {j + 1}": SIZES[j] for j in others}, p.sizes.modulus),
    }


@pytest.mark.parametrize("kind", COMPARISONS)
def test_no_claimed_coalition_reads_a_secret(kind: str) -> None:
    t = marked(comparison=kind)
    views = t.run(Setting(views=True)).views
    for names in (["charlie"], ["P1"], ["P2"], ["P3"], ["P1", "P2"], ["P1", "P3"], ["P2", "P3"]):
        assert not found_secrets(t, views, names)


@pytest.mark.parametrize(
    ("twin", "shown"),
    [
        ("sizes are not shared", {"n 1", "n 2", "n 3"}),
        ("s is missing", {"eta 1"}),
        ("weights are not shared", {"w 2", "w 3"}),
    ],
)
def test_canaries_sing(twin: str, shown: set[str]) -> None:
    t = marked()
    with planted(twin):
        views = t.run(Setting(views=True)).views
    assert found_secrets(t, views, ["charlie"]) == shown


def test_canaries_are_found_plain_negated_and_as_sum_or_difference() -> None:
    def sings(*values: int) -> bool:
        return canaries({"x": list(values[:1]), "y": list(values[1:])}, {"it": 77}, 1 << 10) == ["it"]

    assert sings(77)
    assert sings(1024 + 77)
    assert sings(1024 - 77)
    assert sings(100, 1024 - 23)
    assert sings(177, 100)
    assert sings(500, 1024 - 577)
    assert not sings(78, 2)
    assert canaries({"x": [77 * 16 + 5]}, {"it": 77}, 1 << 14, 4) == ["it"]


# What hides a number is drawn, and is longer than the number.


def test_masks_are_longer_than_what_they_hide_and_no_cover_is_a_half() -> None:
    t = trial([5, 6, 7, 8], 3)
    p, views = t.parameters, t.run(Setting(views=True)).views
    blinded = [a for name in p.parties for a in readings(views[name])["Blinded.a"]]
    masked = p.packing.unpack(readings(views[CURATOR_NAME])["Masked.psi"])
    for found, bits, hidden in ((blinded, p.blind_bits, p.sizes.bits), (masked, p.mask_bits, p.ring_bits)):
        assert all(bits - 16 < x.bit_length() <= bits + 1 for x in found), "shorter with probability 2^-16"
        assert bits - 16 > hidden
    relays = [a for name in p.parties for a in readings(views[name])["Relay.a"]]
    assert len(set(relays)) == len(relays) == p.K * (p.K - 1)


def test_permutations_are_drawn_by_charlie_and_by_every_party() -> None:
    runs = [trial([5, 6, 7], 1, seed).run(Setting(views=True)) for seed in range(4)]
    assert len({run.views[CURATOR_NAME].results[1].pi2.images for run in runs}) > 1
    seeds = [bytes(32)] * 3
    other = [[*seeds[:j], bytes([1] * 32), *seeds[j + 1 :]] for j in range(3)]
    assert len({setup.permutation(given, 20).images for given in (seeds, *other)}) == 4


# Freshness: no ciphertext, and no randomiser, is seen twice.


def repeated(views: dict[str, View]) -> set[tuple[str, str]]:
    """The kinds of message in which one randomiser stands twice; c mod n is a function of it alone, so that
    everybody can compare. Charlie sends one indicator to all.
    """
    held: dict[tuple[int, int], set[str]] = defaultdict(set)
    times: Counter[tuple[int, int]] = Counter()
    for view in views.values():
        for _, message in view.messages:
            for slot in message.slots:
                value = getattr(message, slot.name)
                for c in value if slot.count else (value,):
                    if isinstance(c, Ciphertext):
                        held[c.n, c.value % c.n].add(type(message).__name__)
                        times[c.n, c.value % c.n] += 1
    return {(min(kinds), max(kinds)) for c, kinds in held.items() if times[c] > 1 and kinds != {Indicator.__name__}}


@pytest.mark.parametrize("kind", COMPARISONS)
def test_no_randomiser_is_seen_twice(kind: str) -> None:
    assert not repeated(trial([5, 6, 7, 8], 7, comparison=kind).run(Setting(views=True)).views)


def test_stale_ciphertexts_are_recognised() -> None:
    with planted("r is added without new randomness"):
        assert ("Blinded", "Slot") in repeated(trial([5, 6, 7], 1).run(Setting(views=True)).views)
    printed = trial([5, 6, 7], 1, noise=[[1]] * 3, printed=True)
    assert ("Indicator", "PrintedSelected") in repeated(printed.run(Setting(views=True)).views)
