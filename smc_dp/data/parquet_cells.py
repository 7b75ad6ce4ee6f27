"""Cells of a Parquet file, read within limits on its unpacked size.

Two megabytes can expand to a table of gigabytes: a column of one value takes a few bytes for any number of rows, and a
text stored once may stand in each of them. So texts are counted while they are unpacked, some rows at a time, and
columns of unreadable types are not unpacked.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Any

import numpy as np

from smc_dp.core.errors import InputError
from smc_dp.data.dictionary_encoding import DictionaryEncoder
from smc_dp.data.limits import TableLimits
from smc_dp.data.table import Cells, DictionaryColumn

_LONGEST_TEXT, _MOST_ITEMS = 1 << 24, 1 << 21  # of the description
_LONGEST_FOOTER = 1 << 26  # bytes, which become some ten times as many
_AT_ONCE = 1 << 6  # rows: long texts are counted before there are many,
_HELD, _HEAVY = 1 << 7, 1 << 20  # and so many times of them are looked at together, unless they take so many bytes
_END = 8  # bytes: the length of the footer, and what every such file ends with


def read_parquet(
    file: IO[bytes], limits: TableLimits, missing: Sequence[str] = ()
) -> tuple[list[str], list[Cells], int]:
    """Return names, cells of each column and the number of rows; raise InputError. missing: texts for empty cells."""
    with open_parquet(file) as found:
        schema, rows = found.schema_arrow, found.metadata.num_rows
        limits.check_cells(rows, max(len(schema), found.metadata.num_columns))
        if all(_is_readable(field.type) for field in schema):
            _check_unpacked(found.metadata, limits)
        cells = [_cells(found, field, rows, limits, missing) for field in schema]
    if any(len(column) != rows for column in cells):
        raise InputError("parquet.unreadable", why="it does not have the rows that it states")
    return list(schema.names), cells, rows


@contextmanager
def open_parquet(file: IO[bytes]) -> Iterator[Any]:
    """Open a Parquet file of which only the footer is read, once its length was checked.

    Raises InputError, also for what cannot be read inside the block.
    """
    import pyarrow as pa  # a third of a second that a user of data sets need not wait
    import pyarrow.parquet as pq

    try:
        _check_footer(file)
        yield pq.ParquetFile(
            file, thrift_string_size_limit=_LONGEST_TEXT, thrift_container_size_limit=_MOST_ITEMS, pre_buffer=False
        )
    except (pa.ArrowException, OSError, ValueError, OverflowError, MemoryError) as error:
        if isinstance(error, InputError):
            raise
        reason = (str(error).splitlines() or ["unreadable"])[0]
        raise InputError("parquet.unreadable", why=reason) from error


def _check_footer(file: IO[bytes]) -> None:
    """Refuse a description so long that to read it alone would fill the memory."""
    end = file.seek(0, 2)
    file.seek(max(0, end - _END))
    length = int.from_bytes(file.read(_END)[:4], "little")
    file.seek(0)
    if _LONGEST_FOOTER < length <= end:
        raise InputError("parquet.long_description", length=length, most=_LONGEST_FOOTER)


def _check_unpacked(metadata: Any, limits: TableLimits) -> None:
    """Refuse what the file itself says is too large when it is unpacked.

    By groups of rows: to ask about a single column of a damaged file ends the whole program.
    """
    total = 0
    for i in range(metadata.num_row_groups):
        total += metadata.row_group(i).total_byte_size
        limits.check_text(total)


def _cells(opened: Any, field: Any, rows: int, limits: TableLimits, missing: Sequence[str]) -> Cells:
    parts = _parts(opened, field.name, rows, limits) if _is_readable(field.type) else iter(())
    return arrow_cells(field.type, parts, rows, missing)


def arrow_cells(kind: Any, parts: Iterable[Any], rows: int, missing: Sequence[str] = ()) -> Cells:
    """Return the cells of a column of this Arrow type, whose arrays have no dictionary.

    Where the type is unreadable, no array is looked at: the type stands for each cell.
    """
    from pyarrow import types

    if not _is_readable(kind):
        return DictionaryColumn(np.zeros(rows, np.int32), (kind,))
    return _numbers(parts) if types.is_floating(_kind(kind)) else _coded(parts, missing)


def _parts(opened: Any, name: str, rows: int, limits: TableLimits) -> Iterator[Any]:
    """Yield the cells of a column without a dictionary, some thousands at a time, fewer where they are long.

    The size that a file states may be wrong, so what comes out of it is counted as well.
    """
    import pyarrow as pa

    held, size, length = [], 0, 0
    for batch in opened.iter_batches(batch_size=_AT_ONCE, columns=[name], use_threads=False):
        cells = batch.column(0)
        if pa.types.is_dictionary(cells.type):
            cells = cells.dictionary_decode()
        if _is_text(cells.type):
            size += cells.nbytes
            limits.check_text(size)
        held.append(cells)
        length += len(cells)
        if length > rows:
            break
        if len(held) == _HELD or cells.nbytes > _HEAVY:
            yield pa.concat_arrays(held)
            held.clear()
    if held:
        yield pa.concat_arrays(held)


def _numbers(parts: Iterable[Any]) -> Cells:
    """Return floating numbers as an array, and as single cells where some are missing."""
    import pyarrow as pa

    numbers, empty = [np.empty(0)], [np.empty(0, dtype=bool)]
    for part in parts:
        numbers.append(part.cast(pa.float64()).to_numpy(zero_copy_only=False))
        empty.append(part.is_null().to_numpy(zero_copy_only=False))
    found, none = np.concatenate(numbers), np.concatenate(empty)
    if not none.any():
        return found
    return [None if is_none else cell for cell, is_none in zip(found.tolist(), none.tolist(), strict=True)]


def _coded(parts: Iterable[Any], missing: Sequence[str]) -> DictionaryColumn:
    """Return cells of any other kind, dictionary-encoded, None for missing ones."""
    coding = DictionaryEncoder(dict.fromkeys(missing, ""))
    for part in parts:
        coded = part.dictionary_encode(null_encoding="encode")
        coding.add(_objects(coded.dictionary), coded.indices.to_numpy())
    return coding.coded()


def _objects(cells: Any) -> list[Any]:
    """Return Python objects; a timestamp is a date where it has no time of day in its own zone, else a text."""
    import pyarrow as pa
    from pyarrow import compute, types

    if types.is_timestamp(cells.type) and cells.type.tz is not None:
        try:
            cells = compute.local_timestamp(cells)
        except pa.ArrowInvalid:  # of a zone that nobody knows
            return [cells.type] * len(cells)
    if types.is_date(cells.type) or types.is_timestamp(cells.type):
        return [text and _day(text) for text in cells.cast(pa.string()).to_pylist()]
    return list(cells.to_pylist())


def _day(text: str) -> datetime.date | str:
    day, _, time = text.partition(" ")
    try:
        return text if time.strip("0:.") else datetime.date.fromisoformat(day)
    except ValueError:  # before the year 1 or after 9999
        return text


def _kind(kind: Any) -> Any:
    """Return the type of the cells, that of the values where they come in a dictionary."""
    from pyarrow import types

    return kind.value_type if types.is_dictionary(kind) else kind


def _is_text(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _is_readable(kind: Any) -> bool:
    from pyarrow import types

    others = (types.is_boolean, types.is_integer, types.is_decimal, types.is_floating, types.is_null)
    moments = (types.is_date, types.is_timestamp)
    return _is_text(_kind(kind)) or any(test(_kind(kind)) for test in (*others, *moments))
