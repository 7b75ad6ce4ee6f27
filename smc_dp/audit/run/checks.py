"""Every check of a run, in the order in which they are made."""

from __future__ import annotations

from smc_dp.audit.run import conformity, hygiene, leakage, privacy, replay
from smc_dp.audit.run.check import Check

CHECKS: tuple[Check, ...] = (
    *conformity.CHECKS,
    *privacy.CHECKS,
    *hygiene.CHECKS,
    *replay.CHECKS,
    *leakage.CHECKS,
)
