"""Corrupted participants of a study: they sign and seal what they please, and honest sites take their turns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from protocols.arithmetic.rng import Stream
from protocols.curator import CURATOR_NAME
from protocols.programs import PROTOCOLS
from protocols.runtime import message
from protocols.runtime.conversation import Conversation
from protocols.runtime.envelope import STAGE_END, Envelope
from protocols.runtime.session import PUBLIC_NAME, Session
from smc_dp.deploy.frame import Frame, Lane
from smc_dp.deploy.site import Site
from smc_dp.deploy.study import PARTY_PATIENCE
from smc_dp.run.status_message import NOTHING_SENT, Code, Notice
from support import sites
from support.sites import GREETINGS, MESSAGES, Sites

ROUND = 7.0  # seconds between two turns of a site


def site_of(run: Sites, name: str) -> Site:
    site = run.going[name]._site
    assert site is not None
    return site


class Corrupted:
    """Takes over from the program of a participant: has its identity, its links and its place at the relay."""

    def __init__(self, run: Sites, name: str) -> None:
        self.run, self.name = run, name
        self.site = site_of(run, name)
        self.session: Session = self.site.session
        self._notices = 0
        run.away.add(name)
        for frame in run.stores[name].outgoing(unsent=True):
            run.relay.put(frame)

    def seal(self, to: str, kind: str, stage: str, payload: bytes) -> Envelope:
        """Send the next message of a link."""
        return self._put(self.site.actor.channel.seal(to, kind, stage, payload))

    def sign(self, kind: str, stage: str, payload: bytes = b"") -> Envelope:
        """Send the next signed message to all."""
        return self._put(self.site.actor.channel.sign(kind, stage, payload))

    def say(self, code: Code, *, session: bool = True, sent: Mapping[str, int] = NOTHING_SENT) -> None:
        """Send a status message, or a refusal of before the session."""
        lane: Lane = "notice" if session else "refusal"
        spoken_in = self.session.id if session else b""
        said = Notice.made(self.run.study.digest, spoken_in, self.name, code, b"", sites.identity(self.name), (), sent)
        self.put(PUBLIC_NAME, lane, self._notices, said.encode())
        self._notices += 1

    def put(self, to: str, lane: Lane, number: int, body: bytes) -> None:
        """Hand any frame to the relay."""
        self.run.relay.put(Frame(self.run.study.digest, self.name, to, lane, number, body))

    def _put(self, envelope: Envelope) -> Envelope:
        self.put(envelope.to, "envelope", envelope.number, envelope.encode())
        return envelope


def conversation_of(run: Sites, name: str) -> Conversation:
    """The conversation of this participant's session, as its program declares it."""
    protocol = PROTOCOLS[run.study.agreement().protocol]
    assert protocol.conversation is not None
    return protocol.conversation(site_of(run, name).session.parameters)


def declared_reads(run: Sites, name: str) -> int:
    """Number of messages that the role of this participant reads at most, as its program declares them."""
    talk = conversation_of(run, name)
    (mine,) = (group for group, names in talk.groups.items() if name in names)
    flows = [flow for turn in talk.turns for flow in turn.flows if mine in flow.to]
    return sum(flow.times * sum(len(talk.groups[group]) for group in flow.senders) for flow in flows)


def patience(name: str) -> float:
    return MESSAGES * (1 if name == CURATOR_NAME else PARTY_PATIENCE)


@dataclass
class Course:
    """When each honest site ended, and when before that its role last consumed a message; seconds since noon. `waits`:
    for how many seconds it last waited.
    """

    ended: dict[str, float] = field(default_factory=dict)
    consumed: dict[str, float] = field(default_factory=dict)
    waits: dict[str, float] = field(default_factory=dict)

    def late(self, run: Sites) -> Mapping[str, float]:
        """Seconds by which sites ended too late: more than a deadline after the last message, or too many in all."""
        found = {}
        for name, end in self.ended.items():
            most = 3 * GREETINGS + (declared_reads(run, name) + 1) * patience(name)
            wait = self.waits.get(name, patience(name))
            found[name] = max(end - self.consumed[name] - wait, end - most) - 2 * ROUND
        return {name: seconds for name, seconds in found.items() if seconds > 0}


def course(run: Sites, act: Callable[[], object], *, rounds: int = 2000) -> Course:
    """In each round the corrupted ones act, every honest site looks once, and time passes."""
    found, reads = Course(), dict[str, tuple[bool, int]]()
    for _ in range(rounds):
        left = [name for name in run.study.names if name not in run.ends and name not in run.away]
        if not left:
            return found
        act()
        for name in left:
            if (site := run.going[name]._site) is not None:
                found.waits[name] = MESSAGES * (site.actor.deadlines or patience(name) / MESSAGES)
            run.turn(name)
            site = run.going[name]._site
            if site is not None and (now := (site.has_greetings, site.consumed)) != reads.get(name):
                reads[name], found.consumed[name] = now, run.clock.now - sites.NOON
            if name in run.ends:
                found.ended[name] = run.clock.now - sites.NOON
        run.clock.now += ROUND
    raise AssertionError(f"no end: {run.ends}, {dict(run.said)}")


def anything(who: Corrupted, draws: Stream) -> None:
    """Send one of all that a corrupted participant can: messages of its program early, junk, notices, or nothing."""
    talk, session = conversation_of(who.run, who.name), who.session
    stages = [*dict.fromkeys(stage for stages in talk.stages.values() for stage in stages), "end"]
    peers = sorted(who.site.actor.channel.peers) or [PUBLIC_NAME]  # none where its own part is over
    to, stage, kind = (some[draws.below(len(some))] for some in (peers, stages, [*sorted(session.kinds), "Junk"]))
    codes: tuple[Code, ...] = ("refused", "aborted", "deadline", "done")
    match draws.below(7):
        case 0 if to != PUBLIC_NAME:
            who.seal(to, kind, stage, bytes(draws.below(200)))
        case 1 if to != PUBLIC_NAME and kind in session.kinds:
            who.seal(to, kind, stage, bytes(message.size(session.kinds[kind], session.layout_in(stage))))
        case 2:
            who.sign(STAGE_END, stage)
        case 3:
            who.say(codes[draws.below(len(codes))])
        case 4:
            who.say("refused", session=False)
        case 5:
            who.put(PUBLIC_NAME, "notice", draws.below(1000), b"{}")
