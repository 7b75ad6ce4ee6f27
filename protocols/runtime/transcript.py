"""Transcript: every envelope in the order of posting, as hash-chained JSON lines; safe to hand to an auditor.

Lines are appended to a file during the run, so that a long run does not fill the memory.

A line holds `n`, `from`, `to`, `kind`, `stage`, `number` (on that link), `round`, `size` in bytes, the sealed or signed
`body` (base64), `chain` (digest of the sender's previous envelope), `digest` = SHA-256(prev || envelope digest) and
`prev`, the digest of the line before. A line of kind `Absent` is no envelope: the reader `to` went on without the
message `missing` of `from`, having `read` so many of that kind in the stage; with `to` "public", a signed message of
`from` never came. Line 0, of kind `Session` and size 0, holds the version of the format, the protocol, its version and
parameters, the identities and the nonce; and, where the participants agreed on a document before, their approvals of
it, and the absences that each signed at its end.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from io import BytesIO
from typing import IO, Any

import cbor2

from protocols.runtime.envelope import Envelope
from protocols.runtime.inbox import Absent
from protocols.runtime.network import is_relayed
from protocols.runtime.session import FORMAT, Session

ABSENT = "Absent"
_CHUNK = 1 << 20
_LINES = json.JSONEncoder(sort_keys=True, separators=(",", ":"))
Line = dict[str, Any]


class Transcript:
    """Transcript of one session, written by a driver's one `post` function.

    `file` takes the lines, and is read again from its present position; without one they stay in memory. `approvals`
    and `notices` go into line 0 as they are, if there are any.
    """

    def __init__(
        self,
        session: Session,
        marks: tuple[str, ...] = (),
        topology: str = "mesh",
        file: IO[bytes] | None = None,
        approvals: Sequence[Mapping[str, str]] | None = None,
        notices: Sequence[Mapping[str, Any]] | None = None,
    ) -> None:
        self._session, self._topology = session, topology
        self._file = BytesIO() if file is None else file
        self._start = self._end = self._file.tell()
        self._lines = 0
        self._prev = bytes(32)
        head = {
            **{"from": "", "to": "", "kind": "Session", "size": 0},
            "format": FORMAT,
            "protocol": session.program.name,
            "version": session.program.version,
            "session": session.id.hex(),
            "parameters": session.parameters.as_dict(),
            "identities": {name: session.identities[name].hex() for name in session.names},
            "nonce": session.nonce.hex(),
            "topology": topology,
            "insecure": list(marks),
            **({} if approvals is None else {"approvals": [dict(approval) for approval in approvals]}),
            **({} if notices is None else {"notices": [dict(notice) for notice in notices]}),
        }
        self._append(head, hashlib.sha256(encode_line({**head, "n": 0, "prev": self._prev.hex()})).digest())

    def post(self, envelope: Envelope) -> int:
        """Record an envelope; return its line number."""
        via = {"via": self._session.curator} if is_relayed(self._topology, self._session, envelope) else {}
        return self._append({**via, **_fields(envelope)}, link(self._prev, envelope.digest))

    def miss(self, reader: str, absent: Absent) -> int:
        """Record that a participant went on without a message; return the line number."""
        return self._append(_absence(reader, absent), link(self._prev, digest_of_absence(reader, absent)))

    def lines(self) -> Iterator[Line]:
        """Return the lines, one by one."""
        return map(json.loads, self._pieces(self._file.readline))

    def read(self) -> Iterator[Envelope]:
        """Return all envelopes in the order of posting, one by one."""
        for line in self.lines():
            if line["kind"] not in ("Session", ABSENT):
                yield read_envelope(self._session.id, line)

    @property
    def envelopes(self) -> list[Envelope]:
        """List of all envelopes, which may be large."""
        return list(self.read())

    def dumps(self) -> str:
        """Return the transcript as text, one JSON object a line."""
        return b"".join(self.chunks()).decode("ascii")

    def chunks(self) -> Iterator[bytes]:
        """Return the same bytes in pieces, so that a long transcript can be copied."""
        return self._pieces(lambda: self._file.read(min(_CHUNK, self._end - self._file.tell())))

    def _pieces(self, read: Callable[[], bytes]) -> Iterator[bytes]:
        """Yield the pieces that `read` takes from the file; between two of them more can be appended."""
        at = self._start
        while at < self._end:
            self._file.seek(at)
            piece = read()
            at = self._file.tell()
            self._file.seek(self._end)
            yield piece

    def _append(self, fields: Line, digest: bytes) -> int:
        n = self._lines
        line = {**fields, "n": n, "prev": self._prev.hex(), "digest": digest.hex()}
        self._end += self._file.write(encode_line(line) + b"\n")
        self._prev, self._lines = digest, n + 1
        return n


def link(prev: bytes, digest: bytes) -> bytes:
    """Return the digest of a line, from the digest of the line before and that of its content."""
    return hashlib.sha256(prev + digest).digest()


def digest_of_absence(reader: str, absent: Absent) -> bytes:
    """Return the digest of a line of kind `Absent`; no envelope has it, for its content begins with a text."""
    said = [ABSENT, reader, absent.sender, absent.kind, absent.stage, absent.read]
    return hashlib.sha256(cbor2.dumps(said, canonical=True)).digest()


def _fields(envelope: Envelope) -> Line:
    return {
        "from": envelope.sender,
        "to": envelope.to,
        "kind": envelope.kind,
        "stage": envelope.stage,
        "number": envelope.number,
        "round": envelope.round,
        "size": envelope.size,
        "chain": envelope.prev.hex(),
        "body": base64.b64encode(envelope.body).decode(),
    }


def _absence(reader: str, absent: Absent) -> Line:
    return {
        "from": absent.sender,
        "to": reader,
        "kind": ABSENT,
        "stage": absent.stage,
        "missing": absent.kind,
        "read": absent.read,
        "size": 0,
    }


def read_envelope(session_id: bytes, line: Line) -> Envelope:
    """Return the envelope of a line; raise ValueError for a line of another shape."""
    try:
        sender, to, kind, stage = (line[key] for key in ("from", "to", "kind", "stage"))
        number, depth = line["number"], line["round"]
        if not all(isinstance(text, str) for text in (sender, to, kind, stage)):
            raise ValueError("names are strings")
        if type(number) is not int or type(depth) is not int:
            raise ValueError("number and round are integers")
        chain, body = bytes.fromhex(line["chain"]), base64.b64decode(line["body"], validate=True)
        return Envelope(session_id, sender, to, kind, stage, number, depth, chain, body)
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"not a line of a transcript: {error}") from None


def read_absence(line: Line) -> tuple[str, Absent]:
    """Return the reader and the mark of a line of kind `Absent`; raise ValueError for any other line."""
    texts = [line.get(key) for key in ("to", "from", "missing", "stage")]
    if (
        line.get("kind") != ABSENT
        or not all(isinstance(text, str) for text in texts)
        or type(line.get("read")) is not int
    ):
        raise ValueError("not a line of a transcript about somebody absent")
    reader, sender, kind, stage = (str(text) for text in texts)
    return reader, Absent(sender, kind, stage, line["read"])


def encode_line(line: Mapping[str, Any]) -> bytes:
    """Return the one text of a line, over which digests are taken, without its end."""
    return _LINES.encode(line).encode()
