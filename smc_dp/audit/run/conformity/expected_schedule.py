"""Expected schedule: the conversation that a protocol holds, learnt from its own code.

The roles run at small size on drawn inputs, several times, and where somebody was absent in a transcript, with the same
absences in each of them; what is the same each time is the protocol's schedule: who sends what to whom after reading
what. A kind of message whose headers differ between these runs is *free*: its headers follow something secret, which is
a finding of its own, and the schedule then says only where such a message may stand.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from math import factorial
from typing import Any, NamedTuple

from protocols import programs
from protocols.errors import LocalError
from protocols.programs import Protocol
from protocols.runtime.envelope import HELLO, Envelope
from protocols.runtime.inbox import Absent
from protocols.runtime.message import PARTY, Kind
from smc_dp.audit.run.conformity.dry_run import NO_ABSENCES, Absences, DryRun, Scripts
from smc_dp.audit.run.conformity.dry_run_role import Move
from smc_dp.core.errors import shown

_UNLIKELY = 1000  # one over the probability that a secret permutation is drawn alike in all dry runs


class Place(NamedTuple):
    """Place of a free message: its sender's kind, its kind, its stage.

    `before`: number of messages that are not free and that this sender sent in this stage before it.
    """

    sender: Kind
    kind: str
    stage: str
    before: int


@dataclass(frozen=True)
class Schedule:
    """Schedule of a protocol. `scripts`: moves of each role without the free kinds. `rounds`: its causal depth.

    `free_kinds` maps each kind whose headers differ between runs to the largest number that one sender sent of it;
    `places` are where such messages stood. `entered_stages`: pairs (stage, role) where the role was in that stage in
    some run, `always_entered` in all runs. `runs`: number of dry runs. `awaited_absences`: pairs (reader, absence)
    where the reader waited for the message that is absent.
    """

    scripts: Scripts
    rounds: int
    free_kinds: Mapping[str, int]
    places: frozenset[Place]
    entered_stages: frozenset[tuple[str, str]]
    always_entered: frozenset[tuple[str, str]]
    runs: int
    awaited_absences: frozenset[tuple[str, Absent]] = frozenset()

    def sends(self, name: str) -> list[Move]:
        """Return what this role sends, in its order."""
        return [move for move in self.scripts[name] if move.sends]


class TranscriptWalk(NamedTuple):
    """Causal order of a transcript: its rounds, and the first line that breaks it, with the reason."""

    rounds: int
    line: int | None = None
    fault: str = ""


def learn_schedule(
    protocol: Protocol, parameters: Any, recorded: int, absences: Absences = NO_ABSENCES
) -> Schedule | None:
    """Learn the schedule under these parameters and absences; None for far more messages than were `recorded`.

    That is more than twice to four times as many, so that the work is bounded by the size of the transcript. Raises
    `LocalError` when the dry runs have no order in common, and `StallError` when a role waits for ever: with absences,
    for a sender that neither sent it nor is absent.
    """
    most = 1 << (2 * recorded).bit_length()
    return _learn(protocol.program.name, protocol.program.version, parameters, most, absences)


def walk_transcript(
    scripts: Scripts, free_kinds: Mapping[str, int], envelopes: Mapping[int, Envelope], late: Collection[str] = ()
) -> TranscriptWalk:
    """Follow the envelopes in the order of their lines, each sender reading first what its script says.

    Nobody writes to anybody before both have greeted. A round is a causal step: a message's is one more than the latest
    of what its sender had read before. Where scripts leave free messages out, so that nobody knows who read one, a
    round is at least that, and at most one more than the latest of what its sender could have read. Messages of those
    who were `late` may be left unread, for others.
    """
    left = {name: deque(script) for name, script in scripts.items()}
    posted: dict[tuple[str, str], deque[tuple[str, str, int]]] = defaultdict(deque)
    causes = Causes()
    for line, e in envelopes.items():
        if e.sender not in left:
            continue
        if fault := causes.fault(e):
            return TranscriptWalk(causes.rounds, line, fault)
        script = left[e.sender]
        while e.kind not in free_kinds and script and not script[0].sends:
            wanted_move = script.popleft()
            peer, waiting = wanted_move.peer, posted[wanted_move.peer, e.sender]
            while waiting and peer in late and waiting[0][:2] != (wanted_move.kind, wanted_move.stage):
                waiting.popleft()
            if not waiting:
                return TranscriptWalk(causes.rounds, line, f"stands before the message of {peer} that it follows")
            causes.read(e.sender, waiting.popleft()[2])
        wanted = causes.least(e.sender)
        if e.round < wanted or (e.round > wanted and not free_kinds):
            return TranscriptWalk(causes.rounds, line, f"states round {e.round}, wanted {wanted}")
        causes.sent(e)
        if e.kind not in free_kinds:
            posted[e.sender, e.to].append((e.kind, e.stage, e.round))
            if script:
                script.popleft()
    return TranscriptWalk(causes.rounds)


class Causes:
    """Rounds that each sender can have read by now, whatever its role is."""

    def __init__(self) -> None:
        self.rounds = 0
        self._read: dict[str, int] = {}  # the latest round that a sender must have read; who has greeted is here
        self._could: dict[str, int] = {}  # and that of all that stood there for it

    def least(self, sender: str) -> int:
        """Return the earliest round of what this sender sends next."""
        return self._read.get(sender, 0) + 1

    def read(self, sender: str, number: int) -> None:
        """Note that the sender has read a message of this round."""
        self._read[sender] = max(self._read.get(sender, 0), number)

    def fault(self, e: Envelope) -> str | None:
        """Return why this envelope cannot stand here, as far as can be known without the sender's script."""
        if not e.is_public and not {e.sender, e.to} <= self._read.keys():
            who = e.to if e.sender in self._read else e.sender
            return f"stands before the greeting of {shown(who)}"
        least, most = self.least(e.sender), max(self._read.get(e.sender, 0), self._could.get(e.sender, 0)) + 1
        if not least <= e.round <= most:
            return f"states round {e.round}, wanted {least}" + (f" to {most}" if most > least else "")
        return None

    def sent(self, e: Envelope) -> None:
        """Note that the envelope stands here."""
        if e.kind == HELLO:
            self.read(e.sender, e.round)
        elif e.is_public:  # no role reads it, so it causes no further round
            self.read(e.sender, e.round - 1)
            return
        else:
            self.read(e.sender, e.round - 1)
            self._could[e.to] = max(self._could.get(e.to, 0), e.round)
        self.rounds = max(self.rounds, e.round)


def free_places(sender: Kind, sent: Iterable[tuple[str, str]], free_kinds: Mapping[str, int]) -> Iterator[Place | None]:
    """Yield, for each (kind, stage) that one sender sent, its place if the kind is free, else None."""
    before: Counter[str] = Counter()
    for kind, stage in sent:
        yield Place(sender, kind, stage, before[stage]) if kind in free_kinds else None
        before[stage] += kind not in free_kinds


@lru_cache(maxsize=4)  # several checks ask, and they ask about one transcript after the other
def _learn(name: str, version: int, parameters: Any, most: int, absences: Absences) -> Schedule | None:
    return from_dry_runs(programs.find_protocol(name, version), parameters, most, absences)


def from_dry_runs(protocol: Protocol, parameters: Any, most: int, absences: Absences = NO_ABSENCES) -> Schedule | None:
    """Learn the schedule without memory; None when the protocol sends more than `most` messages."""
    small = protocol.model.dry_run_parameters(parameters)
    parties = [*protocol.program.participants(small).values()].count(PARTY)
    if parties > most:  # the greetings alone
        return None
    orders = factorial(parties)  # of one party alone there is nothing to put in another order
    # In r runs one secret permutation is the same with probability orders^-(r-1), for the first is any.
    wanted = next(r for r in count(2) if orders == 1 or orders ** (r - 1) >= _UNLIKELY)
    runs: list[DryRun] = []
    for number in range(wanted):
        runs.append(DryRun(protocol, small, number, absences))
        if not runs[-1].finish(most):
            return None
    free_kinds = _free([run.scripts for run in runs])
    common = [
        {n: tuple(m for m in moves if m.kind not in free_kinds) for n, moves in run.scripts.items()} for run in runs
    ]
    if any(scripts != common[0] for scripts in common):
        raise LocalError("toy_run.no_common_order", name=protocol.program.name)
    seen = frozenset(place for run in runs for place in _stood(run, free_kinds))
    entered_stages = [run.entered_stages for run in runs]
    some, every = frozenset().union(*entered_stages), entered_stages[0].intersection(*entered_stages)
    return Schedule(common[0], runs[0].rounds, free_kinds, seen, some, every, wanted, runs[0].awaited_absences)


def _free(runs: Sequence[Scripts]) -> dict[str, int]:
    """Return the kinds that some run sends to other peers or in other stages or sizes, with the most per sender."""
    by_kind = [_sent_by_kind(scripts) for scripts in runs]
    kinds = {kind for run in by_kind for _, kind in run}
    names = runs[0].keys()
    moved = {k for k in kinds if any(run.get((n, k)) != by_kind[0].get((n, k)) for run in by_kind for n in names)}
    return {k: max(len(run.get((n, k), ())) for run in by_kind for n in names) for k in sorted(moved)}


def _sent_by_kind(scripts: Scripts) -> dict[tuple[str, str], list[Move]]:
    found: dict[tuple[str, str], list[Move]] = defaultdict(list)
    for name, script in scripts.items():
        for move in script:
            if move.sends:
                found[name, move.kind].append(move)
    return dict(found)


def _stood(run: DryRun, free_kinds: Mapping[str, int]) -> Iterator[Place]:
    """Yield where the free messages of a dry run stood."""
    for name, moves in run.scripts.items():
        sent = [(move.kind, move.stage) for move in moves if move.sends]
        yield from (place for place in free_places(run.session.kind(name), sent, free_kinds) if place)
