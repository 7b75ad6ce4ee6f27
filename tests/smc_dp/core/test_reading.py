"""Values out of JSON of strangers: what was asked for comes out, or a sentence that names the field."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from smc_dp.core import reading
from tests.support.refusals import refused


@pytest.mark.parametrize(("call", "code", "good", "bad"), [
    (lambda v: reading.require_text("x", v), "json.not_a_text", "a", [1, None, b"a", ["a"]]),
    (lambda v: reading.require_texts("x", v), "json.not_a_list", ["a", "b"], ["ab", None]),
    (lambda v: reading.require_texts("x", v), "json.not_texts", ["a", "b"], [[1]]),
    (lambda v: reading.require_object("x", v), "json.not_an_object", {"a": 1}, [[], None, "a"]),
    (lambda v: reading.require_list("x", v), "json.not_a_list", [1, "a"], [{}, "ab", None]),
    (lambda v: reading.require_hex("x", v, 2), "json.not_hexadecimal", "00ff",
     ["00FF", "0ff", "00ff00", " 0ff", 0xFF, None]),
])  # fmt: skip
def test_the_right_value_passes_and_others_name_the_field(call: Any, code: str, good: Any, bad: list[Any]) -> None:
    assert call(good) is not None
    for value in bad:
        with refused(code, at="x: "):
            call(value)


@pytest.mark.parametrize("text", [b"[]", b"{", b'{"a": NaN}', b'{"a": 1, "a": 2}', b"[" * 100_000, b"\xff"])
def test_what_is_no_plain_object_is_refused(text: bytes) -> None:
    with refused("json.not_an_object" if text == b"[]" else "json.unreadable", at="place"):
        reading.parse_object(text, "place")
    assert reading.parse_object(b'{"a": 1}', "place") == {"a": 1}


def test_only_plain_files_of_a_bounded_size_are_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"12345")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    assert reading.read_file(tmp_path / "file", 5) == b"12345"
    for path, limit, code in (
        (tmp_path / "file", 4, "file.too_large"),
        (tmp_path / "link", 5, "file.unreadable"),
        (tmp_path, 5, "file.is_folder"),
        (tmp_path / "none", 5, "file.unreadable"),
    ):
        with refused(code, at=str(path)):
            reading.read_file(path, limit)
