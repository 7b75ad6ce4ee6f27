"""The command `audit`: what a run's transcript and views show, and what a protocol shows to each coalition."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from smc_dp.cli import receipts, screen
from smc_dp.cli.matrix import PARTIES, show_matrix
from smc_dp.cli.options import AsJson, check_beside, count, positive, quoted_in_options, refuse
from smc_dp.errors import InputError

if TYPE_CHECKING:
    from smc_dp.audit.run.report import AuditReport


def audit(
    run_folder: Annotated[Path | None, typer.Argument(metavar="RUN", help="A run folder.")] = None,
    identities: Annotated[
        Path | None, typer.Option(metavar="FILE", help="JSON file of public identity keys, known from elsewhere.")
    ] = None,
    views: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder of views (*.view), of one participant or several.")
    ] = None,
    ledgers: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder of parties' ledgers, or of exports: the budget before and after."),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE.html", help="A page to file and sign, a new file; of a failed audit too."),
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
    receipt: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A new file: what was found, signed; only if the audit passes.")
    ] = None,
    key: Annotated[
        Path | None, typer.Option(metavar="NAME.key", help="With --receipt: the auditor's secret identity key.")
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Check a run: its record, its release, its privacy statement, and with views what its participants did and saw.

    Every check is listed as passed, failed, or not possible with what was given; then which of three levels of
    assurance was reached (the record is whole; it is authentic; every message was replayed), and what is missing for
    the next one. Exit code 0: no check failed; 1: one
    did, and the first offending message is named, or one took too long; 2: the input cannot be read.

    With --receipt and --key (`smc-dp identities new auditor` makes one) the result of an audit that passed is signed,
    with the digests of all files: `smc-dp predict --receipt FILE --auditor auditor.pub` asks for it. An audit that did
    not pass gets none.

    \b
    Examples:
      smc-dp audit runs/first
      smc-dp audit runs/first --identities identities.json --json
      smc-dp run --out runs/second --record-views views
      smc-dp audit runs/second --views views
      smc-dp audit runs/second --views views --ledgers ledgers --report report.html
      smc-dp audit runs/first --receipt receipt.json --key auditor.key
      smc-dp audit --matrix pathak2010 --parties 3
      smc-dp audit --matrix pathak2010-garbled
      smc-dp audit --matrix comparison
      smc-dp audit --matrix linear
      smc-dp audit --matrix secure_sum
      smc-dp audit --matrix secure_sum --report matrix.html
    """
    if matrix is not None:
        files = {"RUN": run_folder, "--identities": identities, "--views": views, "--ledgers": ledgers}
        files |= {"--receipt": receipt, "--key": key}
        refuse(files | {"--seconds": seconds, "--fresh": fresh or None}, "not with --matrix")
        return show_matrix(matrix, count("--parties", parties, 2), report, as_json=as_json)
    refuse({"--parties": parties}, "only with --matrix")
    if run_folder is None:
        raise InputError("RUN: wanted a run folder, or a protocol with --matrix, got neither")

    from smc_dp.audit.run.checks import audit_run
    from smc_dp.audit.run.work import SECONDS

    check_beside(run_folder, {"--report": report, "--receipt": receipt})
    auditor = receipts.auditor(receipt, key)
    allowed = SECONDS if seconds is None else float(positive("--seconds", seconds))
    with screen.status() as hear:
        found = audit_run(
            run_folder,
            identities=identities,
            views=views,
            ledgers=ledgers,
            progress=hear,
            seconds=allowed,
            fresh=fresh,
        )
    _show(found, as_json=as_json)
    if report is not None:
        _write(report, found)
    if receipt is not None and auditor is not None:
        receipts.write(receipt, found, auditor)
    return 0 if found.passed else 1


def _show(found: AuditReport, *, as_json: bool) -> None:
    if as_json:
        print(_named(json.dumps(found.as_dict(), allow_nan=False)))
    else:
        screen.show_audit(found, _named)


def _write(path: Path, found: AuditReport) -> None:
    from smc_dp.pages.rendering import write_page

    write_page(path, found.page(), f"--report: {path}")
    print(f"Report: {path}", file=sys.stderr)


def _named(said: str) -> str:
    """What the library says, with options for its parameters."""
    return quoted_in_options(said, {name: f"--{name}" for name in ("seconds", "fresh", "identities", "views")})
