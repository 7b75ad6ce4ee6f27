"""A table that is written otherwise: read as its file shows or says it is, refused as anything else with the line to
write, and one table for a ledger.
"""

from __future__ import annotations

import csv
import datetime
import gzip
import io
import itertools
import os
import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import smc_dp.data
from smc_dp.core.errors import InputError, one_line
from smc_dp.data.bounds import parse_bounds
from smc_dp.data.file_format import DATES, DEFAULT_FORMAT, FileFormat
from smc_dp.data.fingerprint import fingerprint_data
from smc_dp.data.format_sections import FileFormatDocument
from smc_dp.data.limits import TABLE_LIMITS
from smc_dp.data.preprocess import encode_labelled_rows
from smc_dp.data.sources import read_own_files
from smc_dp.data.spelling_evidence import SpellingEvidence
from smc_dp.data.table import Table
from smc_dp.data.table_reader import _csv, placed, read_table
from smc_dp.deploy import preflight
from tests.support.refusals import pasted, refused
from tests.support.tables import numbers

KEY = bytes(range(32))
NAMES = ("größe", "stadt", "code", "ja", "seit")
ROWS = [
    ("3.5", "Köln", "250.00", "1", "2020-02-01"),
    ("-0.25", "“Bern”, CH", "", "0", "1999-12-31"),
    ("1000", "a;b\tc|d\n", "E11", "1.0", ""),
]
WRITTEN = {
    "yyyy-mm-dd": "%Y-%m-%d",
    "yyyy/mm/dd": "%Y/%m/%d",
    "dd.mm.yyyy": "%d.%m.%Y",
    "mm/dd/yyyy": "%m/%d/%Y",
    "dd/mm/yyyy": "%d/%m/%Y",
    "dd-mmm-yyyy": "%d-%b-%Y",
}
WRITTEN |= {f"{name} 00:00:00": f"{pattern} 00:00:00" for name, pattern in WRITTEN.items()}
BOUNDS = parse_bounds(
    '[columns]\n"größe" = [-1, 2000]\nseit = [1990-01-01, 2029-12-31]\n[missing]\nseit = 2000-01-01\n'
    "[label]\nclasses = [0, 1]\n"
)


def written(form: FileFormat, word: str = "", mark: bool = False) -> bytes:
    """The same rows in another form: numbers with its decimals, its dates, empty cells as a word, all in quotes."""
    out = io.StringIO()
    writer = csv.writer(out, delimiter=form.separator or ",", quoting=csv.QUOTE_ALL)
    for size, city, code, yes, since in ROWS:
        day = since and datetime.date.fromisoformat(since).strftime(WRITTEN[form.dates])
        grouped = size.replace("1000", f"1{form.thousands or ''}000")
        cells = (
            size.replace(".", form.decimal) if grouped == size else grouped,
            city,
            code,
            yes.replace(".", form.decimal),
            day,
        )
        writer.writerow([cell or word for cell in cells])
    text = ",".join(NAMES).replace(",", form.separator or ",") + "\n" + out.getvalue()
    encoding = form.encoding or "utf-8"
    return text.encode("utf-8-sig" if mark and encoding == "utf-8" else encoding)


def read(content: bytes, form: FileFormat = DEFAULT_FORMAT) -> Table:
    with placed("north"):
        return _csv(io.BytesIO(content), "north", form, TABLE_LIMITS)


def forms() -> list[FileFormat]:
    pairs = list(itertools.product((",", ";", "\t", "|", "§"), (".", ",")))
    dates = itertools.cycle(DATES)
    return [
        FileFormat(s, d, e, ("NA", "k. A."), next(dates), thousands={"utf-8": ".,"[d == "."]}.get(e))
        for s, d in pairs
        for e in ("utf-8", "utf-16", "cp1252")
    ]


def test_every_form_is_the_same_table_to_whoever_learns_and_to_a_ledger(tmp_path: Path) -> None:
    plain = read(written(DEFAULT_FORMAT))
    name, encoded = fingerprint_data(KEY, plain), encode_labelled_rows(plain, BOUNDS, "ja")
    for form, word, mark in itertools.product(forms(), ("NA", ""), (False, True)):
        table = read(written(form, word, mark), form)
        assert numbers(table, "größe").tolist() == [3.5, -0.25, 1000.0]
        found = encode_labelled_rows(table, BOUNDS, "ja")
        assert (found.X.tolist(), found.y.tolist()) == (encoded.X.tolist(), [1, 0, 1])
        assert fingerprint_data(KEY, table) == name
        assert fingerprint_data(KEY, table.take(np.array([2, 0, 1]), "north")) == name
        # The twins: a table whose form is forgotten, and a word that is not said, are others.
        usual = (form.decimal, form.dates, form.thousands) == (DEFAULT_FORMAT.decimal, DEFAULT_FORMAT.dates, None)
        assert (fingerprint_data(KEY, replace(table, form=DEFAULT_FORMAT)) == name) == usual
        assert (fingerprint_data(KEY, read(written(form, word), replace(form, missing=()))) == name) == (word == "")
    for path in in_other_files(tmp_path):
        found = encode_labelled_rows(read_table(path, "north"), BOUNDS, "ja")
        assert (found.X.tolist(), found.y.tolist()) == (encoded.X.tolist(), [1, 0, 1])
        assert fingerprint_data(KEY, read_table(path, "north")) == name


def test_numbers_with_marks_are_those_without() -> None:
    form = FileFormat(";", ",", thousands=".")
    many, few = (fingerprint_data(KEY, read(f"a;b\n{number};1\n".encode(), form)) for number in ("250.000", "250"))
    assert many == fingerprint_data(KEY, read(b"a,b\n250000,1\n"))
    assert few == fingerprint_data(KEY, read(b"a,b\n250,1\n"))
    assert many != few


def in_other_files(folder: Path) -> list[Path]:
    """Forms that a file shows by itself, or that stand beside it."""
    tab = written(FileFormat("\t"))
    contents = {
        "bom.csv": written(DEFAULT_FORMAT, mark=True),
        "utf16.csv": written(FileFormat(encoding="utf-16")),
        "tabs.csv": tab,
        "tabs.tsv": tab.replace(b"ja\tseit", b'ja\t"seit"'),
        "packed.csv": gzip.compress(written(DEFAULT_FORMAT)),
        "packed.tab.gz": gzip.compress(tab[:60]) + gzip.compress(tab[60:]),
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    beside = FileFormat("§", ",", "cp1252", ("NA",), "dd/mm/yyyy")
    (folder / "beside.csv.gz").write_bytes(gzip.compress(written(beside, "NA")))
    said = 'separator = "§"\ndecimal = ","\nencoding = "cp1252"\nmissing = ["NA"]\ndates = "dd/mm/yyyy"\n'
    (folder / "beside.csv.gz.toml").write_text(f"[file]\n{said}", encoding="utf-8")
    columns: dict[str, Any] = dict(zip(NAMES, map(list, zip(*ROWS, strict=True)), strict=True))
    columns |= {"größe": [float(text) for text in columns["größe"]]}
    moments = [(text and datetime.datetime.fromisoformat(text)) or None for text in columns["seit"]]
    columns |= {"seit": pa.array(moments, pa.timestamp("ns")), "code": ["250.00", None, "E11"], "ja": [1, 0, 1]}
    columns["stadt"] = pa.array(columns["stadt"]).dictionary_encode()
    pq.write_table(pa.table(columns), folder / "t.parquet")
    pq.write_table(pa.table(columns | {"code": ["250.00", "k. A.", "E11"]}), folder / "missing.parquet")
    (folder / "missing.parquet.toml").write_text('file = {missing = ["k. A."]}')
    return [folder / name for name in (*contents, "beside.csv.gz", "t.parquet", "missing.parquet")]


@pytest.mark.parametrize(
    "form", [f for f in forms() if f.encoding == "utf-8"], ids=lambda f: f"{f.separator}{f.decimal}{f.dates}"
)
def test_a_table_takes_words_for_nothing_and_spellings_after_it_was_read(form: FileFormat) -> None:
    read_before = read(written(form, "NA"), replace(DEFAULT_FORMAT, separator=form.separator)).in_format(form)
    assert fingerprint_data(KEY, read_before) == fingerprint_data(KEY, read(written(form, "NA"), form))


def test_texts_stay_as_they_are_written() -> None:
    table = read(b"x;y\n3,5;2\n3.5;3\n", FileFormat(";", ","))
    assert table.texts("x") == ["3,5", "3.5"]
    bounds = parse_bounds('[columns]\nx = ["3,5", "3.5"]\n[label]\nclasses = [2, 3]\n')
    assert encode_labelled_rows(table, bounds, "y").X.argmax(axis=1).tolist() == [0, 1]


@pytest.mark.parametrize("mark", ["\u2028", "\x85", "\x0b", "\x1e"])
def test_what_ends_a_line_elsewhere_ends_no_header_here(mark: str) -> None:
    table = read(f"a\tb{mark},c\n1,2\n".encode(), DEFAULT_FORMAT)
    assert [*table.columns] == [f"a\tb{mark}".strip(), "c"]


def said_of(reading: Callable[[], Table], *names: str) -> str:
    """What is said of a table when these columns, and all that are there, are asked for as numbers; "" for nothing."""
    try:
        table = reading()
        for name in (*names, *table.columns):
            numbers(table, name)
    except InputError as error:
        return str(error)
    return ""


def complaint(path: Path, form: FileFormat | None = None) -> str:
    """What is said of a file that may have a column of ages."""
    return said_of(lambda: read_table(path, "north", form=form), "age")


# What is refused, what the file beside it says, what is to be written: that is followed, and then the file is read.
MENDED: dict[str, tuple[bytes, str, str]] = {
    "thousands": (b"age\n1.234,5\n", 'separator = ";"\ndecimal = ","', 'thousands = "."'),
    "commas between thousands": (
        b"age\n1,234,567\n0\n",
        'separator = ";"\ndecimal = ","',
        'decimal = "." and thousands = ","',
    ),
    "spaces between thousands": (
        "age\n1\u00a0234,5\n1 234,5\n1\u202f234,5\n".encode(),
        'separator = ";"\ndecimal = ","',
        'thousands = " "',
    ),
    "Swiss thousands": ("age\n1'234.5\n1’234\n".encode(), "", 'thousands = "\'"'),
    "a decimal point": (b"age\n1.25\n", 'separator = ";"\ndecimal = ","', 'decimal = "."'),
    "truths": (b"age\nTRUE\nF\n", "", 'true = ["TRUE"] and false = ["F"] into [file]'),
    "names in quotes": (b'"age";"y"\n1;2\n', "", 'separator = ";"'),
    "names in quotes and a rare mark": (b'"age"^"y"\n1^2\n', "", 'separator = "^"'),
    "names in quotes and a mark of two bytes": ('"age"¦"y"\n1¦2\n'.encode(), "", 'separator = "¦"'),
    "commas": (b"age,y\n1,2\n", 'separator = ";"', 'separator = ","'),
    "a word among gaps": (b'age\n"  NA \n"\n', "", 'missing = [" \\u0020NA \\U0000000a"]'),
    "a decimal comma": (b'age\n"3,5"\n', "", '(a decimal comma; wanted a point, or write decimal = ","'),
    "latin-1": (
        "age\n1\nKöln\n".encode("latin-1"),
        'missing = ["Köln", "\\"\\\\"]',
        'encoding = "latin-1"',
    ),
    "cp1252": ("age\n5\n€\n".encode("cp1252"), "", 'encoding = "cp1252"'),
    "utf-16 as latin-1": ("age\n5\n".encode("utf-16"), 'encoding = "latin-1"', 'encoding = "utf-16"'),
    "utf-8 as latin-1": ("age\nKöln\n".encode(), 'encoding = "latin-1"', 'encoding = "utf-8"'),
    "utf-8 as cp1252": ("age\nÁrbol\n".encode(), 'encoding = "cp1252"', 'encoding = "utf-8"'),
    "cp1252 as latin-1": ("age\nö\n€\n".encode("cp1252"), 'encoding = "latin-1"', 'encoding = "cp1252"'),
    "many columns": (b";".join(b"c%d" % i for i in range(5_000)) + b"\n", "", 'separator = ";"'),
}


@pytest.mark.parametrize("name", MENDED)
def test_what_is_advised_is_what_helps(name: str, tmp_path: Path) -> None:
    content, said, advice = MENDED[name]
    path, beside = tmp_path / "t.csv", tmp_path / "t.csv.toml"
    path.write_bytes(content)
    if said:
        beside.write_text(f"[file]\n{said}\n", encoding="utf-8")
    refusal, *lines = complaint(path).splitlines()
    line = one_line(refusal)
    assert len(line.replace(f"{tmp_path}/", "")) < 220
    if lines:
        assert lines[0].startswith(f"north: write these lines into {beside}")
        assert advice in "\n".join(lines[1:])
        beside.write_text("\n".join(lines[1:]), encoding="utf-8")
    else:  # of a column alone
        assert advice in line
        assert line.endswith((f" of the file {beside}", f" of the file {beside})"))
        stated = tomllib.loads(said) | tomllib.loads(pasted(line))["file"]
        form = FileFormatDocument.model_validate({"file": stated}).form
        beside.write_text("\n".join(form.sections()), encoding="utf-8")
    after = complaint(path)
    assert "write" not in after
    assert "is not" not in after
    # The twin: nothing of it helps where it is written into another file.
    beside.rename(tmp_path / "other.toml")
    assert "write" in complaint(path) or said


REFUSED: dict[str, tuple[bytes, str, str, str]] = {
    "Indian thousands": (b'age\n"12,34,567"\n', "", "cell.not_a_number", "'12,34,567'"),
    "points and commas": (b'age\n"1.5"\n"1,55"\n', "", "cell.not_a_number", "line 3: wanted a number, got '1,55'"),
    "Python's own": (b"age\n1_000\n", "", "cell.not_a_number", "'1_000'"),
    "utf-16 without a mark": ("age\n5\n".encode("utf-16-le"), 'encoding = "utf-16"', "text.no_byte_order_mark", ""),
    "utf-16 cut off": ("age\n55\n".encode("utf-16")[:-1], "", "text.unreadable_byte", "UTF-16 text (byte 14"),
    "utf-16 unmarked as utf-8": ("age\n5\n".encode("utf-16-le"), "", "text.binary", "byte 0"),
    "no cp1252": (b"age\n\xe4\x81\n", 'encoding = "cp1252"', "text.unreadable_byte", "cp1252 text (byte 5"),
    "mixed": ("age\nKöln\n".encode() + b"K\xf6ln\n", "", "text.two_encodings", "byte 11"),
    "many columns as said": (
        b";".join(b"c%d" % i for i in range(5_000)) + b"\n", 'separator = ";"', "table.no_column", "'c6', 'c7', ...",
    ),
    "a quote that does not end": (b'age;sex\n1;"f\n2;m\n', 'separator = ";"', "csv.unended_quote", "line 2"),
    "text behind a quote": (b'age,sex\n1,m\n1,"f"x\n', "", "csv.text_after_quote", "line 3"),
    "a line in quotes": (
        b'age;sex\n"1\n2";f\n', 'separator = ";"', "cell.not_a_number", "line 2: wanted a number, got '1\\n2'",
    ),
    "an empty word": (b"age;sex\nNA;f\n", 'separator = ";"\nmissing = ["NA"]', "cell.empty", "line 2"),
    "right as it is": (b"a;b,c\n1;2\n", 'separator = ";"', "table.no_column", "'a', 'b,c'"),
    "tabs and commas": (b"a\tb,c\n1\t2,5\n", "", "table.no_column", "'a\\tb', 'c'"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_no_line_mends_is_refused_without_one(name: str, tmp_path: Path) -> None:
    content, form, code, named = REFUSED[name]
    (tmp_path / "t.csv").write_bytes(content)
    (tmp_path / "t.csv.toml").write_text(f"[file]\n{form}")
    with refused(code) as caught:
        numbers(read_table(tmp_path / "t.csv", "north"), "age")
    line = str(caught.value)
    assert named in line
    assert ("write" in line) == ("looks like" in line)
    assert len(line.replace(f"{tmp_path}/", "")) < 220


def test_what_is_said_twice_is_said_alike(tmp_path: Path) -> None:
    path, beside = tmp_path / "t.csv", tmp_path / "t.csv.toml"
    path.write_bytes(b"age;sex\n3,5;f\n")
    own = FileFormat(";", ",")
    assert numbers(read_table(path, "north", form=own), "age").tolist() == [3.5]
    beside.write_text('[file]\nseparator = ";"\ndecimal = ","\n')
    assert numbers(read_table(path, "north", form=own), "age").tolist() == [3.5]
    beside.write_text('[file]\nseparator = ";"\n')
    with refused("form.two_forms", place="own.toml"):
        read_table(path, "north", form=own)
    path.write_bytes(b"age|sex\n3,5|f\n")
    beside.unlink()
    said = complaint(path, FileFormat(decimal=","))
    assert said.endswith(':\n  [file]\n  separator = "|"\n  decimal = ","')


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes as POSIX has them")
def test_a_form_is_a_plain_small_file_with_one_section(tmp_path: Path) -> None:
    path, beside = tmp_path / "t.csv", tmp_path / "t.csv.toml"
    path.write_bytes(b"age\n1\n")
    for content, said in (
        ("[file]\nheader = false\n", "file: unknown key 'header', wanted one of 'separator', 'decimal', "),
        ("[columns]\nage = [0, 1]\n", "unknown key 'columns'"),
        ("[file]\nseparator = ''\n", "file: separator: wanted a single character"),
        ("[file\n", "is not TOML"),
        ("[file]\nmissing = ['" + "x" * (1 << 22) + "']\n", "is larger than"),
    ):
        beside.write_text(content)
        assert said in complaint(path)
    beside.unlink()
    os.mkfifo(beside)
    assert "cannot be read: it is a pipe" in complaint(path)
    beside.unlink()
    beside.symlink_to(beside.name)
    assert "t.csv.toml: cannot be read: it is a link, wanted a plain file" in complaint(path)
    beside.unlink()
    assert complaint(path) == ""


def test_every_reader_finds_what_stands_beside_a_file(tmp_path: Path) -> None:
    """Parties, one table of all, test rows, public rows, a site's own rows and public ones."""
    bounds = parse_bounds('[columns]\nage = [0, 120]\n[label]\nclasses = ["no", "yes"]\ncolumn = "y"\n')
    for name in ("north", "south", "west"):  # the same rows but for a column that no bounds name
        (tmp_path / f"{name}.csv").write_text(f"age;y;h;z\n1,5;no;a;{name}\n50,5;yes;b;{name}\n")
        (tmp_path / f"{name}.csv.toml").write_text('[file]\nseparator = ";"\ndecimal = ","\n')
    north, south, west = (str(tmp_path / f"{name}.csv") for name in ("north", "south", "west"))
    data = read_own_files([north, south], bounds, test=Path(north), auxiliary=Path(south))
    rows = data.federation.parties[0].X.tolist()
    grouped = read_own_files([north], bounds, parties_by="h").federation
    assert [one.X.tolist()[0] for one in grouped.parties] == rows
    assert data.federation.unlabelled is not None
    auxiliary = preflight.read_auxiliary(Path(north), bounds).X
    for X in (data.test.X, data.federation.unlabelled, preflight.read_rows(Path(south), bounds).rows.X, auxiliary):
        assert X.tolist() == rows
    (tmp_path / "south.csv.toml").unlink()
    for read_it in (
        lambda: read_own_files([north, south], bounds),
        lambda: read_own_files([north, west], bounds, test=Path(south)),
        lambda: read_own_files([north, west], bounds, auxiliary=Path(south)),
        lambda: read_own_files([south], bounds, parties_by="h"),
        lambda: preflight.read_rows(Path(south), bounds),
        lambda: preflight.read_auxiliary(Path(south), bounds),
    ):
        with refused("csv.one_column"):
            read_it()


def test_a_parquet_file_says_itself_how_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"age": [1]}), path)
    assert complaint(path, FileFormat(missing=("NA",), dates="dd.mm.yyyy")) == ""
    for form, name in (
        (FileFormat(";"), "separator"),
        (FileFormat(decimal=","), "decimal"),
        (FileFormat(encoding="utf-8"), "encoding"),
    ):
        assert complaint(path, form) == f"north: is a Parquet file, wanted no {name} in [file] of own.toml"


def test_days_are_those_of_the_form_and_no_others() -> None:
    for name, pattern in WRITTEN.items():
        for day in (datetime.date(2020, 2, 29), datetime.date(1999, 1, 2), datetime.date(9999, 12, 13)):
            assert FileFormat(dates=name).day(f" {day.strftime(pattern)} ") == day
    for name, text in (
        *(
            ("yyyy-mm-dd", text)
            for text in ("20200131", "2020-1-31", "2020-02-30", "2020-01-31T00:00", "", "31.01.2020")
        ),
        *(("dd.mm.yyyy", text) for text in ("2020-01-31", "31.13.2020", "31.1.20", "1/1/2020", "٣١.٠١.٢٠٢٠")),
        ("mm/dd/yyyy", "31/01/2020"),
        ("dd/mm/yyyy", "01/31/2020"),
        *(("dd.mm.yyyy 00:00:00", text) for text in ("31.01.2020", "31.01.2020 00:01", "31.01.2020 12:00")),
        *(("dd-mmm-yyyy", text) for text in ("31-Jan2020", "31-Mai-2020", "30-Feb-2020", "31-01-2020", "31-Jan-20")),
    ):
        with pytest.raises(ValueError, match=r"not |month|day"):
            FileFormat(dates=name).day(text)


@pytest.mark.parametrize(
    ("cells", "forms"),
    [
        (["31.01.2020", "1.2.2020"], ["dd.mm.yyyy"]),
        (["31/01/2020", "01/02/2020"], ["dd/mm/yyyy"]),
        (["01/31/2020", "01/02/2020"], ["mm/dd/yyyy"]),
        (["01/02/2020"], ["mm/dd/yyyy", "dd/mm/yyyy"]),  # the second of January or the first of February
        (["01/31/2020", "31/01/2020", "01/02/2020"], []),
        (["31JAN2020", "1feb2020"], ["dd-mmm-yyyy"]),
        (["1/31/2020 12:00:00 AM", "2/1/2020 0:00"], ["mm/dd/yyyy 00:00:00"]),
        (["20200131"], []),
    ],
)
def test_forms_of_dates_are_those_that_read_all_cells(cells: list[str], forms: list[str]) -> None:
    assert SpellingEvidence(cells, DEFAULT_FORMAT).date_lists == [(form,) for form in forms]


def test_the_page_shows_a_form() -> None:
    page = (Path(smc_dp.data.__file__).parent / "README.md").read_text(encoding="utf-8")
    (block,) = (part.split("```")[0] for part in page.split("```text\n")[1:] if part.startswith("[file]"))
    stated = FileFormatDocument.model_validate(tomllib.loads(block)).form
    first = (";", ",", "cp1252", ("NA", "k. A."), "dd.mm.yyyy", True, ".", ("TRUE", "T"), ("FALSE", "F"))
    levels = (("sex", (("f", ("1", "W")), ("m", ("2", "M")))),)
    dates = (("born", ("yyyy-mm-dd", "dd/mm/yyyy")),)
    assert stated == FileFormat(*first, levels, 100_000_000, dates)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        *(({"separator": text}, "form.wrong_separator") for text in ("", ";;", "a", "7", '"', "\n", ".", "-")),
        ({"decimal": "'"}, "form.wrong_decimal"),
        ({"thousands": "."}, "form.one_mark"),
        ({"most_cells": 0}, "form.wrong_number"),
        ({"thousands": "_"}, "form.unknown"),
        ({"true": ("",)}, "form.wrong_word"),
        ({"true": ("T ",), "false": ("T",)}, "form.true_and_false"),
        ({"encoding": "utf-7"}, "form.unknown"),
        ({"dates": "yy-mm-dd"}, "form.unknown"),
        ({"missing": ("",)}, "form.wrong_word"),
        ({"missing": ("x" * 101,)}, "form.wrong_word"),
        ({"missing": tuple(map(str, range(101)))}, "form.too_many_words"),
    ],
)
def test_what_is_no_form_is_complaint(change: dict[str, Any], code: str) -> None:
    with refused(code, at=f"[file] {next(iter(change))}"):
        replace(DEFAULT_FORMAT, **change)
