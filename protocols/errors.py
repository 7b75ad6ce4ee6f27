"""What can go wrong in a protocol, and who is to blame."""

from __future__ import annotations

from collections.abc import Sequence

_SHOWN = 80


class ProtocolError(Exception):
    """Base of all protocol errors; never raised itself."""


class LocalError(ProtocolError):
    """We are about to break the rules: a bug, a bad parameter, a stale ciphertext, an undeclared route."""


class UnansweredError(LocalError):
    """A role asks at home, nobody is there, and the answer is not among its inputs: so far it came, and no further."""


class PeerError(ProtocolError):
    """A peer broke the rules, or somebody on the way from it did.

    `culprit` is the peer's name only where what came was sealed or signed by that peer; else it is "somebody on the way
    from" the peer, and there is no evidence, for whoever carries mail can spoil it. `rule` is what was broken,
    `evidence` the numbers, on their link, of the messages that show it; empty when the rule names no single message.

    It is why a participant stops, and convinces nobody else: a seal is made with a key that both ends have, and a peer
    to whom a third one told something else may send in good faith what is refused. Who was wrong is for an auditor to
    say, from what each of them signed.
    """

    def __init__(self, culprit: str, rule: str, evidence: Sequence[int] = ()) -> None:
        numbers = ", ".join(str(n) for n in evidence)
        where = f" (its message {numbers})" if evidence else ""
        super().__init__(f"{culprit}: {rule}{where}")
        self.culprit = culprit
        self.rule = rule
        self.evidence = tuple(evidence)


class StoppedError(ProtocolError):
    """A role cannot go on although nobody broke a rule: somebody is absent, or too few are left."""


class DecodeError(ProtocolError):
    """Bytes are not the canonical encoding of what they should be; the channel turns it into a `PeerError`."""


class StallError(ProtocolError):
    """Nobody can move. `waiting` maps each role to what it waits for, from whom, and where in the code."""

    def __init__(self, waiting: dict[str, str]) -> None:
        super().__init__("nobody can move: " + "; ".join(f"{who} waits for {what}" for who, what in waiting.items()))
        self.waiting = waiting


class ReplayError(ProtocolError):
    """State, code or mail do not agree with the past of this role."""


def somebody_between(sender: str) -> str:
    """Who may have spoilt mail that says it is from this sender: nobody that can be named."""
    return f"somebody on the way from {sender}"


def shown(text: str) -> str:
    """A name out of somebody else's header, fit for a line of text: a peer can write anything there."""
    return text if len(text) <= _SHOWN and text.isprintable() else repr(text[:_SHOWN])
