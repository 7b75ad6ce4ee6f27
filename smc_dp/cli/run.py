"""The command `run`: train together and write a run folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import typer

from smc_dp.cli import screen
from smc_dp.cli.identities import of_run
from smc_dp.cli.ledger import limit
from smc_dp.cli.options import AsJson, DataDir, choice, positive, refuse, whole
from smc_dp.errors import InputError

if TYPE_CHECKING:
    from smc_dp.data.sources import Prepared
    from smc_dp.run.ledgers import Ledgers

METHOD = "prr_mean"
NOISES: tuple[Literal["knorm", "laplace"], ...] = ("knorm", "laplace")
TOPOLOGIES = ("mesh", "star")
LINKS = ("lan", "wan", "none")
DATASETS = "breast_cancer|a9a|bank|credit_default|covtype|kdd99|mnist37"


def run(
    party: Annotated[
        list[str] | None,
        typer.Option(metavar="[NAME=]FILE", help="CSV or Parquet file of one party; repeat it."),
    ] = None,
    parties_by: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The single --party is one table; this column says whose row it is."),
    ] = None,
    label: Annotated[str | None, typer.Option(metavar="COLUMN", help="The column of classes.")] = None,
    bounds: Annotated[Path | None, typer.Option(help="TOML file of public bounds, categories and classes.")] = None,
    test: Annotated[Path | None, typer.Option(help="CSV or Parquet file to measure the accuracy on.")] = None,
    strict_bounds: Annotated[
        bool, typer.Option("--strict-bounds", help="Refuse rows outside their bounds instead of clipping.")
    ] = False,
    dataset: Annotated[
        str | None,
        typer.Option(metavar=DATASETS, help="A data set [default: breast_cancer]."),
    ] = None,
    data_dir: DataDir = None,
    parties: Annotated[
        str | None,
        typer.Option(metavar="INTEGER", help="Number of parties that share a data set [default: 5]."),
    ] = None,
    split: Annotated[
        str | None, typer.Option(metavar="15,20,...", help="Each party's percentage of a data set.")
    ] = None,
    method: Annotated[
        str, typer.Option(metavar="prr_mean", help="What is learned: the mean of the parties' models.")
    ] = METHOD,
    epsilon: Annotated[str, typer.Option(help="Privacy: smaller is more private.")] = "1",
    lam: Annotated[str, typer.Option("--lambda", help="Regularisation of the local classifiers.")] = "0.1",
    calibration: Annotated[
        str | None,
        typer.Option(
            metavar="proven|paper", help="Noise as proven here, or as printed in the paper [default: proven]."
        ),
    ] = None,
    noise: Annotated[str, typer.Option(metavar="knorm|laplace", help="The law of the noise.")] = "knorm",
    comparison: Annotated[
        str, typer.Option(metavar="all-pairs|tournament", help="How the smallest party is found.")
    ] = "tournament",
    key_bits: Annotated[str, typer.Option(metavar="INTEGER", help="Length of the Paillier keys.")] = "3072",
    topology: Annotated[
        str, typer.Option(metavar="mesh|star", help="Direct links, or all mail through Charlie.")
    ] = "mesh",
    link: Annotated[str, typer.Option(metavar="lan|wan|none", help="The network whose delays are simulated.")] = "none",
    out: Annotated[Path | None, typer.Option(help="The run folder to make [default: a new one in runs/].")] = None,
    record_views: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="SECRET: a folder to make for what each participant could read, for audits."),
    ] = None,
    ledgers: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder with each party's ledger: a run that would pass a budget is refused."),
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER",
            help="With --ledgers: the limit, an epsilon, of a ledger that is made now; it never changes.",
        ),
    ] = None,
    identities: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder made by `smc-dp identities new`, a key for each party by its name."),
    ] = None,
    insecure_seed: Annotated[
        str | None,
        typer.Option(metavar="INTEGER", help="Reproducible and INSECURE: all randomness from this number."),
    ] = None,
    insecure_test_keys: Annotated[
        bool, typer.Option("--insecure-test-keys", help="INSECURE: allow keys below 2048 bits.")
    ] = False,
    as_printed_insecure: Annotated[
        bool, typer.Option("--as-printed-insecure", help="INSECURE: the paper's steps with their leaks.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Train together and write a run folder.

    All participants must follow the protocol: one party that breaks its rules removes all noise. The party with the
    fewest records knows the noise; of two parties, it obtains the other's model exactly.

    \b
    Examples:
      smc-dp run
      smc-dp run --epsilon 0.5 --split 15,20,20,20,25 --out runs/first
      smc-dp run --party north.csv --party south=data.parquet --label outcome \\
                 --bounds bounds.toml --test held_out.csv
      smc-dp run --party all.csv --parties-by hospital --bounds bounds.toml
      smc-dp run --dataset a9a --data-dir DIR --lambda 0.001 --json
      smc-dp run --epsilon 0.5 --ledgers ledgers --budget 2 --identities identities
    """
    from protocols.arithmetic.rng import Stream
    from smc_dp.files.writing import fresh_folder, refuse_existing
    from smc_dp.run.agreement import Agreement
    from smc_dp.run.simulation import simulate_run

    terms = _terms(
        *(method, epsilon, lam, calibration, noise, key_bits, comparison),
        as_printed=as_printed_insecure,
        test_keys=insecure_test_keys,
        seeded=insecure_seed is not None,
    )
    mail, network = choice("--topology", topology, TOPOLOGIES), choice("--link", link, LINKS)
    seed = None if insecure_seed is None else whole("--insecure-seed", insecure_seed)
    folder = fresh_folder() if out is None else out
    books = _books(ledgers, budget)
    refuse_existing(folder)
    own = {"--label": label, "--bounds": bounds, "--test": test, "--parties-by": parties_by}
    dealt = {"--dataset": dataset, "--parties": parties, "--split": split}
    if party:
        refuse(dealt, "does not go with --party: there, the files say who has which rows")
        found = _own_files(party, bounds, label, test, parties_by, strict=strict_bounds)
    else:
        refuse(own, "goes with --party, and none was given")
        found = _dealt(dataset, data_dir, parties, split, strict=strict_bounds)
    rng = Stream.from_system() if seed is None else Stream.insecure_from_seed(seed)
    agreement = Agreement(parties=found.federation.names, bounds=found.bounds, **terms)
    known = None if identities is None else of_run(identities, agreement.participants)
    with screen.progress(quiet=as_json) as hear:
        report = simulate_run(
            found, agreement, rng, folder, hear,
            topology=mail, link=network, identities=known, views=record_views, ledgers=books,
        )  # fmt: skip
    if as_json:
        print(json.dumps(report.as_dict(), allow_nan=False))
    else:
        screen.show_run(report)


def _terms(
    method: str, epsilon: str, lam: str, calibration: str | None, noise: str, key_bits: str, comparison: str,
    *, as_printed: bool, test_keys: bool, seeded: bool,
) -> dict[str, Any]:  # fmt: skip
    """What is agreed on whoever takes part, refused before any file is read."""
    from smc_dp.privacy.target import Calibration, Target
    from smc_dp.run.agreement import BY_PROTOCOL, ComparisonName, check, marks, secure_form
    from smc_dp.run.agreement import as_printed as runs_as_printed

    known = BY_PROTOCOL.get(method, BY_PROTOCOL[METHOD])
    protocol = next((name for name in known if runs_as_printed(name) == as_printed), known[0])
    named = None if calibration is None else choice("--calibration", calibration, get_args(Calibration))
    settings = secure_form(method, protocol)(lam=float(positive("--lambda", lam)), as_printed=as_printed)
    default: Calibration = "paper" if as_printed else "proven"
    target = Target(positive("--epsilon", epsilon), named or default, choice("--noise", noise, NOISES))
    bits = whole("--key-bits", key_bits)
    check(settings, target, protocol, bits, test_keys=test_keys)
    return {
        "method": settings,
        "target": target,
        "protocol": protocol,
        "key_bits": bits,
        "comparison": choice("--comparison", comparison, get_args(ComparisonName)),
        "marks": marks(protocol, bits, seeded=seeded),
    }


def _books(ledgers: Path | None, budget: str | None) -> Ledgers | None:
    from smc_dp.run.ledgers import Ledgers

    if ledgers is None:
        refuse({"--budget": budget}, "goes with --ledgers, and none was given")
        return None
    return Ledgers(ledgers, None if budget is None else limit(budget, None))


def _own_files(
    party: list[str], bounds: Path | None, label: str | None, test: Path | None, by: str | None, *, strict: bool
) -> Prepared:
    from smc_dp.data import sources

    if bounds is None:
        raise InputError("--bounds: is missing, wanted a TOML file of public bounds for the parties' files")
    return sources.own_files(party, bounds, label=label, test=test, parties_by=by, strict=strict)


def _dealt(
    name: str | None, data_dir: Path | None, parties: str | None, split: str | None, *, strict: bool
) -> Prepared:
    from smc_dp.data import sources

    count = None if parties is None else whole("--parties", parties)
    return sources.dataset(
        "breast_cancer" if name is None else name, data_dir, parties=count, split=split, strict=strict
    )
