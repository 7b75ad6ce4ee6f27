"""Garbled gates, made by one end and evaluated by the other, which learns nothing of what they compute: half gates,
free xor.

Assumption: AES-128 under a key that nobody chose is an ideal permutation, so that the hash H(x, t) = pi(pi(x) xor t)
xor pi(x) (TMMO: Guo, Katz, Wang, Weng and Yu 2020) is tweakable, circular and correlation robust; both keep to the
protocol. The key of pi is the session's, so that nothing can be worked out before the session is known.

A wire has two labels of 16 bytes, W and W xor Delta, for zero and one; Delta is of one session and its first bit is 1,
so that the first bits of both labels, their colours, differ. The evaluator has one of them and does not know which. Xor
of wires is xor of labels. An AND (Zahur, Rosulek and Evans 2015) is two ciphertexts of 16 bytes and takes two tweaks
which no other gate of the session has, twice its number and one more.

Gates come in rows: the first input of all rows is hashed at once, and each row waits for its second one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from protocols.errors import LocalError

LABEL_BYTES = 16
AND_BYTES = 2 * LABEL_BYTES
_DELTA_BITS = 8 * LABEL_BYTES - 1
_WORD = np.dtype("<u8")
_ONE, _TWO = np.uint64(1), np.uint64(2)

# Labels as pairs of words, in the last axis; what stands before it is the caller's.
Wires = np.ndarray[tuple[int, ...], np.dtype[np.uint64]]
BitRows = np.ndarray[tuple[int, int], np.dtype[np.uint8]]
PendingAnds = list[Callable[[Wires], Wires]]
"""Function for each row of AND gates: it takes the second inputs of the row and returns the outputs."""


def wires(labels: bytes) -> Wires:
    """Return labels that stand one after the other as wires."""
    return np.frombuffer(labels, _WORD).reshape(-1, 2)


def bit_rows(numbers: Sequence[int], width: int) -> BitRows:
    """Return the bits of each number, the lowest one first."""
    if any(n >> width for n in numbers):
        raise LocalError("garbling.number_too_long", most=width)
    size = (width + 7) // 8
    raw = np.frombuffer(b"".join(n.to_bytes(size, "little") for n in numbers), np.uint8)
    return np.unpackbits(raw.reshape(len(numbers), size), axis=1, bitorder="little")[:, :width]


def ones(bits: BitRows, delta: Wires) -> Wires:
    """Return Delta where a bit is one: xor it on labels of zero for those of the bits."""
    return bits[..., np.newaxis] * delta


def security_bits(ands: int) -> int:
    """Return log2 of the calls of the permutation by which Delta is found: 127 - log2(2 ANDs), rounded down.

    The garbler hashes q = 2 labels an AND which depend on Delta, of 127 uniform bits. An attacker who calls the
    permutation p times gains an advantage of about (p q + q**2) 2**-127 (Guo, Katz, Wang, Weng and Yu 2020, up to a
    small factor). The loss is no artefact of the proof: one table of the permutation is tried against all gates at
    once.
    """
    return _DELTA_BITS - (2 * ands - 1).bit_length()


class Hash:
    """Hash H of many labels at once, under the session's permutation."""

    def __init__(self, session: bytes) -> None:
        key = hashlib.sha256(b"smc-dp garbling permutation\0" + session).digest()[:16]
        self._pi = Cipher(algorithms.AES128(key), modes.ECB()).encryptor()  # noqa: S305  a permutation, no encryption

    def __call__(self, x: Wires, tweaks: Wires) -> Wires:
        """Return H(x, t) for each label x and the number t in its place."""
        once = self._permuted(x)
        inner = once.copy()
        inner[..., 0] ^= tweaks
        twice = self._permuted(inner)
        twice ^= once
        return twice

    def _permuted(self, x: Wires) -> Wires:
        out = np.empty(x.nbytes + LABEL_BYTES, np.uint8)  # the cipher wants room for a block less one byte
        self._pi.update_into(np.ascontiguousarray(x).reshape(-1).view(np.uint8).data, out.data)
        return out[: x.nbytes].view(_WORD).reshape(x.shape)


class Garbler:
    """Maker of the gates: its wires are labels of zero."""

    def __init__(self, session: bytes, delta: bytes, ands: int) -> None:
        self.delta = wires(delta)[0]
        self._hash, self._done = Hash(session), 0
        self._tables = np.zeros((ands, 2, 2), _WORD)

    @property
    def tables(self) -> bytes:
        """Bytes of all gates in their order."""
        return self._tables.tobytes()

    def ands(self, x: Wires) -> PendingAnds:
        """Start AND gates on rows of first inputs; return for each row the function that takes its second inputs."""
        gates, numbers = _next(self._tables, self._done, x)
        self._done += numbers.size
        zero, one = self._both(x, numbers)
        return [partial(self._finish, *row) for row in zip(gates, numbers, x, zero, one, strict=True)]

    def _finish(self, gates: Wires, numbers: Wires, x: Wires, zero: Wires, one: Wires, y: Wires) -> Wires:
        left, right = self._both(y, numbers + _ONE)
        gates[:, 0] = zero ^ one ^ (_colours(y) & self.delta)
        gates[:, 1] = left ^ right ^ x
        return zero ^ (_colours(x) & gates[:, 0]) ^ left ^ (_colours(y) & (left ^ right))

    def _both(self, x: Wires, tweaks: Wires) -> tuple[Wires, Wires]:
        made = self._hash(np.stack((x, x ^ self.delta)), tweaks)
        return made[0], made[1]


class Evaluator:
    """Evaluator of the gates: its wires are the labels of whatever they carry."""

    def __init__(self, session: bytes, tables: bytes) -> None:
        self._hash, self._done = Hash(session), 0
        self._tables = wires(tables).reshape(-1, 2, 2)

    def ands(self, x: Wires) -> PendingAnds:
        """Start AND gates on rows of first inputs; return for each row the function that takes its second inputs."""
        gates, numbers = _next(self._tables, self._done, x)
        self._done += numbers.size
        first = self._hash(x, numbers) ^ (_colours(x) & gates[..., 0, :])
        return [partial(self._finish, *row) for row in zip(gates, numbers, x, first, strict=True)]

    def _finish(self, gates: Wires, numbers: Wires, x: Wires, first: Wires, y: Wires) -> Wires:
        return first ^ self._hash(y, numbers + _ONE) ^ (_colours(y) & (gates[:, 1] ^ x))


def _next(tables: Wires, done: int, x: Wires) -> tuple[Wires, Wires]:
    """Return place and first tweak of each of the gates that follow those which are done."""
    rows, width = x.shape[:2]
    numbers = np.arange(done, done + rows * width, dtype=_WORD)
    gates = tables[done : done + rows * width]
    return gates.reshape(rows, width, 2, 2), (_TWO * numbers).reshape(rows, width)


def _colours(x: Wires) -> Wires:
    """Return all ones where the first bit of a label is one, else zero."""
    colours: Wires = -(x[..., :1] & _ONE)
    return colours
