"""Three levels of assurance, in plain words: what an audit came to, and what is missing for more.

1. The record is whole: every check of the run folder alone was made and passed.
2. It is authentic: those were the participants, by identities that are known from elsewhere.
3. Every message was replayed: views of all participants were given, and every check of them passed.

A level is reached by checks that were made and passed, and by nothing else. A check that this run has nothing for keeps
no level away: the check itself says so of its outcome. The third level is a type that takes views of everybody to make.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import InitVar, dataclass
from types import MappingProxyType
from typing import Literal, NamedTuple, TypeAlias

from protocols.errors import LocalError
from smc_dp.audit.run import conformity, hygiene, leakage, privacy, replay, statements
from smc_dp.audit.run.check import OF_VIEWS_AND_CODE, Check, Finding, Takes
from smc_dp.audit.run.run_summary import AuditedRun
from smc_dp.core.errors import one_line, shown
from smc_dp.pages.shortening import some

LevelNumber: TypeAlias = Literal[1, 2, 3]
NUMBERS: tuple[LevelNumber, ...] = (1, 2, 3)
NONE = "none of three levels"
NAMES: dict[LevelNumber, str] = {1: "the record is whole", 2: "it is authentic", 3: "every message was replayed"}
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


def assurance(findings: Sequence[Finding], audited: AuditedRun) -> Assurance:
    """Return the three levels with what keeps each of them away."""
    rungs: list[Rung] = []
    for number in NUMBERS:
        missing = (*_not_handed_over(number, audited), *_not_held(number, findings, audited))
        is_reached = not missing and all(rung.reached for rung in rungs)
        reached = AssuranceLevel(number, _views(number, audited)) if is_reached else None
        unasked = (f for f in findings if f.outcome.by_nature and _levels(f.check).undone == number)
        rungs.append(Rung(number, reached, missing, tuple(map(_unasked, unasked))))
    return Assurance(tuple(rungs))


class _Levels(NamedTuple):
    """The level that a check keeps away when it fails or is given up, and when it could not be made."""

    failed: LevelNumber
    undone: LevelNumber


_BY_NEED: Mapping[Takes, _Levels] = MappingProxyType(
    {"folder": _Levels(1, 1), "identities": _Levels(2, 2), "views": _Levels(1, 3)}
)


def _levels(check: Check) -> _Levels:
    return _Levels(3, 3) if check.group in OF_VIEWS_AND_CODE else _BY_NEED[check.takes]


def _unasked(finding: Finding) -> str:
    return f"{finding.check.name} ({one_line(finding.outcome.detail)})"


def _views(number: LevelNumber, audited: AuditedRun) -> EverybodysViews | None:
    return EverybodysViews(audited.participants, audited.viewed) if number == NUMBERS[-1] else None


def _not_handed_over(number: LevelNumber, audited: AuditedRun) -> Iterator[str]:
    if number == 2 and audited.pinned is None:
        yield IDENTITIES
    if number == 3 and (absent := [name for name in audited.participants if name not in audited.viewed]):
        yield f"{'the view' if len(absent) == 1 else 'the views'} of {some(list(map(shown, absent)), _NAMED)} (`views`)"


def _not_held(number: LevelNumber, findings: Sequence[Finding], audited: AuditedRun) -> Iterator[str]:
    """Yield the checks of a level that were not made, then those whose outcome keeps the level away."""
    due = (check for group in _GROUPS for check in group.CHECKS if _levels(check).undone == number)
    made = {finding.check.name for finding in findings}
    if unmade := [check.name for check in due if check.name not in made]:
        yield f"checks that were not made: {', '.join(unmade)}"
    # What was not handed over is said once, and not again by each check that needs it.
    wanting = {
        "folder": False,
        "identities": audited.pinned is None,
        "views": not set(audited.participants) <= set(audited.viewed),
    }
    for check, outcome in ((f.check, f.outcome) for f in findings if not (f.outcome.holds or f.outcome.by_nature)):
        if outcome.status == "failed" or not outcome.finished:
            if _levels(check).failed == number:
                yield f"{check.name}, which {'failed' if outcome.finished else 'was not finished'}"
        elif _levels(check).undone == number and not wanting[check.needs]:
            yield f"{check.name}, which was not possible: {one_line(outcome.detail)}"
