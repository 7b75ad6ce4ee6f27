"""Links: the lines of a transcript are tied together, as text, as a chain of lines, and as each sender's own chain.

The hash chain over the lines ties them together, and the holder of the transcript could make it anew. Only signatures
tie it to the participants: each greeting, each mark at the end of a stage and each published share is signed, over a
header that holds the digest of all that this sender sent before. So a sender answers for its lines up to its last good
signature, and is named as the culprit for those alone; nobody signs the order between senders.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from typing import Any

from protocols.runtime.envelope import HELLO, START, Envelope, is_signed
from protocols.runtime.inbox import Absent
from protocols.runtime.session import PUBLIC_NAME, Session
from protocols.runtime.transcript import ABSENT, digest_of_absence, encode_line, link
from smc_dp.audit.run.blame import absent_senders, chain_signer
from smc_dp.audit.run.check import CheckOutcome, failed, make_fault, passed
from smc_dp.audit.run.evidence import Evidence
from smc_dp.core.errors import Fault, shown

_ALL = {**dict.fromkeys(("n", "size"), int), **dict.fromkeys(("from", "to", "kind", "stage", "digest", "prev"), str)}
_TYPES = {**_ALL, "number": int, "round": int, "chain": str, "body": str}
_OF_ABSENCE = {**_ALL, "missing": str, "read": int}
_HEAD = {"n": 0, "from": "", "to": "", "kind": "Session", "size": 0, "prev": bytes(32).hex()}
_TEXT_HEAD = ("session", "topology", "digest")
_HASH_BYTES = 32
_NOT_CANONICAL = make_fault("line.not_canonical")


def check_schema(evidence: Evidence) -> CheckOutcome:
    """Check that every line is the canonical text of its fields, and has these fields of these types and no others."""
    lines = evidence.lines
    if not lines.is_ended:
        return failed("transcript.unended", line=len(lines))
    if fault := _head_fault(evidence.head, lines.text(0)):
        return failed(fault, line=0)
    for n, line in lines.numbered():
        if fault := _line_fault(line, lines.text(n), evidence.envelopes.get(n), n in evidence.absences):
            return failed(fault, line=n)
    return passed("schema.holds", lines=len(lines) + 1)


def check_hash_chain(evidence: Evidence) -> CheckOutcome:
    """Check that each line has its number and the digest over itself and the line before."""
    head = {key: value for key, value in evidence.head.items() if key != "digest"}
    before = hashlib.sha256(encode_line(head)).digest()
    if evidence.head["digest"] != before.hex():
        return failed("transcript.line_0_digest", line=0)
    for n, line in enumerate(evidence.lines, start=1):
        digest = _digest(evidence, n)
        if digest is None:
            return failed("transcript.unchainable_line", line=n)
        if type(line.get("n")) is not int or line["n"] != n:
            return failed("transcript.line_number", line=n, got=shown(line.get("n")), wanted=n)
        if line.get("prev") != before.hex():
            return failed("transcript.digest_before", line=n)
        before = link(before, digest)
        if line.get("digest") != before.hex():
            return failed("transcript.line_digest", line=n)
    return passed("hash_chain.holds", lines=len(evidence.lines) + 1)


def _digest(evidence: Evidence, n: int) -> bytes | None:
    """Return what ties a line to its content: the digest of its envelope, or of its absence."""
    if n in evidence.absences:
        return digest_of_absence(*evidence.absences[n])
    return evidence.envelopes[n].digest if n in evidence.envelopes else None


def check_participants(evidence: Evidence) -> CheckOutcome:
    """Check that sender and addressee are two participants, or a participant and everybody.

    The absent share a link with their reader, or owed something to everybody.
    """
    names = set(evidence.session.names)
    addressees = names | {PUBLIC_NAME}
    for n, e in evidence.envelopes.items():
        if e.sender not in names:
            return failed("message.stranger_as_sender", line=n, sender=shown(e.sender))
        if e.to not in addressees or e.to == e.sender:
            return failed("message.other_addressee", line=n, culprit=chain_signer(evidence, n), to=shown(e.to))
    for n, (reader, absent) in evidence.absences.items():
        if not _could_wait(evidence.session, reader, absent):
            return failed("absence.without_link", line=n, reader=shown(reader), absent=shown(absent.sender))
    return passed("participants.hold", messages=len(evidence.envelopes), participants=len(names))


def _could_wait(session: Session, reader: str, absent: Absent) -> bool:
    """Return whether this reader reads anything of the absent: messages, a greeting, or what is for everybody."""
    if absent.sender not in session.names:
        return False
    if reader == PUBLIC_NAME:
        return True
    greets = absent.kind == HELLO and absent.sender in session.greeters and reader != absent.sender
    return reader in session.names and (greets or absent.sender in session.peers(reader))


def check_sender_chain(evidence: Evidence) -> CheckOutcome:
    """Check that what each sender sent follows, by digest and number, what it sent before."""
    chain: dict[str, bytes] = {}
    numbers: dict[tuple[str, str], int] = {}
    for n, e in evidence.envelopes.items():
        if fault := _break(chain, numbers, e):
            return failed(fault, line=n)
    return passed("sender_chain.holds", chains=len(chain), links=len(numbers))


def check_signatures(evidence: Evidence) -> CheckOutcome:
    """Check that greetings, ends of stages, publications and the last message of all who were not absent are signed."""
    identities = evidence.session.identities
    signed = 0
    last: dict[str, tuple[int, bool]] = {}
    for n, e in evidence.envelopes.items():
        if e.sender not in identities:
            return failed("message.unknown_identity", line=n, sender=shown(e.sender))
        last[e.sender] = n, e.is_public
        if e.is_public:
            signed += 1
            if not is_signed(identities[e.sender], e):
                return failed("signature.of_another", line=n, sender=e.sender)
    absent = absent_senders(evidence)
    for name in (name for name in identities if name not in absent):
        if name not in last or not last[name][1]:
            return failed("signature.missing_at_end", line=last.get(name, (None,))[0], name=name)
    apart = f", {len(absent)} apart, without whom others went on" if absent else ""
    return passed("signatures.hold", signed=signed, apart=apart)


def _break(chain: dict[str, bytes], numbers: dict[tuple[str, str], int], e: Envelope) -> Fault | None:
    """Return the fault of the sender's next envelope, or remember it."""
    edge, before = (e.sender, e.to), chain.get(e.sender, START)
    if e.prev != before:
        return make_fault("message.not_next", sender=shown(e.sender))
    if (wanted := numbers.get(edge, 0)) != e.number:
        return make_fault("message.number_on_link", number=e.number, wanted=wanted)
    chain[e.sender], numbers[edge] = e.digest, e.number + 1
    return None


def _head_fault(head: Mapping[str, Any], text: bytes) -> Fault | None:
    for name, wanted in _HEAD.items():
        if type(head[name]) is not type(wanted) or head[name] != wanted:
            return _other_value(name, shown(wanted), head[name])
    for name in _TEXT_HEAD:
        if not isinstance(head[name], str):
            return _other_value(name, "a text", head[name])
    return None if encode_line(head) == text else _NOT_CANONICAL


def _other_value(name: str, wanted: str, got: object) -> Fault:
    return make_fault("line.other_value", name=name, wanted=wanted, got=shown(got))


def _line_fault(line: Any, text: bytes, envelope: Envelope | None, absent: bool) -> Fault | None:
    if not isinstance(line, dict):
        return make_fault("line.no_object")
    types = _OF_ABSENCE if line.get("kind") == ABSENT else _TYPES
    if missing := sorted(types.keys() - line.keys()):
        return make_fault("line.missing_field", name=missing[0])
    if unknown := sorted(line.keys() - types.keys() - ({"via"} if types is _TYPES else set())):
        return make_fault("line.unknown_field", name=shown(unknown[0]))
    for name, value in line.items():
        if type(value) is not types.get(name, str):
            return _other_value(name, types.get(name, str).__name__, value)
    if not (_is_absence(line) if absent else envelope is not None and _is_written(line, envelope)):
        return make_fault("line.not_as_recorded")
    return None if encode_line(line) == text else _NOT_CANONICAL


def _is_absence(line: Mapping[str, Any]) -> bool:
    """Return whether the figures of a line are those of an absence: it is no message, so it has no size."""
    read: int = line["read"]
    return line["size"] == 0 and 0 <= read < 1 << 32


def _is_written(line: Mapping[str, Any], envelope: Envelope) -> bool:
    """Return whether digests are lower-case hexadecimals, bodies plain base64, and numbers fit a header."""
    digests = all(len(line[name]) == 2 * _HASH_BYTES for name in ("chain", "digest", "prev"))
    chain = len(envelope.prev) == _HASH_BYTES and envelope.prev.hex() == line["chain"]
    figures = all(0 <= line[name] < 1 << 64 for name in ("number", "round"))
    return digests and chain and figures and base64.b64encode(envelope.body).decode() == line["body"]
