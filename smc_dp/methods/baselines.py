"""What a release is compared with in a simulation: each party alone, all rows in one place, the majority.

None of these is private. They need the rows of everybody, so they exist in simulations only and are never
written to a file that is meant to be shared.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from smc_dp.data.preprocess import Examples
from smc_dp.learning.objective import RegularisedLogistic
from smc_dp.learning.solver import minimise
from smc_dp.methods.pathak2010.curator import accuracy, classify


def individual(parties: Mapping[str, Examples], test: Examples, objective: RegularisedLogistic) -> dict[str, float]:
    """Test accuracy of each party's own model, without noise."""
    return {name: _accuracy(data, test, objective) for name, data in parties.items()}


def pooled(parties: Mapping[str, Examples], test: Examples, objective: RegularisedLogistic) -> float:
    """Test accuracy of one model trained on all rows, without noise."""
    X = np.concatenate([data.X for data in parties.values()])
    y = np.concatenate([data.y for data in parties.values()])
    return _accuracy(Examples(X, y), test, objective)


def majority(parties: Mapping[str, Examples], test: Examples) -> float:
    """Test accuracy of always answering the class that most training rows have; of equals, -1."""
    votes = sum(float(data.y.sum()) for data in parties.values())
    return accuracy(np.full(len(test), 1.0 if votes > 0 else -1.0), test.y)


def _accuracy(train: Examples, test: Examples, objective: RegularisedLogistic) -> float:
    return accuracy(classify(minimise(objective, train.X, train.y).weights, test.X), test.y)
