"""What a file given as a data dictionary is, and what of it is read: never a row."""

from __future__ import annotations

import csv
import datetime
import io
import os
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smc_dp.core.errors import InputError
from smc_dp.data.dictionaries.draft import draft_bounds
from smc_dp.data.dictionaries.read_dictionary import read_data_dictionary
from smc_dp.data.table_reader import read_table
from tests.support.refusals import refused

COLUMNS = {
    "age": [71, 18],
    "weight": [70.5, None],
    "sex": pa.array(["zebra", "okapi"]).dictionary_encode(),
    "ward": ["secret", "hidden"],
    "smoker": [True, False],
    "came": [datetime.date(2031, 1, 1), datetime.date(2032, 2, 2)],
    "scans": [[4711], []],
    "__index_level_0__": [0, 1],
}

HEADINGS = (
    *("Variable / Field Name", "Field Type", "Choices, Calculations, OR Slider Labels"),
    *("Text Validation Type OR Show Slider Number", "Text Validation Min", "Text Validation Max", "Identifier?"),
)
TYPES = ("text", "radio", "checkbox", "yesno", "slider", "calc")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    pq.write_table(pa.table(COLUMNS), tmp_path / "rows.parquet")
    return tmp_path / "rows.parquet"


def draft_of(path: Path) -> str:
    return draft_bounds(read_data_dictionary(path), "smoker").text


def with_statistics(path: Path) -> str:
    """A draft as it must not be: ranges from the file's own description of its rows."""
    group = pq.read_metadata(path).row_group(0)
    ends = [group.column(i).statistics for i in range(group.num_columns)]
    return "\n".join(f"{end.min} {end.max}" for end in ends if end is not None and end.has_min_max)


def test_a_schema_gives_names_and_types_and_no_value(table: Path) -> None:
    text = draft_of(table)
    assert "classes = [false, true]" in text
    assert 'age = ["?", "?"]' in text
    assert 'sex = ["?"]  # a dictionary-encoded column, whose values were not read' in text
    assert 'ward = ["?"]  # the dictionary lists no levels' in text
    assert 'came = ["?", "?"]  # the dictionary gives no first and last day' in text
    assert "# left out: scans (its type is 'list" in text
    assert "# left out: __index_level_0__" in text
    assert not [value for value in ("zebra", "okapi", "secret", "hidden", "4711", "203", "70", "18") if value in text]


def test_rows_and_statistics_of_a_parquet_file_make_no_difference(table: Path) -> None:
    wanted, revealed = draft_of(table), with_statistics(table)
    content = table.read_bytes()
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    table.write_bytes(content[:4] + bytes(footer - 4) + content[footer:])
    with refused("parquet.unreadable"):
        read_table(table, "the pages are gone")
    assert draft_of(table) == wanted
    others = {**COLUMNS, "age": [33, 44], "ward": ["x", "y"], "sex": pa.array(["o", "p"]).dictionary_encode()}
    pq.write_table(pa.table(others), table)
    assert draft_of(table) == wanted
    assert with_statistics(table) != revealed, "a draft that looks at them would differ"
    pq.write_table(pa.table(others), table, write_statistics=False, row_group_size=1)
    assert draft_of(table) == wanted


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["plain", "marked"])
def test_a_dictionary_is_told_by_its_beginning(mark: bytes, tmp_path: Path) -> None:
    path = tmp_path / "book"
    path.write_bytes(mark + b'"Variable / Field Name",Form,Field Type\r\nid,f,text\r\na,f,yesno\r\n')
    assert read_data_dictionary(path).kind == "a REDCap data dictionary"


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"age,sex,outcome\n314159,zebra,yes\n", id="rows"),
        pytest.param(b"age;sex\n41;\xff\xfezebra\n", id="rows that are no UTF-8"),
        pytest.param(b"\xff\xfea\x00g\x00e\x00\n\x00", id="UTF-16"),
        pytest.param(b"", id="nothing"),
        pytest.param(b"[[1, 2]]", id="a list of rows"),
        pytest.param(b'{"rows": [["zebra", 314159]]}', id="rows as JSON"),
        pytest.param(b"\x1f\x8b\x08zebra", id="packed"),
    ],
)
def test_rows_are_no_code_book_and_are_not_looked_into(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "north.csv"
    path.write_bytes(content)
    with refused("codebook.unknown") as caught:
        read_data_dictionary(path)
    assert "zebra" not in str(caught.value)
    assert "314159" not in str(caught.value)


def test_what_is_no_plain_file_or_no_text_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with refused("file.not_plain", kind="a pipe"):
        read_data_dictionary(tmp_path / "pipe")
    for content, said in (
        (b"Field Type,Variable / Field Name\ntext,\xff\n", "codebook.not_utf8"),
        (b"PAR1junkPAR1", "parquet.unreadable"),
    ):
        (tmp_path / "book").write_bytes(content)
        with refused(said):
            read_data_dictionary(tmp_path / "book")


# Data dictionaries of unknown origin: a draft, or one line.

CELLS = st.sampled_from(["", "a", "b", "y", *TYPES, "1, x | 2, y", "|,|", "integer", "date_dmy", "1e999", "9999-99-99"])


def drafted_or_refused(path: Path, label: str | None = None) -> None:
    try:
        found = draft_bounds(read_data_dictionary(path), label)
    except InputError:
        return
    assert all(line.isprintable() for line in found.text.splitlines())
    if not found.waiting:
        assert set(tomllib.loads(found.text)) >= {"label", "columns"}


@given(st.lists(st.lists(CELLS, max_size=9), max_size=5), st.sampled_from([None, "a", "b"]))
def test_any_dictionary_is_drafted_or_refused(rows: list[list[str]], label: str | None) -> None:
    with TemporaryDirectory() as place:
        path = Path(place) / "book.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([HEADINGS, *rows])
        drafted_or_refused(path, label)


@given(st.integers(0, 1 << 16), st.integers(0, 255))
def test_any_schema_is_drafted_or_refused(place: int, value: int) -> None:
    sink = io.BytesIO()
    pq.write_table(pa.table(COLUMNS), sink)
    content = bytearray(sink.getvalue())
    start = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    content[start + place % (len(content) - start)] = value
    with TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        path.write_bytes(content)
        drafted_or_refused(path)
