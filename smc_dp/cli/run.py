"""The command `run`: train together and write a run folder."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import typer

from smc_dp.cli import screen
from smc_dp.cli.identities import of_run
from smc_dp.cli.ledger import limit
from smc_dp.cli.options import AsJson, Colluders, DataDir, Dropouts, choice, count, positive, refuse, whole
from smc_dp.core.errors import InputError, shown

if TYPE_CHECKING:
    from smc_dp.data.sources import Prepared
    from smc_dp.run.agreement import Agreement
    from smc_dp.run.ledgers import Ledgers

METHODS = ("prr_mean", "newton", "gd", "wsum", "wsum_ar", "avg_clip", "soft_ss", "ofaa", "ofpa")
NOISES: tuple[Literal["knorm", "laplace", "ddg", "vg", "self"], ...] = ("knorm", "laplace", "ddg", "vg", "self")
MENDED = (
    "One party that breaks the rules removes this noise, and the smallest party can subtract it: `--method newton` "
    "has noise that nobody knows, needs nobody to keep to the rules but some of the parties, and learns more."
)
TOPOLOGIES = ("mesh", "star")
LINKS = ("lan", "wan", "none")
_SETTINGS: Mapping[str, Callable[[str, str], Any]] = {
    "lam": lambda option, text: float(positive(option, text)),
    "adjacency": lambda option, text: choice(option, text, ("replace", "addremove")),
    "rows": lambda option, text: count(option, text),
    "clip": lambda option, text: float(positive(option, text)),
}
DATASETS = "breast_cancer|a9a|bank|credit_default|covtype|kdd99|mnist37|har|digits"


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
    auxiliary: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|INTEGER",
            help="soft_ss: public rows without labels that all parties vote on: with --party a CSV or Parquet file, "
            "else how many rows of the data set become public. They are published.",
        ),
    ] = None,
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
        str | None,
        typer.Option(
            metavar="|".join(METHODS),
            help="What is learned, see above: the paper's mean of the parties' models, by its curator protocol, or by "
            "secure sums one model of all rows (advised: newton), or other sums [default: prr_mean; of three or more "
            "classes newton].",
        ),
    ] = None,
    protocol: Annotated[
        str | None,
        typer.Option(
            metavar="pathak2010|linear",
            help="prr_mean: the paper's protocol, or one whose cost is linear in the number of parties [default: "
            "pathak2010; from 20 parties on linear, unless --key-bits, --comparison or --exponents is there].",
        ),
    ] = None,
    epsilon: Annotated[str, typer.Option(help="Privacy: smaller is more private.")] = "1",
    delta: Annotated[
        str | None,
        typer.Option(metavar="NUMBER", help="Secure sum: the delta of noise ddg, beside epsilon [default: 1e-5]."),
    ] = None,
    lam: Annotated[
        str | None,
        typer.Option("--lambda", metavar="NUMBER", help="Regularisation, of methods that have one [default: 0.1]."),
    ] = None,
    adjacency: Annotated[
        str | None,
        typer.Option(
            metavar="replace|addremove",
            help="newton, gd: whether neighbours have another record, or one more or less [default: replace].",
        ),
    ] = None,
    rows: Annotated[
        str | None,
        typer.Option(metavar="INTEGER", help="gd: the number of all rows, which is public [default: what is known]."),
    ] = None,
    clip: Annotated[
        str | None,
        typer.Option(metavar="NUMBER", help="avg_clip: the norm that models are clipped to [default: 10]."),
    ] = None,
    calibration: Annotated[
        str | None,
        typer.Option(
            metavar="proven|paper", help="Noise as proven here, or as printed in the paper [default: proven]."
        ),
    ] = None,
    noise: Annotated[
        str | None,
        typer.Option(
            metavar="knorm|laplace or ddg|vg|self",
            help="The law of the noise [default: knorm; of newton and gd ddg, of other secure sums ddg with --delta, "
            "else vg].",
        ),
    ] = None,
    comparison: Annotated[
        str | None,
        typer.Option(
            metavar="all-pairs|tournament",
            help="prr_mean: how the smallest party is found [default: tournament].",
        ),
    ] = None,
    exponents: Annotated[
        str | None,
        typer.Option(
            metavar="short|full",
            help="prr_mean: the randomisers of ciphertexts, by assumption or not [default: short].",
        ),
    ] = None,
    key_bits: Annotated[
        str | None,
        typer.Option(metavar="INTEGER", help="prr_mean: length of the Paillier keys [default: 3072]."),
    ] = None,
    colluders: Colluders = None,
    dropouts: Dropouts = None,
    most_rows: Annotated[
        str | None,
        typer.Option(metavar="INTEGER", help="Secure sum: the most rows that a party may have [default: 10000000]."),
    ] = None,
    sizes: Annotated[
        str | None,
        typer.Option(
            metavar="released|hidden",
            help="Secure sum: whether the number of all rows is released [default: of wsum and ofpa released, else "
            "hidden].",
        ),
    ] = None,
    verifiable: Annotated[
        bool, typer.Option("--verifiable", help="Secure sum: publish what was added up, so that anybody can.")
    ] = False,
    output: Annotated[
        str | None,
        typer.Option(metavar="curator|shares", help="Secure sum: who gets masked inputs [default: curator]."),
    ] = None,
    vanish: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME:N",
            help="Secure sum, simulated: NAME sends N - 1 envelopes and nothing after; the greeting is the first, "
            "every sealed letter counts one; repeat it.",
        ),
    ] = None,
    topology: Annotated[
        str, typer.Option(metavar="mesh|star", help="Direct links, or all mail through Charlie.")
    ] = "mesh",
    link: Annotated[str, typer.Option(metavar="lan|wan|none", help="The network whose delays are simulated.")] = "none",
    workers: Annotated[
        str | None,
        typer.Option(
            metavar="INTEGER", help="Processes that roles may run in, for less time on the wall [default: 1]."
        ),
    ] = None,
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
    budget_delta: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER", help="With --budget: the delta of that limit, which ddg and vg need [default: 0]."
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

    Parties run as in-process actors that exchange encrypted messages over a simulated channel.

    prr_mean: all participants must follow the protocol: one party that breaks its rules removes all noise. The party
    with the fewest records knows the noise; of two parties, it obtains the other's model exactly.

    newton (advised, for any number of classes; gd for very many columns): the parties add up what single records
    contribute, sum after sum, for two classes nearly as good as all rows in one place. wsum: the sum of the models.

    In all but prr_mean Charlie and some parties may deviate at will, and others vanish; of more than 200 parties none
    may deviate where some may vanish. What they cannot do is see more than the sums, with the noise of all others in
    them (in ofpa each model has its own before it is added); a result, or a true one, is not promised.

    \b
    Examples:
      smc-dp run
      smc-dp run --epsilon 0.5 --split 15,20,20,20,25 --out runs/first
      smc-dp run --party north.csv --party south=data.parquet --label outcome \\
                 --bounds bounds.toml --test held_out.csv
      smc-dp run --party all.csv --parties-by hospital --bounds bounds.toml
      smc-dp run --dataset a9a --data-dir DIR --lambda 0.001 --json
      smc-dp run --dataset digits --epsilon 3
      smc-dp run --method soft_ss --auxiliary 100 --epsilon 5
      smc-dp run --epsilon 0.5 --ledgers ledgers --budget 2 --identities identities
      smc-dp run --parties 50 --protocol pathak2010 --exponents full --workers 2
      smc-dp run --parties 5 --protocol linear
      smc-dp run --method newton
      smc-dp run --method newton --colluders 1 --dropouts 1 --vanish hospital-2:20
      smc-dp run --method wsum --noise vg --sizes hidden
    """
    from protocols.arithmetic.rng import Stream
    from smc_dp.core.writing import fresh_folder, refuse_existing
    from smc_dp.methods.method import only_two
    from smc_dp.planning.report import beforehand
    from smc_dp.run.agreement import Agreement, check_auxiliary, in_a_simulation, on_auxiliary, usual_method
    from smc_dp.run.report_blocks import blocks
    from smc_dp.run.simulation import check_parties, own_parts, simulate_run

    numbers = {"key_bits": key_bits, "colluders": colluders, "dropouts": dropouts, "most_rows": most_rows}
    names = {"comparison": comparison, "exponents": exponents, "sizes": sizes, "output": output}
    named = {**named_settings(numbers, names), "verifiable": verifiable or None}

    classes = _classes(party, bounds, dataset)

    def agreed_by(crowd: int) -> dict[str, Any]:
        return agreed_options(
            *(method or usual_method(classes), epsilon, delta, calibration, noise),
            {"lam": lam, "adjacency": adjacency, "rows": rows, "clip": clip},
            named,
            protocol=protocol,
            parties=crowd,
            as_printed=as_printed_insecure,
            test_keys=insecure_test_keys,
            seeded=insecure_seed is not None,
        )

    announced = _announced(party, parties, split)
    agreed = agreed_by(announced)
    if agreed["method"].binary:
        only_two(classes, agreed["method"])
    check_auxiliary(agreed["method"], given=auxiliary is not None)
    leaving = _vanishing(vanish or [])
    mail, network = choice("--topology", topology, TOPOLOGIES), choice("--link", link, LINKS)
    processes = count("--workers", workers) or 1
    seed = None if insecure_seed is None else whole("--insecure-seed", insecure_seed)
    folder = fresh_folder() if out is None else out
    books = _books(ledgers, budget, budget_delta)
    refuse_existing(folder)
    own = {"--label": label, "--bounds": bounds, "--test": test, "--parties-by": parties_by}
    dealt = {"--dataset": dataset, "--parties": parties, "--split": split}
    if party:
        refuse(dealt, "does not go with --party: there, the files say who has which rows")
        found = _own_files(party, bounds, label, test, parties_by, auxiliary, strict=strict_bounds)
    else:
        refuse(own, "goes with --party, and none was given")
        found = _dealt(dataset, data_dir, parties, split, auxiliary, strict=strict_bounds)
    if len(found.federation.parties) != announced:  # one file said who has which rows
        agreed = agreed_by(len(found.federation.parties))
    rng = Stream.from_system() if seed is None else Stream.insecure_from_seed(seed)
    agreed["method"] = in_a_simulation(agreed["method"], found.federation)
    public = on_auxiliary(agreed["method"], found.federation, given=auxiliary is not None)
    agreement = Agreement(parties=found.federation.names, bounds=found.bounds, auxiliary=public, **agreed)
    known = None if identities is None else of_run(identities, agreement.participants)
    if method is None:
        _say_method(agreement)
    if not as_json:
        check_parties(own_parts(found, agreement, rng))  # who cannot take part is refused before anything is said
        having = {name: len(own) for name, own in found.federation.by_name.items()}
        screen.show(beforehand(agreement, having))
    with screen.progress(quiet=as_json) as hear:
        report = simulate_run(
            found, agreement, rng, folder, hear,
            topology=mail, link=network, identities=known, views=record_views, ledgers=books, vanish=leaving,
            workers=processes,
        )  # fmt: skip
    if as_json:
        print(json.dumps(report.as_dict(), allow_nan=False))
        return
    screen.show(blocks(report))
    if report.agreement.form.smallest_sets_noise:
        print(screen.fold(MENDED))


def agreed_options(
    method: str, epsilon: str, delta: str | None, calibration: str | None, noise: str | None,
    own: Mapping[str, str | None], named: Mapping[str, Any], *, protocol: str | None, parties: int,
    as_printed: bool, test_keys: bool, seeded: bool,
) -> dict[str, Any]:  # fmt: skip
    """What is agreed on whoever takes part, refused before any file is read; parties: how many there are to be."""
    from smc_dp.privacy.target import DEFAULT_DELTA, LEAST_DELTA, Calibration, Target
    from smc_dp.run.agreement import WITH_DELTA, check, marks, method_for
    from smc_dp.run.protocols.registry import settled, terms_of

    given = [name for name, value in named.items() if value is not None]
    by = _protocol(method, protocol, parties, given, as_printed=as_printed)
    settings = method_for(method, by, _settings(method, by, own))
    mark = None if calibration is None else choice("--calibration", calibration, get_args(Calibration))
    default: Calibration = "paper" if as_printed else "proven"
    if mark not in (None, *settings.calibrations):
        raise InputError(f"--calibration: {method} has {', '.join(settings.calibrations)}, got {mark}")
    law = terms_of(by).noise(settings, delta is not None) if noise is None else choice("--noise", noise, NOISES)
    if delta is not None and law not in WITH_DELTA:
        raise InputError(f"--delta: does not go with noise {law}, wanted none or noise ddg of a secure sum")
    chance = DEFAULT_DELTA if delta is None else positive("--delta", delta, LEAST_DELTA)
    target = Target(positive("--epsilon", epsilon), mark or default, law, chance)
    terms = settled(by, settings, named)
    check(settings, target, by, terms, test_keys=test_keys)
    return {
        "method": settings,
        "target": target,
        "protocol": by,
        "terms": terms,
        "marks": marks(by, terms, seeded=seeded),
    }


def _protocol(method: str, named: str | None, parties: int, given: list[str], *, as_printed: bool) -> str:
    """The protocol that somebody named, or the usual one; "" for a method that none computes."""
    from smc_dp.run.agreement import BY_PROTOCOL, usual_protocol
    from smc_dp.run.agreement import as_printed as runs_as_printed

    known = BY_PROTOCOL.get(method, ())
    if not as_printed:
        if named is not None and known:
            choice("--protocol", named, tuple(name for name in known if not runs_as_printed(name)))
        return named or usual_protocol(method, parties, given)
    refuse({"--protocol": named}, "does not go with --as-printed-insecure, which has a protocol of its own")
    printed = next((name for name in known if runs_as_printed(name)), None)
    if known and printed is None:
        raise InputError(f"--as-printed-insecure: does not go with method {method}, which no paper prints")
    return printed or ""


def _announced(party: list[str] | None, parties: str | None, split: str | None) -> int:
    """How many parties there are to be, as far as it can be told before any file is read."""
    from smc_dp.data.sources import DEFAULT_PARTIES

    if party:
        return len(party)
    if split is not None:
        return split.count(",") + 1
    return DEFAULT_PARTIES if parties is None else whole("--parties", parties)


def _classes(party: list[str] | None, bounds: Path | None, dataset: str | None) -> int:
    """How many classes there are, by the bounds or by what is known of a data set; no row has been read yet."""
    from smc_dp.data.bounds import read_bounds
    from smc_dp.data.dataset_info import FACTS

    if party:
        return 2 if bounds is None else len(read_bounds(bounds).classes)
    known = FACTS.get(dataset or "")
    return 2 if known is None else known.classes  # what is missing or unknown, others refuse


def _say_method(agreement: Agreement) -> None:
    """A line where nobody named the method, and it is not the one of two classes."""
    from smc_dp.run.agreement import FOR_TWO

    if agreement.method.name != FOR_TWO:
        classes = len(agreement.bounds.classes)
        print(f"method {agreement.method.name}: there are {classes} classes, and {FOR_TWO} is for two", file=sys.stderr)


def _settings(method: str, protocol: str, own: Mapping[str, str | None]) -> dict[str, Any]:
    """The settings of a method that were given, read; InputError for those that it does not have."""
    from smc_dp.run.agreement import secure_form
    from smc_dp.run.run_protocol import LAMBDA

    known = {field.name for field in fields(secure_form(method, protocol))}
    options = {name: "--lambda" if name == "lam" else f"--{name}" for name in own}
    refuse({options[name]: text for name, text in own.items() if name not in known}, f"method {method} has none")
    found: dict[str, Any] = {"lam": LAMBDA} if "lam" in known else {}
    for name, text in own.items():
        if text is not None:
            found[name] = _SETTINGS[name](options[name], text)
    return found


def named_settings(numbers: Mapping[str, str | None], names: Mapping[str, str | None]) -> dict[str, int | str]:
    """The settings of a protocol that were given, read."""
    from smc_dp.run.protocols.registry import (
        ComparisonName,
        ExponentsName,
        OutputName,
        RowCounts,
        refuse_removed_comparison,
    )

    known = {
        "comparison": get_args(ComparisonName), "exponents": get_args(ExponentsName),
        "sizes": get_args(RowCounts), "output": get_args(OutputName),
    }  # fmt: skip
    refuse_removed_comparison(names.get("comparison"), "--")
    found: dict[str, int | str] = {}
    for name, text in (*numbers.items(), *names.items()):
        if text is not None:
            option = f"--{name.replace('_', '-')}"
            found[name] = choice(option, text, known[name]) if name in known else whole(option, text)
    return found


def _vanishing(texts: list[str]) -> dict[str, int]:
    """Who vanishes, and at which envelope."""
    found: dict[str, int] = {}
    for text in texts:
        name, colon, number = text.rpartition(":")
        if not colon or name in found:
            raise InputError(f"--vanish: wanted NAME:N, each name once, got {shown(text)}")
        found[name] = whole("--vanish", number)
    return found


def _books(ledgers: Path | None, budget: str | None, delta: str | None) -> Ledgers | None:
    from smc_dp.run.ledgers import Ledgers

    if ledgers is None:
        refuse({"--budget": budget}, "goes with --ledgers, and none was given")
    if budget is None:
        refuse({"--budget-delta": delta}, "goes with --budget, and none was given")
    if ledgers is None:
        return None
    return Ledgers(ledgers, None if budget is None else limit(budget, delta, "--budget-delta"))


def _own_files(
    party: list[str], bounds: Path | None, label: str | None, test: Path | None, by: str | None,
    auxiliary: str | None, *, strict: bool,
) -> Prepared:  # fmt: skip
    from smc_dp.data import sources

    if bounds is None:
        raise InputError("--bounds: is missing, wanted a TOML file of public bounds for the parties' files")
    public = None if auxiliary is None else Path(auxiliary)
    return sources.own_files(party, bounds, label=label, test=test, parties_by=by, auxiliary=public, strict=strict)


def _dealt(
    name: str | None, data_dir: Path | None, parties: str | None, split: str | None, auxiliary: str | None,
    *, strict: bool,
) -> Prepared:  # fmt: skip
    from smc_dp.data import sources

    holders = None if parties is None else whole("--parties", parties)
    return sources.dataset(
        "breast_cancer" if name is None else name, data_dir,
        parties=holders, split=split, auxiliary=count("--auxiliary", auxiliary), strict=strict,
    )  # fmt: skip
