"""Simulated links, the virtual clock of a run, and its traffic.

Messages, bytes and rounds are counted from envelopes, by anybody who holds the transcript. Seconds are a site's own:
processor time is measured, and the delay of the network comes from the link model, on a virtual clock. Neither is
visible to a role.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from protocols.errors import LocalError
from protocols.runtime.envelope import HELLO, Envelope
from protocols.runtime.session import Session

TOPOLOGIES = ("mesh", "star")


def is_relayed(topology: str, session: Session, envelope: Envelope) -> bool:
    """Tell whether the curator relays this envelope, sealed as it is."""
    between = session.curator in (envelope.sender, envelope.to) or envelope.is_public
    return topology == "star" and not between


def check_topology(topology: str, session: Session) -> None:
    """Raise `LocalError` for a star without a curator."""
    if topology == "star" and session.curator is None:
        raise LocalError("network.star_without_a_curator", name=session.program.name)


@dataclass(frozen=True)
class Link:
    """Link between two sites: one-way latency in seconds, bytes per second, extra bytes per message."""

    latency: float
    bandwidth: float
    overhead: int

    def seconds(self, size: int) -> float:
        """Return the seconds for which a message of this size occupies the sender's line."""
        return (size + self.overhead) / self.bandwidth if self.bandwidth else 0.0


# Round figures, stated rather than measured: a switched office network, and hospitals on business lines across a
# country. The overhead is that of TCP/IP and TLS records for a message of one packet.
LINK_MODELS = {
    "none": Link(0.0, 0.0, 0),
    "lan": Link(0.0002, 125e6, 100),
    "wan": Link(0.020, 12.5e6, 100),
}


@dataclass
class Traffic:
    """Traffic of one stage: messages, bytes, rounds."""

    messages: int = 0
    bytes: int = 0
    rounds: int = 0


class Tally:
    """Traffic by stage, in the order of their last envelopes; a relayed envelope counts twice.

    The rounds of a stage are those by which it is deeper than all before. Publications and ends of stages follow the
    last round; greetings are one round.
    """

    def __init__(self, session: Session, link: Link, topology: str) -> None:
        self.stages: dict[str, Traffic] = {}
        self._session, self._link, self._topology = session, link, topology
        self._deepest = 0

    def add(self, envelope: Envelope) -> None:
        """Count the next envelope."""
        found = self.stages[envelope.stage] = self.stages.pop(envelope.stage, Traffic())
        hops = 2 if is_relayed(self._topology, self._session, envelope) else 1
        found.messages += hops
        found.bytes += hops * (envelope.size + self._link.overhead)
        if envelope.round > self._deepest and (not envelope.is_public or envelope.kind == HELLO):
            found.rounds += envelope.round - self._deepest
            self._deepest = envelope.round


def traffic(envelopes: Iterable[Envelope], session: Session, link: Link, topology: str) -> dict[str, Traffic]:
    """Return the traffic by stage of a transcript's envelopes."""
    tally = Tally(session, link, topology)
    for envelope in envelopes:
        tally.add(envelope)
    return tally.stages


class Clock:
    """Clock of a simulated run: processor time, and each role's time on the virtual clock.

    `processor_seconds` is by stage and role, `finished` the virtual time at which the last role left a stage, `now` the
    virtual time of each role.
    """

    def __init__(self, session: Session, link: Link, topology: str) -> None:
        self.processor_seconds: dict[str, dict[str, float]] = {}
        self.finished: dict[str, float] = {}
        self.now = dict.fromkeys(session.names, 0.0)
        self._session, self._link, self._topology = session, link, topology
        self._stage = dict.fromkeys(session.names, "setup")  # what a role does before its first stage counts there
        self._busy: dict[str, float] = defaultdict(float)
        self._arrival: dict[tuple[str, str, int], float] = {}
        self._greeted: dict[str, float] = {}
        self._running: str | None = None
        self._charged = 0.0
        self._last_reading = 0.0

    def start(self, name: str) -> None:
        """Start the measurement of this role."""
        self._running, self._last_reading = name, self.read()

    def stop(self) -> None:
        """Stop the measurement."""
        self._lap()
        self._running = None

    def stage(self, name: str, stage: str) -> None:
        """Note that a role enters a stage."""
        self._lap()
        self._stage[name] = stage

    def sent(self, envelope: Envelope) -> None:
        """Note the departure of an envelope, and compute its arrival."""
        self._lap()
        name = envelope.sender
        relayed = is_relayed(self._topology, self._session, envelope)
        hops = (name, self._session.curator or "") if relayed else (name,)
        arrival = self.now[name]
        for sender in hops:
            self._busy[sender] = max(self._busy[sender], arrival) + self._link.seconds(envelope.size)
            arrival = self._busy[sender] + self._link.latency
        if envelope.kind == HELLO:
            self._greeted[name] = arrival
        elif not envelope.is_public:
            self._arrival[name, envelope.to, envelope.number] = arrival
        self._finish(name)

    def started(self, name: str) -> None:
        """Note that a role has the greetings of its peers: its clock is not before the last of them."""
        peers = self._session.peers(name)
        self.now[name] = max([self.now[name], *(self._greeted[peer] for peer in peers if peer in self._greeted)])

    def consumed(self, receiver: str, sender: str, number: int) -> None:
        """Note that a role reads an envelope: its clock is not before the arrival."""
        self._lap()
        self.now[receiver] = max(self.now[receiver], self._arrival.pop((sender, receiver, number), 0.0))

    def charge(self, seconds: float) -> None:
        """Count seconds that the running role would have taken at its site, and did not take here."""
        self._charged += seconds

    def _finish(self, name: str) -> None:
        stage = self._stage[name]
        self.finished[stage] = max(self.finished.get(stage, 0.0), self.now[name])

    def read(self) -> float:
        """Return the processor time, with what was charged."""
        return self._charged + time.process_time()

    def _lap(self) -> None:
        now = self.read()
        if self._running is not None:
            name = self._running
            by_role = self.processor_seconds.setdefault(self._stage[name], {})
            by_role[name] = by_role.get(name, 0.0) + now - self._last_reading
            self.now[name] += now - self._last_reading
            self._finish(name)
        self._last_reading = now
