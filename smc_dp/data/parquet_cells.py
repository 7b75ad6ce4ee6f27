"""The cells of a Parquet file, after a look at what its own description says of its size.

Two megabytes can stand for a table of gigabytes: a column of one value has a few bytes for any number of rows, and a
text that is there once may stand in each of them. So texts are counted while they are unpacked, some rows at a time,
and columns that nobody could use are not unpacked.
"""

from __future__ import annotations

from typing import IO, Any

from smc_dp.data.size import TableLimits
from smc_dp.errors import InputError

_LONGEST_TEXT, _MOST_ITEMS = 1 << 24, 1 << 21  # of the description
_LONGEST_FOOTER = 1 << 26  # bytes, which become some ten times as many
_AT_ONCE = 1 << 6  # rows: long texts are counted before there are many
_REMEMBERED = 1 << 16  # different cells of which each is kept once
_END = 8  # bytes: the length of the footer, and what every such file ends with


def read_parquet(file: IO[bytes], source: str, limits: TableLimits) -> tuple[list[str], list[list[object]], int]:
    """Names, cells of each column, the number of rows; raises InputError."""
    import pyarrow as pa  # half a second that a user of CSV files need not wait
    import pyarrow.parquet as pq

    try:
        _check_footer(file, source)
        opened = pq.ParquetFile(
            file, thrift_string_size_limit=_LONGEST_TEXT, thrift_container_size_limit=_MOST_ITEMS, pre_buffer=False
        )
        schema, rows = opened.schema_arrow, opened.metadata.num_rows
        limits.check_cells(source, rows, max(len(schema), opened.metadata.num_columns))
        if all(_is_readable(field.type) for field in schema):
            _check_unpacked(opened.metadata, source, limits)
        cells = [_cells(opened, field, rows, source, limits) for field in schema]
    except (pa.ArrowException, OSError, ValueError, OverflowError, MemoryError) as error:
        if isinstance(error, InputError):
            raise
        reason = (str(error).splitlines() or ["unreadable"])[0]
        raise InputError(f"{source}: is not a Parquet file that can be read: {reason}") from error
    if any(len(column) != rows for column in cells):
        raise InputError(f"{source}: is not a Parquet file that can be read: it does not have the rows that it states")
    return list(schema.names), cells, rows


def _check_footer(file: IO[bytes], source: str) -> None:
    """Refuse a description so long that to read it alone would fill the memory."""
    end = file.seek(0, 2)
    file.seek(max(0, end - _END))
    length = int.from_bytes(file.read(_END)[:4], "little")
    file.seek(0)
    if _LONGEST_FOOTER < length <= end:
        raise InputError(f"{source}: describes itself in {length:,} bytes, wanted at most {_LONGEST_FOOTER:,}")


def _check_unpacked(metadata: Any, source: str, limits: TableLimits) -> None:
    """Refuse what the file itself says is too large when it is unpacked.

    By groups of rows: to ask about a single column of a damaged file ends the whole program.
    """
    total = 0
    for i in range(metadata.num_row_groups):
        total += metadata.row_group(i).total_byte_size
        limits.check_text(source, total)


def _cells(opened: Any, field: Any, rows: int, source: str, limits: TableLimits) -> list[object]:
    """Python values of a column; a type neither number nor text stands for each of its cells.

    What a file says of its size may be wrong, so that what comes out of it is counted as well.
    """
    if not _is_readable(field.type):
        return [_kind(field.type)] * rows
    from pyarrow import types

    found: list[object] = []
    once: dict[object, object] = {}
    size = 0
    for batch in opened.iter_batches(batch_size=_AT_ONCE, columns=[field.name], use_threads=False):
        column = batch.column(0)
        if types.is_dictionary(column.type):
            column = column.dictionary_decode()
        if _is_text(_kind(column.type)):
            size += column.nbytes
            limits.check_text(source, size)
        cells = column.to_pylist()
        if types.is_floating(column.type):
            cells = [None if cell is None else float(cell) for cell in cells]
        elif len(once) < _REMEMBERED:
            cells = [once.setdefault(cell, cell) for cell in cells]
        else:
            cells = [once.get(cell, cell) for cell in cells]
        found += cells
        if len(found) > rows:
            break
    return found


def _kind(kind: Any) -> Any:
    """The type of the cells, that of the values where they come in a dictionary."""
    from pyarrow import types

    return kind.value_type if types.is_dictionary(kind) else kind


def _is_text(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_string(kind) or types.is_large_string(kind))


def _is_readable(kind: Any) -> bool:
    from pyarrow import types

    numbers = (types.is_boolean, types.is_integer, types.is_decimal, types.is_floating)
    return _is_text(_kind(kind)) or any(test(_kind(kind)) for test in numbers)
