"""Public rows whitened, and a certified bound on how far votes on them can push in any one direction.

All parties, and the verifiers of a release, need the same numbers from the same rows, to the last digit: a bound on
those sets the noise that is agreed on. Libraries of linear algebra add up in an order that depends on the machine and
on the number of threads, and eigenvectors are not even unique. So what is multiplied are parts whose sums are exact in
any order (`_product`), and what rows are whitened with is a Cholesky factor, found entry by entry.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import fsum

import numpy as np

from smc_dp.core.arrays import Array

_BITS = 20
_TERMS = 1 << 12


@dataclass(frozen=True, eq=False)
class Whitening:
    """g = x M for a public matrix M: (d, d) with M M' = (X'X/N + gamma I)^-1: G'G/N is nearly the identity.

    M' is the inverse of the Cholesky factor of X'X/N + gamma I. (X'X/N + gamma I)^(-1/2) would do as well: the two
    differ by a rotation, which neither the noise nor the regulariser sees.
    """

    matrix: Array
    gamma: float

    @classmethod
    def of(cls, X: Array, gamma: float) -> Whitening:
        """Whiten public rows X: (N, d); gamma > 0 keeps directions that they lack from growing too long."""
        A = _product(X.T, X) / len(X)
        A[np.diag_indices_from(A)] += gamma
        return cls(_inverse_factor(A).T, gamma)

    def rows(self, X: Array) -> Array:
        """Return the whitened rows G: (n, d)."""
        return _product(X, self.matrix)

    def weights(self, V: Array) -> Array:
        """Return the weights for x, (p, d), that give V.g: V M'."""
        W: Array = V @ self.matrix.T
        return W


def largest_square(G: Array, whitening: Whitening | None = None) -> float:
    """Return a certified upper bound on the square of the largest singular value of G: (N, d), exactly as stored.

    It is at most the largest row sum of |G'G|. With a whitening M it is N plus the largest row sum of
    |G'G + N gamma M'M - N I| instead, which holds whatever M is, as N gamma M'M has no negative eigenvalue; where M is
    what whitened the rows, that matrix is nearly zero. What is lost is gamma in relation to the largest mean square of
    the rows in any direction. Needs N and d below 2^40.
    """
    gram, error = _product(G.T, G), _error(G.T, G)
    least = 0.0
    if whitening is not None:
        M, least = whitening.matrix, float(len(G))
        times = least * whitening.gamma
        gram = gram + times * _product(M.T, M) - least * np.eye(len(M))
        error += times * _error(M.T, M) + least * 2.0**-50
    sums = max(fsum(row) for row in np.abs(gram).tolist())
    return (least + sums + len(gram) * error) * (1 + 2.0**-40)


def _product(A: Array, B: Array) -> Array:
    """Multiply A B: (n, m), the same on every machine, up to `_error` in each entry.

    Both are cut into integers of 20 bits: products of so many terms are exact, as what is added stays below 2^53.
    """
    parts, scales = zip(*map(_cut, (A, B)), strict=True)
    total = np.zeros((len(A), B.shape[1]))
    for start in range(0, A.shape[1], _TERMS):
        here = slice(start, start + _TERMS)
        for (i, a), (j, b) in product(enumerate(parts[0], 1), enumerate(parts[1], 1)):
            total += np.ldexp(a[:, here] @ b[here], sum(scales) - (i + j) * _BITS)
    return total


def _cut(A: Array) -> tuple[tuple[Array, Array], int]:
    """Cut A into two arrays of integers below 2^20, and s: 2^s (first 2^-20 + second 2^-40) is A up to 2^(s - 40)."""
    scale = int(np.frexp(np.abs(A).max())[1])
    finer = np.ldexp(A, _BITS - scale)
    first = np.trunc(finer)
    return (first, np.trunc(np.ldexp(finer - first, _BITS))), scale


def _error(A: Array, B: Array) -> float:
    """Bound the error of an entry of `_product`: k terms of which each factor was cut, and a sum of exact numbers.

    All entries of A and B are below 2^s and 2^t, and none of the sums is above k 2^(s + t).
    """
    scale = sum(int(np.frexp(np.abs(M).max())[1]) for M in (A, B))
    k = A.shape[1]
    return float(np.ldexp(3.0 * k + 4 * (k // _TERMS + 1) * k * 2.0**-12, scale - 2 * _BITS))


def _inverse_factor(A: Array) -> Array:
    """Return the inverse of the lower triangular L with L L' = A: (d, d), positive definite."""
    rest, inverse = A.copy(), np.eye(len(A))
    for j in range(len(A)):
        column = rest[j:, j] / np.sqrt(rest[j, j])
        rest[j:, j:] -= column[:, np.newaxis] * column
        inverse[j] /= column[0]
        inverse[j + 1 :, : j + 1] -= column[1:, np.newaxis] * inverse[j, : j + 1]
    return inverse
