"""Columns of texts as pyarrow holds them: the same cells, and the same numbers to the bit, as cells read one by one."""

from __future__ import annotations

import hmac
import io
import json
import math
from collections.abc import Sequence
from contextlib import suppress
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from smc_dp.data import fingerprint
from smc_dp.data.columns import BinnedColumn, CategoricalColumn, NumericColumn
from smc_dp.data.file_format import DEFAULT_FORMAT, FileFormat
from smc_dp.data.limits import TABLE_LIMITS
from smc_dp.data.table import Cells, DictionaryColumn, ParsedColumn, Table, parse_column
from smc_dp.data.table_reader import _csv
from smc_dp.data.text_column import TextColumn, TextColumnBuilder

FORMS = (DEFAULT_FORMAT, FileFormat(decimal=","), FileFormat(thousands=","), FileFormat(true=("1", "x")))
COLUMNS = (
    NumericColumn("n", -1.0, 1.0),
    NumericColumn("n", -1.0, 1.0, "indicator"),
    BinnedColumn("n", (0.0, 1.0), 0.5),
    CategoricalColumn("n", ("1", "x")),
)
DIGITS = st.text("0123456789", max_size=40)
NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(allow_nan=False, allow_infinity=False).map(lambda x: f"{x:.17g}"),
    st.floats(allow_nan=False, allow_infinity=False).map(lambda x: f"{x:.4f}"),
    st.tuples(DIGITS, DIGITS, st.integers(-400, 400)).map(lambda p: f"{p[0]}.{p[1]}e{p[2]}"),
    st.integers().map(str),
)
ODD = st.one_of(
    st.sampled_from(["", " ", " 1", "+1", "1.", ".5", "1_0", "inf", "nan", "1e999", "٣", "1\n", "x", "1,5"]), st.text()
)


def one_by_one(cells: Sequence[str]) -> DictionaryColumn:
    """The cells as Python has them."""
    places: dict[str, int] = {}
    codes = np.array([places.setdefault(cell, len(places)) for cell in cells], dtype=np.int64)
    return DictionaryColumn(codes, tuple(places))


def built(pieces: Sequence[object], empty: Sequence[str] = ()) -> TextColumn:
    """The column of these pieces, each packed by itself."""
    builder = TextColumnBuilder(empty)
    for piece in pieces:
        builder.add([piece])
        builder._pack()
    return builder.column()


def told(read: ParsedColumn) -> tuple[bytes, dict[object, str]]:
    return read.values.tobytes(), {read.cells[i]: fault.code for i, fault in read.faults.items()}


def parsed(cells: Cells, column: NumericColumn | BinnedColumn | CategoricalColumn, form: FileFormat) -> ParsedColumn:
    return parse_column(Table("t", {"n": cells}, range(1, len(cells) + 1), form), column)


@given(st.one_of(st.lists(NUMBERS, max_size=30), st.lists(st.one_of(NUMBERS, ODD), max_size=8)), st.integers(1, 5))
@example(["4.9e-324", "2.4703282292062328e-324", "1.7976931348623157e308", "-0.0", "0" * 800 + "1." + "1" * 800], 2)
@example(["1e308", "1e309"], 1)
@example(["1e0000000000000000001", "1E+05", "-1e-5"], 1)
@example(["1", "", "2"], 2)
def test_numbers_are_those_of_cells_read_one_by_one_to_the_bit(cells: list[str], pieces: int) -> None:
    parts = [pa.array(cells[i::pieces], pa.string()) for i in range(pieces)]
    cells = [cell for i in range(pieces) for cell in cells[i::pieces]]
    for form in FORMS:
        for column in COLUMNS:
            assert told(parsed(built(parts), column, form)) == told(parsed(one_by_one(cells), column, form))


def row_by_row(key: bytes, rows: Sequence[Sequence[str]]) -> str:
    """The fingerprint of a table of columns a and b, from its definition."""

    def plain(text: str) -> str:
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        return repr(number + 0.0) if math.isfinite(number) and "_" not in text else text.strip()

    digests = (hmac.digest(key, b"row" + json.dumps([*map(plain, row)]).encode(), "sha256") for row in rows)
    total = sum(map(int.from_bytes, digests)) % 2**256
    return hmac.digest(key, b"smc-dp table 1" + json.dumps([["a", "b"], len(rows), total]).encode(), "sha256").hex()


@given(st.lists(st.tuples(NUMBERS, st.one_of(NUMBERS, ODD)), min_size=1, max_size=12), st.integers(1, 3))
@example([("452963628200.3701", "13004374943.012625"), ("0.0001", "1e-05"), ("-0", ""), ("1e22", "123456789012")], 1)
@example([("1", "10"), ("2", "1_0")], 1)
@example([("0.0009", "999999999.5"), ("1000000000", "0.001"), ("", 'a"b'), ("3", "\ud800")], 2)
def test_a_fingerprint_is_that_of_rows_taken_one_by_one(rows: list[tuple[str, str]], pieces: int) -> None:
    key, wanted = bytes(range(32)), row_by_row(bytes(range(32)), rows)
    texts = {name: [row[i] for row in rows] for i, name in enumerate("ab")}
    columns: dict[str, Cells] = dict(texts)
    read: dict[str, Cells] = {}
    for name, cells in texts.items():
        is_arrow = not any("\ud800" <= mark <= "\udfff" for cell in cells for mark in cell)
        size = -(-len(cells) // pieces)
        parts = [cells[i : i + size] for i in range(0, len(cells), size)]
        read[name] = built([pa.array(part, pa.string()) for part in parts]) if is_arrow else one_by_one(cells)
    with suppress(ValueError):  # a column of floats, as of a Parquet file
        floats = np.array([float(cell) for cell in texts["a"]])
        columns |= {"a": floats} if np.isfinite(floats).all() else {}
    with mock.patch.object(fingerprint, "_BLOCK", 5):
        for table in (read, texts, {name: one_by_one(cells) for name, cells in texts.items()}, columns):
            assert fingerprint.fingerprint_data(key, Table("t", table, range(1, len(rows) + 1))) == wanted


@given(st.lists(st.one_of(NUMBERS, ODD), max_size=8), st.lists(st.integers(0, 7), max_size=8))
def test_its_cells_are_those_of_a_dictionary_encoded_column(cells: list[str], order: list[int]) -> None:
    column, other = (
        built([pa.array(cells, pa.string())], ["x", "inf"]),
        one_by_one([{"x": "", "inf": ""}.get(c, c) for c in cells]),
    )
    places = np.array([i for i in order if i < len(cells)], dtype=np.int64)
    assert len(column.take(places)) == len(places)
    for ours, theirs in ((column, other), (column.take(places), other.take(places))):
        assert len(ours) == len(theirs)
        assert [ours.values[i] for i in ours.codes] == [theirs.values[i] for i in theirs.codes]
    assert column.values == other.values


@pytest.mark.parametrize("numbers", [["1.5", "-2", "3e1"], ["1.5", "NA", ""]])
def test_a_column_of_numbers_in_a_file_makes_no_texts_of_python(numbers: list[str]) -> None:
    content = "n,m\n" + "".join(f"{number},0\n" for number in numbers)
    form = FileFormat(missing=("NA",))
    table = _csv(io.BytesIO(content.encode()), "t", form, TABLE_LIMITS)
    column = table.columns["n"]
    assert isinstance(column, TextColumn)
    found = parsed(column, COLUMNS[1], form).values
    assert found.tolist()[0] == 1.5
    assert "_encoded" not in vars(column)  # no cell was looked at
    assert column.values[0] == "1.5"
