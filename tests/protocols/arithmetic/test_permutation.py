"""Permutations: what they move where, and the law of random ones."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.toy import ACCEPT, REJECT, uniformity

from protocols.arithmetic.permutation import Permutation
from protocols.arithmetic.rng import Stream
from protocols.pathak2010.setup import permutation

ANY = st.integers(1, 9).flatmap(lambda k: st.permutations(range(k))).map(lambda images: Permutation(tuple(images)))


@given(ANY)
def test_each_element_goes_to_its_image(pi: Permutation) -> None:
    values = [f"value {j}" for j in range(len(pi.images))]
    moved = pi(values)
    assert all(moved[pi[j]] == value for j, value in enumerate(values))
    assert pi.inverse(moved) == values == pi(pi.inverse(values))
    assert pi.inverse.inverse == pi


@pytest.mark.parametrize("images", [(1,), (0, 0), (0, 2), (-1, 0), (0, 1, 3)])
def test_what_is_no_permutation_is_refused(images: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="not a permutation"):
        Permutation(images)


def test_sequences_of_another_length_are_refused() -> None:
    with pytest.raises(ValueError, match="wanted 2 values, got 3"):
        Permutation((1, 0))("abc")


def test_random_permutations_are_uniform() -> None:
    rng = Stream.insecure_from_seed("shuffle")
    drawn = (Permutation.random(4, rng).images for _ in range(24_000))
    assert uniformity(drawn, list(permutations(range(4)))) > ACCEPT


@pytest.mark.parametrize("honest", [0, 1, 2])
def test_one_honest_coin_makes_pi_1_uniform(honest: int) -> None:
    rng = Stream.insecure_from_seed(f"coin {honest}")
    coins = [[rng.bytes(32) if j == honest else bytes(32) for j in range(3)] for _ in range(2_000)]
    drawn = [permutation(seeds, 3).images for seeds in coins]
    assert uniformity(drawn, list(permutations(range(3)))) > ACCEPT
    assert drawn == [permutation(seeds, 3).images for seeds in coins]
    nobodys = (permutation([bytes(32)] * 3, 3).images for _ in range(600))
    assert uniformity(nobodys, list(permutations(range(3)))) < REJECT
