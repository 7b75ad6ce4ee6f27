"""Commands of a party's ledger of its releases."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from smc_dp.cli import screen
from smc_dp.cli.options import AsJson, deferred, read_positive
from smc_dp.core.errors import InputError
from smc_dp.privacy.target import LEAST_DELTA

if TYPE_CHECKING:
    from smc_dp.privacy.ledger.history import History, Limit

ledger_group = typer.Typer(rich_markup_mode=None)

File = Annotated[Path, typer.Argument(metavar="FILE", help="A ledger, or a JSON export of one.")]


def _describe_group() -> None:
    """Keep a party's book of what it has released, and of what is left.

    The budget is for all releases together, whatever data they were made of, once for each unit and adjacency. A
    reservation without an outcome counts as spent. `smc-dp run --ledgers DIR` keeps one file for each party.

    The same rows have one budget in a folder, whatever the party is called and whatever the bounds are: a run is
    refused when another ledger there is charged for them. A table is known by all its cells as they were read, so
    that one cell or row that is changed, added or left out makes another: a guard against accidents, not intent.

    A release is charged the epsilon of its statement, which says against whom it holds. A party whose data sets have
    nobody in common may keep a ledger for each.
    """


def init_ledger(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to make.")],
    budget: Annotated[str, typer.Option(metavar="EPSILON", help="What all releases together may come to.")],
    delta: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER",
            help="Delta of the limit, to add many releases up more sharply, if each was planned before the first "
            "[default: 0, exact sums of pure releases].",
        ),
    ] = None,
) -> None:
    """Make a ledger with its limit, which never changes.

    \b
    Examples:
      smc-dp ledger init north.ledger --budget 2
      smc-dp ledger init north.ledger --budget 2 --delta 1e-5
    """
    from smc_dp.privacy.ledger.ledger import Ledger

    Ledger.create(file, *read_limit(budget, delta)).close()


def show_ledger(file: File, as_json: AsJson = False) -> None:
    """Show what was spent and what is left, and every entry.

    \b
    Examples:
      smc-dp ledger show ledgers/north.ledger
      smc-dp ledger show ledgers/north.ledger --json
    """
    from smc_dp.privacy.ledger import export, report

    history = export.read_history(file)
    if as_json:
        print(json.dumps(_as_dict(history)))
        return
    screen.print_blocks(report.blocks(history))


def check_ledger(
    file: File,
    epsilon: Annotated[
        str | None, typer.Option(metavar="NUMBER", help="Would a pure run of this epsilon pass, records replaced?")
    ] = None,
) -> int:
    """Verify the chain of entries and the sums.

    Exit code 1: something does not hold, or the run that --epsilon asks about would be refused.

    The chain shows a changed, missing or exchanged entry. Whoever can write the file could make all of it anew: to
    notice that, keep the printed head elsewhere.

    \b
    Examples:
      smc-dp ledger check ledgers/north.ledger
      smc-dp ledger check ledgers/north.ledger --epsilon 0.5
      smc-dp ledger export ledgers/north.ledger > north.json && smc-dp ledger check north.json
    """
    from smc_dp.privacy.ledger import export, report
    from smc_dp.privacy.ledger.history import BrokenLedgerError

    requested = None if epsilon is None else read_positive("--epsilon", epsilon)
    try:
        history = export.read_history(file)
    except BrokenLedgerError as error:
        print(f"FAILED: {error}")
        return 1
    screen.print_blocks(report.check_blocks(history))
    kept = all(history.standing(account).fits for account in history.charged)
    passes = requested is None or _would_pass(history, requested)
    return 0 if kept and passes else 1


def export_ledger(
    file: File,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object, to be checked again [default].")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="A table.")] = False,
) -> None:
    """Print everything but the key.

    Without the key nobody can test a guess of rows against the name of a data set.

    \b
    Examples:
      smc-dp ledger export ledgers/north.ledger > north.json
      smc-dp ledger export ledgers/north.ledger --csv > north.csv
    """
    if as_json and as_csv:
        raise InputError("options.two_formats")

    from smc_dp.privacy.ledger import export

    history = export.read_history(file)
    print(export.history_to_csv(history) if as_csv else export.to_json(history), end="" if as_csv else "\n")


ledger_group.callback()(_describe_group)
ledger_group.command("init")(deferred(init_ledger))
ledger_group.command("show")(deferred(show_ledger))
ledger_group.command("check")(deferred(check_ledger))
ledger_group.command("export")(deferred(export_ledger))


def read_limit(budget: str, delta: str | None, option: str = "--delta") -> Limit:
    """Read the limit from two options, the second of this name."""
    from smc_dp.privacy.ledger.history import Limit

    return Limit(read_positive("--budget", budget), Fraction(0) if delta is None else _delta(option, delta))


def _delta(option: str, text: str) -> Fraction:
    value = read_positive(option, text, LEAST_DELTA)
    if value >= 1:
        raise InputError("options.delta_too_large", option=option)
    return value


def _would_pass(history: History, epsilon: Fraction) -> bool:
    from smc_dp.privacy.ledger.guarantee import Guarantee
    from smc_dp.privacy.ledger.history import RECORDS
    from smc_dp.privacy.ledger.numbers import digits_rounded_up

    fits = history.standing(RECORDS, Guarantee("pure", epsilon, Fraction(0), *RECORDS)).fits
    print(f"a run of epsilon {digits_rounded_up(epsilon)} would {'pass' if fits else 'be REFUSED'}")
    return fits


def _as_dict(history: History) -> dict[str, Any]:
    from smc_dp.privacy.ledger.numbers import to_text

    accounts = [
        {
            **account._asdict(),
            **history.standing(account).as_dict(),
            "data_sets": {name: s.as_dict()["spent"] for name, s in history.by_data_set(account).items()},
            "data_sets_left_out": history.unshown(account),
        }
        for account in history.charged
    ]
    limit = {"epsilon": to_text(history.limit.epsilon), "delta": to_text(history.limit.delta)}
    return {"limit": limit, "accounts": accounts, "pending": history.pending, "head": history.head}
