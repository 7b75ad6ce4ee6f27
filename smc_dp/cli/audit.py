"""The command `audit`: what a run's transcript and views show, and what a protocol shows to each coalition."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from smc_dp.cli import screen
from smc_dp.cli.options import AsJson, choice, count, positive, quoted_in_options, refuse
from smc_dp.errors import InputError

if TYPE_CHECKING:
    from protocols.programs import Protocol
    from smc_dp.audit.run.report import AuditReport, Finding

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
        typer.Option(metavar="K", help=f"With --matrix: 2 to 5 parties, {PARTIES} by default; not with comparison."),
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Compute again what is known of the protocol's code from an earlier audit.")
    ] = False,
    seconds: Annotated[
        str | None,
        typer.Option(metavar="NUMBER", help="Processor time that the checks of the run may use [default: 40]."),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Check a run: its record, its release, its privacy statement, and with views what its participants did and saw.

    Every check is listed as passed, failed, or not possible with what was given. Exit code 0: no check failed; 1: one
    did, and the first offending message is named, or one took too long; 2: the input cannot be read.

    \b
    Examples:
      smc-dp audit runs/first
      smc-dp audit runs/first --identities identities.json --json
      smc-dp run --out runs/second --record-views views
      smc-dp audit runs/second --views views
      smc-dp audit --matrix pathak2010 --parties 3
      smc-dp audit --matrix pathak2010-garbled
      smc-dp audit --matrix comparison
      smc-dp audit --matrix linear
      smc-dp audit --matrix secure_sum
    """
    if matrix is not None:
        of_run = {"RUN": run_folder, "--identities": identities, "--views": views, "--seconds": seconds}
        refuse(of_run | {"--fresh": fresh or None}, "not with --matrix")
        return _matrix(matrix, count("--parties", parties, 2), as_json)
    refuse({"--parties": parties}, "only with --matrix")
    if run_folder is None:
        raise InputError("RUN: wanted a run folder, or a protocol with --matrix, got neither")

    from smc_dp.audit.run.checks import audit_run
    from smc_dp.audit.run.work import SECONDS

    allowed = SECONDS if seconds is None else float(positive("--seconds", seconds))
    with screen.status() as hear:
        found = audit_run(run_folder, identities=identities, views=views, progress=hear, seconds=allowed, fresh=fresh)
    found = _in_options(found)
    if as_json:
        print(json.dumps(found.as_dict(), allow_nan=False))
    else:
        screen.show_audit(found)
    return 0 if found.passed else 1


def _in_options(report: AuditReport) -> AuditReport:
    """The report with options for parameters."""

    def named(finding: Finding) -> Finding:
        detail = quoted_in_options(finding.outcome.detail, {"seconds": "--seconds", "fresh": "--fresh"})
        return replace(finding, outcome=replace(finding.outcome, detail=detail))

    return replace(report, findings=tuple(map(named, report.findings)))


def _matrix(name: str, asked: int | None, as_json: bool) -> int:
    from protocols.programs import LOOKED_AT
    from smc_dp.audit.code import matrix as matrices
    from smc_dp.audit.code import words

    protocol = LOOKED_AT[choice("--matrix", name, tuple(LOOKED_AT))]
    if protocol.model.small is not None:
        refuse({"--parties": asked}, f"not with --matrix {name}, which always has the same roles")
        return _exact_matrix(protocol, as_json)
    parties = asked or PARTIES
    if parties > matrices.MOST_PARTIES:
        raise InputError(f"--parties: wanted at most {matrices.MOST_PARTIES}, got {parties}")
    with screen.status() as hear:
        found = matrices.matrix(protocol, parties, hear)
    print(
        json.dumps(found.as_dict()) if as_json else words.text(found, screen.prose_width()), end="\n" if as_json else ""
    )
    return 0


def _exact_matrix(protocol: Protocol, as_json: bool) -> int:
    from smc_dp.audit.code.exact import matrix as matrices
    from smc_dp.audit.code.exact import words

    with screen.status() as hear:
        found = matrices.matrix(protocol, hear)
    print(
        json.dumps(found.as_dict()) if as_json else words.text(found, screen.prose_width()), end="\n" if as_json else ""
    )
    return 0
