"""The key under which a ledger holds a release of a session."""

from __future__ import annotations

import hashlib


def run_key(session_id: bytes, label: str) -> str:
    """The key of a release: no two sessions share one, even where the same was agreed on, for an id holds a nonce."""
    return hashlib.sha256(b"smc-dp release" + session_id + label.encode()).hexdigest()
