"""The vectors of the garbled argmin: what `make_vectors.py` puts into `garbling.json`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nacl import bindings as sodium

from support.garbled_ops import raw
from support.vector_ops import stream

if TYPE_CHECKING:
    from make_vectors import VectorFile

SESSION = bytes(range(32))
OPENED = (592, 727, 880)  # bits of tag, row and seal of the row that opens, in the garbling of [5, 3, 3]
USED = (["tables", 200], ["tables", 2900], ["u", 0], ["u", 1600])  # bits at which Charlie looks, and where Delta is 1
ORDER_TWO = (2**255 - 20).to_bytes(32, "little")


def fill(vectors: VectorFile) -> None:
    """All cases."""
    label = bytes(range(16))
    for session, x, t in ((SESSION, bytes(16), 0), (SESSION, label, 1), (bytes(32), label, 1), (SESSION, label, 2**40)):
        vectors.add("tweaked_hash", session=session, x=x, t=t)
    for x, y in ((label, bytes([9]) * 16), (bytes([8]) * 16, label), (bytes(16), bytes(16))):
        vectors.add("and_gate", session=SESSION, delta=b"\1" + label[1:], x=x, y=y)
    _transfers(vectors)
    for sizes, value_bits in (([1, 1], 1), ([5, 3, 3], 3), ([7, 2, 2, 2, 9], 32), ([3, 3, 3, 3, 0, 3, 3, 0], 2)):
        vectors.add("garbled_argmin", session=SESSION, seed=f"garbled {len(sizes)}", sizes=sizes, value_bits=value_bits)
    given = {"session": SESSION, "seed": "garbled 3", "sizes": [5, 3, 3], "value_bits": 3}
    for spoilt in (["tables", "zeros"], ["rows", "zeros"], *(["rows", bit] for bit in OPENED), *USED):
        vectors.add("garbled_argmin", "DecodeError", **given, spoilt=spoilt)


def _transfers(vectors: VectorFile) -> None:
    for session in (SESSION, bytes(32)):
        fine = vectors.add("base_transfers", session=session, seed="transfers")
    vectors.add("extension", session=SESSION, seed="transfers", bits=[1, 0, 0, 1, 1, 1, 0, 1])
    vectors.add("extension", session=SESSION, seed="transfers", bits=[0] * 8)
    torsioned = sodium.crypto_core_ed25519_add(raw(fine["A"]), ORDER_TWO)
    low = (bytes(32), (1).to_bytes(32, "little"), ORDER_TWO, torsioned, (2**255 - 18).to_bytes(32, "little"))
    for point in (*low, b"\2" + bytes(31), bytes(31)):
        vectors.add("transfer_choice", "DecodeError", session=SESSION, A=point)
        vectors.add("extension", "DecodeError", session=SESSION, seed="transfers", bits=[1, 0], point=point)
    vectors.add("transfer_choice", session=SESSION, A=stream_point())


def stream_point() -> bytes:
    """A point that is fine."""
    return sodium.crypto_scalarmult_ed25519_base_noclamp(
        sodium.crypto_core_ed25519_scalar_reduce(stream("x").bytes(64))
    )
