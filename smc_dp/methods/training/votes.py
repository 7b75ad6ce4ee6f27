"""Votes of many linear classifiers on many rows.

A classifier's answer on a row is the class with the largest score B V x in float64, the first of equals, with each
score summed for that pair alone. Almost all answers follow from a product of matrices in float32, block by block; where
its rounding leaves a doubt the float64 scores decide. So the answer of one classifier on one row never depends on
which others vote, and the count changes by one where one classifier changes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from smc_dp.core.arrays import Array, IntArray
from smc_dp.methods.training.classes import code

_ClassNumbers = npt.NDArray[np.unsignedinteger]

_CLASSIFIERS, _ROWS = 255, 512  # a block of scores fits into the cache; 255 answers can be counted in a byte
_PAIRS = 4096  # scored at a time in float64
_MANY = 50  # more than one pair in so many is much doubt


def count_votes(V: Array, X: Array, classes: int) -> IntArray:
    """Count the classifiers V: (M, p, d) that choose each class on each row of X: (N, d): (N, C), rows sum to M.

    Coordinates as in `smc_dp.methods.training.classes`, everything finite. Of equal scores the lowest class is chosen:
    for two classes w.x <= 0 means class 0.
    """
    counts = np.zeros((len(X), classes), dtype=np.int64)
    for rows, answers in _answers(V, X, classes):
        for k in range(1, classes):
            chosen = (answers == k).view(np.uint8)
            counts[rows, k] += np.add.reduce(chosen, axis=0, dtype=np.uint8)
    counts[:, 0] = len(V) - counts[:, 1:].sum(axis=1)
    return counts


def _answers(V: Array, X: Array, classes: int) -> Iterator[tuple[slice, _ClassNumbers]]:
    """Yield rows, and the answers of some classifiers to them: (classifiers, rows), until every pair was met once."""
    panel = _Panel.of(V, classes)
    for start in range(0, len(X), _ROWS):
        x = np.ascontiguousarray(X[start : start + _ROWS])
        single, doubt = x.astype(np.float32).T, panel.doubt(x)
        for first in range(0, len(V), _CLASSIFIERS):
            which = slice(first, min(first + _CLASSIFIERS, len(V)))
            yield slice(start, start + len(x)), panel.answers(which, x, single, doubt)


@dataclass(frozen=True, eq=False)
class _Panel:
    """Weights of the scores, W: (k, M, d), and the same in float32 with no norm above 1.

    For two classes k = 1: the sign of the one score decides. Otherwise k = C.
    """

    W: Array
    single: npt.NDArray[np.float32]

    @classmethod
    def of(cls, V: Array, classes: int) -> _Panel:
        W = np.ascontiguousarray(V.transpose(1, 0, 2) if classes == 2 else np.einsum("cp,mpd->cmd", code(classes), V))
        longest = np.sqrt((W * W).sum(axis=2)).max(axis=0)
        scale = np.where(longest > 0, longest, 1.0)[:, np.newaxis]  # one for all scores of a classifier
        return cls(W, (W / scale).astype(np.float32))

    def answers(self, which: slice, x: Array, single: npt.NDArray[np.float32], doubt: float) -> _ClassNumbers:
        """Return the answers of these classifiers on the rows x: (n, d), of which `single` is the float32 transpose."""
        answers, lead = _largest([W @ single for W in self.single[:, which]])
        j, i = np.divmod(np.flatnonzero(lead <= doubt), len(x))
        if len(j) * _MANY > answers.size:
            # Where no feature is shared all scores are zero exactly, in float32 too: common with one-hot rows.
            used = (self.W[:, which] != 0).any(axis=0).astype(np.float32)
            sharing = (used @ (x != 0).astype(np.float32).T)[j, i] > 0
            j, i = j[sharing], i[sharing]
        for start in range(0, len(j), _PAIRS):
            pairs = j[start : start + _PAIRS], i[start : start + _PAIRS]
            answers[pairs] = self._in_float64(which.start + pairs[0], x[pairs[1]])
        return answers

    def doubt(self, x: Array) -> float:
        """Bound the lead that float32 may have got wrong.

        A score errs by (d + 2) 2^-24 |x| at most, to first order, for factors rounded and terms summed in any order,
        and float64 by far less than the 6 units more; d 2^-124 covers what underflows. A lead is the difference of two
        scores, or of one and zero.
        """
        d = x.shape[1]
        longest = float(np.sqrt(np.einsum("ij,ij->i", x, x).max()))
        hidden: float = (d + 8) * 1.01 * 2.0**-24 * longest + d * 2.0**-124
        return hidden if len(self.W) == 1 else 2 * hidden

    def _in_float64(self, which: IntArray, x: Array) -> _ClassNumbers:
        """Return the answer of each of these classifiers on its own row of x.

        Products are rounded before they are summed, so that weights that cancel on a row leave zero, a tie. Fused
        multiplication and addition, as in a product of matrices, would leave the rounding of one of them.
        """
        return _largest([(W[which] * x).sum(axis=1) for W in self.W])[0]


def _largest(scores: list[npt.NDArray[np.floating]]) -> tuple[_ClassNumbers, npt.NDArray[np.floating]]:
    """Return the place of the largest score, the first of equals, and its lead; a single score is against zero."""
    if len(scores) == 1:
        return (scores[0] > 0).view(np.uint8), np.abs(scores[0])
    best, second = scores[0], np.full_like(scores[0], -np.inf)
    answers = np.zeros(best.shape, dtype=np.min_scalar_type(len(scores) - 1))
    for k, score in enumerate(scores[1:], start=1):
        answers = np.maximum(answers, np.where(score > best, answers.dtype.type(k), answers.dtype.type(0)))
        second = np.maximum(second, np.minimum(best, score))
        best = np.maximum(best, score)
    return answers, best - second
