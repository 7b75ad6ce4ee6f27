"""Whether the lines of a wire record hang together: as text, as a chain of lines, and as each sender's own chain.

The hash chain over the lines ties them together, and whoever holds the record could make it anew. Only signatures tie
it to the participants: each greeting, each mark at the end of a stage and each published share is signed, over a
header that holds the digest of all that this sender sent before. So a sender answers for its lines up to its last good
signature, and is named as the one to blame for those alone; nobody signs the order between senders.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from typing import Any

from protocols.runtime.channel import START, Envelope, is_signed
from protocols.runtime.session import PUBLIC_NAME
from protocols.runtime.transcript import canonical, link
from smc_dp.audit.run.blame import blamed, is_public
from smc_dp.audit.run.check import CheckOutcome, failed, passed
from smc_dp.audit.run.evidence import Evidence
from smc_dp.errors import shown

_TYPES = {
    **dict.fromkeys(("n", "number", "size"), int),
    **dict.fromkeys(("from", "to", "kind", "stage", "digest", "prev", "chain", "body"), str),
}
_HEAD = {"n": 0, "from": "", "to": "", "kind": "Session", "size": 0, "prev": bytes(32).hex()}
_TEXT_HEAD = ("session", "topology", "digest")
_HASH_BYTES = 32


def schema(evidence: Evidence) -> CheckOutcome:
    """Every line is the one canonical text of its fields, and has these fields of these types and no others."""
    texts = evidence.text.split("\n")
    if texts.pop() != "":
        return failed("the record does not end with the end of a line", len(texts))
    if fault := _head_fault(evidence.head, texts[0]):
        return failed(fault, 0)
    for n, (line, text) in enumerate(zip(evidence.lines, texts[1:], strict=True), start=1):
        if fault := _line_fault(line, text, evidence.envelopes.get(n)):
            return failed(fault, n)
    return passed(f"{len(texts)} lines, each the canonical text of its fields")


def hash_chain(evidence: Evidence) -> CheckOutcome:
    """Each line has its number and the digest over itself and the line before."""
    head = {key: value for key, value in evidence.head.items() if key != "digest"}
    before = hashlib.sha256(canonical(head)).digest()
    if evidence.head["digest"] != before.hex():
        return failed("line 0 has not the digest that it states", 0)
    for n, line in enumerate(evidence.lines, start=1):
        envelope = evidence.envelopes.get(n)
        if envelope is None:
            return failed("nothing can be chained to a line that is no message", n)
        if type(line.get("n")) is not int or line["n"] != n:
            return failed(f"is numbered {shown(line.get('n'))}, wanted {n}", n)
        if line.get("prev") != before.hex():
            return failed("does not state the digest of the line before", n)
        before = link(before, envelope)
        if line.get("digest") != before.hex():
            return failed("has not the digest that it states", n)
    return passed(f"digests of {len(evidence.lines) + 1} lines")


def participants(evidence: Evidence) -> CheckOutcome:
    """Sender and addressee are two participants, or a participant and everybody."""
    names = set(evidence.session.names)
    addressees = names | {PUBLIC_NAME}
    for n, e in evidence.envelopes.items():
        if e.sender not in names:
            return failed(f"is from {shown(e.sender)}, who does not take part", n)
        if e.to not in addressees or e.to == e.sender:
            return failed(f"is addressed to {shown(e.to)}", n, blamed(evidence, n))
    return passed(f"{len(evidence.envelopes)} messages between {len(names)} participants")


def sender_chain(evidence: Evidence) -> CheckOutcome:
    """What each sender sent follows, by digest and number, what it sent before."""
    chain: dict[str, bytes] = {}
    numbers: dict[tuple[str, str], int] = {}
    for n, e in evidence.envelopes.items():
        if fault := _break(chain, numbers, e):
            return failed(fault, n)
    return passed(f"{len(chain)} chains over {len(numbers)} links")


def signatures(evidence: Evidence) -> CheckOutcome:
    """Greetings, ends of stages and publications are signed, and so is the last message of every participant."""
    identities = evidence.session.identities
    signed, last = 0, {}
    for n, e in evidence.envelopes.items():
        if e.sender not in identities:
            return failed(f"is from {shown(e.sender)}, whose identity nobody knows", n)
        last[e.sender] = n
        if is_public(e):
            signed += 1
            if not is_signed(identities[e.sender], e):
                return failed(f"the signature is not by the stated identity of {e.sender}", n)
    for name in identities:
        if name not in last or not is_public(evidence.envelopes[last[name]]):
            return failed(f"the record ends before {name} has signed what it sent", last.get(name))
    return passed(f"{signed} signatures; the last message of each participant is signed")


def _break(chain: dict[str, bytes], numbers: dict[tuple[str, str], int], e: Envelope) -> str | None:
    """What is wrong with the sender's next envelope; remembers it otherwise."""
    edge, before = (e.sender, e.to), chain.get(e.sender, START)
    if e.prev != before:
        return f"does not follow what {shown(e.sender)} sent before"
    if e.number != numbers.get(edge, 0):
        return f"has number {e.number} on its link, wanted {numbers.get(edge, 0)}"
    chain[e.sender], numbers[edge] = e.digest, e.number + 1
    return None


def _head_fault(head: Mapping[str, Any], text: str) -> str | None:
    for name, wanted in _HEAD.items():
        if type(head[name]) is not type(wanted) or head[name] != wanted:
            return f"{name}: wanted {shown(wanted)}, got {shown(head[name])}"
    for name in _TEXT_HEAD:
        if not isinstance(head[name], str):
            return f"{name}: wanted a text, got {shown(head[name])}"
    return None if canonical(head) == text.encode() else "is not the canonical text of its fields"


def _line_fault(line: Any, text: str, envelope: Envelope | None) -> str | None:
    if not isinstance(line, dict):
        return "is not a JSON object"
    if missing := sorted(_TYPES.keys() - line.keys()):
        return f"{missing[0]} is missing"
    if unknown := sorted(line.keys() - _TYPES.keys() - {"via"}):
        return f"unknown field {shown(unknown[0])}"
    for name, value in line.items():
        if type(value) is not _TYPES.get(name, str):
            return f"{name}: wanted {_TYPES.get(name, str).__name__}, got {shown(value)}"
    if envelope is None or not _is_written(line, envelope):
        return "a number, digest or body is not written as a record writes it"
    return None if canonical(line) == text.encode() else "is not the canonical text of its fields"


def _is_written(line: Mapping[str, Any], envelope: Envelope) -> bool:
    """Whether digests are lower-case hexadecimals, bodies plain base64, and numbers of the size that fits a header."""
    digests = all(len(line[name]) == 2 * _HASH_BYTES for name in ("chain", "digest", "prev"))
    chain = len(envelope.prev) == _HASH_BYTES and envelope.prev.hex() == line["chain"]
    return (
        digests and chain and 0 <= line["number"] < 1 << 64 and base64.b64encode(envelope.body).decode() == line["body"]
    )
