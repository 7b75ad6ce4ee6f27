"""A role that leaks changes what somebody knows at the step where it leaks, and at none before."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import pytest
from broken import linear_mutants, matrix_mutants, sum_matrix_twins

from protocols.programs import PROTOCOLS, Protocol
from protocols.runtime.session import PUBLIC_NAME, Program
from smc_dp.leakage.matrix import LEVELS
from smc_dp.leakage.symbolic.patterns import EVERYBODY_STAYS, Pattern
from smc_dp.walkthrough.knowledge_trace import KnowledgeTrace, TracedStep, trace_knowledge


class Leak(NamedTuple):
    """Who learns what too well, after the step of which number, in which there is a letter of this kind."""

    members: tuple[str, ...]
    secret: str
    step: str
    kind: str


class Patched(NamedTuple):
    """A twin as patches of role code."""

    patches: Sequence[tuple[Any, str, Any]]
    leak: Leak
    pattern: Pattern = EVERYBODY_STAYS


PATHAK: dict[str, tuple[Program, Leak]] = {
    "relays without covers": (matrix_mutants.WITHOUT_COVERS, Leak(("charlie",), "pi_1", "1.2", "Relay")),
    "no mask": (matrix_mutants.UNMASKED, Leak(("charlie",), "selected noise(1)", "3.1", "Masked")),
}
LINEAR: dict[str, Patched] = {
    "both halves": Patched(linear_mutants.BOTH_HALVES, Leak(("charlie",), "n_2", "1", "Share")),
    "no s": Patched(linear_mutants.NO_S, Leak(("charlie",), "selected noise(2)", "3", "LockedRows")),
}
GONE = Pattern("P3", 8, False, "Masked in sum1")
SUMS: dict[str, Patched] = {
    "no noise": Patched(sum_matrix_twins.NO_NOISE, Leak(("P1", "P2", "charlie"), "x_3(1)", "2", "Masked")),
    "one mask key": Patched(sum_matrix_twins.ONE_MASK_KEY, Leak(("charlie",), "z_3(1)", "6", "Unmask"), GONE),
}


def run(name: str, parties: int, program: Program, pattern: Pattern = EVERYBODY_STAYS) -> KnowledgeTrace:
    return trace_knowledge(replace(PROTOCOLS[name], program=program), parties, pattern)


@cache
def honest(name: str, parties: int, pattern: Pattern = EVERYBODY_STAYS) -> KnowledgeTrace:
    """The control."""
    of: Protocol = PROTOCOLS[name]
    return trace_knowledge(of, parties, pattern)


def more(
    twin: KnowledgeTrace, control: KnowledgeTrace
) -> list[tuple[TracedStep, dict[tuple[tuple[str, ...], str], str]]]:
    """Step by step what is known better than in the control after the same step, or after the last that it has."""
    labels = [(s.step, s.place, s.messages[0].to == PUBLIC_NAME) for s in control.steps]
    found, after = [], 0
    for step, knows in zip(twin.steps, twin.knows[1:], strict=True):
        label = (step.step, step.place, step.messages[0].to == PUBLIC_NAME)
        after = max(after, labels.index(label) + 1) if label in labels else after
        other = control.knows[after]
        found.append(
            (
                step,
                {
                    (members, secret): cell.level
                    for members in knows.coalitions
                    for secret, cell in knows.cells(members).items()
                    if LEVELS.index(cell.level) > LEVELS.index(_level(other.cells(members), secret))
                },
            )
        )
    return found


def _level(cells: Any, secret: str) -> Any:
    return cells[secret].level if secret in cells else "nothing"


def check(twin: KnowledgeTrace, control: KnowledgeTrace, leak: Leak) -> None:
    """It leaks at its step, and nothing is known better before."""
    assert not any(gained for _, gained in more(control, control))
    leaking = [(step, gained) for step, gained in more(twin, control) if gained]
    assert leaking, "nothing leaks"
    first, gained = leaking[0]
    told = {letter.kind for letter in first.messages}
    assert first.step == leak.step, gained
    assert leak.kind in told, told
    assert (leak.members, leak.secret) in gained, gained


EVERYDAY = ("both halves",)


def seldom(names: Iterable[str]) -> list[Any]:
    """One of the names every day, and all of them in the slow suite."""
    return [name if name in EVERYDAY else pytest.param(name, marks=pytest.mark.slow) for name in names]


@pytest.mark.parametrize("name", seldom(PATHAK))
def test_curator_protocol(name: str) -> None:
    program, leak = PATHAK[name]
    check(run("pathak2010", 2, program), honest("pathak2010", 2), leak)


def patched(twin: Patched, monkeypatch: pytest.MonkeyPatch, name: str, parties: int, program: Program) -> None:
    control = honest(name, parties, twin.pattern)
    for place, attribute, instead in twin.patches:
        monkeypatch.setattr(place, attribute, instead)
    check(run(name, parties, program, twin.pattern), control, twin.leak)


@pytest.mark.parametrize("name", seldom(LINEAR))
def test_linear_path(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    patched(LINEAR[name], monkeypatch, "linear", 2, linear_mutants.PROGRAM)


@pytest.mark.parametrize("name", seldom(SUMS))
def test_secure_sum(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    patched(SUMS[name], monkeypatch, "secure_sum", 3, sum_matrix_twins.PROGRAM)
