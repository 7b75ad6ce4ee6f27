"""Frames that a carrier takes from site to site, and the interface of a carrier.

A carrier takes no part in the security of a session: what is in a frame is sealed to its addressee or signed for
everybody, so a relay that reads, repeats, delays, reorders, keeps or changes frames can stop a session and no more.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, Literal, Protocol, TypeAlias, get_args

import cbor2

from protocols.runtime.envelope import MAX_ENVELOPE_BYTES
from protocols.runtime.session import MAX_NAME
from smc_dp.core.errors import Fault, FaultError, InputError, InputFault

Lane: TypeAlias = Literal["approval", "refusal", "seen", "head", "cosigned", "envelope", "notice", "transcript"]
LANES: tuple[Lane, ...] = get_args(Lane)
MOST_FRAME_BYTES = MAX_ENVELOPE_BYTES + (1 << 12)
_DIGEST_DIGITS = 64
_MOST_NUMBER = 1 << 63


@dataclass(frozen=True)
class Frame:
    """Body on its way from one participant to another, or to all (`PUBLIC_NAME`).

    `study` is the digest of the study, `number` counts the sender's frames to this addressee in this lane, from 0. In
    the lane "envelope" the body is an envelope, and the number is the envelope's.
    """

    study: str
    sender: str
    to: str
    lane: Lane
    number: int
    body: bytes = field(repr=False)

    @property
    def key(self) -> tuple[str, str, str, int]:
        """Key that no two different frames of a study share."""
        return self.sender, self.to, self.lane, self.number

    @cached_property
    def digest(self) -> bytes:
        """SHA-256 of the encoded frame."""
        return hashlib.sha256(self.encode()).digest()

    def encode(self) -> bytes:
        """Encode the frame as a canonical CBOR array of its six parts."""
        parts = [self.study, self.sender, self.to, self.lane, self.number, self.body]
        return cbor2.dumps(parts, canonical=True)

    @classmethod
    def decode(cls, data: bytes) -> Frame:
        """Decode a frame. InputError for bytes that are not exactly one."""
        if len(data) > MOST_FRAME_BYTES:
            raise InputError("relay_frame.too_long", most=MOST_FRAME_BYTES, got=len(data))
        try:
            parts = cbor2.loads(data, max_depth=2, allow_indefinite=False, allow_duplicate_keys=False)
            found = cls(*parts) if isinstance(parts, list) else None
            if found is None or not found._is_well_formed() or found.encode() != data:
                raise ValueError("not the bytes of one")
        except (cbor2.CBORError, ArithmeticError, LookupError, TypeError, ValueError) as error:
            raise InputError("relay_frame.malformed", why=type(error).__name__) from None
        return found

    def _is_well_formed(self) -> bool:
        kinds = [type(part) for part in (self.study, self.sender, self.to, self.lane, self.number, self.body)]
        return (
            kinds == [str, str, str, str, int, bytes]
            and len(self.study) == _DIGEST_DIGITS
            and all(0 < len(name) <= MAX_NAME for name in (self.sender, self.to))
            and self.lane in LANES
            and 0 <= self.number < _MOST_NUMBER
        )


class CarrierError(FaultError):
    """Failure of a relay, on one line. The caller waits and tries again."""

    KIND: ClassVar[type[Fault]] = InputFault


class Carrier(Protocol):
    """Connection of one site to the relay of one study. Every method raises `CarrierError`."""

    def send(self, frames: Sequence[Frame]) -> None:
        """Hand frames over in this order. The relay has stored them when this returns; repeats do no harm."""
        ...

    def fetch(self, seconds: float) -> list[Frame]:
        """Return frames for this site and for all that were not acknowledged by `taken`. They may repeat, in any order.

        Waits at most so long for the first, and returns none when none came.
        """
        ...

    def taken(self, frames: Sequence[Frame]) -> None:
        """Acknowledge frames that this site has stored."""
        ...

    def last(self, to: str, lane: Lane) -> Frame | None:
        """Return the last frame that the relay has from this site to this addressee in this lane."""
        ...

    def close(self) -> None:
        """Close the connection."""
        ...
