"""Who answers for a line of a wire record: what its sender signed, over an unbroken chain, and nothing else."""

from __future__ import annotations

from protocols.runtime.channel import HELLO, START, Envelope, is_signed
from protocols.runtime.session import PUBLIC_NAME
from smc_dp.audit.run.evidence import Evidence


def blamed(evidence: Evidence, line: int) -> str | None:
    """Who sent this line, if a later signature by its stated identity, over an unbroken chain, says so; else None."""
    sender = evidence.envelopes[line].sender
    public = evidence.session.identities.get(sender)
    before = START
    for n, e in evidence.envelopes.items():
        if e.sender != sender:
            continue
        if public is None or e.prev != before:
            return None
        if is_public(e) and not is_signed(public, e):
            return None
        if n >= line and is_public(e):
            return sender
        before = e.digest
    return None


def is_public(e: Envelope) -> bool:
    """Whether the envelope is one that everybody reads and its sender signs."""
    return e.kind == HELLO or e.to == PUBLIC_NAME
