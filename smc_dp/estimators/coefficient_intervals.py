"""Intervals of coefficients as attributes and methods of a fitted estimator, as statsmodels names them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from smc_dp.core.arrays import Array
from smc_dp.core.errors import InputError, shown
from smc_dp.data.bounds import Bounds
from smc_dp.data.usual_clip import longest_norm
from smc_dp.estimators.data_frame import data_frame
from smc_dp.methods.statistics.coefficient_inference import CoefficientInference
from smc_dp.methods.statistics.coefficient_sums import InferredModel
from smc_dp.run.coefficient_intervals import coefficient_map, interval_quantile, state_inference, terms_of
from smc_dp.run.coefficient_rows import CoefficientRow, Interval, coefficient_rows

_NAMES, _NUMBERS = ("column", "cell", "kind", "reference"), ("units", "estimate", *Interval._fields)


class CoefficientIntervals:
    """Coefficients by the names of the columns, of an estimator that has released a model with an inference."""

    model_: Any
    bounds_: Any  # `Bounds`; None after a fit without

    @property
    def inference_(self) -> dict[str, Any]:
        """Inference as release.json has it: counts of rows, `obstacles`, `cautions` and `terms`."""
        found, bounds = self._inferred()
        return state_inference(found, terms_of(self.model_.weights, bounds))

    @property
    def bse(self) -> Array:
        """Standard errors in the order of `table`: (q,), NaN where a rule forbids an interval."""
        errors: Array = np.sqrt(np.diagonal(self.cov))
        return errors

    @property
    def cov(self) -> Array:
        """Covariance of the coefficients in the order of `table`: (q, q), NaN where a rule forbids an interval."""
        found, _ = self._inferred()
        stated = [term for term in self.inference_["terms"] if term["estimate"] is not None]
        has = np.array([term["low"] is not None for term in stated])
        every = np.array([term["estimate"] is not None for term in self.inference_["terms"]])
        covariance: Array = np.where(np.outer(has, has), found.covariance[np.ix_(every, every)], np.nan)
        return covariance

    def conf_int(self, level: float = 0.95) -> Array:
        """Return the intervals in the order of `table`: (q, 2), NaN where a rule forbids one.

        Parameters
        ----------
        level : float, default=0.95
            The probability with which each covers, above 0 and below 1.

        Returns
        -------
        ndarray of shape (q, 2)
            Both ends of each interval.

        Raises
        ------
        InputError
            For another level, and for a fit without `bounds`.

        """
        if not isinstance(level, float) or not 0 < level < 1:
            raise InputError("level.no_probability", got=shown(level))
        estimates = np.array([row.estimate for row in self.table()])
        half = interval_quantile(self._inferred()[0], level) * self.bse
        return np.stack([estimates - half, estimates + half], axis=1)

    def table(self, per: Mapping[str, float] | None = None) -> list[CoefficientRow]:
        """Return a row for each coefficient: the intercept, then column by column.

        Parameters
        ----------
        per : mapping of str to float, default=None
            How many units of a column its coefficient is for; 1 where a column is not named.

        Returns
        -------
        list of CoefficientRow
            Estimates with intervals of the level .95; None where a rule forbids one.

        Raises
        ------
        InputError
            For a fit without `bounds`.

        """
        bounds = self._inferred()[1]
        return list(coefficient_rows(self.inference_["terms"], bounds, per or {}))

    def to_frame(self, per: Mapping[str, float] | None = None) -> Any:
        """Return the rows of `table` as a data frame of pandas, which has to be installed.

        Parameters
        ----------
        per : mapping of str to float, default=None
            How many units of a column its coefficient is for; 1 where a column is not named.

        Returns
        -------
        pandas.DataFrame
            A row for each coefficient; figures that a rule forbids are NaN.

        Raises
        ------
        InputError
            For a fit without `bounds`, and where pandas is not installed.

        """
        none = dict.fromkeys(Interval._fields)
        rows = ({**vars(row), **(none if row.interval is None else row.interval._asdict())} for row in self.table(per))
        return data_frame(rows, (*_NAMES, *_NUMBERS), _NUMBERS)

    def _inferred(self) -> tuple[CoefficientInference, Bounds]:
        """Return the inference on the coefficients of the columns, and the bounds that name them."""
        check_is_fitted(self)
        found = self.model_.inference if isinstance(self.model_, InferredModel) else None
        if found is None or self.bounds_ is None:
            raise InputError("bounds.none_to_infer_by")
        return found.transformed(coefficient_map(self.bounds_)[1]), self.bounds_


def infer_bounds(bounds: Bounds) -> Bounds:
    """Return the bounds with a constant that shorten no row, without which a row would have another score."""
    return replace(bounds, clip=longest_norm(len(bounds.columns)), bias=1.0, center=True)
