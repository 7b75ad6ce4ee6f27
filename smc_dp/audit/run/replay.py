"""Replay: make every message of a role again from its view, and settle disputes about a line by machine.

A role is a deterministic function of inputs, randomness and messages. So a participant that signs its view and hands it
over can be held to every byte that it sent. A view that its owner has not signed is replayed as well, and shows that
this view and the transcript differ; but anybody can write one, so nobody is named for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest

from protocols.crypto.sealing import KEY_BYTES
from protocols.runtime import message as messages
from protocols.runtime.envelope import HELLO, STAGE_END, Envelope, signed_payload
from protocols.runtime.view import ReadEntry, Recomputed
from smc_dp.audit.run.blame import (
    Culprit,
    absent_senders,
    chain_signer,
    differing_absences,
    differing_greetings,
    has_other_randomness,
    line_signer,
    malicious_sender,
    signed_greeting,
    view_signer,
    why_unsigned,
)
from smc_dp.audit.run.check import Check, CheckOutcome, failed, make_fault, passed
from smc_dp.audit.run.evidence import Evidence
from smc_dp.audit.run.view_messages import NO_VIEWS_OUTCOME, describe_views
from smc_dp.core.errors import Fault, shown


@dataclass(frozen=True)
class Verdict:
    """Verdict on one line. `culprit` is None where the evidence names nobody; `accepted`: nothing is wrong."""

    line: int
    culprit: Culprit | None
    fault: Fault
    accepted: bool = False

    @property
    def party(self) -> str | None:
        """Name of the culprit."""
        return None if self.culprit is None else self.culprit.name


def check_view(evidence: Evidence) -> CheckOutcome:
    """Check that the greetings, messages and absences of each view are those that the transcript holds for its owner.

    Messages are opened with the owner's randomness. Where they differ nobody is named: the author of the view, of
    the transcript or of the message may have lied. A participant that dropped out had no time to read it all.
    """
    if not evidence.views:
        return NO_VIEWS_OUTCOME
    for name, view in evidence.views.items():
        again, whose, left = evidence.recomputed[name], shown(name), name in absent_senders(evidence)
        if found := _greeting_fault(evidence, name, again.links.public):
            return found
        if apart := differing_absences(evidence, name):
            return _differ(evidence, name, make_fault("view.other_absences", name=whose), apart[0])
        for read, kept in zip_longest(again.messages_read, view.messages):
            if read != kept and not (kept is None and left):
                return _differ(
                    evidence, name, make_fault("view.other_mail", name=whose), _line(evidence, name, read or kept)
                )
        had = dict(view.greetings)
        if others := [n for n in differing_greetings(evidence, name) if n in had or not left]:
            return _differ(evidence, name, make_fault("view.other_greeting", sender=shown(others[0]), name=whose))
    opened = sum(len(view.messages) for view in evidence.views.values())
    signed = sum(view_signer(evidence, name) is not None for name in evidence.views)
    by_owners = f"{signed} of {len(evidence.views)} signed by their owners"
    return passed("view_agrees.holds", opened=opened, evidence=describe_views(evidence), by_owners=by_owners)


def _differ(
    evidence: Evidence, role: str, what: Fault, line: int | None = None, culprit: Culprit | None = None
) -> CheckOutcome:
    """Return that a view and the transcript differ; no culprit where nobody answers for the view."""
    why = why_unsigned(evidence, role)
    differ = what.within("this view and the transcript differ")
    return failed(differ, line=line, culprit=None if why else culprit, why_nobody=why)


def _line(evidence: Evidence, reader: str, read_entry: ReadEntry) -> int | None:
    """Return the line of a message, found by both ends of its link and its number there."""
    place = (read_entry[0], reader, read_entry[1])
    return next((n for n, e in evidence.envelopes.items() if (e.sender, e.to, e.number) == place), None)


def _greeting_fault(evidence: Evidence, name: str, public: bytes) -> CheckOutcome | None:
    """Return the contradiction of an owner that signed its view and a greeting that does not follow from it."""
    for n, e in evidence.envelopes.items():
        if e.kind == HELLO and e.sender == name and e.body[:KEY_BYTES] != public:
            what = make_fault("view.other_session_key", name=shown(name))
            return _differ(evidence, name, what, n, view_signer(evidence, name) if line_signer(evidence, n) else None)
    return None


def check_messages(evidence: Evidence) -> CheckOutcome:
    """Check that each owner of a view sent, byte for byte, what its program sends on its inputs and messages.

    The owner is named only when it signed its view and the line that differs, and the transcript has the greetings,
    messages and absences of its view: else either may be changed, or the owner have been sent other messages.
    """
    if not evidence.views:
        return NO_VIEWS_OUTCOME
    faults = [_sent_fault(evidence, name, again) for name, again in evidence.recomputed.items()]
    if found := [fault for fault in faults if fault is not None]:
        return min(found, key=lambda fault: (fault.line is None, fault.line or 0))
    count = sum(len(again.sent) for again in evidence.recomputed.values())
    return passed("messages_recomputed.holds", count=count, evidence=describe_views(evidence))


def _sent_fault(evidence: Evidence, name: str, again: Recomputed) -> CheckOutcome | None:
    sent = 0
    for n, e in ((n, e) for n, e in evidence.envelopes.items() if e.sender == name):
        if sent == len(again.sent):
            why = f", which stops: {again.fault}" if again.fault else ""
            more = make_fault("message.not_of_view", **_what(e), name=shown(name), why=why)
            return _differ(evidence, name, more, n, malicious_sender(evidence, n))
        made = again.sent[sent]
        if e != made:
            same = (e.kind, e.to) == (made.kind, made.to)
            instead = "" if same else ", which would send {kind} to {to}".format_map(_what(made))
            other = make_fault("message.other_than_view", **_what(e), name=shown(name), instead=instead)
            return _differ(evidence, name, other, n, malicious_sender(evidence, n))
        sent += 1
    if sent == len(again.sent):
        return None
    # Who dropped out sends nothing more, and where somebody was stopped nobody publishes.
    made = again.sent[sent]
    if evidence.absences and (name in absent_senders(evidence) or _is_published(made)):
        return None
    return _differ(evidence, name, make_fault("message.lacking", **_what(made), name=shown(name)))


def _what(e: Envelope) -> dict[str, str]:
    return {"kind": shown(e.kind), "to": shown(e.to)}


def check_result(evidence: Evidence) -> CheckOutcome:
    """Check that the published shares follow from the views.

    With the views of all parties, the release is what the ideal functionality makes of their inputs, whatever Charlie,
    who has none, did or hands over.
    """
    if not evidence.views:
        return NO_VIEWS_OUTCOME
    if again := _stopped(evidence):
        nothing = make_fault("result.none", name=shown(again.view.name), why=str(again.fault))
        return _differ(evidence, again.view.name, nothing, again.at)
    published = _published(evidence)
    for name, again in evidence.recomputed.items():
        due = [(e.kind, signed_payload(e)) for e in again.sent if _is_published(e)]
        found = published.get(name, [])
        if evidence.absences and not found:
            continue  # it dropped out, or nobody was to publish
        there = [(e.kind, signed_payload(e)) for _, e in found]
        if due != there:
            same = next((i for i, pair in enumerate(zip(due, there, strict=False)) if pair[0] != pair[1]), len(due))
            line = found[same][0] if same < len(found) else None
            other = make_fault("share.other_than_view", name=shown(name))
            return _differ(evidence, name, other, line, None if line is None else malicious_sender(evidence, line))
    hygiene = evidence.protocol.model.hygiene
    if evidence.absences and not (hygiene and hygiene.says_who(evidence.session.parameters) and published):
        return passed("result.letters_given_up", evidence=describe_views(evidence))
    if hygiene is None or not set(evidence.session.parties) <= set(evidence.views):
        return passed("result.holds_in_part", evidence=describe_views(evidence))
    inputs = {name: view.inputs for name, view in evidence.views.items()}
    if not hygiene.agrees(evidence.session.parameters, inputs, _decoded(evidence)):
        return failed("result.not_ideal")
    return passed("result.holds")


def _is_published(e: Envelope) -> bool:
    return e.is_public and e.kind not in (HELLO, STAGE_END)


def _published(evidence: Evidence) -> dict[str, list[tuple[int, Envelope]]]:
    """Return what each participant published, with its lines."""
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


def check_disputes(evidence: Evidence) -> CheckOutcome:
    """Check that every message for the owner of a view opens and is accepted; else settle who is wrong."""
    if not evidence.views:
        return NO_VIEWS_OUTCOME
    if again := _stopped(evidence):
        name, why = again.view.name, str(again.fault)
        if again.at is None or again.at not in evidence.envelopes:
            return _differ(evidence, name, make_fault("dispute.role_stops", name=shown(name), why=why))
        verdict = settle_dispute(evidence, again.at)
        said, code = str(verdict.fault), verdict.fault.code
        refused = make_fault("dispute.refused", name=shown(name), why=why, verdict=said, verdict_code=code)
        if verdict.culprit:  # by its own signatures, even if a stranger wrote this view
            return failed(refused, line=again.at, culprit=verdict.culprit)
        return _differ(evidence, name, refused, again.at)
    count = sum(len(again.reads) for again in evidence.recomputed.values())
    return passed("dispute.nothing_to_settle", count=count, evidence=describe_views(evidence))


def _stopped(evidence: Evidence) -> Recomputed | None:
    """Return the role that the earliest line stopped, before those that only wait for somebody who was.

    A role that dropped out while it waited was not stopped.
    """
    absent_names = absent_senders(evidence)
    faults = [
        again
        for name, again in evidence.recomputed.items()
        if again.fault is not None and not (name in absent_names and again.at is None and again.cause == "waiting")
    ]
    return min(faults, key=lambda again: (again.at is None, again.at or 0), default=None)


def settle_dispute(evidence: Evidence, line: int) -> Verdict:
    """Settle who is wrong about the message on a line: its sender, its reader, or nobody that can be named.

    A sealed message opens with a key that sender and reader share, so the seal alone shows nobody else who made it. A
    third party is convinced by a signature of the sender over an unbroken chain that holds the line, beside a view that
    the sender signed: for a message of a third participant may be the reason why it sent what is refused.
    """
    envelope = evidence.envelopes.get(line)
    if envelope is None:
        return Verdict(line, None, make_fault("dispute.no_message"))
    if envelope.is_public:
        return _settle_public(evidence, line, envelope)
    if envelope.to not in evidence.views:
        return Verdict(line, None, make_fault("dispute.no_view", name=shown(envelope.to)))
    if verdict := _reader_verdict(evidence, line, envelope.to):
        return verdict
    if signed_greeting(evidence, envelope.sender) is None:  # the key of the link is nobody's
        return Verdict(line, None, make_fault("dispute.no_greeting_of_sender", name=shown(envelope.sender)))
    again = evidence.recomputed[envelope.to]
    opened = again.links.open(line, again.keys)
    if opened.payload is not None and opened.fault is None and again.at != line:
        return Verdict(line, None, make_fault("dispute.accepted"), True)
    return _refused(evidence, line, envelope, opened.payload is not None)


def _settle_public(evidence: Evidence, line: int, envelope: Envelope) -> Verdict:
    culprit = line_signer(evidence, line)
    if culprit is None:
        return Verdict(line, None, make_fault("dispute.false_signature", name=shown(envelope.sender)))
    if any(again.at == line for again in evidence.recomputed.values()):
        # A greeting says the same to everybody, whatever its readers were told: no honest one is refused.
        return Verdict(line, culprit, make_fault("dispute.signed_fault", name=culprit.label))
    accepted = chain_signer(evidence, line) is not None
    return Verdict(line, None, make_fault("dispute.not_refused", name=shown(envelope.sender)), accepted)


def _reader_verdict(evidence: Evidence, line: int, reader: str) -> Verdict | None:
    """Return the verdict on a reader whose own greeting does not follow from the randomness that it hands over."""
    name, found = shown(reader), signed_greeting(evidence, reader)
    if found is None:
        return Verdict(line, None, make_fault("dispute.no_greeting_of_reader", name=name))
    if not has_other_randomness(evidence, reader):
        return None
    culprit = view_signer(evidence, reader)
    if culprit is None:
        return Verdict(line, None, make_fault("dispute.other_coins", name=name, greeting=found[0]))
    wrong = make_fault("dispute.other_coins_signed", culprit=culprit.label, name=name, greeting=found[0])
    return Verdict(line, culprit, wrong)


def _refused(evidence: Evidence, line: int, envelope: Envelope, opens: bool) -> Verdict:
    between = {"sender": shown(envelope.sender), "reader": shown(envelope.to)}
    view = evidence.recomputed.get(envelope.sender)
    if opens and view is not None and envelope in view.sent:
        return Verdict(line, None, make_fault("dispute.told_otherwise", **between))
    if culprit := malicious_sender(evidence, line):
        how = "the program refuses it" if opens else "the seal breaks under the key that both greetings give"
        return Verdict(line, culprit, make_fault("dispute.deviates", name=culprit.label, how=how))
    code = "dispute.told_by_others" if chain_signer(evidence, line) else "dispute.unsigned"
    return Verdict(line, None, make_fault(code, **between))


CHECKS: tuple[Check, ...] = (
    Check(
        "replay",
        "view-agrees",
        "Are the messages in each view the ones in the transcript for its owner?",
        check_view,
    ),
    Check(
        "replay",
        "messages-recomputed",
        "Did each owner of a view send the messages that its program sends?",
        check_messages,
    ),
    Check("replay", "result", "Do the published values follow from the views?", check_result),
    Check("replay", "dispute", "Does every message open, and does its reader accept it?", check_disputes),
)
