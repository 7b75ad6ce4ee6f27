"""Slots and masks: nothing carries, the noise appears once, and a mask hides what it should."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.toy import paillier_key

from protocols.arithmetic.packing import Packing
from protocols.arithmetic.rng import Stream
from protocols.errors import LocalError
from protocols.pathak2010.noisy_sum import SIZE_BITS
from protocols.pathak2010.parameters import SIGMA, Parameters
from tests.support.refusals import refused

SHAPES = st.tuples(st.integers(1, 140), st.integers(1, 9), st.integers(1, 30)).map(lambda t: Packing(*t))


def parameters(K: int = 3, d: int = 7, bits: int = 512, ring_bits: int = 64) -> Parameters:
    return Parameters(tuple(f"P{j}" for j in range(K)), d, bits, ring_bits)


@given(SHAPES, st.data())
def test_packing_and_back(packing: Packing, data: st.DataObject) -> None:
    top = 2**packing.slot_bits - 1
    values = data.draw(st.lists(st.integers(0, top) | st.just(top), min_size=packing.length, max_size=packing.length))
    packs = packing.pack(values)
    assert len(packs) == packing.packs == -(-packing.length // packing.slots)
    assert max(packs) < 2 ** (packing.slot_bits * packing.slots)
    assert packing.unpack(packs) == values
    radix = 2**packing.slot_bits
    for i, value in enumerate(values):
        block, place = divmod(i, packing.slots)
        assert packs[block] // radix**place % radix == value


@pytest.mark.parametrize("values", [[1, 2], [1, 2, 3, 4], [1, 2, 16], [-1, 2, 3], []])
def test_what_does_not_fit_is_refused(values: list[int]) -> None:
    with pytest.raises(ValueError, match=r"wanted 3 values in \[0, 2\*\*4\)"):
        Packing(4, 2, 3).pack(values)


@given(st.integers(2, 1000), st.integers(1, 300), st.sampled_from([512, 1024, 3072]), st.sampled_from([8, 64, 128]))
def test_the_inequalities_that_all_steps_rely_on(K: int, d: int, bits: int, ring_bits: int) -> None:
    p = parameters(K, d, bits, ring_bits)
    # sizes with their coins stay below half the ring, and collide with probability below 2**-40
    assert 2 ** (SIZE_BITS + p.tie_bits) <= p.sizes.modulus // 2
    assert Fraction(K * (K - 1), 2 * 2**p.tie_bits) < Fraction(1, 2**40)
    # each of K masked shares is within 2**-SIGMA / K of a mask
    assert K * Fraction(p.sizes.modulus, 2**p.blind_bits) <= Fraction(1, 2**SIGMA)
    assert d * Fraction(p.weights.modulus, 2**p.mask_bits) <= Fraction(1, 2**SIGMA)
    # nothing wraps modulo n, whose top bit is set
    assert p.sizes.modulus + 2**p.blind_bits < 2 ** (bits - 1)
    assert 2 ** (p.packing.slots * p.packing_slot_bits) < 2 ** (bits - 1)
    # the largest noise and the largest mask fit one slot
    assert (p.weights.modulus - 1) + (2**p.mask_bits - 1) < 2**p.packing_slot_bits


def sums_survive(p: Parameters, packing: Packing, noise: list[int], mask: list[int]) -> bool:
    """Whether adding packed integers adds slot by slot, modulo M."""
    packs = [e + s for e, s in zip(packing.pack(noise), packing.pack(mask), strict=True)]
    wanted = p.weights.add_vectors(p.weights.vector(noise), p.weights.vector(mask))
    return p.weights.vector(packing.unpack(packs)) == wanted


@given(st.data())
def test_the_mask_never_carries_into_the_next_slot(data: st.DataObject) -> None:
    p = parameters()
    top_noise, top_mask = p.weights.modulus - 1, 2**p.mask_bits - 1
    noise = data.draw(st.lists(st.just(top_noise) | st.integers(0, top_noise), min_size=7, max_size=7))
    mask = data.draw(st.lists(st.just(top_mask) | st.integers(0, top_mask), min_size=7, max_size=7))
    assert sums_survive(p, p.packing, noise, mask)
    assert sums_survive(p, p.packing, [top_noise] * 7, [top_mask] * 7)


# How well a mask hides.


def distance(left: Counter[int], right: Counter[int]) -> Fraction:
    """Total variation between two laws given by counts of equally likely coins."""
    size = Fraction(1, left.total())
    return sum((abs(left[x] - right[x]) for x in left | right), start=0) * size / 2


@pytest.mark.parametrize(("value_bits", "sigma"), [(2, 3), (3, 4)])
def test_a_masked_value_is_as_far_from_a_fresh_mask_as_stated(value_bits: int, sigma: int) -> None:
    key, rng = paillier_key("tiny", 256), Stream.insecure_from_seed("toy widths")
    masks = range(2 ** (value_bits + sigma))
    fresh = Counter(masks)
    for a in range(2**value_bits):
        c = key.public.encrypt(a, rng)
        masked = Counter(key.decrypt(key.public.blind(c, r, rng)) for r in masks)
        assert distance(masked, fresh) == Fraction(a, len(masks)) < Fraction(1, 2**sigma)


def test_the_carry_of_the_real_mask_never_shows() -> None:
    p, key, rng = parameters(), paillier_key(), Stream.insecure_from_seed("carry")
    value = p.sizes.modulus - 1
    c = key.public.encrypt(value, rng)
    assert all(key.decrypt(key.public.blind(c, rng.bits(p.blind_bits), rng)) >> p.blind_bits == 0 for _ in range(400))


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"parties": ("a",)}, "parties.too_few_or_twice"),
        ({"parties": ("a", "b", "a")}, "parties.too_few_or_twice"),
        ({"dimension": 0}, "vectors.no_dimension_or_ring"),
        ({"ring_bits": 0}, "vectors.no_dimension_or_ring"),
        ({"ring_bits": 63}, "vectors.no_dimension_or_ring"),
        ({"comparison": "guess"}, "comparison.unknown"),
        ({"exponents": "long"}, "exponents.unknown"),
        ({"key_bits": 500}, "key_bits.without_room"),
        ({"key_bits": 128}, "key_bits.without_room"),
        ({"ring_bits": 512}, "key_bits.without_room"),
    ],
)
def test_impossible_parameters_are_refused(changes: dict[str, object], code: str) -> None:
    fine: dict[str, object] = {"parties": ("a", "b"), "dimension": 3, "key_bits": 512}
    with refused(code, error=LocalError):
        Parameters(**(fine | changes))  # type: ignore[arg-type]
