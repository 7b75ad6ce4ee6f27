"""A header as a dictionary of names: its bytes alone count, and what looks like a row is no header."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smc_dp.data.dictionaries.draft import draft_bounds
from smc_dp.data.dictionaries.header import header_line, read_header
from smc_dp.data.file_format import FileFormat
from tests.support.refusals import refused

HEADER = "patient,age,Größe,outcome"
NAMES = ["patient", "age", "Größe", "outcome"]


class Guarded(io.BytesIO):
    """File of which no byte behind the first `allowed` may be read."""

    def __init__(self, content: bytes, allowed: int) -> None:
        super().__init__(content)
        self._allowed = allowed

    def read(self, size: int | None = -1) -> bytes:  # type: ignore[override]
        assert 0 <= size <= self._allowed - self.tell(), "a byte below the header was asked for"
        return super().read(size)


def names(path: Path, form: FileFormat | None = None) -> list[str]:
    return [entry.name for entry in read_header(path, form).entries]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_no_byte_below_the_header_is_asked_for(codec: str, end: str) -> None:
    mark = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}.get(codec, b"")
    line = mark + (HEADER + "Ċ").encode(codec)  # the byte of a line end is half of that letter in UTF-16
    content = line + end[0].encode("utf-16-be" if codec == "utf-16-be" else codec.removesuffix("-sig"))[-2:]
    if codec.startswith("utf-8"):
        content = line + end[0].encode()
    elif codec == "utf-16":
        content = line + end[0].encode("utf-16-le")
    assert header_line(Guarded(content + b"secret rows", len(content))) == line


@given(st.binary(max_size=300))
def test_whatever_stands_below_makes_no_difference(below: bytes) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "north.csv"
        path.write_bytes(f"{HEADER}\n".encode() + below)
        text = draft_bounds(read_header(path), "outcome").text
        path.write_bytes(f"{HEADER}\n".encode())
        assert draft_bounds(read_header(path), "outcome").text == text


def test_names_come_back_from_every_kind_of_file(tmp_path: Path) -> None:
    rows = f"{HEADER}\n4711,70,1.8,yes\n"
    written = {
        "comma.csv": rows.encode(),
        "tabs.tsv": rows.replace(",", "\t").encode(),
        "packed.csv.gz": gzip.compress(rows.encode()),
        "marked.csv": rows.encode("utf-8-sig"),
        "wide.csv": rows.encode("utf-16"),
        "wider.csv": rows.replace("\n", ",,\n").encode(),
        "numbered.csv": b'"",' + rows.encode(),
    }
    for name, content in written.items():
        (tmp_path / name).write_bytes(content)
        assert names(tmp_path / name) == NAMES, name
    (tmp_path / "semicolons.csv").write_text(rows.replace(",", ";"), encoding="cp1252")
    assert names(tmp_path / "semicolons.csv", FileFormat(";", encoding="cp1252")) == NAMES
    (tmp_path / "semicolons.csv.toml").write_text('file = {separator = ";", encoding = "cp1252"}\n')
    assert names(tmp_path / "semicolons.csv") == NAMES
    pq.write_table(pa.table({"age": [4711], "outcome": ["yes"]}), tmp_path / "north.parquet")
    assert names(tmp_path / "north.parquet") == ["age", "outcome"]


@pytest.mark.parametrize(
    "first",
    ["41,zebra", "zebra,4.5", "zebra,2010-01-31", "2010-01-31T10:00:00,zebra", "zebra,true", "zebra,NaN",
     "z@example.org,zebra", "a,,zebra", "-"],
)  # fmt: skip
def test_a_first_line_that_looks_like_a_row_is_refused_and_not_quoted(first: str, tmp_path: Path) -> None:
    path = tmp_path / "north.csv"
    path.write_text(f"{first}\nother,row\n")
    with refused("header.looks_like_a_row") as caught:
        read_header(path)
    assert "zebra" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b'age,"two\nlines"\n1,2\n', "header.line_break"),
        (b"age;sex;outcome\n1;f;no\n", "csv.one_column"),
        (b"age,age\n1,2\n", "codebook.same_name"),
        (b"\nage,sex\n", "csv.no_header"),
        (b"", "csv.no_header"),
        (b"a" * (1 << 20) + b"b\n", "header.too_long"),
        (b"gr\xf6sse,age\n", "text.unreadable_byte"),
        (bytes.fromhex("d0cf11e0a1b11ae1") + b"\n", "file.other_program"),
    ],
)
def test_what_has_no_header_that_can_be_read_is_refused(content: bytes, code: str, tmp_path: Path) -> None:
    (tmp_path / "north.csv").write_bytes(content)
    with refused(code):
        read_header(tmp_path / "north.csv")


def test_every_line_of_a_draft_is_open_but_those_of_a_named_label(tmp_path: Path) -> None:
    (tmp_path / "north.csv").write_text(f"{HEADER}\n")
    found = draft_bounds(read_header(tmp_path / "north.csv"), "outcome")
    assert [line.partition(" =")[0] for line in found.waiting] == ["classes", "patient", "age", '"Größe"']
    with refused("codebook.no_label", label="'gone'"):
        draft_bounds(read_header(tmp_path / "north.csv"), "gone")
