"""Words that FLARE's job at the server and its job at a site have in common."""

from __future__ import annotations

CHANNEL = "smc_dp"
TASK = "take_part"
END_CODE = "smc_dp_code"
DONE, STOPPED, REFUSED, FAILED = CODES = ("done", "stopped", "refused", "failed")
"""Under the name `END_CODE` a site tells the job how its part ended: one of these, never a text."""
