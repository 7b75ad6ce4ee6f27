"""The command `dossier`: the facts of a run, for those who have to file or judge it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from smc_dp.cli import screen
from smc_dp.cli.options import AsJson, positive


def dossier(
    run_folder: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")],
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The folder to make [default: RUN-dossier, beside RUN].")
    ] = None,
    identities: Annotated[
        Path | None, typer.Option(metavar="FILE", help="JSON file of public identity keys, known from elsewhere.")
    ] = None,
    views: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder of views (*.view), for the audit; nothing of them is written."),
    ] = None,
    seconds: Annotated[
        str | None, typer.Option(metavar="NUMBER", help="Processor time that the audit may use [default: 40].")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Audit a run, and write its facts for three readers: an annex for a data-protection impact assessment, a sheet for
    an ethics committee, and a draft of an entry for the public registry of differential-privacy deployments.

    Every sentence follows from a fact of the run that the audit holds; what no run can know is a blank for you to fill
    in. A run whose audit fails, or does not finish, has no dossier. Nothing private is in it. --json prints the facts,
    each with its source, all sentences with the facts that they are made of, and the blanks.

    \b
    Examples:
      smc-dp dossier runs/first
      smc-dp dossier runs/first --identities identities.json --out filed/first
      smc-dp dossier runs/first --json > facts.json
    """
    from smc_dp.audit.run.work import SECONDS
    from smc_dp.dossier.dossier import default_folder, write_dossier

    folder = default_folder(run_folder) if out is None else out
    allowed = SECONDS if seconds is None else float(positive("--seconds", seconds))
    with screen.status() as hear:
        made = write_dossier(run_folder, out=folder, identities=identities, views=views, progress=hear, seconds=allowed)
    if as_json:
        print(json.dumps({"out": str(folder), **made.as_dict()}, allow_nan=False))
        return
    print(f"Written to {folder}: {', '.join(made.files)}; {len(made.blanks)} blanks are left to fill in.")
    if made.entry is None:
        print("No entry for the registry: this release guarantees nothing that could be registered.")
