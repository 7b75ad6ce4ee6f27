"""The smallest of K sizes, garbled: no bit of the result is decoded, but its labels open one of K rows.

Assumptions: those of `half_gates` and `oblivious`, SHA-512 as a random oracle, ChaCha20-Poly1305; both ends keep to the
protocol. Party j's size is a_j xor b_j, the garbler has all a and Charlie all b. Equal sizes are ordered by rho_j xor
c, the garbler's ranks and Charlie's bits: neither alone says who wins.

The labels of Charlie's choices come out of the transfers. A bit that the garbler knows is free: it takes its label of
zero as that of the other value. The labels that the l wires of the winner's place would have if it were j, one after
the other, are hashed to tag and key of row j. Their xor will not do in place of the string: it has two values in all.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from protocols.crypto import circuit, half_gates, oblivious
from protocols.crypto.circuit import index_bits as index_bits  # names of this file too
from protocols.crypto.half_gates import AND_BYTES, Evaluator, Garbler, Wires, bit_rows, ones, wires
from protocols.crypto.half_gates import LABEL_BYTES as LABEL_BYTES
from protocols.errors import DecodeError, LocalError

TAG_BYTES = 16
_KEY_BYTES = 32
_SEAL_BYTES = 16
_NONCE = bytes(12)  # every key seals one row


@dataclass(frozen=True, repr=False)
class Lock:
    """Tag by which a row is found, and key that opens it."""

    tag: bytes
    key: bytes


@dataclass(frozen=True, repr=False)
class Garbled:
    """Garbled gates, which Charlie gets, and the lock of each party's row in their order, which he does not."""

    tables: bytes
    locks: tuple[Lock, ...]


def and_count(K: int, value_bits: int) -> int:
    """Return the number of AND gates: ranks are low bits of the values."""
    return circuit.and_count(K, value_bits + index_bits(K))


def table_bytes(K: int, value_bits: int) -> int:
    """Return the size of all gates."""
    return AND_BYTES * and_count(K, value_bits)


def choice_bits(K: int, value_bits: int) -> int:
    """Return the number of bits by which Charlie chooses: those of all b, then those of c."""
    return K * value_bits + index_bits(K)


def row_bytes(length: int) -> int:
    """Return the size of a locked row of `length` bytes."""
    return TAG_BYTES + length + _SEAL_BYTES


def security_bits(K: int, value_bits: int) -> int:
    """Return the security of so many gates, as `half_gates` says: 109 bits for 1,000 sizes of 32 bits."""
    return half_gates.security_bits(and_count(K, value_bits))


def chosen(b: Sequence[int], c: int, value_bits: int) -> bytes:
    """Return Charlie's choices, a byte 0 or 1 for each, the lowest bit of a number first."""
    return bit_rows(b, value_bits).tobytes() + bit_rows([c], index_bits(len(b))).tobytes()


def garble(
    session: bytes, choice: oblivious.Choice, u: bytes, a: Sequence[int], ranks: Sequence[int], value_bits: int
) -> Garbled:
    """Return the gates for these halves and ranks, and all locks; raise `DecodeError` for a u of another size."""
    K = len(a)
    if sorted(ranks) != list(range(K)):
        raise LocalError("garbling.ranks_not_each_once")
    gates = Garbler(session, choice.delta, and_count(K, value_bits))
    q = wires(oblivious.zero_labels(choice, u, choice_bits(K, value_bits)))
    own = np.concatenate((bit_rows(ranks, index_bits(K)), bit_rows(a, value_bits)), axis=1).T
    place = circuit.smallest(gates.ands, _inputs(q, K, value_bits) ^ ones(own, gates.delta))
    leaves = place ^ ones(bit_rows(range(K), index_bits(K)), gates.delta)
    return Garbled(gates.tables, tuple(_lock(session, leaf.tobytes()) for leaf in leaves))


def lock(garbled: Garbled, rows: Sequence[bytes]) -> bytes:
    """Return all rows, sealed and sorted by their tags; the places say nothing of whose they are."""
    locked = (
        lock.tag + ChaCha20Poly1305(lock.key).encrypt(_NONCE, row, lock.tag)
        for lock, row in zip(garbled.locks, rows, strict=True)
    )
    return b"".join(sorted(locked))


def unlock(session: bytes, labels: bytes, K: int, value_bits: int, tables: bytes, locked: bytes) -> bytes:
    """Return the row of the smallest; raise `DecodeError` when none opens, or tags are not in their order and
    different.
    """
    if len(tables) != table_bytes(K, value_bits) or len(locked) % K:
        raise DecodeError("garbling.another_size")
    size = len(locked) // K
    rows = {locked[i : i + TAG_BYTES]: locked[i + TAG_BYTES : i + size] for i in range(0, len(locked), size)}
    if list(rows) != sorted(rows) or len(rows) != K:
        raise DecodeError("garbling.tags_not_in_order")
    gates = Evaluator(session, tables)
    place = circuit.smallest(gates.ands, _inputs(wires(labels), K, value_bits))
    mine = _lock(session, place.tobytes())
    try:
        return ChaCha20Poly1305(mine.key).decrypt(_NONCE, rows[mine.tag], mine.tag)
    except (KeyError, InvalidTag):
        raise DecodeError("garbling.no_row_opens") from None


def _inputs(labels: Wires, K: int, value_bits: int) -> Wires:
    """Return the labels in the order of the circuit: for all K numbers the bits of c, which they share, below those of
    b.
    """
    values, ties = labels[: K * value_bits], labels[K * value_bits :]
    shared = np.broadcast_to(ties[:, np.newaxis], (len(ties), K, 2))
    return np.concatenate((shared, values.reshape(K, value_bits, 2).swapaxes(0, 1)))


def _lock(session: bytes, labels: bytes) -> Lock:
    made = hashlib.sha512(b"smc-dp row lock\0" + session + labels).digest()
    return Lock(made[:TAG_BYTES], made[TAG_BYTES : TAG_BYTES + _KEY_BYTES])
