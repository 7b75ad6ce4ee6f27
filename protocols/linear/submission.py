"""Stage 1. Sizes in halves, noises as rows that P_1 has and Charlie could open, and seeds for masks."""

from __future__ import annotations

import hashlib

from protocols.arithmetic import halves
from protocols.arithmetic.ring import Vector
from protocols.comparison.garbled import Choices
from protocols.crypto import encapsulation, oblivious
from protocols.errors import DecodeError
from protocols.linear import masks
from protocols.linear.messages import Neighbour, Share, Submit
from protocols.linear.parameters import MASK_SEED_BYTES, Parameters
from protocols.linear.values import Gathered, Halves, Masks, PartyInput, PartyKeys, Submitted
from protocols.pathak2010.noisy_sum import SIZE_BITS
from protocols.runtime.endpoint import Endpoint


async def party(me: Endpoint, p: Parameters, keys: PartyKeys, mine: PartyInput) -> Submitted:
    """Run P_j, j > 1: split its size between P_1 and Charlie, send P_1 its noise as a row that Charlie could open, and
    share a mask seed with both and each neighbour. P_j learns nothing.
    """
    a, b = halves.split(mine.n, SIZE_BITS, me.rng)
    epk, row = _row(me, p, keys, mine)
    # 1. one half to P_1 with the row, the other to Charlie; a seed for every edge, which the later end is sent
    first, charlie = me.rng.bytes(MASK_SEED_BYTES), me.rng.bytes(MASK_SEED_BYTES)
    me.send(me.parties[0], Submit(a, _digest(keys.box), epk, row, first))
    me.send(me.curator, Share(b, charlie))
    sent = {i: me.rng.bytes(MASK_SEED_BYTES) for i in p.after(me.index)}
    for i, seed in sent.items():
        me.send(me.parties[i], Neighbour(seed))
    before = p.before(me.index)
    got = await me.gather([me.parties[i] for i in before], Neighbour)
    edges = {**sent, **{i: neighbour.seed for i, neighbour in zip(before, got, strict=True)}}
    # P_1 counts as the first of all and Charlie as the last: a mask is added at the lower end of its edge.
    lower = tuple(seed for i, seed in edges.items() if i > me.index)
    higher = tuple(seed for i, seed in edges.items() if i < me.index)
    return Submitted(epk, Masks((*lower, charlie), (first, *higher)))


async def first(me: Endpoint, p: Parameters, keys: PartyKeys, mine: PartyInput) -> tuple[Submitted, Gathered]:
    """Run P_1, the hub of the parties: gather all rows and halves, its own too, and choose in the base transfers. P_1
    learns nothing: all that it reads is uniform.
    """
    try:
        choice = oblivious.choose(me.session_id, keys.A or b"", me.rng)
    except DecodeError as error:
        me.refuse(me.curator, "point.unusable", why=str(error))
    a, b = halves.split(mine.n, SIZE_BITS, me.rng)
    epk, row = _row(me, p, keys, mine)
    # 1. as in `party`, without a row to send
    charlie = me.rng.bytes(MASK_SEED_BYTES)
    me.send(me.curator, Share(b, charlie))
    me.send(me.curator, Choices(choice.points))
    got = await me.gather(me.others, Submit)
    for name, submit in zip(me.others, got, strict=True):
        if submit.box != _digest(keys.box):  # Charlie could tell rows apart by who locked them for which key
            me.stop("box_key.not_alike", party=name)
        if not encapsulation.is_usable(submit.epk):  # else the smallest party stops Charlie, who names this one
            me.refuse(name, "row_key.unusable")
    seeds = tuple(submit.seed for submit in got)
    gathered = Gathered(
        (a, *(submit.a for submit in got)),
        (epk, *(submit.epk for submit in got)),
        (row, *(submit.row for submit in got)),
        choice,
    )
    return Submitted(epk, Masks((*seeds, charlie), ())), gathered


async def curator(me: Endpoint, p: Parameters) -> Halves:
    """Run Charlie: gather the other half of each size, his mask seeds, and the points of P_1. He learns nothing: halves
    are uniform.
    """
    shares = await me.gather(p.parties, Share)
    points = (await me.receive(p.parties[0], Choices)).R
    return Halves(tuple(share.b for share in shares), points, Masks((), tuple(share.seed for share in shares)))


def _row(me: Endpoint, p: Parameters, keys: PartyKeys, mine: PartyInput) -> tuple[bytes, Vector]:
    try:
        epk, kappa = encapsulation.encapsulate(keys.box, me.session_id, me.rng)
    except DecodeError as error:
        me.refuse(me.curator, "box_key.unusable", why=str(error))
    return epk, masks.mask_row(p, mine.eta, kappa)


def _digest(box: bytes) -> bytes:
    return hashlib.sha256(box).digest()
