"""What a known-answer vector may ask of the garbled argmin: the hash, a gate, transfers, whole garblings."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import numpy as np

from protocols.crypto import garbling, half_gates, oblivious
from support.garbled import drawn, rows
from support.sum_ops import raw
from support.vector_ops import Json, Shared, op, stream


@op
def tweaked_hash(shared: Shared, session: str, x: str, t: int) -> Json:
    return half_gates.Hash(raw(session))(half_gates.wires(raw(x)), np.array([t], np.uint64)).tobytes()


@op
def and_gate(shared: Shared, session: str, delta: str, x: str, y: str) -> Json:
    """The gate, its label of zero, and what comes of the labels of (0, 0), (0, 1), (1, 0), (1, 1)."""
    garbler = half_gates.Garbler(raw(session), raw(delta), 1)
    left, right, offset = (half_gates.wires(raw(part)) for part in (x, y, delta))
    zero = garbler.ands(left[np.newaxis])[0](right)
    outputs = []
    for a, b in ((0, 0), (0, 1), (1, 0), (1, 1)):
        first, second = left ^ np.uint64(a) * offset, right ^ np.uint64(b) * offset
        evaluator = half_gates.Evaluator(raw(session), garbler.tables)
        outputs.append(evaluator.ands(first[np.newaxis])[0](second).tobytes())
    return {"gate": garbler.tables, "zero": zero.tobytes(), "outputs": outputs}


@op
def base_transfers(shared: Shared, session: str, seed: Json) -> Json:
    """The offer, Delta, the first four keys and points, and a digest of all."""
    rng = stream(seed)
    offer = oblivious.offer(rng)
    choice = oblivious.choose(raw(session), offer.A, rng)
    whole = hashlib.sha256(b"".join((*choice.keys, *choice.points))).digest()
    first = {"keys": choice.keys[:4], "points": choice.points[:4]}
    return {"x": offer.x, "A": offer.A, "delta": choice.delta, **first, "digest": whole}


@op
def extension(shared: Shared, session: str, seed: Json, bits: list[int], point: str | None = None) -> Json:
    """Labels, u and labels of zero; `point` stands in place of R_3."""
    rng = stream(seed)
    offer = oblivious.offer(rng)
    choice = oblivious.choose(raw(session), offer.A, rng)
    points = choice.points if point is None else (*choice.points[:2], raw(point), *choice.points[3:])
    made = oblivious.extend(raw(session), offer, points, bytes(bits))
    return {"labels": made.labels, "u": made.u, "zeros": oblivious.zero_labels(choice, made.u, len(bits))}


@op
def transfer_choice(shared: Shared, session: str, A: str) -> Json:
    return oblivious.choose(raw(session), raw(A), stream("choice")).points


@op
def garbled_argmin(
    shared: Shared, session: str, seed: Json, sizes: list[int], value_bits: int, spoilt: Json = None
) -> Json:
    """A garbling of these sizes; `spoilt` says which part of what is sent has which bit flipped, or is all zeros."""
    part, bit = spoilt or ("", 0)
    d = drawn(sizes, value_bits, stream(seed))
    d = replace(d, u=_spoilt(d.u, bit)) if part == "u" else d
    garbled = d.garbled(raw(session))
    locked = garbling.lock(garbled, rows(len(sizes)))
    tables = _spoilt(garbled.tables, bit) if part == "tables" else garbled.tables
    sealed = _spoilt(locked, bit) if part == "rows" else locked
    row = d.unlocked(tables, sealed, raw(session))
    digests = {name: hashlib.sha256(data).digest() for name, data in (("tables", garbled.tables), ("rows", locked))}
    return {**digests, "ranks": d.ranks, "c": d.c, "opened": row}


def _spoilt(data: bytes, bit: int | str) -> bytes:
    if isinstance(bit, str):
        return bytes(len(data))
    return data[: bit // 8] + bytes([data[bit // 8] ^ 1 << bit % 8]) + data[bit // 8 + 1 :]
