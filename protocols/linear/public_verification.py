"""Public verification: the published shares are those that all participants had committed to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from protocols.errors import Fault
from protocols.linear.parameters import Parameters
from protocols.linear.publication import unlike_go
from protocols.runtime.claims import PublicVerification, Violation
from protocols.runtime.message import Message

Attested = Callable[[str, Message, bytes], bool]


def verify_publication(
    p: Parameters, session: bytes, greetings: Mapping[str, Any], said: Mapping[str, Any], attested: Attested
) -> Violation | None:
    """Return the violation of the shares together, if any; they show no single participant's deviation."""
    if len(said) <= p.K:
        return Violation(Fault("shares.not_of_everybody"))
    if fault := unlike_go(session, tuple(said), said):
        return Violation(fault)
    return None


PUBLIC_VERIFICATION = PublicVerification(lambda p: True, verify_publication)
