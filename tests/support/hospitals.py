"""Made-up parties of three sizes for the collaborative methods: rows of the unit sphere, logistic labels."""

from __future__ import annotations

import numpy as np

from smc_dp.data.federation import Federation, Rows


def rows(n: int, d: int, seed: int) -> Rows:
    """n rows of a party, by a public seed; the first column decides most labels."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True) * (1 + 1e-9)
    y = (4 * X[:, 0] + 0.5 + rng.logistic(size=n) > 0).astype(np.int64)
    return Rows(X, y)


def federation(n: int, d: int = 3) -> Federation:
    """Parties of n, n/2 and n/4 rows."""
    return Federation((rows(n, d, 1), rows(n // 2, d, 2), rows(n // 4, d, 3)), 2)
