"""The schema of a Parquet file as a code book: names and types, and nothing that was computed of rows.

Its description of itself also has the least and the greatest value of columns, which are private rows' own. They are
not looked at: what is asked for is the schema alone, and what the description says beside it is dropped with it.
"""

from __future__ import annotations

from typing import IO, Any

from smc_dp.core.errors import InputError, shown
from smc_dp.data.dictionaries.data_dictionary import (
    BookEntry,
    CodeBook,
    ColumnSaid,
    DateSaid,
    LeftOut,
    LevelSaid,
    LevelsSaid,
    NumberSaid,
)
from smc_dp.data.parquet_cells import opened

KIND = "the schema of a Parquet file"
_INDEX = "__index_level_"  # what pandas calls an index without a name


def parquet_book(file: IO[bytes], source: str) -> CodeBook:
    """The code book in the schema of an open file; raises InputError."""
    try:
        with opened(file) as found:
            fields = [(field.name, field.type, field.nullable) for field in found.schema_arrow]
    except InputError as error:
        raise error.within(source) from None
    entries = [BookEntry(name, _said(name, kind), may_be_empty=nullable) for name, kind, nullable in fields]
    return CodeBook(source, KIND, tuple(entries))


def _said(name: str, kind: Any) -> ColumnSaid:
    from pyarrow import types

    if name.startswith(_INDEX):
        return LeftOut("the rows' own names")
    if types.is_boolean(kind):
        return LevelsSaid((LevelSaid("false"), LevelSaid("true")))
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return NumberSaid(whole=types.is_integer(kind))
    if types.is_date(kind) or types.is_timestamp(kind):
        return DateSaid()
    if types.is_dictionary(kind):
        return LevelsSaid(lacks="a dictionary, of which no value was read")
    if types.is_string(kind) or types.is_large_string(kind):
        return LevelsSaid()
    return LeftOut(f"its type is {shown(str(kind))}")
