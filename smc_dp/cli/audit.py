"""Command `audit`: checks of a run from its transcript and views."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from smc_dp.cli import screen
from smc_dp.cli.options import AsJson, check_beside, options_in_backquotes, read_positive

if TYPE_CHECKING:
    from smc_dp.audit.run.report import AuditReport


def audit_folder(
    run_folder: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")],
    identities: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Public identity keys, known from elsewhere: identities.json, or its folder."
        ),
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
        typer.Option(
            metavar="FILE.html", help="Write a page to sign and archive, also of a failed audit. The file must be new."
        ),
    ] = None,
    seconds: Annotated[
        str | None,
        typer.Option(metavar="NUMBER", help="Processor time that the checks of the run may use [default: 40]."),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Check a run: its transcript, release and privacy statement. With views, also check what participants did and saw.

    The output lists each check as passed, failed, or not possible with the given files. It then names the level of
    assurance that was reached (1: the transcript is whole; 2: it is authentic; 3: every message was replayed), and what
    the next one needs. Exit code 0: no check failed. 1: a check failed, and the first offending message is named; or a
    check took too long. 2: the input cannot be read.

    --report writes a page to sign, with the facts for a data-protection assessment. --json prints the same, with the
    SHA-256 of each file that was read. To sign an audit, sign what --json prints with `ssh-keygen -Y sign`.

    \b
    Examples:
      smc-dp audit runs/first
      smc-dp audit runs/first --identities identities.json --json
      smc-dp run --out runs/second --record-views views
      smc-dp audit runs/second --views views
      smc-dp audit runs/second --views views --ledgers ledgers --report report.html
    """
    from smc_dp.audit.run.checks import audit_run
    from smc_dp.audit.run.time_budget import DEFAULT_SECONDS

    check_beside(run_folder, "--report", report)
    allowed = DEFAULT_SECONDS if seconds is None else float(read_positive("--seconds", seconds))
    with screen.spinner() as hear:
        found = audit_run(
            run_folder, identities=identities, views=views, ledgers=ledgers, progress=hear, seconds=allowed
        )
    _show(found, as_json=as_json)
    if report is not None:
        _write(report, found)
    return 0 if found.passed else 1


def _show(found: AuditReport, *, as_json: bool) -> None:
    if as_json:
        print(_named(json.dumps(found.as_dict(), allow_nan=False)))
    else:
        from smc_dp.audit.run.report_blocks import blocks

        screen.print_blocks(blocks(found), _named)


def _write(path: Path, found: AuditReport) -> None:
    from smc_dp.audit.run.report_blocks import audit_page
    from smc_dp.pages.html import write_page

    write_page(path, audit_page(found), f"--report: {path}")
    print(f"Report: {path}", file=sys.stderr)


def _named(said: str) -> str:
    """Return a sentence of the library with options for its parameters."""
    return options_in_backquotes(said, {name: f"--{name}" for name in ("seconds", "identities", "views", "ledgers")})
