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
from smc_dp.cli.options import AsJson
from smc_dp.cli.study import OwnKey, PublicRows, StudyPath
from smc_dp.core.errors import InputError

if TYPE_CHECKING:
    from smc_dp.core.private_text import PrivateText
    from smc_dp.deploy.join import SiteFiles

ApprovalFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="The own approval [default: <study>.<name>.approval beside the study]."),
]
State = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="SECRET: where the state is kept [default: <study>.<name>.state]."),
]
CountersFolder = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="SECRET: number and keys of the newest state; never in a backup [default: ~/.local/state/smc-dp].",
    ),
]
Credentials = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="What the relay's operator handed over [default: what the terms name]."),
]
StatePassphrase = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="SECRET: its first line seals the state, beside the own identity."),
]
Views = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="SECRET: a folder to make for what this site could read, for audits."),
]


def join_study(
    study_file: StudyPath,
    key: OwnKey,
    ledger: Annotated[Path, typer.Option(metavar="FILE", help="The own book of releases.")],
    terms: Annotated[Path, typer.Option(metavar="own.toml", help="The site's own terms; they never leave it.")],
    data: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The own rows [default: what the terms name].")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The own copy of the release [default: in the state].")
    ] = None,
    approval: ApprovalFile = None,
    state: State = None,
    counters: CountersFolder = None,
    views: Views = None,
    credentials: Credentials = None,
    auxiliary: PublicRows = None,
    passphrase_file: StatePassphrase = None,
    as_json: AsJson = False,
) -> int:
    """Take part in a study, as one of its parties, with the own rows on the own machine.

    First everything is looked at as `study check` does: where something does not fit, nothing of it leaves, the others
    hear no more than that this site does not take part, and the exit code is 2. Whatever stops this program later, the
    same command goes on from where it stood. In the end the site has made the release from the record itself, has
    checked every signature in it, and its book says what it was charged. Exit code 1: the study ended without one.

    \b
    Examples:
      smc-dp join study.toml --data rows.csv --key north.key --ledger north.ledger --terms own.toml
      smc-dp join study.toml --key north.key --ledger north.ledger --terms own.toml --state /secure/state
    """
    from smc_dp.deploy.join import SiteFiles

    own = (terms, data, ledger, out, approval, state, counters, views, credentials, auxiliary, passphrase_file)
    return _take_part(study_file, SiteFiles(key, *own), as_json)


def serve_study(
    study_file: StudyPath,
    key: OwnKey,
    out: Annotated[Path, typer.Option(metavar="RUN", help="The run folder to make.")],
    terms: Annotated[Path | None, typer.Option(metavar="own.toml", help="Own terms, if Charlie has any.")] = None,
    approval: ApprovalFile = None,
    state: State = None,
    counters: CountersFolder = None,
    views: Views = None,
    credentials: Credentials = None,
    auxiliary: PublicRows = None,
    passphrase_file: StatePassphrase = None,
    as_json: AsJson = False,
) -> int:
    """Take part in a study as Charlie, and keep its record.

    Charlie is trusted with nothing: he sees sealed mail, masked numbers and the release. The relay, over which all mail
    goes, is another program, and may be another organisation's. The same command again goes on where it stood.

    \b
    Examples:
      smc-dp serve study.toml --key charlie.key --credentials provisioning-kit/charlie --out runs/study
    """
    from smc_dp.deploy.join import SiteFiles

    own = (terms, None, None, out, approval, state, counters, views, credentials, auxiliary, passphrase_file)
    return _take_part(study_file, SiteFiles(key, *own), as_json)


def study_status(
    study_file: StudyPath, state: State = None, counters: CountersFolder = None, as_json: AsJson = False
) -> None:
    """Say how a study stands at this site, and erase what it keeps of a session it has missed or that is over. Nothing
    is sent.

    The report names the stage, who is waited for, and until when. `join`, `serve` and `study abandon` erase it too,
    before they read another file or ask the relay.

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
        typer.Option(metavar="NAME.key", help="SECRET: the own identity; it signs what others are told."),
    ] = None,
    ledger: Annotated[Path | None, typer.Option(metavar="FILE", help="The own ledger, to settle it.")] = None,
    terms: Annotated[
        Path | None, typer.Option(metavar="own.toml", help="The site's own terms, which name the credentials.")
    ] = None,
    state: State = None,
    counters: CountersFolder = None,
    credentials: Credentials = None,
    as_json: AsJson = False,
) -> None:
    """Give up a study at this site for good: erase what the site keeps of the session, tell the others, and settle.

    Keys, masks, randomness and the site's own numbers are gone first, without any of the options; there is no way back.
    With --key the others are told that this site broke off, if the relay can be reached, and else find out by their
    deadlines. With --ledger the charge is settled: void where nothing can have left; else it stays for good. The same
    command again, or `join`, does what was left. No program may be using the state.

    \b
    Examples:
      smc-dp study abandon study.toml
      smc-dp study abandon study.toml --key north.key --ledger north.ledger --terms own.toml
    """
    from smc_dp.deploy import abandon as given_up
    from smc_dp.deploy import paths
    from smc_dp.deploy.study import JointStudy
    from smc_dp.deploy.terms import OwnTerms

    folders = _states(study_file, state)
    if len(folders) > 1:
        raise InputError("state.abandon_which", study_file=str(study_file))
    study, own = JointStudy.read(study_file), None if terms is None else OwnTerms.read(terms)
    named = credentials or (None if own is None else own.credentials_path)
    kept = counters or paths.counter_folder()
    found = given_up.abandon_study(study, folders[0], kept, key=key, ledger=ledger, credentials=named)
    if as_json:
        print(json.dumps(found.as_dict()))
        return
    print(screen.fold(found.status.words(), "  "))
    if not found.notified:
        print(screen.fold(f"The others have not been told, and find out by their deadlines: {found.why.on_screen()}."))
    if not found.settled and not found.charged:
        print("The ledger still counts this session: the same command with --ledger settles it.")


def _states(study_file: Path, state: Path | None) -> list[Path]:
    from smc_dp.deploy import paths

    folders = list(paths.states(study_file)) if state is None else [state]
    if not folders:
        raise InputError("state.none_beside_study", study_file=str(study_file))
    return folders


def _take_part(study_file: Path, files: SiteFiles, as_json: bool) -> int:
    from smc_dp.deploy.join import take_part

    warn_exposed([files.key])
    ended = take_part(study_file, files, _silent if as_json else _hear)
    if as_json:
        print(json.dumps(ended.as_dict()))
    elif ended.end == "released":
        print(f"The release is in {ended.out}: made from the record, and every signature in it holds.")
        if ended.compared is not None:
            screen.print_blocks(ended.compared.blocks())
    elif ended.end == "waiting":
        print(screen.fold(f"There is no release yet: {ended.why.on_screen()}. What has left stays charged."))
    else:
        left = "and what has left stays charged" if ended.charged else "and nothing is charged"
        print(screen.fold(f"The study ended here without a release, {left}: {ended.why.on_screen()}"))
    return 0 if ended.end == "released" else 1


def _hear(text: PrivateText) -> None:
    print(f"{datetime.now():%H:%M:%S} {text.on_screen()}", file=sys.stderr, flush=True)


def _silent(text: PrivateText) -> None:
    """Print nothing but the result, where one JSON object is wanted."""
