"""A data frame of any library is the table that its Parquet file is, and what is no table is refused."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from smc_dp.data.fingerprint import fingerprint_data
from smc_dp.data.frames import is_frame, read_file_or_frame, read_frame
from tests.support.refusals import refused
from tests.support.tables import numbers

COLUMNS: dict[str, list[Any]] = {
    "age": [41.5, None, 70.0],
    "sex": ["f", "m", "f"],
    "smoker": [True, False, None],
    "visits": [3, 0, 7],
    "admitted": [datetime.date(2020, 1, 31), datetime.date(2021, 2, 28), datetime.date(2022, 3, 1)],
}
FRAMES = {
    "arrow": lambda: pa.table(COLUMNS),
    "polars": lambda: pl.DataFrame(COLUMNS),
    "pandas": lambda: pd.DataFrame(COLUMNS),
    "pandas by its own types": lambda: pd.DataFrame(COLUMNS).convert_dtypes(),
    "pandas with an index": lambda: pd.DataFrame(COLUMNS, index=["z", "y", "x"]),
    "categories": lambda: pd.DataFrame(COLUMNS).astype({"sex": "category"}),
}


@pytest.mark.parametrize("name", FRAMES)
def test_a_frame_is_the_table_of_its_parquet_file(name: str, tmp_path: Path) -> None:
    pq.write_table(pa.table(COLUMNS), tmp_path / "t.parquet")
    wanted, found = read_file_or_frame(tmp_path / "t.parquet", "t"), read_frame(FRAMES[name](), "t")
    assert list(found.columns) == list(COLUMNS)
    assert (found.rows, found.texts("sex")) == (3, ["f", "m", "f"])
    assert np.array_equal(numbers(found, "visits"), [3.0, 0.0, 7.0])
    assert fingerprint_data(b"k", found) == fingerprint_data(b"k", wanted)


def test_what_is_no_frame_is_told_from_one() -> None:
    assert all(is_frame(make()) for make in FRAMES.values())
    assert not any(map(is_frame, ([1, 2], "a.csv", Path("a.csv"), np.zeros((2, 2)), {"a": [1]}, None)))


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        (pd.DataFrame({"age": [1, "secret"]}), "frame.mixed_column"),
        (pd.DataFrame({"age": [object()]}), "frame.mixed_column"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "frame.unreadable"),
        (pa.table([[1], [2]], names=["a", "a "]), "header.same_name"),
        (pl.Series([1]), "frame.unreadable"),
    ],
)
def test_a_frame_that_is_no_table_is_refused_without_its_cells(frame: Any, code: str) -> None:
    with refused(code, at="party north: ") as caught:
        read_frame(frame, "party north")
    assert "secret" not in str(caught.value)
