"""Commands of a study, which organisations agree on before any of them takes part."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from smc_dp.cli import screen
from smc_dp.cli.identities import warn_exposed
from smc_dp.cli.options import AsJson, deferred
from smc_dp.cli.setting_options import with_settings
from smc_dp.core.errors import InputError, one_line, shown

if TYPE_CHECKING:
    from smc_dp.data.bounds import Bounds
    from smc_dp.deploy.study import JointStudy

study_group = typer.Typer(rich_markup_mode=None)

StudyPath = Annotated[Path, typer.Argument(metavar="STUDY", help="The study, a TOML file.")]
OwnKey = Annotated[Path, typer.Option(metavar="NAME.key", help="SECRET: the own identity, by `smc-dp identities new`.")]
TermsFile = Annotated[
    Path | None, typer.Option(metavar="own.toml", help="The site's own terms; Charlie may do without.")
]
PublicRows = Annotated[
    Path | None, typer.Option(metavar="FILE", help="soft_ss: the public rows without labels that all parties have.")
]


def _describe_group() -> None:
    """Prepare a study, which organisations agree on before any takes part: one file that each reads, checks and signs.

    It names who takes part under which public key, what is learned and what that guarantees, the columns with their
    bounds, how long anybody waits, and the relay. It runs once, when all have approved it; changed, it is another.
    """


@with_settings("study new")
def new_study(
    said: Mapping[str, Any],
    out: Annotated[Path, typer.Option(metavar="FILE", help="The study to write.")],
    party: Annotated[
        list[str],
        typer.Option(metavar="NAME.pub|NAME=PUBLICKEY", help="A party and its public key; repeat it, in their order."),
    ],
    bounds: Annotated[Path, typer.Option(help="TOML file of public bounds, categories and classes.")],
    title: Annotated[str, typer.Option(help="What the study is called.")],
    purpose: Annotated[str, typer.Option(help="What the release is for; sites may allow some purposes only.")],
    relay: Annotated[str, typer.Option(metavar="URL", help="Where the mail goes, such as nats://relay.example:4222.")],
    curator: Annotated[
        str | None,
        typer.Option(metavar="charlie.pub|PUBLICKEY", help="Charlie's public key, where the protocol has him."),
    ] = None,
    greetings: Annotated[str, typer.Option(metavar="DURATION", help="How long all wait for all greetings.")] = "7d",
    letters: Annotated[str, typer.Option(metavar="DURATION", help="How long all wait for any letter.")] = "1d",
    auxiliary: PublicRows = None,
    label: Annotated[str | None, typer.Option(metavar="COLUMN", help="The column of classes.")] = None,
) -> None:
    """Draft a study from options like those of `run`; nothing is sent, and the text may be edited before anyone signs.

    \b
    Examples:
      smc-dp study new --out study.toml --party north.pub --party south.pub --curator charlie.pub \\
                       --bounds bounds.toml --title "Readmission" --purpose research --relay nats://relay.example:4222
      smc-dp study new --out study.toml --party north.pub --party south.pub --party west.pub --party east.pub \\
                       --curator charlie.pub --bounds bounds.toml --title T --purpose research \\
                       --relay tls://relay.example:4222 --epsilon 0.5 --colluders 1 --dropouts 1 --letters 12h
    """
    from smc_dp.core.documents import parse_document, validate_document
    from smc_dp.core.writing import write_new
    from smc_dp.deploy.draft import draft_study
    from smc_dp.deploy.preflight import read_auxiliary
    from smc_dp.deploy.study import JointStudy
    from smc_dp.run import identities as stored
    from smc_dp.run.agreement import check_auxiliary
    from smc_dp.run.settings import RunSettings

    agreed = validate_document(RunSettings, said, "options").settle(len(party))
    check_auxiliary(agreed.method, given=auxiliary is not None)
    parties = dict(stored.parse_pinned(text) for text in party)
    if len(parties) != len(party):
        raise InputError("party.twice")
    known, stated = _stated_bounds(bounds, label)
    public = None if auxiliary is None else read_auxiliary(auxiliary, known)
    agreement = agreed.with_parties(tuple(parties), known, public)
    identities = parties | ({} if curator is None else stored.parse_pinned_curator(curator))
    deadlines = {"greetings": greetings, "letters": letters}
    around = {"title": title, "purpose": purpose, "relay": relay, "deadlines": deadlines}
    text = draft_study(agreement, around, identities, stated)
    made = parse_document(JointStudy, text, f"study {out}")
    write_new(out, text.encode(), f"study {out}")
    print(f"Written: {out}, digest {made.digest}. Read it, and have each participant run `smc-dp study approve`.")


def show_study(study_file: StudyPath, auxiliary: PublicRows = None, as_json: AsJson = False) -> None:
    """Say in plain words what taking part means: who, what leaves the site, the guarantee, the cost, how long it takes.

    \b
    Examples:
      smc-dp study show study.toml
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
    screen.print_blocks(report.blocks(found, agreement))


def check_study(
    study_file: StudyPath,
    key: OwnKey,
    terms: TermsFile = None,
    data: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The own rows [default: what the terms name].")
    ] = None,
    ledger: Annotated[Path | None, typer.Option(metavar="FILE", help="The own book of releases.")] = None,
    auxiliary: PublicRows = None,
    as_json: AsJson = False,
) -> int:
    """Hold a study against the own key, terms, rows and book. Nothing is sent, and nothing is written.

    Everything that does not fit is listed, and the exit code is 2 then. Charlie has a key, and no rows and no book.

    \b
    Examples:
      smc-dp study check study.toml --data rows.csv --ledger north.ledger --key north.key --terms own.toml
      smc-dp study check study.toml --key charlie.key
    """
    from smc_dp.deploy.preflight import OwnFiles, preflight_of_files
    from smc_dp.planning.report import expected_at_site

    found = _read(study_file)
    fit = preflight_of_files(found, key, terms, OwnFiles(data, ledger, auxiliary))
    if fit.name is not None:
        warn_exposed([key])
    if as_json:
        faults = [fault.as_dict() for fault in fit.faults]
        print(json.dumps({"study": found.digest, "name": fit.name, "fits": not faults, "faults": faults}))
        return 2 if fit.faults else 0
    for fault in fit.faults:
        print(one_line(str(fault)))
    if fit.faults:
        print(f"{len(fit.faults)} of what was looked at does not fit study {found.digest}.")
        return 2
    print(f"Study {found.digest} fits: {fit.name} can approve it and take part.")
    if fit.own is not None and fit.agreement is not None:
        screen.print_blocks(expected_at_site(fit.agreement, len(fit.own.rows)))
    return 0


def approve_study(
    study_file: StudyPath,
    key: OwnKey,
    terms: TermsFile = None,
    auxiliary: PublicRows = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The approval to write [default: <study>.<name>.approval beside the study]."),
    ] = None,
) -> None:
    """Sign a study: one run of it, under the own terms, with 32 random bytes that make its session a new one.

    \b
    Examples:
      smc-dp study approve study.toml --key north.key --terms own.toml
      smc-dp study approve study.toml --key charlie.key --out charlie.approval
    """
    from protocols.arithmetic.rng import Stream
    from smc_dp.core.writing import write_new
    from smc_dp.deploy.approval import Approval
    from smc_dp.deploy.preflight import preflight_of_terms
    from smc_dp.deploy.terms import OwnTerms
    from smc_dp.run import identities as stored
    from smc_dp.run.approvals import RANDOM_BYTES

    found = _read(study_file)
    identity, own = stored.read_identity(key), None if terms is None else OwnTerms.read(terms)
    warn_exposed([key])
    name = found.participant(identity.public)
    preflight_of_terms(found, name, own, auxiliary).require(f"study {study_file}")
    approval = Approval.made(found, name, identity, Stream.from_system().bytes(RANDOM_BYTES))
    path = study_file.with_name(f"{study_file.stem}.{name}.approval") if out is None else out
    write_new(path, approval.encode(), f"approval {path}")
    print(f"Written: {path}, {name}'s approval of study {found.digest}. It is for one run.")


def provision_study(
    study_file: StudyPath,
    engine: Annotated[str, typer.Option(metavar="nats|flare", help="What carries the mail.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder to make.")],
) -> None:
    """Make what a relay of the study runs from, and for each site the folder that lets it in.

    For whoever runs the relay. nats: the kit has certificates of its own, which say who may connect to the relay; who
    somebody is in the study, the identities pinned there say. operator/README.txt says what to do, in which order.
    flare: NVIDIA FLARE 2.9 makes the certificates; the kit has the job and everybody's policies, and a README.txt.

    \b
    Examples:
      smc-dp study kit study.toml --engine nats --out kit
      cd kit/operator && nats-server -c server.conf
      smc-dp study kit study.toml --engine flare --out kit
    """
    from smc_dp.deploy.flare import provision as flare
    from smc_dp.deploy.nats import provision as nats

    if engine == "nats":
        handed = nats.provision_relay(_read(study_file), out)
        print(f"What to do: {out / 'operator' / nats.README}. SECRET: all else in {out}.")
    elif engine == "flare":
        handed = flare.provision_flare(_read(study_file), out)
        print(f"What to do: {out / flare.README}. Nothing in {out} is secret.")
    else:
        raise InputError("engine.unknown", got=shown(engine))
    for folder in handed:
        print(f"To hand over: {folder}")


def open_relay(
    study_file: StudyPath,
    kit: Annotated[Path, typer.Option(metavar="DIR", help="The kit of the study, with the operator's folder in it.")],
) -> None:
    """Open a study at its relay, once that runs: from then on sites can send and fetch. Again, nothing changes.

    \b
    Example:
      smc-dp study open study.toml --kit kit
    """
    from smc_dp.deploy.frame import CarrierError
    from smc_dp.deploy.nats.provision import open_study

    found = _read(study_file)
    try:
        open_study(found, kit)
    except CarrierError as error:
        raise InputError(error.fault) from None
    print(f"Study {found.digest} is open at {found.relay}.")


study_group.callback()(_describe_group)
study_group.command("new")(deferred(new_study))
study_group.command("show")(deferred(show_study))
study_group.command("check")(deferred(check_study))
study_group.command("approve")(deferred(approve_study))
study_group.command("kit")(deferred(provision_study))
study_group.command("open")(deferred(open_relay))


def _read(path: Path) -> JointStudy:
    from smc_dp.deploy.study import JointStudy

    return JointStudy.read(path)


def _stated_bounds(path: Path, label: str | None) -> tuple[Bounds, dict[str, Any]]:
    """Return the bounds in a file, and the content of the file, with the column of classes if that is named apart."""
    from smc_dp.core.toml import parse_toml
    from smc_dp.data.bounds import bounds_from_document, read_bounds

    read_bounds(path)  # which names the file in what is wrong with it
    stated = parse_toml(path.read_text(encoding="utf-8"))
    if label is not None:
        stated["label"] = {**stated["label"], "column": label}
    return bounds_from_document(stated), stated
