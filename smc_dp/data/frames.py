"""Tables of data frames: of pandas, polars or whatever else hands its columns over as Arrow streams.

A frame has the cells that its Parquet file would have, so both are the same table to a run and to a ledger.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

from typing_extensions import Protocol, TypeIs, runtime_checkable

from smc_dp.core.errors import InputError, shown
from smc_dp.data.file_format import FileFormat
from smc_dp.data.limits import owners_limits
from smc_dp.data.parquet_cells import arrow_cells
from smc_dp.data.table import Table
from smc_dp.data.table_reader import named_table, placed, read_table

_NAMED = re.compile(r"Conversion failed for column (.+?) with type", re.DOTALL)
_INDEX = re.compile(r"__index_level_\d+__")  # of pandas, without a name


@runtime_checkable
class DataFrame(Protocol):
    """Data frame with the Arrow PyCapsule interface, as pandas 2.2, polars 1 and pyarrow have it."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the rows as a stream of Arrow arrays."""
        ...


FileOrFrame: TypeAlias = Path | DataFrame


def is_frame(given: object) -> TypeIs[DataFrame]:
    """Return whether this is a data frame."""
    return isinstance(given, DataFrame)


def read_file_or_frame(given: FileOrFrame, source: str, form: FileFormat | None = None) -> Table:
    """Return the table in a file of this format, or of a data frame; messages call it `source`. Raise InputError."""
    return read_table(given, source, form=form) if isinstance(given, Path) else read_frame(given, source)


def read_frame(frame: DataFrame, source: str) -> Table:
    """Return the table of a data frame. Its index is no column; raise InputError for what cannot be read."""
    import pyarrow as pa

    try:
        found: Any = pa.table(frame)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        column = _NAMED.search(str(error))  # the rest of the message quotes a cell
        fault = InputError("frame.mixed_column", column=shown(column[1])) if column else InputError("frame.unreadable")
        raise fault.within(source) from None
    found = without_index(found)
    with placed(source):
        owners_limits().check_cells(found.num_rows, found.num_columns)
        cells = [arrow_cells(column.type, _arrays(column), found.num_rows) for column in found.columns]
        return named_table(source, found.column_names, cells, found.num_rows, FileFormat(is_text=False))


def without_index(table: Any) -> Any:
    """Return an Arrow table without the unnamed index of a pandas data frame, which is no column."""
    return table.drop_columns([name for name in table.column_names if _INDEX.fullmatch(name)])


def _arrays(column: Any) -> Iterator[Any]:
    """Yield the arrays of a column without a dictionary."""
    from pyarrow import types

    for part in column.chunks:
        yield part.dictionary_decode() if types.is_dictionary(part.type) else part
