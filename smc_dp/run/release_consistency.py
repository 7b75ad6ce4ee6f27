"""What ties a release to the record that its participants signed: each rule once, for `predict` and for audits.

A record ties only those identities down that its line 0 states: whose they are, an audit with pinned identities asks.
Each function gives what is wrong as a fault that names the field, or None.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from protocols.errors import DecodeError, Fault
from protocols.runtime import message as messages
from protocols.runtime.envelope import HELLO, STAGE_END, Envelope, signed_payload
from protocols.runtime.session import PUBLIC_NAME, Session
from smc_dp.core.errors import InputFault, shown
from smc_dp.run.documents import SIMULATED
from smc_dp.run.protocols import by_protocol
from smc_dp.run.release import PublishedRelease

_SLACK = Fraction(1, 10**12)  # a bound made with cosines may end in another digit on another machine
FOR_EVERYBODY = f'"to":"{PUBLIC_NAME}"'.encode()
"""What a line that holds something published has in it, as a record writes it."""


def session_fault(head: Mapping[str, Any], session: Session) -> Fault | None:
    """Whether line 0 states the id of the session that it describes."""
    if head["session"] == session.id.hex():
        return None
    return InputFault("session.other_id")


def published(envelopes: Iterable[tuple[int, Envelope]]) -> dict[str, tuple[int, Envelope]]:
    """Who published what, and on which line: whatever is for everybody and no greeting and no end of a stage."""
    return {e.sender: (n, e) for n, e in envelopes if _is_published(e)}


def published_twice(envelopes: Iterable[tuple[int, Envelope]]) -> Fault | None:
    """Whether somebody published a second message: a protocol here has one of each, and none says which would count.

    In an audit it stands out as what does not follow its sender's chain, or the protocol.
    """
    first: dict[str, int] = {}
    for n, envelope in envelopes:
        if _is_published(envelope) and first.setdefault(envelope.sender, n) != n:
            return InputFault(
                "transcript.published_twice",
                {"sender": shown(envelope.sender), "first": first[envelope.sender], "again": n},
            )
    return None


def published_message(session: Session, envelope: Envelope) -> Any:
    """What somebody published; raises `DecodeError` when it is nothing that this participant may publish."""
    kind = session.kinds.get(envelope.kind)
    if kind is None or not kind.route.allows(session.kind(envelope.sender), messages.PUBLIC):
        raise DecodeError("message.not_published", kind=shown(envelope.kind))
    return messages.decode(kind, signed_payload(envelope), session.layout, {})


def share_numbers(session: Session, envelope: Envelope) -> tuple[int, ...]:
    """The numbers in a published share; raises `DecodeError` as `published_message` does."""
    return tuple(published_message(session, envelope).y)


def weights_fault(found: PublishedRelease, session: Session, published: Mapping[str, Envelope]) -> Fault | None:
    """Whether the weights of a release are made of what was published in the session."""
    try:
        said = {name: published_message(session, envelope) for name, envelope in published.items()}
        value = by_protocol.value_of(session, said)
    except (DecodeError, ValueError) as error:
        return InputFault("transcript.no_result", {"why": str(error)})
    if found.agreement.weights(value) == found.weights:
        return None
    return InputFault("release.other_weights")


def share_fault(session: Session, name: str, stated: object, envelope: Envelope | None) -> Fault | None:
    """Whether the share that shares.json states of somebody is the one that it published."""
    if envelope is None:
        return InputFault("transcript.share_missing", {"name": name})
    try:
        signed = [str(y) for y in share_numbers(session, envelope)]
    except DecodeError as error:
        fields = {"name": name, "why": str(error)}
        return InputFault("transcript.no_share", fields)
    if stated == signed:
        return None
    return InputFault("release.other_shares", {"name": name})


def agreement_fault(found: PublishedRelease, head: Mapping[str, Any], session: Session) -> Fault | None:
    """Whether the session is bound to all that the release states, and line 0 states the same."""
    stated = session.parameters.as_dict()
    agreement, agreed = found.agreement, found.parameters.get("agreed")
    follows = agreement.program_parameters(agreed if isinstance(agreed, str) else "").as_dict()
    follows |= {"topology": found.parameters.get("topology"), "protocol": agreement.protocol}
    said = stated | {"topology": head["topology"], "protocol": head["protocol"]}
    for name, value in said.items():
        got = follows.get(name)
        if type(got) is not type(value) or got != value:
            fields = {"name": name, "line_0": shown(value), "release": shown(got)}
            return InputFault("release.other_parameter", fields)
    if head["insecure"] != list(agreement.marks):
        return InputFault("release.other_marks")
    if agreement.bound({name: found.parameters[name] for name in SIMULATED}) != stated["agreed"]:
        names = ", ".join(sorted(set(found.parameters) - set(said)))
        return InputFault("session.bound_to_another", {"names": names})
    return None


def statement_fault(stated: Mapping[str, Any], follows: Mapping[str, Any]) -> Fault | None:
    """Whether a claimed statement is the one that follows: every figure the same, but the last digits of a pure one."""
    claimed = {"mu": None, **stated}  # releases of before it was stated have none
    slack = _SLACK if follows["kind"] == "pure" else 0
    for field in (*follows, *claimed):
        if field not in claimed or field not in follows:
            what = "missing" if field in follows else "unknown"
            return InputFault("privacy.other_fields", {"field": shown(field), "what": what})
        got, wanted = claimed[field], follows[field]
        if field == "epsilon" and type(got) in (int, float) and wanted is not None:
            if not abs(Fraction(got) - Fraction(wanted)) <= Fraction(wanted) * slack:
                word = "below" if got < wanted else "not"
                return InputFault("privacy.other_epsilon", {"got": shown(got), "word": word, "wanted": wanted})
        elif type(got) is not type(wanted) or got != wanted:
            return InputFault("privacy.other_value", {"field": field, "got": shown(got), "wanted": shown(wanted)})
    return None


def _is_published(envelope: Envelope) -> bool:
    return envelope.is_public and envelope.kind not in (HELLO, STAGE_END)
