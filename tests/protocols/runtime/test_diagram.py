"""A transcript as a diagram: nothing is lost, nothing in it is a command, and what is no transcript is refused."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from support.pathak import trial

from protocols.runtime.diagram import arrows, mermaid
from protocols.runtime.transcript import Line

HEAD = {"protocol": "x", "parameters": {"parties": ["A", "B", "C"]}, "identities": dict.fromkeys("ABCD", "")}


@pytest.fixture(scope="module")
def lines() -> list[Line]:
    return list(trial([5, 3, 4]).run().transcript.lines())


def sent(stage: str, kind: str, *edges: str, size: int = 7) -> list[Line]:
    """Messages of one kind on these edges, each two names."""
    return [{"stage": stage, "kind": kind, "size": size, "from": a, "to": b} for a, b in edges]


def test_no_message_and_no_byte_is_lost(lines: list[Line]) -> None:
    rest, text, drawn = lines[1:], arrows(lines), mermaid(lines)
    for stage in ("setup", "stage1", "stage2", "stage3"):
        sizes = [line["size"] for line in rest if line["stage"] == stage]
        assert f"{stage}: {len(sizes):,} messages, {sum(sizes):,} bytes\n" in text
    counted = Counter((line["stage"], line["kind"], line["from"], line["to"]) for line in rest)
    assert drawn.count("->>") == len(counted)
    assert sum(int(line.split(", ")[1].split(" x ")[0]) for line in drawn.splitlines() if "->>" in line) == len(rest)
    assert drawn.count("Note over") == 4


def test_what_all_do_alike_takes_one_line_and_an_exception_shows() -> None:
    other = ["AB", "AC", "BA", "BC", "CA", "CB"]
    alike = [*sent("s", "Relay", *other), *sent("s", "Half", "AD", "BD", "CD"), *sent("s", "Half", "AD", size=1234)]
    unlike = [*sent("s", "Relay", *other[1:]), *sent("t", "Hello", *(a + b for a in "ABCD" for b in "ABCD" if a != b))]
    assert arrows([HEAD | {"insecure": ["no\tsecret"]}, *alike]).splitlines() == [
        "x: A, B, C, D",
        "INSECURE: no\\u0009secret",
        "",
        "s: 10 messages, 1,297 bytes",
        "  each party --> each other party  Relay, 6 x 7 bytes",
        "  A          --> D                 Half, 2 x 7 to 1,234 bytes",
        "  B, C       --> D                 Half, 2 x 7 bytes",
    ]
    assert arrows([HEAD, *unlike]).splitlines()[3:] == [
        "  A --> C     Relay, 1 x 7 bytes",
        "  B --> A, C  Relay, 2 x 7 bytes",
        "  C --> A, B  Relay, 2 x 7 bytes",
        "",
        "t: 12 messages, 84 bytes",
        "  each participant --> each other participant  Hello, 12 x 7 bytes",
    ]


def test_names_cannot_talk_to_the_terminal_or_to_mermaid(lines: list[Line]) -> None:
    text = json.dumps(lines)
    for plain, bad in {"P1": "x\x1b[2J\nP2->>P3: hi; %% #1;", "P2": "end"}.items():
        text = text.replace(json.dumps(plain), json.dumps(bad))
    renamed = json.loads(text)
    for drawn in (arrows(renamed), mermaid(renamed)):
        assert len(drawn.splitlines()) >= 20
        assert all(c.isprintable() or c == "\n" for c in drawn)
    drawn, plainly = mermaid(renamed), mermaid(lines)
    assert [drawn.count(sign) for sign in ("\n", "->>")] == [plainly.count(sign) for sign in ("\n", "->>")]
    assert "participant p1 as #101;nd\n" in drawn
    assert "hi#59;" in drawn


@pytest.mark.parametrize(
    ("n", "change", "why"),
    [
        (0, {"parameters": None}, "line 0 does not describe a session"),
        (0, {"identities": 3}, "line 0 does not describe a session"),
        (0, {"protocol": 3}, "line 0 does not describe a session"),
        (2, {"size": "7"}, "line 2 is no message"),
        (2, {"kind": None}, "line 2 is no message"),
        (2, {"to": "mallory"}, "line 2 is not between participants"),
        (2, {"from": ["A"]}, "line 2 is not between participants"),
    ],
)
@pytest.mark.parametrize("draw", [arrows, mermaid])
def test_what_is_no_transcript_is_refused(
    draw: Callable[[Sequence[Line]], str], n: int, change: dict[str, Any], why: str
) -> None:
    found = [HEAD, *sent("s", "Half", "AB", "AC")]
    draw(found)
    found[n] = found[n] | change
    with pytest.raises(ValueError, match=why):
        draw(found)
    with pytest.raises(ValueError, match="line 0 "):
        draw([])
