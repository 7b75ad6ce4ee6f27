"""Oblivious transfers: for each of Charlie's bits the garbler has two labels, and Charlie the one that his bit names.

Assumption: computational Diffie-Hellman on edwards25519 in the random oracle model (SHA-256), and ChaCha20 as a
pseudo-random generator; both ends keep to the protocol. 128 base transfers (Chou and Orlandi 2015) are made anew in
each session, and stretched to any number (Ishai, Kilian, Nissim and Petrank 2003).

Charlie offers A = x B. The garbler chooses by the bits of Delta, R_i = r_i B + Delta_i A, uniform whatever Delta is,
and has one of two keys, which Charlie has both of: that of r_i A. From each Charlie stretches a column of bits, t and
t', and sends u = t xor t' xor his bits; so the garbler has q = t xor (his bits and Delta_i). Row by row, t_j is
Charlie's label of his bit j, q_j = t_j xor (bit j and Delta) the label of zero. There is no check that all columns of u
hold the same bits, so this is no protection against a Charlie who deviates.

A product refuses a point that is of small order, not in the prime subgroup or not canonical; a sum refuses nothing.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms
from nacl import bindings as sodium

from protocols.arithmetic.rng import Stream
from protocols.crypto.half_gates import LABEL_BYTES as LABEL_BYTES  # a name of this file too
from protocols.crypto.half_gates import BitRows
from protocols.errors import DecodeError

KEYS = 8 * LABEL_BYTES
POINT_BYTES = 32
_UNREDUCED_BYTES = 64  # twice the length of q, so that a scalar is uniform up to 2**-260
_ZERO_NONCE = bytes(16)
_EXCHANGES = tuple(
    (np.uint64(shift), np.uint64(squares))
    for shift, squares in ((7, 0x00AA00AA00AA00AA), (14, 0x0000CCCC0000CCCC), (28, 0x00000000F0F0F0F0))
)


@dataclass(frozen=True, repr=False)
class Offer:
    """Scalar x and point A = x B of one session."""

    x: bytes
    A: bytes


@dataclass(frozen=True, repr=False)
class Choice:
    """Delta, whose first bit is 1, the key that each of its bits chose, and the points that say nothing of it."""

    delta: bytes
    keys: tuple[bytes, ...]
    points: tuple[bytes, ...]


@dataclass(frozen=True, repr=False)
class Extended:
    """Label for each bit, one after the other, and the columns u for the garbler."""

    labels: bytes
    u: bytes


def offer(rng: Stream) -> Offer:
    """Draw a new x; every session has its own."""
    x = _scalar(rng)
    return Offer(x, sodium.crypto_scalarmult_ed25519_base_noclamp(x))


def choose(session: bytes, A: bytes, rng: Stream) -> Choice:
    """Draw a new Delta and make its 128 choices; raise `DecodeError` for an unusable A.

    The keys, and with them the check of A, come before the points: a point of small order in A would show in R_i where
    Delta_i is 1.
    """
    scalars = [_scalar(rng) for _ in range(KEYS)]
    agreed = [_product(r, A, "A") for r in scalars]
    first, *rest = rng.bytes(LABEL_BYTES)
    delta = bytes([first | 1, *rest])
    points = tuple(
        sodium.crypto_core_ed25519_add(own, A) if bit else own
        for own, bit in zip(map(sodium.crypto_scalarmult_ed25519_base_noclamp, scalars), _bits_of(delta), strict=True)
    )
    keys = tuple(_key(session, i, A, R, common) for i, (R, common) in enumerate(zip(points, agreed, strict=True)))
    return Choice(delta, keys, points)


def extend(session: bytes, offer: Offer, points: tuple[bytes, ...], bits: bytes) -> Extended:
    """Return Charlie's labels for his bits, a byte 0 or 1 for each; raise `DecodeError` for an unusable point."""
    if len(points) != KEYS:
        raise DecodeError("transfer.another_number_of_points", count=len(points), wanted=KEYS)
    x, A = offer.x, offer.A
    agreed = [_product(x, R, f"R_{i}") for i, R in enumerate(points, 1)]
    square = _product(x, A, "A")
    zeros = [_key(session, i, A, R, common) for i, (R, common) in enumerate(zip(points, agreed, strict=True))]
    ones = [
        _key(session, i, A, R, sodium.crypto_core_ed25519_sub(common, square))
        for i, (R, common) in enumerate(zip(points, agreed, strict=True))
    ]
    t = _columns(zeros, len(bits))
    chosen = np.packbits(np.frombuffer(bits, np.uint8), bitorder="little")
    return Extended(_rows(t, len(bits)), (t ^ _columns(ones, len(bits)) ^ chosen).tobytes())


def zero_labels(choice: Choice, u: bytes, count: int) -> bytes:
    """Return the label of zero for each of Charlie's `count` bits; raise `DecodeError` for a u of another size."""
    if len(u) != u_bytes(count):
        raise DecodeError("transfer.extension_of_another_size", count=len(u), wanted=u_bytes(count))
    columns = np.frombuffer(u, np.uint8).reshape(KEYS, -1)
    chosen = np.array(_bits_of(choice.delta), np.uint8)[:, np.newaxis]
    return _rows(_columns(choice.keys, count) ^ columns * chosen, count)


def u_bytes(count: int) -> int:
    """Return the size of u for `count` bits."""
    return KEYS * _column_bytes(count)


def _column_bytes(count: int) -> int:
    return (count + 7) // 8


def _scalar(rng: Stream) -> bytes:
    return sodium.crypto_core_ed25519_scalar_reduce(rng.bytes(_UNREDUCED_BYTES))


def _product(scalar: bytes, point: bytes, name: str) -> bytes:
    try:
        return sodium.crypto_scalarmult_ed25519_noclamp(scalar, point)
    except (RuntimeError, TypeError):
        raise DecodeError("transfer.point_not_usable", name=name) from None


def _key(session: bytes, index: int, A: bytes, R: bytes, common: bytes) -> bytes:
    return hashlib.sha256(b"smc-dp transfer\0" + session + index.to_bytes(2, "big") + A + R + common).digest()


def _bits_of(delta: bytes) -> list[int]:
    return [byte >> i & 1 for byte in delta for i in range(8)]


def _columns(keys: tuple[bytes, ...] | list[bytes], count: int) -> BitRows:
    """Return a column of bits for each key; every key stretches one column and no more."""
    zeros = bytes(_column_bytes(count))
    made = (Cipher(algorithms.ChaCha20(key, _ZERO_NONCE), mode=None).encryptor().update(zeros) for key in keys)
    return np.frombuffer(b"".join(made), np.uint8).reshape(KEYS, -1)


def _rows(columns: BitRows, count: int) -> bytes:
    """Return the transpose: bit i of row j is bit j of column i."""
    # eight columns side by side are words of 8 x 8 bits, which three exchanges of ever larger squares turn round
    words = np.ascontiguousarray(columns.reshape(LABEL_BYTES, 8, -1).swapaxes(1, 2)).view("<u8")[..., 0]
    for shift, squares in _EXCHANGES:
        moved = (words ^ (words >> shift)) & squares
        words = words ^ moved ^ (moved << shift)
    return np.ascontiguousarray(words.view(np.uint8).T[:count]).tobytes()
