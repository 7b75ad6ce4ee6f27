"""A run of as many sums as there may be is read again by whoever uses it."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
from support.audited import hospitals, sum_agreement

from protocols.arithmetic.rng import Stream
from smc_dp import predict
from smc_dp.methods.gradients.gradient_descent import MOST_SUMS, GradientDescent
from smc_dp.privacy.target import Target
from smc_dp.run.simulation import simulate_run


def test_a_hundred_sums_can_be_predicted_with(tmp_path: Path) -> None:
    data = hospitals((12, 8, 20), 2)
    agreed = sum_agreement(data, GradientDescent(rows=10**6), Target(Fraction(100), noise="ddg"))
    assert len(agreed.spec.functionality.each) == MOST_SUMS
    simulate_run(data, agreed, Stream.insecure_from_seed(1), tmp_path / "run")
    assert len(predict(tmp_path / "run", np.zeros((2, data.bounds.dimension))).labels) == 2
