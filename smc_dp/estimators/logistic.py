"""Coefficients with intervals behind scikit-learn's interface; see the package."""

# Annotations are not deferred here, as in `base`.

from dataclasses import dataclass, field, replace
from typing import ClassVar

from typing_extensions import override

from smc_dp.data.bounds import Bounds
from smc_dp.data.federation import Federation
from smc_dp.estimators.base import FederatedClassifier
from smc_dp.estimators.coefficient_intervals import CoefficientIntervals, infer_bounds
from smc_dp.estimators.docstrings import documented
from smc_dp.methods.method import Method, Trust
from smc_dp.methods.sums.simulated_sum import SimulatedSum
from smc_dp.privacy.statement import RecordAdjacency
from smc_dp.privacy.target import Calibration, NoiseName


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class SecureSumLogisticRegression(CoefficientIntervals, FederatedClassifier):
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

    @override
    def _public_bounds(self) -> Bounds | None:
        found = super()._public_bounds()
        return None if found is None else infer_bounds(found)

    @override
    def _simulated_sum(self, method: Method, data: Federation) -> SimulatedSum | None:
        made = super()._simulated_sum(method, data)
        return made if made is None or self.bounds_ is None else replace(made, box=self.bounds_.box)
