"""How often intervals hold for rows of other shapes: many columns, and few rows of one class.

Sums are the real integers. Their noise is rounded normal numbers, a stand-in that is cheap to draw: the laws agree but
for the rounding of numbers above 2^20. `test_linear` and `test_logistic` try other rows with the real noise.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest

from protocols.arithmetic.rng import Stream
from smc_dp.core.arrays import OUTCOME_BITS, Array
from smc_dp.data.columns import NumericColumn
from smc_dp.data.federation import FeatureBox, Public, Rows
from smc_dp.methods.functionality import ideal
from smc_dp.methods.statistics.coefficient_inference import CoefficientInference
from smc_dp.methods.statistics.coefficient_sums import CoefficientSums
from smc_dp.methods.statistics.linear import LinearRegression
from smc_dp.methods.statistics.logistic import LogisticCoefficients
from smc_dp.methods.sums.threat_model import AnnouncedRows, ThreatModel
from smc_dp.privacy.distributed import share_distributions
from smc_dp.privacy.target import Target
from smc_dp.run.coefficient_intervals import interval_quantile

PARTIES, BOUND, LARGEST_OUTCOME = 3, 3.5, 8.0


class Shape(NamedTuple):
    """Rows of `columns` standard normal columns, the truth about them, and how often they are drawn.

    `scale` multiplies the slopes.
    """

    columns: int
    rows: int
    epsilon: int
    runs: int
    scale: float = 1.0
    intercept: float = 0.0

    @property
    def truth(self) -> Array:
        """Coefficients, the intercept last."""
        return np.append(self.scale * np.resize([0.4, -0.3, 0.2, 0.0], self.columns), self.intercept)

    @property
    def box(self) -> FeatureBox:
        """The public box of the columns, with a constant."""
        return FeatureBox(np.sqrt(0.5 / self.columns), np.sqrt(0.5), self.columns, ())

    def public(self, label: NumericColumn | None) -> Public:
        """What is public of such rows."""
        return Public(PARTIES, self.columns + 1, 2 if label is None else 0, label=label, box=self.box)

    @property
    def units(self) -> Array:
        """Encoded length of a unit of each column."""
        return np.append(np.full(self.columns, self.box.reach / BOUND), self.box.constant)


def specification(shape: Shape, *, of_number: bool) -> CoefficientSums:
    method = LinearRegression() if of_number else LogisticCoefficients()
    label = NumericColumn("y", -LARGEST_OUTCOME, LARGEST_OUTCOME) if of_number else None
    target = Target(Fraction(shape.epsilon), noise="ddg")
    return method.shared(shape.public(label), target, ThreatModel(PARTIES, 1, 0), AnnouncedRows(100_000))


def inferred(shape: Shape, spec: CoefficientSums, seed: int) -> CoefficientInference:
    rng, n = np.random.default_rng(seed), shape.rows
    Z = np.column_stack([np.clip(rng.normal(size=(n, shape.columns)), -BOUND, BOUND), np.ones(n)])
    score = Z @ shape.truth
    if spec.public.label is None:
        y = (rng.random(n) < 1 / (1 + np.exp(-score))).astype(np.int64)
    else:
        outcome = np.clip((score + rng.normal(size=n)) / LARGEST_OUTCOME, -1, 1)
        y = np.rint(outcome * 2.0**OUTCOME_BITS).astype(np.int64)
    rows, coins = Rows(Z * shape.units * (1 - 2.0**-40), y), Stream.insecure_from_seed(f"{seed}")
    parts = [spec.part(rows.take(np.arange(n)[j::PARTIES]), coins.fork(f"{j}")) for j in range(PARTIES)]
    found = spec.model(ideal(spec.functionality, parts, coins.fork("all"))).inference
    assert found is not None
    return found.transformed(np.diag(shape.units))


@pytest.fixture(autouse=True)
def normal_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    noise = np.random.default_rng(11)

    def drawn(variance: Fraction, count: int, _: Stream) -> list[int]:
        return [round(x) for x in noise.normal(scale=float(variance) ** 0.5, size=count)]

    monkeypatch.setattr(share_distributions, "discrete_gaussians", drawn)


def held(shape: Shape, spec: CoefficientSums) -> Iterator[Array]:
    """Yield of each release with intervals which coefficients they hold: NaN where a rule forbids one."""
    for seed in range(shape.runs):
        found = inferred(shape, spec, seed)
        if not found.obstacles:
            half = interval_quantile(found, 0.95) * np.sqrt(np.diagonal(found.covariance))
            inside = np.abs(found.estimate - shape.truth) < half
            yield np.where(found.ill_determined | found.clipped, np.nan, inside)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shape", "of_number"),
    [
        pytest.param(Shape(13, 3000, 10, 400), True, id="linear, 13 columns"),
        pytest.param(Shape(12, 4000, 4, 200), False, id="logistic, 12 columns"),
        pytest.param(Shape(5, 8000, 5, 200, 0.6, -3.0), False, id="logistic, a class of one row in twenty"),
    ],
)
def test_intervals_of_many_columns_and_of_rare_classes_cover_at_their_level(shape: Shape, *, of_number: bool) -> None:
    inside = np.array([*held(shape, specification(shape, of_number=of_number))])
    assert len(inside) >= 0.9 * shape.runs
    assert np.isnan(inside).mean() < 0.05
    assert 0.93 <= np.nanmean(inside) <= 0.98
    assert np.nanmean(inside, axis=0).min() >= 0.89
