"""List of all checks in the order in which they are made, and the audit of one run folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from os import PathLike
from pathlib import Path

from smc_dp.audit.run import budgets, conformity, hygiene, leakage, privacy, replay, statements
from smc_dp.audit.run.budgets import PartyBudget
from smc_dp.audit.run.check import Check
from smc_dp.audit.run.evidence import load_evidence
from smc_dp.audit.run.report import AuditReport, audit_evidence, today
from smc_dp.audit.run.time_budget import DEFAULT_SECONDS, MORE_TIME, Allowance, TakesTooLongError
from smc_dp.core.errors import InputError
from smc_dp.run.run_files import RunFiles

CHECKS: tuple[Check, ...] = (
    *conformity.CHECKS,
    *privacy.CHECKS,
    *hygiene.CHECKS,
    *replay.CHECKS,
    *statements.CHECKS,
    *leakage.CHECKS,
)


def audit_run(
    run_folder: str | PathLike[str] | RunFiles,
    *,
    identities: str | PathLike[str] | None = None,
    views: str | PathLike[str] | None = None,
    progress: Callable[[str], None] | None = None,
    ledgers: str | PathLike[str] | None = None,
    seconds: float = DEFAULT_SECONDS,
    on: date | None = None,
) -> AuditReport:
    """Run every check on a run folder; what was not given makes a check not possible, never passed.

    Parameters
    ----------
    run_folder : path or RunFiles
        The folder that a run has written, or what was read of it.
    identities : path, default=None
        A file of public keys that are known from elsewhere, or a folder with identities.json.
    views : path, default=None
        A folder of what participants did and saw.
    progress : callable, default=None
        Hears the name of each check.
    ledgers : path, default=None
        A folder of parties' ledgers, or of JSON exports of them, for the budget before and after the run.
    seconds : float, default=40.0
        The processor time that all may use, for a stranger's files may ask for any amount; it holds in the main thread
        of a program.
    on : datetime.date, default=None
        The day that the report bears, in UTC; today where none is given.

    Returns
    -------
    AuditReport
        Every check with its outcome; `passed` where none failed, which proves nothing of what the run claims.

    Raises
    ------
    InputError
        For files that cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> from smc_dp import audit_run, run_protocol
    >>> from smc_dp.data.sources import dataset
    >>> data, run = dataset("breast_cancer"), tempfile.mkdtemp() + "/run"
    >>> report = run_protocol(data.federation, method="newton", bounds=data.bounds, out=run)
    >>> audit_run(run).passed
    True

    """
    day, allowance = today() if on is None else on, Allowance(seconds)
    place = run_folder if isinstance(run_folder, RunFiles) else Path(run_folder)
    known, seen = (None if path is None else Path(path) for path in (identities, views))
    if progress:
        progress("reading")
    try:
        evidence = allowance.spend(lambda: load_evidence(place, known, seen))
    except TakesTooLongError:
        # One call of `spend` may use half of all time.
        raise InputError(
            "audit.reading_takes_too_long", run_folder=str(run_folder), seconds=seconds / 2, more_time=MORE_TIME
        ) from None
    found = audit_evidence(evidence, CHECKS, progress, allowance, on=day)
    return found if ledgers is None else replace(found, budgets=_budgets(Path(ledgers), found, allowance))


def _budgets(ledgers: Path, found: AuditReport, allowance: Allowance) -> tuple[PartyBudget, ...]:
    try:
        return allowance.spend(lambda: budgets.read_budgets(ledgers, found.audited))
    except TakesTooLongError:
        raise InputError("ledgers.reading_takes_too_long", ledgers=str(ledgers), more_time=MORE_TIME) from None
