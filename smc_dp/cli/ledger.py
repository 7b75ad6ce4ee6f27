"""The commands of each party's book of what it has released."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from smc_dp.cli.options import Job, positive
from smc_dp.data.federation import plain_name
from smc_dp.errors import InputError
from smc_dp.ledger import export
from smc_dp.ledger.guarantee import Guarantee
from smc_dp.ledger.history import Account, BrokenLedgerError, History, Limit, Standing
from smc_dp.ledger.ledger import Ledger
from smc_dp.ledger.numbers import at_least, at_most, to_text
from smc_dp.privacy.target import LEAST_DELTA

ledger = typer.Typer(rich_markup_mode=None)

File = Annotated[Path, typer.Argument(metavar="FILE", help="A ledger, or a JSON export of one.")]
_RECORDS = Account("record", "replace")  # what `smc-dp run` charges


@ledger.callback()
def main() -> None:
    """A party's book of what it has released, and of what is left.

    The budget is for all releases together, whatever data they were made of, once for each unit and adjacency. A
    reservation without an outcome counts as spent. `smc-dp run --ledgers DIR` keeps one file for each party.

    A release is charged the epsilon of its statement, which says against whom it holds. A party whose data sets have
    nobody in common may keep a ledger for each.
    """


@ledger.command()
def init(
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
) -> Job:
    """Make a ledger with its limit, which never changes.

    \b
    Examples:
      smc-dp ledger init north.ledger --budget 2
      smc-dp ledger init north.ledger --budget 2 --delta 1e-6
    """
    wanted = limit(budget, delta)
    return lambda: Ledger.create(file, *wanted).close()


@ledger.command()
def show(
    file: File,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> Job:
    """Show what was spent and what is left, and every entry.

    \b
    Examples:
      smc-dp ledger show ledgers/north.ledger
      smc-dp ledger show ledgers/north.ledger --json
    """

    def job() -> None:
        history = export.read(file)
        if as_json:
            print(json.dumps(_as_dict(history)))
            return
        _show_accounts(history)
        _show_entries(history)

    return job


@ledger.command()
def check(
    file: File,
    epsilon: Annotated[
        str | None, typer.Option(metavar="NUMBER", help="Would a pure run of this epsilon pass, records replaced?")
    ] = None,
) -> Job:
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
    asked = None if epsilon is None else _pure(positive("--epsilon", epsilon))

    def job() -> int:
        try:
            history = export.read(file)
        except BrokenLedgerError as error:
            print(f"FAILED: {error}")
            return 1
        print(f"chain holds: {len(history.entries)} entries, head {history.head}")
        kept = [_report(account, history.standing(account)) for account in history.charged]
        if history.pending:
            print(f"without outcome, counted as spent: entries {', '.join(map(str, history.pending))}")
        passes = asked is None or _would_pass(history, asked)
        return 0 if all(kept) and passes else 1

    return job


@ledger.command("export")
def export_ledger(
    file: File,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object, to be checked again [default].")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="A table.")] = False,
) -> Job:
    """Print everything but the key.

    Without the key nobody can test a guess of rows against the name of a data set.

    \b
    Examples:
      smc-dp ledger export ledgers/north.ledger > north.json
      smc-dp ledger export ledgers/north.ledger --csv > north.csv
    """
    if as_json and as_csv:
        raise InputError("--json, --csv: wanted one of them")

    def job() -> None:
        history = export.read(file)
        print(export.to_csv(history) if as_csv else export.to_json(history), end="" if as_csv else "\n")

    return job


def limit(budget: str, delta: str | None) -> Limit:
    """The limit in two options."""
    return Limit(positive("--budget", budget), Fraction(0) if delta is None else _delta(delta))


def show_standings(standings: Mapping[str, Standing]) -> None:
    """Print what each party has left."""
    for party, standing in standings.items():
        print(f"Budget of {plain_name(party)}: {_sentence(standing)}")


def _delta(text: str) -> Fraction:
    value = positive("--delta", text, LEAST_DELTA)
    if value >= 1:
        raise InputError("--delta: wanted a number below 1")
    return value


def _pure(epsilon: Fraction) -> Guarantee:
    return Guarantee("pure", epsilon, Fraction(0), *_RECORDS)


def _report(account: Account, standing: Standing) -> bool:
    print(f"{_called(account)}: {_sentence(standing)}" + ("" if standing.fits else ": FAILED, the limit is passed"))
    return standing.fits


def _would_pass(history: History, asked: Guarantee) -> bool:
    fits = history.standing(_RECORDS, asked).fits
    print(f"a run of epsilon {at_most(asked.epsilon)} would {'pass' if fits else 'be REFUSED'}")
    return fits


def _called(account: Account) -> str:
    return f"unit {account.unit}, adjacency {account.adjacency}"


def _sentence(standing: Standing) -> str:
    if standing.total is None:
        return f"more than the limit's delta spent of {standing.limit}; nothing left"
    left = at_least(max(standing.left, Fraction(0)))
    return f"{at_most(standing.total.epsilon)} spent of {standing.limit}; {left} left ({standing.total.how})"


def _as_dict(history: History) -> dict[str, Any]:
    accounts = [
        {
            **account._asdict(),
            **history.standing(account).as_dict(),
            "data_sets": {name: s.as_dict()["spent"] for name, s in history.by_data_set(account).items()},
        }
        for account in history.charged
    ]
    limit = {"epsilon": to_text(history.limit.epsilon), "delta": to_text(history.limit.delta)}
    return {"limit": limit, "accounts": accounts, "pending": history.pending, "head": history.head}


def _show_accounts(history: History) -> None:
    print(f"Limit: {history.limit}" + ("" if history.charged else "; nothing has been charged"))
    for account in history.charged:
        print(f"{_called(account)}: {_sentence(history.standing(account))}")
        for name, alone in history.by_data_set(account).items():
            spent = "more than the limit's delta" if alone.total is None else at_most(alone.total.epsilon)
            print(f"  data set {name[:16]}: {spent}")


def _show_entries(history: History) -> None:
    table = Table(box=None, pad_edge=False)
    for heading in ("entry", "date", "state", "of", "data set", "mechanism", "kind", "epsilon", "delta", "run"):
        table.add_column(heading, justify="right" if heading in ("entry", "of", "epsilon", "delta") else "left")
    for e in history.entries:
        numbers = ("" if v is None else at_most(v) for v in (e.epsilon, e.delta))
        texts = ((e.dataset or "")[:16], e.mechanism or "", e.kind or "")
        of = "" if e.refers is None else str(e.refers)
        table.add_row(str(e.number), e.date, e.state, of, *texts, *numbers, (e.run or "")[:16])
    Console(markup=False, highlight=False, width=140).print(table)
    print(f"head {history.head}")
