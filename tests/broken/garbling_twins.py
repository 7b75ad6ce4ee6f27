"""Oblivious transfers and garbled gates done nearly right: each function forgets one thing.

`TWINS` names for each what is patched: lists of (module or class, name, what stands there instead).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from nacl import bindings as sodium

from protocols.arithmetic.rng import Stream
from protocols.crypto import circuit, garbling, half_gates, oblivious
from protocols.crypto.garbling import Garbled, Lock
from protocols.crypto.half_gates import Wires, wires
from protocols.errors import DecodeError

Patch = tuple[Any, str, Any]
_lock, _less, _winners, _choose = garbling._lock, circuit._less, circuit._winners, oblivious.choose
_columns, _extend, _product = oblivious._columns, oblivious.extend, oblivious._product


# Rows and what locks them.


def lock_by_xor(session: bytes, labels: bytes) -> Lock:
    """The xor of the labels: Delta cancels, and two strings are left for all places."""
    parts = (int.from_bytes(labels[i : i + 16], "big") for i in range(0, len(labels), 16))
    return _lock(session, reduce(int.__xor__, parts).to_bytes(16, "big"))


def lock_by_the_first(session: bytes, labels: bytes) -> Lock:
    """One label of the place: it opens half of all rows."""
    return _lock(session, labels[:16])


def garble_by_number(*about: Any) -> Garbled:
    """A row's number is its key: everybody can count."""
    session, _, _, a, *_ = about
    made = garbling.Garbled(_garble(*about).tables, ())
    return replace(made, locks=tuple(_lock(session, bytes([j])) for j in range(len(a))))


def lock_without_tag(garbled: Garbled, rows: Sequence[bytes]) -> bytes:
    """The tag is not bound to what it stands before."""
    locked = (
        lock.tag + ChaCha20Poly1305(lock.key).encrypt(bytes(12), row, None)
        for lock, row in zip(garbled.locks, rows, strict=True)
    )
    return b"".join(sorted(locked))


def lock_by_counter(garbled: Garbled, rows: Sequence[bytes]) -> bytes:
    """A nonce that counts the rows in the parties' order."""
    locked = (
        lock.tag + ChaCha20Poly1305(lock.key).encrypt(j.to_bytes(12, "big"), row, lock.tag)
        for j, (lock, row) in enumerate(zip(garbled.locks, rows, strict=True))
    )
    return b"".join(sorted(locked))


def lock_in_order(garbled: Garbled, rows: Sequence[bytes]) -> bytes:
    """Not sorted: the place of the row that opens is the party's."""
    return b"".join(_lock_one(lock, row) for lock, row in zip(garbled.locks, rows, strict=True))


def unlock_the_first(session: bytes, labels: bytes, K: int, value_bits: int, tables: bytes, locked: bytes) -> bytes:
    """The first row whose tag begins as it should."""
    gates = half_gates.Evaluator(session, tables)
    found = circuit.smallest(gates.ands, garbling._inputs(wires(labels), K, value_bits))
    mine, size = _lock(session, found.tobytes()), len(locked) // K
    found_at = next((i for i in range(0, len(locked), size) if locked[i : i + 2] == mine.tag[:2]), 0)
    try:
        return ChaCha20Poly1305(mine.key).decrypt(bytes(12), locked[found_at + 16 : found_at + size], mine.tag)
    except InvalidTag:
        raise DecodeError("garbling.no_row_opens") from None


def inputs_with_old_ties(labels: Wires, K: int, value_bits: int) -> Wires:
    """The ties take labels that the first size has used already: its bits order the equal ones."""
    return _inputs(np.concatenate((labels[: K * value_bits], labels[: len(labels) - K * value_bits])), K, value_bits)


# Gates.


def next_from_zero(tables: Wires, done: int, x: Wires) -> tuple[Wires, Wires]:
    """Every layer has the tweaks of the first one."""
    gates, numbers = _next(tables, done, x)
    return gates, numbers - np.uint64(2 * done)


def hash_without_tweak(self: half_gates.Hash, x: Wires, tweaks: Wires) -> Wires:
    return self._permuted(self._permuted(x)) ^ self._permuted(x)


def hash_once(self: half_gates.Hash, x: Wires, tweaks: Wires) -> Wires:
    """pi(x) xor x."""
    return self._permuted(x) ^ x


# The search.


def less_or_equal(ands: circuit.AndRows, x: Wires, y: Wires) -> Wires:
    """Not y < x: of equal numbers the right one wins. For bits in the clear only, which are words of one or zero."""
    return _less(ands, y, x) ^ np.array([1, 0], np.uint64)


def smallest_without_the_odd_one(ands: circuit.AndRows, numbers: Wires) -> Wires:
    return _smallest(ands, numbers[:, : numbers.shape[1] // 2 * 2])


def smallest_without_the_root(ands: circuit.AndRows, numbers: Wires) -> Wires:
    """The last bit of the place is a constant."""
    found = _smallest(ands, numbers).copy()
    found[-1] = 0
    return found


# Transfers.


def choose_by_the_other_bit(session: bytes, A: bytes, rng: Stream) -> oblivious.Choice:
    """The points are those of the complement of Delta."""
    made = _choose(session, A, rng)
    return replace(made, delta=bytes(byte ^ 0xFF for byte in made.delta[:-1]) + made.delta[-1:])


def choose_without_first_bit(session: bytes, A: bytes, rng: Stream) -> oblivious.Choice:
    """Delta's first bit is 0: both labels of a wire have one colour."""
    made = _choose(session, A, rng)
    return replace(made, delta=bytes([made.delta[0] & 0xFE]) + made.delta[1:])


def choose_for_the_session(session: bytes, A: bytes, rng: Stream) -> oblivious.Choice:
    """Delta comes from the session id, which everybody knows."""
    return replace(_choose(session, A, rng), delta=b"\1" + hashlib.sha256(session).digest()[:15])


def choose_for_ever(session: bytes, A: bytes, rng: Stream) -> oblivious.Choice:
    """One Delta for all sessions."""
    return replace(_choose(session, A, rng), delta=b"\1" * 16)


def add_without_check(scalar: bytes, point: bytes, name: str) -> bytes:
    """A product that takes whatever is a point, or none: small orders are not refused."""
    try:
        return _product(scalar, point, name)
    except DecodeError:
        return sodium.crypto_scalarmult_ed25519_base_noclamp(scalar)


def key_without_index(session: bytes, index: int, A: bytes, R: bytes, common: bytes) -> bytes:
    return _key(session, 0, A, R, common)


def key_without_point(session: bytes, index: int, A: bytes, R: bytes, common: bytes) -> bytes:
    return _key(session, index, A, A, common)


def key_without_session(session: bytes, index: int, A: bytes, R: bytes, common: bytes) -> bytes:
    return _key(bytes(32), index, A, R, common)


def sub_the_other_way(common: bytes, square: bytes) -> bytes:
    """The sender's two keys are exchanged in sign."""
    return sodium.crypto_core_ed25519_add(common, square)


def extend_without_bits(
    session: bytes, offer: oblivious.Offer, points: tuple[bytes, ...], bits: bytes
) -> oblivious.Extended:
    """All choices are zero in u."""
    return _extend(session, offer, points, bytes(len(bits)))


def extend_with_one_column(
    session: bytes, offer: oblivious.Offer, points: tuple[bytes, ...], bits: bytes
) -> oblivious.Extended:
    """Both columns from one key: u is the bits."""
    packed = np.packbits(np.frombuffer(bits, np.uint8), bitorder="little").tobytes()
    return replace(_extend(session, offer, points, bits), u=packed * oblivious.KEYS)


_garble, _inputs, _next = garbling.garble, garbling._inputs, half_gates._next
_smallest, _key = circuit.smallest, oblivious._key


def _lock_one(lock: Lock, row: bytes) -> bytes:
    return lock.tag + ChaCha20Poly1305(lock.key).encrypt(bytes(12), row, lock.tag)


TWINS: dict[str, Patch] = {
    "row key by xor": (garbling, "_lock", lock_by_xor),
    "row key by one label": (garbling, "_lock", lock_by_the_first),
    "row key by number": (garbling, "garble", garble_by_number),
    "tag not bound": (garbling, "lock", lock_without_tag),
    "nonce counts rows": (garbling, "lock", lock_by_counter),
    "rows in order": (garbling, "lock", lock_in_order),
    "tag by its beginning": (garbling, "unlock", unlock_the_first),
    "ties reuse labels": (garbling, "_inputs", inputs_with_old_ties),
    "tweak not advanced": (half_gates, "_next", next_from_zero),
    "hash without tweak": (half_gates.Hash, "__call__", hash_without_tweak),
    "hash of one permutation": (half_gates.Hash, "__call__", hash_once),
    "less or equal": (circuit, "_less", less_or_equal),
    "odd one dropped": (circuit, "smallest", smallest_without_the_odd_one),
    "root lost": (circuit, "smallest", smallest_without_the_root),
    "points of the complement": (oblivious, "choose", choose_by_the_other_bit),
    "colours alike": (oblivious, "choose", choose_without_first_bit),
    "Delta of the session": (oblivious, "choose", choose_for_the_session),
    "Delta for ever": (oblivious, "choose", choose_for_ever),
    "points not checked": (oblivious, "_product", add_without_check),
    "key without index": (oblivious, "_key", key_without_index),
    "key without point": (oblivious, "_key", key_without_point),
    "key without session": (oblivious, "_key", key_without_session),
    "keys with the other sign": (oblivious.sodium, "crypto_core_ed25519_sub", sub_the_other_way),
    "u without bits": (oblivious, "extend", extend_without_bits),
    "u in the clear": (oblivious, "extend", extend_with_one_column),
}
