"""The wire record: hash chain, each sender's own chain, signatures."""

from __future__ import annotations

import base64
import hashlib
import json
from collections import Counter
from typing import Any

import cbor2
import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from hypothesis import given, settings
from hypothesis import strategies as st
from support.sessions import PROGRAMS, setup

from protocols.runtime import transcript
from protocols.runtime.channel import HELLO, STAGE_END
from protocols.runtime.session import PUBLIC_NAME, Program

MADE = setup(3, 2)
TEXT = MADE.simulate().transcript.dumps()
LINES = TEXT.splitlines()


def record(program: Program) -> list[dict[str, Any]]:
    """The lines of a run, as an auditor reads them."""
    return [json.loads(line) for line in setup(program=program).simulate().transcript.dumps().splitlines()]


def test_the_record_is_a_function_of_the_seeds() -> None:
    assert MADE.simulate().transcript.dumps() == TEXT
    assert TEXT.isascii()
    assert setup(3, 2, seed=2).simulate().transcript.dumps() != TEXT


@pytest.mark.parametrize("program", PROGRAMS, ids=["hardened", "printed"])
def test_digests_by_hand(program: Program) -> None:
    """prev, digest, chain and size as the module says they are made, by hashlib and cbor2 alone."""
    head, *lines = record(program)
    session = bytes.fromhex(head["session"])
    digest = head.pop("digest")
    assert digest == hashlib.sha256(json.dumps(head, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
    chains = dict.fromkeys([*head["identities"]], bytes(32).hex())
    numbers: Counter[tuple[str, str]] = Counter()
    for n, line in enumerate(lines, start=1):
        names = [line[key] for key in ("from", "to", "kind", "stage", "number")]
        parts, body = [session, *names, bytes.fromhex(line["chain"])], base64.b64decode(line["body"])
        own = hashlib.sha256(cbor2.dumps(parts) + body).digest()
        assert (line["n"], line["prev"], line["size"]) == (n, digest, len(cbor2.dumps([*parts, body])))
        assert line["chain"] == chains[line["from"]]
        assert line["number"] == numbers[line["from"], line["to"]]
        digest = hashlib.sha256(bytes.fromhex(digest) + own).hexdigest()
        assert line["digest"] == digest
        chains[line["from"]] = own.hex()
        numbers[line["from"], line["to"]] += 1


def check_signature(head: dict[str, Any], line: dict[str, Any]) -> bytes:
    """The signed payload; raises InvalidSignature."""
    body = base64.b64decode(line["body"])
    names = [line[key] for key in ("from", "to", "kind", "stage", "number")]
    header = cbor2.dumps([bytes.fromhex(head["session"]), *names, bytes.fromhex(line["chain"])])
    key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(head["identities"][line["from"]]))
    key.verify(body[-64:], header + body[:-64])
    return body[:-64]


@pytest.mark.parametrize("program", PROGRAMS, ids=["hardened", "printed"])
def test_each_sender_signs_once_per_stage_and_last(program: Program) -> None:
    """Every stage ends with one signature over the sender's chain."""
    head, *lines = record(program)
    signed = [line for line in lines if line["to"] == PUBLIC_NAME]
    for line in signed:
        payload = check_signature(head, line)
        assert (payload == b"") == (line["kind"] == STAGE_END)
    marks = Counter((line["from"], line["stage"]) for line in signed if line["kind"] == STAGE_END)
    for name in head["identities"]:
        mine = {stage: count for (who, stage), count in marks.items() if who == name}
        # Charlie's part of stage 1 has two checkpoints, blinding and the search, and still one signature.
        assert mine == dict.fromkeys(("setup", "stage1", "stage2", "stage3"), 1)
        last = [line for line in lines if line["from"] == name][-2:]
        assert [line["kind"] for line in last] == [STAGE_END, "PublishedShare"]
        spoken = {line["stage"] for line in lines if line["from"] == name and line["to"] != PUBLIC_NAME}
        assert spoken <= mine.keys()  # whatever was said in a stage is under a signature
    for line in lines:
        if line["kind"] == HELLO:
            assert len(check_signature(head, line)) == 32


def test_a_signature_by_another_identity_is_seen() -> None:
    """The check of the signatures can fail."""
    head, *lines = record(PROGRAMS[0])
    line = next(line for line in lines if line["kind"] == STAGE_END and line["from"] == "P1")
    head["identities"]["P1"] = head["identities"]["P2"]
    with pytest.raises(InvalidSignature):
        check_signature(head, line)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=100, deadline=None)
@given(JSON)
def test_no_envelope_but_a_value_error(line: Any) -> None:
    with pytest.raises(ValueError, match="not a line"):
        transcript.read_envelope(bytes(32), line)
