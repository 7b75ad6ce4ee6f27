"""The wire record: hash chain, each sender's own chain, signatures, and who went on without whom."""

from __future__ import annotations

import base64
import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

import cbor2
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from hypothesis import given, settings
from hypothesis import strategies as st
from support.sessions import PROGRAMS, setup

from protocols.runtime import transcript
from protocols.runtime.envelope import HELLO, STAGE_END
from protocols.runtime.session import PUBLIC_NAME, Program

MADE = setup(3, 2)


def header_of(line: dict[str, Any]) -> list[Any]:
    """What a header says after the session."""
    names = [line[key] for key in ("from", "to", "kind", "stage", "number", "round")]
    return [*names, bytes.fromhex(line["chain"])]


def record(program: Program) -> list[dict[str, Any]]:
    """The lines of a run, as an auditor reads them."""
    return [json.loads(line) for line in setup(program=program).simulate().transcript.dumps().splitlines()]


def test_the_record_is_a_function_of_the_seeds() -> None:
    text = MADE.simulate().transcript.dumps()
    assert MADE.simulate().transcript.dumps() == text
    assert text.isascii()
    assert setup(3, 2, seed=2).simulate().transcript.dumps() != text


@pytest.mark.parametrize("program", PROGRAMS, ids=["hardened", "printed"])
def test_digests_by_hand(program: Program) -> None:
    """prev, digest, chain and size as the module says they are made, by hashlib and cbor2 alone."""
    check_digests(*record(program))


def check_digests(head: dict[str, Any], *lines: dict[str, Any]) -> None:
    session = bytes.fromhex(head["session"])
    assert (head["format"], head["n"], head["prev"]) == (3, 0, bytes(32).hex())
    digest = head.pop("digest")
    assert digest == hashlib.sha256(json.dumps(head, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
    chains = dict.fromkeys([*head["identities"]], bytes(32).hex())
    numbers: Counter[tuple[str, str]] = Counter()
    for n, line in enumerate(lines, start=1):
        if line["kind"] == "Absent":
            said = [line[key] for key in ("kind", "to", "from", "missing", "stage", "read")]
            digest = hashlib.sha256(bytes.fromhex(digest) + hashlib.sha256(cbor2.dumps(said)).digest()).hexdigest()
            assert (line["n"], line["digest"], line["size"]) == (n, digest, 0)
            continue
        parts, body = [session, *header_of(line)], base64.b64decode(line["body"])
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
    header = cbor2.dumps([bytes.fromhex(head["session"]), *header_of(line)])
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
        assert (line["kind"] == HELLO) == (line["number"] == 0)
    marks = Counter((line["from"], line["stage"]) for line in signed if line["kind"] == STAGE_END)
    for name in head["identities"]:
        mine = {stage: count for (who, stage), count in marks.items() if who == name}
        # Charlie's part of stage 1 has two checkpoints, blinding and the search, and still one signature.
        assert mine == dict.fromkeys(("setup", "stage1", "stage2", "stage3"), 1)
        last = [line for line in lines if line["from"] == name][-2:]
        assert [line["kind"] for line in last] == [STAGE_END, "PublishedShare"]
        spoken = {line["stage"] for line in lines if line["from"] == name and line["to"] != PUBLIC_NAME}
        assert spoken <= mine.keys()  # whatever was said in a stage is under a signature
    hellos = [line for line in lines if line["kind"] == HELLO]
    assert [line["from"] for line in hellos] == list(head["identities"])
    for line in hellos:
        assert (line["to"], line["stage"], line["chain"]) == (PUBLIC_NAME, "setup", bytes(32).hex())
        assert len(check_signature(head, line)) == 32


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


@settings(max_examples=100, deadline=None)
@given(JSON)
def test_no_absence_but_a_value_error(line: Any) -> None:
    if isinstance(line, dict):
        with pytest.raises(ValueError, match="not a line"):
            transcript.read_absence(line)


def test_an_envelope_is_read_as_it_was_posted_and_an_absence_is_none() -> None:
    made = MADE.simulate().transcript
    (_, *lines) = map(json.loads, made.dumps().splitlines())
    assert [transcript.read_envelope(MADE.session.id, line) for line in lines] == made.envelopes == list(made.read())
    for key in lines[0]:
        if key not in ("n", "prev", "digest", "size"):
            for wrong in ({k: v for k, v in lines[0].items() if k != key}, lines[0] | {key: None}):
                with pytest.raises(ValueError, match="not a line"):
                    transcript.read_envelope(MADE.session.id, wrong)
    for key in ("number", "round"):
        with pytest.raises(ValueError, match="are integers"):
            transcript.read_envelope(MADE.session.id, lines[0] | {key: True})
    for line in lines:
        with pytest.raises(ValueError, match="not a line"):
            transcript.read_absence(line)


def vanished(file: Any = None) -> transcript.Transcript:
    """The record of a run that P3 leaves after its greeting: all others are stopped."""
    run = setup(3, 1).simulate(drop_outs={"P3": 1}, record=file)
    assert set(run.ends.values()) == {"gone", "stopped"}
    return run.transcript


def test_who_went_on_without_what_stands_in_the_record() -> None:
    made = vanished()
    head, *lines = (json.loads(line) for line in made.dumps().splitlines())
    absences = [line for line in lines if line["kind"] == "Absent"]
    assert {line["to"] for line in absences} == {"P1", "P2", "charlie"}
    assert "P3" in {line["from"] for line in absences}
    for line in absences:
        reader, absent = transcript.read_absence(line)
        stated = [line[key] for key in ("to", "from", "missing", "stage", "read")]
        assert [reader, absent.sender, absent.kind, absent.stage, absent.read] == stated
        for key in ("to", "from", "missing", "stage", "read", "kind"):
            with pytest.raises(ValueError, match="about somebody absent"):
                transcript.read_absence({k: v for k, v in line.items() if k != key})
        with pytest.raises(ValueError, match="about somebody absent"):
            transcript.read_absence(line | {"read": True})
    check_digests(head, *lines)
    assert [e.kind for e in made.read()] == [line["kind"] for line in lines if line["kind"] != "Absent"]


def test_a_record_is_written_to_its_file_as_it_goes_and_read_again_from_there(tmp_path: Path) -> None:
    with (tmp_path / "record").open("w+b") as file:
        file.write(b"before\n")
        made = vanished(file)
        assert made.dumps() == vanished().dumps()
        first = made.lines()
        assert next(first)["kind"] == "Session"  # a reader in between does not disturb what is written after it
        n = made.post(made.envelopes[0])
        assert [line["n"] for line in made.lines()] == list(range(n + 1))
        file.seek(0)
        assert file.read().decode() == "before\n" + made.dumps()
