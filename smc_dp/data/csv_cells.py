"""The cells of a CSV file, read piece by piece: too many or too long ones are refused before they fill the memory."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator
from itertools import chain, islice
from typing import IO

from smc_dp.data.file_form import FileForm, other_encoding, other_separator
from smc_dp.data.size import TableLimits
from smc_dp.errors import InputError

_AT_ONCE = 1 << 16  # cells of a piece, and
_MOST_ROWS = 256  # rows
_LONGEST_PIECE = 1 << 25  # characters of a piece, line ends in quotes among them
_CHUNK = 1 << 20
_REMEMBERED = 1 << 16  # different cells of which each is kept once
_NAMES = {"utf-8": "UTF-8", "utf-16": "UTF-16"}
_CODECS = {"utf-8": "utf-8-sig"}  # which takes a byte order mark away
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_CONTROLS = re.compile("[\x80-\x9f]")  # what latin-1 has where cp1252 has quotes, dashes and the euro


class _Text:
    """The lines of a file, with a bound on each, on those of one piece, and on all."""

    def __init__(self, file: IO[bytes], source: str, encoding: str, limits: TableLimits) -> None:
        self._text = io.TextIOWrapper(file, _CODECS.get(encoding, encoding), newline="")
        self._source, self._limits, self._bytewise = source, limits, _Bytewise(encoding, source)
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
            self._bytewise.check(line)
            yield line
        self._bytewise.check_all()

    def close(self) -> None:
        """Leave the file open for whoever opened it."""
        self._text.detach()


class _Bytewise:
    """Whether text is really in the encoding that is said, of those in which nearly any byte is some character."""

    def __init__(self, encoding: str, source: str) -> None:
        self._encoding, self._source, self._told = encoding, source, encoding.startswith("utf")
        self._more_than_ascii = self._not_utf_8 = self._controls = False

    def check(self, line: str) -> None:
        """Raises InputError for characters that no text has."""
        if self._told or line.isascii():
            return
        self._more_than_ascii = True
        self._not_utf_8 = self._not_utf_8 or not _is_utf_8(line.encode(self._encoding))
        self._controls = self._controls or bool(self._encoding == "latin-1" and _CONTROLS.search(line))
        if self._controls and self._not_utf_8:
            came = "is not latin-1 text (it has control characters)"
            raise InputError(f"{self._source}: {came}, wanted CSV{other_encoding('cp1252')}")

    def check_all(self) -> None:
        """Raises InputError where every line of more than ASCII is UTF-8, which it is not by chance."""
        if self._more_than_ascii and not self._not_utf_8:
            came = f"is not {self._encoding} text (all of it is UTF-8)"
            raise InputError(f"{self._source}: {came}, wanted CSV{other_encoding('utf-8')}")


def _is_utf_8(content: bytes) -> bool:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def read_csv(file: IO[bytes], source: str, form: FileForm, limits: TableLimits) -> tuple[list[str], list[list[str]]]:
    """The cells of the header, and of each column below it; raises InputError."""
    _check_mark(file, source, form.encoding)
    text = _Text(file, source, form.encoding, limits)
    try:
        return _read(csv.reader(text, delimiter=form.separator, strict=True), text, source, form, limits)
    except UnicodeError:
        raise InputError(f"{source}: {_unreadable(file, form.encoding)}") from None
    except csv.Error as error:
        raise InputError(f"{source}: is not CSV: {error}") from error
    finally:
        text.close()


def _read(
    rows: Iterator[list[str]], text: _Text, source: str, form: FileForm, limits: TableLimits
) -> tuple[list[str], list[list[str]]]:
    header = next(rows, [])
    if not any(cell.strip() for cell in header) and not any(cell.strip() for row in rows for cell in row):
        raise InputError(f"{source}: the file is empty, wanted a header and rows")
    width = len(header)
    limits.check_cells(source, 0, width)
    columns: list[list[str]] = [[] for _ in header]
    once: dict[str, str] = {}
    missing = dict.fromkeys(form.missing, "")
    done = 0
    for piece in _pieces(rows, text, max(1, min(_MOST_ROWS, _AT_ONCE // max(1, width)))):
        limits.check_cells(source, done + len(piece), width, more=True)
        for number, row in enumerate(piece, done + 1):
            if len(row) != width:
                looks = other_separator(header, form)
                raise InputError(f"{source}: row {number} has {len(row)} cells, the header has {width}{looks}")
        done += len(piece)
        if len(once) < _REMEMBERED:
            once.update((cell, cell) for cell in chain.from_iterable(piece))
        once |= missing
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


def _check_mark(file: IO[bytes], source: str, encoding: str) -> None:
    """Refuse UTF-16 that nobody has said, and what is said to be UTF-16 and does not begin as such."""
    marked = file.read(2) in _UTF_16
    file.seek(0)
    if marked and encoding != "utf-16":
        came = f"is not {_NAMES.get(encoding, encoding)} text (it begins with the byte order mark of UTF-16)"
        raise InputError(f"{source}: {came}, wanted CSV{other_encoding('utf-16')}")
    if encoding == "utf-16" and not marked:
        raise InputError(f"{source}: is not UTF-16 text (it does not begin with a byte order mark), wanted CSV")


def _unreadable(file: IO[bytes], encoding: str) -> str:
    """What is wrong with a file that is not text of this encoding, and what it looks like."""
    file.seek(0)
    if encoding != "utf-16" and b"\0" in file.read(_CHUNK):
        return "is not a text file (it has a byte 0), wanted CSV"
    at, others = _first_unreadable(file, encoding)
    came = f"is not {_NAMES.get(encoding, encoding)} text (byte {at} cannot be read)"
    if encoding == "cp1252" and _first_unreadable(file, "utf-8")[0] is None:
        return f"{came}, wanted CSV{other_encoding('utf-8')}"
    if encoding != "utf-8":
        return f"{came}, wanted CSV"
    if others:
        return f"{came}, wanted CSV in one encoding: others before that byte can be read"
    file.seek(at or 0)
    likely = "cp1252" if _CONTROLS.search(file.read(_CHUNK).decode("latin-1")) else "latin-1"
    return f"{came}, wanted CSV{other_encoding(likely)}"


def _first_unreadable(file: IO[bytes], encoding: str) -> tuple[int | None, bool]:
    """The position of the first byte that cannot be read, if any, and whether there is more than ASCII before it."""
    file.seek(0)
    decoder, at, others = codecs.getincrementaldecoder(encoding)(), 0, False
    while True:
        chunk = file.read(_CHUNK)
        held = len(decoder.getstate()[0])
        try:
            others = not decoder.decode(chunk, final=not chunk).isascii() or others
        except UnicodeDecodeError as error:
            return at - held + error.start, others or not error.object[: error.start].isascii()
        if not chunk:
            return None, others
        at += len(chunk)
