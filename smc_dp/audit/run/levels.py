"""Three levels of assurance: what an audit came to, and what is missing for more.

1. The transcript is whole: every check of the run folder alone was made and passed.
2. It is authentic: those were the participants, by identities that are known from elsewhere.
3. Every message was replayed: views of all participants were given, and every check of them passed.

A level is reached by checks that were made and passed, and by nothing else. A check that this run has nothing for
blocks no level: its outcome says so itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, NamedTuple, TypeAlias

from smc_dp.audit.run import conformity, hygiene, leakage, privacy, replay, statements
from smc_dp.audit.run.check import VIEW_GROUPS, Check, Finding, Takes, make_fault
from smc_dp.audit.run.run_summary import AuditedRun
from smc_dp.core.errors import Fault, one_line, shown
from smc_dp.pages.shortening import first_texts

LevelNumber: TypeAlias = Literal[1, 2, 3]


class LevelRule(NamedTuple):
    """A level of assurance: its name, its meaning and its limits."""

    name: str
    meaning: str


LEVEL_RULES: Mapping[LevelNumber, LevelRule] = MappingProxyType(
    {
        1: LevelRule(
            "the transcript is whole",
            "Nothing in the run folder contradicts the protocol, the other files or the stated guarantee. The author "
            "of the folder could have played all participants.",
        ),
        2: LevelRule(
            "it is authentic",
            "All that was sent is signed by keys that are known from elsewhere. The signatures do not show what the "
            "owners of these keys did locally with rows and randomness.",
        ),
        3: LevelRule(
            "every message was replayed",
            "All participants handed over what they did and saw. The program made each message again from that. No "
            "audit shows whether rows were true and randomness was random.",
        ),
    }
)


class BlockedLevels(NamedTuple):
    """Level that a check blocks when it fails or is given up, and when it could not be made."""

    failed: LevelNumber
    undone: LevelNumber


_OF_VIEWS = BlockedLevels(3, 3)
"""Levels of checks that need views, or the protocol's code, whatever they take."""
_BY_NEED: Mapping[Takes, BlockedLevels] = MappingProxyType(
    {"folder": BlockedLevels(1, 1), "identities": BlockedLevels(2, 2), "views": BlockedLevels(1, 3)}
)
LEVEL_NUMBERS = tuple(LEVEL_RULES)
NO_LEVEL = "none of three levels"
_GROUPS = (conformity, privacy, hygiene, replay, statements, leakage)
_NAMED = 6  # more are counted


@dataclass(frozen=True)
class AssuranceLevel:
    """One of three levels: whether it was `reached`, what is `missing`, and its checks that are `inapplicable`."""

    number: LevelNumber
    reached: bool
    missing: tuple[Fault, ...]
    inapplicable: tuple[str, ...]

    @property
    def name(self) -> str:
        """Name of the level."""
        return LEVEL_RULES[self.number].name

    @property
    def meaning(self) -> str:
        """Meaning and limits of the level."""
        return LEVEL_RULES[self.number].meaning


@dataclass(frozen=True)
class Assurance:
    """Three levels, the lowest first: each is reached only where those below it are."""

    levels: tuple[AssuranceLevel, ...]

    @property
    def level(self) -> AssuranceLevel | None:
        """Highest level that was reached."""
        return next((level for level in reversed(self.levels) if level.reached), None)

    @property
    def next(self) -> AssuranceLevel | None:
        """Lowest level that was not reached."""
        return next((level for level in self.levels if not level.reached), None)


def assurance(findings: Sequence[Finding], audited: AuditedRun) -> Assurance:
    """Return the three levels with what is missing for each."""
    lacking = _not_handed_over(audited)
    levels: list[AssuranceLevel] = []
    for number in LEVEL_NUMBERS:
        missing = tuple(_missing(number, findings, lacking))
        is_reached = not missing and all(level.reached for level in levels)
        inapplicable = (f for f in findings if f.outcome.inapplicable and _levels(f.check).undone == number)
        said = tuple(f"{f.check.name} ({one_line(f.outcome.detail)})" for f in inapplicable)
        levels.append(AssuranceLevel(number, is_reached, missing, said))
    return Assurance(tuple(levels))


def _levels(check: Check) -> BlockedLevels:
    return _OF_VIEWS if check.group in VIEW_GROUPS else _BY_NEED[check.takes]


def _not_handed_over(audited: AuditedRun) -> Mapping[Takes, Fault]:
    """Return what an audit takes and was not given."""
    lacking: dict[Takes, Fault] = {}
    if audited.pinned is None:
        lacking["identities"] = make_fault("level.identities_not_given")
    if absent := [shown(name) for name in audited.participants if name not in audited.viewed]:
        code = "level.view_not_given" if len(absent) == 1 else "level.views_not_given"
        lacking["views"] = make_fault(code, names=first_texts(absent, _NAMED))
    return lacking


def _missing(number: LevelNumber, findings: Sequence[Finding], lacking: Mapping[Takes, Fault]) -> Iterator[Fault]:
    """Yield what was not handed over for a level, its checks that were not made, and those that block it."""
    yield from (said for takes, said in lacking.items() if _BY_NEED[takes].undone == number)
    due = (check.name for group in _GROUPS for check in group.CHECKS if _levels(check).undone == number)
    made = {finding.check.name for finding in findings}
    if unmade := [name for name in due if name not in made]:
        yield make_fault("level.checks_not_made", names=unmade)
    for check, outcome in ((f.check, f.outcome) for f in findings if not (f.outcome.holds or f.outcome.inapplicable)):
        if outcome.status == "failed" or not outcome.finished:
            if _levels(check).failed == number:
                code = "level.check_failed" if outcome.finished else "level.check_not_finished"
                yield make_fault(code, name=check.name)
        elif _levels(check).undone == number and check.needs not in lacking:  # what is lacking was said once
            yield make_fault("level.check_not_possible", name=check.name, detail=one_line(outcome.detail))
