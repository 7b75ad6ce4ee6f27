"""Whatever is done to the text of a wire record is found by an audit, and at its line."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import forgeries as f
from support.audited import toy_run

from smc_dp.audit.run.conformity import links, session
from smc_dp.audit.run.evidence import load_evidence
from smc_dp.core.errors import InputError
from smc_dp.run.release import TRANSCRIPT

# A line at either end and in the middle: what is done to one is found there, whatever line it is.
SOME = (1, 40, -1)
FIELDS = ("n", "from", "to", "kind", "stage", "number", "round", "size", "digest", "prev", "chain", "body")
HEAD = tuple(sorted({"n", "from", "to", "kind", "size", "prev", "digest", "protocol", "version", "session", "format"}))

Break = Callable[[str], int | None]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return toy_run(tmp_path_factory.mktemp("text"), (5, 9), 1).run


@pytest.fixture(scope="module")
def lines(run: Path) -> list[str]:
    return (run / TRANSCRIPT).read_text().splitlines()


@pytest.fixture(scope="module")
def first_break(run: Path, tmp_path_factory: pytest.TempPathFactory) -> Break:
    """The first line that schema, hash chain or sizes refuse; 0 as well for a record that cannot be read at all."""
    folder = tmp_path_factory.mktemp("altered") / "run"
    f.with_text(run, folder, "")

    def found(text: str) -> int | None:
        (folder / TRANSCRIPT).write_text(text, "utf-8", "surrogateescape", newline="")
        try:
            evidence = load_evidence(folder)
        except InputError:
            return 0
        outcomes = [
            check(evidence) for check in (links.check_schema, links.check_hash_chain, session.check_message_sizes)
        ]
        return min((o.line or 0 for o in outcomes if o.status == "failed"), default=None)

    return found


def joined(lines: list[str]) -> str:
    return "\n".join(lines) + "\n"


def rewritten(lines: list[str], n: int, /, **changes: Any) -> str:
    line = json.dumps(json.loads(lines[n]) | changes, sort_keys=True, separators=(",", ":"))
    return joined([*lines[:n], line, *lines[n + 1 :]])


def places(lines: list[str]) -> list[int]:
    return [n % len(lines) for n in SOME]


@pytest.mark.parametrize("key", FIELDS)
def test_changed_field_is_found_at_its_line(key: str, lines: list[str], first_break: Break) -> None:
    for n in places(lines):
        old = json.loads(lines[n])[key]
        values: list[Any] = [None, [], {}, "", True, float("inf"), -1, [old], "\ud800", 1 << 70]
        if isinstance(old, int):
            values += [old + 1, float(old), str(old), -old - 1]
        elif key == "body":
            values += [base64.b64encode(b"x" + base64.b64decode(old)[1:]).decode(), old + "\n", old[:-4], old + "AAAA"]
        else:
            values += [old + "x", old[:-1], old.upper() + " ", "00" * 32, old[:1] + " " + old[1:]]
        for value in (v for v in values if json.dumps(v) != json.dumps(old)):
            assert first_break(rewritten(lines, n, **{key: value})) == n, value


def test_missing_and_extra_keys_are_found(lines: list[str], first_break: Break) -> None:
    for n in (0, *places(lines)):
        line = json.loads(lines[n])
        for key in line:
            less = json.dumps({k: v for k, v in line.items() if k != key}, sort_keys=True, separators=(",", ":"))
            assert first_break(joined([*lines[:n], less, *lines[n + 1 :]])) == n
        assert first_break(rewritten(lines, n, note="x")) == n
        for other in ('{"n":0,' + lines[n][1:], "{ " + lines[n][1:]):
            assert first_break(joined([*lines[:n], other, *lines[n + 1 :]])) == n


@pytest.mark.parametrize("key", HEAD)
def test_changed_head_is_found(key: str, lines: list[str], first_break: Break) -> None:
    values: tuple[Any, ...] = (None, "x", [], {}, 2, ["x"], "11" * 32)
    for value in values:
        if value != json.loads(lines[0])[key]:
            assert first_break(rewritten(lines, 0, **{key: value})) == 0


def test_every_drop_swap_and_repeat_is_found_at_its_line(lines: list[str], first_break: Break) -> None:
    for n in range(1, len(lines) - 1, 5):
        assert first_break(joined(lines[:n] + lines[n + 1 :])) == n  # the line that took its place
        assert first_break(joined([*lines[:n], lines[n + 1], lines[n], *lines[n + 2 :]])) == n
        assert first_break(joined([*lines[: n + 1], *lines[n:]])) == n + 1
    assert first_break(joined([*lines, lines[-1]])) == len(lines)


def test_an_honest_record_and_one_that_is_cut_after_a_line_have_no_break_here(
    lines: list[str], first_break: Break
) -> None:
    """The chain cannot know what was still to come: signatures and completeness do."""
    assert first_break(joined(lines)) is None
    assert first_break(joined(lines[:-1])) is None
    assert first_break("\n".join(lines)) == len(lines) - 1  # the last line has no end


@pytest.mark.parametrize(
    "junk",
    ["", "null", "[]", "7", '"x"', "{}", "{", "NaN", "\x00", "9" * 10_000, "[" * 100_000, '{"digest":1}'],
    ids=lambda junk: junk[:9],
)
def test_junk_lines_are_breaks(junk: str, lines: list[str], first_break: Break) -> None:
    assert first_break(junk) == 0
    assert first_break(joined([junk, *lines])) == 0
    assert first_break(joined([*lines[:5], junk, *lines[5:]])) == 5
    assert first_break(joined([*lines, junk])) == len(lines)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text("ab é\x00", max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=80, deadline=None)
@given(JSON.map(json.dumps), st.data())
def test_an_arbitrary_line_is_found(lines: list[str], first_break: Break, text: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(1, len(lines)))
    assert first_break(joined([*lines[:at], text, *lines[at:]])) == at


@settings(max_examples=80, deadline=None)
@given(st.data(), st.integers(1, 127))
def test_any_changed_character_is_found_at_its_line(
    lines: list[str], first_break: Break, data: st.DataObject, mask: int
) -> None:
    text = joined(lines)
    at = data.draw(st.integers(0, len(text) - 2))
    changed = text[:at] + chr(ord(text[at]) ^ mask) + text[at + 1 :]
    assert first_break(changed) == text[:at].count("\n")
