"""Every check of a run, in the order in which they are made, and all of them on one run folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from os import PathLike
from pathlib import Path

from smc_dp.audit.run import conformity, hygiene, leakage, privacy, replay, statements
from smc_dp.audit.run.check import Check
from smc_dp.audit.run.evidence import load
from smc_dp.audit.run.kept import Kept, cache_folder
from smc_dp.audit.run.report import AuditReport, audit_evidence
from smc_dp.audit.run.work import MORE_TIME, SECONDS, Allowance, TakesTooLongError
from smc_dp.errors import InputError

CHECKS: tuple[Check, ...] = (
    *conformity.CHECKS,
    *privacy.CHECKS,
    *hygiene.CHECKS,
    *replay.CHECKS,
    *statements.CHECKS,
    *leakage.CHECKS,
)


def audit_run(
    run_folder: str | PathLike[str],
    *,
    identities: str | PathLike[str] | None = None,
    views: str | PathLike[str] | None = None,
    progress: Callable[[str], None] | None = None,
    seconds: float = SECONDS,
    fresh: bool = False,
) -> AuditReport:
    """Every check on a run folder; what was not given makes a check not possible, never passed.

    identities: a file of public keys that are known from elsewhere. views: a folder of what participants did and saw.
    progress hears the name of each check. seconds: the processor time that all may use, for a stranger's files may ask
    for any amount; it holds in the main thread of a program. fresh: what is known of the protocol's code from an
    earlier audit is found out again. Raises InputError for files that cannot be read.
    """
    allowance = Allowance(seconds)
    known, seen = (None if path is None else Path(path) for path in (identities, views))
    if progress:
        progress("reading")
    try:
        evidence = allowance.spend(lambda: load(Path(run_folder), known, seen))
    except TakesTooLongError:
        raise InputError(f"{run_folder}: cannot be read in {seconds / 2:g} s of processor time; {MORE_TIME}") from None
    return audit_evidence(replace(evidence, kept=Kept(cache_folder(), fresh)), CHECKS, progress, allowance)
