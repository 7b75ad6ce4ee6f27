"""The model as SQL, run by SQLite and by DuckDB, against `predict`."""

from __future__ import annotations

import datetime
import sqlite3
from collections.abc import Callable, Sequence
from typing import Any

import duckdb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.raw_models import RawModel, draw_model

from smc_dp.core.arrays import Array
from smc_dp.data.bounds import Bounds, CategoricalColumn, NumericColumn
from smc_dp.data.columns import BinnedColumn, DateColumn
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


def by_sqlite(model: RawModel) -> Sequence[Any]:
    make, fill, rows = table(model)
    rows = [[str(cell) if isinstance(cell, datetime.date) else cell for cell in row] for row in rows]
    base = sqlite3.connect(":memory:")
    base.execute(make)
    base.executemany(fill, rows)
    return base.execute(write_sql_model(model.exported).decode()).fetchall()


def by_duckdb(model: RawModel) -> Sequence[Any]:
    make, fill, rows = table(model)
    base = duckdb.connect()
    base.execute(make)
    base.executemany(fill, rows)
    return base.execute(write_sql_model(model.exported).decode()).fetchall()


def probabilities(found: Sequence[Any], classes: int) -> Array:
    """The last columns, nan for NULL."""
    return np.array([row[-classes:] for row in found], dtype=np.float64)


@pytest.mark.parametrize("run", [by_sqlite, by_duckdb])
@given(seed=st.integers(0, 10**9))
def test_a_database_finds_the_same_probabilities(run: Callable[[RawModel], Sequence[Any]], seed: int) -> None:
    model = draw_model(seed, 12)
    np.testing.assert_allclose(
        probabilities(run(model), len(model.bounds.classes)), model.probabilities(), rtol=0, atol=1e-6
    )
