from __future__ import annotations

import csv
import datetime
import gzip
import io
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.parquet import parse_parquet

from smc_dp.core.errors import ColumnIgnoredWarning, InputError
from smc_dp.data import csv_cells, text_lines
from smc_dp.data.bounds import parse_bounds
from smc_dp.data.csv_cells import read_csv
from smc_dp.data.file_format import DEFAULT_FORMAT
from smc_dp.data.fingerprint import fingerprint_data
from smc_dp.data.limits import TABLE_LIMITS
from smc_dp.data.preprocess import encode_rows
from smc_dp.data.table_reader import parse_csv, read_table
from tests.support.refusals import refused
from tests.support.tables import numbers


def parquet(**columns) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue()


def test_csv_cells_are_what_the_file_says():
    table = parse_csv(b'\xef\xbb\xbfage,"full name"\r\n 41 ,"Doe, ""J"""\r\n1e1,x\r\n\r\n', "party north")
    assert table.rows == 2
    assert numbers(table, "age").tolist() == [41.0, 10.0]
    assert table.texts("full name") == ['Doe, "J"', "x"]


def test_parquet_cells_of_every_readable_type():
    content = parquet(
        i=pa.array([1, 2], pa.int8()),
        f=pa.array([0.5, -1], pa.float32()),
        b=[True, False],
        s=["x", "y"],
        d=[Decimal("1.50"), Decimal("2.00")],
        n=pa.nulls(2),
        h=pa.array([0.5, None], pa.float16()),
        day=pa.array([datetime.date(2020, 1, 31), None]),
        **{f"coded {kind}": pa.array(cells).dictionary_encode() for kind, cells in CODED.items()},
    )
    table = parse_parquet(content, "p")
    assert numbers(table, "i").tolist() == numbers(table, "coded numbers").tolist() == [1, 2]
    assert numbers(table, "f").tolist() == [0.5, -1]
    assert numbers(table, "d").tolist() == [1.5, 2]
    assert table.texts("b") == table.texts("coded truths") == ["true", "false"]
    assert numbers(table, "b").tolist() == [1, 0]
    assert table.texts("s") == table.texts("coded texts") == ["x", "y"]
    assert table.texts("i") == ["1", "2"]
    for name, cells in {
        "n": [None, None],
        "h": [0.5, None],
        "day": [datetime.date(2020, 1, 31), None],
        "coded days": CODED["days"],
    }.items():
        different, codes = table.different(name)
        assert [different[code] for code in codes] == cells


CODED = {"numbers": [1, 2], "truths": [True, False], "texts": ["x", "y"], "days": [datetime.date(1999, 12, 31)] * 2}
NOON = datetime.datetime(2020, 1, 31, 12)
DAY = datetime.date(2020, 1, 31)


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_a_moment_without_a_time_of_day_is_a_date_and_one_with_it_is_refused(unit):
    bounds = parse_bounds("[columns]\nd = [2020-01-01, 2020-12-31]\n[label]\nclasses = [0, 1]\n")
    midnight = pa.array([NOON.replace(hour=0)], pa.timestamp(unit))
    noon = pa.array([NOON.replace(hour=0), NOON], pa.timestamp(unit))
    abroad = pa.array([NOON.replace(hour=23)], pa.timestamp(unit, "UTC")).cast(pa.timestamp(unit, "Asia/Kolkata"))
    there = pa.array([NOON.replace(hour=18, minute=30)], pa.timestamp(unit, "UTC")).cast(abroad.type)
    assert parse_parquet(parquet(d=midnight), "p").different("d")[0] == (DAY,)
    assert parse_parquet(parquet(d=there), "p").different("d")[0] == (DAY + datetime.timedelta(1),)
    assert encode_rows(parse_parquet(parquet(d=midnight), "p"), bounds).shape == (1, 2)
    for column, row, cell in ((noon, 2, "2020-01-31 12:00:00"), (abroad, 1, "2020-02-01 04:30:00")):
        with refused("cell.not_a_date", at=f"p: column 'd', row {row}", recognised="time") as caught:
            encode_rows(parse_parquet(parquet(d=column, x=[1] * len(column)), "p"), bounds)
        assert str(caught.value.fault.fields["got"]).startswith(f"'{cell}")


def test_days_and_zones_that_nobody_knows_are_no_dates_and_hurt_no_other_column():
    far = pa.array([10**9, 0], pa.date32())
    nowhere = pa.array([0, 0], pa.timestamp("s", "Nowhere/Land"))
    table = parse_parquet(parquet(far=far, nowhere=nowhere, x=[1, 2]), "p")
    assert numbers(table, "x").tolist() == [1, 2]
    assert table.different("far")[0][1] == datetime.date(1970, 1, 1)
    for name in ("far", "nowhere"):
        with refused("cell.not_a_number", at=f"p: column '{name}', row 1"):
            numbers(table, name)


def test_a_column_nobody_uses_may_hold_anything():
    table = parse_parquet(parquet(age=[1, 2], when=[datetime.time(12), None], nested=[[1], [2, 3]]), "p")
    assert numbers(table, "age").tolist() == [1, 2]
    for name in ("when", "nested"):
        with refused("cell.not_a_number", at=f"p: column '{name}', row 1"):
            numbers(table, name)
    assert numbers(parse_csv(b"a,b\n1,\n", "p"), "a").tolist() == [1]


def test_a_column_without_a_name_is_ignored_where_it_holds_row_names_or_nothing():
    named = parse_csv(b"a,b\n1,2\n3,4\n", "p")
    for content, codes in (
        (b",a,b\n0,1,2\n1,3,4\n", ["header.row_names"]),
        (b'"","a",b\n"r 1",1,2\n"r 2",3,4\n', ["header.row_names"]),
        (b"a,b,, \n1,2,,\n3,4, ,\n", ["header.empty_column"] * 2),
        (b",a,,b\n0,1,,2\n1,3,,4\n", ["header.row_names", "header.empty_column"]),
    ):
        table = parse_csv(content, "p")
        assert [fault.code for fault in table.ignored] == codes
        assert fingerprint_data(b"k", table) == fingerprint_data(b"k", named)
        with pytest.warns(ColumnIgnoredWarning) as said:
            table.warn_of_ignored()
        assert [warning.message.code for warning in said] == codes
    assert not named.ignored


def test_rows_of_empty_cells_are_no_rows_where_the_site_says_so(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(",a,b\n1,1,2\n2,,\n3,3,\n4,,\n")  # names of rows do not fill one
    assert read_table(path, "p").rows == 4
    (tmp_path / "t.csv.toml").write_text("file = {skip_blank_rows = true}")
    table = read_table(path, "p")
    assert (table.texts("a"), table.row_numbers, table.number(1)) == (["1", "3"], [1, 3], 4)
    assert [fault.code for fault in table.ignored] == ["header.row_names"]


@pytest.mark.parametrize(
    ("content", "code", "fields"),
    [
        (b"", "csv.empty", {}),
        (b" \n\n", "csv.empty", {}),
        (b"\x7fELF\0\0\1", "text.binary", {}),
        (b"a,b\n\xff\xfe,1\n", "text.unreadable_byte", {"byte": 4}),
        (b"a,b\n1,2\n3\n", "csv.short_row", {"line": 3, "got": 1, "wanted": 2, "recognised": ""}),
        (b'"a","b"\n"1",1,2\n', "csv.ragged_row", {"line": 2, "got": 3, "wanted": 2, "recognised": "names of rows"}),
        (b"a,b\n1,2\n\n3,4\n", "csv.blank_row", {"line": 3}),
        (b"a,b\n1,2,3\n", "csv.ragged_row", {"line": 2, "got": 3, "wanted": 2}),
        (b"Report\na,b\n1,2\n", "csv.ragged_row", {"line": 2, "got": 2, "wanted": 1, "recognised": "title"}),
        (b'"sep=;"\r\na;b\r\n', "csv.line_of_excel", {}),
        (b"a,a\n1,2\n", "header.same_name", {"name": "'a'"}),
        (b"a,,b\n1,2,3\n", "header.no_name", {}),
        (b'a,b\n"1,2\n', "csv.unended_quote", {"where": "line 2"}),
        (b'a,"b\n1,2\n', "csv.unended_quote", {"where": "the header"}),
        (b'a,b\n1,"2" \n', "csv.text_after_quote", {"where": "line 2"}),
        (b"a\n1\n\n2\n", "csv.blank_row", {"line": 3}),
        (b'a\n"1\n\n2"\n\r\n3\r\n', "csv.blank_row", {"line": 3}),
        (b"\na,b\n1,2\n", "csv.no_header", {}),
        ("a,b\n1,2\n\ufeff3\n".encode(), "csv.short_row", {"line": 3, "got": 1}),
    ],
)
def test_malformed_csv_says_what_is_wrong(content, code, fields):
    with refused(code, at="p", **fields) as caught:
        parse_csv(content, "p")
    assert "\n" not in str(caught.value)


CELLS = st.sampled_from(
    ["a", "", "1.5", '"b"', '"c""d"', '"e\nf"', '"g,h"', '"\r\n"', ' "x"', 'i"j', "é", "\ufeff", '""']
)
ODD = st.sampled_from(["", "", "", '"', ",", "\n", "\r", "x", "\n\n"])


@settings(max_examples=150)
@given(
    st.lists(st.lists(CELLS, min_size=2, max_size=2), max_size=6),
    *(st.sampled_from(["\n", "\r\n", "\r"]),) * 2,
    *(ODD, st.integers(0, 60), st.sampled_from([1, 2, 7, 1 << 19]), st.sampled_from([1, 1 << 10])),
)
def test_csv_is_what_pythons_strict_reader_takes_for_it(rows, end, last, odd, place, chunk, at_once):
    """Another reader judges: the same cells, or neither reads it; wherever pieces end, by pyarrow or by hand."""
    text = "h,k" + end + "".join(",".join(row) + end for row in rows) + last * 2
    text = text[:place] + odd + text[place:] if place > 3 else text
    try:
        wanted = [row for row in csv.reader(io.StringIO(text, newline=""), strict=True)]
        while wanted and not wanted[-1]:
            wanted.pop()
        whole = all(len(row) == len(wanted[0]) for row in wanted)
    except csv.Error:
        whole = False
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_lines, "_CHUNK", chunk)
        patch.setattr(csv_cells, "_MOST_AT_ONCE", at_once)
        try:
            header, columns, count = read_csv(io.BytesIO(text.encode()), DEFAULT_FORMAT, TABLE_LIMITS)
        except InputError:
            assert not whole
            return
    assert whole
    assert header == wanted[0]
    cells = [c if isinstance(c, list) else [c.values[code] for code in c.codes] for c in columns]
    assert [[column[i] for column in cells] for i in range(count)] == wanted[1:]


@pytest.mark.parametrize(("code", "cells"), [
    ("cell.empty", ["", " "]),
    ("cell.not_a_number", ["abc", "1_000", "1,5", "0x10"]),
    ("cell.not_finite", ["nan", "inf", "-Infinity", "1e999"]),
])  # fmt: skip
def test_a_numeric_column_takes_finite_numbers_only(code, cells):
    for cell in cells:
        table = parse_csv(f'age\n1\n"{cell}"\n'.encode(), "party north (n.csv)")
        with refused(code, at="party north (n.csv): column 'age', line 3"):
            numbers(table, "age")


@pytest.mark.parametrize(("cell", "number", "text"), [
    (None, "cell.empty", "cell.empty"),
    (float("nan"), "cell.empty", "cell.empty"),
    (float("inf"), "cell.not_finite", "cell.not_a_text"),
])  # fmt: skip
def test_missing_and_infinite_parquet_cells_are_refused(cell, number, text):
    table = parse_parquet(parquet(age=[1.0, cell]), "p")
    with refused(number, at="p: column 'age', row 2"):
        numbers(table, "age")
    with refused(text, at="p: column 'age', row 2"):
        table.texts("age")


def test_taken_rows_keep_their_numbers_in_the_file():
    table = parse_csv(b"a\n1\n2\nx\n", "t").take(np.array([0, 2]), "party north")
    with refused("cell.not_a_number", at="party north: column 'a', line 4"):
        numbers(table, "a")


def test_the_kind_of_file_is_told_by_its_ending_or_first_bytes(tmp_path):
    for name, content in {"a.csv": b"x\n1\n", "b.parquet": parquet(x=[1]), "c.data": parquet(x=[1])}.items():
        (tmp_path / name).write_bytes(content)
        assert numbers(read_table(tmp_path / name, name), "x").tolist() == [1]
    (tmp_path / "d.parquet").write_bytes(b"x\n1\n")
    with refused("parquet.unreadable"):
        read_table(tmp_path / "d.parquet", "d")
    for missing, code in {"e.csv": "file.unreadable", ".": "file.is_folder"}.items():
        with refused(code, at="e"):
            read_table(tmp_path / missing, "e")


FOREIGN = {
    "t.xlsx": (b"PK\x03\x04", "an Excel workbook", 'pandas.read_excel("t.xlsx").to_csv("t.csv", index=False)'),
    "workbook.csv": (b"PK\x03\x04", "a zip archive or an Excel workbook", "unpack it, or save the workbook"),
    "old.csv": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an Excel workbook", 'pandas.read_excel("old.csv")'),
    "t.ods": (b"", "an OpenDocument workbook", 'pandas.read_excel("t.ods")'),
    "t.feather": (b"ARROW1\0\0", "a Feather file", 'pandas.read_feather("t.feather").to_parquet("t.parquet")'),
    "first.data": (b"FEA1", "a Feather file", "pandas.read_feather("),
    "t.sas7bdat": (b"", "a SAS file", "pandas.read_sas("),
    "t.dta": (b"", "a Stata file", "pandas.read_stata("),
    "T.SAV": (b"", "an SPSS file", 'pandas.read_spss("T.SAV", convert_categoricals=False).to_csv("T.csv"'),
    "t.rds": (b"\x1f\x8b\x08", "an R file", 'Rscript -e \'write.csv(readRDS("t.rds"), "t.csv", row.names = FALSE)\''),
    "t.json": (b'{"a": 1}', "a JSON file", "pandas.read_json("),
    "t.csv.xz": (b"\xfd7zXZ\0", "packed by xz", "unpack it"),
    f"{'x' * 200}.json": (b"", "a JSON file", 'pandas.read_json("FILE.json")'),
    "t.parquet.gz": (gzip.compress(b"PAR1"), "a Parquet file packed by gzip", "gunzip it"),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_a_file_of_another_program_is_refused_with_what_makes_a_table_of_it(name, tmp_path):
    content, what, how = FOREIGN[name]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_table(tmp_path / name, "north")
    assert caught.value.code in ("file.other_program", "file.packed", "gzip.parquet")
    assert what in str(caught.value)
    assert how in str(caught.value)
    assert len(str(caught.value)) < 300


def test_a_damaged_parquet_file_is_a_table_or_an_input_error():
    """Whatever pyarrow raises: a refusal is the only error that comes."""
    good, refusals = parquet(age=[1.5, 2.5, 3.5], sex=["f", "m", "f"]), list[InputError]()
    for position in range(0, len(good), 2):
        damaged = bytearray(good)
        damaged[position] ^= 0xFF
        try:
            table = parse_parquet(bytes(damaged), "p")
            for name in table.columns:
                table.texts(name)
                numbers(table, name)
        except InputError as error:
            refusals.append(error)
    assert all(str(error).startswith("p: ") for error in refusals)
    raised = {type(getattr(error.__context__, "__cause__", None)) for error in refusals}
    assert {OSError, UnicodeDecodeError, pa.ArrowInvalid} <= raised
