"""Rows in the unit ball: every sensitivity assumes that no row's Euclidean norm exceeds 1, exactly."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
OUTCOME_BITS = 20
"""Outcomes that are numbers stand in units of 2^-20 of half of their range, from its middle."""

# Rounding can leave a divided row a few units in the last place outside the ball; this brings it back inside.
_INSIDE = 1 - 2.0**-40
_LARGE = 1e100  # beside its square 1 is nothing
_ROUNDED = 1 + 2.0**-30  # rows that somebody normalised are this long at most


def into_ball(X: Array, radius: float) -> Array:
    """Return rows X: (n, d), each clipped to the public radius and scaled: x / max(1, |x|/radius) / radius."""
    with np.errstate(over="ignore"):
        norms = np.linalg.norm(X, axis=1, keepdims=True)
    huge = ~np.isfinite(norms[:, 0])
    if huge.any():  # their squares overflow, so they are shortened first
        X, norms = X.copy(), norms.copy()
        X[huge] /= np.abs(X[huge]).max(axis=1, keepdims=True)
        X[huge] *= radius / np.linalg.norm(X[huge], axis=1, keepdims=True)
        norms[huge] = radius
    inside: Array = X / np.maximum(1.0, norms / radius) / radius * _INSIDE
    return inside


def with_bias(X: Array, bias: float) -> Array:
    """Return (x, bias) / sqrt(1 + bias^2) for each row x of the unit ball, which stays inside it; X for bias 0."""
    if not bias:
        return X
    extended: Array = np.concatenate([X, np.full((len(X), 1), bias)], axis=1) / np.hypot(1.0, bias) * _INSIDE
    return extended


def in_columns(W: Array, radius: float, bias: float) -> tuple[Array, Array]:
    """Return weights (k, d) and constants (k,) of columns for W: (k, d + 1) of rows of the ball, or (k, d) for bias 0.

    Both give the same scores, but for rounding, to a row that `into_ball` does not clip.
    """
    if not bias:
        return W / radius * _INSIDE, np.zeros(len(W))
    # A square root ends in the same digit on every machine, and `hypot` of a C library need not.
    length = math.sqrt(1.0 + bias * bias) if bias < _LARGE else bias
    shrunk = W / length * _INSIDE
    return shrunk[:, :-1] / radius * _INSIDE, shrunk[:, -1] * bias


def count_longer(X: Array, radius: float) -> int:
    """Count the rows of X: (n, d) that `into_ball` shortens; a length may exceed the radius by a rounding error."""
    with np.errstate(over="ignore"):
        return int(np.count_nonzero(~(np.linalg.norm(X, axis=1) <= radius * _ROUNDED)))


def first_outside(X: Array) -> int | None:
    """Return the index, from 0, of the first row of X whose norm exceeds 1, decided exactly; None if there is none."""
    X = X.astype(np.float64, copy=False)  # squares of shorter numbers may overflow or be rounded away
    with np.errstate(over="ignore", under="ignore"):
        squares = np.einsum("ij,ij->i", X, X)
    # Where floats cannot tell, rationals can.
    for i in np.flatnonzero(~(squares <= 1 - (X.shape[1] + 2) * 2.0**-52)):
        if sum(Fraction(float(v)) ** 2 for v in X[i, X[i] != 0]) > 1:
            return int(i)
    return None
