"""Commands of a study, which organisations agree on before any of them takes part."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from smc_dp.cli import screen
from smc_dp.cli.identities import warn_exposed
from smc_dp.cli.options import AsJson, MostCells, cells_allowed, deferred, read_positive
from smc_dp.cli.setting_options import with_settings
from smc_dp.core.errors import InputError, LinesFault, one_line, shown

if TYPE_CHECKING:
    from smc_dp.data.bounds import Bounds
    from smc_dp.deploy.study import JointStudy

study_group = typer.Typer(rich_markup_mode=None)
_HEADINGS = {
    ("site",): "This site can fix:",
    ("site", "author"): "This site, or else the author of the study, can fix:",
    ("author", "site"): "The author of the study, or else this site, can fix:",
    ("author",): "Only the author of the study can fix:",
}

StudyPath = Annotated[Path, typer.Argument(metavar="STUDY", help="The study, a TOML file.")]
OwnKey = Annotated[Path, typer.Option(metavar="NAME.key", help="SECRET: key of this site, by `smc-dp identities new`.")]
PolicyFile = Annotated[
    Path | None, typer.Option(metavar="own.toml", help="Policy of this site; the curator can do without.")
]
PublicRows = Annotated[
    Path | None, typer.Option(metavar="FILE", help="soft_ss: the public rows without labels that all parties have.")
]


def _describe_group() -> None:
    """Prepare a study: one file that all organisations read, check and sign before any of them takes part.

    It names the participants and their public keys, the method and its guarantee, the columns and their bounds, the
    deadlines, and the relay. It runs once, when all have approved it. A changed study is another study.
    """


@with_settings("study new")
def new_study(
    said: Mapping[str, Any],
    out: Annotated[Path, typer.Option(metavar="FILE", help="The study to write.")],
    party: Annotated[
        list[str],
        typer.Option(
            metavar="NAME.pub|NAME=PUBLICKEY",
            help="A party and its public key. Repeat it for each party. The study lists them in this order.",
        ),
    ],
    bounds: Annotated[Path, typer.Option(help="TOML file of public bounds, categories and classes.")],
    title: Annotated[str, typer.Option(help="Title of the study.")],
    purpose: Annotated[str, typer.Option(help="Purpose of the release; a site policy may allow some purposes only.")],
    relay: Annotated[str, typer.Option(metavar="URL", help="Address of the relay, such as nats://relay.example:4222.")],
    curator: Annotated[
        str | None,
        typer.Option(metavar="charlie.pub|PUBLICKEY", help="Public key of the curator, if the protocol has one."),
    ] = None,
    greetings: Annotated[str, typer.Option(metavar="DURATION", help="Longest wait for the greetings of all.")] = "7d",
    messages: Annotated[str, typer.Option(metavar="DURATION", help="Longest wait for a message.")] = "1d",
    auxiliary: PublicRows = None,
    threshold: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER",
            help="Two classes: a row is taken for the second one where its probability is above this [default: 0.5].",
        ),
    ] = None,
    label: Annotated[str | None, typer.Option(metavar="COLUMN", help="The column of classes.")] = None,
) -> None:
    """Draft a study from options. Nothing is sent. Edit the text before anybody signs it.

    \b
    Examples:
      smc-dp study new --out study.toml --party north.pub --party south.pub --curator charlie.pub \\
                       --bounds bounds.toml --title "Readmission" --purpose research --relay nats://relay.example:4222
      smc-dp study new --out study.toml --party north.pub --party south.pub --party west.pub --party east.pub \\
                       --curator charlie.pub --bounds bounds.toml --title T --purpose research \\
                       --relay tls://relay.example:4222 --epsilon 0.5 --colluders 1 --dropouts 1 --messages 12h
    """
    if os.path.lexists(out):
        raise InputError("study.exists", study_file=str(out))

    from smc_dp.core.documents import parse_document, validate_document
    from smc_dp.core.writing import write_new
    from smc_dp.deploy.draft import draft_study
    from smc_dp.deploy.preflight import read_auxiliary
    from smc_dp.deploy.study import JointStudy
    from smc_dp.run import identities as stored
    from smc_dp.run.agreement import check_auxiliary, describes_rows
    from smc_dp.run.settings import RunSettings

    agreed = validate_document(RunSettings, said, "options").settle(len(party))
    check_auxiliary(agreed.method, given=auxiliary is not None)
    parties = dict(stored.parse_pinned(text) for text in party)
    if len(parties) != len(party):
        raise InputError("party.twice")
    known, stated = _stated_bounds(bounds, label)
    known = known.whole if describes_rows(agreed.method.name) else known
    public = None if auxiliary is None else read_auxiliary(auxiliary, known)
    agreement = agreed.with_parties(tuple(parties), known, public)
    identities = parties | ({} if curator is None else stored.parse_pinned_curator(curator))
    deadlines = {"greetings": greetings, "messages": messages}
    limit = None if threshold is None else str(read_positive("--threshold", threshold))
    around = {"title": title, "purpose": purpose, "relay": relay, "deadlines": deadlines, "threshold": limit}
    text = draft_study(agreement, around, identities, stated)
    made = parse_document(JointStudy, text, f"study {out}")
    write_new(out, text.encode(), f"study {out}")
    print(f"Written: {out}, digest {made.digest}. Read it, then have each participant run `smc-dp study approve`.")


def show_study(
    study_file: StudyPath,
    auxiliary: PublicRows = None,
    details: Annotated[bool, typer.Option("--details", help="Print the privacy statement in full, too.")] = False,
    as_json: AsJson = False,
) -> None:
    """Explain what taking part means. It covers participants, what leaves the site, guarantee, cost and deadlines.

    \b
    Examples:
      smc-dp study show study.toml
      smc-dp study show study.toml --details
      smc-dp study show study.toml --json
    """
    from smc_dp.deploy import report
    from smc_dp.deploy.preflight import agreement_of

    found = _read(study_file)
    agreement = agreement_of(found, auxiliary)
    if as_json:
        said = {"digest": found.digest, "study": found.as_dict(), "agreement": agreement.digest}
        privacy = {**asdict(agreement.statement), "text": agreement.statement.plain_words()}
        print(json.dumps({**said, "privacy": privacy, "insecure": list(agreement.marks)}, allow_nan=False))
        return
    sections = report.blocks(found, agreement)
    screen.print_blocks(replace(section, details=False) for section in sections if details or not section.details)


def check_study(
    study_file: StudyPath,
    key: OwnKey,
    policy: PolicyFile = None,
    data: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Rows of this site [default: as in own.toml].")
    ] = None,
    ledger: Annotated[Path | None, typer.Option(metavar="FILE", help="Ledger of this site.")] = None,
    auxiliary: PublicRows = None,
    most_cells: MostCells = None,
    as_json: AsJson = False,
) -> int:
    """Check whether this site can join a study. Key, policy, rows and ledger are read; nothing is sent or written.

    The command lists all problems, and says who can fix each: this site, or the author of the study. With any, it
    exits with code 2. The curator has a key only.

    \b
    Examples:
      smc-dp study check study.toml --data rows.csv --ledger north.ledger --key north.key --policy own.toml
      smc-dp study check study.toml --key charlie.key
    """
    from smc_dp.data.refused_input import lines_for_site
    from smc_dp.deploy.preflight import OwnFiles, fixed_by, preflight_of_files
    from smc_dp.pages.blocks import lines_blocks
    from smc_dp.planning.report import expected_at_site

    found = _read(study_file)
    with cells_allowed(most_cells):
        fit = preflight_of_files(found, key, policy, OwnFiles(data, ledger, auxiliary, study=study_file))
    lines = [fault for fault in fit.faults if isinstance(fault, LinesFault)]
    fit.faults = [fault for fault in fit.faults if fault not in lines]
    if fit.name is not None:
        warn_exposed([key])
    if as_json:
        faults = [{**fault.as_dict(), "fixed_by": list(fixed_by(fault))} for fault in fit.faults]
        stated = lines_for_site(fit.faults)
        own = None if stated is None else dict(stated.fields)
        said = {"study": found.digest, "name": fit.name, "fits": not faults, "faults": faults, "format": own}
        print(json.dumps(said))
        return 2 if fit.faults else 0
    for fixers, heading in _HEADINGS.items():
        if some := [fault for fault in fit.faults if fixed_by(fault) == fixers]:
            print(heading)
            for fault in some:
                print(f"* {one_line(str(fault))}")
    for fault in lines:
        screen.print_blocks(lines_blocks(fault))
    if fit.faults:
        count = len(fit.faults)
        problems = "1 problem" if count == 1 else f"{count} problems"
        print(f"{problems}: this site cannot join study {found.digest} yet.")
        return 2
    print(f"No problems: {fit.name} can approve study {found.digest} and take part.")
    if fit.own is not None and fit.agreement is not None:
        screen.print_blocks(expected_at_site(fit.agreement, len(fit.own.rows)))
    return 0


def approve_study(
    study_file: StudyPath,
    key: OwnKey,
    policy: PolicyFile = None,
    ledger: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Ledger of this site, to be checked first. Required if own.toml names witnesses of it.",
        ),
    ] = None,
    auxiliary: PublicRows = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The approval to write [default: <study>.<name>.approval beside the study]."),
    ] = None,
) -> None:
    """Sign a study for one run of it. The site policy and the ledger's witnesses are checked first.

    With `--ledger` the ledger is checked first, and so are the rows that own.toml names. If states of earlier studies
    lie beside the study, the ledger is compared with what their witnesses have seen.

    The approval holds 32 random bytes, so that its session differs from every other one.

    \b
    Examples:
      smc-dp study approve study.toml --key north.key --policy own.toml
      smc-dp study approve study.toml --key charlie.key --out charlie.approval
    """
    from protocols.arithmetic.rng import Stream
    from smc_dp.core.writing import write_new
    from smc_dp.deploy.approval import Approval
    from smc_dp.deploy.preflight import OwnFiles, preflight_of_approval
    from smc_dp.deploy.site_policy import SitePolicy
    from smc_dp.run import identities as stored
    from smc_dp.run.approvals import RANDOM_BYTES

    found = _read(study_file)
    identity, own = stored.read_identity(key), None if policy is None else SitePolicy.read(policy)
    warn_exposed([key])
    name = found.participant(identity.public)

    def ask(own: SitePolicy) -> None:
        own.ask_witnesses(found, ledger, identity, lambda text: print(text.on_screen(), file=sys.stderr))

    fit = preflight_of_approval(found, name, own, OwnFiles(None, ledger, auxiliary, study=study_file), ask)
    fit.require(f"study {study_file}")
    approval = Approval.made(found.digest, name, identity, Stream.from_system().bytes(RANDOM_BYTES))
    path = study_file.with_name(f"{study_file.stem}.{name}.approval") if out is None else out
    write_new(path, approval.encode(), f"approval {path}")
    print(f"Written: {path}, the approval of study {found.digest} by {name}, for one run.")


def provision_study(
    study_file: StudyPath,
    engine: Annotated[
        str, typer.Option(metavar="nats|flare|flower", help="Program that carries the encrypted messages.")
    ],
    out: Annotated[
        Path,
        typer.Option(
            metavar="DIR", help="The folder to make. For nats it may be the provisioning kit of earlier studies."
        ),
    ],
) -> None:
    """Make the files that the relay of a study and its sites need: the provisioning kit, for the relay's operator.

    The relay runs from it, and it has a folder for each site. README.txt in it has the steps.

    nats: the provisioning kit has certificates, which say who may connect to the relay. They say nothing about who
    somebody is in the study; the identities pinned there do. flare: NVIDIA FLARE 2.9 makes the certificates. The
    provisioning kit has the job and the policies of all sites. flower: the provisioning kit has the app, the
    certificate of the SuperLink and the keys of the SuperNodes.

    One nats-server serves many studies. To add a study to one that runs, give its provisioning kit as --out.

    \b
    Examples:
      smc-dp study provision study.toml --engine nats --out provisioning-kit
      cd provisioning-kit/operator && nats-server -c server.conf
      smc-dp study provision another.toml --engine nats --out provisioning-kit
      smc-dp study provision study.toml --engine flare --out provisioning-kit
    """
    from smc_dp.deploy.flare import provision as flare
    from smc_dp.deploy.flower import provision as flower
    from smc_dp.deploy.nats import provision as nats

    if engine == "nats":
        found = _read(study_file)
        handed = nats.provision_relay(found, out)
        print(f"Next steps: {nats.readme_of(found, out)}. Everything else in {out} is SECRET.")
    elif engine == "flare":
        handed = flare.provision_flare(_read(study_file), out)
        print(f"Next steps: {out / flare.README}. Nothing in {out} is secret.")
    elif engine == "flower":
        handed = flower.provision_flower(_read(study_file), out)
        print(f"Next steps: {out / flower.README_FILE}. SECRET: the folders relay and sites in {out}.")
    else:
        raise InputError("engine.unknown", got=shown(engine))
    for folder in handed:
        print(f"Give this folder to its site, and to nobody else: {folder}")


def open_relay(
    study_file: StudyPath,
    provisioning_kit: Annotated[
        Path,
        typer.Option(
            metavar="DIR", help="Folder that `smc-dp study provision` made: the provisioning kit of the study."
        ),
    ],
    most_megabytes: Annotated[
        int | None,
        typer.Option(min=1, help="Megabytes that the relay keeps of the study. If not given, enough for any study."),
    ] = None,
) -> None:
    """Open a study at its running relay. From then on sites can send and fetch.

    The relay keeps at most --most-megabytes of the study, and refuses what is more. The same command again
    changes nothing.

    \b
    Examples:
      smc-dp study open study.toml --provisioning-kit provisioning-kit
      smc-dp study open study.toml --provisioning-kit provisioning-kit --most-megabytes 200
    """
    from smc_dp.deploy.frame import CarrierError
    from smc_dp.deploy.nats.provision import MOST_STUDY_BYTES, open_study

    found = _read(study_file)
    try:
        most_bytes = MOST_STUDY_BYTES if most_megabytes is None else most_megabytes << 20
        open_study(found, provisioning_kit, most_bytes)
    except CarrierError as error:
        raise InputError(error.fault) from None
    print(f"Study {found.digest} is open at {found.relay}.")


study_group.callback()(_describe_group)
study_group.command("new")(deferred(new_study))
study_group.command("show")(deferred(show_study))
study_group.command("check")(deferred(check_study))
study_group.command("approve")(deferred(approve_study))
study_group.command("provision")(deferred(provision_study))
study_group.command("open")(deferred(open_relay))


def _read(path: Path) -> JointStudy:
    from smc_dp.deploy.study import JointStudy

    return JointStudy.read(path)


def _stated_bounds(path: Path, label: str | None) -> tuple[Bounds, dict[str, Any]]:
    """Return the bounds in a file, and its content with the column of classes from `label`, if that is given."""
    from smc_dp.core.toml import parse_toml
    from smc_dp.data.bounds import bounds_from_document, read_bounds

    read_bounds(path)  # which names the file in what is wrong with it
    stated = parse_toml(path.read_text(encoding="utf-8"))
    if label is not None:
        stated["label"] = {**stated.get("label", {}), "column": label}
    return bounds_from_document(stated), stated
