"""Commands of a site that takes part in a study: `join`, `serve`, `status`, `study abandon`."""

from __future__ import annotations

import json
import sys
import time
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from smc_dp.cli import screen
from smc_dp.cli.identities import warn_exposed
from smc_dp.cli.options import AsJson, MostCells, cells_allowed
from smc_dp.cli.study import OwnKey, PublicRows, StudyPath
from smc_dp.core.errors import InputError

if TYPE_CHECKING:
    from smc_dp.core.private_text import PrivateText
    from smc_dp.data.federation import Rows
    from smc_dp.deploy.join import SiteFiles
    from smc_dp.run.agreement import Agreement

ApprovalFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Approval of this site [default: <study>.<name>.approval beside the study]."),
]
State = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="SECRET: folder of the state [default: <study>.<name>.state]."),
]
CountersFolder = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="SECRET: folder with a counter, which shows whether the state is the newest, and the state's keys. Never "
        "restore it from a backup [default: ~/.local/state/smc-dp/counters].",
    ),
]
Credentials = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Folder from the relay's operator [default: as in own.toml]."),
]
StatePassphrase = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="SECRET: file with a passphrase on its first line, which also encrypts the state."
    ),
]
Views = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="SECRET: folder to make for the view of this site, for audits."),
]


def join_study(
    study_file: StudyPath,
    key: OwnKey,
    ledger: Annotated[
        Path, typer.Option(metavar="FILE", help="Ledger of this site, which `smc-dp ledger init` makes.")
    ],
    policy: Annotated[
        Path,
        typer.Option(
            metavar="own.toml",
            help="What this site allows, and where its rows are; never sent. To write it: "
            "smc_dp/deploy/HOWTO_OWN_TOML.md.",
        ),
    ],
    data: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Rows of this site [default: as in own.toml].")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Run folder to make [default: in the folder of the state].")
    ] = None,
    approval: ApprovalFile = None,
    state: State = None,
    counters: CountersFolder = None,
    views: Views = None,
    credentials: Credentials = None,
    auxiliary: PublicRows = None,
    passphrase_file: StatePassphrase = None,
    most_cells: MostCells = None,
    as_json: AsJson = False,
) -> int:
    """Take part in a study as a party. The rows stay on this machine.

    The command first checks this site's files as `study check` does. If it finds a problem, it exits with code 2; the
    other sites learn only that this site does not take part. After a crash, give the same command again: it goes on
    from the last saved state.

    At the end the site builds the release from the transcript, verifies every signature in it, and settles its ledger.
    Exit code 1: the study ended without a release.

    \b
    Examples:
      smc-dp join study.toml --data rows.csv --key north.key --ledger north.ledger --policy own.toml
      smc-dp join study.toml --key north.key --ledger north.ledger --policy own.toml --state /secure/state
    """
    from smc_dp.deploy.join import SiteFiles

    own = (policy, data, ledger, out, approval, state, counters, views, credentials, auxiliary, passphrase_file)
    with cells_allowed(most_cells):
        return _take_part(study_file, SiteFiles(key, *own), as_json)


def serve_study(
    study_file: StudyPath,
    key: OwnKey,
    out: Annotated[Path, typer.Option(metavar="RUN", help="Run folder to make.")],
    policy: Annotated[Path | None, typer.Option(metavar="own.toml", help="Policy of this site, if it has one.")] = None,
    approval: ApprovalFile = None,
    state: State = None,
    counters: CountersFolder = None,
    views: Views = None,
    credentials: Credentials = None,
    auxiliary: PublicRows = None,
    passphrase_file: StatePassphrase = None,
    as_json: AsJson = False,
) -> int:
    """Take part in a study as its curator, and send the transcript to all parties at the end.

    The curator is not trusted: it sees sealed envelopes, masked numbers and the release. The relay that carries all
    envelopes is another program, and may belong to another organisation. After a crash, give the same command again.

    \b
    Examples:
      smc-dp serve study.toml --key charlie.key --credentials credentials --out runs/study
    """
    from smc_dp.deploy.join import SiteFiles

    own = (policy, None, None, out, approval, state, counters, views, credentials, auxiliary, passphrase_file)
    return _take_part(study_file, SiteFiles(key, *own), as_json)


def study_status(
    study_file: StudyPath, state: State = None, counters: CountersFolder = None, as_json: AsJson = False
) -> None:
    """Show the status of a study at this site. It has the stage, the participants that it waits for, and the deadline.

    If the session is over or was missed, the command also erases its secrets. So do `join`, `serve` and
    `study abandon`, before they read another file or contact the relay.

    \b
    Examples:
      smc-dp status study.toml
      smc-dp status study.toml --state /secure/state --json
    """
    from smc_dp.deploy import paths
    from smc_dp.deploy.status import erase_missed
    from smc_dp.deploy.study import JointStudy

    study, kept = JointStudy.read(study_file), counters or paths.counter_folder()
    found = [erase_missed(study, folder, kept, time.time()) for folder in _states(study_file, state)]
    if as_json:
        print(json.dumps([standing.as_dict() for standing in found] if state is None else found[0].as_dict()))
        return
    for standing in found:
        print(screen.fold(standing.words(), "  "))


def give_up_study(
    study_file: StudyPath,
    key: Annotated[
        Path | None,
        typer.Option(metavar="NAME.key", help="SECRET: key of this site; it signs the status message to the others."),
    ] = None,
    ledger: Annotated[Path | None, typer.Option(metavar="FILE", help="Ledger of this site, to settle it.")] = None,
    policy: Annotated[
        Path | None, typer.Option(metavar="own.toml", help="Policy of this site, which names its credentials.")
    ] = None,
    state: State = None,
    counters: CountersFolder = None,
    credentials: Credentials = None,
    as_json: AsJson = False,
) -> None:
    """Abandon a study at this site. Erase the session's secrets, notify the other sites, and settle the ledger.

    The command first erases keys, masks, randomness and inputs; no option is needed for that, and nothing restores
    them. With --key it then notifies the other sites; if the relay cannot be reached, they find out by their deadlines.
    With --ledger it settles the charge: refunded if nothing can have left the site, else it stays.

    No other program may use the state. If a step failed, give the same command again.

    \b
    Examples:
      smc-dp study abandon study.toml
      smc-dp study abandon study.toml --key north.key --ledger north.ledger --policy own.toml
    """
    from smc_dp.deploy import abandon as given_up
    from smc_dp.deploy import paths
    from smc_dp.deploy.site_policy import SitePolicy
    from smc_dp.deploy.study import JointStudy

    folders = _states(study_file, state)
    if len(folders) > 1:
        raise InputError("state.abandon_which", study_file=str(study_file))
    study, own = JointStudy.read(study_file), None if policy is None else SitePolicy.read(policy)
    named = credentials or (None if own is None else own.credentials_path)
    kept = counters or paths.counter_folder()
    found = given_up.abandon_study(study, folders[0], kept, key=key, ledger=ledger, credentials=named)
    if as_json:
        print(json.dumps(found.as_dict()))
        return
    print(screen.fold(found.status.words(), "  "))
    if not found.notified:
        print(
            screen.fold(
                f"The other sites were not notified and find out at a deadline: {found.why_not_notified.on_screen()}."
            )
        )
    if not found.settled and not found.charged:
        print("If this session was charged, the charge stands. Give the same command with --ledger to settle it.")


def _states(study_file: Path, state: Path | None) -> list[Path]:
    from smc_dp.deploy import paths

    folders = list(paths.states(study_file)) if state is None else [state]
    if not folders:
        raise InputError("state.none_beside_study", study_file=str(study_file))
    return folders


def _expect(agreement: Agreement, rows: Rows) -> None:
    """Print what this site gains and gives up."""
    from smc_dp.planning.report import expected_at_site

    screen.print_blocks(expected_at_site(agreement, len(rows)))


def _ignore(agreement: Agreement, rows: Rows) -> None:
    """Print nothing."""


def _take_part(study_file: Path, files: SiteFiles, as_json: bool) -> int:
    from smc_dp.deploy.join import take_part

    warn_exposed([files.key])
    ended = take_part(study_file, files, _silent if as_json else _hear, before=_ignore if as_json else _expect)
    if as_json:
        print(json.dumps(ended.as_dict()))
    elif ended.end == "released":
        print(f"The release is in {ended.out}. It was built from the transcript, and every signature in it is valid.")
        if ended.compared is not None:
            screen.print_blocks(ended.compared.blocks())
    elif ended.end == "waiting":
        print(screen.fold(f"There is no release yet: {ended.why.on_screen()}. The charge stays."))
    else:
        charged = "The charge stays" if ended.charged else "Nothing is charged"
        print(screen.fold(f"The study ended at this site without a release: {ended.why.on_screen()}. {charged}."))
    return 0 if ended.end == "released" else 1


def _hear(text: PrivateText) -> None:
    print(f"{datetime.now():%H:%M:%S} {text.on_screen()}", file=sys.stderr, flush=True)


def _silent(text: PrivateText) -> None:
    """Print nothing but the result, where one JSON object is wanted."""
