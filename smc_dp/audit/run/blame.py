"""Who answers for what: for a line of a wire record, for what a view shows; and nobody else is named.

A sender answers for what it signed, over an unbroken chain. Lines are put into a record, left out, changed, swapped or
repeated by whoever holds it, so nothing but a signature makes a line its sender's. The owner of a view answers for what
the view shows of itself, once the greeting that it signed in this record follows from the view's coins.
"""

from __future__ import annotations

from protocols.crypto.sealing import KEY_BYTES
from protocols.runtime.envelope import HELLO, START, Envelope, is_signed
from smc_dp.audit.run.evidence import Evidence


def blamed(evidence: Evidence, line: int) -> str | None:
    """Who sent this line, if a later signature by its stated identity, over an unbroken chain, says so; else None."""
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
            return sender
        before = e.digest
    return None


def identity(evidence: Evidence, name: str) -> bytes | None:
    """Whose signatures are this participant's: what is known from elsewhere goes before what line 0 says of itself."""
    known = evidence.session.identities if evidence.pinned is None else evidence.pinned
    return known.get(name) if name in evidence.session.names else None


def greeting(evidence: Evidence, name: str) -> tuple[int, Envelope] | None:
    """The line of this participant's greeting, and the greeting, if its signature holds."""
    public = identity(evidence, name)
    for n, e in evidence.envelopes.items():
        if (e.kind, e.sender) == (HELLO, name) and e.is_public:
            return (n, e) if public is not None and is_signed(public, e) else None
    return None


def owner(evidence: Evidence, role: str) -> str | None:
    """The owner of a view, if its coins are those behind the greeting that it signed here; else None."""
    found = greeting(evidence, role)
    again = evidence.recomputed[role]
    return role if found and found[1].body[:KEY_BYTES] == again.links.public else None


def is_held_to(evidence: Evidence, role: str) -> bool:
    """Whether a view has the mail and the marks that the record has for its owner.

    If not, the owner may have lied, or whoever sent it other mail than stands in the record: no view tells which.
    """
    view, again = evidence.views[role], evidence.recomputed[role]
    return view.mail == again.opened and not marks_apart(evidence, role)


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
