"""Coefficients with intervals behind scikit-learn's interface; see the package."""

# Annotations are not deferred here, as in `base`.

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from scipy.stats import norm
from sklearn.utils.validation import check_is_fitted
from typing_extensions import override

from smc_dp.core.arrays import Array
from smc_dp.core.errors import InputError, shown
from smc_dp.data.bounds import Bounds
from smc_dp.data.federation import Federation
from smc_dp.data.usual_clip import longest_norm
from smc_dp.estimators.base import FederatedClassifier
from smc_dp.estimators.docstrings import documented
from smc_dp.methods.method import Method, Trust
from smc_dp.methods.statistics.coefficient_inference import CoefficientInference
from smc_dp.methods.statistics.coefficient_sums import InferredModel
from smc_dp.methods.sums.simulated_sum import SimulatedSum
from smc_dp.privacy.statement import RecordAdjacency
from smc_dp.privacy.target import Calibration, NoiseName
from smc_dp.run.coefficient_intervals import coefficient_map, state_inference, terms_of
from smc_dp.run.coefficient_rows import CoefficientRow, coefficient_rows


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class SecureSumLogisticRegression(FederatedClassifier):
    """Logistic regression of two classes from five secure sums, with standard errors and intervals.

    With `bounds` its coefficients have the names and units of the columns, as a run of `logistic` releases them.
    Without `bounds` it is a classifier that states no intervals. Nobody is trusted, as in `SecureSumClassifier`.

    Parameters
    ----------
    adjacency : {"replace", "addremove"}
        The change of the data that is protected: a record is another one, or it is not there at all.
    bounds
        `[rows]` is not used: no row is shortened, and a constant is added.
    classes
        There are two.

    References
    ----------
    * `smc_dp.methods.statistics.logistic` states the method, `smc_dp.privacy.distributed.inference_sum` its cost.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from smc_dp import SecureSumLogisticRegression
    >>> from smc_dp.data.bounds import parse_bounds
    >>> rng = np.random.default_rng(4)
    >>> rows = pd.DataFrame({"age": rng.integers(20, 90, 6000), "sex": rng.choice(["f", "m"], 6000)})
    >>> score = 0.05 * (rows.age - 55) + 0.8 * (rows.sex == "m")
    >>> died = np.where(rng.random(6000) < 1 / (1 + np.exp(-score)), "yes", "no")
    >>> bounds = parse_bounds(
    ...     '[columns]\\nage = [18, 98]\\nsex = ["f", "m"]\\n[label]\\ncolumn = "died"\\nclasses = ["no", "yes"]'
    ... )
    >>> model = SecureSumLogisticRegression(bounds=bounds, epsilon=3.0).fit(rows, died)
    >>> [(row.column, row.what) for row in model.table()]
    [('', ''), ('age', 'a unit'), ('sex', 'm')]
    >>> bool(model.conf_int()[1][0] < 0.05 < model.conf_int(0.999)[1][1])
    True

    """

    methods: ClassVar[tuple[str, ...]] = ("logistic",)
    binary: ClassVar[bool] = True

    adjacency: RecordAdjacency = "replace"
    # No parameters: there is one method, which has one noise with one proof, and nobody is trusted.
    method: str = field(default="logistic", init=False)
    trust: Trust = field(default="secure", init=False)
    calibration: Calibration = field(default="proven", init=False)
    noise: NoiseName | None = field(default=None, init=False)

    @property
    def inference_(self) -> dict[str, Any]:
        """Inference as release.json has it: counts of rows, `obstacles`, `cautions` and `terms`."""
        found, bounds = self._inferred()
        return state_inference(found, terms_of(self.model_.weights, bounds))  # type: ignore[attr-defined]

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
        half = norm.ppf((1 + level) / 2) * self.bse
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

    def _inferred(self) -> tuple[CoefficientInference, Bounds]:
        """Return the inference on the coefficients of the columns, and the bounds that name them."""
        check_is_fitted(self)
        found = self.model_.inference if isinstance(self.model_, InferredModel) else None
        if found is None or self.bounds_ is None:
            raise InputError("bounds.none_to_infer_by")
        return found.transformed(coefficient_map(self.bounds_)[1]), self.bounds_

    @override
    def _public_bounds(self) -> Bounds | None:
        found = super()._public_bounds()
        if found is None:
            return None
        return replace(found, clip=longest_norm(len(found.columns)), bias=1.0, center=True)

    @override
    def _simulated_sum(self, method: Method, data: Federation) -> SimulatedSum | None:
        made = super()._simulated_sum(method, data)
        return made if made is None or self.bounds_ is None else replace(made, box=self.bounds_.box)
