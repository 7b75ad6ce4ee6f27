"""Decimal numbers of a column in 2 to 4 bytes each, from which both the number and its text come back exactly.

"12.50" is the integer 1250 with 2 places after the point. As a float it is 1250 / 10^2: both are exact and IEEE 754
rounds a quotient correctly, so this is the float that Python reads in the text. Its ten digits at most come back from
the float, which has fifteen. Only texts that an integer and its places determine are kept so: no leading zeros, no
plus, no exponent, no point without digits on both sides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_DTYPES: tuple[type[np.signedinteger[Any]], ...] = (np.int16, np.int32)
_LARGEST = int(np.iinfo(np.int32).max)
_MOST_PLACES = 22  # 10^22 is the last power of ten that is a float
_POWERS = 10.0 ** np.arange(_MOST_PLACES + 1)
_LONGEST = _MOST_PLACES + 3  # with the minus, a zero and the point
_POINT, _MINUS, _ZERO = b".-0"


def _empty(kind: Any) -> int:
    """Return the integer that stands for an empty cell."""
    return int(np.iinfo(kind).min)


def _negative_zero(kind: Any) -> int:
    """Return the integer that stands for -0, which has another text and another float than 0."""
    return _empty(kind) + 1


@dataclass(frozen=True, eq=False, repr=False)
class Decimals:
    """Decimal numbers: `digits` without their points, (n,), and the number of `places` after each, of one or of all."""

    digits: NDArray[np.signedinteger[Any]]
    places: NDArray[np.int8] | int

    def __len__(self) -> int:
        return len(self.digits)

    def __getitem__(self, rows: slice | NDArray[np.int64]) -> Decimals:
        return Decimals(self.digits[rows], self.places if isinstance(self.places, int) else self.places[rows])

    def numbers(self) -> NDArray[np.float64]:
        """Return the numbers, NaN for empty cells."""
        found = self.digits.astype(np.float64)
        found /= _POWERS[self.places]
        if len(found) and self.digits.min() <= _negative_zero(self.digits.dtype):
            found[self.digits == _empty(self.digits.dtype)] = np.nan
            found[self.digits == _negative_zero(self.digits.dtype)] = -0.0
        return found

    def encoded(self) -> Any:
        """Return the texts as a dictionary array of pyarrow, in the order of appearance."""
        import pyarrow as pa

        found = pa.array(self.digits.astype(np.int64) * (_MOST_PLACES + 1) + self.places).dictionary_encode()
        digits, places = np.divmod(found.dictionary.to_numpy(), _MOST_PLACES + 1)
        numbers = Decimals(digits.astype(self.digits.dtype), places.astype(np.int8)).numbers()
        pairs = zip(places.tolist(), numbers.tolist(), strict=True)
        texts = ["" if x != x else f"{x:.{p}f}" for p, x in pairs]
        return pa.DictionaryArray.from_arrays(found.indices, pa.array(texts, pa.string()))

    def take(self, indices: NDArray[np.int64]) -> Decimals:
        """Return the numbers at these positions."""
        return self[indices]

    def widened(self, kind: Any) -> NDArray[np.signedinteger[Any]]:
        """Return the digits as integers of this kind, which is at least as wide."""
        found = self.digits.astype(kind)
        if found.dtype != self.digits.dtype:
            found[self.digits == _empty(self.digits.dtype)] = _empty(kind)
            found[self.digits == _negative_zero(self.digits.dtype)] = _negative_zero(kind)
        return found


def join_decimals(parts: Sequence[Decimals]) -> Decimals:
    """Return the numbers of all these, at least one, in their order."""
    kind = np.result_type(*(part.digits.dtype for part in parts))
    digits = np.concatenate([part.widened(kind) for part in parts])
    places = parts[0].places
    if isinstance(places, int) and all(isinstance(part.places, int) and part.places == places for part in parts):
        return Decimals(digits, places)
    return Decimals(digits, np.concatenate([np.broadcast_to(np.int8(part.places), len(part)) for part in parts]))


def pack_decimals(texts: Any) -> Decimals | None:
    """Return an array of texts of pyarrow, without nulls, as decimals; None where any other text is among them."""
    text, ends = text_bytes(texts)
    lengths = np.diff(ends, prepend=0)
    if lengths.max(initial=0) > _LONGEST:
        return None
    points = text == _POINT
    is_digit = (text - _ZERO) <= 9  # bytes wrap around below the zero
    if np.count_nonzero(is_digit) + np.count_nonzero(points) + np.count_nonzero(text == _MINUS) < len(text):
        return None
    places = _places(text, points, ends, lengths)
    if places is None or (numbers := cast_numbers(texts)) is None:
        return None
    return _packed(numbers, places, lengths)


def text_bytes(texts: Any) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
    """Return all bytes of an array of texts of pyarrow, and where each text ends among them."""
    _, offsets, content = texts.buffers()
    n = len(texts)
    if not n or content is None:
        return np.zeros(0, np.uint8), np.zeros(n, np.int32)
    edges = np.frombuffer(offsets, np.int32)[texts.offset : texts.offset + n + 1]
    return np.frombuffer(content, np.uint8)[edges[0] : edges[-1]], edges[1:] - edges[0]


def cast_numbers(texts: Any) -> NDArray[np.float64] | None:
    """Return the numbers that pyarrow reads in texts, correctly rounded, NaN for empty ones; None for any other."""
    import pyarrow as pa
    from pyarrow import compute

    try:
        if compute.any(empty := compute.equal(texts, "")).as_py():
            texts = compute.if_else(empty, None, texts)
        return np.asarray(texts.cast("float64").to_numpy(zero_copy_only=False), dtype=np.float64)
    except pa.ArrowInvalid:
        return None


def _places(
    text: NDArray[np.uint8], points: NDArray[np.bool_], ends: NDArray[np.int32], lengths: NDArray[np.int32]
) -> NDArray[np.int8] | int | None:
    """Return the number of bytes behind the point of each text, 0 without one; None for two points or very many."""
    count = np.count_nonzero(points)
    if not count:
        return 0
    filled = ends[lengths > 0]
    if count == len(filled):  # most often all have the same number
        at = int(np.argmax(points))
        same = int(ends[np.searchsorted(ends, at, "right")]) - 1 - at
        if same <= _MOST_PLACES and lengths[lengths > 0].min() > same and (text[filled - 1 - same] == _POINT).all():
            return same
    where = np.flatnonzero(points)
    cells = np.searchsorted(ends, where, "right")
    behind = ends[cells] - 1 - where
    if (np.diff(cells) == 0).any() or behind.max() > _MOST_PLACES:
        return None
    places = np.zeros(len(ends), dtype=np.int8)
    places[cells] = behind
    return places


def _packed(
    numbers: NDArray[np.float64], places: NDArray[np.int8] | int, lengths: NDArray[np.int32]
) -> Decimals | None:
    """Return these numbers with so many places as decimals; None where a text of this length is not the usual one."""
    empty, negative = np.isnan(numbers), np.signbit(numbers)
    size = np.where(empty, 0.0, np.abs(numbers))
    if size.max(initial=0.0) > _LARGEST:
        return None
    scaled = np.rint(size * _POWERS[places])  # off by less than 2^-20 before it is rounded
    if scaled.max(initial=0.0) >= _LARGEST:
        return None
    whole = scaled.astype(np.int32)
    most = int(whole.max(initial=0))
    width = np.ones(len(whole), np.int32)  # of the digits
    for power in range(1, len(str(most))):
        width += whole >= 10**power
    usual = np.maximum(width, np.add(places, 1, dtype=np.int32)) + (np.asarray(places) > 0) + negative
    if not (lengths == np.where(empty, 0, usual)).all():
        return None
    kind = next(kind for kind in _DTYPES if most < np.iinfo(kind).max)
    digits = np.where(negative, -whole, whole).astype(kind)
    digits[negative & (whole == 0)] = _negative_zero(kind)
    digits[empty] = _empty(kind)
    return Decimals(digits, places)
