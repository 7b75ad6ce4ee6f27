"""What somebody can check who was not there: that the published shares are those that all had committed to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from protocols.errors import Fault
from protocols.linear.parameters import Parameters
from protocols.linear.publication import unlike_go
from protocols.runtime.claims import DisclosedMessage, PublicVerification, Violation
from protocols.runtime.message import Message

Attested = Callable[[str, Message, bytes], bool]


def verify_publication(
    p: Parameters, session: bytes, greetings: Mapping[str, Any], said: Mapping[str, Any], attested: Attested
) -> Violation | None:
    """What is wrong with the shares together; that of nobody alone shows that it deviated."""
    if len(said) <= p.K:
        return Violation(Fault("shares.not_of_everybody"))
    if fault := unlike_go(session, tuple(said), said):
        return Violation(fault)
    return None


def verify_messages(
    p: Parameters, greetings: Mapping[str, Any], letters: Sequence[DisclosedMessage]
) -> Violation | None:
    """Nothing: greetings say no more than keys."""
    return None


PUBLIC_VERIFICATION = PublicVerification(lambda p: True, verify_publication, verify_messages)
