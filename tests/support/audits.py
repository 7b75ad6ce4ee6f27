"""Outcomes of audits, and audits by command, without the checks of the code, for tests of audits."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from typing import NamedTuple
from unittest.mock import patch

from smc_dp.audit.run import checks
from smc_dp.audit.run.check import Check, CheckOutcome
from smc_dp.audit.run.evidence import Evidence
from smc_dp.audit.run.report import run_checks
from smc_dp.audit.run.time_budget import Allowance
from smc_dp.cli.main import main

# These cite shipped results, the same whatever the run is: they have tests of their own (`test_code_checks.py`).
OF_THE_CODE = ("distribution", "limitations-true")
OF_THE_RUN: tuple[Check, ...] = tuple(check for check in checks.CHECKS if check.name not in OF_THE_CODE)
BY_NAME = {check.name: check for check in checks.CHECKS}


def outcomes(evidence: Evidence, of: Sequence[Check] = OF_THE_RUN) -> dict[str, CheckOutcome]:
    """What these checks find, as an audit makes them."""
    return {found.check.name: found.outcome for found in run_checks(evidence, of, Allowance())}


def outcome(name: str, evidence: Evidence) -> CheckOutcome:
    """What one check finds, as an audit makes it."""
    return outcomes(evidence, (BY_NAME[name],))[name]


def failed(found: Mapping[str, CheckOutcome]) -> dict[str, str]:
    """The codes of the checks that failed."""
    return {name: outcome.code for name, outcome in found.items() if outcome.status == "failed"}


class Verdict(NamedTuple):
    """What a command left: exit code, standard output, standard error."""

    code: int
    out: str
    err: str


def audit(*arguments: str, of: Sequence[Check] = OF_THE_RUN) -> Verdict:
    """`smc-dp audit` with these arguments and checks, in this process; whatever it raises goes through."""
    return command("audit", *arguments, of=of)


def command(*arguments: str, of: Sequence[Check] = OF_THE_RUN) -> Verdict:
    """`smc-dp` with these arguments."""
    out, err = io.StringIO(), io.StringIO()
    with patch.object(checks, "CHECKS", tuple(of)), redirect_stdout(out), redirect_stderr(err):
        code = main(arguments)
    return Verdict(code, out.getvalue(), err.getvalue())
