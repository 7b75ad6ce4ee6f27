"""Files that other programs wrote are read as they are, or with the lines that their refusal shows, all at once.

pandas, polars and DuckDB write theirs in the test. Rows of SQLite are written by the csv module of Python, as Python
programs do. Those of R and LibreOffice were made once (`programs/make_files.sh`).
"""

from __future__ import annotations

import csv
import datetime
import shlex
import sqlite3
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyreadstat
import pytest

from smc_dp.data.bounds import parse_bounds
from smc_dp.data.preprocess import encode_labelled_rows
from smc_dp.data.table import Table
from smc_dp.data.table_reader import read_table, stated_format
from smc_dp.data.validate_file import validate_file
from tests.support.refusals import refused
from tests.support.tables import numbers

MADE = Path(__file__).parent / "programs"
STATED = """
[label]
classes = ["no", "yes"]
column = "back"
[columns]
age = [0, 120]
cost = [0, 20000]
sex = ["f", "m"]
smoker = [false, true]
admitted = [2020-01-01, 2021-12-31]
[missing]
cost = "indicator"
smoker = "category"
"""
BOUNDS = parse_bounds(STATED)
DAYS = ("2020-01-31", "2020-02-01", "2020-12-24", "2021-03-15", "2021-04-30", "2020-07-09")
COLUMNS: dict[str, list[Any]] = {
    "age": [41, 67, 58, 73, 35, 80],
    "cost": [1234.5, 987.25, 12345.75, 2000.0, 1500.5, None],
    "sex": [*"fmmffm"],
    "smoker": [True, False, None, False, True, True],
    "admitted": [datetime.date.fromisoformat(day) for day in DAYS],
    "back": ["no", "yes"] * 3,
}
PLAIN = encode_labelled_rows(Table("plain", COLUMNS, range(1, 7)), BOUNDS, "back")


def of_pandas(**how: Any) -> Callable[[Path], object]:
    frame = pd.DataFrame(COLUMNS).assign(admitted=pd.to_datetime(pd.Series(DAYS)))
    return lambda path: frame.to_csv(path, **how)


def of_polars(**how: Any) -> Callable[[Path], object]:
    return lambda path: pl.DataFrame(COLUMNS).write_csv(path, **how)


def of_duckdb(how: str) -> Callable[[Path], object]:
    def write(path: Path) -> None:
        with duckdb.connect() as database:
            kinds = "age INTEGER, cost DOUBLE, sex VARCHAR, smoker BOOLEAN, admitted DATE, back VARCHAR"
            database.execute(f"CREATE TABLE rows ({kinds})")
            database.executemany(
                f"INSERT INTO rows VALUES ({', '.join('?' * 6)})", [*zip(*COLUMNS.values(), strict=True)]
            )
            database.execute(f"COPY rows TO '{path}' ({how})")

    return write


def of_sqlite(dialect: str) -> Callable[[Path], object]:
    def write(path: Path) -> None:
        database = sqlite3.connect(":memory:")
        database.execute(
            "CREATE TABLE rows (age INTEGER, cost REAL, sex TEXT, smoker BOOLEAN, admitted DATE, back TEXT)"
        )
        rows = zip(*(DAYS if name == "admitted" else cells for name, cells in COLUMNS.items()), strict=True)
        database.executemany("INSERT INTO rows VALUES (?, ?, ?, ?, ?, ?)", rows)
        found = database.execute("SELECT * FROM rows")
        with path.open("w", newline="") as file:
            writer = csv.writer(file, dialect=dialect)
            writer.writerow([column[0] for column in found.description])
            writer.writerows(found)
        database.close()

    return write


def made(name: str) -> Callable[[Path], object]:
    return lambda path: path.write_bytes((MADE / name).read_bytes())


TRUTHS = {"true": ("TRUE",), "false": ("FALSE",)}
CAPITALS = {"true": ("True",), "false": ("False",)}
ENGLISH = {"thousands": ",", "dates": "yyyy/mm/dd", "skip_blank_rows": True}
FILES: dict[str, tuple[Callable[[Path], object], dict[str, object]]] = {
    "pandas": (of_pandas(), CAPITALS),
    "pandas, German": (
        of_pandas(sep=";", decimal=",", date_format="%d.%m.%Y", encoding="utf-8-sig", index=False, na_rep="NA"),
        {"separator": ";", "decimal": ",", "dates": "dd.mm.yyyy", "missing": ("NA",), **CAPITALS},
    ),
    "pandas, slashes and bars": (
        of_pandas(sep="|", quoting=csv.QUOTE_ALL, date_format="%Y/%m/%d"),
        {"separator": "|", "dates": "yyyy/mm/dd", **CAPITALS},
    ),
    "pandas, UTF-16 with tabs": (of_pandas(sep="\t", encoding="utf-16"), CAPITALS),
    "polars": (of_polars(), {}),
    "polars, semicolons": (
        of_polars(separator=";", quote_style="always", null_value="null", include_bom=True),
        {"separator": ";", "missing": ("null",)},
    ),
    "DuckDB": (of_duckdb("HEADER"), {}),
    "DuckDB, semicolons": (
        of_duckdb("HEADER, DELIMITER ';', FORCE_QUOTE *, DATEFORMAT '%d/%m/%Y', NULLSTR 'NULL'"),
        {"separator": ";", "dates": "dd/mm/yyyy", "missing": ("NULL",)},
    ),
    "SQLite": (of_sqlite("excel"), {"aliases": (("smoker", (("true", ("1",)), ("false", ("0",)))),)}),
    "SQLite, tabs": (of_sqlite("excel-tab"), {"aliases": (("smoker", (("true", ("1",)), ("false", ("0",)))),)}),
    "R, write.csv": (made("r_write_csv.csv"), {"missing": ("NA",), **TRUTHS}),
    "R, write.csv2": (made("r_write_csv2.csv"), {"separator": ";", "decimal": ",", "missing": ("NA",), **TRUTHS}),
    "R, write.csv2 with names": (made("r_write_csv2_names.csv"), {"separator": ";", "decimal": ",", **TRUTHS}),
    "R, tabs": (made("r_write_table.tsv"), {"missing": ("-",), **TRUTHS}),
    "R, bars": (
        made("r_write_table_bars.csv"),
        {"separator": "|", "dates": "dd/mm/yyyy", "missing": ("NA",), **TRUTHS},
    ),
    "LibreOffice, English": (made("libreoffice_english.csv"), ENGLISH | TRUTHS),
    "LibreOffice, semicolons": (made("libreoffice_semicolons.csv"), {"separator": ";", **ENGLISH, **TRUTHS}),
    "LibreOffice, German": (
        made("libreoffice_german.csv"),
        {"separator": ";", "decimal": ",", "thousands": ".", "dates": "dd.mm.yyyy", "skip_blank_rows": True, **TRUTHS},
    ),
}
NAMED_ROWS = {
    "pandas",
    "pandas, slashes and bars",
    "pandas, UTF-16 with tabs",
    "R, write.csv",
    "R, write.csv2 with names",
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_read_with_the_lines_that_one_check_shows(name: str, tmp_path: Path) -> None:
    write, settings = FILES[name]
    path = tmp_path / ("north.tsv" if "tabs" in name and "UTF" not in name else "north.csv")
    write(path)
    found = validate_file(path, BOUNDS, "north")
    assert found.fits == (not settings)
    if settings:
        assert {fault.fixed_by for fault in found.faults} == {("site",)}
        path.with_name(f"{path.name}.toml").write_text("\n".join(found.lines_for_site.lines), encoding="utf-8")
        form = stated_format(path, "north", None)
        assert form.said() | ({"aliases": form.aliases} if form.aliases else {}) == settings
        assert validate_file(path, BOUNDS, "north").fits
    table = read_table(path, "north")
    rows = encode_labelled_rows(table, BOUNDS, "back")
    assert (rows.X.tobytes(), rows.y.tolist()) == (PLAIN.X.tobytes(), PLAIN.y.tolist())
    assert [fault.code for fault in table.ignored] == ["header.row_names"] * (name in NAMED_ROWS)


FRAME = pd.DataFrame({name: cells for name, cells in COLUMNS.items() if name not in ("smoker", "admitted")})
OTHERS: dict[str, Callable[[Path], object]] = {
    "north.dta": lambda path: FRAME.to_stata(path, write_index=False),
    "north's (2).sav": lambda path: pyreadstat.write_sav(FRAME, path),
    "north.xpt": lambda path: pyreadstat.write_xport(FRAME, path),
    "north.xlsx": lambda path: FRAME.to_excel(path, index=False),
    "north.feather": lambda path: FRAME.to_feather(path),
    "north.json": lambda path: path.write_text(FRAME.to_json()),
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_file_of_a_statistics_program_is_read_after_the_command_that_its_refusal_shows(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / name
    OTHERS[name](path)
    with refused("file.other_program") as caught:
        read_table(path, "north")
    command = str(caught.value.fault.fields["how"]).split("`")[1]
    assert command.startswith("python -c ")
    code = shlex.split(command)[2]
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings(action="ignore"):
        exec(code, {})
    (made_file,) = [other for other in tmp_path.iterdir() if other != path]
    table = read_table(made_file, "north")
    assert numbers(table, "age").tolist() == [41, 67, 58, 73, 35, 80]
    assert table.texts("sex") == [*"fmmffm"]
