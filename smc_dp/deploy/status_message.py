"""What a site tells all others of how it stands: one of a few fixed codes, signed, and never a text of its own.

A text could hold a cell of somebody's rows, as messages of errors do; a code cannot.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, astuple, dataclass, fields, replace
from typing import Any, Literal, TypeAlias, get_args

import cbor2

from protocols.crypto.identity import Signer, verify
from protocols.runtime.mailbox import Absent
from smc_dp.core import reading
from smc_dp.core.documents import canonical_text
from smc_dp.core.errors import InputError, shown

Code: TypeAlias = Literal["refused", "aborted", "deadline", "done"]
_CODES = get_args(Code)
_LABEL = b"smc-dp notice"
_MOST_BYTES, _MOST_READ = 1 << 18, 1 << 32


@dataclass(frozen=True)
class Notice:
    """`refused`: this site does not take part as things stand. `aborted`: something broke a rule, or it left.
    `deadline`: somebody was not heard of for too long. `done`: its role is at its end, and its share is out.

    `session` is the id in hexadecimals, empty before there is one; `head` is the digest of the last envelope that the
    site has sent, so that others know what there is of it. `marks`: what its role went on or stopped without, which
    whoever keeps the record cannot know otherwise; kinds, stages and numbers, which follow from public parameters.
    """

    study: str
    session: str
    sender: str
    code: Code
    head: str
    signature: str
    marks: tuple[Absent, ...] = ()

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
    ) -> Notice:
        """A notice, signed."""
        unsigned = cls(study, session.hex(), sender, code, head.hex(), "", tuple(sorted(marks, key=astuple)))
        return replace(unsigned, signature=signer.sign(unsigned._to_sign()).hex())

    @classmethod
    def read(cls, content: bytes, study: str, sender: str, identity: bytes) -> Notice:
        """The notice; InputError unless it is this sender's, of this study, and signed by this identity."""
        if len(content) > _MOST_BYTES:
            raise InputError("notice.too_long", most=_MOST_BYTES, got=len(content))
        document = reading.parse_object(content, "notice")
        reading.keys("notice", document, {field.name for field in fields(cls)})
        marks = tuple(_mark(mark) for mark in reading.items("notice marks", document.pop("marks")))
        texts: dict[str, Any] = {name: reading.text(f"notice {name}", value) for name, value in document.items()}
        found = cls(**texts, marks=marks)
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
        """Canonical JSON."""
        return canonical_text(asdict(self))

    def _to_sign(self) -> bytes:
        """An array of seven, where an envelope's header is one of eight and a statement one of five."""
        marks = [list(astuple(mark)) for mark in self.marks]
        return cbor2.dumps([_LABEL, self.study, self.session, self.sender, self.code, self.head, marks], canonical=True)


def _mark(value: object) -> Absent:
    found = reading.mapping("notice marks", value)
    reading.keys("notice marks", found, {field.name for field in fields(Absent)})
    sender, kind, stage = (reading.text("notice marks", found[name]) for name in ("sender", "kind", "stage"))
    if type(found["read"]) is not int or not 0 <= found["read"] < _MOST_READ:
        raise InputError("notice.no_count", got=shown(found["read"]))
    return Absent(sender, kind, stage, found["read"])
