"""Every check of a run, in the order in which they are made, and all of them on one run folder."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from pathlib import Path

from smc_dp.audit.run import conformity, hygiene, leakage, privacy, replay
from smc_dp.audit.run.check import Check
from smc_dp.audit.run.evidence import load
from smc_dp.audit.run.report import AuditReport, audit_evidence

CHECKS: tuple[Check, ...] = (
    *conformity.CHECKS,
    *privacy.CHECKS,
    *hygiene.CHECKS,
    *replay.CHECKS,
    *leakage.CHECKS,
)


def audit_run(
    run_folder: str | PathLike[str],
    *,
    identities: str | PathLike[str] | None = None,
    views: str | PathLike[str] | None = None,
    progress: Callable[[str], None] | None = None,
) -> AuditReport:
    """Every check on a run folder; what was not given makes a check not possible, never passed.

    identities: a file of public keys that are known from elsewhere. views: a folder of what participants did and saw.
    progress hears the name of each check. Raises InputError for files that cannot be read.
    """
    known, seen = (None if path is None else Path(path) for path in (identities, views))
    return audit_evidence(load(Path(run_folder), known, seen), CHECKS, progress)
