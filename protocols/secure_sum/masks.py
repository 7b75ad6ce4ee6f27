"""Masking one party's numbers, and taking the masks off a sum.

y_j = x_j + E_j + self mask of j + the pair masks of j with everybody else, those with later parties added, those with
earlier ones taken away: each pair's cancel in a sum over both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from protocols.arithmetic.ring import Vector
from protocols.crypto import masking
from protocols.secure_sum.parameters import Parameters


def blind(
    p: Parameters, z: Vector, context: bytes, index: int, b: bytes | None, s: bytes, keys: Sequence[bytes]
) -> Vector:
    """y of party `index` for its numbers and noise z; without seed b there is no self mask."""
    plus, minus = _pairs(p, context, index, s, keys, range(p.K), len(z))
    if b is not None:
        plus.append(masking.self_mask(context, index, b, len(z), p.width))
    return p.ring.add_vectors(z, masking.combined(plus, minus, len(z), p.width))


def lift(
    p: Parameters, context: bytes, y: Mapping[int, Vector], seeds: Mapping[int, bytes], keys: Sequence[bytes]
) -> Vector:
    """The sum of the numbers and noise behind the masked inputs y of the survivors.

    `seeds`: of every survivor its seed b, of every other party its secret mask key s; nothing where D = 0.
    """
    length = len(next(iter(y.values())))
    plus, minus = [], []
    for i, seed in seeds.items():
        if i in y:
            minus.append(masking.self_mask(context, i, seed, length, p.width))
        else:  # with the survivors it had masks that its own input would have cancelled
            more, less = _pairs(p, context, i, seed, keys, tuple(y), length)
            plus += more
            minus += less
    return p.ring.add_vectors(*y.values(), masking.combined(plus, minus, length, p.width))


def _pairs(
    p: Parameters, context: bytes, index: int, s: bytes, keys: Sequence[bytes], others: Sequence[int], length: int
) -> tuple[list[bytes], list[bytes]]:
    """The masks of a party with these others, by sign."""
    plus: list[bytes] = []
    minus: list[bytes] = []
    for other in others:
        if other != index:
            agreed = masking.agree(s, keys[other])
            mask = masking.pair_mask(context, index, other, agreed, length, p.width)
            (plus if index < other else minus).append(mask)
    return plus, minus
