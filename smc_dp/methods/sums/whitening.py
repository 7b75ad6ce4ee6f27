"""Public rows whitened, and a certified bound on how far votes on them can push in any one direction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from smc_dp.arrays import Array


@dataclass(frozen=True, eq=False)
class Whitening:
    """g = x M for a public matrix M: (d, d) with M M' = (X'X/N + gamma I)^-1: G'G/N is nearly the identity.

    M = U Lambda^(-1/2) from the eigenvectors of X'X/N + gamma I. (X'X/N + gamma I)^(-1/2) would do as well: the two
    differ by a rotation, which neither the noise nor the regulariser sees.
    """

    matrix: Array

    @classmethod
    def of(cls, X: Array, gamma: float) -> Whitening:
        """From public rows X: (N, d) and gamma > 0, which keeps directions that they lack from growing too long."""
        values, vectors = np.linalg.eigh(X.T @ X / len(X))
        return cls(vectors / np.sqrt(np.maximum(values, 0.0) + gamma))

    def rows(self, X: Array) -> Array:
        """G: (n, d)."""
        G: Array = X @ self.matrix
        return G

    def weights(self, V: Array) -> Array:
        """The weights for x, (p, d), that give V.g: V M'."""
        W: Array = V @ self.matrix.T
        return W


def largest_square(G: Array) -> float:
    """A certified upper bound on the square of the largest singular value of G: (N, d), exactly as stored.

    It is at most the largest row sum of |G'G|. In floats each entry of G'G errs by at most N 2^-53/(1 - N 2^-53)
    times |g_a||g_b|, with the columns' norms, whatever the order of the sums; |g_a|^2 is an entry of the diagonal. Ten
    times that covers the few operations that follow. Rows that were whitened have a nearly diagonal G'G, so little
    is lost. Needs N < 2^40.
    """
    gram = np.abs(G.T @ G)
    norms = np.sqrt(np.diag(gram))
    sums = gram.sum(axis=1) + (10 * len(G) + G.shape[1]) * 2.0**-53 * norms * norms.sum()
    return float(sums.max()) * (1 + 2.0**-40)
