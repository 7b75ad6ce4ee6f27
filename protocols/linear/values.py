"""Results of the stages: plain frozen values, all that survives a stage."""

from __future__ import annotations

from dataclasses import dataclass

from protocols.arithmetic.ring import Vector
from protocols.crypto import oblivious
from protocols.pathak2010.values import PartyInput as PartyInput


@dataclass(frozen=True, repr=False)
class PartyKeys:
    """Box key of Charlie, and his point of the base transfers, which only P_1 has."""

    box: bytes
    A: bytes | None


@dataclass(frozen=True, repr=False)
class CuratorKeys:
    """Secret of the box key, and the base transfers that Charlie offers."""

    box: bytes
    offer: oblivious.Offer


@dataclass(frozen=True, repr=False)
class Masks:
    """Seeds of the edges at a participant: those at whose lower end it is, and at whose higher one."""

    plus: tuple[bytes, ...]
    minus: tuple[bytes, ...]


@dataclass(frozen=True, repr=False)
class Submitted:
    """Remains of a party's input: its own epk, by which it would know its row, and its masks."""

    epk: bytes
    masks: Masks


@dataclass(frozen=True, repr=False)
class Gathered:
    """Values of all parties that P_1 has, in order: halves of sizes, rows, and epks; and its choice."""

    a: tuple[int, ...]
    epks: tuple[bytes, ...]
    rows: tuple[Vector, ...]
    choice: oblivious.Choice


@dataclass(frozen=True, repr=False)
class Halves:
    """Values of all parties that Charlie has, in order: the other halves; the points by which P_1 chose in the base
    transfers; and his masks.
    """

    b: tuple[int, ...]
    choice_points: tuple[bytes, ...]
    masks: Masks


@dataclass(frozen=True, repr=False)
class OpenedRow:
    """Row that opened for Charlie: the epk in it, by which its owner would know it, and his summand."""

    epk: bytes
    summand: Vector


@dataclass(frozen=True, repr=False)
class Announced:
    """Participant's own share y and the digest of all commitments; Charlie also has these, in order."""

    y: Vector
    go: bytes
    commitments: tuple[bytes, ...] = ()


RECORDS = (
    *(PartyInput, PartyKeys, CuratorKeys, Masks, Submitted, Gathered, Halves, OpenedRow, Announced),
    *(oblivious.Offer, oblivious.Choice),
)
