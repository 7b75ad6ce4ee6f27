"""The search for the smallest of K values, against Python's min, and how ties are broken."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations, product

import pytest
from support.pathak import trial

from protocols.arithmetic.permutation import Permutation
from protocols.arithmetic.ring import Ring
from protocols.arithmetic.rng import Stream
from protocols.comparison import steps
from protocols.errors import LocalError, PeerError
from protocols.pathak2010 import minimum
from protocols.pathak2010.parameters import COMPARISONS
from protocols.pathak2010.values import PartyInput
from tests.support.refusals import refused


def run(kind: str, values: list[int]) -> tuple[int, int]:
    """(winner, comparisons made) when each pair is answered in the clear."""
    search, made = minimum.search(kind, len(values)), 0
    while not search.found:
        pairs = search.pairs
        made += len(pairs)
        assert all(minimum.is_match(i, j, len(values)) for i, j in pairs)
        search = search.after([values[i] < values[j] for i, j in pairs])
    return search.winner, made


@pytest.mark.parametrize("kind", COMPARISONS)
@pytest.mark.parametrize("size", [2, 3, 4, 5, 6])
def test_the_smallest_is_found_in_every_order(kind: str, size: int) -> None:
    for order in permutations(range(size)):
        winner, made = run(kind, list(order))
        assert order[winner] == 0
        assert made == minimum.comparisons(kind, size)


@pytest.mark.parametrize("kind", COMPARISONS)
def test_equal_values_still_give_a_smallest_one(kind: str) -> None:
    for values in product(range(3), repeat=4):
        assert values[run(kind, list(values))[0]] == min(values)


@pytest.mark.parametrize(
    ("left", "right", "fine"), [(0, 1, True), (2, 0, True), (1, 1, False), (0, 3, False), (3, 0, False)]
)
def test_only_two_different_places_meet(left: int, right: int, fine: bool) -> None:
    assert minimum.is_match(left, right, 3) == fine


@pytest.mark.parametrize("search", [minimum.search(kind, 4) for kind in COMPARISONS], ids=COMPARISONS)
def test_a_wrong_number_of_answers_is_refused(search: minimum.Tournament | minimum.AllPairs) -> None:
    with pytest.raises(ValueError, match="zip"):
        search.after([True])


def test_answers_in_a_circle_have_no_smallest() -> None:
    with pytest.raises(ValueError, match="no place"):
        _ = minimum.search("all-pairs", 3).after([True, False, True]).winner


def test_a_first_party_that_contradicts_itself_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    honest, named = steps.chooser_half, []
    for flips in product((0, 1), repeat=3):
        coins = iter(flips)

        def lying(ring: Ring, d_p: int, coins: Iterator[int] = coins) -> tuple[int, int]:
            x, flip = honest(ring, d_p)
            return x, flip ^ next(coins)

        monkeypatch.setattr(steps, "chooser_half", lying)
        try:
            trial([10, 20, 30], comparison="all-pairs", seed="liar").run()
        except PeerError as error:
            named.append((error.culprit, error.code, len(error.evidence)))
    # of the eight ways to answer three questions two are circles
    assert named == [("P1", "comparison.answers_contradict", 1)] * 2


def test_tie_bits_keep_the_order_of_sizes_and_order_equal_ones_by_coins() -> None:
    rng = Stream.insecure_from_seed("ties")
    for n in (1, 2, 1000, 2**32 - 1):
        with_coins = [minimum.with_tie_bits(n, 44, rng) for _ in range(50)]
        assert {x >> 44 for x in with_coins} == {n}
        assert len(set(with_coins)) == 50
    assert max(minimum.with_tie_bits(2**32 - 1, 44, rng) for _ in range(50)) < 2**76


@pytest.mark.parametrize("n", [-1, 2**32, 2**33])
def test_sizes_that_would_wrap_are_refused(n: int) -> None:
    with refused("size.outside", error=LocalError, got=n):
        PartyInput(n, (1,), (1,))
    assert PartyInput(2**32 - 1, (1,), (1,)).n == 2**32 - 1


@pytest.mark.parametrize("kind", COMPARISONS)
def test_for_all_permutations_the_one_hot_vector_marks_a_smallest_size(kind: str) -> None:
    for K in (2, 3, 4):
        sizes = [7, 3, 9, 3][:K]
        for images1, images2 in product(permutations(range(K)), repeat=2):
            pi1, pi2 = Permutation(images1), Permutation(images2)
            winner, _ = run(kind, pi2(pi1(sizes)))
            v = pi1.inverse(pi2.inverse([int(i == winner) for i in range(K)]))
            assert sum(v) == 1
            assert sizes[v.index(1)] == min(sizes)
