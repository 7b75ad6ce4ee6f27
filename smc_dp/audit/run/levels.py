"""Three levels of assurance, in plain words: what an audit came to, and what is missing for more.

1. The record is whole: every check of the run folder alone was made and passed.
2. It is authentic: those were the participants, by identities that are known from elsewhere.
3. Every message was replayed: views of all participants were given, and every check of them passed.

A level is reached by checks that were made and passed, and by nothing else. A check that this run has nothing for keeps
no level away: the check itself says so of its outcome. The third level is a type that takes views of everybody to make.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import InitVar, dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from protocols.errors import LocalError
from smc_dp.audit.run import conformity, hygiene, leakage, privacy, replay, statements
from smc_dp.audit.run.check import Check
from smc_dp.errors import one_line, shown
from smc_dp.pages.shortening import some
from smc_dp.run.receipt import LEVELS

if TYPE_CHECKING:
    from smc_dp.audit.run.report import AuditReport, Finding

LevelNumber: TypeAlias = Literal[1, 2, 3]
NUMBERS: tuple[LevelNumber, ...] = (1, 2, 3)
NONE, *_REACHED = LEVELS
NAMES: dict[LevelNumber, str] = dict(zip(NUMBERS, _REACHED, strict=True))
IDENTITIES = "a file of participants' public identity keys that are known from elsewhere (`identities`)"
_WORDS: dict[LevelNumber, str] = {
    1: "Nothing in the run folder contradicts the protocol, the other files or the stated guarantee. Whoever made the "
    "folder could have played all participants.",
    2: "What was sent is signed by keys that are known from elsewhere. What their owners did at home with rows and "
    "coins, signatures do not show.",
    3: "All participants handed over what they did and saw, and each message was made again from that by the program. "
    "Whether rows were true and coins drawn at random, no audit sees.",
}
_GROUPS = (conformity, privacy, hygiene, replay, statements, leakage)
_NAMED = 6  # more are counted
_PARAMETER = re.compile(r" \(`[a-z]+`\)")  # by which a program is given what is missing


@dataclass(frozen=True)
class EverybodysViews:
    """That views of all participants were given: it is made of their names, and raises `LocalError` where one lacks."""

    participants: tuple[str, ...]
    given: InitVar[Collection[str]]

    def __post_init__(self, given: Collection[str]) -> None:
        if missing := [name for name in self.participants if name not in given]:
            raise LocalError(f"wanted views of all participants, got none of {shown(missing[0])}")
        if not self.participants:
            raise LocalError("wanted participants, got none")


@dataclass(frozen=True)
class AssuranceLevel:
    """A level that was reached; the third takes `views` of everybody, and the others have no use for them."""

    number: LevelNumber
    views: EverybodysViews | None = None

    def __post_init__(self) -> None:
        if (self.number == NUMBERS[-1]) != (self.views is not None):
            raise LocalError("wanted views of everybody for the last level, and for no other")

    @property
    def name(self) -> str:
        """In a few words."""
        return NAMES[self.number]

    @property
    def words(self) -> str:
        """What it says, and what it does not."""
        return _WORDS[self.number]


@dataclass(frozen=True)
class Rung:
    """One of the three levels: what it asks, whether it was reached, and what keeps it away, each in a sentence.

    `unasked`: the checks of it that this run has nothing for.
    """

    number: LevelNumber
    reached: AssuranceLevel | None
    missing: tuple[str, ...]
    unasked: tuple[str, ...]

    @property
    def name(self) -> str:
        """In a few words."""
        return NAMES[self.number]

    @property
    def missing_in_words(self) -> tuple[str, ...]:
        """What keeps it away, for a page: parameters of a program are no matter of one."""
        return tuple(_PARAMETER.sub("", what) for what in self.missing)


@dataclass(frozen=True)
class Assurance:
    """The three levels, the lowest first: each is reached only where those below it are."""

    rungs: tuple[Rung, ...]

    @property
    def level(self) -> AssuranceLevel | None:
        """The highest that was reached."""
        reached = [rung.reached for rung in self.rungs if rung.reached]
        return reached[-1] if reached else None

    @property
    def next(self) -> Rung | None:
        """The lowest that was not."""
        return next((rung for rung in self.rungs if not rung.reached), None)


def reached(report: AuditReport) -> Assurance:
    """What an audit came to."""
    rungs: list[Rung] = []
    for number in NUMBERS:
        missing = tuple(_missing(report, number))
        below = all(rung.reached for rung in rungs)
        level = _level(report, number) if below and not missing else None
        rungs.append(Rung(number, level, missing, tuple(_unasked(report, number))))
    return Assurance(tuple(rungs))


def _level(report: AuditReport, number: LevelNumber) -> AssuranceLevel:
    everybody = EverybodysViews(report.audited.participants, report.audited.viewed) if number == NUMBERS[-1] else None
    return AssuranceLevel(number, everybody)


def _missing(report: AuditReport, number: LevelNumber) -> Iterator[str]:
    """What keeps this level away, what was not handed over first."""
    audited = report.audited
    if number == 2 and audited.pinned is None:
        yield IDENTITIES
    if number == 3 and (absent := [name for name in audited.participants if name not in audited.viewed]):
        yield f"{'the view' if len(absent) == 1 else 'the views'} of {some(list(map(shown, absent)), _NAMED)} (`views`)"
    made = {finding.check.name for finding in report.findings}
    if unmade := [check.name for check in _due(number) if check.name not in made]:
        yield f"checks that were not made: {', '.join(unmade)}"
    for finding in report.findings:
        if _kept_away(finding) == number and not _for_want(report, finding):
            yield f"{finding.check.name}, which {_said(finding)}"


def _kept_away(finding: Finding) -> LevelNumber | None:
    """The level that this outcome keeps away: a failed check its own, one that could not be made that of what it
    takes.
    """
    outcome = finding.outcome
    if outcome.holds or outcome.by_nature:
        return None
    return _own(finding.check) if outcome.status == "failed" or not outcome.finished else _with_all(finding.check)


def _own(check: Check) -> LevelNumber:
    """Of conformity and privacy, the first; whose identities these are, the second."""
    if check.needs == "identities":
        return 2
    return 1 if check.group in ("conformity", "privacy") else 3


def _with_all(check: Check) -> LevelNumber:
    return 3 if check.needs == "views" else _own(check)


def _due(number: LevelNumber) -> Iterator[Check]:
    """The checks of the program without which there is no such level."""
    return (check for group in _GROUPS for check in group.CHECKS if _with_all(check) == number)


def _for_want(report: AuditReport, finding: Finding) -> bool:
    """Whether a check was not made because of what was not handed over, which is said once for all of them."""
    if finding.outcome.status == "failed" or not finding.outcome.finished:
        return False
    wanting = {"identities": report.audited.pinned is None, "views": not _all_viewed(report), "folder": False}
    return wanting[finding.check.needs]


def _all_viewed(report: AuditReport) -> bool:
    return set(report.audited.participants) <= set(report.audited.viewed)


def _said(finding: Finding) -> str:
    outcome = finding.outcome
    if not outcome.finished:
        return "was not finished"
    return "failed" if outcome.status == "failed" else f"was not possible: {one_line(outcome.detail)}"


def _unasked(report: AuditReport, number: LevelNumber) -> Iterator[str]:
    for finding in report.findings:
        if finding.outcome.by_nature and _with_all(finding.check) == number:
            yield f"{finding.check.name} ({one_line(finding.outcome.detail)})"
