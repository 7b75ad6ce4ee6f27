"""What participants signed beside their letters: whether it contradicts itself, and whether it holds by itself.

Nobody is named here but by its own signature of what is wrong. That somebody was absent, refused, entered false numbers
or sealed a share to one reader that is not the one it committed to shows nobody else who was to blame.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from protocols.crypto.identity import verify
from protocols.crypto.sealing import KEY_BYTES
from protocols.errors import DecodeError
from protocols.runtime import message as messages
from protocols.runtime.claims import Checkable, Told, Wrong
from protocols.runtime.endpoint import Greeted
from protocols.runtime.envelope import signed_payload
from protocols.runtime.message import Message
from protocols.runtime.statement import SignedStatement, encoded, is_attested, statement
from smc_dp.audit.run.blame import Culprit, greeting, identity, signer
from smc_dp.audit.run.check import Check, CheckOutcome, failed, not_possible, nothing_to_ask, passed
from smc_dp.audit.run.evidence import Evidence
from smc_dp.audit.run.view_messages import NO_VIEWS, opened, whose
from smc_dp.core.errors import shown
from smc_dp.run.release_consistency import published, published_message

_NAMED = 8  # more participants are counted


def statements(evidence: Evidence) -> CheckOutcome:
    """Nobody signed two different statements of one kind about the same thing, which their first field names.

    Looked at are those in the given views, those that their roles saw to be signed, and those in what was published.
    """
    if not evidence.session.program.statements:
        return nothing_to_ask("statements.none_in_protocol")
    found = {said: None for said in _all_signed(evidence) if _holds(evidence, said)}
    about: dict[tuple[str, str, bytes], SignedStatement] = {}
    for said in found:
        first = about.setdefault((said.name, said.kind, _about(evidence, said)), said)
        if first.payload != said.payload:
            signed = statement(evidence.session.id, *said[:3])
            return failed(
                "statement.contradicted",
                culprit=Culprit(said.name, evidence, signed, said.signature),
                name=shown(said.name),
                kind=said.kind,
            )
    if not found:
        if not evidence.views:
            return NO_VIEWS
        return nothing_to_ask("statements.none_in_views")
    return passed("statements.hold", statements=len(found), signers=len({said.name for said in found}))


def _all_signed(evidence: Evidence) -> Iterator[SignedStatement]:
    for name, view in evidence.views.items():
        yield from (SignedStatement(name, kind, payload, signature) for _, kind, payload, signature in view.statements)
        yield from evidence.recomputed[name].heard
    heard: list[SignedStatement] = []
    checkable, said = evidence.protocol.checkable, _published(evidence)
    if checkable is not None and said is not None:
        _wrong(evidence, checkable, said, heard)
        yield from heard


def _holds(evidence: Evidence, said: SignedStatement) -> bool:
    public = identity(evidence, said.name)
    signed = statement(evidence.session.id, *said[:3])
    return public is not None and verify(public, signed, said.signature)


def _about(evidence: Evidence, said: SignedStatement) -> bytes:
    """The first field of a statement, as it is encoded; all of it when it is none of this protocol's."""
    kind = next((kind for kind in evidence.session.program.statements if kind.__name__ == said.kind), None)
    try:
        read: Any = messages.decode(kind, said.payload, evidence.session.layout, {}) if kind else None
    except DecodeError:
        read = None
    return said.payload if read is None else repr(getattr(read, read.slots[0].name)).encode()


def openings(evidence: Evidence) -> CheckOutcome:
    """What was published is made again from what everybody greeted with and what was published beside it."""
    checkable = evidence.protocol.checkable
    if checkable is None or not checkable.opens(evidence.session.parameters):
        return nothing_to_ask("openings.not_public")
    said = _published(evidence)
    if said is None:
        if evidence.absences:
            return not_possible("openings.letters_given_up")
        return not_possible("openings.nothing_published")
    wrong = _wrong(evidence, checkable, said, [])
    if wrong is None:
        who = ", ".join(said) if len(said) <= _NAMED else f"all {len(said)} participants"
        return passed("openings.hold", who=who)
    line = next((n for name, (n, _) in published(evidence.envelopes.items()).items() if name == wrong.name), None)
    return failed(wrong.fault, line=line, culprit=None if line is None else signer(evidence, line))


def commitments(evidence: Evidence) -> CheckOutcome:
    """What is in opened letters, and stands committed to in a greeting, opens what was promised there."""
    checkable = evidence.protocol.checkable
    if checkable is None:
        return nothing_to_ask("commitments.none_in_protocol")
    if not evidence.views:
        return NO_VIEWS
    greeted = _greetings(evidence)
    if isinstance(greeted, CheckOutcome):
        return greeted
    letters = [
        Told(letter.envelope.sender, letter.envelope.to, letter.envelope.stage, letter.message)
        for letter in opened(evidence)
        if letter.message is not None
    ]
    wrong = checkable.told(evidence.session.parameters, greeted, letters)
    if wrong is None:
        return passed("commitments.hold", letters=len(letters), evidence=whose(evidence))
    found = greeting(evidence, wrong.name) if wrong.name else None
    line = found[0] if found else None
    return failed(wrong.fault, line=line, culprit=None if line is None else signer(evidence, line))


def _published(evidence: Evidence) -> Mapping[str, Any] | None:
    """What was published, by name, where it can be made again; None where it cannot, or is not there."""
    checkable, session = evidence.protocol.checkable, evidence.session
    said = published(evidence.envelopes.items())
    if checkable is None or not checkable.opens(session.parameters) or not said:
        return None
    return {name: published_message(session, envelope) for name, (_, envelope) in said.items()}


def _wrong(
    evidence: Evidence, checkable: Checkable, said: Mapping[str, Any], heard: list[SignedStatement]
) -> Wrong | None:
    """What is wrong with what was published; `heard` takes the statements that were seen to be signed."""
    session, greeted = evidence.session, _greetings(evidence)
    if isinstance(greeted, CheckOutcome):
        return Wrong(greeted.fault)

    def attested(name: str, message: Message, signature: bytes) -> bool:
        holds = is_attested(session, name, message, {}, signature)
        if holds:
            heard.append(SignedStatement(name, type(message).__name__, encoded(session, name, message, {}), signature))
        return holds

    return checkable.published(session.parameters, session.id, greeted, said, attested)


def _greetings(evidence: Evidence) -> dict[str, Greeted[Message]] | CheckOutcome:
    """What everybody greeted with; or what is to be said where somebody's greeting is not there, or not signed."""
    session, found = evidence.session, {}
    for name in session.greeters:
        there, says = greeting(evidence, name), session.says(name)
        if there is None or says is None:
            return not_possible("greeting.unsigned", name=shown(name))
        read: Message = messages.decode(says.kind, signed_payload(there[1])[KEY_BYTES:], session.layout, {})
        found[name] = Greeted(read, there[1].digest)
    return found


CHECKS: tuple[Check, ...] = (
    Check("statements", "statements", "Did nobody sign two statements about the same thing?", statements),
    Check("statements", "openings", "Can anybody make again what was published?", openings),
    Check("statements", "commitments", "Do letters open what greetings committed to?", commitments),
)
