"""The models of many small parties at once, as exact as one at a time.

Where a party has fewer rows than features, its minimiser lies in the span of its rows: V = A'X with A: (n, p), and with
K = XX' the gradient of the objective of `smc_dp.methods.training.softmax` is mu X'(A + c R(KA)), where R: (n, p) are
the residuals B'(probabilities - labels) and c = 1/(mu n). Newton's method on A needs n p unknowns instead of p d, and
parties of one size go through it together.

Nothing here mixes parties. Parties of one size are stacked, never padded; products are taken and systems solved
matrix by matrix; each has its own step length. So a party's model is the same, to the last bit, whichever
parties are trained beside it: a sensitivity that speaks of one party's change relies on that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from smc_dp.core.arrays import Array, IntArray
from smc_dp.methods.training.classes import code, coordinate_count
from smc_dp.methods.training.softmax import certified, check_mu, one_hot, rounding_charge
from smc_dp.methods.training.solver import PUBLIC_TAU

_STACKED = 2**20  # numbers in the largest array of one stack: a few of them stay below 100 MB
_TOLERANCE = 1e-11  # of the gradient as floats have it, far below the public one
_SHORTEST_STEP = 2.0**-40


def train_all(parties: Sequence[tuple[Array, IntArray]], classes: int, mu: float) -> Array:
    """Minimise each party's mean logistic or softmax loss plus (mu/2) |V|^2: (M, p, d).

    parties: X: (n, d), rows of the unit ball, and y: (n,), class numbers; one class alone is fine. Coordinates as in
    `smc_dp.methods.training.classes`. Every model's gradient has a norm of at most PUBLIC_TAU, surely; mu is at least
    2^-29. ValueError: another mu.
    """
    check_mu(mu)
    p, d = coordinate_count(classes), parties[0][0].shape[1]
    V = np.empty((len(parties), p, d))
    for numbers in _stacks([len(y) for _, y in parties], p, d):
        X, y = (np.array([parties[j][part] for j in numbers]) for part in (0, 1))
        done = np.zeros(len(numbers), dtype=np.bool_)
        if X.shape[1] < d:
            V[numbers] = _through_the_dual(X, y, classes, mu)
            done = _is_certain(V[numbers], X, y, classes, mu)
        for i in np.flatnonzero(~done):  # large parties, and those that floats do not certify
            V[numbers[i]] = certified(X[i], one_hot(y[i], classes), mu)
    return V


def _stacks(sizes: Sequence[int], p: int, d: int) -> Iterator[IntArray]:
    """Yield the numbers of parties of equal size, so many at a time as memory allows."""
    counts = np.array(sizes, dtype=np.int64)
    for n in np.unique(counts):
        together = max(1, _STACKED // int(max((n * p) ** 2, n * d, p * d)))
        numbers = np.flatnonzero(counts == n)
        yield from (numbers[start : start + together] for start in range(0, len(numbers), together))


@dataclass(frozen=True, eq=False)
class _Dual:
    """Dual problem of m parties of n rows: kernels K: (m, n, n) and labels as B'alpha: (m, n, p)."""

    K: Array
    wanted: Array
    B: Array
    mu: float

    @property
    def c(self) -> float:
        n: int = self.K.shape[1]
        return 1 / (self.mu * n)

    def take(self, some: npt.NDArray[np.bool_]) -> _Dual:
        return _Dual(self.K[some], self.wanted[some], self.B, self.mu)

    def evaluate(self, A: Array) -> tuple[Array, Array, Array]:
        """Return F = A + c R: (m, n, p), the probabilities: (m, n, C), and the gradient's norm mu |X'F|: (m,)."""
        q = _probabilities(self.K @ A, self.B)
        F = A + self.c * (q @ self.B - self.wanted)
        squares = (F * (self.K @ F)).reshape(len(A), -1).sum(axis=1)
        return F, q, self.mu * np.sqrt(np.maximum(squares, 0))

    def direction(self, F: Array, q: Array) -> Array:
        """Return Newton's step (I + c D K)^-1 F, where D holds each row's curvature B'(diag q - qq')B."""
        m, n, p = F.shape
        mean = q @ self.B
        products = (self.B[:, :, np.newaxis] * self.B[:, np.newaxis, :]).reshape(len(self.B), p * p)
        D = (q @ products).reshape(m, n, p, p) - mean[..., :, np.newaxis] * mean[..., np.newaxis, :]
        coupling: Array = self.c * D[:, :, :, np.newaxis, :] * self.K[:, :, np.newaxis, :, np.newaxis]
        system = coupling.reshape(m, n * p, n * p)
        system[:, np.arange(n * p), np.arange(n * p)] += 1
        return np.linalg.solve(system, F.reshape(m, n * p, 1)).reshape(m, n, p).astype(np.float64, copy=False)


def _through_the_dual(X: Array, y: IntArray, classes: int, mu: float) -> Array:
    """Minimise as far as floats reach, for X: (m, n, d) and y: (m, n): (m, p, d)."""
    dual = _Dual(X @ X.transpose(0, 2, 1), code(classes)[y], code(classes), mu)
    found = np.zeros_like(dual.wanted)
    at = (found.copy(), *dual.evaluate(found))
    unfinished = np.arange(len(X))
    while len(unfinished):
        moved = _step(dual, at)
        found[unfinished] = at[0]
        on = moved & (at[3] > _TOLERANCE)
        unfinished, dual, at = unfinished[on], dual.take(on), (at[0][on], at[1][on], at[2][on], at[3][on])
    return found.transpose(0, 2, 1) @ X


def _step(dual: _Dual, at: tuple[Array, Array, Array, Array]) -> npt.NDArray[np.bool_]:
    """Step for each party, halved until its gradient shrinks; return for whom it did.

    at: A, F, the probabilities and the gradients' norms, which are overwritten.
    """
    A, F, q, size = at
    direction, before = dual.direction(F, q), size.copy()
    waiting = np.ones(len(A), dtype=np.bool_)
    t = 1.0
    while waiting.any() and t >= _SHORTEST_STEP:
        candidate = A[waiting] - t * direction[waiting]
        new = (candidate, *dual.take(waiting).evaluate(candidate))
        shrinks = new[3] <= (1 - t / 4) * before[waiting]
        those = np.flatnonzero(waiting)[shrinks]
        for array, values in zip(at, new, strict=True):
            array[those] = values[shrinks]
        waiting[those] = False
        t /= 2
    return ~waiting


def _is_certain(V: Array, X: Array, y: IntArray, classes: int, mu: float) -> npt.NDArray[np.bool_]:
    """Tell for which parties the gradient's norm at V: (m, p, d) is at most PUBLIC_TAU, rounding included: (m,)."""
    (m, n, d), B = X.shape, code(classes)
    residuals = _probabilities(X @ V.transpose(0, 2, 1), B) @ B - B[y]
    gradient = residuals.transpose(0, 2, 1) @ X / n + mu * V
    measured, norms = (np.sqrt((G * G).reshape(m, -1).sum(axis=1)) for G in (gradient, V))
    hidden = np.array([rounding_charge(n, classes, d, float(norm)) for norm in norms])
    certain: npt.NDArray[np.bool_] = measured + hidden <= PUBLIC_TAU
    return certain


def _probabilities(U: Array, B: Array) -> Array:
    """Return the softmax of the scores B u for U: (m, n, p): (m, n, C)."""
    scores = U @ B.T
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    q: Array = powers / powers.sum(axis=-1, keepdims=True)
    return q
