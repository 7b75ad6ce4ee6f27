"""Replay: every message of a role is made again from its view, and a dispute about a line is settled by machine.

A role is a deterministic function of inputs, coins and mail. Whoever hands over its view can therefore be held to every
byte that it sent; and a refused message can be held against its sender, as far as the sender signed it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from protocols.crypto.identity import SIGNATURE_BYTES
from protocols.runtime import message as messages
from protocols.runtime.channel import HELLO, STAGE_END, Envelope, is_signed
from protocols.runtime.session import PUBLIC_NAME
from protocols.runtime.view import Recomputed
from smc_dp.audit.run.blame import blamed
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
    """The mail of each view is what the record holds for its owner, opened with the owner's coins."""
    if not evidence.views:
        return not_possible(NO_VIEWS)
    for name, view in evidence.views.items():
        again = evidence.recomputed[name]
        if fault := _greeting_fault(evidence, name, again.links.public):
            return fault
        for read, kept in zip(again.opened, view.mail, strict=False):
            if read != kept:
                return failed(f"the record holds other mail for {shown(name)} there than its view", read[0], name)
        if len(view.mail) < len(again.opened):
            missing = again.opened[len(view.mail)][0]
            return failed(f"the view of {shown(name)} lacks mail that the record holds for it", missing, name)
        if len(view.mail) > len(again.opened):
            extra = view.mail[len(again.opened)][0]
            wrong = name if again.culprit in (None, name) else None  # else `dispute` says who
            return failed(f"the view of {shown(name)} has mail that it did not get from the record", extra, wrong)
    opened = sum(len(view.mail) for view in evidence.views.values())
    return passed(f"{opened} messages open as the views hold them; {whose(evidence)}")


def _greeting_fault(evidence: Evidence, name: str, public: bytes) -> CheckOutcome | None:
    for n, e in evidence.envelopes.items():
        if e.kind == HELLO and e.sender == name and e.body[:-SIGNATURE_BYTES] != public:
            return failed(f"the session key of {shown(name)} does not follow from the coins in its view", n, name)
    return None


def messages_recomputed(evidence: Evidence) -> CheckOutcome:
    """What each owner of a view sent is, byte for byte, what its program sends on its inputs, coins and mail.

    The owner is named only when it signed the line that differs: else the record may have been changed.
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
    recorded = [(n, e) for n, e in evidence.envelopes.items() if e.sender == name]
    for (n, e), made in zip(recorded, again.sent, strict=False):
        if e != made:
            wanted = "" if (e.kind, e.to) == (made.kind, made.to) else f", which would send {_what(made)}"
            return failed(f"{_what(e)} is not what the program of {shown(name)} sends{wanted}", n, blamed(evidence, n))
    if len(recorded) > len(again.sent):
        n, e = recorded[len(again.sent)]
        why = f", which stops: {again.fault}" if again.fault else ""
        wrong = blamed(evidence, n) if again.culprit in (None, name) else None  # else `dispute` says who
        return failed(f"{_what(e)} is more than the program of {shown(name)} sends{why}", n, wrong)
    if len(recorded) < len(again.sent):
        return failed(f"the record lacks {_what(again.sent[len(recorded)])} from {shown(name)}", None, name)
    return None


def _what(e: Envelope) -> str:
    return f"{shown(e.kind)} to {shown(e.to)}"


def result(evidence: Evidence) -> CheckOutcome:
    """The published shares follow from the views; with those of all parties, the release is what the ideal
    functionality makes of their inputs, whatever Charlie, who has none, did or hands over.
    """
    if not evidence.views:
        return not_possible(NO_VIEWS)
    if again := _stopped(evidence):
        return failed(f"{shown(again.view.name)} publishes nothing: {again.fault}", again.at)
    for name, again in evidence.recomputed.items():
        due, found = _published(again.sent, name), _published(tuple(evidence.envelopes.values()), name)
        if [(e.kind, e.body[:-SIGNATURE_BYTES]) for e in due] != [(e.kind, e.body[:-SIGNATURE_BYTES]) for e in found]:
            line = next((n for n, e in evidence.envelopes.items() if e in found), None)
            return failed(f"{shown(name)} published something else than what follows from its view", line, name)
    hygiene = evidence.protocol.model.hygiene
    if hygiene is None or not set(evidence.session.parties) <= set(evidence.views):
        return passed(f"the published shares follow from the {whose(evidence)}; the release needs those of all parties")
    inputs = {name: view.inputs for name, view in evidence.views.items()}
    if not hygiene.agrees(evidence.session.parameters, inputs, _decoded(evidence)):
        return failed("the published shares do not give what the ideal functionality makes of the views' inputs")
    return passed("the published shares give what the ideal functionality makes of everybody's inputs")


def _published(envelopes: tuple[Envelope, ...], name: str) -> list[Envelope]:
    return [e for e in envelopes if (e.sender, e.to) == (name, PUBLIC_NAME) and e.kind != STAGE_END]


def _decoded(evidence: Evidence) -> dict[str, messages.Message]:
    kinds = {kind.__name__: kind for kind in evidence.session.program.kinds}
    layout = evidence.session.layout
    return {
        name: messages.decode(kinds[e.kind], e.body[:-SIGNATURE_BYTES], layout, {})
        for name in evidence.session.names
        for e in _published(tuple(evidence.envelopes.values()), name)
    }


def dispute(evidence: Evidence) -> CheckOutcome:
    """Every message for the owner of a view opens and is accepted; if not, who is wrong."""
    if not evidence.views:
        return not_possible(NO_VIEWS)
    if again := _stopped(evidence):
        if again.at is None or again.at not in evidence.envelopes:
            return failed(again.fault or "", None, again.culprit)
        verdict = settle(evidence, again.at)
        return failed(f"{again.fault}. {verdict.sentence}", again.at, verdict.party)
    count = sum(len(again.reads) for again in evidence.recomputed.values())
    return passed(f"nothing to settle: {count} messages open and are accepted; {whose(evidence)}")


def _stopped(evidence: Evidence) -> Recomputed | None:
    """The role that something on the earliest line stopped, before those that only wait for somebody who was."""
    faults = [again for again in evidence.recomputed.values() if again.fault is not None]
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
    if envelope.kind == HELLO or envelope.to == PUBLIC_NAME:
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
    identity = evidence.session.identities.get(envelope.sender)
    who = shown(envelope.sender)
    if identity is None or not is_signed(identity, envelope):
        return Verdict(line, None, f"{who} did not sign this: it, or somebody on the way, put it there.")
    faults = [a for a in evidence.recomputed.values() if a.at == line]
    if faults:
        return Verdict(line, envelope.sender, f"{who} signed this, so {who} is wrong, which anybody can check.")
    return Verdict(line, None, f"{who} signed this, and nobody whose view was given refuses it.", signed)


def _coins(evidence: Evidence, line: int, envelope: Envelope) -> Verdict | None:
    """The reader's own greeting must follow from the coins that it hands over."""
    reader = envelope.to
    public = evidence.recomputed[reader].links.public
    n, hello = _hello(evidence, reader, envelope.sender)
    if hello is None or not is_signed(evidence.session.identities[reader], hello):
        return Verdict(line, None, f"No greeting that {shown(reader)} signed is there to check its coins against.")
    if hello.body[:-SIGNATURE_BYTES] != public:
        sentence = f"{shown(reader)} is wrong: its coins are not those behind the key that it signed on line {n}."
        return Verdict(line, reader, sentence)
    return None


def _greeting(evidence: Evidence, line: int, envelope: Envelope) -> Verdict | None:
    """The sender's greeting must be signed, or the key of the link is nobody's."""
    n, hello = _hello(evidence, envelope.sender, envelope.to)
    identity = evidence.session.identities.get(envelope.sender)
    if hello is None or identity is None or not is_signed(identity, hello):
        where = "" if n is None else f" on line {n}"
        return Verdict(line, None, f"{shown(envelope.sender)} signed no greeting{where}: anybody may have sent this.")
    return None


def _hello(evidence: Evidence, sender: str, to: str) -> tuple[int | None, Envelope | None]:
    found = ((n, e) for n, e in evidence.envelopes.items() if (e.kind, e.sender, e.to) == (HELLO, sender, to))
    return next(found, (None, None))


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
        who = f"{reader}, who has the same key" if opens else "somebody on the way"
        what = "opens and is refused" if opens else "does not open"
        return Verdict(line, None, f"It {what}; {sender} signed no chain that holds it, so {sender} made it, or {who}.")
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
