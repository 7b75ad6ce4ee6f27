"""Subjects of a study at a NATS relay: its stream, its frames, and the consumers of each site.

A participant is the word of its name: the name, with "~" in place of each dot, which would end a word of a subject.
A name has letters, digits, dots, hyphens and underscores alone (`fields.SiteName`), so no two names have one word.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from protocols.curator import CURATOR_NAME
from protocols.runtime.session import PUBLIC_NAME
from smc_dp.deploy.frame import Frame

_ALL = "~all"  # no name begins with a dot
_DIGITS = 32  # of the study's digest, 128 bits


@dataclass(frozen=True)
class RelaySubjects:
    """Subjects of one study, by its digest and the names of all participants in order."""

    study: str
    names: tuple[str, ...]

    @property
    def stream(self) -> str:
        """Name of the stream, and first word of all its subjects."""
        return f"smc-{self.study[:_DIGITS]}"

    @cached_property
    def seats(self) -> dict[str, str]:
        """Word that stands for each participant, and for all of them."""
        return {**{name: name.replace(".", "~") for name in self.names}, PUBLIC_NAME: _ALL}

    def frames(self, sender: str, to: str, lane: str) -> str:
        """Return the pattern of the subjects of the frames of a lane."""
        return f"{self._lane(sender, to, lane)}.*"

    def of_frame(self, frame: Frame) -> str:
        """Return the subject of a frame, where nothing else can lie."""
        return f"{self._lane(frame.sender, frame.to, frame.lane)}.{frame.digest.hex()}"

    def _lane(self, sender: str, to: str, lane: str) -> str:
        return f"{self.stream}.{self.seats[sender]}.{self.seats[to]}.{lane}"

    def fits(self, subject: str, frame: Frame) -> bool:
        """Return whether the frame belongs under this subject, where only its sender can put it."""
        known = {frame.sender, frame.to} <= self.seats.keys() and frame.sender != PUBLIC_NAME
        return known and frame.study == self.study and subject == self.of_frame(frame)

    def is_for(self, name: str, frame: Frame) -> bool:
        """Return whether a site fetches this frame: its own, those for all, and for the curator all envelopes."""
        kept = self.keeps(name) and frame.lane == "envelope"
        return frame.sender != name and (frame.to in (name, PUBLIC_NAME) or kept)

    def keeps(self, name: str) -> bool:
        """Return whether this participant keeps the transcript."""
        return name == CURATOR_NAME

    def consumers(self, name: str) -> dict[str, str]:
        """Return the consumers of a site, each with its filter. Pieces of long frames have longer subjects."""
        seat = self.seats[name]
        if self.keeps(name):
            return {seat: f"{self.stream}.*.*.*.*"}
        return {seat: f"{self.stream}.*.{seat}.*.*", f"{_ALL}~{seat}": f"{self.stream}.*.{_ALL}.*.*"}

    def asking(self, consumer: str) -> str:
        """Return the subject on which a consumer is asked for messages."""
        return f"$JS.API.CONSUMER.MSG.NEXT.{self.stream}.{consumer}"

    def acknowledging(self, consumer: str) -> str:
        """Return the prefix of the subjects on which messages of a consumer are acknowledged."""
        return f"$JS.ACK.{self.stream}.{consumer}."

    def looking(self, subject: str) -> str:
        """Return the subject on which the last message under a subject is asked for."""
        return f"$JS.API.DIRECT.GET.{self.stream}.{subject}"

    def inbox(self, name: str) -> str:
        """Return the prefix of the subjects on which a site is answered."""
        return f"_INBOX_{self.seats[name]}"

    def posting(self, name: str) -> str:
        """Return the subjects under which a site may store frames of its own, and their pieces."""
        return f"{self.stream}.{self.seats[name]}.>"

    def request_subjects(self, name: str) -> list[str]:
        """Return the subjects on which a site may ask: its consumers, its own frames, and pieces of others."""
        brought = [f"{f}.*" for f in self.consumers(name).values()]
        return [*map(self.asking, self.consumers(name)), *map(self.looking, (self.posting(name), *brought))]

    def acknowledged(self, name: str) -> list[str]:
        """Return the subjects on which a site may acknowledge."""
        return [f"{self.acknowledging(consumer)}>" for consumer in self.consumers(name)]

    def published(self, name: str) -> list[str]:
        """Return all subjects on which a site may publish."""
        return [self.posting(name), *self.request_subjects(name), *self.acknowledged(name)]
