"""Parquet files that are bytes."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from smc_dp.data.table import Table
from smc_dp.data.table_reader import read_table


def parse_parquet(content: bytes, source: str) -> Table:
    """Return the table in the content of a Parquet file."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        path.write_bytes(content)
        return read_table(path, source)
