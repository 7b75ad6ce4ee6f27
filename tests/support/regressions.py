"""What statsmodels says of rows: least squares and logistic regression with robust errors (HC1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats
from statsmodels.discrete.discrete_model import Logit
from statsmodels.regression.linear_model import OLS

from smc_dp.core.arrays import Array
from smc_dp.methods.training.integer_rows import ROW_BITS, SHARE_BITS

_ERRORS_OFF = 1.5  # steps of the grid: cells are cut towards 0, so errors are longer, and by more than a half


@dataclass(frozen=True)
class Regression:
    """Coefficients: (p,), their robust covariance, (p, p), and p-values by Student's t with n - p.

    `step` is that of the grid of rows, in parts of half of the range of a column. `rounding`: (p,), the most by which
    the grids may change a coefficient.
    """

    coefficients: Array
    covariance: Array
    p_values: Array
    step: float
    rounding: Array
    degrees: int

    @property
    def errors(self) -> Array:
        """Standard errors."""
        found: Array = np.sqrt(np.diagonal(self.covariance))
        return found

    def check(self, coefficients: Array, covariance: Array) -> None:
        """Assert that these coefficients and errors differ by no more than the grids make."""
        assert (np.abs(coefficients - self.coefficients) <= self.rounding).all()
        off = np.abs(covariance - self.covariance) / np.outer(self.errors, self.errors)
        assert (off <= 2 * _ERRORS_OFF * self.step).all()

    def check_tests(self, p_values: Array, intervals: Array) -> None:
        """Assert that p-values, (p,), and intervals at 95 %, (p, 2), differ by no more than that makes of them."""
        errors_off = _ERRORS_OFF * self.step * self.errors
        t = np.abs(self.coefficients) / self.errors
        off = (self.rounding + t * errors_off) / self.errors  # of t; the density of its length is at most .8
        assert (np.abs(p_values - self.p_values) <= 0.8 * off).all()
        quantile = stats.t(self.degrees).ppf(0.975)
        ends = self.coefficients[:, np.newaxis] + np.array([-1, 1]) * quantile * self.errors[:, np.newaxis]
        assert (np.abs(intervals - ends) <= (self.rounding + quantile * errors_off)[:, np.newaxis]).all()


def least_squares(design: Array, y: Array, half: Array) -> Regression:
    """OLS; half: (p,), half of the range of each column, 0 for the constant."""
    fit = OLS(y, design).fit(cov_type="HC1", use_t=True)
    step, rounding = _off(design, fit.params, half, np.ones(len(y)), 4 * np.sqrt(fit.scale))
    return Regression(fit.params, fit.cov_params(), fit.pvalues, step, rounding, fit.df_resid)


def logit(design: Array, y: Array, half: Array) -> Regression:
    """Logit, whose HC1 is without its factor n/(n - p); half as for `least_squares`."""
    fit = Logit(y, design).fit(cov_type="HC0", disp=False)
    factor, probability = len(y) / fit.df_resid, fit.predict()
    p_values = 2 * stats.t(fit.df_resid).sf(np.abs(fit.tvalues) / np.sqrt(factor))
    step, rounding = _off(design, fit.params, half, probability * (1 - probability), 1.0)
    return Regression(fit.params, fit.cov_params() * factor, p_values, step, rounding, fit.df_resid)


def _off(design: Array, b: Array, half: Array, weights: Array, unit: float) -> tuple[float, Array]:
    """Return the step of the grid of rows, and the most by which grids change coefficients.

    A cell of centred rows is cut to steps of sqrt(R) 2^-14, where R is at most 1 + 9 and the number of features, which
    is p where one column has levels. A residual is rounded to 2^-12 of its unit: half a step, over the weight of its
    row in the information, (n,), is as if its score were off by so much. A coefficient is off by at most what scores of
    all rows that are off so far make of it.
    """
    step = float(np.sqrt(10 + len(b))) * 2.0**-ROW_BITS
    scores = step * (np.abs(b) * half).sum() + unit * 2.0 ** -(SHARE_BITS + 1) / weights
    inverse = np.linalg.inv((design * weights[:, np.newaxis]).T @ design)
    return step, np.sqrt(np.diagonal(inverse) * (weights * scores**2).sum())
