"""Expected schedule: the conversation that a protocol holds, learnt from its own code.

The roles run at small size on drawn inputs, several times, and where somebody was absent in a transcript, with the same
absences in each of them; what is the same each time is the protocol's schedule: who sends what to whom after reading
what. A kind of message whose headers differ between these runs is *free*: its headers follow something secret, which is
a finding of its own, and no transcript is then held against the rest.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from math import factorial
from typing import Any, NamedTuple

from protocols import programs
from protocols.errors import LocalError, StallError
from protocols.programs import Protocol
from protocols.runtime.envelope import HELLO, Envelope
from protocols.runtime.inbox import Absent
from protocols.runtime.message import PARTY
from smc_dp.audit.run.conformity.dry_run import NO_ABSENCES, Absences, DryRun, Scripts
from smc_dp.audit.run.conformity.dry_run_primitives import on_quick_primitives
from smc_dp.audit.run.conformity.dry_run_role import Move
from smc_dp.core.errors import Fault, shown

_UNLIKELY = 1000  # one over the probability that a secret permutation is drawn alike in all dry runs


@dataclass(frozen=True)
class Schedule:
    """Schedule of a protocol. `scripts`: moves of each role without the free kinds. `rounds`: its causal depth.

    `free_kinds`: kinds whose headers differ between runs. `runs`: number of dry runs. `awaited_absences`: pairs
    (reader, absence) where the reader waited for the message that is absent.
    """

    scripts: Scripts
    rounds: int
    free_kinds: tuple[str, ...]
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
) -> Schedule | Fault | None:
    """Learn the schedule under these parameters and absences; None for far more messages than were `recorded`.

    That is more than twice to four times as many, so that the work is bounded by the size of the transcript. Returns a
    fault when a role waits for ever: with absences, for a sender that neither sent it nor is absent. Raises
    `LocalError` when the dry runs have no order in common.
    """
    most = 1 << (2 * recorded).bit_length()
    return _learn(protocol.program.name, protocol.program.version, parameters, most, absences)


def walk_transcript(scripts: Scripts, envelopes: Mapping[int, Envelope], late: Collection[str] = ()) -> TranscriptWalk:
    """Follow the envelopes in the order of their lines, each sender reading first what its script says.

    Nobody writes to anybody before both have greeted. A round is a causal step: a message's is one more than the latest
    of what its sender had read before. Messages of those who were `late` may be left unread, for others.
    """
    left = {name: deque(script) for name, script in scripts.items()}
    posted: dict[tuple[str, str], deque[tuple[str, str, int]]] = defaultdict(deque)
    latest: dict[str, int] = {}  # the latest round that each sender must have read; who has greeted is here
    rounds = 0
    for line, e in envelopes.items():
        if e.sender not in left:
            continue
        if not e.is_public and not {e.sender, e.to} <= latest.keys():
            who = e.to if e.sender in latest else e.sender
            return TranscriptWalk(rounds, line, f"stands before the greeting of {shown(who)}")
        script = left[e.sender]
        while script and not script[0].sends:
            wanted_move = script.popleft()
            peer, waiting = wanted_move.peer, posted[wanted_move.peer, e.sender]
            while waiting and peer in late and waiting[0][:2] != (wanted_move.kind, wanted_move.stage):
                waiting.popleft()
            if not waiting:
                return TranscriptWalk(rounds, line, f"stands before the message of {peer} that it follows")
            latest[e.sender] = max(latest.get(e.sender, 0), waiting.popleft()[2])
        wanted = latest.get(e.sender, 0) + 1
        if e.round != wanted:
            return TranscriptWalk(rounds, line, f"states round {e.round}, wanted {wanted}")
        if e.kind == HELLO:
            latest[e.sender] = e.round
        if e.kind == HELLO or not e.is_public:  # no role reads what else is public, so it causes no further round
            rounds = max(rounds, e.round)
        posted[e.sender, e.to].append((e.kind, e.stage, e.round))
        if script:
            script.popleft()
    return TranscriptWalk(rounds)


@lru_cache(maxsize=4)  # several checks ask, and they ask about one transcript after the other
def _learn(name: str, version: int, parameters: Any, most: int, absences: Absences) -> Schedule | Fault | None:
    try:
        return from_dry_runs(programs.find_protocol(name, version), parameters, most, absences)
    except StallError as error:
        return error.fault


def from_dry_runs(protocol: Protocol, parameters: Any, most: int, absences: Absences = NO_ABSENCES) -> Schedule | None:
    """Learn the schedule without memory; None when the protocol sends more than `most` messages.

    Raises `LocalError` when the dry runs have no order in common, and `StallError` when a role waits for ever.
    """
    small = protocol.model.dry_run_parameters(parameters)
    parties = [*protocol.program.participants(small).values()].count(PARTY)
    if parties > most:  # the greetings alone
        return None
    orders = factorial(parties)  # of one party alone there is nothing to put in another order
    # In r runs one secret permutation is the same with probability orders^-(r-1), for the first is any.
    wanted = next(r for r in count(2) if orders == 1 or orders ** (r - 1) >= _UNLIKELY)
    program, runs = on_quick_primitives(protocol.program), list[DryRun]()
    for number in range(wanted):
        runs.append(DryRun(program, protocol.model, small, number, absences))
        if not runs[-1].finish(most):
            return None
    free_kinds = _free([run.scripts for run in runs])
    common = [
        {n: tuple(m for m in moves if m.kind not in free_kinds) for n, moves in run.scripts.items()} for run in runs
    ]
    if any(scripts != common[0] for scripts in common):
        raise LocalError("toy_run.no_common_order", name=protocol.program.name)
    return Schedule(common[0], runs[0].rounds, free_kinds, wanted, runs[0].awaited_absences)


def _free(runs: Sequence[Scripts]) -> tuple[str, ...]:
    """Return the kinds that some run sends to other peers or in other stages."""
    by_kind = [_sent_by_kind(scripts) for scripts in runs]
    kinds = sorted({kind for run in by_kind for _, kind in run})
    return tuple(k for k in kinds if any(run.get((n, k)) != by_kind[0].get((n, k)) for run in by_kind for n in runs[0]))


def _sent_by_kind(scripts: Scripts) -> dict[tuple[str, str], list[Move]]:
    found: dict[tuple[str, str], list[Move]] = defaultdict(list)
    for name, script in scripts.items():
        for move in script:
            if move.sends:
                found[name, move.kind].append(move)
    return dict(found)
