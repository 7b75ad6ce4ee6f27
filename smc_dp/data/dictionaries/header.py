"""Header of a file of rows as a data dictionary of names: bytes below its first line are never used.

The names of columns are public, as every file of bounds has them; cells are not. So the line is taken byte by byte, and
all that follows works on these bytes. A first line that looks like a row is refused: its names would be cells.
"""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from smc_dp.core import reading
from smc_dp.core.errors import InputError
from smc_dp.data.csv_cells import read_csv
from smc_dp.data.dictionaries.data_dictionary import DataDictionary, DescribedColumn, UnknownEntry
from smc_dp.data.dictionaries.read_dictionary import parquet_dictionary
from smc_dp.data.file_format import FileFormat
from smc_dp.data.file_types import of_another_program
from smc_dp.data.limits import TABLE_LIMITS
from smc_dp.data.refused_input import refusal_with_lines
from smc_dp.data.table_reader import GZIP_MAGIC, PARQUET_MAGIC, TABS, GzipSource, stated_format
from smc_dp.data.text_lines import ByteSource

_KIND = "of which only the first line was read: if that is a row and no header, delete this file"
_LONGEST = 1 << 20  # bytes of a header
_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_ENDS = frozenset({b"\n", b"\r", *(end.encode(codec) for end in "\n\r" for codec in ("utf-16-le", "utf-16-be"))})
_CELL = re.compile(r"[^@]+@[^@]+\.[^@]+|\d{4}-\d\d?-\d\d?.*|true|false|nan|null|none|n/?a", re.IGNORECASE)


def read_header(path: Path, form: FileFormat | None = None) -> DataDictionary:
    """Read the names of the columns of a CSV file, gzipped or not, or the schema of a Parquet file; raise InputError.

    form: the format of the file where stated elsewhere than beside it.
    """
    source = f"header of {path}"
    meant = stated_format(path, source, form)
    try:
        with reading.open_plain_file(path, source) as file:
            line = header_line(file)
            if line.startswith(PARQUET_MAGIC):
                return parquet_dictionary(file, path.name)
            if foreign := of_another_program(path, line):
                raise InputError(foreign)
            name = path
            if line.startswith(GZIP_MAGIC):
                file.seek(0)
                name = Path(path.stem)
                with GzipSource(file, TABLE_LIMITS) as unpacked:
                    line = header_line(unpacked)
        if not line:
            raise InputError("csv.no_header")
        if line.count(b'"') % 2:
            raise InputError("header.line_break")
        cells, _, _ = read_csv(io.BytesIO(line), meant, TABLE_LIMITS, name.suffix.lower() in TABS)
        return DataDictionary(path.name, _KIND, tuple(_described([cell.strip() for cell in cells])))
    except InputError as error:
        error = error if error.fault.place.startswith(source) else error.within(source)
        raise refusal_with_lines(error, source) from None


def header_line(file: ByteSource | IO[bytes]) -> bytes:
    """Return the first line of a file without its end, and take no byte behind that; raise InputError for a long one.

    In UTF-16, which its byte order mark shows, a line ends with a whole character of two bytes.
    """
    found = bytearray()
    step = 1
    while unit := file.read(step):
        if unit in _ENDS:
            break
        found += unit
        if len(found) == 2 and bytes(found) in _WIDE:
            step = 2
        if len(found) > _LONGEST:
            raise InputError("header.too_long", most=_LONGEST)
    return bytes(found)


def _described(names: Sequence[str]) -> list[DescribedColumn]:
    """Return the columns with these names; raise InputError for what is no header, without quoting it."""
    found = []
    last = max((place for place, name in enumerate(names, 1) if name), default=0)  # Excel has nameless ones behind it
    for place, name in enumerate(names[:last], 1):
        if not name and place == 1:
            continue  # the names of rows, as R and pandas write them
        if not any(map(str.isalpha, name)) or _CELL.fullmatch(name):
            raise InputError("header.looks_like_a_row", column=place, columns=len(names))
        found.append(DescribedColumn(name, UnknownEntry()))
    return found
