"""Hostile relays and peers: what they make of the frames on their way to one reader."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import cbor2

from protocols.crypto.identity import Identity
from protocols.runtime.envelope import Envelope
from protocols.runtime.session import PUBLIC_NAME
from smc_dp.deploy.approval import Approval
from smc_dp.deploy.frame import Carrier, Frame, Lane
from smc_dp.deploy.release import transcript_frames, transcript_from_frames
from smc_dp.deploy.study import JointStudy
from smc_dp.run.status_message import Code, Notice
from support import sites
from support.relay_carriers import PassingCarrier

Change = Callable[[Frame], Iterable[Frame]]


class HubCarrier(PassingCarrier):
    """Brings what somebody made of what came; that it was taken is said of what came."""

    def __init__(self, inner: Carrier, change: Change) -> None:
        super().__init__(inner)
        self._change = change
        self._came: list[Frame] = []

    def fetch(self, seconds: float) -> list[Frame]:
        self.inner.taken(self._came)
        self._came = self.inner.fetch(seconds)
        return [made for frame in self._came for made in self._change(frame)]

    def taken(self, frames: Sequence[Frame]) -> None:
        """Said with the next look."""


@dataclass(frozen=True)
class At:
    """One place on the way to a reader."""

    sender: str
    to: str
    lane: Lane
    number: int

    def is_of(self, frame: Frame) -> bool:
        return frame.key == (self.sender, self.to, self.lane, self.number)

    def becomes(self, make: Callable[[Frame], Frame | list[Frame]]) -> Change:
        """Only the frame of this place is another, or several."""

        def change(frame: Frame) -> list[Frame]:
            made = make(frame) if self.is_of(frame) else frame
            return made if isinstance(made, list) else [made]

        return change


def body(make: Callable[[bytes], bytes]) -> Callable[[Frame], Frame]:
    return lambda frame: replace(frame, body=make(frame.body))


def envelope(**other: Any) -> Callable[[Frame], Frame]:
    """The same envelope with other fields."""
    return body(lambda content: replace(Envelope.decode(content), **other).encode())


def flipped(content: bytes, at: int = -1) -> bytes:
    """One bit of it is another."""
    changed = bytearray(content)
    changed[at] ^= 1
    return bytes(changed)


def inside(make: Callable[[bytes], bytes]) -> Callable[[Frame], Frame]:
    """What the envelope holds is another."""

    def made(content: bytes) -> bytes:
        found = Envelope.decode(content)
        return replace(found, body=make(found.body)).encode()

    return body(made)


def signed_by(other: Identity) -> Callable[[Frame], Frame]:
    """The same greeting, signed under another identity."""

    def made(content: bytes) -> bytes:
        found = Envelope.decode(content)
        payload = found.body[:-64]
        return replace(found, body=payload + other.sign(found.header + payload)).encode()

    return body(made)


def besides(*made: Frame) -> Callable[[Frame], list[Frame]]:
    """These come with it."""
    return lambda frame: [frame, *made]


def approved(approval: Approval, number: int = 0, study: str = "") -> Frame:
    return Frame(study or approval.study, approval.name, PUBLIC_NAME, "approval", number, approval.encode())


def said(
    study: JointStudy, sender: str, code: Code, session: bytes, lane: Lane = "notice", *, by: str = "", of: str = ""
) -> Frame:
    """A notice that says it is this sender's, signed by whoever it is `by`."""
    notice = Notice.made(of or study.digest, session, sender, code, b"", sites.identity(by or sender))
    return Frame(study.digest, sender, PUBLIC_NAME, lane, 7, notice.encode())


def record(make: Callable[[bytes], bytes]) -> Change:
    """The record is another; it is in one part in these small studies."""

    def change(frame: Frame) -> list[Frame]:
        if frame.lane != "transcript":
            return [frame]
        content = transcript_from_frames([frame])
        assert content is not None
        return transcript_frames(frame.study, make(content))

    return change


def part(number: int, count: object, piece: object) -> Callable[[Frame], Frame]:
    """What comes as a part of the record says of itself that it is this one."""
    return body(lambda content: cbor2.dumps([number, count, piece]))
