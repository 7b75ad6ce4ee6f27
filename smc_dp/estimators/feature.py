"""The feature method: sites' classifiers as features of a classifier that an aggregator trains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_X_y

from smc_dp.data.federation import Federation, Rows
from smc_dp.errors import InputError, shown
from smc_dp.estimators.base import FederatedClassifier
from smc_dp.estimators.rows import class_numbers, number
from smc_dp.methods.feature_method import LossName
from smc_dp.privacy.target import Calibration, NoiseName


class FeatureMethodClassifier(FederatedClassifier):
    """Two classes; each record is protected, and nobody is trusted.

    Every party trains a classifier by objective perturbation. method: `feat_agg`, an aggregator learns how to combine
    them from labelled rows of its own; `avg_agg`, their mean. lam: the regulariser is lam |f|^2. loss: `huber` or
    `logistic`. aggregator: the label of the party whose rows `feat_agg` learns the combination from, and protects like
    the others, where `fit` gets no public rows; None is the last one, if the parties are dealt.
    """

    methods: ClassVar[tuple[str, ...]] = ("feat_agg", "avg_agg")
    binary: ClassVar[bool] = True
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"public_X": True, "public_y": True}

    def __init__(
        self,
        method: str = "feat_agg",
        *,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        calibration: Calibration = "proven",
        noise: NoiseName = "knorm",
        lam: float = 1e-2,
        loss: LossName = "huber",
        aggregator: object = None,
        n_parties: int = 5,
        radius: float = 1.0,
        bias: float = 1.0,
        classes: Sequence[Any] | None = None,
        insecure_seed: int | None = None,
    ) -> None:
        self.method = method
        self.epsilon = epsilon
        self.delta = delta
        self.calibration = calibration
        self.noise = noise
        self.lam = lam
        self.loss = loss
        self.aggregator = aggregator
        self.n_parties = n_parties
        self.radius = radius
        self.bias = bias
        self.classes = classes
        self.insecure_seed = insecure_seed

    def fit(
        self,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        parties: npt.ArrayLike | None = None,
        public_X: npt.ArrayLike | None = None,
        public_y: npt.ArrayLike | None = None,
    ) -> Self:
        """As `FederatedClassifier.fit`. public_X: (m, d), public_y: (m,), public labelled rows, are not protected.

        `feat_agg` learns the combination from them, and without them from the rows of the aggregator; `avg_agg` does
        not look at them.
        """
        data, dealt = self._federation(X, y, parties), parties is None
        if self.method == "avg_agg":
            return self._release(data, dealt)
        if public_X is None or public_y is None:
            return self._release(self._with_aggregator(data, dealt), dealt, private_labelled=True)
        return self._release(replace(data, labelled=self._public(public_X, public_y)), dealt)

    def _settings(self) -> dict[str, Any]:
        return {"lam": number("lam", self.lam), "loss": self.loss}

    def _public(self, X: npt.ArrayLike, y: npt.ArrayLike) -> Rows:
        rows, labels = check_X_y(X, y, dtype=np.float64)
        if rows.shape[1] != self.n_features_in_:
            raise InputError(f"public_X: wanted rows of width {self.n_features_in_}, got {rows.shape[1]}")
        return Rows(self.ball_.rows(rows), class_numbers(labels, self.classes_, lambda i: f"public_y: row {i + 1}"))

    def _with_aggregator(self, data: Federation, dealt: bool) -> Federation:
        """One party's rows as the labelled ones, the others as sites."""
        if len(data.parties) < 2:
            raise InputError("parties: wanted at least 2, a site and the aggregator, got 1")
        name = data.names[-1] if dealt and self.aggregator is None else str(self.aggregator)
        if self.aggregator is None and not dealt:
            raise InputError("aggregator: wanted the label of a party, or public_X and public_y, got neither")
        if name not in data.names:
            raise InputError(f"aggregator: wanted the label of a party, got {shown(self.aggregator)}")
        k = data.names.index(name)
        sites, names = (data.parties[:k] + data.parties[k + 1 :], data.names[:k] + data.names[k + 1 :])
        return Federation(sites, data.classes, labelled=data.parties[k], names=names)
