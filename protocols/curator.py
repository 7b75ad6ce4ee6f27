"""Participants of a protocol with an untrusted curator: all its parties, and Charlie."""

from __future__ import annotations

from typing import Any

from protocols.errors import LocalError
from protocols.runtime.message import CURATOR, PARTY, Kind

CURATOR_NAME = "charlie"
FIRST, OTHERS = "P_1", "other parties"
PARTIES, EVERYBODY = (FIRST, OTHERS), (FIRST, OTHERS, CURATOR_NAME)
"""What conversations call those who do the same, where P_1 does more than the other parties."""


def parties_and_curator(p: Any) -> dict[str, Kind]:
    """Return the kinds of P_1 ... P_K in the order of the parameters, then Charlie; raise `LocalError` for a party of
    his name.
    """
    if CURATOR_NAME in p.parties:
        raise LocalError("party.has_the_curators_name", curator_name=CURATOR_NAME)
    return {**dict.fromkeys(p.parties, PARTY), CURATOR_NAME: CURATOR}


def around_the_first(p: Any) -> dict[str, tuple[str, ...]]:
    """Return the groups P_1, the other parties, and Charlie."""
    return {FIRST: p.parties[:1], OTHERS: p.parties[1:], CURATOR_NAME: (CURATOR_NAME,)}
