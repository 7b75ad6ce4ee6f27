"""A table that is written otherwise: read as it is said to be, refused as anything else, and one table for a ledger."""

from __future__ import annotations

import csv
import io
import itertools
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import smc_dp.data
from smc_dp.data.bounds import parse_bounds
from smc_dp.data.file_form import ENCODINGS, PLAIN, FileForm
from smc_dp.data.preprocess import labelled_rows
from smc_dp.data.size import LIMITS
from smc_dp.data.tables import Table, _csv, read_table
from smc_dp.errors import InputError
from smc_dp.ledger.dataset import as_read

KEY = bytes(range(32))
NAMES = ("größe", "stadt", "code", "ja")
ROWS = [("3.5", "Köln", "250.00", "1"), ("-0.25", "“Bern”, CH", "", "0"), ("1e3", "a;b\tc|d\n", "E11", "1.0")]


def written(form: FileForm, word: str = "", mark: bool = False) -> bytes:
    """The same rows in another form: numbers with its decimals, empty cells as a word, all texts in quotes."""
    out = io.StringIO()
    writer = csv.writer(out, delimiter=form.separator, quoting=csv.QUOTE_ALL)
    cells = [(size.replace(".", form.decimal), *rest, y.replace(".", form.decimal)) for size, *rest, y in ROWS]
    writer.writerows([NAMES, *([cell or word for cell in row] for row in cells)])
    return out.getvalue().encode("utf-8-sig" if mark and form.encoding == "utf-8" else form.encoding)


def read(content: bytes, form: FileForm = PLAIN) -> Table:
    return _csv(io.BytesIO(content), "north", form, LIMITS)


def complaint(content: bytes, form: FileForm = PLAIN) -> str:
    """What is said of a file when a column that may be there, and all that are, are asked for as numbers."""
    try:
        table = read(content, form)
        for name in ("age", *table.columns):
            table.numbers(name)
    except InputError as error:
        return str(error)
    return ""


def forms() -> list[FileForm]:
    pairs = [(s, d) for s, d in itertools.product((",", ";", "\t", "|", "§"), (".", ",")) if s != d]
    return [FileForm(s, d, e, ("NA", "k. A.")) for s, d in pairs for e in ("utf-8", "utf-16", "cp1252")]


def test_every_form_is_the_same_table_to_whoever_learns_and_to_a_ledger() -> None:
    bounds = parse_bounds('[columns]\n"größe" = [-1, 2000]\n[label]\nclasses = [0, 1]\n')
    plain = read(written(PLAIN))
    name, encoded = as_read(KEY, plain), labelled_rows(plain, bounds, "ja")
    for form, word, mark in itertools.product(forms(), ("NA", ""), (False, True)):
        table = read(written(form, word, mark), form)
        assert table.numbers("größe").tolist() == [3.5, -0.25, 1000.0]
        assert table.texts("stadt") == [city for _, city, _, _ in ROWS]
        found = labelled_rows(table, bounds, "ja")
        assert (found.X.tolist(), found.y.tolist()) == (encoded.X.tolist(), [1, 0, 1])
        assert as_read(KEY, table) == name
        assert as_read(KEY, table.take(np.array([2, 0, 1]), "north")) == name
        # The twins: a table whose form is forgotten, and a word that is not said, are others.
        assert (as_read(KEY, replace(table, form=PLAIN)) == name) == (form.decimal == ".")
        assert (as_read(KEY, read(written(form, word), replace(form, missing=()))) == name) == (word == "")


def test_latin_1_is_read_as_such() -> None:
    form = FileForm(";", ",", "latin-1")
    assert read("größe;stadt\n3,5;Köln\n".encode("latin-1"), form).texts("stadt") == ["Köln"]


def test_texts_stay_as_they_are_written() -> None:
    table = read(b"x;y\n3,5;2\n3.5;3\n", FileForm(";", ","))
    assert table.texts("x") == ["3,5", "3.5"]
    bounds = parse_bounds('[columns]\nx = ["3,5", "3.5"]\n[label]\nclasses = [2, 3]\n')
    assert labelled_rows(table, bounds, "y").X.argmax(axis=1).tolist() == [0, 1]


WRITE = "into [file] of own.toml"
UNNAMED: dict[str, tuple[bytes, FileForm, str]] = {
    "semicolons": (b"age;sex\n1;f\n", PLAIN, f"""with ';' between cells: write separator = ";" {WRITE}"""),
    "tabs": (b"age\tsex\n1\tf\n", PLAIN, f'write separator = "\\t" {WRITE}'),
    "bars and commas": (
        b"age|sex|w\n1|f|2,5\n",
        PLAIN,
        f"2 cells, the header has 1; it looks like one with '|' between cells: write separator = \"|\" {WRITE}",
    ),
    "commas": (b"age,sex\n1,f\n", FileForm(";"), f'write separator = "," {WRITE}'),
    "a decimal comma": (b'age\n"3,5"\n', PLAIN, f'a decimal comma; wanted a point, or write decimal = "," {WRITE}'),
    "thousands": (b"age\n1.234,5\n", FileForm(";", ","), "got '1.234,5' (a point, where the form says a decimal comma"),
    "a decimal point": (b"age\n1.234\n", FileForm(";", ","), "got '1.234' (a point, where the form says"),
    "commas between thousands": (b"age\n1,234,567\n", FileForm(";", ","), "wanted a number, got '1,234,567'"),
    "spaces between thousands": (b"age\n1 234,5\n", FileForm(";", ","), "wanted a number, got '1 234,5'"),
    "Python's own": (b"age\n1_000\n", FileForm(";", ","), "wanted a number, got '1_000'"),
    "latin-1": ("age\nKöln\n".encode("latin-1"), PLAIN, f'it looks like latin-1: write encoding = "latin-1" {WRITE}'),
    "cp1252": ("age\n5 €\n".encode("cp1252"), PLAIN, f'it looks like cp1252: write encoding = "cp1252" {WRITE}'),
    "utf-16": ("age\n5\n".encode("utf-16"), PLAIN, f'write encoding = "utf-16" {WRITE}'),
    "utf-16 as latin-1": ("age\n5\n".encode("utf-16"), FileForm(encoding="latin-1"), 'write encoding = "utf-16"'),
    "utf-16 without a mark": ("age\n5\n".encode("utf-16-le"), FileForm(encoding="utf-16"), "not begin with a byte"),
    "utf-16 cut off": ("age\n55\n".encode("utf-16")[:-1], FileForm(encoding="utf-16"), "is not UTF-16 text (byte 14"),
    "utf-16 unmarked as utf-8": ("age\n5\n".encode("utf-16-le"), PLAIN, "is not a text file (it has a byte 0)"),
    "utf-8 as latin-1": ("age\nKöln\n".encode(), FileForm(encoding="latin-1"), f'write encoding = "utf-8" {WRITE}'),
    "utf-8 as cp1252": ("age\nÁrbol\n".encode(), FileForm(encoding="cp1252"), f'write encoding = "utf-8" {WRITE}'),
    "utf-8 with ß as latin-1": ("age\nß\n".encode(), FileForm(encoding="latin-1"), 'write encoding = "utf-8"'),
    "cp1252 as latin-1": ("age\nö\n€\n".encode("cp1252"), FileForm(encoding="latin-1"), 'write encoding = "cp1252"'),
    "no cp1252": (
        b"age\n\xe4\x81\n",
        FileForm(encoding="cp1252"),
        "is not cp1252 text (byte 5 cannot be read), wanted",
    ),
    "mixed": ("age\nKöln\n".encode() + b"K\xf6ln\n", PLAIN, "byte 11 cannot be read), wanted CSV in one encoding"),
    "a long cell": (b"age\n" + b"1" * 200_000, PLAIN, "is not CSV: field larger than field limit"),
    "many columns": (b";".join(b"c%d" % i for i in range(10_000)) + b"\n", PLAIN, 'write separator = ";"'),
    "many columns as said": (b";".join(b"c%d" % i for i in range(10_000)) + b"\n", FileForm(";"), "c6, c7, ..."),
    "a quote that does not end": (b'age;sex\n1;"f\n2;m\n', FileForm(";"), "is not CSV: unexpected end of data"),
    "a line in quotes": (b'age;sex\n"1\n2";f\n', FileForm(";"), "row 1: wanted a number, got '1\\n2'"),
    "an empty word": (b"age;sex\nNA;f\n", FileForm(";", missing=("NA",)), "row 1: wanted a number, the cell is empty"),
}


@pytest.mark.parametrize("name", UNNAMED)
def test_what_nobody_has_said_is_refused_with_what_would_say_it(name: str) -> None:
    content, form, said = UNNAMED[name]
    line = complaint(content, form)
    assert said in line
    assert "\n" not in line
    assert len(line) < 300
    assert ("own.toml" in line) == ("write " in said or WRITE in said)


def test_what_is_advised_is_what_helps() -> None:
    """Each file that was refused with an advice is read once it is followed."""
    for content, form in (
        ("größe;ja\n1;0\n".encode(), FileForm(";")),
        ("größe;ja\n1;0\n".encode("latin-1"), FileForm(";", encoding="latin-1")),
        ("größe;ja\n1;€\n".encode("cp1252"), FileForm(";", encoding="cp1252")),
        ("größe;ja\n1;0\n".encode("utf-16"), FileForm(";", encoding="utf-16")),
    ):
        assert read(content, form).numbers("größe").tolist() == [1.0]
    assert complaint(b"a;b,c\n1;2\n", FileForm(";")).endswith("the table has a, b,c")  # no advice for what is right


def test_the_page_shows_a_form() -> None:
    page = (Path(smc_dp.data.__file__).parent / "README.md").read_text(encoding="utf-8")
    (block,) = (part.split("```")[0] for part in page.split("```text\n")[1:] if part.startswith("[file]"))
    stated = tomllib.loads(block)["file"]
    assert FileForm(**{**stated, "missing": tuple(stated["missing"])}) == FileForm(";", ",", "cp1252", ("NA", "k. A."))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        *(
            ({"separator": text}, "[file] separator: wanted a single")
            for text in ("", ";;", "a", "7", '"', "\n", ".", "-")
        ),
        ({"decimal": "'"}, '[file] decimal: wanted "." or ","'),
        ({"decimal": ","}, "[file] decimal: wanted another separator"),
        ({"encoding": "utf-7"}, "[file] encoding: wanted one of utf-8, utf-16, latin-1, cp1252, got 'utf-7'"),
        ({"missing": ("",)}, "[file] missing: wanted words of 1 to 100 characters"),
        ({"missing": ("x" * 101,)}, "[file] missing: wanted words of 1 to 100 characters"),
        ({"missing": tuple(map(str, range(101)))}, "[file] missing: wanted at most 100 words, got 101"),
    ],
)
def test_what_is_no_form_is_complaint(change: dict[str, object], said: str) -> None:
    with pytest.raises(InputError) as caught:
        replace(PLAIN, **change)
    assert str(caught.value).startswith(said)


def test_a_parquet_file_has_no_form(tmp_path: Path) -> None:
    pq.write_table(pa.table({"age": [1]}), tmp_path / "t.parquet")
    assert read_table(tmp_path / "t.parquet", "north", form=FileForm()).numbers("age").tolist() == [1]
    with pytest.raises(InputError, match=r"north: is a Parquet file, of which \[file\] has nothing to say"):
        read_table(tmp_path / "t.parquet", "north", form=FileForm(";"))
    (tmp_path / "t.csv").write_bytes(b"age;sex\n3,5;f\n")
    assert read_table(tmp_path / "t.csv", "north", form=FileForm(";", ",")).numbers("age").tolist() == [3.5]


@given(content=st.binary(max_size=200), encoding=st.sampled_from(ENCODINGS), separator=st.sampled_from(";\t,"))
def test_any_bytes_are_a_table_or_one_line(content: bytes, encoding: str, separator: str) -> None:
    form = FileForm(separator, "." if separator == "," else ",", encoding, ("NA",))
    marked = content if encoding != "utf-16" else b"\xff\xfe" + content
    said = complaint(marked, form)
    assert not said or said.startswith("north: ")
