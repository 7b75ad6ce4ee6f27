"""Replay: every message of a role is made again from its view, and a dispute about a line is settled by machine.

A role is a deterministic function of inputs, coins and mail. Whoever hands over its view can therefore be held to every
byte that it sent; and a refused message can be held against its sender, as far as the sender signed it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from protocols.crypto.sealing import KEY_BYTES
from protocols.runtime import message as messages
from protocols.runtime.envelope import HELLO, STAGE_END, Envelope, is_signed, signed_payload
from protocols.runtime.view import Opened, Recomputed
from smc_dp.audit.run.blame import blamed, gone, greeting, identity, is_held_to, marks_apart, owner
from smc_dp.audit.run.check import Check, CheckOutcome, failed, not_possible, passed
from smc_dp.audit.run.evidence import Evidence
from smc_dp.audit.run.opened import NO_VIEWS, whose
from smc_dp.errors import shown


@dataclass(frozen=True)
class Verdict:
    """Who is wrong about one line. `party` is None where the evidence names nobody; `accepted`: nothing is wrong."""

    line: int
    party: str | None
    sentence: str
    accepted: bool = False


def view_agrees(evidence: Evidence) -> CheckOutcome:
    """The mail and the marks of each view are what the record holds for its owner, opened with the owner's coins.

    Where they differ nobody is named: whoever made either of them may have lied, and so may whoever sent the mail. Who
    vanished had no time to read it all.
    """
    if not evidence.views:
        return not_possible(NO_VIEWS)
    for name, view in evidence.views.items():
        again = evidence.recomputed[name]
        if fault := _greeting_fault(evidence, name, again.links.public):
            return fault
        if apart := marks_apart(evidence, name):
            return failed(f"the record and the view of {shown(name)} differ in who was absent", apart[0])
        for read, kept in zip(again.opened, view.mail, strict=False):
            if read != kept:
                what = f"the record holds other mail for {shown(name)} there than its view"
                return failed(what, _line(evidence, name, read))
        if len(view.mail) < len(again.opened) and name not in gone(evidence):
            missing = _line(evidence, name, again.opened[len(view.mail)])
            return failed(f"the view of {shown(name)} lacks mail that the record holds for it", missing)
        if len(view.mail) > len(again.opened):
            extra = _line(evidence, name, view.mail[len(again.opened)])
            return failed(f"the view of {shown(name)} has mail that it did not get from the record", extra)
    opened = sum(len(view.mail) for view in evidence.views.values())
    return passed(f"{opened} messages open as the views hold them; {whose(evidence)}")


def _line(evidence: Evidence, reader: str, mail: Opened) -> int | None:
    """The line of a letter: it is found by both ends of its link and its number there."""
    place = (mail[0], reader, mail[1])
    return next((n for n, e in evidence.envelopes.items() if (e.sender, e.to, e.number) == place), None)


def _greeting_fault(evidence: Evidence, name: str, public: bytes) -> CheckOutcome | None:
    for n, e in evidence.envelopes.items():
        if e.kind == HELLO and e.sender == name and e.body[:KEY_BYTES] != public:
            known = identity(evidence, name)
            signed = known is not None and is_signed(known, e)
            what = f"the session key of {shown(name)} does not follow from the coins in its view"
            return failed(what, n, name if signed else None)
    return None


def messages_recomputed(evidence: Evidence) -> CheckOutcome:
    """What each owner of a view sent is, byte for byte, what its program sends on its inputs, coins and mail.

    The owner is named only when it signed the line that differs, and the record has the mail and the marks of its
    view: else the record may have been changed, or the owner may have been sent something else.
    """
    if not evidence.views:
        return not_possible(NO_VIEWS)
    faults = [_sent_fault(evidence, name, again) for name, again in evidence.recomputed.items()]
    found = [fault for fault in faults if fault is not None]
    if found:
        return min(found, key=lambda fault: (fault.line is None, fault.line or 0))
    count = sum(len(again.sent) for again in evidence.recomputed.values())
    return passed(
        f"{count} messages made again, byte for byte but for signatures; {whose(evidence)}; "
        "that coins were drawn at random, no run shows"
    )


def _sent_fault(evidence: Evidence, name: str, again: Recomputed) -> CheckOutcome | None:
    sent = 0
    for n, e in ((n, e) for n, e in evidence.envelopes.items() if e.sender == name):
        if sent == len(again.sent):
            why = f", which stops: {_rule(again)}" if again.fault else ""
            return failed(
                f"{_what(e)} is more than the program of {shown(name)} sends{why}", n, _own(evidence, name, n)
            )
        made = again.sent[sent]
        if e != made:
            wanted = "" if (e.kind, e.to) == (made.kind, made.to) else f", which would send {_what(made)}"
            what = f"{_what(e)} is not what the program of {shown(name)} sends{wanted}"
            return failed(what, n, _own(evidence, name, n))
        sent += 1
    if sent < len(again.sent) and not (evidence.absences and _may_lack(evidence, name, again.sent[sent])):
        return failed(f"the record lacks {_what(again.sent[sent])} from {shown(name)}")
    return None


def _may_lack(evidence: Evidence, name: str, made: Envelope) -> bool:
    """Whether a record in which somebody is absent can be without this: who vanished sends nothing, and where somebody
    was stopped nobody publishes.
    """
    return name in gone(evidence) or _is_published(made)


def _own(evidence: Evidence, name: str, line: int) -> str | None:
    """The sender of a line that its program does not send, if it signed the line, and its view is the whole story."""
    return blamed(evidence, line) if is_held_to(evidence, name) and owner(evidence, name) else None


def _rule(again: Recomputed) -> str:
    """What stopped a role, without a name: who answers for it is for signatures to say."""
    return (again.fault or "").removeprefix(f"{again.culprit}: ")


def _what(e: Envelope) -> str:
    return f"{shown(e.kind)} to {shown(e.to)}"


def result(evidence: Evidence) -> CheckOutcome:
    """The published shares follow from the views; with those of all parties, the release is what the ideal
    functionality makes of their inputs, whatever Charlie, who has none, did or hands over.
    """
    if not evidence.views:
        return not_possible(NO_VIEWS)
    if again := _stopped(evidence):
        return failed(f"the role of {shown(again.view.name)} publishes nothing: {_rule(again)}", again.at)
    published = _published(evidence)
    for name, again in evidence.recomputed.items():
        due = [(e.kind, signed_payload(e)) for e in again.sent if _is_published(e)]
        found = published.get(name, [])
        if evidence.absences and not found:
            continue  # it vanished, or nobody was to publish
        there = [(e.kind, signed_payload(e)) for _, e in found]
        if due != there:
            same = next((i for i, pair in enumerate(zip(due, there, strict=False)) if pair[0] != pair[1]), len(due))
            line = found[same][0] if same < len(found) else None
            what = f"what was published as the share of {shown(name)} is not what follows from its view"
            return failed(what, line, None if line is None else _own(evidence, name, line))
    hygiene = evidence.protocol.model.hygiene
    if evidence.absences:
        return passed(f"the published shares follow from the {whose(evidence)}; somebody's letters were given up")
    if hygiene is None or not set(evidence.session.parties) <= set(evidence.views):
        return passed(f"the published shares follow from the {whose(evidence)}; the release needs those of all parties")
    inputs = {name: view.inputs for name, view in evidence.views.items()}
    if not hygiene.agrees(evidence.session.parameters, inputs, _decoded(evidence)):
        return failed("the published shares do not give what the ideal functionality makes of the views' inputs")
    return passed("the published shares give what the ideal functionality makes of everybody's inputs")


def _is_published(e: Envelope) -> bool:
    return e.is_public and e.kind not in (HELLO, STAGE_END)


def _published(evidence: Evidence) -> dict[str, list[tuple[int, Envelope]]]:
    """What each participant published, with its lines."""
    found: dict[str, list[tuple[int, Envelope]]] = {}
    for n, e in evidence.envelopes.items():
        if _is_published(e):
            found.setdefault(e.sender, []).append((n, e))
    return found


def _decoded(evidence: Evidence) -> dict[str, messages.Message]:
    session = evidence.session
    return {
        name: messages.decode(session.kinds[e.kind], signed_payload(e), session.layout, {})
        for name, published in _published(evidence).items()
        for _, e in published
    }


def dispute(evidence: Evidence) -> CheckOutcome:
    """Every message for the owner of a view opens and is accepted; if not, who is wrong."""
    if not evidence.views:
        return not_possible(NO_VIEWS)
    if again := _stopped(evidence):
        if again.at is None or again.at not in evidence.envelopes:
            own = again.culprit == again.view.name
            return failed(again.fault or "", None, owner(evidence, again.view.name) if own else None)
        verdict = settle(evidence, again.at)
        return failed(
            f"{shown(again.view.name)} refuses this: {_rule(again)}. {verdict.sentence}", again.at, verdict.party
        )
    count = sum(len(again.reads) for again in evidence.recomputed.values())
    return passed(f"nothing to settle: {count} messages open and are accepted; {whose(evidence)}")


def _stopped(evidence: Evidence) -> Recomputed | None:
    """The role that something on the earliest line stopped, before those that only wait for somebody who was.

    One that vanished while it waited was not stopped.
    """
    away = gone(evidence)
    faults = [
        again
        for name, again in evidence.recomputed.items()
        if again.fault is not None and not (name in away and again.at is None and again.culprit is None)
    ]
    return min(faults, key=lambda again: (again.at is None, again.at or 0), default=None)


def settle(evidence: Evidence, line: int) -> Verdict:
    """Who is wrong about the message on this line of the record: its sender, its reader, or nobody that can be named.

    Sealed mail opens with a key that sender and reader share, so the seal alone shows nobody else who made it. What
    convinces a third party is a signature of the sender over an unbroken chain that holds the line.
    """
    envelope = evidence.envelopes.get(line)
    if envelope is None:
        return Verdict(line, None, "There is no message on this line.")
    signed = blamed(evidence, line) is not None
    if envelope.is_public:
        return _settle_public(evidence, line, envelope, signed)
    if envelope.to not in evidence.views:
        return Verdict(line, None, f"It takes the view of {shown(envelope.to)} to say what the message is.")
    for asked in (_coins, _greeting):
        if verdict := asked(evidence, line, envelope):
            return verdict
    again = evidence.recomputed[envelope.to]
    letter = again.links.open(line, again.keys)
    if letter.payload is not None and letter.fault is None and again.at != line:
        return Verdict(line, None, "The message opens and is accepted.", True)
    return _refused(evidence, line, envelope, letter.payload is not None, signed)


def _settle_public(evidence: Evidence, line: int, envelope: Envelope, signed: bool) -> Verdict:
    known = identity(evidence, envelope.sender)
    who = shown(envelope.sender)
    if known is None or not is_signed(known, envelope):
        return Verdict(line, None, f"The signature of {who} does not hold: nobody answers for this.")
    faults = [a for a in evidence.recomputed.values() if a.at == line]
    if faults:
        return Verdict(line, envelope.sender, f"{who} signed this, so {who} is wrong, which anybody can check.")
    return Verdict(line, None, f"{who} signed this, and nobody whose view was given refuses it.", signed)


def _coins(evidence: Evidence, line: int, envelope: Envelope) -> Verdict | None:
    """The reader's own greeting must follow from the coins that it hands over."""
    reader = envelope.to
    found = greeting(evidence, reader)
    if found is None:
        return Verdict(line, None, f"No greeting that {shown(reader)} signed is there to check its coins against.")
    if owner(evidence, reader) is None:
        sentence = (
            f"{shown(reader)} is wrong: its coins are not those behind the key that it signed on line {found[0]}."
        )
        return Verdict(line, reader, sentence)
    return None


def _greeting(evidence: Evidence, line: int, envelope: Envelope) -> Verdict | None:
    """The sender's greeting must be signed, or the key of the link is nobody's."""
    if greeting(evidence, envelope.sender) is None:
        return Verdict(line, None, f"No greeting that {shown(envelope.sender)} signed is there: the link is nobody's.")
    return None


def _refused(evidence: Evidence, line: int, envelope: Envelope, opens: bool, signed: bool) -> Verdict:
    sender, reader = shown(envelope.sender), shown(envelope.to)
    if opens and _follows(evidence, envelope):
        why = f"somebody told {sender} and {reader} different things"
        return Verdict(line, None, f"{sender} sent what its program sends on its view: {why}.")
    if not signed and _continues_otherwise(evidence, line, envelope):
        return Verdict(
            line, None, f"{sender} sent another message here, which its later ones continue: this was changed."
        )
    if not signed:
        what = (
            f"It opens and is refused; no signature holds it, and both {sender} and {reader} have its key"
            if opens
            else "It does not open, and no signature holds it: whoever carried or recorded it may have changed it"
        )
        return Verdict(line, None, f"{what}, so nobody can be named.")
    if not opens:
        sentence = f"{sender} is wrong: it signed this, and the seal breaks under the key that both greetings give."
        return Verdict(line, envelope.sender, sentence)
    clause = "" if envelope.sender in evidence.views else ", unless its view shows that its program sends just this"
    return Verdict(line, envelope.sender, f"{sender} is wrong: it signed this, and the program refuses it{clause}.")


def _follows(evidence: Evidence, envelope: Envelope) -> bool:
    return envelope.sender in evidence.views and envelope in evidence.recomputed[envelope.sender].sent


def _continues_otherwise(evidence: Evidence, line: int, envelope: Envelope) -> bool:
    """Whether the sender's view gives another message for this place, and its own next line follows that one."""
    if envelope.sender not in evidence.views:
        return False
    later = (e for n, e in evidence.envelopes.items() if n > line and e.sender == envelope.sender)
    following = next(later, None)
    place = (envelope.to, envelope.number)
    made = [e for e in evidence.recomputed[envelope.sender].sent if (e.to, e.number) == place and e != envelope]
    return following is not None and any(e.digest == following.prev for e in made)


def _check(name: str, asks: str, run: Callable[[Evidence], CheckOutcome]) -> Check:
    return Check("replay", name, asks, run)


CHECKS: tuple[Check, ...] = (
    _check("view-agrees", "Is the mail in each view what the record holds for its owner?", view_agrees),
    _check("messages-recomputed", "Did each owner of a view send what its program sends?", messages_recomputed),
    _check("result", "Does what was published follow from the views?", result),
    _check("dispute", "Is every message accepted, and if not, who is wrong?", dispute),
)
