"""Masks of words from one-time keys: a row under the key that Charlie may open, a summand under all edges."""

from __future__ import annotations

from collections.abc import Sequence

from protocols.arithmetic import words
from protocols.arithmetic.ring import Vector
from protocols.crypto import masking
from protocols.linear.parameters import Parameters
from protocols.linear.values import Masks

_EPK_BYTES = 32


def mask_row(p: Parameters, eta: Vector, kappa: bytes) -> Vector:
    """Return r = eta + PRG(kappa)."""
    return _blinded(p, eta, (kappa,), ())


def unmask_row(p: Parameters, masked: Vector, kappa: bytes) -> Vector:
    """Return the row without the mask of kappa."""
    return _blinded(p, masked, (), (kappa,))


def masked_share(p: Parameters, summand: Vector, edges: Masks) -> Vector:
    """Return y: the summand, and for each edge a mask, added at its lower end and subtracted at its higher one."""
    return _blinded(p, summand, edges.plus, edges.minus)


def blind_rows(p: Parameters, rows: Sequence[Vector], s: Vector) -> list[Vector]:
    """Return r_j + s for each row."""
    mask = words.to_bytes(s, p.width)
    return [masking.combined((words.to_bytes(row, p.width), mask), (), len(s), p.width) for row in rows]


def pack_row(p: Parameters, epk: bytes, masked: Vector) -> bytes:
    """Return the content to be locked for one party: its epk, and its row under s."""
    return epk + words.to_bytes(masked, p.width)


def unpack_row(p: Parameters, content: bytes) -> tuple[bytes, Vector]:
    """Return the epk and the row of a content."""
    return content[:_EPK_BYTES], words.from_bytes(content[_EPK_BYTES:], p.width)


def _blinded(p: Parameters, x: Vector, plus: tuple[bytes, ...], minus: tuple[bytes, ...]) -> Vector:
    added, taken = ([masking.expand(key, len(x), p.width) for key in keys] for keys in (plus, minus))
    return masking.combined([words.to_bytes(x, p.width), *added], taken, len(x), p.width)
