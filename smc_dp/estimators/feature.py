"""The feature method: sites' classifiers as features of a classifier that an aggregator trains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy.typing as npt

from smc_dp.data.federation import Federation, Rows
from smc_dp.errors import InputError, shown
from smc_dp.estimators.base import FederatedClassifier
from smc_dp.estimators.checked import few, labels_of, number, public_rows
from smc_dp.estimators.rows import class_numbers
from smc_dp.methods.feature_method import LossName
from smc_dp.privacy.target import Calibration, NoiseName


class FeatureMethodClassifier(FederatedClassifier):
    """Two classes; each record is protected, and nobody is trusted.

    Every party trains a classifier by objective perturbation. method: `feat_agg`, an aggregator learns how to combine
    them from labelled rows of its own; `avg_agg`, their mean. lam: the regulariser is lam |f|^2. loss: `huber` or
    `logistic`. aggregator: the label of the party whose rows `feat_agg` learns the combination from, and protects like
    the others, where `fit` gets no public rows; None is the last one, if the parties are dealt.

    The other parameters: help(smc_dp.estimators).
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
        not look at them. Earlier steps of a pipeline transform public_X only if it is told to:
        `Pipeline(..., transform_input=["public_X"])`.
        """
        data, dealt = self._federation(X, y, parties), parties is None
        self._check_roles(public_X, public_y)
        if self.method == "avg_agg":
            return self._release(data, dealt)
        if public_X is None or public_y is None:
            return self._release(self._with_aggregator(data, dealt), dealt, private_labelled=True)
        return self._release(replace(data, labelled=self._public(public_X, public_y)), dealt)

    def _settings(self) -> dict[str, Any]:
        return {"lam": number("lam", self.lam), "loss": self.loss}

    def _check_roles(self, public_X: object, public_y: object) -> None:
        """Raises InputError for half of the public rows, and for an aggregator without a task."""
        for name, one, other in (("public_X", public_X, public_y), ("public_y", public_y, public_X)):
            if one is None and other is not None:
                raise InputError(f"{name}: wanted both public_X and public_y, or neither, got None")
        if self.aggregator is not None and self.method == "avg_agg":
            raise InputError(f"aggregator: avg_agg has none, wanted None, got {shown(self.aggregator)}")
        if self.aggregator is not None and public_X is not None:
            raise InputError(f"aggregator: public rows take its place, wanted None, got {shown(self.aggregator)}")

    def _public(self, X: npt.ArrayLike, y: npt.ArrayLike) -> Rows:
        rows = public_rows("public_X", X, self.n_features_in_)
        labels = labels_of("public_y", y, len(rows), f"the {len(rows)} rows of public_X")
        return Rows(self.ball_.rows(rows), class_numbers(labels, self.classes_, lambda i: f"public_y: row {i + 1}"))

    def _with_aggregator(self, data: Federation, dealt: bool) -> Federation:
        """One party's rows as the labelled ones, the others as sites."""
        if len(data.parties) < 2:
            raise InputError("parties: wanted at least 2, a site and the aggregator, got 1")
        name = data.names[-1] if dealt and self.aggregator is None else str(self.aggregator)
        if self.aggregator is None and not dealt:
            raise InputError("aggregator: wanted the label of a party, or public_X and public_y, got neither")
        if name not in data.names:
            raise InputError(f"aggregator: wanted one of the parties {few(data.names)}, got {shown(self.aggregator)}")
        k = data.names.index(name)
        sites, names = (data.parties[:k] + data.parties[k + 1 :], data.names[:k] + data.names[k + 1 :])
        return Federation(sites, data.classes, labelled=data.parties[k], names=names)
