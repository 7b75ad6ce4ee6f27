from __future__ import annotations

import datetime
import io
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smc_dp.data.tables import parse_csv, parse_parquet, read_table
from smc_dp.errors import InputError


def parquet(**columns) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue()


def test_csv_cells_are_what_the_file_says():
    table = parse_csv(b'\xef\xbb\xbfage,"full name"\r\n 41 ,"Doe, ""J"""\r\n1e1,x\r\n\r\n', "party north")
    assert table.rows == 2
    assert table.numbers("age").tolist() == [41.0, 10.0]
    assert table.texts("full name") == ['Doe, "J"', "x"]


def test_parquet_cells_of_every_readable_type():
    content = parquet(
        i=pa.array([1, 2], pa.int8()),
        f=pa.array([0.5, -1], pa.float32()),
        b=[True, False],
        s=["x", "y"],
        c=pa.array(["u", "v"]).dictionary_encode(),
        d=[Decimal("1.50"), Decimal("2.00")],
    )
    table = parse_parquet(content, "p")
    assert table.numbers("i").tolist() == [1, 2]
    assert table.numbers("f").tolist() == [0.5, -1]
    assert table.numbers("d").tolist() == [1.5, 2]
    assert table.texts("b") == ["true", "false"]
    assert table.texts("c") == ["u", "v"]
    assert table.texts("i") == ["1", "2"]


def test_a_column_nobody_uses_may_hold_anything():
    when = [datetime.datetime(2020, 1, 1), None]
    table = parse_parquet(parquet(age=[1, 2], when=when, nested=[[1], [2, 3]]), "p")
    assert table.numbers("age").tolist() == [1, 2]
    with pytest.raises(InputError, match="p: column 'when', row 1: wanted a number"):
        table.numbers("when")
    assert parse_csv(b"a,b\n1,\n", "p").numbers("a").tolist() == [1]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "p: the file is empty"),
        (b" \n\n", "p: the file is empty"),
        (b"\x7fELF\0\0\1", "p: is not a text file"),
        (b"a,b\n\xff\xfe,1\n", "p: is not UTF-8 text"),
        (b"a,b\n1,2\n3\n", "p: row 2 has 1 cells, the header has 2"),
        (b"a,b\n1,2\n\n3,4\n", "p: row 2 has 0 cells"),
        (b"a,b\n1,2,3\n", "p: row 1 has 3 cells, the header has 2"),
        (b"a,a\n1,2\n", "p: column 'a' occurs twice in the header"),
        (b"a,,b\n1,2,3\n", "p: the header has an empty column name"),
        (b'a,b\n"1,2\n', "p: is not CSV"),
    ],
)
def test_malformed_csv_says_what_is_wrong(content, message):
    with pytest.raises(InputError) as caught:
        parse_csv(content, "p")
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("cell", ["", " ", "abc", "nan", "inf", "-Infinity", "1e999", "1_000", "1,5", "0x10"])
def test_a_numeric_column_takes_finite_numbers_only(cell):
    table = parse_csv(f'age\n1\n"{cell}"\n'.encode(), "party north (n.csv)")
    with pytest.raises(InputError, match=r"party north \(n\.csv\): column 'age', row 2: wanted a"):
        table.numbers("age")


@pytest.mark.parametrize("cells", [[1.0, None], [1.0, float("nan")], [1.0, float("inf")]])
def test_missing_and_infinite_parquet_cells_are_refused(cells):
    table = parse_parquet(parquet(age=cells), "p")
    with pytest.raises(InputError, match="p: column 'age', row 2: wanted a"):
        table.numbers("age")
    with pytest.raises(InputError, match="p: column 'age', row 2: wanted a"):
        table.texts("age")


def test_a_missing_column_names_those_that_are_there():
    with pytest.raises(InputError, match=r"p: column 'age' is missing; the table has Age, sex"):
        parse_csv(b"Age,sex\n1,f\n", "p").numbers("age")


def test_taken_rows_keep_their_numbers_in_the_file():
    table = parse_csv(b"a\n1\n2\nx\n", "t").take(np.array([0, 2]), "party north")
    with pytest.raises(InputError, match="party north: column 'a', row 3"):
        table.numbers("a")


def test_the_kind_of_file_is_told_by_its_ending_or_first_bytes(tmp_path):
    for name, content in {"a.csv": b"x\n1\n", "b.parquet": parquet(x=[1]), "c.data": parquet(x=[1])}.items():
        (tmp_path / name).write_bytes(content)
        assert read_table(tmp_path / name, name).numbers("x").tolist() == [1]
    (tmp_path / "d.parquet").write_bytes(b"x\n1\n")
    with pytest.raises(InputError, match="d: is not a Parquet file"):
        read_table(tmp_path / "d.parquet", "d")
    for missing in ("e.csv", "."):
        with pytest.raises(InputError, match="e: cannot be read"):
            read_table(tmp_path / missing, "e")


def complaint(parse, content: bytes) -> str | None:
    """What is said about a file when all its columns are asked for in both ways."""
    try:
        table = parse(content, "p")
        for name in table.columns:
            table.texts(name)
            table.numbers(name)
    except InputError as error:
        return str(error)
    return None


@pytest.mark.parametrize("parse", [parse_csv, parse_parquet])
@given(content=st.binary(max_size=300))
def test_any_bytes_are_a_table_or_an_input_error(parse, content):
    said = complaint(parse, content)
    assert said is None or said.startswith("p: ")


GOOD = parquet(age=[1.5, 2.5, 3.5], sex=["f", "m", "f"])


@given(st.integers(0, len(GOOD) - 1), st.integers(1, 255))
def test_a_damaged_parquet_file_is_a_table_or_an_input_error(position, change):
    content = bytearray(GOOD)
    content[position] ^= change
    said = complaint(parse_parquet, bytes(content))
    assert said is None or said.startswith("p: ")
