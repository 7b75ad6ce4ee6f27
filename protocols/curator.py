"""The participants of a protocol that has an untrusted curator: all its parties, and Charlie."""

from __future__ import annotations

from typing import Any

from protocols.errors import LocalError
from protocols.runtime.message import CURATOR, PARTY, Kind

CURATOR_NAME = "charlie"


def parties_and_curator(p: Any) -> dict[str, Kind]:
    """P_1 ... P_K in the order of the parameters, then Charlie; raises `LocalError` for a party of his name."""
    if CURATOR_NAME in p.parties:
        raise LocalError(f"no party can be called {CURATOR_NAME}")
    return {**dict.fromkeys(p.parties, PARTY), CURATOR_NAME: CURATOR}
