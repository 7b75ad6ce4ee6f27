"""Reading of a data dictionary, whose format shows in its first bytes; a file of rows is refused.

The schema of a Parquet file is a dictionary of names and types. Its footer also has the least and the greatest value of
columns, which are private: only the schema is read, and the rest is dropped.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import IO, Any

from smc_dp.core import reading
from smc_dp.core.errors import InputError, InputFault, shown
from smc_dp.data.dictionaries.data_dictionary import (
    ColumnEntry,
    DataDictionary,
    DateEntry,
    DescribedColumn,
    ExcludedEntry,
    LevelEntry,
    LevelsEntry,
    NumberEntry,
)
from smc_dp.data.dictionaries.redcap import redcap_dictionary, separator_of_dictionary
from smc_dp.data.parquet_cells import open_parquet

_MOST_BYTES = 1 << 24  # of a data dictionary, which is text
_FIRST = 1 << 16  # bytes that the first line of a dictionary fits into
_PARQUET = b"PAR1"
_SCHEMA = "the schema of a Parquet file"
_INDEX = "__index_level_"  # what pandas calls an index without a name
_MARK = b"\xef\xbb\xbf"  # the byte order mark of UTF-8
_WANTED = (
    "wanted a REDCap data dictionary (CSV with the columns 'Variable / Field Name', 'Field Type' and so on) or a "
    "Parquet file for its schema"
)


def read_data_dictionary(path: Path) -> DataDictionary:
    """Read the data dictionary in a file; raise InputError, from the first line alone for a file of rows."""
    source = f"data dictionary {path}"
    with reading.open_plain_file(path, source) as file:
        first = file.read(_FIRST)
        if first.startswith(_PARQUET):
            return parquet_dictionary(file, str(path.name))
    first = first.removeprefix(_MARK).lstrip()
    separator = separator_of_dictionary(first.splitlines()[0].decode("latin-1")) if first else None
    if separator is None:
        raise InputError("codebook.unknown", wanted=_WANTED, file=shlex.quote(str(path))).within(source)
    try:
        whole = reading.read_file(path, _MOST_BYTES, where=source, links=True).removeprefix(_MARK)
        return redcap_dictionary(whole.decode("utf-8"), separator, path.name)
    except UnicodeDecodeError:
        raise InputError("codebook.not_utf8").within(source) from None


def parquet_dictionary(file: IO[bytes], source: str) -> DataDictionary:
    """Return the dictionary in the schema of an open Parquet file; raise InputError."""
    try:
        with open_parquet(file) as found:
            fields = [(field.name, field.type, field.nullable) for field in found.schema_arrow]
    except InputError as error:
        raise error.within(source) from None
    entries = [DescribedColumn(name, _said(name, kind), may_be_empty=nullable) for name, kind, nullable in fields]
    return DataDictionary(source, _SCHEMA, tuple(entries))


def _said(name: str, kind: Any) -> ColumnEntry:
    from pyarrow import types

    if name.startswith(_INDEX):
        return ExcludedEntry(InputFault("excluded.row_names"))
    if types.is_boolean(kind):
        return LevelsEntry((LevelEntry("false"), LevelEntry("true")))
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return NumberEntry(whole=types.is_integer(kind))
    if types.is_date(kind) or types.is_timestamp(kind):
        return DateEntry()
    if types.is_dictionary(kind):
        return LevelsEntry(lacks=InputFault("entry.unread_levels"))
    if types.is_string(kind) or types.is_large_string(kind):
        return LevelsEntry()
    return ExcludedEntry(InputFault("excluded.column_type", {"kind": shown(str(kind))}))
