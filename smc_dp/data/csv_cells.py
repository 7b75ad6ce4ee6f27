"""The cells of a CSV file, read piece by piece: too many or too long ones are refused before they fill the memory."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterator
from itertools import chain, islice
from typing import IO

from smc_dp.data.size import TableLimits
from smc_dp.errors import InputError

_AT_ONCE = 1 << 16  # cells of a piece, and
_MOST_ROWS = 256  # rows
_LONGEST_PIECE = 1 << 25  # characters of a piece, line ends in quotes among them
_CHUNK = 1 << 20
_REMEMBERED = 1 << 16  # different cells of which each is kept once


class _Text:
    """The lines of a file, with a bound on each, on those of one piece, and on all."""

    def __init__(self, file: IO[bytes], source: str, limits: TableLimits) -> None:
        self._text = io.TextIOWrapper(file, "utf-8-sig", newline="")
        self._source, self._limits = source, limits
        self._left, self._weight, self._lines = _LONGEST_PIECE, 0, 0

    def next_piece(self) -> None:
        """What was read so far has been taken."""
        self._left = _LONGEST_PIECE

    def __iter__(self) -> Iterator[str]:
        most = self._limits.line
        while line := self._text.readline(most + 1):
            if len(line) > most:
                raise InputError(f"{self._source}: has a line of more than {most:,} characters, wanted shorter ones")
            self._lines += 1
            if self._lines > self._limits.cells + 1:  # empty ones, or those of a text in quotes
                raise InputError(f"{self._source}: has more than {self._limits.cells:,} lines, wanted fewer")
            self._left -= len(line)
            if self._left < 0:
                raise InputError(f"{self._source}: has a row of too many characters, wanted shorter ones")
            self._weight += len(line) if line.isascii() else 4 * len(line)
            self._limits.check_text(self._source, self._weight)
            if "\0" in line:
                raise InputError(f"{self._source}: is not a text file (it has a byte 0), wanted CSV")
            yield line

    def close(self) -> None:
        """Leave the file open for whoever opened it."""
        self._text.detach()


def read_csv(file: IO[bytes], source: str, delimiter: str, limits: TableLimits) -> tuple[list[str], list[list[str]]]:
    """The cells of the header, and of each column below it; raises InputError."""
    text = _Text(file, source, limits)
    try:
        return _read(csv.reader(text, delimiter=delimiter, strict=True), text, source, limits)
    except UnicodeDecodeError:
        file.seek(0)
        if b"\0" in file.read(_CHUNK):
            raise InputError(f"{source}: is not a text file (it has a byte 0), wanted CSV") from None
        raise InputError(f"{source}: is not UTF-8 text (byte {_unreadable(file)} cannot be read), wanted CSV") from None
    except csv.Error as error:
        raise InputError(f"{source}: is not CSV: {error}") from error
    finally:
        text.close()


def _read(
    rows: Iterator[list[str]], text: _Text, source: str, limits: TableLimits
) -> tuple[list[str], list[list[str]]]:
    header = next(rows, [])
    if not any(cell.strip() for cell in header) and not any(cell.strip() for row in rows for cell in row):
        raise InputError(f"{source}: the file is empty, wanted a header and rows")
    width = len(header)
    limits.check_cells(source, 0, width)
    columns: list[list[str]] = [[] for _ in header]
    once: dict[str, str] = {}
    done = 0
    for piece in _pieces(rows, text, max(1, min(_MOST_ROWS, _AT_ONCE // max(1, width)))):
        limits.check_cells(source, done + len(piece), width, more=True)
        for number, row in enumerate(piece, done + 1):
            if len(row) != width:
                raise InputError(f"{source}: row {number} has {len(row)} cells, the header has {width}")
        done += len(piece)
        if len(once) < _REMEMBERED:
            once.update((cell, cell) for cell in chain.from_iterable(piece))
        for column, cells in zip(columns, zip(*piece, strict=True), strict=True):
            column.extend(map(once.get, cells, cells))  # the cell itself where it is not known
    return header, columns


def _pieces(rows: Iterator[list[str]], text: _Text, length: int) -> Iterator[list[list[str]]]:
    """The rows, some at a time; empty ones at the end are none."""
    empty = 0
    while True:
        text.next_piece()
        piece = list(islice(rows, length))
        if not piece:
            return
        filled = len(piece)
        while filled and not piece[filled - 1]:
            filled -= 1
        if filled:
            yield [[] for _ in range(min(empty, 1))] + piece[:filled]
            empty = 0
        empty += len(piece) - filled


def _unreadable(file: IO[bytes]) -> int:
    """The position of the first byte that is not UTF-8."""
    file.seek(0)
    decoder, at = codecs.getincrementaldecoder("utf-8")(), 0
    while True:
        chunk = file.read(_CHUNK)
        held = len(decoder.getstate()[0])
        try:
            decoder.decode(chunk, final=not chunk)
        except UnicodeDecodeError as error:
            return at - held + error.start
        if not chunk:
            return at
        at += len(chunk)
