"""Lines of a transcript, parsed one by one when they are read.

A transcript may have 256 MB, and a parsed line takes several times its bytes. So the bytes and the starts of lines are
kept; a line is parsed again at each access, except for as many lines as fit into a fixed share of memory.
"""

from __future__ import annotations

import json
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Generic, TypeAlias, TypeVar, overload

from typing_extensions import override

from protocols.runtime.envelope import Envelope
from protocols.runtime.inbox import Absent
from protocols.runtime.session import Session
from protocols.runtime.transcript import ABSENT, digest_of_absence, read_absence, read_envelope
from smc_dp.core.errors import InputError

LEAST_LINE = 200  # bytes: three digests, or two and the names of eight fields, are longer
_MAX_LINE_VALUES = 64
_KEPT = 1 << 28  # what all envelopes may take, at so much for each beside its bytes
_KEPT_LINES = 1 << 27  # and all lines
_EACH = 2000

_T = TypeVar("_T")
Absence: TypeAlias = tuple[str, Absent]
"""Absence in a transcript: the participant that went on, and the message that it went on without."""


class TranscriptLines(Sequence[Any]):
    """JSON values on lines 1, 2, ... of a transcript, None for a line that holds none."""

    def __init__(self, content: bytes) -> None:
        # A transcript of many short lines would take much memory for their starts.
        if (count := content.count(b"\n")) > len(content) // LEAST_LINE + 100:
            raise InputError("transcript.short_lines", count=count, size=len(content), least=LEAST_LINE)
        self._content = content
        self._starts = array("Q", [0])
        while (end := content.find(b"\n", self._starts[-1])) >= 0:
            self._starts.append(end + 1)
        if not self.is_ended:
            self._starts.append(len(content) + 1)
        self._last: tuple[int, Any] = (0, None)
        self._kept: dict[int, Any] = {}  # checks look at the lines again and again
        self._left = _KEPT_LINES

    @property
    def is_ended(self) -> bool:
        """True where the last line has an end."""
        return self._content.endswith(b"\n")

    def text(self, n: int) -> bytes:
        """Return the bytes of line n, counted from line 0, without its end."""
        return self._content[self._starts[n] : self._starts[n + 1] - 1]

    def at(self, n: int) -> Any:
        """Return the JSON value on line n."""
        if n in self._kept:
            return self._kept[n]
        if self._last[0] != n:
            text = self.text(n)
            self._last = n, _json(text)
            self._left -= len(text) + _EACH
            if self._left > 0:
                self._kept[n] = self._last[1]
        return self._last[1]

    def numbered(self) -> Iterator[tuple[int, Any]]:
        """Return all lines but line 0, with their numbers."""
        return ((n, self.at(n)) for n in range(1, len(self) + 1))

    @override
    def __len__(self) -> int:
        return len(self._starts) - 2

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Any]: ...
    @override
    def __getitem__(self, index: int | slice) -> Any:
        at = range(1, len(self) + 1)[index]
        return self.at(at) if isinstance(at, int) else [self.at(n) for n in at]


class ParsedLines(Mapping[int, _T], Generic[_T]):
    """Parsed values of some of the lines, by their numbers."""

    def __init__(self, lines: TranscriptLines, parse: Callable[[Any], _T]) -> None:
        self._lines, self._parse = lines, parse
        self._numbers = array("Q")
        self._kept: dict[int, _T] = {}
        self._left = _KEPT

    def add(self, n: int, value: _T) -> None:
        """Add the value of line n, which comes after all that were added before."""
        self._numbers.append(n)
        self._left -= len(self._lines.text(n)) + _EACH
        if self._left > 0:
            self._kept[n] = value

    @override
    def __getitem__(self, n: int) -> _T:
        if n in self._kept:
            return self._kept[n]
        if n not in self:
            raise KeyError(n)
        return self._parse(self._lines.at(n))

    @override
    def __contains__(self, n: object) -> bool:
        at = bisect_left(self._numbers, n) if isinstance(n, int) and n > 0 else len(self._numbers)
        return at < len(self._numbers) and self._numbers[at] == n

    @override
    def __iter__(self) -> Iterator[int]:
        return iter(self._numbers)

    @override
    def __len__(self) -> int:
        return len(self._numbers)


def parse_lines(session: Session, lines: TranscriptLines) -> tuple[ParsedLines[Envelope], ParsedLines[Absence]]:
    """Return the envelopes and the absences on the lines that can be read."""

    def envelope(line: Any) -> Envelope:
        return read_envelope(session.id, line)

    envelopes, absences = ParsedLines(lines, envelope), ParsedLines(lines, read_absence)
    for n, line in lines.numbered():
        try:
            if isinstance(line, dict) and line.get("kind") == ABSENT:
                absence = read_absence(line)
                digest_of_absence(*absence)
                absences.add(n, absence)
            else:
                made = envelope(line)
                made.encode()
                envelopes.add(n, made)
        except (ArithmeticError, ValueError):  # no such line, or an integer or a text that CBOR cannot hold
            continue
    return envelopes, absences


def _json(text: bytes) -> Any:
    """Return the value on a line, or None: a check will find that the line is malformed."""
    if sum(text.count(mark) for mark in (b",", b"[", b"{")) > _MAX_LINE_VALUES:
        return None
    try:
        return json.loads(text.decode("ascii"))
    except (ValueError, RecursionError):
        return None
