"""Text of a file in pieces of whole lines, within limits on length and number, decoded as its format states."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from smc_dp.core.errors import Fault, InputError, InputFault
from smc_dp.data.file_format import FileFormat
from smc_dp.data.format_hints import add_hint
from smc_dp.data.limits import TableLimits
from smc_dp.data.refused_input import RefusedInput

_CHUNK = 1 << 19
_NAMES = {"utf-8": "UTF-8", "utf-16": "UTF-16"}
_CODECS = {"utf-8": "utf-8-sig"}  # which takes a byte order mark away
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_CONTROLS = re.compile("[\x80-\x9f]")  # what latin-1 has where cp1252 has quotes, dashes and the euro


class ByteSource(Protocol):
    """File that is read from its beginning, once or again."""

    def read(self, size: int, /) -> bytes:
        """Read the next bytes, at most `size`."""

    def seek(self, position: int, /) -> int:
        """Go to this byte."""


@dataclass
class TextLines:
    """Lines of a file in a stated encoding, within limits on each, on their number, and on their total size.

    Raises InputError for what is no text of that encoding, with the encoding that it looks like.
    """

    file: ByteSource
    form: FileFormat
    limits: TableLimits

    def __post_init__(self) -> None:
        start = self.file.read(2)
        self.file.seek(0)
        self._is_marked = start in _UTF_16
        self._encoding = self.form.encoding or ("utf-16" if self._is_marked else "utf-8")
        self._lines = self._weight = 0
        self._is_utf_8: bool | None = None  # of what is no ASCII, read by an encoding that nearly any byte fits
        self._has_controls = False

    def __iter__(self) -> Iterator[str]:
        """Yield pieces of the text, each of whole lines."""
        self._check_mark()
        try:
            for piece in self._decoded():
                self._check(piece)
                yield piece
        except UnicodeError:
            raise self._unreadable() from None
        if self._is_utf_8:  # which does not happen by chance
            raise self.refusal(_other_encoding(self._encoding, "all of it is UTF-8", "utf-8"))

    def _decoded(self) -> Iterator[str]:
        decoder, rest = codecs.getincrementaldecoder(_CODECS.get(self._encoding, self._encoding))(), ""
        while chunk := self.file.read(_CHUNK):
            new = decoder.decode(chunk)
            if "\0" in new:
                raise InputError("text.binary")
            text = rest + new
            end = text.rfind("\n") + 1 or text.rfind("\r", 0, -1) + 1  # an \r at the end may belong to an \n
            rest = text[end:]
            if end:
                yield text[:end]
            self._check_length(len(rest))
        rest += decoder.decode(b"", final=True)
        if rest:
            yield rest + "\n"

    def _check(self, piece: str) -> None:
        lines = (piece.replace("\r\n", "\n").replace("\r", "\n") if "\r" in piece else piece).split("\n")[:-1]
        self._check_length(max(map(len, lines)))
        self._lines += len(lines)
        if self._lines > self.limits.cells + 1:  # empty ones, or those of a text in quotes
            raise InputError("text.too_many_lines", most=self.limits.cells)
        self._weight += len(piece) if piece.isascii() else sum(map(_weight, lines))
        self.limits.check_text(self._weight)
        if not piece.isascii() and not self._encoding.startswith("utf"):
            self._check_bytes(piece)

    def _check_bytes(self, piece: str) -> None:
        """Note whether the text may really be UTF-8; raise InputError for characters that no text has."""
        self._is_utf_8 = self._is_utf_8 is not False and _is_utf_8(piece.encode(self._encoding))
        if self._encoding == "latin-1" and _CONTROLS.search(piece):
            self._has_controls = True
        if self._has_controls and not self._is_utf_8:
            raise self.refusal(_other_encoding("latin-1", "it has control characters", "cp1252"))

    def _check_length(self, length: int) -> None:
        if length > (most := self.limits.line):
            raise InputError("text.long_line", most=most)

    def _check_mark(self) -> None:
        """Refuse UTF-16 under another name, and a file stated to be UTF-16 that does not begin as such."""
        encoding = self._encoding
        if self._is_marked and encoding != "utf-16":
            raise self.refusal(_other_encoding(encoding, "it begins with the byte order mark of UTF-16", "utf-16"))
        if encoding == "utf-16" and not self._is_marked:
            raise InputError("text.no_byte_order_mark")

    def _unreadable(self) -> InputError:
        """Return the refusal of a file that is not text of this encoding."""
        encoding = self._encoding
        self.file.seek(0)
        if encoding != "utf-16" and b"\0" in self.file.read(_CHUNK):
            return InputError("text.binary")
        at, others = self._first_unreadable(encoding)
        name, recognised = _NAMES.get(encoding, encoding), ""
        if encoding == "cp1252" and self._first_unreadable("utf-8")[0] is None:
            recognised = "utf-8"
        if encoding == "utf-8" and others:
            return InputError("text.two_encodings", encoding=name, byte=at)
        if encoding == "utf-8":
            self.file.seek(at or 0)
            recognised = "cp1252" if _CONTROLS.search(self.file.read(_CHUNK).decode("latin-1")) else "latin-1"
        return self.refusal(
            InputFault("text.unreadable_byte", {"encoding": name, "byte": at, "recognised": recognised, "hint": ""})
        )

    def refusal(self, fault: Fault) -> InputError:
        """Return the refusal of the file, with the encoding that it looks like and what to write."""
        return InputError(add_hint(fault, RefusedInput(self.form)))

    def _first_unreadable(self, encoding: str) -> tuple[int | None, bool]:
        """Return the position of the first undecodable byte, if any, and whether more than ASCII precedes it."""
        self.file.seek(0)
        decoder, at, others = codecs.getincrementaldecoder(encoding)(), 0, False
        while True:
            chunk = self.file.read(_CHUNK)
            held = len(decoder.getstate()[0])
            try:
                others = not decoder.decode(chunk, final=not chunk).isascii() or others
            except UnicodeDecodeError as error:
                return at - held + error.start, others or not error.object[: error.start].isascii()
            if not chunk:
                return None, others
            at += len(chunk)


def _other_encoding(encoding: str, why: str, recognised: str) -> Fault:
    """Return the fault of a file that is text of another encoding than it is read by."""
    name = _NAMES.get(encoding, encoding)
    return InputFault("text.other_encoding", {"encoding": name, "why": why, "recognised": recognised, "hint": ""})


def _weight(line: str) -> int:
    """Return the bytes that a text may take in memory."""
    return len(line) if line.isascii() else 4 * len(line)


def _is_utf_8(content: bytes) -> bool:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
