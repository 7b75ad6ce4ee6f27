"""Knowledge of every participant and coalition after each step of a protocol.

The role code runs over symbols (`smc_dp.leakage.symbolic`) in all worlds at once, a step at a time, and all stop
when a step is over. What a coalition knows then is its row of the coalition matrix of what was sent so far. Nothing
that comes later can show in it, for it has not happened: the roles have read no message of a later step, and neither
have their notes (`Tape`), the stages that anybody knows of, or the numbers that they joined. What a role does on its
own before it needs the next message, it has done: coins that it drew for later, permutations, keys. They are a member's
own, nobody else has seen them, and no number that was sent so far depends on them, so they tell nothing of the others.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from protocols.programs import Protocol
from protocols.runtime.session import PUBLIC_NAME
from smc_dp.core.errors import InputError
from smc_dp.leakage.matrix import Cell, Matrix, Row, all_coalitions, coalition_rows
from smc_dp.leakage.symbolic.engine import Gate, SymbolicRun
from smc_dp.leakage.symbolic.form import symbols_of
from smc_dp.leakage.symbolic.patterns import EVERYBODY_STAYS, Pattern, dropout_patterns
from smc_dp.leakage.symbolic.trace import Trace, message_values
from smc_dp.leakage.symbolic.world_runs import FEW_PARTIES, WorldRuns
from smc_dp.leakage.symbolic.worlds import World, base_world, rotate_permutations
from smc_dp.walkthrough.knowledge import Knowledge
from smc_dp.walkthrough.steps import Gatekeeper, StepKey, plan_steps


@dataclass(frozen=True)
class TracedMessage:
    """Message of the run: its class `kind`, and its number `place`, from 1, of this kind on this link."""

    sender: str
    to: str
    kind: str
    place: int


@dataclass(frozen=True)
class TracedStep:
    """Messages of one step of the paper and their stage; `place` tells repetitions of a step apart."""

    stage: str
    step: str
    place: int
    messages: tuple[TracedMessage, ...]


@dataclass(frozen=True)
class KnowledgeTrace:
    """Protocol step by step under the parameters `p`. `knows` has one entry more than `steps`, for the start."""

    protocol: Protocol
    p: Any
    names: tuple[str, ...]
    pattern: Pattern
    steps: tuple[TracedStep, ...]
    knows: tuple[Knowledge, ...]
    worlds: int
    settings: tuple[str, ...]

    @property
    def parties(self) -> tuple[str, ...]:
        """Names P_1 ... P_K of the parties."""
        return tuple(self.p.parties)


def trace_knowledge(
    protocol: Protocol,
    parties: int,
    pattern: Pattern = EVERYBODY_STAYS,
    progress: Callable[[str], None] | None = None,
) -> KnowledgeTrace:
    """Trace the knowledge in a protocol among so many parties, under a drop-out pattern.

    Raises InputError for a protocol whose code cannot run over symbols.
    """
    if protocol.model.matrix_file:
        raise InputError("protocol.computes_with_bits", name=protocol.program.name)
    runs = WorldRuns(protocol, protocol.model.sample(parties), pattern)
    every = tuple(all_coalitions(runs.names))
    worlds = list(dict.fromkeys(w for m in every for found, _ in runs.scenes(frozenset(m)) for w in found))
    for world in worlds if runs.parties <= FEW_PARTIES else worlds[:1]:
        runs.trace(world)  # with other random bytes as well
    still = base_world(runs.parties, len(runs.model.permutations), 0)
    moved = rotate_permutations(still)
    plan = plan_steps(partial(_start, runs), {w: runs.trace(w).sent for w in (still, moved)}, protocol.program)
    paced = {w: _Paced(runs, w, plan) for w in worlds}
    found: list[tuple[Row, ...]] = []
    try:
        for moment in ("before the first message", *(f"after step {keys[0].step} ({keys[0].stage})" for keys in plan)):
            if progress:
                progress(moment)
            for run in paced.values():
                run.pause(len(found))
            found.append(tuple(_rows(runs, paced, every)))
        steps = tuple(_steps(paced.get(moved) or paced[worlds[0]], plan))
    finally:
        for run in paced.values():
            run.running.close()
    completed = [_with_release(rows, found[-1]) for rows in found]
    name, settings = protocol.program.name, runs.settings
    matrices = [Matrix(name, tuple(runs.p.parties), len(worlds), rows, settings[:1]) for rows in completed]
    knows = tuple(Knowledge(m) for m in matrices)
    return KnowledgeTrace(protocol, runs.p, runs.names, pattern, steps, knows, len(worlds), settings)


def drop_out(protocol: Protocol, p: Any) -> Pattern | None:
    """Return the pattern in which the last party that may drop out does so before its first message with an input."""
    leaving = protocol.model.drop_outs(p)
    if not leaving:
        return None
    runs = WorldRuns(protocol, p)
    trace = runs.trace(base_world(runs.parties, len(protocol.model.permutations), 0))
    name = leaving[-1]
    messages = (s for s in trace.sent if s.sender == name and s.to != PUBLIC_NAME)
    patterns = (x for x in dropout_patterns(trace.sent, [name]) if not x.late)
    inputs = {symbol for symbol in trace.inputs.values() if trace.owners[symbol.name] == name}
    holding = (x for x, s in zip(patterns, messages, strict=True) if inputs & symbols_of(message_values(s.message)))
    return next(holding, None)


def _start(runs: WorldRuns, world: World, gate: Gate) -> SymbolicRun:
    return SymbolicRun(runs.protocol.program, runs.model, runs.p, world, "", runs.pattern, gate)


class _Paced:
    """Run in one world that stops after each step of the plan."""

    def __init__(self, runs: WorldRuns, world: World, plan: Sequence[tuple[StepKey, ...]]) -> None:
        self._plan = plan
        self.gate = Gatekeeper(key for keys in plan for key in keys)
        self.running = _start(runs, world, self.gate)

    def pause(self, steps: int) -> None:
        """Run until so many steps are over."""
        if not steps:
            return
        if steps == 1 and not self.running.withheld:
            self.running.go_on()
        self.gate.begun.update(self._plan[steps - 1])
        self.running.go_on()


def _rows(runs: WorldRuns, paced: Mapping[World, _Paced], every: Sequence[tuple[str, ...]]) -> Iterator[Row]:
    """Yield the coalition matrix of what was sent so far."""
    so_far = WorldRuns(runs.protocol, runs.p, runs.pattern)
    made: dict[Hashable, Trace] = {}
    for world, run in paced.items():  # where the world was asked the same so far, and answered the same, so is the run
        so_far.traces[world] = made.setdefault(tuple(run.running.answers.items()), run.running.trace)
    for members in every:
        yield from coalition_rows(so_far, frozenset(members))


def _with_release(rows: Sequence[Row], last: Sequence[Row]) -> tuple[Row, ...]:
    """Return the rows, with what the result of the whole protocol tells in every cell."""
    final = {(row.members, row.smallest): row.cells for row in last}
    return tuple(replace(row, cells=_released(row.cells, final[row.members, row.smallest])) for row in rows)


def _released(cells: Mapping[str, Cell], final: Mapping[str, Cell]) -> dict[str, Cell]:
    by_result = {secret: cell.release for secret, cell in final.items() if cell.release != "own"}
    return {s: c if c.level == "own" else replace(c, release=by_result.get(s, "nothing")) for s, c in cells.items()}


def _steps(run: _Paced, plan: Sequence[tuple[StepKey, ...]]) -> Iterator[TracedStep]:
    sent = [(run.gate.key(s), s) for s in run.running.trace.sent]
    for keys in plan:
        here = ((s, type(s.message).__name__, key.place) for key, s in sent if key in keys)
        messages = tuple(TracedMessage(s.sender, s.to, kind, place) for s, kind, place in here)
        yield TracedStep(keys[0].stage, keys[0].step, keys[0].place, messages)
