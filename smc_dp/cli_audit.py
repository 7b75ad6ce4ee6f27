"""The command `audit`: what a run's transcript and views show."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from smc_dp import screen
from smc_dp.audit import checks, report
from smc_dp.audit.evidence import load
from smc_dp.cli_options import Job


def audit(
    run_folder: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")],
    identities: Annotated[
        Path | None, typer.Option(metavar="FILE", help="JSON file of public identity keys, known from elsewhere.")
    ] = None,
    views: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder of views (*.view), of one participant or several.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> Job:
    """Check a run: its record, its release, its privacy statement, and with views what its participants did and saw.

    Every check is listed as passed, failed, or not possible with what was given. Exit code 0: no check failed; 1: one
    did, and the first offending message is named; 2: the input cannot be read.

    \b
    Examples:
      smc-dp audit runs/first
      smc-dp audit runs/first --identities identities.json --json
      smc-dp run --out runs/second --record-views views
      smc-dp audit runs/second --views views
    """

    def job() -> int:
        evidence = load(run_folder, identities, views)
        with screen.status() as hear:
            found = report.audit(evidence, checks.CHECKS, hear)
        if as_json:
            print(json.dumps(found.as_dict(), allow_nan=False))
        else:
            screen.show_audit(found)
        return 0 if found.passed else 1

    return job
