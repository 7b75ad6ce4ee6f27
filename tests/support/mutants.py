"""Audits by command, without the checks of the code, for tests of audits."""

from __future__ import annotations

import io
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from typing import NamedTuple
from unittest.mock import patch

from smc_dp.audit.run import checks
from smc_dp.audit.run.check import Check
from smc_dp.cli.main import main

# These cite shipped results, the same whatever the run is: they have tests of their own (`test_code_checks.py`).
OF_THE_CODE = ("distribution", "limitations-true")
OF_THE_RUN: tuple[Check, ...] = tuple(check for check in checks.CHECKS if check.name not in OF_THE_CODE)


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
