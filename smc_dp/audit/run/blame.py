"""Who answers for what: for a line of a wire record, for what a view shows; and nobody else is named.

Blame is a type. A `Culprit` is made from a signature that holds, and from nothing else, so no check can name anybody
for what a stranger could have written. A sender answers for what it signed, over an unbroken chain: lines are put into
a record, left out, changed, swapped or repeated by whoever holds it. And a signature alone says *what* was sent, not
that it is wrong: what others told the sender may be the reason. So there are two kinds of offences.

* What no honest program ever sends, whatever it is told (a route that is not declared, a length that public parameters
  do not give, a second greeting, an unusable key of its own): the signature is enough (`blamed`).
* Everything else shows only beside the sender's own view, signed by it: on the mail that the view holds and the record
  has too, its program sends something else (`deviates`).

Beside lines there are signed contradictions: two greetings, two statements about the same thing, and what somebody
signed that by itself cannot be true (`statements.py`). They need no view that is believed.
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
    """A participant whose own signature shows that it broke a rule; raises `LocalError` where no such signature holds.

    `pinned`: whether its identity is known from elsewhere. If not, the signature shows what was done by whoever holds
    the key that line 0 states under this name, and anybody can write a line 0.
    """

    name: str
    pinned: bool = field(init=False)
    evidence: InitVar[Evidence]
    signed: InitVar[bytes]
    signature: InitVar[bytes]

    def __post_init__(self, evidence: Evidence, signed: bytes, signature: bytes) -> None:
        public = identity(evidence, self.name)
        if public is None or not verify(public, signed, signature):
            raise LocalError("culprit.no_signature", name=shown(self.name))
        object.__setattr__(self, "pinned", evidence.pinned is not None)

    @property
    def said(self) -> str:
        """Who that is, as far as it is known."""
        who = shown(self.name)
        return who if self.pinned else f"whoever holds the key that line 0 states for {who}"


def blamed(evidence: Evidence, line: int) -> Culprit | None:
    """Who sent this line, if a later signature by its stated identity, over an unbroken chain, says so; else None.

    Only for what no honest program sends, whatever others tell it; else see `deviates`.
    """
    sender = evidence.envelopes[line].sender
    public = identity(evidence, sender)
    before = START
    for n, e in evidence.envelopes.items():
        if e.sender != sender:
            continue
        if public is None or e.prev != before:
            return None
        if e.is_public and not is_signed(public, e):
            return None
        if n >= line and e.is_public:
            return _signer(evidence, e)
        before = e.digest
    return None


def deviates(evidence: Evidence, line: int) -> Culprit | None:
    """Who sent this line, if it signed the line, and a view that it signed too, on which its program sends another.

    The view must be the whole story as far as it matters: the greetings, the marks and the mail that its owner says it
    had are those of the record. Else whoever sent it other mail than stands there could make it look like a liar.
    """
    sender = evidence.envelopes[line].sender
    if sender not in evidence.views or not _is_own(evidence, sender):
        return None
    again = evidence.recomputed[sender]
    place = sum(e.sender == sender and n < line for n, e in evidence.envelopes.items())
    more = place >= len(again.sent)
    if not more and again.sent[place] == evidence.envelopes[line]:
        return None
    if not is_borne_out(evidence, sender, whole=more):
        return None
    return blamed(evidence, line)


def identity(evidence: Evidence, name: str) -> bytes | None:
    """Whose signatures are this participant's: what is known from elsewhere goes before what line 0 says of itself."""
    known = evidence.session.identities if evidence.pinned is None else evidence.pinned
    return known.get(name) if name in evidence.session.names else None


def signer(evidence: Evidence, line: int) -> Culprit | None:
    """Who signed this public line itself, whatever stands before it."""
    e = evidence.envelopes[line]
    public = identity(evidence, e.sender)
    return _signer(evidence, e) if e.is_public and public is not None and is_signed(public, e) else None


def greeting(evidence: Evidence, name: str) -> tuple[int, Envelope] | None:
    """The line of this participant's greeting, and the greeting, if its signature holds."""
    for n, e in evidence.envelopes.items():
        if (e.kind, e.sender) == (HELLO, name) and e.is_public:
            return (n, e) if signer(evidence, n) else None
    return None


def owner(evidence: Evidence, role: str) -> Culprit | None:
    """The owner of a view, if it signed the view; else None: a view that anybody can write is nobody's word."""
    view, public = evidence.views[role], identity(evidence, role)
    signed = view.to_sign(evidence.session)
    if public is None or not verify(public, signed, view.signature):
        return None
    return Culprit(role, evidence, signed, view.signature)


def why_nobody(evidence: Evidence, role: str) -> Fault | None:
    """Why nobody answers for this view; None where its owner signed it."""
    if owner(evidence, role):
        return None
    unsigned = not evidence.views[role].signature
    return InputFault("view.not_signed" if unsigned else "view.signed_by_another", {"name": shown(role)})


def has_other_coins(evidence: Evidence, role: str) -> bool:
    """Whether the coins of a view are not those behind the greeting that its owner signed here."""
    found = greeting(evidence, role)
    return found is not None and found[1].body[:KEY_BYTES] != evidence.recomputed[role].links.public


def is_borne_out(evidence: Evidence, role: str, *, whole: bool) -> bool:
    """Whether a view has the greetings, the marks and the mail that the record has for its owner.

    If not, the owner may have lied, or whoever sent it other mail than stands in the record: no view tells which.
    `whole`: to the last letter, with which the role came to its end, for one that waits or refuses something may have
    got more than it knew of when it signed; else as far as the role came on the record.
    """
    view, again = evidence.views[role], evidence.recomputed[role]
    if marks_apart(evidence, role) or greetings_apart(evidence, role):
        return False
    if whole:
        return view.messages == again.messages_read and again.cause in (None, "itself")
    return view.messages[: len(again.messages_read)] == again.messages_read


def greetings_apart(evidence: Evidence, role: str) -> list[str]:
    """Whose greetings, of those that the role relies on, are not the ones that its owner says it had."""
    had = dict(evidence.views[role].greetings)
    return [name for name, digest in evidence.recomputed[role].greetings if had.get(name) != digest]


def marks_apart(evidence: Evidence, role: str) -> list[int | None]:
    """The lines on which somebody is absent to this role but not in its view, and None for each that is only there."""
    recorded = {
        (absent.sender, absent.kind, absent.stage, absent.read): n
        for n, (reader, absent) in evidence.absences.items()
        if reader == role
    }
    view = set(evidence.views[role].marks)
    return [n for mark, n in recorded.items() if mark not in view] + [None for mark in view if mark not in recorded]


def gone(evidence: Evidence) -> frozenset[str]:
    """Without whom somebody went on, as the record says: what they did from then on, nobody knows."""
    return frozenset(absent.sender for _, absent in evidence.absences.values())


def _is_own(evidence: Evidence, role: str) -> bool:
    """Whether this is a view that its owner signed, from the coins behind the greeting that it signed in the record."""
    found = owner(evidence, role) and greeting(evidence, role)
    return found is not None and not has_other_coins(evidence, role)


def _signer(evidence: Evidence, e: Envelope) -> Culprit:
    return Culprit(e.sender, evidence, e.header + signed_payload(e), e.body[-SIGNATURE_BYTES:])
