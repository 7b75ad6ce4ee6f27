"""Errors of protocols, and the participant that caused them.

Everything that is refused, found or warned of is a `Fault`: a stable code, typed fields, and one sentence.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Self, TypeAlias

from typing_extensions import override

_SHOWN = 80
FieldValue: TypeAlias = str | int | float | bool | Sequence[str] | Sequence[int] | None


@cache
def load_sentences(package: Path) -> Mapping[str, str]:
    """Return all sentences in the files `faults.toml` of a package, by their codes."""
    found: dict[str, str] = {}
    for path in sorted(package.rglob("faults.toml")):
        for subject, named in tomllib.loads(path.read_text(encoding="utf-8")).items():
            found |= {f"{subject}.{name}": sentence for name, sentence in named.items()}
    return found


@dataclass(frozen=True)
class Fault:
    """Fault or warning: a stable code, typed fields, and the sentence made of them.

    `code` is `subject.what_is_wrong`; programs and tests compare it. Its sentence stands in `faults.toml`, in the
    folder of `PACKAGE` that makes the fault, with the names of fields in braces as in `str.format`; a list is written
    with commas. `place` is the place of the fault, outermost first, such as a file or a line, and `behind` follows the
    sentence. A code without a fitting sentence is printed itself: an error about an error would hide the fault.
    """

    PACKAGE: ClassVar[Path] = Path(__file__).parent
    code: str
    fields: Mapping[str, FieldValue] = field(default_factory=dict)
    place: str = ""
    behind: str = ""

    @override
    def __str__(self) -> str:
        written = {name: _written(value) for name, value in self.fields.items()}
        try:
            said = load_sentences(self.PACKAGE)[self.code].format(**written)
        except (LookupError, TypeError, ValueError):
            said = f"{self.code} {written}" if written else self.code
        return self.place + said + self.behind

    def within(self, place: str) -> Self:
        """Return the fault with `place`, a file or a section, in front of its own place."""
        return replace(self, place=f"{place.removesuffix(': ')}: {self.place}" if place else self.place)

    def followed_by(self, text: str) -> Self:
        """Return the fault with `text` behind its sentence."""
        return replace(self, behind=self.behind + text)

    def as_dict(self) -> dict[str, Any]:
        """Return the fault as plain values for JSON."""
        fields = {name: list(value) if isinstance(value, tuple) else value for name, value in self.fields.items()}
        return {"code": self.code, "place": self.place.removesuffix(": "), "message": str(self), "fields": fields}


def _written(value: FieldValue) -> object:
    """Return a field as a sentence writes it."""
    return value if value is None or isinstance(value, str | int | float) else ", ".join(map(str, value))


class FaultError(Exception):
    """Base of all errors and warnings that carry a `Fault`; never raised itself.

    It is made of a code and its fields, or of the fault of another error.
    """

    KIND: ClassVar[type[Fault]] = Fault
    """Class of the fault, which decides where its sentence stands."""

    def __init__(self, code: str | Fault, /, **fields: FieldValue) -> None:
        self.fault = code if isinstance(code, Fault) else self.KIND(code, fields)
        super().__init__(self.fault)

    @override
    def __str__(self) -> str:
        return str(self.fault)

    @property
    def code(self) -> str:
        """Stable code of the fault."""
        return self.fault.code

    @property
    def faults(self) -> tuple[Fault, ...]:
        """Faults that the error carries, one for most."""
        return (self.fault,)

    def within(self, place: str) -> Self:
        """Return the same error with `place`, a file or a section, in front of its sentence."""
        return type(self)(self.fault.within(place))


class ProtocolError(FaultError):
    """Base of all protocol errors; never raised itself."""


class LocalError(ProtocolError):
    """Violation by this participant itself: a bug, a bad parameter, a stale ciphertext, an undeclared route."""


class UnansweredError(LocalError):
    """Query of a role without a local program, where the answer is not among its inputs: the role ends here."""


class PeerError(ProtocolError):
    """Violation by a peer, or by somebody on the way from it.

    `culprit` is the peer's name only for what that peer sealed or signed; else it is "somebody on the way from" the
    peer, and there is no evidence, for any carrier can spoil an envelope. `broken` is the violated rule, `rule` its
    sentence, `evidence` the numbers, on their link, of the messages that show it; empty when the rule names no single
    message.

    It is the reason why a participant aborts, and convinces nobody else: a seal is made with a key that both ends have,
    and a peer may send in good faith what a third participant told it. An auditor decides who was wrong, from
    signatures.
    """

    def __init__(self, culprit: str, code: str | Fault, /, evidence: Sequence[int] = (), **fields: FieldValue) -> None:
        broken = code if isinstance(code, Fault) else Fault(code, fields)
        self.culprit = culprit
        self.broken = broken
        self.rule = str(broken)
        self.evidence = tuple(evidence)
        if evidence:
            broken = broken.followed_by(f" (its message {', '.join(map(str, evidence))})")
        super().__init__(broken.within(culprit))


class StoppedError(ProtocolError):
    """Abort of a role although nobody broke a rule: a participant is absent, or too few are left."""


class DecodeError(ProtocolError):
    """Bytes that are not the canonical encoding of their type; the channel turns it into a `PeerError`."""


class StallError(ProtocolError):
    """Deadlock. `waiting` maps each role to what it waits for, from whom, and where in the code."""

    def __init__(self, waiting: dict[str, str]) -> None:
        all_waits = "; ".join(f"{who} waits for {what}" for who, what in waiting.items())
        super().__init__("session.nobody_can_move", waits=all_waits)
        self.waiting = waiting


class ReplayError(ProtocolError):
    """Contradiction between state, code or messages and the past of this role."""


def somebody_between(sender: str) -> str:
    """Return the description of an unknown author of an envelope with this sender's name."""
    return f"somebody on the way from {sender}"


def shown(text: str) -> str:
    """Return text from another participant's header in printable form: a peer can write anything there."""
    return text if len(text) <= _SHOWN and text.isprintable() else repr(text[:_SHOWN])
