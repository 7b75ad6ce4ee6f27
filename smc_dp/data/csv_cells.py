"""Cells of a CSV file: pyarrow parses blocks of whole rows whose quotes and line ends were checked before.

pyarrow misreads a quote without end, a text behind one and an empty line, and takes some kilobytes for every column of
a block. So the end of rows and what is no CSV are decided here, and files of very many columns are parsed here.
"""

from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np

from smc_dp.core.errors import Fault, InputError, InputFault, shown
from smc_dp.data.dictionary_encoding import DictionaryEncoder
from smc_dp.data.file_format import FileFormat
from smc_dp.data.format_hints import add_hint
from smc_dp.data.limits import TableLimits
from smc_dp.data.refused_input import RefusedInput
from smc_dp.data.table import Cells, line_of_row
from smc_dp.data.text_column import TextColumnBuilder
from smc_dp.data.text_lines import ByteSource, TextLines

_LONGEST_ROW = 1 << 25  # bytes
_MOST_AT_ONCE = 1 << 10  # columns that pyarrow is given
_MARK = "\ufeff".encode()  # which pyarrow drops where a block begins
_STAND_IN = "\x1f"  # for a separator that is no single byte
_LINE_END = re.compile("\r\n?|\n")  # and none of the others that Python knows, which may stand in a cell
_OF_EXCEL = re.compile(rb"\"?sep=.\"?", re.IGNORECASE)  # first line, which states the separator to Excel alone


def read_csv(
    file: ByteSource, form: FileFormat, limits: TableLimits, tabs: bool = False
) -> tuple[list[str], list[Cells], int]:
    """Return the header, the cells of each column and the number of rows; raise InputError.

    tabs: whether the file's name says that tabs separate cells.
    """
    table = _Rows(form, limits, tabs)
    table.read(TextLines(file, form, limits))
    return table.header, table.cells(), table.rows


@dataclass
class _Rows:
    """Table read so far: its header, and the dictionary-encoded cells of each column."""

    form: FileFormat
    limits: TableLimits
    tabs: bool
    header: list[str] = field(default_factory=list)
    rows: int = 0

    def __post_init__(self) -> None:
        self._missing = dict.fromkeys(self.form.missing, "")
        self._codings: list[DictionaryEncoder] = []  # where texts have to be exchanged, else columns of pyarrow
        self._columns: list[TextColumnBuilder] = []
        self._lists: list[list[str]] = []

    def read(self, pieces: Iterable[str]) -> None:
        """Read all rows of these lines."""
        others = iter(pieces)
        first = next(others, "")
        self._choose_separator(first)
        for block in self._blocks(self._swap(piece).encode() for piece in chain([first], others)):
            self._take(block)
        if not self.rows and not any(name.strip() for name in self.header):
            raise InputError("csv.empty")

    def cells(self) -> list[Cells]:
        """Return the columns, once."""
        if self._lists:
            return [*self._lists]
        if self._columns:
            self._columns.reverse()
            return [self._columns.pop().column() for _ in self.header]
        self._codings.reverse()  # and each gives its cells away before the next
        return [self._codings.pop().coded() for _ in self.header]

    def _choose_separator(self, first: str) -> None:
        """Choose tabs where the name or the header shows them and no separator is set, or else commas."""
        header = _LINE_END.split(first, maxsplit=1)[0]
        tabs = self.form.separator is None and (self.tabs or ("\t" in header and "," not in header))
        said = self.form.separator or ("\t" if tabs else ",")
        self._is_usual = self.form.separator is None and not tabs
        self._separator = said if said.isascii() else _STAND_IN
        self._swapped = {} if said.isascii() else {ord(said): _STAND_IN, ord(_STAND_IN): said}
        self._grammar = _Grammar(self._separator)

    def _swap(self, text: str) -> str:
        """Return the text with a separator of several bytes and one that pyarrow accepts exchanged."""
        return text.translate(self._swapped) if self._swapped else text

    def _blocks(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        """Yield the header alone, then blocks of whole rows, none empty; raise InputError for what is no CSV."""
        held, blank, enough = b"", False, 0
        for piece in chain(pieces, [b""]):
            held += piece
            if piece and len(held) < enough:  # a long row is looked at again when it has doubled
                continue
            if not (self.header or blank) and (end := self._grammar.first(held)):
                self._take_header(held[:end])
                held = held[end:]
            end = self._grammar.rows(held) if self.header and not blank else 0
            if end:
                yield held[:end]
            held = held[end:]
            if blank or held[:1] in (b"\r", b"\n"):
                blank, held = True, held.lstrip(b"\r\n")
                if held:
                    raise self._ragged(0)
            elif held:
                self._check_end(held)
            enough = 2 * len(held)
        if held:
            raise InputError("csv.unended_quote", where=self._here())

    def _check_end(self, held: bytes) -> None:
        """Refuse what is no beginning of a row, or of too long a one."""
        if self._grammar.goes_on(held):
            fault = InputFault("csv.text_after_quote", {"where": self._here(), "hint": ""})
            lines = () if self.header else (held.decode().splitlines()[0],)
            raise InputError(add_hint(fault, RefusedInput(self.form, header=lines)))
        if len(held) > _LONGEST_ROW:
            raise InputError("csv.long_row")

    def _here(self) -> str:
        return f"line {self._line}" if self.header else "the header"

    @property
    def _line(self) -> int:
        """Number of the line that is read next."""
        return line_of_row(self.rows + 1)

    def _take_header(self, block: bytes) -> None:
        self.header = [self._swap(cell) for cell in self._by_hand(block)[0]]
        width = len(self.header)
        if _OF_EXCEL.fullmatch(block.strip()):
            raise InputError("csv.line_of_excel", line=block.strip().decode())
        if width == 1 and self._is_usual:
            name = shown(self.header[0])
            one = self._explained(InputFault("csv.one_column", {"name": name, "hint": ""}))
            if one.fields["recognised"]:
                raise InputError(one)
        self.limits.check_cells(0, width)
        if width > _MOST_AT_ONCE:
            self._lists = [[] for _ in self.header]
            return
        if self._swapped:
            self._codings = [DictionaryEncoder(self._missing) for _ in self.header]
        else:
            self._columns = [TextColumnBuilder(self._missing) for _ in self.header]
        self._arrow = _Arrow(width, self._separator, is_encoded=bool(self._swapped))

    def _take(self, block: bytes) -> None:
        """Add rows below the header."""
        if self._lists:
            self._take_by_hand(block)
            return
        found, ragged = self._arrow.read(block)
        if ragged is not None:
            self.rows += ragged[0] - 1
            raise self._ragged(ragged[1])
        self.rows += found.num_rows
        self.limits.check_cells(self.rows, len(self.header), more=True)
        for column, built in zip(found.columns, self._columns, strict=False):
            built.add(column.chunks)
        for column, coding in zip(found.columns, self._codings, strict=False):
            cells = column.chunk(0)
            coding.add([self._swap(text) for text in cells.dictionary.to_pylist()], cells.indices.to_numpy())

    def _take_by_hand(self, block: bytes) -> None:
        rows, width = self._by_hand(block), len(self.header)
        self.limits.check_cells(self.rows + len(rows), width, more=True)
        for row in rows:
            if len(row) != width:
                raise self._ragged(len(row))
            self.rows += 1
        once = {cell: self._missing.get(text := self._swap(cell), text) for row in rows for cell in row}
        for column, cells in zip(self._lists, zip(*rows, strict=True), strict=True):
            column.extend(map(once.__getitem__, cells))

    def _by_hand(self, block: bytes) -> list[list[str]]:
        text = io.StringIO(block.decode(), newline="")
        try:
            return list(csv.reader(text, delimiter=self._separator, strict=True))
        except csv.Error as error:
            raise InputError("csv.unreadable", why=str(error)) from error

    def _ragged(self, cells: int) -> InputError:
        if not self.header:
            return InputError("csv.no_header")
        if not cells:
            return InputError("csv.blank_row", line=self._line)
        code = "csv.short_row" if cells < len(self.header) else "csv.ragged_row"
        ragged = InputFault(code, {"line": self._line, "got": cells, "wanted": len(self.header), "hint": ""})
        return InputError(self._explained(ragged))

    def _explained(self, fault: Fault) -> Fault:
        return add_hint(fault, RefusedInput(self.form, header=self.header))


def _repeated(part: bytes) -> bytes:
    """Return a pattern of any number of such parts, none of which is given back.

    A possessive group keeps nothing to go back to, so that a row without end takes no memory. Python below 3.11.5
    matches such a group wrongly where it has a choice in it: there an atomic one is right, and takes memory.
    """
    if sys.version_info >= (3, 11, 5):
        return rb"(?:" + part + rb")" + rb"*+"
    return rb"(?>(?:" + part + rb")*)"


class _Grammar:
    """Grammar of row ends: a cell is a text in quotes, or one that does not begin with a quote."""

    def __init__(self, separator: str) -> None:
        mark = re.escape(separator).encode()
        quoted = rb'"[^"]*+' + _repeated(rb'""[^"]*+') + rb'"'
        cell = rb"(?:" + quoted + rb'|(?!")[^' + mark + rb"\r\n]*+)"
        row = rb"(?![\r\n])" + cell + _repeated(mark + cell) + rb"(?:\r\n?|\n)"
        self._row, self._rows = re.compile(row), re.compile(_repeated(row))
        self._ended = re.compile(_repeated(cell + mark) + quoted)

    def first(self, text: bytes) -> int:
        """Return the end of the first row; 0 where it does not end."""
        found = self._row.match(text)
        return found.end() if found else 0

    def rows(self, text: bytes) -> int:
        """Return the end of the last of several rows in a row, none of them empty."""
        if b'"' not in text and not _has_empty_line(text) and text[:1] not in (b"\r", b"\n"):
            return len(text)  # as it is whole lines
        found = self._rows.match(text)
        return found.end() if found else 0

    def goes_on(self, text: bytes) -> bool:
        """Return whether, in what is no row, a cell goes on after its last quote."""
        return self._ended.match(text) is not None


def _has_empty_line(text: bytes) -> bool:
    """Return whether two line ends follow each other, for whatever line ends there are."""
    if b"\r" in text:
        return any(ends in text for ends in (b"\n\n", b"\n\r", b"\r\r"))
    # A search for two bytes takes seven times as long.
    ends = np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n"))
    return bool((np.diff(ends) == 1).any())


class _Arrow:
    """Parser of pyarrow for rows of `width` cells, each a text."""

    def __init__(self, width: int, separator: str, *, is_encoded: bool) -> None:
        import pyarrow as pa
        from pyarrow import csv as arrow

        kinds = {str(i): pa.dictionary(pa.int32(), pa.string()) if is_encoded else pa.string() for i in range(width)}
        self._kinds = kinds
        self._read: Any = arrow.read_csv
        self._ragged: tuple[int, int] | None = None
        self._parse = arrow.ParseOptions(
            delimiter=separator, newlines_in_values=True, ignore_empty_lines=False, invalid_row_handler=self._refused
        )
        self._convert = arrow.ConvertOptions(column_types=kinds, null_values=[], strings_can_be_null=False)

    def read(self, block: bytes) -> tuple[Any, tuple[int, int] | None]:
        """Return the rows of a block; or None and, of the first row of another width, its number and width."""
        import pyarrow as pa
        from pyarrow import csv as arrow

        block = _MARK + block if block.startswith(_MARK) else block
        # In one thread: only so does it say which row is wrong. One block: its own ones would cut rows in two.
        options = arrow.ReadOptions(column_names=[*self._kinds], block_size=len(block) + 1, use_threads=False)
        try:
            given = (options, self._parse, self._convert, pa.system_memory_pool())  # which keeps nothing back
            return self._read(pa.BufferReader(block), *given), None
        except pa.ArrowInvalid:
            if self._ragged is None:
                raise
            return None, self._ragged

    def _refused(self, row: Any) -> str:
        self._ragged = (row.number, row.actual_columns)
        return "error"
