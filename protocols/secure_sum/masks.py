"""Masking one party's numbers, and taking the masks off a sum.

y_j = x_j + E_j + self mask of j + the pair masks of j with everybody else, those with later parties added, those with
earlier ones taken away: each pair's cancel in a sum over both. Where nobody may drop out there are no self masks,
nothing is ever opened, and the pair masks come from a stream cipher.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from protocols.arithmetic.ring import Vector
from protocols.crypto import masking
from protocols.secure_sum.parameters import Parameters
from protocols.secure_sum.values import Vault


def mask_vector(p: Parameters, vault: Vault, z: Vector, context: bytes, index: int, r: int) -> Vector:
    """Return y of party `index` in sum r, for its numbers and noise z."""
    if not p.D:
        return mask_closed(p, z, context, vault.pairs, vault.near)
    secrets = vault.of(r)
    return mask_openly(p, z, context, index, secrets.b, secrets.s, vault.keyed(r), vault.near)


KeysOfParties = Mapping[int, bytes] | Sequence[bytes]
"""Mask keys by party."""


def mask_openly(
    p: Parameters,
    z: Vector,
    context: bytes,
    index: int,
    b: bytes,
    s: bytes,
    keys: KeysOfParties,
    near: Sequence[int] = (),
) -> Vector:
    """Return y of party `index` for its numbers and noise z, where some may drop out; with neighbours there is no mask
    with anybody else.
    """
    plus, minus = _pairs(p, context, index, s, keys, near or range(p.K), len(z))
    plus.append(masking.self_mask(context, index, b, len(z), p.width))
    return p.ring.add_vectors(z, masking.combined(plus, minus, len(z), p.width))


def mask_closed(
    p: Parameters, z: Vector, context: bytes, pairs: masking.ClosedPairs, near: Sequence[int] = ()
) -> Vector:
    """Return y of a party for its numbers and noise z, where nobody may drop out: z under the masks of all its
    pairs; with neighbours these are with them.
    """
    others = tuple(enumerate(near or range(p.K)))

    def with_these(some: Iterable[tuple[int, int]]) -> Iterator[bytes]:
        return (masking.closed_mask(context, pairs, other, len(z), p.width, at) for at, other in some)

    later = (pair for pair in others if pair[1] > pairs.index)
    earlier = (pair for pair in others if pair[1] < pairs.index)
    return p.ring.add_vectors(z, masking.combined(with_these(later), with_these(earlier), len(z), p.width))


def unmask_sum(
    p: Parameters,
    context: bytes,
    y: Mapping[int, Vector],
    seeds: Mapping[int, bytes],
    keys: KeysOfParties,
    near: Sequence[Sequence[int]] = (),
) -> Vector:
    """Return the sum of the numbers and noise behind the masked inputs y of the survivors.

    `seeds`: of every survivor its seed b, of every other party its secret mask key s; nothing where D = 0. `near`: the
    neighbours of each party, if it has masks with these alone.
    """
    length = len(next(iter(y.values())))
    plus, minus = [], []
    for i, seed in seeds.items():
        if i in y:
            minus.append(masking.self_mask(context, i, seed, length, p.width))
        else:  # with the survivors it had masks that its own input would have cancelled
            more, less = _pairs(p, context, i, seed, keys, [j for j in near[i] if j in y] if near else tuple(y), length)
            plus += more
            minus += less
    return p.ring.add_vectors(*y.values(), masking.combined(plus, minus, length, p.width))


def _pairs(
    p: Parameters, context: bytes, index: int, s: bytes, keys: KeysOfParties, others: Sequence[int], length: int
) -> tuple[list[bytes], list[bytes]]:
    """Return the masks of a party with these others, by sign."""
    plus: list[bytes] = []
    minus: list[bytes] = []
    apart = [other for other in others if other != index]
    for other, agreed in zip(apart, masking.agree_with_all(s, [keys[other] for other in apart]), strict=True):
        mask = masking.pair_mask(context, index, other, agreed, length, p.width)
        (plus if index < other else minus).append(mask)
    return plus, minus
