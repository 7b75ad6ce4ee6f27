"""Consistency of a release with the transcript that its participants signed: one set of rules for all who use it.

Sites check it before they settle; `run`, `predict`, `publish` and `show` before they use a release; an audit rule by
rule. A transcript binds only the identities that its line 0 states; whose they are, an audit with pinned identities
checks. Each rule returns a `Contradiction`, or None; `find_contradictions` applies all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any

from protocols.crypto.identity import verify
from protocols.errors import DecodeError, Fault, ProtocolError
from protocols.runtime import message as messages
from protocols.runtime.attestation import Attestation, signing_input
from protocols.runtime.channel import GREETING_STAGE
from protocols.runtime.claims import RequiredMessage
from protocols.runtime.envelope import HELLO, STAGE_END, Envelope, first_greetings, is_signed, signed_payload
from protocols.runtime.inbox import Absent
from protocols.runtime.session import PUBLIC_NAME, Session
from smc_dp.core import reading
from smc_dp.core.errors import FieldValue, InputError, InputFault, shown
from smc_dp.run import approvals
from smc_dp.run.coefficient_intervals import intervals_fault
from smc_dp.run.documents import SIMULATED, SharesFile
from smc_dp.run.protocols import execution, openings
from smc_dp.run.release import PublishedRelease
from smc_dp.run.status_message import Notice
from smc_dp.run.transcript_header import APPROVALS, NOTICES

_SHOWN = 100  # characters of a name
_SLACK = Fraction(1, 10**12)  # a bound made with cosines may end in another digit on another machine


@dataclass(frozen=True)
class Contradiction:
    """Contradiction: its fault, the line of the transcript that shows it, and the name whose signature of that line
    alone proves it, if there is one.
    """

    fault: Fault
    line: int | None = None
    name: str | None = None


@dataclass(frozen=True)
class ReleaseEvidence:
    """Evidence about a release in a transcript, and in given views.

    `head` is line 0, `session` the session that it describes. `envelopes` holds by line at least the public ones and
    the inputs of members of a sum; `absences` the participants that went on without a message. `results`: results of
    the roles whose views are given, by name; `statements`: the signed statements in these views.
    """

    head: Mapping[str, Any]
    session: Session
    envelopes: Mapping[int, Envelope] = field(repr=False)
    absences: Mapping[int, tuple[str, Absent]]
    results: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}), repr=False)
    statements: Sequence[Attestation] = field(default=(), repr=False)

    @property
    def notices(self) -> Any:
        """Last status messages of participants on line 0; None where there are none."""
        return self.head.get(NOTICES)

    @property
    def marks(self) -> tuple[tuple[str, Absent], ...]:
        """Absences in the order of the lines: who went on without which message."""
        return tuple(self.absences.values())

    def absent_to(self, name: str) -> tuple[Absent, ...]:
        """Return the messages without which this participant went on."""
        return tuple(absent for reader, absent in self.absences.values() if reader == name)

    @cached_property
    def published(self) -> dict[str, tuple[int, Envelope]]:
        """Published envelopes and their lines by sender: all public ones but greetings and ends of stages."""
        return {e.sender: (n, e) for n, e in self.envelopes.items() if _is_published(e)}

    @cached_property
    def greetings(self) -> dict[str, Envelope]:
        """First greeting of each participant."""
        return first_greetings(self.envelopes.values())

    @cached_property
    def published_messages(self) -> dict[str, Any]:
        """Published messages by sender; raises `DecodeError` for what its participant may not publish."""
        return {name: published_message(self.session, envelope) for name, (_, envelope) in self.published.items()}


def find_contradictions(
    recorded: ReleaseEvidence, found: PublishedRelease, shares: SharesFile | None, study: bytes | None
) -> Iterator[Contradiction]:
    """Yield the contradictions of a release with its transcript, shares and study, in the order of the rules."""
    rules = (
        partial(publication_fault, recorded),
        partial(session_fault, recorded),
        partial(agreement_fault, found, recorded, study),
        partial(weights_fault, found, recorded) if shares is None else partial(shares_fault, shares, recorded),
        partial(openings_fault, recorded),
        partial(members_fault, recorded),
        partial(promise_fault, recorded),
        partial(privacy_fault, found),
        partial(approvals_fault, study, found, recorded),
        partial(absences_fault, recorded),
    )
    yield from (wrong for rule in rules if (wrong := rule()) is not None)


def session_fault(recorded: ReleaseEvidence) -> Contradiction | None:
    """Return a contradiction unless line 0 states the id of the session that it describes."""
    if recorded.head["session"] == recorded.session.id.hex():
        return None
    return Contradiction(InputFault("session.other_id"), 0)


def publication_fault(recorded: ReleaseEvidence) -> Contradiction | None:
    """Return a contradiction unless each participant published once, and signed it.

    A second message would leave open which one counts.
    """
    first: dict[str, int] = {}
    for n, envelope in ((n, e) for n, e in recorded.envelopes.items() if _is_published(e)):
        sender, identities = envelope.sender, recorded.session.identities
        if first.setdefault(sender, n) != n:
            fields: dict[str, FieldValue] = {"sender": shown(sender), "first": first[sender], "again": n}
            return Contradiction(InputFault("transcript.published_twice", fields), n)
        if sender not in identities or not is_signed(identities[sender], envelope):
            return Contradiction(InputFault("transcript.not_signed", {"name": sender[:_SHOWN]}), n)
    return None


def published_message(session: Session, envelope: Envelope) -> Any:
    """Decode a published message; raise `DecodeError` for one that this participant may not publish."""
    kind = session.kinds.get(envelope.kind)
    if kind is None or not kind.route.allows(session.kind(envelope.sender), messages.PUBLIC):
        raise DecodeError("message.not_published", kind=shown(envelope.kind))
    return messages.decode(kind, signed_payload(envelope), session.layout, {})


def share_numbers(session: Session, envelope: Envelope) -> tuple[int, ...]:
    """Return the numbers in a published share; raise `DecodeError` as `published_message` does."""
    return tuple(published_message(session, envelope).y)


def weights_fault(found: PublishedRelease, recorded: ReleaseEvidence) -> Contradiction | None:
    """Return a contradiction unless the weights follow from the messages that were published in the session."""
    try:
        value = execution.decode_value(recorded.session, recorded.published_messages)
        members = execution.decode_members(recorded.session, recorded.published_messages)
    except (DecodeError, ValueError) as error:
        return Contradiction(InputFault("transcript.no_result", {"why": str(error)}))
    result, inferred = found.agreement.inferred_result(value, members)
    if result != found.result:
        return Contradiction(InputFault("release.other_weights"))
    wrong = intervals_fault(found.inference, inferred, found.agreement, result)
    return None if wrong is None else Contradiction(wrong)


def shares_fault(shares: SharesFile, recorded: ReleaseEvidence) -> Contradiction | None:
    """Return a contradiction unless shares.json states the shares that all participants published."""
    absent_names = {absent.sender for _, absent in recorded.marks}
    for name in recorded.session.names:
        line, envelope = recorded.published.get(name, (None, None))
        if envelope is None and name in absent_names and name not in shares.shares:
            continue
        if envelope is None:
            return Contradiction(InputFault("transcript.share_missing", {"name": name}))
        try:
            signed = [str(y) for y in share_numbers(recorded.session, envelope)]
        except DecodeError as error:
            return Contradiction(InputFault("transcript.no_share", {"name": name, "why": str(error)}), line)
        if shares.shares.get(name) != signed:
            return Contradiction(InputFault("release.other_shares", {"name": name}), line)
    return None


def openings_fault(
    recorded: ReleaseEvidence, verified_statements: list[Attestation] | None = None
) -> Contradiction | None:
    """Return a contradiction unless published messages follow from the greetings, where anybody can compute them again.

    `verified_statements` receives those whose signatures were verified.
    """
    try:
        wrong = openings.find_wrong_opening(
            recorded.session, recorded.greetings, recorded.published_messages, verified_statements
        )
    except DecodeError as error:
        return Contradiction(InputFault("transcript.no_result", {"why": str(error)}))
    return None if wrong is None else _of_publisher(recorded, wrong.fault, wrong.name)


def members_fault(recorded: ReleaseEvidence) -> Contradiction | None:
    """Return a contradiction unless each member of a sum has its input in the transcript, and is not absent there."""
    try:
        needed = tuple(required_messages(recorded))
    except (ProtocolError, ValueError) as error:
        return Contradiction(InputFault("transcript.no_result", {"why": str(error)}))
    sent = {(e.sender, e.to, e.kind, e.stage) for e in recorded.envelopes.values()}
    missed = {(a.sender, reader, a.kind, a.stage): n for n, (reader, a) in recorded.absences.items()}
    for need in needed:
        fields: dict[str, FieldValue] = {"name": need.sender, "kind": need.kind, "stage": need.stage}
        if need in missed:
            return Contradiction(InputFault("member.absent", fields), missed[need])
        if need not in sent:
            return Contradiction(InputFault("member.without_input", fields))
    return None


def required_messages(recorded: ReleaseEvidence) -> Iterator[RequiredMessage]:
    """Yield the messages that the published ones require; raise `ProtocolError` for published messages of no run."""
    checkable, p = openings.verification_of(recorded.session), recorded.session.parameters
    if checkable is not None and recorded.published:
        yield from checkable.needs(p, recorded.published_messages)


def absences_fault(recorded: ReleaseEvidence) -> Contradiction | None:
    """Return a contradiction unless each absence in the transcript of a study was signed by its reader, and the role of
    the reader could wait for that message.

    So a false absence is blamed on its signer. The absence of a public message has no single reader: it follows from
    what others signed, and nobody owes one who signed that it is done. A simulation has no status messages.
    """
    try:
        notices = _notices(recorded)
    except InputError as error:
        return Contradiction(error.fault, 0)
    if notices is None:
        return None
    done = {name for name, notice in notices.items() if notice.code == "done"}
    for n, (reader, absent) in recorded.absences.items():
        if reader == PUBLIC_NAME:
            if absent.sender in done:
                return Contradiction(InputFault("absence.of_one_who_is_done", {"sender": shown(absent.sender)}), n)
            continue
        fields = {"reader": shown(reader), "kind": shown(absent.kind), "sender": shown(absent.sender)}
        if reader not in notices or absent not in notices[reader].marks:
            return Contradiction(InputFault("absence.not_signed", fields), n)
        if not could_wait(recorded.session, reader, absent):
            return Contradiction(InputFault("absence.not_waited_for", fields), n)
    return None


def could_wait(session: Session, reader: str, absent: Absent) -> bool:
    """Return whether the role of this reader could wait for this message: a greeting, or a kind with such a route."""
    if absent.kind == HELLO:
        greets = absent.sender in session.greeters or absent.sender in session.peers(reader)
        return greets and (absent.stage, absent.read) == (GREETING_STAGE, 0) and absent.sender != reader
    kind = session.kinds.get(absent.kind)
    if kind is None or absent.sender not in session.peers(reader):
        return False
    return bool(kind.route.allows(session.kind(absent.sender), session.kind(reader)))


def _notices(recorded: ReleaseEvidence) -> Mapping[str, Notice] | None:
    """Return the status messages on line 0 by their senders; None in a simulation, which has none."""
    head, session = recorded.head, recorded.session
    if APPROVALS not in head:
        if NOTICES in head:
            raise InputError("notice.in_a_simulation")
        return None
    study, found = approvals.approved_study(head, session), dict[str, Notice]()
    for stated in reading.require_list(NOTICES, head.get(NOTICES)):
        document = reading.require_object(NOTICES, stated)
        name = reading.require_text(f"{NOTICES}: sender", document.get("sender"))
        if name not in session.identities or name in found or document.get("session") != session.id.hex():
            raise InputError("notice.of_another_session", name=shown(name))
        found[name] = Notice.of(document, study, name, session.identities[name])
    return found


def promise_fault(recorded: ReleaseEvidence) -> Contradiction | None:
    """Return a contradiction unless published messages agree with the statements and results in given views."""
    session = recorded.session
    checkable, kept = openings.verification_of(session), session.program.broken_commitment
    try:
        said = recorded.published_messages
        if checkable is not None and said and (signed := _statements(recorded)):
            greeted = openings.read_greetings(session, recorded.greetings)
            wrong = checkable.contradicted(session.parameters, session.id, greeted, said, signed)
            if wrong is not None:
                return _of_publisher(recorded, wrong.fault, wrong.name)
        for name, result in recorded.results.items():
            broken = kept(session.id, session.names, result, said) if kept is not None and said else None
            if broken is not None:  # it came sealed: nobody else is convinced
                fields = {"name": name, "who": broken[0], "why": str(broken[1])}
                line, _ = recorded.published.get(broken[0], (None, None))
                return Contradiction(InputFault("published_values.broken", fields), line)
    except (DecodeError, ValueError) as error:
        return Contradiction(InputFault("transcript.no_result", {"why": str(error)}))
    return None


def _statements(recorded: ReleaseEvidence) -> list[tuple[str, Any]]:
    """Return the statements in given views that can be read, and that their signers may make."""
    session, found = recorded.session, []
    kinds = {kind.__name__: kind for kind in session.program.statements}
    for said in recorded.statements:
        kind = kinds.get(said.kind)
        if kind is None or not is_signed_statement(session, said):
            continue
        if not kind.route.allows(session.kind(said.name), messages.PUBLIC):
            continue
        try:
            found.append((said.name, messages.decode(kind, said.payload, session.layout, {})))
        except DecodeError:
            continue
    return found


def is_signed_statement(session: Session, said: Attestation) -> bool:
    """Return whether a statement is signed by the identity of its signer in this session."""
    public = session.identities.get(said.name)
    return public is not None and verify(public, signing_input(session.id, *said[:3]), said.signature)


def _of_publisher(recorded: ReleaseEvidence, fault: Fault, name: str | None) -> Contradiction:
    """Return the contradiction about the message that this participant published."""
    line, _ = recorded.published.get(name or "", (None, None))
    return Contradiction(fault, line, name)


def agreement_fault(found: PublishedRelease, recorded: ReleaseEvidence, study: bytes | None) -> Contradiction | None:
    """Return a contradiction unless the session is bound to what the release states and to the study beside it, and
    line 0 states the same.
    """
    head, stated = recorded.head, recorded.session.parameters.as_dict()
    agreement, agreed = found.agreement, found.parameters.get("agreed")
    follows = agreement.program_parameters(agreed if isinstance(agreed, str) else "").as_dict()
    follows |= {"topology": found.parameters.get("topology"), "protocol": agreement.protocol}
    said = stated | {"topology": head["topology"], "protocol": head["protocol"]}
    for name, value in said.items():
        got = follows.get(name)
        if type(got) is not type(value) or got != value:
            fields = {"name": name, "line_0": shown(value), "release": shown(got)}
            return Contradiction(InputFault("release.other_parameter", fields), 0)
    if head["insecure"] != list(agreement.marks):
        return Contradiction(InputFault("release.other_marks"), 0)
    if agreement.session_binding({name: found.parameters[name] for name in SIMULATED}, study) != stated["agreed"]:
        names = ", ".join(sorted(set(found.parameters) - set(said)))
        return Contradiction(InputFault("session.bound_to_another", {"names": names}), 0)
    return None


def privacy_fault(found: PublishedRelease) -> Contradiction | None:
    """Return a contradiction unless the privacy statement follows from the agreement."""
    fault = statement_fault(found.privacy, found.agreement.statement.as_dict())
    return None if fault is None else Contradiction(fault)


def approvals_fault(study: bytes | None, found: PublishedRelease, recorded: ReleaseEvidence) -> Contradiction | None:
    """Return a contradiction unless everybody approved of the study beside a release, or there is neither."""
    try:
        fault = approvals.approval_fault(study, found.agreement, recorded.head, recorded.session)
    except InputError as error:
        fault = error.fault
    return None if fault is None else Contradiction(fault, 0)


def statement_fault(stated: Mapping[str, Any], follows: Mapping[str, Any]) -> Fault | None:
    """Return the fault of a claimed statement that differs from the one that follows; last digits of a pure one may."""
    slack = _SLACK if follows["kind"] == "pure" else 0
    for name in (*follows, *stated):
        if name not in stated or name not in follows:
            what = "missing" if name in follows else "unknown"
            return InputFault("privacy.other_fields", {"field": shown(name), "what": what})
        got, wanted = stated[name], follows[name]
        if name == "epsilon" and type(got) in (int, float) and wanted is not None:
            if not abs(Fraction(got) - Fraction(wanted)) <= Fraction(wanted) * slack:
                return InputFault("privacy.other_epsilon", {"got": shown(got), "wanted": wanted})
        elif type(got) is not type(wanted) or got != wanted:
            return InputFault("privacy.other_value", {"field": name, "got": shown(got), "wanted": shown(wanted)})
    return None


def _is_published(envelope: Envelope) -> bool:
    return envelope.is_public and envelope.kind not in (HELLO, STAGE_END)
