"""A notice is one of a few codes, signed: what comes in any other form is refused, and nothing in it is a text."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from protocols.crypto.identity import Identity
from protocols.runtime.inbox import Absent
from smc_dp.run.status_message import Notice
from tests.support.refusals import refused

OWN, STRANGER = Identity(bytes(31) + b"\x01"), Identity(bytes(31) + b"\x02")
STUDY, SESSION, HEAD = "ab" * 32, bytes(32), bytes(31) + b"\x03"
MARKS = [Absent("charlie", "Result", "sum0"), Absent("P2", "Shares", "setup", 1)]
NOTICE = Notice.made(STUDY, SESSION, "P1", "deadline", HEAD, OWN, MARKS)


def read(content: bytes, **changed: Any) -> Notice:
    return Notice.read(content, **{"study": STUDY, "sender": "P1", "identity": OWN.public, **changed})


def test_a_notice_comes_as_it_was_signed() -> None:
    assert read(NOTICE.encode()) == NOTICE
    assert set(NOTICE.marks) == set(MARKS)
    assert Notice.made(STUDY, SESSION, "P1", "deadline", HEAD, OWN, MARKS[::-1]) == NOTICE
    plain = Notice.made(STUDY, b"", "P1", "refused", b"", OWN)
    assert read(plain.encode()).marks == ()


CHANGES: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "another code": (lambda d: d.update(code="done"), "notice.not_signed"),
    "a code of its own": (lambda d: d.update(code="unknown value 'maligne'"), "notice.of_another"),
    "another study": (lambda d: d.update(study="cd" * 32), "notice.of_another"),
    "another session": (lambda d: d.update(session="cd" * 32), "notice.not_signed"),
    "another sender": (lambda d: d.update(sender="P2"), "notice.of_another"),
    "another head": (lambda d: d.update(head="cd" * 32), "notice.not_signed"),
    "a head of no digits": (lambda d: d.update(head="x"), "notice.malformed"),
    "a signature of no digits": (lambda d: d.update(signature="x"), "notice.malformed"),
    "a mark more": (lambda d: d["marks"].append(d["marks"][0]), "notice.not_signed"),
    "a mark of another letter": (lambda d: d["marks"][0].update(read=7), "notice.not_signed"),
    "a mark that counts in words": (lambda d: d["marks"][0].update(read="0"), "notice.no_count"),
    "a mark that counts truth": (lambda d: d["marks"][0].update(read=True), "notice.no_count"),
    "a mark with a field too many": (lambda d: d["marks"][0].update(note="x"), "json.unknown_key"),
    "a mark of numbers": (lambda d: d["marks"][0].update(kind=5), "json.not_a_text"),
    "a mark that is no text": (lambda d: d["marks"][0].update(kind="\ud800"), "notice.malformed"),
    "marks that are none": (lambda d: d.update(marks="none"), "json.not_a_list"),
    "no marks": (lambda d: d.pop("marks"), "json.missing_key"),
    "a field too many": (lambda d: d.update(note="x"), "json.unknown_key"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_notice_is_refused(name: str) -> None:
    document = json.loads(NOTICE.encode())
    change, code = CHANGES[name]
    change(document)
    with refused(code):
        read(json.dumps(document, sort_keys=True, separators=(",", ":")).encode())


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "json.unreadable"),
        (b"[]", "json.not_an_object"),
        (b"\xff", "json.unreadable"),
        (b"[" * 4000, "json.unreadable"),
        (b" " * (1 << 18) + b"{}", "notice.too_long"),
    ],
)
def test_what_is_no_notice_is_refused(content: bytes, code: str) -> None:
    with refused(code):
        read(content)


def test_a_notice_of_somebody_else_is_refused() -> None:
    with refused("notice.not_signed"):
        read(NOTICE.encode(), identity=STRANGER.public)
    with refused("notice.of_another"):
        read(NOTICE.encode(), sender="P2")
    forged = replace(NOTICE, signature=STRANGER.sign(b"x").hex())
    with refused("notice.not_signed"):
        read(forged.encode())
