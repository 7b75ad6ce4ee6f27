"""Simulated links and the meter of a run: messages, bytes, rounds and seconds, by stage and by role.

Processor time is measured; what the network would add comes from the link model, on a virtual clock. Neither is visible
to a role. A round is a causal step: a message's depth is one more than the deepest message its sender had read before.
"""

from __future__ import annotations

import time
from collections import defaultdict
from dataclasses import dataclass, field

from protocols.runtime.channel import Envelope
from protocols.runtime.session import CURATOR_NAME, PUBLIC_NAME

TOPOLOGIES = ("mesh", "star")


def is_relayed(topology: str, sender: str, to: str) -> bool:
    """Whether mail between these two goes through Charlie, sealed as it is."""
    return topology == "star" and CURATOR_NAME not in (sender, to) and to != PUBLIC_NAME


@dataclass(frozen=True)
class Link:
    """A link between two sites: one-way latency in seconds, bytes per second, extra bytes per message."""

    latency: float
    bandwidth: float
    overhead: int

    def seconds(self, size: int) -> float:
        """How long a message of this size keeps the sender's line busy."""
        return (size + self.overhead) / self.bandwidth if self.bandwidth else 0.0


# Round figures, stated rather than measured: a switched office network, and hospitals on business lines across a
# country. The overhead is that of TCP/IP and TLS records for a message of one packet.
LINKS = {
    "none": Link(0.0, 0.0, 0),
    "lan": Link(0.0002, 125e6, 100),
    "wan": Link(0.020, 12.5e6, 100),
}


@dataclass
class StageMeter:
    """What one stage cost: messages and bytes on the wire, rounds, processor seconds by role, virtual seconds at its
    end.
    """

    messages: int = 0
    bytes: int = 0
    rounds: int = 0
    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    finished: float = 0.0


class Meter:
    """Observes a simulated run."""

    def __init__(self, names: tuple[str, ...], link: Link, topology: str) -> None:
        self.stages: dict[str, StageMeter] = {}
        self.clock = dict.fromkeys(names, 0.0)
        self._link, self._topology = link, topology
        self._stage = dict.fromkeys(names, "setup")
        self._depth = dict.fromkeys(names, 0)
        self._busy: dict[str, float] = defaultdict(float)
        self._mail: dict[int, tuple[int, float]] = {}
        self._running: str | None = None
        self._mark = 0.0
        self._deepest = 0

    def start(self, name: str) -> None:
        """This role computes from now on."""
        self._running, self._mark = name, time.process_time()

    def stop(self) -> None:
        """Nobody computes."""
        self._lap()
        self._running = None

    def stage(self, name: str, stage: str) -> None:
        """A role enters a stage."""
        self._lap()
        self._stage[name] = stage

    def sent(self, n: int, envelope: Envelope) -> None:
        """A role sends the envelope that the record numbers n."""
        self._lap()
        name = envelope.sender
        hops = 2 if is_relayed(self._topology, name, envelope.to) else 1
        meter = self._meter(name)
        meter.messages += hops
        meter.bytes += hops * (envelope.size + self._link.overhead)
        depth = self._depth[name] + 1
        if envelope.to != PUBLIC_NAME and depth > self._deepest:
            meter.rounds += depth - self._deepest
            self._deepest = depth
        arrival = self.clock[name]
        for sender in (name, CURATOR_NAME)[:hops]:
            self._busy[sender] = max(self._busy[sender], arrival) + self._link.seconds(envelope.size)
            arrival = self._busy[sender] + self._link.latency
        self._mail[n] = (depth, arrival)
        meter.finished = max(meter.finished, self.clock[name])

    def consumed(self, receiver: str, reference: int) -> None:
        """A role reads an envelope: its clock cannot be before the arrival."""
        self._lap()
        depth, arrival = self._mail[reference]
        self._depth[receiver] = max(self._depth[receiver], depth)
        self.clock[receiver] = max(self.clock[receiver], arrival)

    def _meter(self, name: str) -> StageMeter:
        return self.stages.setdefault(self._stage[name], StageMeter())

    def _lap(self) -> None:
        now = time.process_time()
        if self._running is not None:
            meter = self._meter(self._running)
            meter.seconds[self._running] += now - self._mark
            self.clock[self._running] += now - self._mark
            meter.finished = max(meter.finished, self.clock[self._running])
        self._mark = now
