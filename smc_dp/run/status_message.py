"""Status message of a site to all others: one of a few fixed codes, signed, and never a text of its own.

A text could hold a cell of somebody's rows, as messages of errors do; a code cannot.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, astuple, dataclass, fields, replace
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, get_args

import cbor2

from protocols.crypto.identity import Signer, verify
from protocols.runtime.inbox import Absent
from smc_dp.core import reading
from smc_dp.core.documents import canonical_text
from smc_dp.core.errors import InputError, shown

Code: TypeAlias = Literal["refused", "aborted", "deadline", "done"]
_CODES = get_args(Code)
_LABEL = b"smc-dp notice"
MOST_BYTES, _MOST_COUNT = 1 << 18, 1 << 32
NOTHING_SENT: Mapping[str, int] = MappingProxyType({})


@dataclass(frozen=True)
class Notice:
    """Status message with one of four codes.

    `refused`: the site does not take part. `aborted`: a rule was broken, or the site left. `deadline`: a timeout.
    `done`: its role has ended, and its share is out. `session`: id in hexadecimal, empty before there is one. `head`:
    digest of the last envelope that the site sent; `sent`: number of envelopes by receiver. `marks`: absences, the
    messages without which its role went on or stopped; they hold nothing but public parameters.
    """

    study: str
    session: str
    sender: str
    code: Code
    head: str
    signature: str
    marks: tuple[Absent, ...] = ()
    sent: tuple[tuple[str, int], ...] = ()

    @classmethod
    def made(
        cls,
        study: str,
        session: bytes,
        sender: str,
        code: Code,
        head: bytes,
        signer: Signer,
        marks: Iterable[Absent] = (),
        sent: Mapping[str, int] = NOTHING_SENT,
    ) -> Notice:
        """Return a signed status message."""
        sorted_marks, counts = tuple(sorted(marks, key=astuple)), tuple(sorted(sent.items()))
        unsigned = cls(study, session.hex(), sender, code, head.hex(), "", sorted_marks, counts)
        return replace(unsigned, signature=signer.sign(unsigned._to_sign()).hex())

    @classmethod
    def read(cls, content: bytes, study: str, sender: str, identity: bytes) -> Notice:
        """Return the status message; InputError unless it is this sender's, of this study, signed by this identity."""
        if len(content) > MOST_BYTES:
            raise InputError("notice.too_long", most=MOST_BYTES, got=len(content))
        return cls.of(reading.parse_object(content, "notice"), study, sender, identity)

    @classmethod
    def of(cls, stated: Mapping[str, Any], study: str, sender: str, identity: bytes) -> Notice:
        """Return the status message in a JSON object; InputError as `read` raises it."""
        document = dict(stated)
        reading.require_keys("notice", document, {field.name for field in fields(cls)})
        marks = tuple(_mark(mark) for mark in reading.require_list("notice marks", document.pop("marks")))
        sent = tuple(_count(pair) for pair in reading.require_list("notice sent", document.pop("sent")))
        texts: dict[str, Any] = {
            name: reading.require_text(f"notice {name}", value) for name, value in document.items()
        }
        found = cls(**texts, marks=marks, sent=sent)
        if (found.study, found.sender) != (study, sender) or found.code not in _CODES:
            raise InputError("notice.of_another")
        try:
            signature, _, signed = bytes.fromhex(found.signature), bytes.fromhex(found.head), found._to_sign()
        except ValueError:  # a text of Python can hold what is no text of characters
            raise InputError("notice.malformed") from None
        if not verify(identity, signed, signature):
            raise InputError("notice.not_signed")
        return found

    def encode(self) -> bytes:
        """Return the message as canonical JSON."""
        return canonical_text(self.as_dict())

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, as a transcript has them."""
        found: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return found

    def _to_sign(self) -> bytes:
        # An array of seven, where an envelope's header is one of eight and a statement one of five.
        counts = [[list(astuple(mark)) for mark in self.marks], [list(pair) for pair in self.sent]]
        said = [_LABEL, self.study, self.session, self.sender, self.code, self.head, counts]
        return cbor2.dumps(said, canonical=True)


def _mark(value: object) -> Absent:
    found = reading.require_object("notice marks", value)
    reading.require_keys("notice marks", found, {field.name for field in fields(Absent)})
    sender, kind, stage = (reading.require_text("notice marks", found[name]) for name in ("sender", "kind", "stage"))
    return Absent(sender, kind, stage, _number(found["read"]))


def _count(value: object) -> tuple[str, int]:
    pair = reading.require_list("notice sent", value)
    if len(pair) != 2:
        raise InputError("notice.malformed")
    return reading.require_text("notice sent", pair[0]), _number(pair[1])


def _number(value: object) -> int:
    if type(value) is not int or not 0 <= value < _MOST_COUNT:
        raise InputError("notice.no_count", got=shown(value))
    return value
