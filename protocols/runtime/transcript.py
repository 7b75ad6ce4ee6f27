"""The wire record: every envelope in the order it was posted, as hash-chained JSON lines; safe to hand to an auditor.

It is a file to which lines are appended while the run goes on, so that a long run does not fill the memory.

A line holds `n`, `from`, `to`, `kind`, `stage`, `number` (on that link), `round`, `size` in bytes, the sealed or signed
`body` (base64), `chain` (digest of the sender's previous envelope), `digest` = SHA-256(prev || envelope digest) and
`prev`, the digest of the line before. A line of kind `Absent` is no envelope: the reader `to` went on without the
letter `missing` of `from`, having `read` so many of that kind in the stage; with `to` "public", what `from` owed
everybody never came, its last signature among it. Line 0, of kind `Session` and size 0, holds
the version of the format, the protocol, its version and parameters, the identities and the nonce; and, where those who
took part agreed on a document before, how each of them approved of it, and what each signed at its end of whom it went
on without.
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
Line = dict[str, Any]


class Transcript:
    """The wire record of one session, made by a driver's one `post` function.

    `file` takes the lines, and is read again from where it stands now; without one they stay in memory. `approvals` and
    `notices` go into line 0 as they are; without them nothing of the kind stands there.
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
        self._append(head, hashlib.sha256(canonical_line({**head, "n": 0, "prev": self._prev.hex()})).digest())

    def post(self, envelope: Envelope) -> int:
        """Record an envelope; its number in the record."""
        via = {"via": self._session.curator} if is_relayed(self._topology, self._session, envelope) else {}
        return self._append({**via, **_fields(envelope)}, link(self._prev, envelope.digest))

    def miss(self, reader: str, absent: Absent) -> int:
        """Record that a participant went on without a letter; the number of the line."""
        return self._append(_absence(reader, absent), link(self._prev, digest_of_absence(reader, absent)))

    def lines(self) -> Iterator[Line]:
        """The record, line by line."""
        return map(json.loads, self._pieces(self._file.readline))

    def read(self) -> Iterator[Envelope]:
        """All envelopes, in the order in which they were posted, one after the other."""
        for line in self.lines():
            if line["kind"] not in ("Session", ABSENT):
                yield read_envelope(self._session.id, line)

    @property
    def envelopes(self) -> list[Envelope]:
        """All of them at once, which may be large."""
        return list(self.read())

    def dumps(self) -> str:
        """The record as text, one JSON object a line."""
        return b"".join(self.chunks()).decode("ascii")

    def chunks(self) -> Iterator[bytes]:
        """The same bytes in pieces, so that a long record can be copied."""
        return self._pieces(lambda: self._file.read(min(_CHUNK, self._end - self._file.tell())))

    def _pieces(self, read: Callable[[], bytes]) -> Iterator[bytes]:
        """What `read` takes from the file, piece by piece; between two of them more can be appended."""
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
        self._end += self._file.write(canonical_line(line) + b"\n")
        self._prev, self._lines = digest, n + 1
        return n


def link(prev: bytes, digest: bytes) -> bytes:
    """The digest of a line, from the digest of the line before and that of what it holds."""
    return hashlib.sha256(prev + digest).digest()


def digest_of_absence(reader: str, absent: Absent) -> bytes:
    """What a line of kind `Absent` holds, as a digest; no envelope has it, for it begins with a text."""
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
    """The envelope on a line; raises ValueError when the line has not the shape of one."""
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
    """Who went on without what, as a line of kind `Absent` has it; raises ValueError for any other line."""
    texts = [line.get(key) for key in ("to", "from", "missing", "stage")]
    if (
        line.get("kind") != ABSENT
        or not all(isinstance(text, str) for text in texts)
        or type(line.get("read")) is not int
    ):
        raise ValueError("not a line of a transcript about somebody absent")
    reader, sender, kind, stage = (str(text) for text in texts)
    return reader, Absent(sender, kind, stage, line["read"])


def canonical_line(line: Mapping[str, Any]) -> bytes:
    """The one text of a line, over which digests are taken, without its end."""
    return json.dumps(line, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()
