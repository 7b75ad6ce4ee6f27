"""A check, and what comes out of it: passed, failed, or not possible with what was given. Never silently skipped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from smc_dp.audit.run.evidence import Evidence

Status: TypeAlias = Literal["passed", "failed", "not possible"]
Group: TypeAlias = Literal["conformity", "privacy", "hygiene", "replay", "leakage"]


@dataclass(frozen=True)
class CheckOutcome:
    """What a check found. `line` is the first offending line of the wire record, `party` who is to blame, if known."""

    status: Status
    detail: str
    line: int | None = None
    party: str | None = None


def passed(detail: str) -> CheckOutcome:
    """The check holds; `detail` says what was looked at, with figures."""
    return CheckOutcome("passed", detail)


def failed(detail: str, line: int | None = None, party: str | None = None) -> CheckOutcome:
    """The check does not hold."""
    return CheckOutcome("failed", detail, line, party)


def not_possible(why: str) -> CheckOutcome:
    """The check needs what was not given; `why` says what."""
    return CheckOutcome("not possible", why)


@dataclass(frozen=True)
class Check:
    """One question to the evidence. `name` is short and unique, `asks` is the question as a person would put it."""

    group: Group
    name: str
    asks: str
    run: Callable[[Evidence], CheckOutcome]
