"""The wire record: every envelope in the order it was posted, as hash-chained JSON lines; safe to hand to an auditor.

Each line holds `n`, `from`, `to`, `kind`, `stage`, `number` (on that link), `size` in bytes, the sealed or signed
`body` (base64), `chain` (digest of the sender's previous envelope), `digest` = SHA-256(prev || envelope digest) and
`prev`, the digest of the line before. Line 0 holds the session: protocol, version, parameters, identities and nonce.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator
from typing import Any

from protocols.runtime.channel import Envelope
from protocols.runtime.session import Session

Line = dict[str, Any]


class Transcript:
    """The wire record of one session, made by a driver's one `post` function."""

    def __init__(self, session: Session, marks: tuple[str, ...] = (), topology: str = "mesh") -> None:
        self._session = session
        self.head: Line = {
            "n": 0,
            "protocol": session.program.name,
            "version": session.program.version,
            "session": session.id.hex(),
            "parameters": session.parameters.as_dict(),
            "identities": {name: session.identities[name].hex() for name in session.names},
            "nonce": session.nonce.hex(),
            "topology": topology,
            "insecure": list(marks),
        }
        self.envelopes: list[Envelope] = []
        self._digests = [hashlib.sha256(_canonical(self.head)).digest()]

    def post(self, envelope: Envelope) -> int:
        """Record an envelope; its number in the record."""
        self.envelopes.append(envelope)
        self._digests.append(link(self._digests[-1], envelope))
        return len(self.envelopes)

    def lines(self) -> Iterator[Line]:
        """The record, line by line."""
        yield {**self.head, "digest": self._digests[0].hex()}
        for n, envelope in enumerate(self.envelopes, start=1):
            yield {
                "n": n,
                "from": envelope.sender,
                "to": envelope.to,
                "kind": envelope.kind,
                "stage": envelope.stage,
                "number": envelope.number,
                "size": envelope.size,
                "digest": self._digests[n].hex(),
                "prev": self._digests[n - 1].hex(),
                "chain": envelope.prev.hex(),
                "body": base64.b64encode(envelope.body).decode(),
            }

    def dumps(self) -> str:
        """The record as text, one JSON object a line."""
        return "".join(_canonical(line).decode() + "\n" for line in self.lines())


def link(prev: bytes, envelope: Envelope) -> bytes:
    """The digest of a line, from the digest of the line before."""
    return hashlib.sha256(prev + envelope.digest).digest()


def read_envelope(session_id: bytes, line: Line) -> Envelope:
    """The envelope on a line; raises ValueError when the line has not the shape of one."""
    try:
        return Envelope(
            session_id,
            str(line["from"]),
            str(line["to"]),
            str(line["kind"]),
            str(line["stage"]),
            int(line["number"]),
            bytes.fromhex(line["chain"]),
            base64.b64decode(line["body"], validate=True),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"not a line of a transcript: {error}") from None


def first_break(text: str) -> int | None:
    """The number of the first line where the hash chain breaks; None when it holds."""
    lines = [json.loads(line) for line in text.splitlines()]
    if not lines:
        return 0
    head = {k: v for k, v in lines[0].items() if k != "digest"}
    before = hashlib.sha256(_canonical(head)).digest()
    if lines[0].get("digest") != before.hex():
        return 0
    for n, line in enumerate(lines[1:], start=1):
        try:
            envelope = read_envelope(bytes.fromhex(head["session"]), line)
        except ValueError:
            return n
        after = link(before, envelope)
        stated = (line["n"], line["size"], line["prev"], line["digest"])
        if stated != (n, envelope.size, before.hex(), after.hex()):
            return n
        before = after
    return None


def _canonical(line: Line) -> bytes:
    return json.dumps(line, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()
