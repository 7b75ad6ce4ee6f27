"""The command `audit`: what a run's transcript and views show, and what a protocol shows to each coalition."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from smc_dp.cli import screen
from smc_dp.cli.options import AsJson, choice, count, refuse
from smc_dp.errors import InputError

PARTIES = 3


def audit(
    run_folder: Annotated[Path | None, typer.Argument(metavar="RUN", help="A run folder.")] = None,
    identities: Annotated[
        Path | None, typer.Option(metavar="FILE", help="JSON file of public identity keys, known from elsewhere.")
    ] = None,
    views: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder of views (*.view), of one participant or several.")
    ] = None,
    matrix: Annotated[
        str | None,
        typer.Option(metavar="PROTOCOL", help="No run: what each coalition learns in this protocol, from its code."),
    ] = None,
    parties: Annotated[
        str | None,
        typer.Option(metavar="K", help=f"With --matrix: 2 to 5 parties, {PARTIES} by default."),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Check a run: its record, its release, its privacy statement, and with views what its participants did and saw.

    Every check is listed as passed, failed, or not possible with what was given. Exit code 0: no check failed; 1: one
    did, and the first offending message is named; 2: the input cannot be read.

    \b
    Examples:
      smc-dp audit runs/first
      smc-dp audit runs/first --identities identities.json --json
      smc-dp run --out runs/second --record-views views
      smc-dp audit runs/second --views views
      smc-dp audit --matrix pathak2010 --parties 3
    """
    if matrix is not None:
        refuse({"RUN": run_folder, "--identities": identities, "--views": views}, "not with --matrix")
        return _matrix(matrix, count("--parties", parties, 2) or PARTIES, as_json)
    refuse({"--parties": parties}, "only with --matrix")
    if run_folder is None:
        raise InputError("RUN: wanted a run folder, or a protocol with --matrix, got neither")

    from smc_dp.audit.run.checks import audit_run

    with screen.status() as hear:
        found = audit_run(run_folder, identities=identities, views=views, progress=hear)
    if as_json:
        print(json.dumps(found.as_dict(), allow_nan=False))
    else:
        screen.show_audit(found)
    return 0 if found.passed else 1


def _matrix(name: str, parties: int, as_json: bool) -> int:
    from protocols.programs import PROTOCOLS
    from smc_dp.audit.code import matrix as matrices
    from smc_dp.audit.code import words

    protocol = PROTOCOLS[choice("--matrix", name, tuple(PROTOCOLS))]
    if parties > matrices.MOST_PARTIES:
        raise InputError(f"--parties: wanted at most {matrices.MOST_PARTIES}, got {parties}")
    with screen.status() as hear:
        found = matrices.matrix(protocol, parties, hear)
    print(json.dumps(found.as_dict()) if as_json else words.text(found), end="\n" if as_json else "")
    return 0
