"""Auditors that name somebody too soon, each in one way: patches of `smc_dp.audit.run.blame`."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from smc_dp.audit.run import blame, check, replay
from smc_dp.audit.run.evidence import Evidence
from smc_dp.audit.run.hygiene import keys

Patch = Callable[[pytest.MonkeyPatch], None]


def from_unsigned_views(patch: pytest.MonkeyPatch) -> None:
    """Every view is taken for its owner's, whoever wrote and signed it, as long as it has the coins of the greeting."""
    patch.setattr(blame, "verify", lambda public, signed, signature: True)


def from_lines_alone(patch: pytest.MonkeyPatch) -> None:
    """Whoever signed a line answers for what it says, whatever others had told it."""
    for module in (replay, check, keys):
        patch.setattr(module, "malicious_sender", blame.chain_signer)


def whatever_was_read(patch: pytest.MonkeyPatch) -> None:
    """A view is held against the record although the record has other mail for its owner."""

    def borne_out(evidence: Evidence, role: str, *, whole: bool) -> bool:
        return True

    patch.setattr(blame, "is_borne_out", borne_out)


TWINS: dict[str, tuple[str, Patch]] = {
    "names from unsigned views": ("a view", from_unsigned_views),
    "names from lines alone": ("a peer", from_lines_alone),
    "names whatever was read": ("a peer", whatever_was_read),
}
"""Each with the family of attempts that it falls for."""
