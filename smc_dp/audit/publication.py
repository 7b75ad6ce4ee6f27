"""To be written."""

from __future__ import annotations

from smc_dp.audit.check import Check

CHECKS: tuple[Check, ...] = ()
