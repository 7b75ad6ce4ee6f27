"""Audits of these tests are of few sessions, so what follows from its arguments alone is computed once."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache

import pytest
from support.small_model import VerifiedOnce

from protocols.crypto import identity
from smc_dp.audit.run.conformity import expected_schedule
from smc_dp.run import agreement


@pytest.fixture(scope="session", autouse=True)
def _computed_once() -> Iterator[None]:
    """A user audits one transcript after the other, so the program keeps the last few schedules and no signature."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(expected_schedule, "_learn", cache(expected_schedule._learn.__wrapped__))
        patch.setattr(identity, "Ed25519PublicKey", VerifiedOnce)
        patch.setattr(agreement, "get_type_hints", cache(agreement.get_type_hints))
        patch.setattr(os, "fsync", lambda file: None)  # a test need not survive a power cut
        yield
