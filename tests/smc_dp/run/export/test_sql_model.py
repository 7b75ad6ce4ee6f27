"""The model as SQL, run by SQLite and by DuckDB, against `predict`."""

from __future__ import annotations

import datetime
import functools
import math
import sqlite3
from collections.abc import Callable, Sequence
from typing import Any

import duckdb
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.raw_models import FIRST, RawModel, draw_model

from smc_dp.core.arrays import Array
from smc_dp.data.bounds import Bounds, CategoricalColumn, NumericColumn
from smc_dp.data.columns import DateColumn
from smc_dp.run.export import sql_terms
from smc_dp.run.export.sql_model import write_sql_model
from tests.support.refusals import refused


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def kinds(model: RawModel) -> list[str]:
    return [
        "VARCHAR" if isinstance(column, CategoricalColumn) else "DATE" if isinstance(column, DateColumn) else "DOUBLE"
        for column in model.bounds.columns
    ]


def table(model: RawModel) -> tuple[str, str, list[list[Any]]]:
    """The statements that make the table and fill it, and its rows."""
    names = [quoted(column.name) for column in model.bounds.columns]
    columns = ", ".join(f"{name} {kind}" for name, kind in zip(names, kinds(model), strict=True))
    rows = [[cells[i] for cells in model.cells.values()] for i in range(model.rows)]
    return f"CREATE TABLE data ({columns})", f"INSERT INTO data VALUES ({', '.join('?' * len(names))})", rows


def run_sqlite(made: str, fill: str, rows: list[list[Any]], query: str) -> list[Any]:
    base = sqlite3.connect(":memory:")
    base.execute(made)
    base.executemany(fill, [[str(cell) if isinstance(cell, datetime.date) else cell for cell in row] for row in rows])
    return base.execute(query).fetchall()


@functools.cache
def duckdb_base() -> duckdb.DuckDBPyConnection:
    return duckdb.connect(config={"threads": 1})


def run_duckdb(made: str, fill: str, rows: list[list[Any]], query: str) -> list[Any]:
    base = duckdb_base()
    base.execute("DROP TABLE IF EXISTS data")
    base.execute(made)
    if rows:
        places = fill[fill.index("(") :]
        base.execute(fill + f", {places}" * (len(rows) - 1), [cell for row in rows for cell in row])
    return base.execute(query).fetchall()


Database = Callable[[str, str, list[list[Any]], str], list[Any]]
DATABASES = (run_sqlite, run_duckdb)


def query(model: RawModel) -> str:
    return write_sql_model(model.exported).decode()


def probabilities(found: Sequence[Any], classes: int) -> Array:
    """The last columns, nan for NULL."""
    return np.array([row[-classes:] for row in found], dtype=np.float64)


@pytest.mark.parametrize("run", DATABASES)
@given(seed=st.integers(0, 10**9))
@example(seed=8)  # of two classes, and rows between 1/2 and the threshold
@settings(max_examples=40)
def test_a_database_finds_the_same_probabilities(run: Database, seed: int) -> None:
    model = draw_model(seed, 12)
    found, classes = run(*table(model), query(model)), model.bounds.classes
    wanted = model.probabilities()
    np.testing.assert_allclose(probabilities(found, len(classes)), wanted, rtol=0, atol=1e-6)
    column = 1 + len(classes) if len(classes) == 2 else 2 + 2 * len(classes)
    for row, each in zip(found, wanted, strict=True):
        assert row[-column] in (model.answers(each) or [None])


@given(st.floats(1e-30, 1e30) | st.floats(-1e30, -1e-30) | st.just(0.0))
@example(137.6434244920287)  # SQLite 3.40 reads the shortest text of these two as their neighbours
@example(8476.355998)
def test_sqlite_reads_each_number_as_it_is(value: float) -> None:
    assert sqlite3.connect(":memory:").execute(f"SELECT {sql_terms.number(value)}").fetchone() == (value,)


ONE = (NumericColumn("a", 0.0, 10.0), CategoricalColumn("b", ("17", "true", "m"), None, (("m", ("M",)),)))
CELLS = {
    "a number": ("DOUBLE", 3.0, "VARCHAR", "m", True),
    "a whole number": ("INTEGER", 3, "VARCHAR", " M ", True),
    "a level that is a number": ("DOUBLE", 3.0, "INTEGER", 17, True),
    "a level in a column of fractions": ("DOUBLE", 3.0, "DOUBLE", 17.0, True),
    "a level that is a truth value": ("DOUBLE", 3.0, "BOOLEAN", True, True),
    "an unknown level": ("DOUBLE", 3.0, "VARCHAR", "x", False),
    "another case": ("DOUBLE", 3.0, "VARCHAR", "TRUE", False),
    "a number that is a text": ("VARCHAR", "3.0", "VARCHAR", "m", False),
    "a text that is no number": ("VARCHAR", "abc", "VARCHAR", "m", False),
    "nothing": ("DOUBLE", None, "VARCHAR", "m", False),
    "no level": ("DOUBLE", 3.0, "VARCHAR", None, False),
    "an empty text": ("DOUBLE", 3.0, "VARCHAR", "", False),
    "infinity": ("DOUBLE", math.inf, "VARCHAR", "m", False),
    "no number": ("DOUBLE", math.nan, "VARCHAR", "m", False),
}


@pytest.mark.parametrize("run", DATABASES)
@pytest.mark.parametrize("what", CELLS)
def test_a_row_with_a_cell_that_cannot_be_used_has_no_class(run: Database, what: str) -> None:
    """SQLite would read a text that is no number as 0, and has no truth values."""
    of_a, a, of_b, b, fits = CELLS[what]
    if run is run_sqlite and b is True:
        of_b, b = "VARCHAR", "true"
    bounds = Bounds(ONE, ("no", "yes"), "y")
    model = RawModel(bounds, tuple(np.linspace(-1, 1, bounds.dimension).tolist()), {})
    made = f"CREATE TABLE data (a {of_a}, b {of_b})"
    (row,) = run(made, "INSERT INTO data VALUES (?, ?)", [[a, b]], query(model))
    assert (row[-3] in bounds.classes, row[-3] is None, row[-1] is None) == (fits, not fits, not fits)


DAYS = {
    **dict.fromkeys(("2000-02-29", "2024-02-29", "1999-12-31", "0001-01-01", "9999-12-31", "2023-01-01"), True),
    **dict.fromkeys(("2023-02-29", "1900-02-29", "2023-04-31", "2023-13-01", "2023-00-10", "2023-01-00"), False),
    **dict.fromkeys(("0000-01-01", "2023-1-1", "2023/01/01", "20230101", "abc", "2023-01-01 00:00:00"), False),
}


@pytest.mark.parametrize("run", DATABASES)
def test_days_are_counted_as_the_calendar_has_them(run: Database) -> None:
    for first in (datetime.date(1, 1, 1), datetime.date(2000, 3, 1)):
        days = f"{sql_terms.days_since(first, 'v')} FROM (SELECT d, {sql_terms.date_in('d')} AS v FROM data AS t)"
        wanted = {day: (datetime.date.fromisoformat(day) - first).days if real else None for day, real in DAYS.items()}
        rows = [[day] for day in DAYS]
        found = run("CREATE TABLE data (d VARCHAR)", "INSERT INTO data VALUES (?)", rows, f"SELECT d, {days}")
        assert dict(found) == wanted


def test_what_sql_cannot_carry_is_refused() -> None:
    def write(columns: tuple[NumericColumn, ...], classes: tuple[str, ...] = ("no", "yes")) -> None:
        bounds = Bounds(columns, classes, "y")
        rows = len(classes) if len(classes) > 2 else 1
        weights: Any = tuple((0.5,) * bounds.dimension for _ in range(rows))
        write_sql_model(RawModel(bounds, weights if rows > 1 else weights[0], {}).exported)

    a = NumericColumn("a", 0.0, 1.0)
    with refused("export.same_in_sql"):
        write((a, NumericColumn("A", 0.0, 1.0)))
    with refused("export.same_in_sql"):
        write((a,), ("no", "NO"))
    with refused("export.too_many_classes", most=30, got=31):
        write((a,), tuple(f"c{i}" for i in range(31)))
    write(tuple(NumericColumn(f"x{i}", 0.0, 1.0) for i in range(497)))
    with refused("export.too_many_columns", most=497, got=498):
        write(tuple(NumericColumn(f"x{i}", 0.0, 1.0) for i in range(498)))


def test_the_most_columns_and_the_most_classes_still_run_in_sqlite() -> None:
    rng = np.random.default_rng(1)
    for count, classes in ((497, ("no", "yes")), (3, tuple(f"c{i}" for i in range(30)))):
        bounds = Bounds(tuple(DateColumn(f"x{i}", FIRST, FIRST.replace(year=1999)) for i in range(count)), classes, "y")
        W = rng.normal(size=(len(classes), bounds.dimension)) * 0.3
        weights: Any = tuple(map(tuple, W.tolist())) if len(classes) > 2 else tuple(W[0].tolist())
        model = RawModel(bounds, weights, {c.name: [FIRST, FIRST.replace(month=7)] for c in bounds.columns})
        found = run_sqlite(*table(model), query(model))
        np.testing.assert_allclose(probabilities(found, len(classes)), model.probabilities(), rtol=0, atol=1e-6)


@pytest.mark.parametrize("run", DATABASES)
@pytest.mark.parametrize("seed", range(6))
def test_scores_of_an_unknown_length_are_no_probabilities(run: Database, seed: int) -> None:
    model = draw_model(seed, 12)
    text = write_sql_model(model.without_probabilities).decode()
    assert "probability" not in text
    assert "exp(" not in text
    classes = len(model.bounds.classes)
    column = 1 + classes if classes == 2 else 2 + 2 * classes
    assert [row[-1] for row in run(*table(model), text)] == [row[-column] for row in run(*table(model), query(model))]
