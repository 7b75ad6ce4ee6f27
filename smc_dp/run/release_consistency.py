"""What ties a release to the record that its participants signed: each rule once, for `predict` and for audits.

A record ties only those identities down that its line 0 states: whose they are, an audit with pinned identities asks.
Each function gives what is wrong in a sentence that names the field, or None.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from protocols.errors import DecodeError
from protocols.runtime import message as messages
from protocols.runtime.envelope import HELLO, STAGE_END, Envelope, signed_payload
from protocols.runtime.session import PUBLIC_NAME, Session
from smc_dp.core.errors import shown
from smc_dp.run.documents import SIMULATED
from smc_dp.run.protocols import by_protocol
from smc_dp.run.release import RELEASE, SHARES, PublishedRelease

_SLACK = Fraction(1, 10**12)  # a bound made with cosines may end in another digit on another machine
FOR_EVERYBODY = f'"to":"{PUBLIC_NAME}"'.encode()
"""What a line that holds something published has in it, as a record writes it."""
_BOUNDS = "columns, categories, bounds, clip, bias, classes"


def session_fault(head: Mapping[str, Any], session: Session) -> str | None:
    """Whether line 0 states the id of the session that it describes."""
    if head["session"] == session.id.hex():
        return None
    return "the session id is not that of the stated protocol, parameters, identities and nonce"


def published(envelopes: Iterable[tuple[int, Envelope]]) -> dict[str, tuple[int, Envelope]]:
    """Who published what, and on which line: whatever is for everybody and no greeting and no end of a stage."""
    return {e.sender: (n, e) for n, e in envelopes if _is_published(e)}


def published_twice(envelopes: Iterable[tuple[int, Envelope]]) -> str | None:
    """Whether somebody published a second message: a protocol here has one of each, and none says which would count.

    In an audit it stands out as what does not follow its sender's chain, or the protocol.
    """
    first: dict[str, int] = {}
    for n, envelope in envelopes:
        if _is_published(envelope) and first.setdefault(envelope.sender, n) != n:
            return f"{shown(envelope.sender)} published on line {first[envelope.sender]}, and again on line {n}"
    return None


def published_message(session: Session, envelope: Envelope) -> Any:
    """What somebody published; raises `DecodeError` when it is nothing that this participant may publish."""
    kind = session.kinds.get(envelope.kind)
    if kind is None or not kind.route.allows(session.kind(envelope.sender), messages.PUBLIC):
        raise DecodeError(
            "transcript.not_published", "{kind} is not published in this protocol", kind=shown(envelope.kind)
        )
    return messages.decode(kind, signed_payload(envelope), session.layout, {})


def share_numbers(session: Session, envelope: Envelope) -> tuple[int, ...]:
    """The numbers in a published share; raises `DecodeError` as `published_message` does."""
    return tuple(published_message(session, envelope).y)


def weights_fault(found: PublishedRelease, session: Session, published: Mapping[str, Envelope]) -> str | None:
    """Whether the weights of a release are made of what was published in the session."""
    try:
        said = {name: published_message(session, envelope) for name, envelope in published.items()}
        value = by_protocol.value_of(session, said)
    except (DecodeError, ValueError) as error:
        return f"what the record has as the result is none: {error}"
    same = found.agreement.weights(value) == found.weights
    return None if same else f"the weights in {RELEASE} are not those of the sum that was published"


def share_fault(session: Session, name: str, stated: object, envelope: Envelope | None) -> str | None:
    """Whether the share that shares.json states of somebody is the one that it published."""
    if envelope is None:
        return f"the record holds no share of {name}"
    try:
        signed = [str(y) for y in share_numbers(session, envelope)]
    except DecodeError as error:
        return f"what the record has as the share of {name} is none: {error}"
    same = stated == signed
    return None if same else f"the shares of {name} in {SHARES} are not those that were published as its own"


def agreement_fault(found: PublishedRelease, head: Mapping[str, Any], session: Session) -> str | None:
    """Whether the session is bound to all that the release states, and line 0 states the same."""
    stated = session.parameters.as_dict()
    agreement, agreed = found.agreement, found.parameters.get("agreed")
    follows = agreement.program_parameters(agreed if isinstance(agreed, str) else "").as_dict()
    follows |= {"topology": found.parameters.get("topology"), "protocol": agreement.protocol}
    said = stated | {"topology": head["topology"], "protocol": head["protocol"]}
    for name, value in said.items():
        got = follows.get(name)
        if type(got) is not type(value) or got != value:
            return f"{name}: line 0 has {shown(value)}, the release {shown(got)}"
    if head["insecure"] != list(agreement.marks):
        return "insecure: the release gives other reasons than the marks on line 0"
    if agreement.bound({name: found.parameters[name] for name in SIMULATED}) != stated["agreed"]:
        names = ", ".join(sorted(set(found.parameters) - set(said)))
        what = f"parameters ({names}), {_BOUNDS} and marks of the release, and the grid of its shares"
        return f"the session was bound to something else than the {what}"
    return None


def statement_fault(stated: Mapping[str, Any], follows: Mapping[str, Any]) -> str | None:
    """Whether a claimed statement is the one that follows: every figure the same, but the last digits of a pure one."""
    claimed = {"mu": None, **stated}  # releases of before it was stated have none
    slack = _SLACK if follows["kind"] == "pure" else 0
    for field in (*follows, *claimed):
        if field not in claimed or field not in follows:
            return f"privacy: {shown(field)} is {'missing' if field in follows else 'unknown'}"
        got, wanted = claimed[field], follows[field]
        if field == "epsilon" and type(got) in (int, float) and wanted is not None:
            if not abs(Fraction(got) - Fraction(wanted)) <= Fraction(wanted) * slack:
                word = "below" if got < wanted else "not"
                return f"privacy: epsilon: the release claims {shown(got)}, {word} the {wanted:g} that follows"
        elif type(got) is not type(wanted) or got != wanted:
            return f"privacy: {field}: the release claims {shown(got)}, what follows is {shown(wanted)}"
    return None


def _is_published(envelope: Envelope) -> bool:
    return envelope.is_public and envelope.kind not in (HELLO, STAGE_END)
