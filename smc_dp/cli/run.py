"""Command `run`: a simulated run, written to a run folder."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from smc_dp.cli import screen
from smc_dp.cli.identities import load_with_warning
from smc_dp.cli.ledger import read_limit
from smc_dp.cli.options import AsJson
from smc_dp.cli.setting_options import with_settings
from smc_dp.core.errors import InputError

if TYPE_CHECKING:
    from smc_dp.run.agreement import Agreement
    from smc_dp.run.ledgers import Ledgers
    from smc_dp.run.settings import Simulation

_NEWTON_INSTEAD = (
    "One party that breaks the rules removes this noise, and the smallest party can subtract it: `--method newton` "
    "has noise that nobody knows, needs nobody to keep to the rules but some of the parties, and learns more."
)


@with_settings("run")
def train_together(said: Mapping[str, Any], as_json: AsJson = False) -> None:
    """Train together and write a run folder.

    Parties run as in-process actors that exchange encrypted messages over a simulated channel.

    prr_mean: all participants must follow the protocol: one party that breaks its rules removes all noise. The party
    with the fewest records knows the noise; of two parties, it obtains the other's model exactly.

    newton (advised, for any number of classes; gd for very many columns): the parties add up what single records
    contribute, sum after sum, for two classes nearly as good as all rows in one place. wsum: the sum of the models.

    All methods except prr_mean tolerate malicious parties, a malicious curator, and drop-outs; above 200 parties with
    drop-outs all participants must follow the protocol. A malicious participant sees only the sums, with the noise of
    all others in them (in ofpa each model has its own before it is added). A result, or a true one, is not promised.

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
      smc-dp run --method newton --colluders 1 --dropouts 1 --drop-out hospital-2:20
      smc-dp run --method wsum --noise vg --sizes hidden
      smc-dp run --study study.toml
    """
    from protocols.arithmetic.rng import Stream
    from smc_dp.core.documents import validate_document
    from smc_dp.core.writing import fresh_folder, refuse_existing
    from smc_dp.deploy.rehearsal import rehearse
    from smc_dp.planning.report import expected_in_simulation
    from smc_dp.run.preparation import parse_drop_outs, prepare_run
    from smc_dp.run.report_blocks import blocks
    from smc_dp.run.settings import RunRequest
    from smc_dp.run.simulation import check_parties, local_parties, simulate_run

    asked = validate_document(RunRequest, said, "options")
    how, books = asked.simulation, _ledgers(asked.simulation)
    folder = fresh_folder() if how.out is None else how.out
    refuse_existing(folder)
    seed = how.insecure_seed
    rng = Stream.from_system() if seed is None else Stream.insecure_from_seed(seed)
    found, agreement = prepare_run(asked) if asked.data.study is None else rehearse(asked, rng)
    known = None if how.identities is None else load_with_warning(how.identities, agreement.participants)
    if asked.method.name is None and asked.data.study is None:
        _say_method(agreement)
    if not as_json:
        check_parties(local_parties(found, agreement, rng))  # who cannot take part is refused before anything is said
        having = {name: len(own) for name, own in found.federation.by_name.items()}
        screen.print_blocks(expected_in_simulation(agreement, having))
    with screen.progress_bars(quiet=as_json) as hear:
        report = simulate_run(
            found, agreement, rng, folder, hear,
            topology=how.topology or "mesh", link=how.link or "none", identities=known, views=how.record_views,
            ledgers=books, drop_out=parse_drop_outs(how.drop_out or []), workers=how.workers or 1,
        )  # fmt: skip
    if as_json:
        print(json.dumps(report.as_dict(), allow_nan=False))
        return
    screen.print_blocks(blocks(report))
    if report.agreement.spec.smallest_sets_noise:
        print(screen.fold(_NEWTON_INSTEAD))


def _say_method(agreement: Agreement) -> None:
    """Print a line where nobody named the method, and it is not the one of two classes."""
    from smc_dp.run.agreement import BINARY_METHOD

    if agreement.method.name != BINARY_METHOD:
        classes = len(agreement.bounds.classes)
        print(
            f"method {agreement.method.name}: there are {classes} classes, and {BINARY_METHOD} is for two",
            file=sys.stderr,
        )


def _ledgers(how: Simulation) -> Ledgers | None:
    from smc_dp.run.ledgers import Ledgers

    wanting = (("budget", how.budget, "ledgers", how.ledgers), ("budget_delta", how.budget_delta, "budget", how.budget))
    for name, value, other, needed in wanting:
        if value is not None and needed is None:
            raise InputError("option.alone", name=name, other=other)
    if how.ledgers is None:
        return None
    return Ledgers(
        how.ledgers, None if how.budget is None else read_limit(how.budget, how.budget_delta, "--budget-delta")
    )
