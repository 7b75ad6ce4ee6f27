"""The place of the smallest of K sums, garbled: Charlie learns the place, the garbler nothing.

Assumptions: those of `half_gates` and `oblivious`, SHA-256 as a random oracle; both ends keep to the protocol. Number j
is a_j + b_j mod 2**bits, the garbler has all a and Charlie all b; of equal ones the first is taken. The garbler's bits
are free, as in `garbling`. Behind the gates stand hashes of both labels of each bit of the place, that of zero first:
they tell Charlie which bit his label is, nothing of the other label, and that the gates were no garbage.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from protocols.crypto import circuit, half_gates, oblivious
from protocols.crypto.circuit import index_bits
from protocols.crypto.half_gates import AND_BYTES, Evaluator, Garbler, Wires, bit_rows, ones, wires
from protocols.errors import DecodeError

_TOLD_BYTES = 16


def ands(K: int, value_bits: int) -> int:
    """The AND gates: K sums, and the search among them."""
    return K * (value_bits - 1) + circuit.ands(K, value_bits)


def table_bytes(K: int, value_bits: int) -> int:
    """The size of all gates and hashes."""
    return AND_BYTES * ands(K, value_bits) + 2 * _TOLD_BYTES * index_bits(K)


def choice_bits(K: int, value_bits: int) -> int:
    """How many bits Charlie chooses by: those of all b."""
    return K * value_bits


def security_bits(K: int, value_bits: int) -> int:
    """What `half_gates` says of so many gates."""
    return half_gates.security_bits(ands(K, value_bits))


def chosen(b: Sequence[int], value_bits: int) -> bytes:
    """Charlie's choices, a byte 0 or 1 for each, the lowest bit of a number first."""
    return bit_rows(b, value_bits).tobytes()


def garble(session: bytes, choice: oblivious.Choice, u: bytes, a: Sequence[int], value_bits: int) -> bytes:
    """The gates for these summands, and the hashes; raises `DecodeError` for a u of another size."""
    K = len(a)
    gates = Garbler(session, choice.delta, ands(K, value_bits))
    b = _numbers(oblivious.zero_labels(choice, u, choice_bits(K, value_bits)), K)
    place = _place(gates.ands, b, ones(bit_rows(a, value_bits).T, gates.delta))
    pairs = ((zero, zero ^ gates.delta) for zero in place)
    told = (_told(session, i, label) for i, pair in enumerate(pairs) for label in pair)
    return gates.tables + b"".join(told)


def evaluate(session: bytes, labels: bytes, K: int, value_bits: int, tables: bytes) -> int:
    """The place of the smallest sum; raises `DecodeError` when gates and hashes do not tell one."""
    if len(tables) != table_bytes(K, value_bits):
        raise DecodeError(f"gates and hashes have {len(tables)} bytes, wanted {table_bytes(K, value_bits)}")
    size = AND_BYTES * ands(K, value_bits)
    told = [tables[i : i + _TOLD_BYTES] for i in range(size, len(tables), _TOLD_BYTES)]
    b, place = _numbers(labels, K), 0
    for i, label in enumerate(_place(Evaluator(session, tables[:size]).ands, b, np.zeros_like(b))):
        pair, mine = told[2 * i : 2 * i + 2], _told(session, i, label)
        if pair.count(mine) != 1:
            raise DecodeError("the labels of the place are none that were told")
        place |= pair.index(mine) << i
    if place >= K:
        raise DecodeError("the place that was found is not there")
    return place


def _numbers(labels: bytes, K: int) -> Wires:
    """The wires of K numbers as a circuit takes them."""
    return wires(labels).reshape(K, -1, 2).swapaxes(0, 1)


def _place(ands: circuit.Ands, b: Wires, a: Wires) -> Wires:
    return circuit.smallest(ands, circuit.added(ands, b, a))


def _told(session: bytes, i: int, label: Wires) -> bytes:
    return hashlib.sha256(b"smc-dp place\0" + session + i.to_bytes(2, "big") + label.tobytes()).digest()[:_TOLD_BYTES]
