"""Whether a wire record holds the conversation of its protocol: its order, its rounds, all of it, and headers that tell
nothing.

The conversation is learnt by running the protocol's own code, so a new protocol needs no word here.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from protocols.runtime.channel import Envelope
from smc_dp.audit.run.blame import blamed
from smc_dp.audit.run.check import CheckOutcome, failed, passed
from smc_dp.audit.run.conformity.schedule import Schedule, body_bytes, learn, places, walk
from smc_dp.audit.run.evidence import Evidence
from smc_dp.errors import shown


@dataclass(frozen=True)
class Given:
    """A record beside the schedule of its protocol; `sent`: the lines of each participant, in their order."""

    evidence: Evidence
    schedule: Schedule
    sent: dict[str, list[tuple[int, Envelope]]]

    def fixed(self, name: str) -> list[tuple[int, Envelope]]:
        """What this participant sent, without the free kinds."""
        return [(n, e) for n, e in self.sent[name] if e.kind not in self.schedule.free]


def beside_schedule(check: Callable[[Given], CheckOutcome]) -> Callable[[Evidence], CheckOutcome]:
    """The check on the record and its protocol's schedule; failed when the record is far too short for that."""

    def run(evidence: Evidence) -> CheckOutcome:
        schedule = learn(evidence.protocol, evidence.session.parameters, len(evidence.lines))
        if schedule is None:
            return failed(f"the record has {len(evidence.lines)} messages, less than half of what the protocol sends")
        sent: dict[str, list[tuple[int, Envelope]]] = defaultdict(list)
        for n, envelope in evidence.envelopes.items():
            sent[envelope.sender].append((n, envelope))
        return check(Given(evidence, schedule, sent))

    return run


def order(given: Given) -> CheckOutcome:
    """Each participant's messages are those of its role, one after the other, as far as the record goes."""
    for n, text in sorted(_disorders(given)):
        return failed(text, n, blamed(given.evidence, n))
    return passed(f"{len(given.evidence.envelopes)} messages, each the next one of its sender's role")


def rounds(given: Given) -> CheckOutcome:
    """Nothing was sent before all that its sender had to read for it, and the protocol's depth is the record's."""
    schedule = given.schedule
    found = walk(schedule.scripts, schedule.free, given.evidence.envelopes)
    if found.line is not None:
        sender = given.evidence.envelopes[found.line].sender
        return failed(
            f"{sender} cannot have sent this before the message of {found.awaited} that it follows", found.line
        )
    if found.rounds != schedule.rounds:
        return failed(f"{found.rounds} rounds, wanted {schedule.rounds}")
    but = f", {', '.join(schedule.free)} apart" if schedule.free else ""
    return passed(f"{found.rounds} rounds{but}; every message stands after all that its sender had to read for it")


def completeness(given: Given) -> CheckOutcome:
    """Nothing is missing and nothing is there twice: every participant signed every stage and published once.

    Of a kind whose headers differ between toy runs too many show here, and too few do not.
    """
    total = 0
    for name in given.evidence.session.names:
        wanted = Counter((m.kind, m.peer, m.stage) for m in given.schedule.sends(name))
        fixed = given.fixed(name)
        for n, e in fixed:
            wanted[e.kind, e.to, e.stage] -= 1
            if wanted[e.kind, e.to, e.stage] < 0:
                return failed(f"{name} sent more {shown(e.kind)} to {shown(e.to)} than its role does", n)
        if missing := next((key for key, left in wanted.items() if left), None):
            return failed(f"{name} sent no {missing[0]} to {missing[1]} in {missing[2]}, or too few")
        free = Counter(e.kind for _, e in given.sent[name] if e.kind in given.schedule.free)
        for kind, number in free.items():
            if number > given.schedule.free[kind]:
                return failed(f"{name} sent {number} messages {kind}, wanted at most {given.schedule.free[kind]}")
        total += len(fixed) + free.total()
    return passed(f"all {total} messages, and no other")


def headers(given: Given) -> CheckOutcome:
    """What a reader of headers sees is the same whatever the data and coins are: in toy runs, and in this record."""
    schedule, session = given.schedule, given.evidence.session
    for kind in (k for k in session.program.kinds if k.__name__ in schedule.free):
        said = " ".join((kind.__doc__ or "").split())
        return failed(
            f"a finding about {session.program.name}: the headers of {kind.__name__} (step {kind.step}) differ between "
            f"toy runs, so they tell a reader of headers something secret. {said}"
        )
    sizes = body_bytes(session)
    for name in session.names:
        for (n, e), move in zip(given.sent[name], schedule.sends(name), strict=False):
            if (e.kind, e.to, e.stage, len(e.body)) != (move.kind, move.peer, move.stage, sizes[move.kind]):
                return failed(f"a header of {name} is not the one that the public parameters give", n)
        if len(given.sent[name]) != len(schedule.sends(name)):
            return failed(f"{name} has {len(given.sent[name])} headers, wanted {len(schedule.sends(name))}")
    return passed(
        f"{len(given.evidence.envelopes)} headers, the same in {schedule.runs} toy runs on drawn data and coins: "
        "a function of public parameters, as far as such runs can show"
    )


def _disorders(given: Given) -> Iterator[tuple[int, str]]:
    """Of each participant the first message that is not the next one of its role, and free ones out of place."""
    for name in given.evidence.session.names:
        moves = given.schedule.sends(name)
        fixed = given.fixed(name)
        for i, (n, e) in enumerate(fixed):
            if i >= len(moves) or (e.kind, e.to, e.stage) != (moves[i].kind, moves[i].peer, moves[i].stage):
                wanted = _said(moves[i].kind, moves[i].peer, moves[i].stage) if i < len(moves) else "nothing more"
                yield n, f"{name} sent {_said(e.kind, e.to, e.stage)}, wanted {wanted}"
                break
        kind, sent = given.evidence.session.kind(name), given.sent[name]
        stood = places(kind, [(e.kind, e.stage) for _, e in sent], given.schedule.free)
        for (n, e), place in zip(sent, stood, strict=True):
            if place and place not in given.schedule.places:
                yield n, f"{name} sent {_said(e.kind, e.to, e.stage)} where its role sends none"


def _said(kind: str, to: str, stage: str) -> str:
    return f"{shown(kind)} to {shown(to)} in {shown(stage)}"
