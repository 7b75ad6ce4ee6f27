"""The wire record: every envelope in the order it was posted, as hash-chained JSON lines; safe to hand to an auditor.

Each line holds `n`, `from`, `to`, `kind`, `stage`, `number` (on that link), `size` in bytes, the sealed or signed
`body` (base64), `chain` (digest of the sender's previous envelope), `digest` = SHA-256(prev || envelope digest) and
`prev`, the digest of the line before. Line 0, of kind `Session` and size 0, holds the protocol, its version and
parameters, the identities and the nonce.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from protocols.runtime.channel import Envelope
from protocols.runtime.network import is_relayed
from protocols.runtime.session import CURATOR_NAME, Session

Line = dict[str, Any]


class Transcript:
    """The wire record of one session, made by a driver's one `post` function."""

    def __init__(self, session: Session, marks: tuple[str, ...] = (), topology: str = "mesh") -> None:
        self._session = session
        self.head: Line = {
            **{"n": 0, "from": "", "to": "", "kind": "Session", "size": 0, "prev": bytes(32).hex()},
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
        self._digests = [hashlib.sha256(canonical(self.head)).digest()]

    def post(self, envelope: Envelope) -> int:
        """Record an envelope; its number in the record."""
        self.envelopes.append(envelope)
        self._digests.append(link(self._digests[-1], envelope))
        return len(self.envelopes)

    def lines(self) -> Iterator[Line]:
        """The record, line by line."""
        yield {**self.head, "digest": self._digests[0].hex()}
        for n, envelope in enumerate(self.envelopes, start=1):
            yield line_of(n, envelope, self._digests[n - 1], self.head["topology"])

    def dumps(self) -> str:
        """The record as text, one JSON object a line."""
        return "".join(canonical(line).decode() + "\n" for line in self.lines())


def link(prev: bytes, envelope: Envelope) -> bytes:
    """The digest of a line, from the digest of the line before."""
    return hashlib.sha256(prev + envelope.digest).digest()


def line_of(n: int, envelope: Envelope, prev: bytes, topology: str) -> Line:
    """Line n of the record; `prev` is the digest of the line before. Relayed mail also says `via` whom."""
    via = {"via": CURATOR_NAME} if is_relayed(topology, envelope.sender, envelope.to) else {}
    return {
        **via,
        "n": n,
        "from": envelope.sender,
        "to": envelope.to,
        "kind": envelope.kind,
        "stage": envelope.stage,
        "number": envelope.number,
        "size": envelope.size,
        "digest": link(prev, envelope).hex(),
        "prev": prev.hex(),
        "chain": envelope.prev.hex(),
        "body": base64.b64encode(envelope.body).decode(),
    }


def read_envelope(session_id: bytes, line: Line) -> Envelope:
    """The envelope on a line; raises ValueError when the line has not the shape of one."""
    try:
        sender, to, kind, stage, number = (line[key] for key in ("from", "to", "kind", "stage", "number"))
        if not all(isinstance(name, str) for name in (sender, to, kind, stage)) or type(number) is not int:
            raise ValueError("names are strings, and number is an integer")
        chain, body = bytes.fromhex(line["chain"]), base64.b64decode(line["body"], validate=True)
        return Envelope(session_id, sender, to, kind, stage, number, chain, body)
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"not a line of a transcript: {error}") from None


def canonical(line: Mapping[str, Any]) -> bytes:
    """The one text of a line, over which digests are taken, without its end."""
    return json.dumps(line, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()
