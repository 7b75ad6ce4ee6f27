"""What is where at a relay: the stream of a study, the subjects of its parcels, the consumers of each site.

A participant is its seat, the position of its name in the study, so that no subject depends on the letters of a name.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from protocols.curator import CURATOR_NAME
from protocols.runtime.session import PUBLIC_NAME
from smc_dp.deploy.frame import LANES, Parcel

_ALL = "all"
_DIGITS = 32  # of the study's digest, 128 bits


@dataclass(frozen=True)
class RelayPlaces:
    """The places of one study, by its digest and the names of all participants in order."""

    study: str
    names: tuple[str, ...]

    @property
    def stream(self) -> str:
        """Its stream, and the first word of all its subjects."""
        return f"smc-{self.study[:_DIGITS]}"

    @cached_property
    def seats(self) -> dict[str, str]:
        """The word that stands for each participant, and for all of them."""
        return {**{name: f"p{n}" for n, name in enumerate(self.names)}, PUBLIC_NAME: _ALL}

    def subject(self, sender: str, to: str, lane: str) -> str:
        """Where the parcels of a lane are."""
        return f"{self.stream}.{self.seats[sender]}.{self.seats[to]}.{lane}"

    def fits(self, subject: str, parcel: Parcel) -> bool:
        """Whether this parcel may stand there: the relay lets nobody but its sender put it there."""
        known = {parcel.sender, parcel.to} <= self.seats.keys() and parcel.sender != PUBLIC_NAME
        return known and parcel.study == self.study and subject == self.subject(parcel.sender, parcel.to, parcel.lane)

    def is_for(self, name: str, parcel: Parcel) -> bool:
        """Whether a site is brought this parcel: its own post, what is for all, and for the keeper all mail."""
        kept = self.keeps(name) and parcel.lane == "mail"
        return parcel.sender != name and (parcel.to in (name, PUBLIC_NAME) or kept)

    def keeps(self, name: str) -> bool:
        """Whether this is the keeper of the record."""
        return name == CURATOR_NAME

    def consumers(self, name: str) -> dict[str, str]:
        """The consumers of a site, and what each is brought; pieces of long parcels have longer subjects."""
        seat = self.seats[name]
        if self.keeps(name):
            return {seat: f"{self.stream}.*.*.*"}
        return {seat: f"{self.stream}.*.{seat}.*", f"{seat}-{_ALL}": f"{self.stream}.*.{_ALL}.*"}

    def asking(self, consumer: str) -> str:
        """Where a consumer is asked for what it has."""
        return f"$JS.API.CONSUMER.MSG.NEXT.{self.stream}.{consumer}"

    def acknowledging(self, consumer: str) -> str:
        """How the subjects begin on which a consumer is told what was taken."""
        return f"$JS.ACK.{self.stream}.{consumer}."

    def looking(self, subject: str) -> str:
        """Where the last message under one subject is asked for."""
        return f"$JS.API.DIRECT.GET.{self.stream}.{subject}"

    def inbox(self, name: str) -> str:
        """How the subjects begin on which a site is answered."""
        return f"_INBOX_{self.seats[name]}"

    def certificate_name(self, name: str) -> str:
        """What the certificate of a site is made out to."""
        return f"{self.stream}-{self.seats[name]}"

    def posting(self, name: str) -> list[str]:
        """Where a site may post: from itself, to each of the others and to all, in every lane; and pieces of it."""
        places = [self.subject(name, to, lane) for to in self.seats if to != name for lane in LANES]
        return [*places, *(f"{place}.*.*" for place in places)]

    def asked(self, name: str) -> list[str]:
        """Where a site may ask: its own consumers, what it posted itself, and the pieces of what is brought to it."""
        brought = [f"{f}.*.*" for f in self.consumers(name).values()]
        return [
            *map(self.asking, self.consumers(name)),
            *map(self.looking, (f"{self.stream}.{self.seats[name]}.>", *brought)),
        ]

    def acknowledged(self, name: str) -> list[str]:
        """Where a site may say what it took."""
        return [f"{self.acknowledging(consumer)}>" for consumer in self.consumers(name)]
