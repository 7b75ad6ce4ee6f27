"""Stage 2. The row of the smallest data set reaches Charlie, under s, and nobody learns whose it is.

P_1 garbles the search for the smallest size, and locks every row by the labels that its place would have; Charlie
evaluates, and his labels open one row. No bit is decoded, and nothing goes back to P_1.
"""

from __future__ import annotations

from protocols.arithmetic.permutation import Permutation
from protocols.arithmetic.ring import Vector
from protocols.comparison.garbled import Extension, Tables, join_parts, split_parts
from protocols.crypto import encapsulation, garbling, oblivious
from protocols.errors import DecodeError
from protocols.linear import masks
from protocols.linear.messages import LockedRows
from protocols.linear.parameters import Parameters
from protocols.linear.values import CuratorKeys, Gathered, Halves, OpenedRow
from protocols.pathak2010.noisy_sum import SIZE_BITS
from protocols.runtime.endpoint import Endpoint


async def first(me: Endpoint, p: Parameters, all_rows: Gathered, w: Vector) -> Vector:
    """Run P_1, who garbles. Returns w_1 - s, its summand; learns nothing."""
    s = p.weights.random_vector(p.dimension, me.rng)
    # rho orders equal sizes, together with Charlie's c: neither of them alone says who wins
    rho = Permutation.random(p.K, me.rng)
    choices = (await me.receive(me.curator, Extension)).u
    # 3. r_j + s under the labels of place j, and the gates that lead to those of the smallest
    garbled = garbling.garble(me.session_id, all_rows.choice, choices, all_rows.a, rho.images, SIZE_BITS)
    masked = masks.blind_rows(p, all_rows.rows, s)
    contents = [masks.pack_row(p, epk, row) for epk, row in zip(all_rows.epks, masked, strict=True)]
    for part in split_parts(garbled.tables):
        me.send(me.curator, Tables(part))
    for part in split_parts(garbling.lock(garbled, contents), p.row_parts):
        me.send(me.curator, LockedRows(part))
    return p.weights.subtract_vectors(w, s)


async def curator(me: Endpoint, p: Parameters, keys: CuratorKeys, mine: Halves) -> OpenedRow:
    """Run Charlie, who evaluates. Returns eta + s of the smallest, his summand; learns nothing.

    The summand is uniform, and the key in its row is one that he has not seen.
    """
    garbler = p.parties[0]
    # 2. his halves as choices; and his own bits c, by which equal sizes are ordered as well
    bits = garbling.chosen(mine.b, me.rng.bits(p.index_bits), SIZE_BITS)
    try:
        extension = oblivious.extend(me.session_id, keys.offer, mine.choice_points, bits)
    except DecodeError as error:
        me.refuse(garbler, "point.unusable", why=str(error))
    me.send(garbler, Extension(extension.u))
    # 3. one row opens, and in it what leads to its mask
    tables = [(await me.receive(garbler, Tables)).part for _ in range(p.table_parts)]
    rows = [(await me.receive(garbler, LockedRows)).part for _ in range(p.row_parts)]
    try:
        content = garbling.unlock(
            me.session_id,
            extension.labels,
            p.K,
            SIZE_BITS,
            join_parts(tables, p.table_bytes),
            join_parts(rows, p.locked_bytes),
        )
        epk, masked = masks.unpack_row(p, content)
        kappa = encapsulation.opened(keys.box, epk, me.session_id)
    except DecodeError as error:
        me.refuse(garbler, "search.opens_no_row", why=str(error))
    return OpenedRow(epk, masks.unmask_row(p, masked, kappa))
