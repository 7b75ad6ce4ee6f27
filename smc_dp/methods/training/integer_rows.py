"""Contributions of records to sums that nobody is trusted with: exact multiples of a record's own integer row.

Rows are on the grid 2^-14, released weights on the grid 2^-16, and everything from there on is integers: a margin
x_int.w_int, a share of it from a public table (`integer_tables`), the contribution share times x_int. A record's
contribution depends on this record and the query alone, never on the batch that it is computed in, and its length is
checked in integers; the sensitivity of a sum is so a matter of single records, and no rounding of floats enters it.

Why matrix products are exact. They are taken by BLAS of integers held in float64, which is exact in any order of
additions, fused or not, as long as the sum of the absolute values of the products is below 2^53:

* a margin: |x_int| <= 2^14 and d <= 2^16, so the sum of |x_i| is at most 2^22; |w_i| <= 2^30; together 2^52.
* a sum of shares times rows: one entry of one record is at most C_g < 2^26 (in the first sum (k - 1) 2^14, with
  k <= 2^12), a block has at most 2^15 rows; together 2^41.
* a sum of x_i x_j: one record 2^28, a block 2^43.
* with weights, which are integers up to 2^11: the same times 2^11, in blocks of at most 2^13 rows; at most 2^52.
* for an inference, x_i x_j times digits up to 2^12: one record 2^40, in blocks of at most 2^12 rows; at most 2^52.

Blocks are added up in int64, which is enough for 2^35 rows, and with weights for fewer than 2^24. Digits of an
inference are carried after each block.

Weights. A record of weight v, 0 <= v <= 1, enters v times what it enters without weights: v_int = 2^11 v, rounded,
times the same integers, in units that are 2^11 times smaller. So every bound is 2^11 times as large, every contribution
is an exact multiple of the record's own row or its square, and nothing is known of the sum of the weights.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import isqrt
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from smc_dp.core.arrays import OUTCOME_BITS, Array, IntArray
from smc_dp.core.errors import InputError
from smc_dp.methods.training.integer_tables import SHARE_BITS as SHARE_BITS
from smc_dp.methods.training.integer_tables import class_shares, signed_shares

ROW_BITS = 14
WEIGHT_BITS = 16
RECORD_WEIGHT_BITS = 11
COUNT_BITS = 16
MOST_INTEGER_COLUMNS = 2**16
MOST_INTEGER_CLASSES = 2**12
_TWO_CLASS_CLIP = 2 ** (SHARE_BITS + ROW_BITS - 1)
_LARGEST_WEIGHT = 2**30  # 2^14 in reals: beyond it every margin that matters is at the end of the table
_BLOCK_ROWS = 2**15
_BLOCK_WEIGHTED_ROWS = 2**13
BLOCK_SPLIT_ROWS = 2**12  # of x_i x_j times digits up to 2^12: 2^40 a record
_HIGH_BITS = 40
_BLOCK_NUMBERS = 2**22  # 32 MB as floats
SmallIntArray: TypeAlias = npt.NDArray[np.signedinteger[Any]]
_SMALL = np.int16  # 2^14 fits: a table of records takes a quarter of what it takes as floats


class RowBounds(NamedTuple):
    """Largest lengths of one record's contributions, in L2 and in integers.

    `start_gradient`, `start_curvature` (Frobenius, of the full symmetric matrix): of `IntegerRows.start`.
    `gradient`: C_g of `IntegerRows.gradient`, the clip C. For two classes it is 1/2, the length at w = 0. For more it
    is half of the length at w = 0, sqrt(1 - 1/k)/2: half of the noise is worth more than the lengths of gradients. What
    a sum costs (`smc_dp.privacy.distributed.rounds`) is proved for any C, as |g| <= C is seen to in integers, for each
    record (`legal`). With weights all three are those of the weight 1.
    """

    start_gradient: int
    start_curvature: int
    gradient: int

    @classmethod
    def of(cls, k: int, *, weighted: bool = False) -> Self:
        """Return the bounds for k classes; of more than two sqrt(k (k - 1)) 2^14 is rounded up, the clip down."""
        bits = RECORD_WEIGHT_BITS if weighted else 0
        start = 1 << ROW_BITS if k == 2 else isqrt((k * (k - 1) << 2 * ROW_BITS) - 1) + 1
        clip = _TWO_CLASS_CLIP if k == 2 else _softmax_clip(k)
        return cls(start << bits, 1 << 2 * ROW_BITS + bits, clip << bits)


@dataclass(frozen=True, repr=False)
class StartSums:
    """Sums at W = 0, secret: the gradient, and the triangle of sum x_int x_int', rows first: (0,1), (0,2), ..."""

    gradient: list[int]
    diagonal: list[int]
    off_diagonal: list[int]


@dataclass(frozen=True, repr=False)
class InferenceSums:
    """Sums of the last query of an inference, secret: the gradient, and of Hessian and meat the triangles.

    Units: 2^-26 and, for both matrices, 2^-52. `left_out`: number of rows that are 0, in units of 2^-16.
    """

    gradient: list[int]
    hessian_diagonal: list[int]
    hessian_off_diagonal: list[int]
    meat_diagonal: list[int]
    meat_off_diagonal: list[int]
    left_out: int


def round_query(W: Array) -> IntArray:
    """Round any float weights to their grid: no number is 0, the rest is cut at 2^14 on both sides.

    W: (p, d), p = 1 for two classes and else k: a weight vector for each class.
    """
    largest = float(_LARGEST_WEIGHT >> WEIGHT_BITS)
    numbers = np.nan_to_num(W, nan=0.0, posinf=largest, neginf=-largest)
    return np.rint(np.clip(numbers, -largest, largest) * 2.0**WEIGHT_BITS).astype(np.int64)


@dataclass(frozen=True, eq=False, repr=False)
class IntegerRows:
    """Records on the grid, secret: x: (n, d), |x_int|^2 <= 2^28, and y: (n,), class numbers; `squares`: |x_int|^2.

    With 0 classes y are outcomes, from -2^20 to 2^20.

    x is kept in 16 bits, and some rows at a time become the floats that hold all products exactly.
    weights: (n,), 2^11 times the weight of each record, or None where records have no weights. InputError: more than
    2^16 columns or 2^12 classes, which are public. ValueError: longer rows, other class numbers, weights above 1.
    """

    x: SmallIntArray
    y: IntArray
    classes: int
    weights: IntArray | None = None
    squares: IntArray = field(init=False)

    def __post_init__(self) -> None:
        for what, number, least, most in (
            *([("classes", self.classes, 2, MOST_INTEGER_CLASSES)] if self.classes else []),
            ("columns", self.x.shape[1], 1, MOST_INTEGER_COLUMNS),
        ):
            if not least <= number <= most:
                raise InputError("table.too_wide", what=what, least=least, most=most, got=number)
        if self.classes and not ((self.y >= 0) & (self.y < self.classes)).all():
            raise ValueError("a class number is not below the number of classes")
        if not self.classes and (np.abs(self.y) > 1 << OUTCOME_BITS).any():
            raise ValueError("an outcome is outside its range")
        one = 1 << ROW_BITS
        if self.x.size and not -one <= self.x.min() <= self.x.max() <= one:  # before squares, which could overflow
            raise ValueError("a number of a row is beyond the unit ball")
        object.__setattr__(self, "x", self.x.astype(_SMALL, copy=False))
        object.__setattr__(self, "squares", np.empty(len(self.x), dtype=np.int64))
        for rows in slices_of_rows(*self.x.shape):
            self.squares[rows] = _squares(self.x[rows].astype(np.int64))
        if (self.squares > one**2).any():
            raise ValueError("a row is outside the unit ball")
        v = self.weights
        if v is not None and not (v.shape == self.y.shape and ((v >= 0) & (v <= 1 << RECORD_WEIGHT_BITS)).all()):
            raise ValueError(f"wanted a weight from 0 to 2^{RECORD_WEIGHT_BITS} for each row")

    @classmethod
    def of(cls, X: Array, y: IntArray, classes: int, weights: Array | None = None) -> IntegerRows:
        """Put rows on the grid, see `rows_on_grid`.

        weights: (n,), each from 0 to 1; one that is no such number is clipped, and no number at all is 0.
        """
        return cls.on_grid(rows_on_grid(X), y, classes, weights)

    @classmethod
    def on_grid(cls, x: SmallIntArray, y: IntArray, classes: int, weights: Array | None = None) -> IntegerRows:
        """Return these integer rows, (n, d), with the weights of `of`."""
        v = None if weights is None else np.clip(np.nan_to_num(weights, nan=0.0), 0.0, 1.0)
        scaled = None if v is None else np.rint(v * 2.0**RECORD_WEIGHT_BITS).astype(np.int64)
        return cls(x, np.array(y, dtype=np.int64), classes, scaled)

    def start(self) -> StartSums:
        """Sum the direction of descent at W = 0 and the curvature, without the public factors of both.

        The gradient is the sum of y x_int, y = -1 or +1, for two classes: d numbers; of (k [c = y] - 1) x_int for
        more: k d numbers, class by class. With weights each record's part is multiplied by its own.
        """
        k, d = self.classes, self.x.shape[1]
        labels = 2 * self.y[:, np.newaxis] - 1 if k == 2 else k * _one_hot(self.y, k) - 1
        gradient, matrix = np.zeros((labels.shape[1], d), dtype=np.int64), np.zeros((d, d), dtype=np.int64)
        for rows in slices_of_rows(len(self.x), d, _BLOCK_ROWS if self.weights is None else _BLOCK_WEIGHTED_ROWS):
            x = self.x[rows].astype(np.float64)
            gradient += exact_product(self._weighted(labels[rows], rows).T, x)
            scaled = x if self.weights is None else x * self.weights[rows, np.newaxis]
            matrix += (scaled.T @ x).astype(np.int64)
        upper = matrix[np.triu_indices(d, 1)]
        return StartSums(gradient.ravel().tolist(), np.diagonal(matrix).tolist(), upper.tolist())

    def gradient(self, W_int: IntArray) -> list[int]:
        """Sum the direction of descent at a `round_query`: multiples of x_int, each record's length at most C_g.

        p d numbers, class by class; one unit is 2^-26, and 2^-37 where records have weights. ValueError: another shape,
        or weights that no query has.
        """
        p, d = 1 if self.classes == 2 else self.classes, self.x.shape[1]
        if W_int.shape != (p, d) or not ((W_int >= -_LARGEST_WEIGHT) & (W_int <= _LARGEST_WEIGHT)).all():
            raise ValueError(f"wanted {p} x {d} integers of at most 2^30 for weights")
        multiples = two_class_multiples if self.classes == 2 else class_multiples
        W, total = W_int.astype(np.float64), np.zeros((p, d), dtype=np.int64)
        for rows in slices_of_rows(len(self.x), max(d, p)):
            x = self.x[rows].astype(np.float64)
            margins = (x @ W.T).astype(np.int64)
            total += exact_product(self._weighted(multiples(margins, self.y[rows], self.squares[rows]), rows).T, x)
        return total.ravel().tolist()

    def inference(self, w_int: IntArray) -> InferenceSums:
        """Sum gradient, Hessian and meat of two classes at a `round_query`, (1, d), all of them exact and unclipped.

        One record enters y s x_int, s (2^12 - s) x_int x_int' and s^2 x_int x_int', where s = 2^12 sigma(-y margin) is
        the integer of the table: see `smc_dp.privacy.distributed.inference_sum`. ValueError: more classes, weights.
        """
        d = self.x.shape[1]
        if self.classes != 2 or self.weights is not None:
            raise ValueError("wanted two classes, and records without weights")
        if w_int.shape != (1, d) or not ((w_int >= -_LARGEST_WEIGHT) & (w_int <= _LARGEST_WEIGHT)).all():
            raise ValueError(f"wanted 1 x {d} integers of at most 2^30 for weights")
        one = 1 << SHARE_BITS
        W, gradient = w_int.astype(np.float64), np.zeros(d, dtype=np.int64)
        parts = np.zeros((2, 3, d, d), dtype=np.int64)  # of Hessian and meat digits above 2^52, above 2^12, and below
        for rows in slices_of_rows(len(self.x), d, BLOCK_SPLIT_ROWS):
            x, signs = self.x[rows].astype(np.float64), 2 * self.y[rows] - 1
            shares = signed_shares(signs * (x @ W.T).astype(np.int64)[:, 0], ROW_BITS + WEIGHT_BITS)
            gradient += exact_product((signs * shares)[np.newaxis], x)[0]
            for total, factors in zip(parts, (shares * (one - shares), shares * shares), strict=True):
                add_squares(total, x, factors)
        hessian, meat = map(triangle, parts)
        return InferenceSums(gradient.tolist(), *hessian, *meat, self.left_out)

    @property
    def left_out(self) -> int:
        """Number of rows that are 0, in units of 2^-16."""
        return int((self.squares == 0).sum()) << COUNT_BITS

    def _weighted(self, numbers: IntArray, rows: slice) -> IntArray:
        """Multiply the numbers of each of these records by its weight."""
        return numbers if self.weights is None else numbers * self.weights[rows, np.newaxis]


def two_class_multiples(margins: IntArray, y: IntArray, squares: IntArray) -> IntArray:
    """Return the factors of x_int: (n, 1), y sigma(-y margin) in units of 2^-12, clipped so that they are legal."""
    signs = 2 * y - 1
    shares = signed_shares(signs * margins[:, 0], ROW_BITS + WEIGHT_BITS)
    clipped = np.minimum(shares, _root(_TWO_CLASS_CLIP**2 // np.maximum(squares, 1)))
    return legal((signs * clipped)[:, np.newaxis], squares, _TWO_CLASS_CLIP)


def class_multiples(margins: IntArray, y: IntArray, squares: IntArray) -> IntArray:
    """Return the factors for k = margins.shape[1] classes: (n, k), [c = y] - p_c in units of 2^-12, shortened."""
    k = margins.shape[1]
    C_g = _softmax_clip(k)
    a = (_one_hot(y, k) << SHARE_BITS) - class_shares(margins, ROW_BITS + WEIGHT_BITS)
    lengths = (a * a).sum(axis=1) * squares
    longest = _root(lengths)
    longest += longest * longest < lengths  # |a| |x_int|, rounded up
    long = lengths > C_g**2
    a[long] = np.sign(a[long]) * (np.abs(a[long]) * C_g // longest[long, np.newaxis])
    return legal(a, squares, C_g)


def legal(a: IntArray, squares: IntArray, C_g: int) -> IntArray:
    """Return the multiples a: (n, p), or 0 for a record whose contribution would be longer than C_g.

    What the sensitivity rests on, whatever was computed before it: |a|^2 |x_int|^2 <= C_g^2, in integers.
    """
    fits = (a * a).sum(axis=1) * squares <= C_g**2
    allowed: IntArray = a * fits[:, np.newaxis]
    return allowed


def rows_on_grid(X: Array) -> SmallIntArray:
    """Truncate rows of the unit ball, (n, d), toward zero; a row that is in no ball is shortened, by itself."""
    x = np.empty(X.shape, dtype=_SMALL)
    for rows in slices_of_rows(*X.shape):
        x[rows] = _on_grid(X[rows])
    return x


def _on_grid(X: Array) -> IntArray:
    """Truncate rows toward zero, and shorten them in integers where they are in no unit ball."""
    one = 1 << ROW_BITS
    x = np.trunc(np.clip(np.nan_to_num(X, nan=0.0), -1.0, 1.0) * float(one)).astype(np.int64)
    squares = _squares(x)
    for i in np.flatnonzero(squares > one**2):
        length = isqrt(int(squares[i]) - 1) + 1  # rounded up
        x[i] = np.sign(x[i]) * (np.abs(x[i]) * one // length)
    return x


def _squares(x: IntArray) -> IntArray:
    """Return |x|^2 of each row."""
    found: IntArray = np.einsum("ij,ij->i", x, x)
    return found


def _softmax_clip(k: int) -> int:
    """Return sqrt(1 - 1/k)/2 times 2^26, rounded down."""
    return isqrt(_TWO_CLASS_CLIP**2 * (k - 1) // k)


def _root(numbers: IntArray) -> IntArray:
    """Take square roots, rounded down, of numbers from 0 to 2^54: floats come within one, integers decide."""
    roots: IntArray = np.sqrt(numbers.astype(np.float64)).astype(np.int64)
    roots -= roots * roots > numbers
    return roots


def _one_hot(y: IntArray, classes: int) -> IntArray:
    same: IntArray = np.equal(y[:, np.newaxis], np.arange(classes)).astype(np.int64)
    return same


def exact_product(a: IntArray, x: Array) -> IntArray:
    """Multiply a x, exactly, for integers as the docstring of the module bounds them."""
    exact: IntArray = (a.astype(np.float64) @ x).astype(np.int64)
    return exact


def add_squares(digits: IntArray, x: Array, factors: IntArray) -> None:
    """Add the sum of factors up to 2^24 times x_int x_int', of at most 2^12 rows, to digits as `carry` has them."""
    for half, some in zip(digits[1:], divmod(factors, 1 << SHARE_BITS), strict=True):
        half += ((x * some[:, np.newaxis]).T @ x).astype(np.int64)
    carry(digits)


def carry(digits: IntArray) -> None:
    """Carry what is too large for its place, in place: digits (3, ...) above 2^52, above 2^12, and below.

    So the digits of a sum of any number of records, each up to 2^40 in a place, stay far below 2^63.
    """
    top, high, low = digits
    high += low >> SHARE_BITS
    low &= (1 << SHARE_BITS) - 1
    top += high >> _HIGH_BITS
    high &= (1 << _HIGH_BITS) - 1


def triangle(digits: IntArray) -> tuple[list[int], list[int]]:
    """Return diagonal and upper triangle of the numbers with these digits, which need more than 64 bits."""
    top, high, low = digits.astype(object)
    whole = (((top << _HIGH_BITS) + high) << SHARE_BITS) + low
    return np.diagonal(whole).tolist(), whole[np.triu_indices(len(whole), 1)].tolist()


def slices_of_rows(n: int, width: int, most: int = _BLOCK_ROWS) -> Iterator[slice]:
    """Yield n rows, so many at a time as memory, of numbers for each row, and the exactness of sums allow."""
    together = min(most, max(1, _BLOCK_NUMBERS // width))
    yield from (slice(start, start + together) for start in range(0, n, together))
