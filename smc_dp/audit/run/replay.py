"""Replay: every message of a role is made again from its view, and a dispute about a line is settled by machine.

A role is a deterministic function of inputs, coins and mail. Whoever signs its view and hands it over can therefore be
held to every byte that it sent. A view that its owner has not signed is replayed as well, and shows that this view and
the record differ; but anybody can write one, so nobody is named for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from protocols.crypto.sealing import KEY_BYTES
from protocols.runtime import message as messages
from protocols.runtime.envelope import HELLO, STAGE_END, Envelope, signed_payload
from protocols.runtime.view import ReadEntry, Recomputed
from smc_dp.audit.run.blame import (
    Culprit,
    blamed,
    deviates,
    gone,
    greeting,
    greetings_apart,
    has_other_coins,
    marks_apart,
    owner,
    signer,
    why_nobody,
)
from smc_dp.audit.run.check import Check, CheckOutcome, failed, passed
from smc_dp.audit.run.evidence import Evidence
from smc_dp.audit.run.view_messages import NO_VIEWS, whose
from smc_dp.core.errors import Fault, FieldValue, InputFault, shown


@dataclass(frozen=True)
class Verdict:
    """Who is wrong about one line. `culprit` is None where the evidence names nobody; `accepted`: nothing is wrong."""

    line: int
    culprit: Culprit | None
    fault: Fault
    accepted: bool = False

    @property
    def party(self) -> str | None:
        """The name of the culprit."""
        return None if self.culprit is None else self.culprit.name


def view_agrees(evidence: Evidence) -> CheckOutcome:
    """The greetings, the mail and the marks of each view are what the record holds for its owner, opened with the
    owner's coins.

    Where they differ nobody is named: whoever made either of them may have lied, and so may whoever sent the mail. Who
    vanished had no time to read it all.
    """
    if not evidence.views:
        return NO_VIEWS
    for name, view in evidence.views.items():
        again, owner_of = evidence.recomputed[name], {"name": shown(name)}
        if fault := _greeting_fault(evidence, name, again.links.public):
            return fault
        if apart := marks_apart(evidence, name):
            absent = InputFault("view.other_absences", owner_of)
            return _differ(evidence, name, absent, apart[0])
        for read, kept in zip(again.messages_read, view.messages, strict=False):
            if read != kept:
                other = InputFault("view.other_mail", owner_of)
                return _differ(evidence, name, other, _line(evidence, name, read))
        had = dict(view.greetings)
        if others := [n for n in greetings_apart(evidence, name) if n in had or name not in gone(evidence)]:
            fields = {"sender": shown(others[0]), **owner_of}
            return _differ(evidence, name, InputFault("view.other_greeting", fields))
        if len(view.messages) < len(again.messages_read) and name not in gone(evidence):
            missing = _line(evidence, name, again.messages_read[len(view.messages)])
            lacking = InputFault("view.lacks_mail", owner_of)
            return _differ(evidence, name, lacking, missing)
        if len(view.messages) > len(again.messages_read):
            extra = _line(evidence, name, view.messages[len(again.messages_read)])
            more = InputFault("view.more_mail", owner_of)
            return _differ(evidence, name, more, extra)
    opened = sum(len(view.messages) for view in evidence.views.values())
    signed = sum(owner(evidence, name) is not None for name in evidence.views)
    by_owners = f"{signed} of {len(evidence.views)} signed by their owners"
    return passed("view_agrees.holds", opened=opened, evidence=whose(evidence), by_owners=by_owners)


def _differ(
    evidence: Evidence, role: str, what: Fault, line: int | None = None, culprit: Culprit | None = None
) -> CheckOutcome:
    """Return that a view and the record differ: where nobody answers for the view, only that, and why."""
    why = why_nobody(evidence, role)
    differ = what.within("this view and the record differ")
    return failed(differ, line=line, culprit=None if why else culprit, why_nobody=why)


def _line(evidence: Evidence, reader: str, mail: ReadEntry) -> int | None:
    """The line of a letter: it is found by both ends of its link and its number there."""
    place = (mail[0], reader, mail[1])
    return next((n for n, e in evidence.envelopes.items() if (e.sender, e.to, e.number) == place), None)


def _greeting_fault(evidence: Evidence, name: str, public: bytes) -> CheckOutcome | None:
    """Who signed a view, and a greeting that does not follow from it, has signed a contradiction."""
    for n, e in evidence.envelopes.items():
        if e.kind == HELLO and e.sender == name and e.body[:KEY_BYTES] != public:
            what = InputFault("view.other_session_key", {"name": shown(name)})
            return _differ(evidence, name, what, n, owner(evidence, name) if signer(evidence, n) else None)
    return None


def messages_recomputed(evidence: Evidence) -> CheckOutcome:
    """What each owner of a view sent is, byte for byte, what its program sends on its inputs, coins and mail.

    The owner is named only when it signed its view and the line that differs, and the record has the greetings, the
    mail and the marks of its view: else either may have been changed, or the owner may have been sent something else.
    """
    if not evidence.views:
        return NO_VIEWS
    faults = [_sent_fault(evidence, name, again) for name, again in evidence.recomputed.items()]
    found = [fault for fault in faults if fault is not None]
    if found:
        return min(found, key=lambda fault: (fault.line is None, fault.line or 0))
    count = sum(len(again.sent) for again in evidence.recomputed.values())
    return passed("messages_recomputed.holds", count=count, evidence=whose(evidence))


def _sent_fault(evidence: Evidence, name: str, again: Recomputed) -> CheckOutcome | None:
    sent = 0
    for n, e in ((n, e) for n, e in evidence.envelopes.items() if e.sender == name):
        if sent == len(again.sent):
            fields = {**_what(e), "name": shown(name), "why": f", which stops: {again.fault}" if again.fault else ""}
            more = InputFault("message.not_of_view", fields)
            return _differ(evidence, name, more, n, deviates(evidence, n))
        made = again.sent[sent]
        if e != made:
            same = (e.kind, e.to) == (made.kind, made.to)
            instead = "" if same else ", which would send {kind} to {to}".format_map(_what(made))
            other = InputFault("message.other_than_view", {**_what(e), "name": shown(name), "instead": instead})
            return _differ(evidence, name, other, n, deviates(evidence, n))
        sent += 1
    if sent < len(again.sent) and not (evidence.absences and _may_lack(evidence, name, again.sent[sent])):
        fields = {**_what(again.sent[sent]), "name": shown(name)}
        return _differ(
            evidence,
            name,
            InputFault("message.lacking", fields),
        )
    return None


def _may_lack(evidence: Evidence, name: str, made: Envelope) -> bool:
    """Whether a record in which somebody is absent can be without this: who vanished sends nothing, and where somebody
    was stopped nobody publishes.
    """
    return name in gone(evidence) or _is_published(made)


def _what(e: Envelope) -> dict[str, str]:
    return {"kind": shown(e.kind), "to": shown(e.to)}


def result(evidence: Evidence) -> CheckOutcome:
    """The published shares follow from the views; with those of all parties, the release is what the ideal
    functionality makes of their inputs, whatever Charlie, who has none, did or hands over.
    """
    if not evidence.views:
        return NO_VIEWS
    if again := _stopped(evidence):
        fields = {"name": shown(again.view.name), "why": str(again.fault)}
        nothing = InputFault("result.none", fields)
        return _differ(evidence, again.view.name, nothing, again.at)
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
            other = InputFault("share.other_than_view", {"name": shown(name)})
            return _differ(evidence, name, other, line, None if line is None else deviates(evidence, line))
    hygiene = evidence.protocol.model.hygiene
    if evidence.absences and not (hygiene and hygiene.says_who(evidence.session.parameters) and published):
        return passed("result.letters_given_up", evidence=whose(evidence))
    if hygiene is None or not set(evidence.session.parties) <= set(evidence.views):
        return passed("result.holds_in_part", evidence=whose(evidence))
    inputs = {name: view.inputs for name, view in evidence.views.items()}
    if not hygiene.agrees(evidence.session.parameters, inputs, _decoded(evidence)):
        return failed("result.not_ideal")
    return passed("result.holds")


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
        return NO_VIEWS
    if again := _stopped(evidence):
        fields = {"name": shown(again.view.name), "why": str(again.fault)}
        if again.at is None or again.at not in evidence.envelopes:
            stops = InputFault("dispute.role_stops", fields)
            return _differ(evidence, again.view.name, stops)
        verdict = settle(evidence, again.at)
        refused = InputFault(
            "dispute.refused", {**fields, "verdict": str(verdict.fault), "verdict_code": verdict.fault.code}
        )
        if verdict.culprit:  # by its own signatures, whoever wrote this view
            return failed(refused, line=again.at, culprit=verdict.culprit)
        return _differ(evidence, again.view.name, refused, again.at)
    count = sum(len(again.reads) for again in evidence.recomputed.values())
    return passed("dispute.nothing_to_settle", count=count, evidence=whose(evidence))


def _stopped(evidence: Evidence) -> Recomputed | None:
    """The role that something on the earliest line stopped, before those that only wait for somebody who was.

    One that vanished while it waited was not stopped.
    """
    away = gone(evidence)
    faults = [
        again
        for name, again in evidence.recomputed.items()
        if again.fault is not None and not (name in away and again.at is None and again.cause == "waiting")
    ]
    return min(faults, key=lambda again: (again.at is None, again.at or 0), default=None)


def settle(evidence: Evidence, line: int) -> Verdict:
    """Who is wrong about the message on this line of the record: its sender, its reader, or nobody that can be named.

    Sealed mail opens with a key that sender and reader share, so the seal alone shows nobody else who made it. What
    convinces a third party is a signature of the sender over an unbroken chain that holds the line, beside a view that
    the sender signed: for what a third participant told it may be the reason why it sent what is refused.
    """
    envelope = evidence.envelopes.get(line)
    if envelope is None:
        return Verdict(line, None, InputFault("dispute.no_message"))
    if envelope.is_public:
        return _settle_public(evidence, line, envelope)
    if envelope.to not in evidence.views:
        needed = InputFault("dispute.no_view", {"name": shown(envelope.to)})
        return Verdict(line, None, needed)
    for asked in (_coins, _greeting):
        if verdict := asked(evidence, line, envelope):
            return verdict
    again = evidence.recomputed[envelope.to]
    letter = again.links.open(line, again.keys)
    if letter.payload is not None and letter.fault is None and again.at != line:
        return Verdict(line, None, InputFault("dispute.accepted"), True)
    return _refused(evidence, line, envelope, letter.payload is not None)


def _settle_public(evidence: Evidence, line: int, envelope: Envelope) -> Verdict:
    sender = {"name": shown(envelope.sender)}
    culprit = signer(evidence, line)
    if culprit is None:
        return Verdict(
            line,
            None,
            InputFault("dispute.false_signature", sender),
        )
    if any(again.at == line for again in evidence.recomputed.values()):
        # A greeting says the same to everybody, whatever its readers were told: no honest one is refused.
        wrong = InputFault("dispute.signed_fault", {"name": culprit.said})
        return Verdict(line, culprit, wrong)
    accepted = blamed(evidence, line) is not None
    signed = InputFault("dispute.not_refused", sender)
    return Verdict(line, None, signed, accepted)


def _coins(evidence: Evidence, line: int, envelope: Envelope) -> Verdict | None:
    """The reader's own greeting must follow from the coins that it hands over."""
    reader = envelope.to
    found = greeting(evidence, reader)
    if found is None:
        return Verdict(
            line,
            None,
            InputFault("dispute.no_greeting_of_reader", {"name": shown(reader)}),
        )
    if not has_other_coins(evidence, reader):
        return None
    culprit = owner(evidence, reader)
    fields: dict[str, FieldValue] = {"name": shown(reader), "greeting": found[0]}
    if culprit is None:
        differ = InputFault("dispute.other_coins", fields)
        return Verdict(line, None, differ)
    wrong = InputFault("dispute.other_coins_signed", {"culprit": culprit.said, **fields})
    return Verdict(line, culprit, wrong)


def _greeting(evidence: Evidence, line: int, envelope: Envelope) -> Verdict | None:
    """The sender's greeting must be signed, or the key of the link is nobody's."""
    if greeting(evidence, envelope.sender) is None:
        sender = {"name": shown(envelope.sender)}
        nobodys = InputFault("dispute.no_greeting_of_sender", sender)
        return Verdict(line, None, nobodys)
    return None


def _refused(evidence: Evidence, line: int, envelope: Envelope, opens: bool) -> Verdict:
    between = {"sender": shown(envelope.sender), "reader": shown(envelope.to)}
    if opens and _follows(evidence, envelope):
        followed = InputFault("dispute.told_otherwise", between)
        return Verdict(line, None, followed)
    if culprit := deviates(evidence, line):
        how = "the program refuses it" if opens else "the seal breaks under the key that both greetings give"
        deviated = InputFault("dispute.deviates", {"name": culprit.said, "how": how})
        return Verdict(line, culprit, deviated)
    if blamed(evidence, line):
        fault = InputFault("dispute.told_by_others", between)
    elif _continues_otherwise(evidence, line, envelope):
        fault = InputFault("dispute.continues_otherwise", between)
    elif opens:
        fault = InputFault("dispute.refused_unsigned", between)
    else:
        fault = InputFault("dispute.unopened")
    return Verdict(line, None, fault)


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
    _check("dispute", "Does every message open, and does its reader accept it?", dispute),
)
