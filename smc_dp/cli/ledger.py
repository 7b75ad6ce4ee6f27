"""Commands of a party's privacy ledger."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from smc_dp.cli import screen
from smc_dp.cli.options import AsJson, deferred, read_positive
from smc_dp.cli.witness import (
    CosignedHeads,
    Owner,
    StateOfHeads,
    StudyOfHeads,
    WitnessKeys,
    compare_heads,
    cosign_head,
    keep_witness,
    recover_ledger,
    sign_head,
    witnessed,
    witnessed_in_study,
)
from smc_dp.core.errors import InputError
from smc_dp.privacy.target import LEAST_DELTA

if TYPE_CHECKING:
    from smc_dp.privacy.ledger.history import History, Limit

ledger_group = typer.Typer(rich_markup_mode=None)

File = Annotated[Path, typer.Argument(metavar="FILE", help="A ledger, or a JSON export of one.")]


def _describe_group() -> None:
    """Keep the ledger of a party: its privacy budget, and the charge of each release.

    One budget covers all releases of the party, whatever data they were made of. Releases that protect records, and
    those that protect whole parties, have an account each. A charge without an outcome counts as spent. `smc-dp run
    --ledgers DIR` keeps one ledger for each party.

    Two ledgers in one folder cannot both be charged for the same table. A table with one changed, added or removed cell
    or row counts as another table. This is a guard against accidents, not against intent.

    A ledger has one delta, and states the epsilon of each release at that delta. The total of several releases is
    often less than the sum of their epsilons. If no person is in two data sets of a party, the party may keep a ledger
    for each.
    """


def init_ledger(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="File to make.")],
    budget: Annotated[str, typer.Option(metavar="EPSILON", help="Privacy budget of all releases together.")],
    delta: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER",
            help="Delta of the limit. newton and every other method but prr_mean need one. With a delta, several of "
            "their releases add up to less than the sum of their epsilons [default: 0].",
        ),
    ] = None,
) -> None:
    """Make a ledger with a limit, which never changes.

    \b
    Examples:
      smc-dp ledger init north.ledger --budget 2 --delta 1e-5
      smc-dp ledger init north.ledger --budget 2
    """
    from smc_dp.privacy.ledger.ledger import Ledger

    limit = read_limit(budget, delta)
    Ledger.create(file, *limit).close()
    print(f"Written: {file}. Limit: {limit}")


def show_ledger(file: File, as_json: AsJson = False) -> None:
    """Show the budget, what is spent of it, and every entry.

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
        str | None,
        typer.Option(metavar="NUMBER", help="Also check whether a release of this epsilon, with delta 0, fits."),
    ] = None,
    cosigned: CosignedHeads = None,
    witness: WitnessKeys = None,
    party: Owner = None,
    study: StudyOfHeads = None,
    state: StateOfHeads = None,
) -> int:
    """Verify the chain of entries and the sums of a ledger. It must extend what its witnesses have seen.

    Exit code 1: a check failed, or a release of --epsilon would be refused.

    The chain shows a changed, missing or exchanged entry. It does not show an end that was cut off, or a file that was
    rewritten from its start: heads that witnesses have cosigned do. With --study these are the heads of `join`, in the
    state of this site. Without witnesses, keep the printed head elsewhere.

    \b
    Examples:
      smc-dp ledger check ledgers/north.ledger
      smc-dp ledger check ledgers/north.ledger --epsilon 0.5
      smc-dp ledger check north.ledger --study study.toml
      smc-dp ledger check north.ledger --party north.pub --cosigned north.cosigned --witness south.vkey
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
    seen, holds = witnessed(history, party, cosigned, witness)
    in_study, is_witnessed = witnessed_in_study(history, study, state)
    screen.print_blocks([*report.check_blocks(history), *seen, *in_study])
    kept = all(history.standing(account).fits for account in history.charged)
    passes = requested is None or _would_pass(history, requested)
    return 0 if kept and passes and holds and is_witnessed else 1


def export_ledger(
    file: File,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, which `ledger check` reads [default].")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print a table.")] = False,
) -> None:
    """Print the ledger without its key.

    The key is needed to test a guess of rows against the digest of a data set.

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
ledger_group.command("head")(deferred(sign_head))
ledger_group.command("witness")(deferred(keep_witness))
ledger_group.command("cosign")(deferred(cosign_head))
ledger_group.command("compare")(deferred(compare_heads))
ledger_group.command("recover")(deferred(recover_ledger))


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
    said = "pass" if fits else "be REFUSED"
    print(f"a release of epsilon {digits_rounded_up(epsilon)} and delta 0, such as one of prr_mean, would {said}")
    return fits


def _as_dict(history: History) -> dict[str, Any]:
    from smc_dp.privacy.ledger.numbers import to_text

    accounts = [{**account._asdict(), **history.standing(account).as_dict()} for account in history.charged]
    limit = {"epsilon": to_text(history.limit.epsilon), "delta": to_text(history.limit.delta)}
    return {"limit": limit, "accounts": accounts, "pending": history.pending, "head": history.head}
