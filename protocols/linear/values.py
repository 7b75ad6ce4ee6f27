"""What the stages leave behind: plain frozen values, all that survives a stage."""

from __future__ import annotations

from dataclasses import dataclass

from protocols.arithmetic.ring import Vector
from protocols.crypto import oblivious
from protocols.pathak2010.values import PartyInput as PartyInput


@dataclass(frozen=True, repr=False)
class PartyKeys:
    """Charlie's box key; and his point of the base transfers, which only P_1 has."""

    box: bytes
    A: bytes | None


@dataclass(frozen=True, repr=False)
class CuratorKeys:
    """The secret of the box key, and the base transfers that Charlie offers."""

    box: bytes
    offer: oblivious.Offer


@dataclass(frozen=True, repr=False)
class Masks:
    """The seeds of the edges at a participant: of those at whose lower end it is, and at whose higher one."""

    plus: tuple[bytes, ...]
    minus: tuple[bytes, ...]


@dataclass(frozen=True, repr=False)
class Submitted:
    """What a party has left of what it entered: its own epk, by which it would know its row, and its masks."""

    epk: bytes
    masks: Masks


@dataclass(frozen=True, repr=False)
class Gathered:
    """What P_1 has of all parties in their order, its own too: halves of sizes, rows, and what opens them."""

    a: tuple[int, ...]
    epks: tuple[bytes, ...]
    rows: tuple[Vector, ...]
    choice: oblivious.Choice


@dataclass(frozen=True, repr=False)
class Halves:
    """What Charlie has of all parties in their order, the other halves; the garbler's points; and his masks."""

    b: tuple[int, ...]
    points: tuple[bytes, ...]
    masks: Masks


@dataclass(frozen=True, repr=False)
class OpenedRow:
    """What Charlie has of the row that opened: the epk in it, by which its owner would know it, and his summand."""

    epk: bytes
    summand: Vector


@dataclass(frozen=True, repr=False)
class Announced:
    """A participant's own share y and the digest of all commitments; of Charlie also these themselves, in the order of
    all participants.
    """

    y: Vector
    go: bytes
    commitments: tuple[bytes, ...] = ()


RECORDS = (
    *(PartyInput, PartyKeys, CuratorKeys, Masks, Submitted, Gathered, Halves, OpenedRow, Announced),
    *(oblivious.Offer, oblivious.Choice),
)
