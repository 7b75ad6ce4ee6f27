"""Models learnt from secure sums of what single records contribute, so that nobody is trusted and little is lost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy.typing as npt
from typing_extensions import override

from smc_dp.core.errors import InputError, shown
from smc_dp.estimators.base import FederatedClassifier
from smc_dp.estimators.docstrings import documented
from smc_dp.estimators.weights import check_weight_settings, weigh_rows
from smc_dp.methods.method import Method, Trust
from smc_dp.privacy.statement import RecordAdjacency
from smc_dp.privacy.target import Calibration, NoiseName


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class SecureSumClassifier(FederatedClassifier):
    """Learn a linear classifier of two classes or more from secure sums, protecting each record from everybody else.

    The parties add up clipped gradients of their records, several times, each with its share of Gaussian noise (`ddg`),
    and nobody sees more than the sums. A fit computes in one place what the protocol computes, so the caller has all
    rows; `privacy_` says against whom a run of the protocol (`smc-dp run`) holds.

    Parameters
    ----------
    method
        `newton` adds up the curvature once and gradients eight times; `gd` is gradient descent, for hundreds of
        columns and more, where a curvature is too large a sum.
    adjacency : {"replace", "addremove"}
        The change of the data that is protected: a record is another one, or it is not there at all.
    features
        `"fourier:128"` learns from 128 public random Fourier features beside each row, for what is not linear in it,
        and `"fourier:128:0.5"` states their bandwidth, too. There is no `coef_` then. None learns from rows alone.
    rows
        The number of all rows, from 1 to 10^12, which is public and sets the step of `gd`, which alone has it. None is
        the true number under `replace`, which `privacy_` then says; `addremove` protects that number and needs another.
    class_weight : dict or None
        The weight of each class, a public number above 0; a class that is not named has 1. The loss of a row is
        multiplied by it. Take it from public knowledge, such as the known share of a disease. `"balanced"` is refused:
        it would reveal how many rows each class has. Weights differ by a factor of 100 at most.
    most_weight
        The largest weight in `sample_weight`, a public number above 0. Larger ones are clipped to it.
    classes
        There are at least two.

    References
    ----------
    * `smc_dp.methods.gradients` and `smc_dp.privacy.distributed.rounds` state the methods and prove what they cost.
    * A. Rahimi and B. Recht. Random features for large-scale kernel machines. NIPS 2007 (`features`).
    * D. Boehning. Multinomial logistic regression algorithm. Annals of the Institute of Statistical Mathematics 44,
      1992 (the bound on the curvature of more classes, beyond which `newton` and `gd` step).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_blobs
    >>> from smc_dp import SecureSumClassifier
    >>> X, y = make_blobs(3000, centers=[[0.5, 0.0], [-0.5, 0.3], [0.0, -0.5]], cluster_std=0.1, random_state=4)
    >>> hospital = np.repeat(["north", "south", "east"], 1000)
    >>> model = SecureSumClassifier(epsilon=1.0, classes=[0, 1, 2]).fit(X, y, parties=hospital)
    >>> model
    SecureSumClassifier(classes=[0, 1, 2])
    >>> model.privacy_.kind, model.privacy_.epsilon, model.privacy_.unit
    ('zcdp', 1.0, 'record')
    >>> model.privacy_.adversary.partition(",")[0]
    'Charlie and any 1 of 3 parties'
    >>> model.score(X, y) > 0.9
    True

    """

    methods: ClassVar[tuple[str, ...]] = ("newton", "gd")
    binary: ClassVar[bool] = False

    method: str = field(default="newton", kw_only=False)
    adjacency: RecordAdjacency = "replace"
    features: str | None = None
    rows: int | None = None
    class_weight: Mapping[Any, float] | None = None
    most_weight: float = 1.0
    # No parameters: both methods have one noise with one proof, and nobody is trusted.
    trust: Trust = field(default="secure", init=False)
    calibration: Calibration = field(default="proven", init=False)
    noise: NoiseName | None = field(default=None, init=False)

    @override
    @documented
    def fit(  # noqa: D417  filled in
        self,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        parties: npt.ArrayLike | None = None,
        sample_weight: npt.ArrayLike | None = None,
    ) -> Self:
        """Train, draw noise, keep what is released and nothing else.

        Parameters
        ----------
        X, y, parties
        sample_weight : array-like of shape (n,), default=None
            The weight of each row from 0 to `most_weight`, which is private like the row. The loss of a row is
            multiplied by it, in parts of the largest weight that any row may have, so noise and guarantee are those
            without weights. Sums are divided by the number of rows at most, and never by the sum of the weights.

        """
        data = self._federation(
            X,
            y,
            parties,
            lambda numbers: weigh_rows(self.class_weight, self.most_weight, sample_weight, self.classes_, numbers),
        )
        return self._release(data, parties is None)

    @override
    def _check(self, method: Method) -> None:
        check_weight_settings(self.class_weight, self.most_weight)
        super()._check(method)

    @override
    def _settings(self) -> dict[str, Any]:
        if self.method == "gd" and self.adjacency == "addremove" and self.rows is None:
            raise InputError("rows.not_announced", got=shown(self.rows))
        of_weights = ("class_weight", "most_weight")
        return {name: value for name, value in super()._settings().items() if name not in of_weights}
