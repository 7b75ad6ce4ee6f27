"""Blame: who answers for a line of a transcript or for a view; nobody else is named.

Blame is a type. A `Culprit` is made from a signature that holds, and from nothing else, so no check can name anybody
for what a stranger could have written. A sender answers for what it signed, over an unbroken chain: the holder of a
transcript can add, leave out, change, swap or repeat lines. And a signature alone says *what* was sent, not that it is
wrong: messages of others may be the reason. So there are two kinds of offences.

* What no honest program ever sends, whatever it receives (a route that is not declared, a length that public parameters
  do not give, a second greeting, an unusable key of its own): the signature is enough (`chain_signer`).
* Everything else shows only beside the sender's own view, signed by it: on the messages that the view holds and the
  transcript has too, its program sends something else (`malicious_sender`).

Beside lines there are signed contradictions: two greetings, two statements about the same thing, and signed statements
that by themselves cannot be true (`statements.py`). They need no view that is believed.
"""

from __future__ import annotations

from dataclasses import InitVar, dataclass, field

from protocols.crypto.identity import SIGNATURE_BYTES, verify
from protocols.crypto.sealing import KEY_BYTES
from protocols.errors import LocalError
from protocols.runtime.envelope import HELLO, START, Envelope, is_signed, signed_payload
from smc_dp.audit.run.evidence import Evidence
from smc_dp.core.errors import Fault, InputFault, shown


@dataclass(frozen=True)
class Culprit:
    """Participant whose own signature shows that it broke a rule; raises `LocalError` where no such signature holds.

    `pinned`: its identity is known from elsewhere. If not, the culprit is the holder of the key that line 0 states for
    this name, and anybody can write a line 0.
    """

    name: str
    pinned: bool = field(init=False)
    evidence: InitVar[Evidence]
    signed: InitVar[bytes]
    signature: InitVar[bytes]

    def __post_init__(self, evidence: Evidence, signed: bytes, signature: bytes) -> None:
        public = identity_key(evidence, self.name)
        if public is None or not verify(public, signed, signature):
            raise LocalError("culprit.no_signature", name=shown(self.name))
        object.__setattr__(self, "pinned", evidence.pinned is not None)

    @property
    def label(self) -> str:
        """Name of the culprit, or of the key that it holds."""
        who = shown(self.name)
        return who if self.pinned else f"the holder of the key that line 0 states for {who}"


def chain_signer(evidence: Evidence, line: int) -> Culprit | None:
    """Return the sender of a line, if it signed this or a later line over an unbroken chain; else None.

    Only for what no honest program sends, whatever it receives; else see `malicious_sender`.
    """
    sender = evidence.envelopes[line].sender
    public = identity_key(evidence, sender)
    before = START
    for n, e in evidence.envelopes.items():
        if e.sender != sender:
            continue
        if public is None or e.prev != before or (e.is_public and not is_signed(public, e)):
            return None
        if n >= line and e.is_public:
            return _signer(evidence, e)
        before = e.digest
    return None


def malicious_sender(evidence: Evidence, line: int) -> Culprit | None:
    """Return the sender of a line, if it signed both the line and a view on which its program sends another.

    The greetings, the absences and the messages of this view must be those of the transcript as far as they matter.
    Else somebody who sent it other messages than stand there could make it look like a liar.
    """
    sender = evidence.envelopes[line].sender
    if sender not in evidence.views or not _is_own(evidence, sender):
        return None
    again = evidence.recomputed[sender]
    place = sum(e.sender == sender and n < line for n, e in evidence.envelopes.items())
    more = place >= len(again.sent)
    if not more and again.sent[place] == evidence.envelopes[line]:
        return None
    return chain_signer(evidence, line) if is_borne_out(evidence, sender, whole=more) else None


def identity_key(evidence: Evidence, name: str) -> bytes | None:
    """Return a participant's public identity key: the one known from elsewhere goes before the one on line 0."""
    known = evidence.session.identities if evidence.pinned is None else evidence.pinned
    return known.get(name) if name in evidence.session.names else None


def line_signer(evidence: Evidence, line: int) -> Culprit | None:
    """Return the sender of a public line that it signed itself, whatever stands before it."""
    e = evidence.envelopes[line]
    public = identity_key(evidence, e.sender)
    return _signer(evidence, e) if e.is_public and public is not None and is_signed(public, e) else None


def signed_greeting(evidence: Evidence, name: str) -> tuple[int, Envelope] | None:
    """Return the line of a participant's greeting, and the greeting, if its signature holds."""
    for n, e in evidence.envelopes.items():
        if (e.kind, e.sender) == (HELLO, name) and e.is_public:
            return (n, e) if line_signer(evidence, n) else None
    return None


def view_signer(evidence: Evidence, role: str) -> Culprit | None:
    """Return the owner of a view, if it signed the view; else None, for anybody can write a view."""
    view, public = evidence.views[role], identity_key(evidence, role)
    signed = view.to_sign(evidence.session)
    if public is None or not verify(public, signed, view.signature):
        return None
    return Culprit(role, evidence, signed, view.signature)


def why_unsigned(evidence: Evidence, role: str) -> Fault | None:
    """Return why nobody answers for this view; None where its owner signed it."""
    if view_signer(evidence, role):
        return None
    unsigned = not evidence.views[role].signature
    return InputFault("view.not_signed" if unsigned else "view.signed_by_another", {"name": shown(role)})


def has_other_randomness(evidence: Evidence, role: str) -> bool:
    """Return whether the randomness of a view is not that behind the greeting that its owner signed here."""
    found = signed_greeting(evidence, role)
    return found is not None and found[1].body[:KEY_BYTES] != evidence.recomputed[role].links.public


def is_borne_out(evidence: Evidence, role: str, *, whole: bool) -> bool:
    """Return whether a view has the greetings, absences and messages that the transcript has for its owner.

    If not, the owner may have lied, or somebody sent it other messages than stand in the transcript: no view tells
    which. `whole`: up to the last message, with which the role came to its end, for a role that waits or refuses may
    have got more than it knew of when it signed; else as far as the role came on the transcript.
    """
    view, again = evidence.views[role], evidence.recomputed[role]
    if differing_absences(evidence, role) or differing_greetings(evidence, role):
        return False
    if whole:
        return view.messages == again.messages_read and again.cause in (None, "itself")
    return view.messages[: len(again.messages_read)] == again.messages_read


def differing_greetings(evidence: Evidence, role: str) -> list[str]:
    """Return the senders of greetings that the role relies on and that are not those in its view."""
    had = dict(evidence.views[role].greetings)
    return [name for name, digest in evidence.recomputed[role].greetings if had.get(name) != digest]


def differing_absences(evidence: Evidence, role: str) -> list[int | None]:
    """Return the lines of absences to this role that its view lacks, and None for each that is only in the view."""
    recorded = {
        (absent.sender, absent.kind, absent.stage, absent.read): n
        for n, (reader, absent) in evidence.absences.items()
        if reader == role
    }
    view = set(evidence.views[role].marks)
    return [n for mark, n in recorded.items() if mark not in view] + [None for mark in view if mark not in recorded]


def absent_senders(evidence: Evidence) -> frozenset[str]:
    """Return the senders without whom somebody went on: what they did from then on, nobody knows."""
    return frozenset(absent.sender for _, absent in evidence.absences.values())


def _is_own(evidence: Evidence, role: str) -> bool:
    """Return whether a view is signed by its owner and from the randomness behind its signed greeting."""
    found = view_signer(evidence, role) and signed_greeting(evidence, role)
    return found is not None and not has_other_randomness(evidence, role)


def _signer(evidence: Evidence, e: Envelope) -> Culprit:
    return Culprit(e.sender, evidence, e.header + signed_payload(e), e.body[-SIGNATURE_BYTES:])
