"""The wire record: hash chain, each sender's own chain, signatures; and whatever is done to its text is found."""

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
from sessions import PROGRAMS, setup

from protocols.arithmetic.rng import Stream
from protocols.runtime import transcript
from protocols.runtime.channel import HELLO, STAGE_END
from protocols.runtime.session import PUBLIC_NAME, Program

MADE = setup(3, 2)
TEXT = MADE.simulate().transcript.dumps()
LINES = TEXT.splitlines()


def record(program: Program) -> list[dict[str, Any]]:
    """The lines of a run, as an auditor reads them."""
    return [json.loads(line) for line in setup(program=program).simulate().transcript.dumps().splitlines()]


def rewritten(lines: list[str], n: int, /, **changes: Any) -> str:
    line = json.loads(lines[n]) | changes
    return "\n".join([*lines[:n], json.dumps(line, sort_keys=True, separators=(",", ":")), *lines[n + 1 :]]) + "\n"


def test_honest_record_has_no_break() -> None:
    assert transcript.first_break(TEXT) is None
    for seed in range(3):
        run = MADE.simulate(schedule=Stream.insecure_from_seed(f"record {seed}"), topology="star", marks=("seeded",))
        assert transcript.first_break(run.transcript.dumps()) is None
    assert transcript.first_break(LINES[0]) is None  # a run that never began


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


@pytest.mark.parametrize("key", sorted(json.loads(LINES[1])))
def test_changed_field_is_found_at_its_line(key: str) -> None:
    for n in (1, 2, len(LINES) // 2, len(LINES) - 1):
        old = json.loads(LINES[n])[key]
        values: list[Any] = [None, [], {}, "", True, float("inf"), -1, [old], "\ud800", 1 << 70]
        if isinstance(old, int):
            values += [old + 1, float(old), str(old), -old - 1]
        elif key == "body":
            values += [base64.b64encode(b"x" + base64.b64decode(old)[1:]).decode(), old + "\n", old[:-4], old + "AAAA"]
        else:
            values += [old + "x", old[:-1], old.upper() + " ", "00" * 32, old[:1] + " " + old[1:]]
        for value in (v for v in values if json.dumps(v) != json.dumps(old)):
            assert transcript.first_break(rewritten(LINES, n, **{key: value})) == n, value


def test_missing_and_extra_keys_are_found() -> None:
    for n in (0, 1, 7, len(LINES) - 1):
        line = json.loads(LINES[n])
        for key in line:
            less = json.dumps({k: v for k, v in line.items() if k != key}, sort_keys=True, separators=(",", ":"))
            assert transcript.first_break("\n".join([*LINES[:n], less, *LINES[n + 1 :]])) == n
        assert transcript.first_break(rewritten(LINES, n, note="x")) == n
        twice = '{"n":0,' + LINES[n][1:]
        assert transcript.first_break("\n".join([*LINES[:n], twice, *LINES[n + 1 :]])) == n


@pytest.mark.parametrize("key", sorted(json.loads(LINES[0])))
def test_changed_head_is_found(key: str) -> None:
    values: tuple[Any, ...] = (None, "x", [], {}, 2, ["x"], "11" * 32)
    for value in values:
        if value != json.loads(LINES[0])[key]:
            assert transcript.first_break(rewritten(LINES, 0, **{key: value})) == 0


def test_head_with_a_right_digest_and_no_session() -> None:
    values: tuple[Any, ...] = ("zz", None, 7, [])
    for session in values:
        head = {"n": 0, "session": session}
        canonical = json.dumps(head, sort_keys=True, separators=(",", ":")).encode()
        whole = json.dumps(
            head | {"digest": hashlib.sha256(canonical).hexdigest()}, sort_keys=True, separators=(",", ":")
        )
        assert transcript.first_break("\n".join([whole, *LINES[1:]])) == 0


def test_every_drop_swap_and_repeat_is_found_at_its_line() -> None:
    for n in range(len(LINES) - 1):
        assert transcript.first_break("\n".join(LINES[:n] + LINES[n + 1 :])) == n  # the line that took its place
        swapped = [*LINES[:n], LINES[n + 1], LINES[n], *LINES[n + 2 :]]
        assert transcript.first_break("\n".join(swapped)) == n
        assert transcript.first_break("\n".join([*LINES[: n + 1], *LINES[n:]])) == n + 1
    assert transcript.first_break("\n".join([*LINES, LINES[-1]])) == len(LINES)


def test_a_cut_at_the_end_leaves_no_break() -> None:
    """Said in the docstring: the chain cannot know what was still to come."""
    assert transcript.first_break("\n".join(LINES[:-1])) is None


@pytest.mark.parametrize(
    "junk", ["", "null", "[]", "7", '"x"', "{}", "{", "NaN", "\x00", "[" * 100_000, "9" * 10_000, "é", '{"digest":1}']
)
def test_junk_lines_are_breaks(junk: str) -> None:
    assert transcript.first_break(junk) == 0
    assert transcript.first_break(junk + "\n" + TEXT) == 0
    assert transcript.first_break("\n".join([*LINES[:5], junk, *LINES[5:]])) == 5
    assert transcript.first_break(TEXT + junk + "\n") == len(LINES)


def test_a_line_of_another_run_is_a_break() -> None:
    other = setup(3, 2, seed=3).simulate().transcript.dumps().splitlines()
    assert transcript.first_break("\n".join([*LINES[:9], other[9], *LINES[10:]])) == 9


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=150, deadline=None)
@given(st.text() | JSON.map(json.dumps), st.integers(0, len(LINES)))
def test_arbitrary_text_is_a_number(text: str, at: int) -> None:
    assert transcript.first_break("\n".join([*LINES[:at], text, *LINES[at:], ""])) == at


@settings(max_examples=150, deadline=None)
@given(st.integers(0, len(TEXT) - 2), st.integers(1, 127))
def test_any_changed_character_is_found_at_its_line(at: int, mask: int) -> None:
    changed = TEXT[:at] + chr(ord(TEXT[at]) ^ mask) + TEXT[at + 1 :]
    assert transcript.first_break(changed) == TEXT[:at].count("\n")


@settings(max_examples=100, deadline=None)
@given(JSON)
def test_no_envelope_but_a_value_error(line: Any) -> None:
    with pytest.raises(ValueError, match="not a line"):
        transcript.read_envelope(bytes(32), line)
