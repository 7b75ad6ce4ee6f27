"""A check, and what comes out of it: passed, failed, or not possible with what was given. Never silently skipped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from smc_dp.audit.run.blame import Culprit
from smc_dp.audit.run.evidence import Evidence

Status: TypeAlias = Literal["passed", "failed", "not possible"]
Group: TypeAlias = Literal["conformity", "privacy", "hygiene", "replay", "statements", "leakage"]
Work: TypeAlias = Literal["lines", "little", "much"]
Takes: TypeAlias = Literal["folder", "identities", "views"]
OF_VIEWS_AND_CODE = ("hygiene", "replay", "statements", "leakage")
"""Groups whose checks ask of views, or of the protocol's code."""


@dataclass(frozen=True)
class CheckOutcome:
    """What a check found. `line` is the first offending line of the wire record, `culprit` who is to blame, if anybody
    can be named: only a signature makes one.

    A check that would have taken too long is not `finished`: then it was not possible, and no audit passes with it.
    `by_nature`: it was not possible because what was given has nothing that could be asked; other views may have.
    """

    status: Status
    detail: str
    line: int | None = None
    culprit: Culprit | None = None
    finished: bool = True
    by_nature: bool = False

    @property
    def party(self) -> str | None:
        """The name of the culprit."""
        return None if self.culprit is None else self.culprit.name

    @property
    def holds(self) -> bool:
        """Whether the check was made and did not fail."""
        return self.status == "passed"


def passed(detail: str) -> CheckOutcome:
    """The check holds; `detail` says what was looked at, with figures."""
    return CheckOutcome("passed", detail)


def failed(detail: str, line: int | None = None, culprit: Culprit | None = None) -> CheckOutcome:
    """The check does not hold. A culprit whose key is not known from elsewhere is named as the holder of that key."""
    if culprit is not None and not culprit.pinned:
        who = f"{culprit.said} answers for this; identities known from elsewhere would settle who that is"
        detail = f"{detail.rstrip('.')}; {who}"
    return CheckOutcome("failed", detail, line, culprit)


def not_possible(why: str) -> CheckOutcome:
    """The check needs what was not given, or what is there does not let it be made; `why` says what."""
    return CheckOutcome("not possible", why)


def nothing_to_ask(why: str) -> CheckOutcome:
    """This run has nothing that the check is about, whatever is handed over: it keeps no level of assurance away."""
    return CheckOutcome("not possible", why, by_nature=True)


def unfinished(why: str) -> CheckOutcome:
    """The check was given up; `why` says after what."""
    return CheckOutcome("not possible", why, finished=False)


@dataclass(frozen=True)
class Check:
    """One question to the evidence. `name` is short and unique, `asks` is the question as a person would put it.

    `work`: whether it asks if the record's lines hang together, which is asked first, costs little, or runs the
    protocol's code; that is done only beside a record whose lines do. `takes`: what it cannot be made without, beside a
    run folder, where not all of its group is of one kind.
    """

    group: Group
    name: str
    asks: str
    run: Callable[[Evidence], CheckOutcome]
    work: Work = "little"
    takes: Takes = "folder"

    @property
    def needs(self) -> Takes:
        """What has to be handed over for the check to say all that it can."""
        return "views" if self.group in OF_VIEWS_AND_CODE else self.takes

    @property
    def is_costly(self) -> bool:
        """Whether the protocol's code is run, on views or to learn from it."""
        return self.work == "much" or self.group in OF_VIEWS_AND_CODE


@dataclass(frozen=True)
class Finding:
    """A check and its outcome."""

    check: Check
    outcome: CheckOutcome
