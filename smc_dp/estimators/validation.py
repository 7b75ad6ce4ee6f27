"""Validation of scikit-learn parameters and arrays: numbers as exact ones, labels, public rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from numbers import Integral, Real
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy
from sklearn.utils.validation import check_array

from protocols.arithmetic.rng import Stream
from smc_dp.core.arrays import Array
from smc_dp.core.errors import InputError, shown
from smc_dp.privacy.target import as_fraction as as_fraction

LabelArray = npt.NDArray[Any]

_FEW = 5  # of a list in a message
_MOST_NUMBERS = 1 << 27  # of sparse rows of which all are needed dense: a gigabyte


def check_number(name: str, value: object) -> float:
    """Return the value of a parameter as a float; InputError unless it is a real number."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InputError("setting.no_number", name=name, got=shown(value))
    try:
        return float(value)
    except OverflowError as huge:
        raise InputError("setting.too_large", name=name, got=shown(value)) from huge


def out_of_range(name: str, wanted: str, got: object) -> InputError:
    """Return the refusal of a parameter that is not in its range."""
    return InputError("parameter.wrong", name=name, wanted=wanted, got=shown(got))


def check_whole_number(name: str, value: object) -> int:
    """Return the value of a parameter as an integer; InputError unless it is a whole number."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise InputError("setting.no_whole_number", name=name, got=shown(value))
    return int(value)


def stream_of_seed(insecure_seed: object) -> Stream:
    """Return the randomness of a fit: of the operating system for None, else that of the seed."""
    if insecure_seed is None:
        return Stream.from_system()
    return Stream.insecure_from_seed(check_whole_number("insecure_seed", insecure_seed))


def check_exact_number(name: str, value: object) -> Fraction | None:
    """Return a positive parameter as a fraction, None for inf; of a float its smaller reading, see `exact`."""
    real = check_number(name, value)
    if not real > 0:
        raise out_of_range(name, "a positive number", value)
    if real == math.inf:
        return None
    return as_fraction(name, value)


def as_array(name: str, given: object, wanted: str) -> LabelArray:
    """Return the values as an array of any shape; InputError where they have none, such as ragged rows."""
    try:
        return np.asarray(given)
    except (TypeError, ValueError) as ragged:
        raise InputError("array.ragged", name=name, wanted=wanted) from ragged


def check_labels(name: str, given: object, n: int, rows: str, wanted: str = "a label") -> LabelArray:
    """Return a label, or what is wanted, for each of n rows, which a message calls `rows`: (n,); raise InputError."""
    wanted = f"{wanted} for each of {rows}"
    labels = as_array(name, given, wanted)
    if labels.shape != (n,):
        raise InputError("array.wrong_shape", name=name, wanted=wanted, shape=str(labels.shape))
    return labels


def list_first(values: Iterable[object]) -> str:
    """List the first values for a message, in which `1` and `'1'` differ."""
    listed = [shown(value) for value in values]
    return ", ".join([*listed[:_FEW], *(["..."] if len(listed) > _FEW else [])])


def check_finite(X: Array, place: Callable[[int], str], first: int = 0) -> None:
    """Raise InputError at the place of a row of X: (n, d), numbered from `first`, with a NaN or infinite entry."""
    wrong = np.flatnonzero(~np.isfinite(X).all(axis=1))
    if len(wrong):
        entry = X[wrong[0]][~np.isfinite(X[wrong[0]])][0]
        came = "NaN" if np.isnan(entry) else str(entry)
        raise InputError("array.not_finite", where=place(first + int(wrong[0])), got=came)


def check_public_rows(name: str, given: npt.ArrayLike, width: int) -> Array:
    """Return the rows that a fit gets under this name: (m, width), finite; InputError otherwise."""
    try:
        rows = check_array(given, dtype=np.float64, input_name=name, ensure_all_finite=False, accept_sparse="csr")
    except (TypeError, ValueError) as wrong:
        reason = str(wrong).splitlines()[0]
        raise InputError("rows.unreadable", name=name, width=width, reason=reason) from wrong
    if rows.shape[1] != width:
        raise InputError("array.wrong_shape", name=name, wanted=f"rows of width {width}", shape=str(rows.shape))
    check_dense(name, rows)
    dense: Array = rows.toarray() if scipy.sparse.issparse(rows) else rows
    check_finite(dense, lambda i: f"{name}: row {i + 1}")
    return dense


def check_dense(name: str, X: Any) -> None:
    """Raise InputError for sparse rows that would fill more than a gigabyte where all of them are needed dense."""
    n, d = X.shape
    if scipy.sparse.issparse(X) and n * d > _MOST_NUMBERS:
        raise InputError("rows.too_many_dense", name=name, most=_MOST_NUMBERS, rows=n, columns=d)


def describe_value(value: object) -> str:
    """Describe a value on one line."""
    kind = type(value).__name__
    if isinstance(value, tuple | list):
        return f"a {kind} of length {len(value)}"
    shape = getattr(value, "shape", None)
    return shown(value) if shape is None else f"{kind} of shape {shape}"
