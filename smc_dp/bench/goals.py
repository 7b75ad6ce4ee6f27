"""Goals, and what was measured for each of them: processor time within one run, unless a row says otherwise."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

HearStep: TypeAlias = Callable[[str], None]


class DisagreeError(RuntimeError):
    """The two sides of a comparison came to different results, so that no ratio of theirs means anything."""


class MissingError(RuntimeError):
    """Something that a row needs is not installed, or not here; the message says what, and what would help."""


@dataclass(frozen=True)
class Goal:
    """A bound on a figure in a unit ("x" for times); without a bound it is enough that it ends."""

    sense: Literal["at least", "at most", "ends"]
    bound: float = math.inf
    unit: str = "x"

    def met(self, measured: float) -> bool:
        """Whether a figure is within it."""
        if self.sense == "at least":
            return measured >= self.bound
        return measured <= self.bound

    def __str__(self) -> str:
        if self.sense == "ends":
            return "runs"
        sign = ">=" if self.sense == "at least" else "<="
        return f"{sign} {figure(self.bound)}{spaced(self.unit)}"


@dataclass(frozen=True)
class GoalRow:
    """One line: what was measured of which group, and the goal.

    `measured` is None where it could not be, and `why` says so. `quick`: at small sizes, which no goal was set for.
    `parts`: the figures it is made of, by name. `note`: how to read it.
    """

    group: str
    what: str
    goal: Goal
    measured: float | None
    parts: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    note: str = ""
    why: str = ""
    quick: bool = False
    wrong: bool = False

    @property
    def passed(self) -> bool | None:
        """Whether the goal is met; None where nothing was measured, or at sizes that it was not set for."""
        if self.wrong:
            return False
        if self.measured is None or self.quick:
            return None
        return self.goal.met(self.measured)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "group": self.group,
            "what": self.what,
            "goal": {
                "sense": self.goal.sense,
                "bound": None if math.isinf(self.goal.bound) else self.goal.bound,
                "unit": self.goal.unit,
            },
            "measured": self.measured,
            "passed": self.passed,
            "quick": self.quick,
            "parts": dict(self.parts),
            "note": self.note,
            "why": self.why,
        }


MeasureGroup: TypeAlias = Callable[[bool, HearStep], Iterator[GoalRow]]
"""The rows of a group, at full or at quick sizes; tells what it is doing."""


def at_least(bound: float, unit: str = "x") -> Goal:
    """So much or more."""
    return Goal("at least", bound, unit)


def at_most(bound: float, unit: str = "x") -> Goal:
    """So much or less."""
    return Goal("at most", bound, unit)


def figure(value: float) -> str:
    """A number with three digits or so."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def spaced(unit: str) -> str:
    """A unit as it stands behind a figure."""
    return unit if unit in ("", "x") else f" {unit}"
