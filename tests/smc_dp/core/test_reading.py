"""Values out of JSON of strangers: what was asked for comes out, or a sentence that names the field."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from smc_dp.core import reading
from smc_dp.core.errors import InputError


@pytest.mark.parametrize(("call", "good", "bad"), [
    (lambda v: reading.text("x", v), "a", [1, None, b"a", ["a"]]),
    (lambda v: reading.texts("x", v), ["a", "b"], ["ab", [1], None]),
    (lambda v: reading.mapping("x", v), {"a": 1}, [[], None, "a"]),
    (lambda v: reading.items("x", v), [1, "a"], [{}, "ab", None]),
    (lambda v: reading.hexadecimal("x", v, 2), "00ff", ["00FF", "0ff", "00ff00", " 0ff", 0xFF, None]),
])  # fmt: skip
def test_the_right_value_passes_and_others_name_the_field(call: Any, good: Any, bad: list[Any]) -> None:
    assert call(good) is not None
    for value in bad:
        with pytest.raises(InputError, match=r"^x"):
            call(value)


@pytest.mark.parametrize("text", [b"[]", b"{", b'{"a": NaN}', b'{"a": 1, "a": 2}', b"[" * 100_000, b"\xff"])
def test_what_is_no_plain_object_is_refused(text: bytes) -> None:
    with pytest.raises(InputError, match="place"):
        reading.parse_object(text, "place")
    assert reading.parse_object(b'{"a": 1}', "place") == {"a": 1}


def test_only_plain_files_of_a_bounded_size_are_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"12345")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    assert reading.read_file(tmp_path / "file", 5) == b"12345"
    for path, limit in ((tmp_path / "file", 4), (tmp_path / "link", 5), (tmp_path, 5), (tmp_path / "none", 5)):
        with pytest.raises(InputError, match=str(path)):
            reading.read_file(path, limit)
