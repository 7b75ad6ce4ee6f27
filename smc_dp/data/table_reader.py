"""Reading of CSV and Parquet files as tables, also gzipped ones, without guessing their format.

Only marks are recognised: gzip's, a byte order mark, tabs in the header. All else stands in FILE.toml beside FILE, its
whole name and `.toml`, or is stated by the caller.
"""

from __future__ import annotations

import gzip
import io
import os
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import IO

from smc_dp.core import reading
from smc_dp.core.documents import read_document
from smc_dp.core.errors import Fault, InputError, InputFault, UnfitError, shown
from smc_dp.core.memory import free_memory, give_back_memory
from smc_dp.data.csv_cells import read_csv
from smc_dp.data.file_format import DEFAULT_FORMAT, FileFormat
from smc_dp.data.file_types import LONGEST_START, of_another_program
from smc_dp.data.format_sections import FileFormatDocument
from smc_dp.data.limits import BYTES_OF_CELL, TABLE_LIMITS, TableLimits, are_cells_given, owners_limits
from smc_dp.data.parquet_cells import read_parquet
from smc_dp.data.refused_input import refusal_with_lines
from smc_dp.data.table import Cells, Table, is_blank_column
from smc_dp.data.text_lines import ByteSource


class GzipSource:
    """Decompressed bytes of a gzip file, within the limit on a table's text."""

    def __init__(self, file: IO[bytes], limits: TableLimits) -> None:
        self._file, self._limits = gzip.GzipFile(fileobj=file, mode="rb"), limits

    def __enter__(self) -> GzipSource:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._file.close()  # the file itself stays open

    def read(self, size: int) -> bytes:
        """Read the next bytes, at most `size`; raise InputError for what is no gzip, or too much."""
        try:
            found = self._file.read(size)
        except (OSError, EOFError, zlib.error) as error:
            raise InputError("gzip.unreadable", why=str(error)) from None
        self._limits.check_text(self._file.tell())
        return found

    def seek(self, position: int) -> int:
        """Go back to this byte."""
        return self._file.seek(position)


PARQUET_MAGIC, GZIP_MAGIC = b"PAR1", b"\x1f\x8b"
"""First bytes of such files."""
_PARQUET = frozenset({".parquet", ".pq"})
TABS = frozenset({".tsv", ".tab"})
"""Endings that say that tabs separate cells."""


def read_table(path: Path, source: str, limits: TableLimits | None = None, form: FileFormat | None = None) -> Table:
    """Read a Parquet file, by its ending or its first bytes, or else a CSV file, gzipped or not; raise InputError.

    It must be a plain file, or a link to one; a file that is too large is refused before its cells are made. `form`:
    its format where stated elsewhere than in FILE.toml, which must not state another one. `limits`: where the owner
    states none; None is what the free memory allows.
    """
    meant = stated_format(path, source, form)
    try:
        return read_table_as(path, source, meant, limits)
    except InputError as error:
        raise refusal_with_lines(error, source) from None


def read_table_as(path: Path, source: str, meant: FileFormat, limits: TableLimits | None = None) -> Table:
    """Read a file as `read_table` does, in this format, whatever a file beside it states."""
    limits = owners_limits(meant.most_cells, limits)
    with reading.open_plain_file(path, source, limits.bytes) as file, placed(source), _owners_limit(meant, limits):
        start = _start(file)
        if foreign := of_another_program(path, start):
            raise InputError(foreign)
        if path.suffix.lower() in _PARQUET or start.startswith(PARQUET_MAGIC):
            return _parquet(file, source, limits, meant)
        if not start.startswith(GZIP_MAGIC):
            return _csv(file, source, meant, limits, path.suffix.lower() in TABS)
        with GzipSource(file, limits) as unpacked:
            if _start(unpacked).startswith(PARQUET_MAGIC):
                raise InputError("gzip.parquet")
            return _csv(unpacked, source, meant, limits, Path(path.stem).suffix.lower() in TABS)


def parse_csv(content: bytes, source: str, *, delimiter: str = ",") -> Table:
    """Parse a CSV file with a header: UTF-8, `delimiter` between cells, double quotes where needed."""
    with placed(source):
        return _csv(io.BytesIO(content), source, FileFormat(delimiter, encoding="utf-8"), TABLE_LIMITS)


@contextmanager
def _owners_limit(form: FileFormat, limits: TableLimits) -> Iterator[None]:
    """Say how the owner of a table lets it have more cells, and how much memory of this machine that takes."""
    try:
        yield
    except InputError as error:
        if error.code != "table.too_many_cells":
            raise
        more, free = 10 * limits.cells, free_memory()
        here = "" if free is None else f"; this machine has {_size(free)} free"
        hint = f". So many take up to {_size(limits.cells * BYTES_OF_CELL)}{here}. To allow {more:,} cells, up to "
        advice = f"give a limit of {more}" if are_cells_given() else form.advice(most_cells=more)
        hint += f"{_size(more * BYTES_OF_CELL)}, {advice}"
        raise InputError(replace(error.fault, fields={**error.fault.fields, "hint": hint})) from None


def _size(memory: int) -> str:
    return f"{memory >> 30:,} GB" if memory >= 10 << 30 else f"{-(-memory >> 20):,} MB"


@contextmanager
def placed(source: str) -> Iterator[None]:
    """Add the name of the table to every refusal inside the block: readers of cells do not know it."""
    try:
        yield
    except InputError as error:
        raise error.within(source) from None


def stated_format(path: Path, source: str, said: FileFormat | None) -> FileFormat:
    """Return the format that stands in FILE.toml beside FILE, or that was stated; InputError where the two differ."""
    beside = path.with_name(f"{path.name}.toml") if path.name else path
    if not path.name or not os.path.lexists(beside):
        return replace(DEFAULT_FORMAT, place=str(beside)) if said is None else said
    try:
        found = replace(read_document(FileFormatDocument, beside, "file").form, place=str(beside))
    except UnfitError as error:  # of several files a run keeps the faults, and not what stands before them
        raise UnfitError("", [fault.within(error.where) for fault in error.faults]) from None
    if said is None or said == DEFAULT_FORMAT:
        return found
    if said != found:
        raise InputError("form.two_forms", place=said.place, beside=str(beside)).within(source)
    return said


def _start(file: ByteSource) -> bytes:
    start = file.read(LONGEST_START)
    file.seek(0)
    return start


def _csv(file: ByteSource, source: str, form: FileFormat, limits: TableLimits, tabs: bool = False) -> Table:
    header, columns, rows = read_csv(file, form, limits, tabs)
    give_back_memory()  # of blocks of text, between the columns that were made of them: a quarter of a run's peak
    return named_table(source, header, columns, rows, form)


def _parquet(file: IO[bytes], source: str, limits: TableLimits, form: FileFormat) -> Table:
    for setting in ("separator", "decimal", "thousands", "encoding"):
        if setting in form.said():
            raise InputError("form.not_for_parquet", setting=setting, place=form.place)
    names, cells, rows = read_parquet(file, limits, form.missing)
    return named_table(source, names, cells, rows, replace(form, is_text=False))


def named_table(source: str, header: Sequence[str], cells: Sequence[Cells], rows: int, form: FileFormat) -> Table:
    """Return the table of these columns, without those that have no name and need none."""
    columns: dict[str, Cells] = {}
    ignored: list[Fault] = []
    names = [name.strip() for name in header]
    for i, (name, column) in enumerate(zip(names, cells, strict=True)):
        if not name and len(names) > 1 and (i == 0 or is_blank_column(column)):
            ignored.append(InputFault("header.row_names" if i == 0 else "header.empty_column", {"column": i + 1}))
            continue
        if not name:
            raise InputError("header.no_name", which=f"column {i + 1} of {len(names)} has no name in the header")
        if name in columns:
            raise InputError("header.same_name", name=shown(name))
        columns[name] = column
    if not columns:
        raise InputError("header.no_name", which="has no columns" if not names else "no column has a name")
    table = Table(source, columns, range(1, rows + 1), form, ignored=tuple(ignored))
    return table.without_blank_rows() if form.skip_blank_rows else table
