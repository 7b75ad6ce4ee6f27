"""Session that a walkthrough shows: its messages in the order of the transcript, opened by the views of all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from protocols.crypto.dgk import DgkPrivateKey
from protocols.crypto.identity import SIGNATURE_BYTES
from protocols.crypto.paillier import PrivateKey
from protocols.crypto.sealing import KEY_BYTES
from protocols.runtime import message as messages
from protocols.runtime.claims import secret_keys_of
from protocols.runtime.envelope import HELLO, STAGE_END, Envelope
from protocols.runtime.message import Keys, Message
from protocols.runtime.session import Session
from protocols.runtime.view import Recomputed
from smc_dp.audit.run.view_messages import most_legible_messages


@dataclass(frozen=True)
class ObservedMessage:
    """Message of a transcript; its `place` counts from 1 among those of its kind between the two."""

    sender: str
    to: str
    kind: type[Message]
    stage: str
    place: int
    content: Message = field(repr=False)


@dataclass(frozen=True)
class ObservedSession:
    """Messages of a session in their order, and the inputs and keys of participants.

    `inputs`: by name what a role was given beside the parameters. `keys`: of each modulus the secret key, and who has
    it. `dropped_out`: participants that dropped out.
    """

    session: Session
    messages: tuple[ObservedMessage, ...]
    inputs: Mapping[str, tuple[Any, ...]] = field(repr=False)
    keys: Mapping[int, tuple[PrivateKey | DgkPrivateKey, tuple[str, ...]]] = field(repr=False)
    dropped_out: tuple[str, ...] = ()


def observe_session(
    session: Session, transcript: Mapping[int, Envelope], views: Mapping[str, Recomputed], absent: Iterable[str] = ()
) -> ObservedSession:
    """Return the session with this transcript, lines to envelopes, as the views of all participants open it."""
    by_line = {opened.line: opened.message for opened in most_legible_messages(views.values()) if opened.message}
    keys = {name: key for again in views.values() for name, key in again.keys.items()}
    counted: Counter[tuple[str, str, str]] = Counter()
    observed = []
    for line, e in transcript.items():
        kind = _kind(session, e)
        if kind is None:
            continue
        edge = (e.sender, e.to, kind.__name__)
        counted[edge] += 1
        content = _published(session, e, kind, keys) if e.is_public else by_line[line]
        observed.append(ObservedMessage(e.sender, e.to, kind, e.stage, counted[edge], content))
    p = session.parameters
    inputs = {name: tuple(x for x in again.view.inputs if x != p) for name, again in views.items()}
    dropped_out = frozenset(absent)
    return ObservedSession(
        session,
        tuple(observed),
        inputs,
        _secret_keys(views),
        tuple(name for name in session.names if name in dropped_out),
    )


def _kind(session: Session, e: Envelope) -> type[Message] | None:
    """Return the kind of a message or of what a greeting says; None for what only the runtime reads."""
    if e.kind == HELLO and e.is_public:
        greeting = session.says(e.sender)
        return greeting.kind if greeting else None
    return None if e.kind == STAGE_END else session.kinds.get(e.kind)


def _published(session: Session, e: Envelope, kind: type[Message], keys: Keys) -> Message:
    body = e.body[KEY_BYTES if e.kind == HELLO else 0 : -SIGNATURE_BYTES]
    return messages.decode(kind, body, session.layout_in(e.stage), keys)


def _secret_keys(views: Mapping[str, Recomputed]) -> dict[int, tuple[PrivateKey | DgkPrivateKey, tuple[str, ...]]]:
    found: dict[int, tuple[PrivateKey | DgkPrivateKey, tuple[str, ...]]] = {}
    for name, again in views.items():
        for modulus, key in secret_keys_of(again.view).items():
            _, holders = found.get(modulus, (key, ()))
            found[modulus] = key, (*holders, name)
    return found
