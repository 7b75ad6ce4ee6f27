"""Tables and bounds of any content are read in bounded memory and time, or refused in one line: small limits here, the
true ones in a process of its own.
"""

from __future__ import annotations

import datetime
import gzip
import io
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.parquet import parse_parquet

from smc_dp.core import reading
from smc_dp.core.errors import InputError
from smc_dp.data import csv_cells, dictionary_encoding, limits, parquet_cells, text_lines
from smc_dp.data.bounds import Bounds, CategoricalColumn, parse_bounds, read_bounds
from smc_dp.data.file_format import FileFormat
from smc_dp.data.limits import BYTES_OF_CELL, MOST_CELLS, TableLimits, allow_cells, cells_in, owners_limits
from smc_dp.data.preprocess import encode_rows
from smc_dp.data.table import DictionaryColumn
from smc_dp.data.table_reader import parse_csv, read_table
from tests.support.refusals import pasted, refused
from tests.support.tables import numbers

SMALL = TableLimits(cells=20, columns=8, bytes=5000, text=400, line=60)


def said(content: bytes, tmp_path: Path, name: str = "t.csv", limits: TableLimits = SMALL) -> str:
    """What is said of a table under small limits; "" if it is read."""
    (tmp_path / name).write_bytes(content)
    try:
        read_table(tmp_path / name, "t", limits)
    except InputError as error:
        return str(error)
    return ""


CSV: dict[str, tuple[bytes, bytes, str]] = {  # what is refused, its twin that is read, what is said
    "cells": (b"a,b\n" + b"1,2\n" * 11, b"a,b\n" + b"1,2\n" * 10, "t: has at least 22 cells (11 rows of 2 "),
    "columns": (b"a,b,c,d,e,f,g,h,i\n", b"a,b,c,d,e,f,g,h\n", "t: has 9 columns, wanted at most 8"),
    "line": (b"a\n" + b"x" * 61, b"a\n" + b"x" * 60, "t: has a line of more than 60 characters"),
    "line of commas": (b"a\n" + b"," * 61, b"a\n" + b"x" * 60, "t: has a line of more than 60 characters"),
    "empty lines": (b"a\n" + b"\n" * 21, b"a\n" + b"\n" * 20, "t: has more than 20 lines"),
    "lines of a text": (b'a\n"' + b"\n" * 21 + b'"', b'a\n"' + b"\n" * 19 + b'"', "t: has more than 20 lines"),
    "text": (b"a\n" + b"x" * 50 + b"\n" + (b"x" * 50 + b"\n") * 7, b"a\n" + b"x" * 50, "t: takes more than 400 bytes"),
    "wide characters": (
        b"a\n" + "\U0001f600".encode() * 50 + b"\n" + "\U0001f600".encode() * 50,
        b"a\n" + "\U0001f600".encode() * 50,
        "t: takes more than 400 bytes in memory",
    ),
    "bytes": (b"a\n" + b"x\n" * 2500, b"a\nx\n", "t: is larger than 5,000 bytes"),
}  # fmt: skip


@pytest.mark.parametrize("name", CSV)
def test_a_csv_file_is_refused_as_soon_as_it_is_too_large(name: str, tmp_path: Path) -> None:
    large, twin, words = CSV[name]
    assert said(large, tmp_path).startswith(words)
    assert said(twin, tmp_path) == ""


def test_a_row_that_goes_on_for_ever_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_cells, "_LONGEST_ROW", 100)
    monkeypatch.setattr(text_lines, "_CHUNK", 16)
    row = b'"\n",' * 10 + b"1\n"
    ragged = said(b"a\n" + row, tmp_path, limits=TableLimits())
    assert ragged.startswith("t: line 2: wanted as many cells as the header has (1), got 11")
    assert said(b"a\n" + row[:-2] * 20, tmp_path, limits=TableLimits()).startswith(
        "t: has a row of too many characters"
    )


@pytest.mark.parametrize("at_once", [1 << 10, 2])
def test_a_csv_file_in_pieces_is_the_same_table(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks and rows end in different places; so few columns go to pyarrow at once, and more are read by hand."""
    monkeypatch.setattr(csv_cells, "_MOST_AT_ONCE", at_once)
    monkeypatch.setattr(text_lines, "_CHUNK", 1 << 12)
    monkeypatch.setattr(dictionary_encoding, "_MANY", 1000)
    rows = [(str(i), 'a\r\n"b",c' if i % 3 else "no", "") for i in range(2_000)]
    text = "n,c,e\n" + "".join('{},"{}",{}\n'.format(n, c.replace('"', '""'), e) for n, c, e in rows)
    table = parse_csv((text + "\n" * 700).encode(), "t")
    assert table.rows == len(rows)
    cells = [table.different(name) for name in table.columns]
    assert [tuple(found[codes[i]] for found, codes in cells) for i in range(len(rows))] == rows
    assert isinstance(table.columns["c"], DictionaryColumn) == (at_once > 3)
    assert len(table.different("c")[0]) == 2
    for empty in (1, 255, 6000):
        with refused("csv.blank_row", line=2002):
            parse_csv((text + "\n" * empty + "1,2,3\n").encode(), "t")


@pytest.mark.parametrize("at", [0, 1, (1 << 20) - 1, 1 << 20, (1 << 20) + 7])
def test_the_first_byte_that_is_no_text_is_named(at: int) -> None:
    content = b"a\n" + b"x" * 60_000 + b"\n" + b"".join(b"y" * 60_000 + b"\n" for _ in range(20))
    content = content[:at] + b"\xff" + content[at:] if at > 1 else b"\xff" * (1 - at) + b"a\xff" * at
    wanted = at if at > 1 else content.index(b"\xff")
    with refused("text.unreadable_byte", encoding="UTF-8", byte=wanted):
        parse_csv(content, "t")


def parquet(table: Any, **options: Any) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink, **options)
    return sink.getvalue()


def unpacked(*_: Any) -> Any:
    raise AssertionError("nothing may be unpacked")


PARQUET: dict[str, tuple[Any, Any, dict[str, Any], str]] = {
    "cells": (pa.table({"a": [1] * 11, "b": [1] * 11}), pa.table({"a": [1] * 10, "b": [1] * 10}), {}, "t: has 22 "),
    "columns": (
        pa.table({f"c{i}": [1] for i in range(9)}), pa.table({f"c{i}": [1] for i in range(4)}), {}, "t: has 9 columns",
    ),
    "what it unpacks to": (
        pa.table({"a": ["x" * 900]}), pa.table({"a": ["x" * 9]}),
        {"use_dictionary": False, "compression": "zstd"}, "t: takes more than 400 bytes in memory",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PARQUET)
def test_a_parquet_file_is_refused_before_it_is_unpacked(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    large, twin, options, words = PARQUET[name]
    assert said(parquet(twin, **options), tmp_path, "t.parquet") == ""
    monkeypatch.setattr(parquet_cells, "_cells", unpacked)
    assert said(parquet(large, **options), tmp_path, "t.parquet").startswith(words)


def test_a_file_that_lies_about_its_size_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The description may say less than what comes out of the file, and a dictionary has a text of many rows once."""
    monkeypatch.setattr(parquet_cells, "_check_unpacked", lambda *_: None)
    monkeypatch.setattr(parquet_cells, "_AT_ONCE", 2)
    lying = pa.table({"a": [f"{i}" + "x" * 90 for i in range(6)]})
    honest = pa.table({"a": ["x" * 40] * 6})
    for options in ({"use_dictionary": False}, {}):
        for large in (lying, pa.table({"a": ["x" * 90] * 6})):
            words = said(parquet(large, **options), tmp_path, "t.parquet")
            assert words.startswith("t: takes more than 400 bytes in memory")
        assert said(parquet(honest, **options), tmp_path, "t.parquet") == ""


def test_a_long_description_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = parquet(pa.table({"a": [1]}))
    monkeypatch.setattr(parquet_cells, "_LONGEST_FOOTER", 100)
    assert said(content, tmp_path, "t.parquet").startswith("t: describes itself in ")
    monkeypatch.setattr(parquet_cells, "_LONGEST_FOOTER", 10_000)
    assert said(content, tmp_path, "t.parquet") == ""


def test_a_text_of_a_dictionary_is_one_text_however_often_it_stands_there() -> None:
    codes = pa.array(np.arange(1000, dtype=np.int32) % 2)
    column = pa.DictionaryArray.from_arrays(codes, pa.array(["x" * 100, "y"]))
    for made in (column, column.cast(pa.string()), column.cast(pa.large_string())):
        found, codes = parse_parquet(parquet(pa.table({"s": made, "n": [*range(999), None]})), "t").different("s")
        assert found == ("x" * 100, "y")
        assert codes.tolist() == [0, 1] * 500
    found, codes = parse_parquet(parquet(pa.table({"s": ["x", None, "y", "x"]})), "t").different("s")
    assert (found, codes.tolist()) == (("x", None, "y"), [0, 1, 2, 0])


def test_a_parquet_column_in_parts_is_the_same_column(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of few rows, cells that are missing in one part only, and so many different ones that none is looked up."""
    for name, value in (("_AT_ONCE", 3), ("_HELD", 2)):
        monkeypatch.setattr(parquet_cells, name, value)
    monkeypatch.setattr(dictionary_encoding, "_MANY", 6)
    days = [datetime.date(2020, 1, 1 + i % 5) for i in range(20)]
    columns: dict[str, list[object]] = {
        "texts": [f"{i}" for i in range(20)], "days": [*days], "whole": [*range(19), None],
        "numbers": [i / 3 for i in range(20)], "gaps": [*(i / 3 for i in range(19)), None],
    }  # fmt: skip
    table = parse_parquet(parquet(pa.table(columns)), "t")
    for name, cells in columns.items():
        different, codes = table.different(name)
        assert [different[code] for code in codes] == cells
    assert isinstance(table.columns["numbers"], np.ndarray)
    assert len(table.different("days")[0]) == 5


def test_columns_of_no_use_are_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    table = pa.table({"a": [1, 2], "b": [b"x" * 900] * 2, "l": [[1] * 900] * 2})
    names: list[str] = []
    in_batches = pq.ParquetFile.iter_batches

    def noted(self: Any, *, columns: list[str], **options: Any) -> Any:
        names.extend(columns)
        return in_batches(self, columns=columns, **options)

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", noted)
    read = parse_parquet(parquet(table), "t")
    assert names == ["a"]
    assert numbers(read, "a").tolist() == [1, 2]
    with refused("cell.not_a_text", at="column 'b', row 1"):
        read.texts("b")


# What stands where a file should.


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes, sockets and devices as POSIX has them")
def test_only_plain_files_are_read_and_links_to_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.chdir(tmp_path)  # the name of a socket has at most 108 bytes
    bound = socket.socket(socket.AF_UNIX)
    bound.bind("socket")
    (tmp_path / "zero").symlink_to("/dev/zero")
    (tmp_path / "plain").write_text("a\n1\n")
    (tmp_path / "link").symlink_to("plain")
    codes = {**dict.fromkeys(("pipe", "zero"), "file.not_plain"), ".": "file.is_folder"}
    for name in ("pipe", "zero", "socket", ".", "missing"):
        for read in (lambda path: read_table(path, f"bounds file {path}"), read_bounds):
            with refused(codes.get(name, "file.unreadable"), at="bounds file "):
                read(tmp_path / name)
    bound.close()
    for read_any in (lambda path: read_table(path, "t"), lambda path: reading.read_file(path, links=True)):
        assert read_any(tmp_path / "link") is not None
    with refused("file.no_name"):
        reading.read_file(Path("\0"))


# Bounds.

GOOD = '[columns]\nx = [0, 1]\n[label]\nclasses = ["a", "b"]\n'
LABORIOUS = {
    "a key of many parts": ("a" + ".a" * 200_000 + " = 1\n", "toml.too_many_marks"),
    "sections in sections": ("".join(f"[{'a.' * 500}k{i}]\n" for i in range(400)), "toml.too_many_marks"),
    "lists in lists": ("a = " + "[" * 200_000, "toml.too_many_marks"),
    "tables in tables": ("a = " + "{a=" * 200_000, "toml.too_many_marks"),
    "a text without end": ('a = """' + '\\"""' * 200_000, "toml.unended_text"),
    "an integer of many digits": (GOOD.replace("0,", "0x" + "f" * 200_000 + ","), "document.wrong_value"),
    "a class of many digits": (GOOD.replace('"a"', "0x" + "f" * 200_000), "columns.wrong_level"),
    "very many categories": (
        GOOD.replace("[0, 1]", str([str(i) for i in range(100_001)])),
        "columns.too_many_features",
    ),
}


@pytest.mark.parametrize("name", LABORIOUS)
def test_a_description_that_takes_a_parser_long_is_refused_at_once(name: str) -> None:
    """Each took minutes, much memory, or ended in a traceback."""
    text, code = LABORIOUS[name]
    with refused(code) as caught:
        parse_bounds(text)
    assert len(str(caught.value)) < 200


def test_dots_and_brackets_in_texts_and_comments_are_no_marks() -> None:
    dotted = ".[{" * 20_000
    for text in (
        f'"{dotted}"',
        f"'{dotted}'",
        f'"""{dotted}"""',
        f"'''{dotted}'''",
        f'"\\"{dotted}"',
        f'"c" # {dotted}\n',
    ):
        found = parse_bounds(GOOD.replace("[0, 1]", f"[{text}]"))
        assert len(found.columns) == 1
    assert parse_bounds(GOOD).dimension == 2


def test_features_that_would_fill_the_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    bounds = Bounds((CategoricalColumn("x", ("u", "v", "w")),), ("a", "b"))
    table = parse_csv(b"x\nu\nv\n", "t")
    assert encode_rows(table, bounds).shape == (2, 4)
    monkeypatch.setattr(limits, "_MOST_FEATURES", 6)
    with allow_cells(7), refused("rows.too_many_features", most=7, got="2 rows of 4 features"):
        encode_rows(table, bounds)
    with allow_cells(8):
        assert encode_rows(table, bounds).shape == (2, 4)


# True sizes, as a command meets them, in a process with a limit of its own.

_MEASURED = """
import contextlib, io, json, resource, sys, time
import pyarrow.compute, pyarrow.csv, pyarrow.parquet, smc_dp.run.simulation
from smc_dp.cli.main import main

def memory(which):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(which)) * 1024

given = ["--bounds", "bounds.toml", "--most-cells", "20000000"]
with contextlib.redirect_stdout(io.StringIO()):  # what is kept from the first table lies below all large ones
    main(["bounds", "check", "south.csv", *given])
limit = memory("VmSize:") + (3 << 29)
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
for path in map(str.strip, sys.stdin):
    open("/proc/self/clear_refs", "w").write("5")  # the peak begins here
    said, before, start = io.StringIO(), memory("VmHWM:"), time.process_time()
    with contextlib.redirect_stderr(said):
        code = main(["run", "--party", f"north={path}", "--party", "south.csv", *given])
    used = memory("VmHWM:") - before
    print(json.dumps([code, said.getvalue(), used, time.process_time() - start]), flush=True)
"""


def repeated(piece: bytes, size: int, start: bytes = b"a,b\n") -> Callable[[Path], None]:
    def write(path: Path) -> None:
        with path.open("wb") as file:
            file.write(start)
            for _ in range(size // len(piece)):
                file.write(piece)

    return write


def packed(piece: bytes, times: int, start: bytes = b"a,b\n") -> Callable[[Path], None]:
    """As gzip packs it, a member for each time."""
    return lambda path: (path.write_bytes(gzip.compress(start) + gzip.compress(piece) * times), None)[1]


def rle(path: Path) -> None:
    pq.write_table(pa.table({"a": np.zeros(50_000_000, np.int8)}), path)


def bomb(path: Path) -> None:
    rows = pa.table({"s": ["y" * 1_000_000] * 20})
    with pq.ParquetWriter(path, rows.schema, use_dictionary=False, compression="zstd") as writer:
        for _ in range(60):
            writer.write_table(rows)


def dictionary(path: Path) -> None:
    codes = pa.array(np.zeros(19_000_000, np.int32))
    pq.write_table(pa.table({"s": pa.DictionaryArray.from_arrays(codes, pa.array(["x" * 1_000_000]))}), path)


def long_name(path: Path) -> None:
    flags, name = b"\x1f\x8b\x08\x08" + bytes(6), b"x" * (1 << 22)
    path.write_bytes(flags + name + b"\0" + gzip.compress(b"a,b\n")[10:])


TRUE: dict[str, tuple[str, Callable[[Path], None], str]] = {
    "one line": ("csv", repeated(b"x" * (1 << 20), 1 << 26), "has a line of more than 33,554,432 characters"),
    "empty lines": ("csv", repeated(b"\n" * (1 << 20), 1 << 25), "has more than 20,000,000 lines"),
    "a row without end": ("csv", repeated(b'"\n",' * (1 << 18), 1 << 26), "has a row of too many characters"),
    "a column of very many cells": ("csv", repeated(b"1\n" * (1 << 18), 42_000_000, b"a\n"), "more than 20,000,000"),
    "long cells": ("csv", repeated(b"x" * 100_000 + b",1\n", 1 << 27), "column 'age' is missing"),
    "two million columns": ("csv", repeated(b",a" * (1 << 20), 1 << 22, b"a"), "has 2,097,153 columns, wanted at most"),
    "a sparse file": ("csv", lambda path: (path.touch(), os.truncate(path, 1 << 40), None)[2], "is larger than 640,"),
    "zeros": ("csv", lambda path: (path.touch(), os.truncate(path, 1 << 28), None)[2], "it has a byte 0"),
    "lines packed": ("csv.gz", packed(b"x" * 65_535 + b"\n", 20_000, b"a\n"), "takes more than 1,073,741,824 bytes"),
    "packed twice": ("csv.gz", lambda path: (path.write_bytes(gzip.compress(gzip.compress(b"a"))), None)[1], "byte 0"),
    "half of what was packed": (
        "csv.gz", lambda path: (path.write_bytes(gzip.compress(b"a,b\n" * 9)[:-4]), None)[1], "cannot be unpacked",
    ),
    "a long name in what was packed": ("csv", long_name, "has no rows"),
    "rows of one value": ("parquet", rle, "has 50,000,000 cells"),
    "texts that unpack to gigabytes": ("parquet", bomb, "takes more than 1,073,741,824 bytes"),
    "a long text in every row": ("parquet", dictionary, "takes more than 1,073,741,824 bytes"),
}  # fmt: skip


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[subprocess.Popen[str]]:
    """A process that runs each file it is told of with another party's, and says how that ended."""
    folder = tmp_path_factory.mktemp("measured")
    (folder / "south.csv").write_text("age,outcome\n1,no\n2,yes\n")
    (folder / "bounds.toml").write_text(
        '[columns]\nage = [0, 120]\n[label]\nclasses = ["no", "yes"]\ncolumn = "outcome"\n'
    )
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", _MEASURED], cwd=folder, **pipes) as process:
        yield process
        process.stdin.close()


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="peaks of memory as Linux has them")
@pytest.mark.parametrize("name", TRUE)
def test_memory_and_time_are_bounded_at_true_sizes(name: str, measured: subprocess.Popen[str], tmp_path: Path) -> None:
    ending, write, words = TRUE[name]
    path = tmp_path / f"t.{ending}"
    write(path)
    assert measured.stdin is not None
    print(path, file=measured.stdin, flush=True)
    code, line, memory, seconds = json.loads(measured.stdout.readline())
    path.unlink()
    assert code == 2
    assert all(each.startswith("error: party north (") for each in line.splitlines())
    assert words in line
    assert memory < 5 << 28  # a table holds up to 2^30 bytes of text
    assert seconds < 60


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_the_owner_of_a_table_says_how_many_cells_it_may_have(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"t.{ending}"
    columns = {name: [1.5] * 6 for name in "ab"}
    if ending == "csv":
        path.write_text("a,b\n" + "1.5,1.5\n" * 6)
    else:
        pq.write_table(pa.table(columns), path)
    few = TableLimits(cells=10)
    with refused("table.too_many_cells", most=10) as caught:
        read_table(path, "t", few)
    said = str(caught.value)
    assert "write most_cells = 100 into [file] of " in said
    assert "12 cells" in said
    (tmp_path / f"t.{ending}.toml").write_text(pasted(said))
    assert read_table(path, "t", few).rows == 6
    assert read_table(path, "t", few, FileFormat()).rows == 6
    (tmp_path / f"t.{ending}.toml").unlink()
    assert read_table(path, "t", few, FileFormat(most_cells=12)).rows == 6
    with refused("table.too_many_cells", most=11):
        read_table(path, "t", few, FileFormat(most_cells=11))


def test_the_option_goes_before_the_file_and_the_file_before_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "free_memory", lambda: 64_000_000 * BYTES_OF_CELL)
    assert owners_limits().cells == 32_000_000  # half of what is free
    assert owners_limits().bytes == 32_000_000 * BYTES_OF_CELL
    assert owners_limits(7).cells == 7
    with allow_cells(9), allow_cells(None):
        assert owners_limits().cells == owners_limits(7).cells == owners_limits(7, TableLimits(cells=5)).cells == 9
    assert owners_limits(7, TableLimits(cells=5)).cells == 7
    assert owners_limits(usual=TableLimits(cells=5)).cells == 5
    monkeypatch.setattr(limits, "free_memory", lambda: None)
    assert owners_limits() == TableLimits()


def test_little_and_much_memory_give_a_number_of_cells_that_an_owner_may_state() -> None:
    assert cells_in(0) == 1_000_000
    assert cells_in(1 << 60) == MOST_CELLS
    for wrong in (0, MOST_CELLS + 1):
        with refused("form.wrong_number", most=MOST_CELLS, got=wrong), allow_cells(wrong):
            pass
