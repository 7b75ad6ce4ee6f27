"""Roles of one comparison. Nobody sees both inputs; only the holder learns the result."""

from __future__ import annotations

from protocols.comparison import steps
from protocols.comparison.messages import DGK, Bits, ComparisonKey, Differences
from protocols.crypto import dgk
from protocols.crypto.dgk import DgkPrivateKey, DgkPublicKey
from protocols.runtime.endpoint import Endpoint


def admit_key(me: Endpoint, holder: str, got: ComparisonKey, key_bits: int, u: int) -> DgkPublicKey:
    """Return the holder's key, checked as far as the chooser can see."""
    try:
        key = dgk.DgkPublicKey(got.n, got.g, got.h, u, dgk.order_bits(key_bits))
    except ValueError as error:
        me.refuse(holder, "comparison_key.unusable", why=str(error))
    if not dgk.has_size(key, key_bits):
        me.refuse(holder, "comparison_key.of_another_length", bits=key_bits)
    me.admit(DGK, key)
    return key


def send_offer(me: Endpoint, chooser: str, key: DgkPrivateKey, y: int, length: int) -> None:
    """Send the bits of y, the holder's first move. Several comparisons may be under way at once."""
    me.send(chooser, Bits(tuple(key.encrypt(bit, me.rng) for bit in steps.bits(y, length))))


async def answer_offer(me: Endpoint, holder: str, key: DgkPublicKey, x: int, flip: int) -> None:
    """Answer one offer with x, and flip the result if `flip` is 1; the chooser learns nothing."""
    y = (await me.receive(holder, Bits)).y
    delta_a = me.rng.bits(1)
    me.send(holder, Differences(steps.blinded_differences(key, x, y, delta_a, me.rng), steps.xor(delta_a, flip)))


async def read_answer(me: Endpoint, chooser: str, key: DgkPrivateKey) -> int:
    """Return [x <= y] xor the chooser's flip, for the y offered; the holder learns nothing else."""
    answer = await me.receive(chooser, Differences)
    return steps.is_at_most(key, answer.c, answer.delta)
