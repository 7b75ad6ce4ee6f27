"""The feature method: sites' classifiers as features of a classifier that an aggregator trains."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy.typing as npt
from typing_extensions import override

from smc_dp.core.errors import InputError, shown
from smc_dp.data.federation import Federation, Rows
from smc_dp.estimators.base import FederatedClassifier
from smc_dp.estimators.docstrings import documented
from smc_dp.estimators.rows import number_labels
from smc_dp.estimators.validation import check_labels, list_first
from smc_dp.methods.feature_method import LossName
from smc_dp.methods.method import Trust

LAST_PARTY_AGGREGATES_CAVEAT = (
    "No public rows and no aggregator were named: the last party that rows were dealt to is the aggregator, and no "
    "site."
)


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class FeatureMethodClassifier(FederatedClassifier):
    """Learn a classifier of two classes from those of sites that trust nobody, protecting each record.

    Every party trains a classifier by objective perturbation, and all the rest is done with what it may show.

    Parameters
    ----------
    method
        In `feat_agg` an aggregator learns from labelled rows of its own how to combine the parties' classifiers;
        `avg_agg` is their mean.
    calibration
        Both methods have a published scale.
    noise : {"knorm", "laplace", "gauss", "ddg", "vg", "self"} or None
        Distribution of the noise: both methods have `knorm` only, which gives pure epsilon.
    loss : {"huber", "logistic"}
        The loss of a party's classifier: the Huber loss or the log-loss of the margins.
    aggregator
        The label of the party whose rows `feat_agg` learns the combination from, and protects like the others, where
        `fit` gets no public rows; None is the last one, if the parties are dealt.
    classes
        There are two.

    References
    ----------
    * The feature method, algorithm 1 of its paper, as `smc_dp.methods.feature_method` states it.
    * K. Chaudhuri, C. Monteleoni and A. D. Sarwate. Differentially private empirical risk minimization. JMLR 12, 2011
      (objective perturbation).

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from smc_dp import FeatureMethodClassifier
    >>> X, y = make_blobs(6000, centers=[[0.5, 0.1], [-0.5, 0.2]], cluster_std=0.1, random_state=4)
    >>> model = FeatureMethodClassifier("feat_agg", epsilon=1.0, n_parties=3, classes=[0, 1])
    >>> model.fit(X[500:], y[500:], public_X=X[:500], public_y=y[:500])
    FeatureMethodClassifier(classes=[0, 1], n_parties=3)
    >>> model.privacy_.kind, model.privacy_.epsilon, model.privacy_.unit
    ('pure', 1.0, 'record')
    >>> model.score(X, y) > 0.9
    True

    """

    methods: ClassVar[tuple[str, ...]] = ("feat_agg", "avg_agg")
    binary: ClassVar[bool] = True
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"public_X": True, "public_y": True}

    method: str = field(default="feat_agg", kw_only=False)
    lam: float = 1e-2
    loss: LossName = "huber"
    aggregator: object = None
    # No parameters: no secure sum computes these methods.
    trust: Trust = field(default="aggregator", init=False)
    colluders: int = field(default=1, init=False)
    dropouts: int = field(default=0, init=False)

    @override
    @documented
    def fit(  # noqa: D417  filled in
        self,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        parties: npt.ArrayLike | None = None,
        public_X: npt.ArrayLike | None = None,
        public_y: npt.ArrayLike | None = None,
    ) -> Self:
        """Train, draw noise, keep what is released and nothing else.

        Parameters
        ----------
        X, y, parties
        public_X : {array-like, sparse matrix} of shape (m, d), default=None
            Public rows, which are not protected: `feat_agg` learns the combination from them, and without them from the
            rows of the aggregator; `avg_agg` does not look at them. Earlier steps of a pipeline transform them only if
            it is told to: `Pipeline(..., transform_input=["public_X"])`.
        public_y : array-like of shape (m,), default=None
            Their classes.

        """
        data, dealt = self._federation(X, y, parties), parties is None
        self._check_roles(public_X, public_y)
        if self.method == "avg_agg":
            return self._release(data, dealt)
        if public_X is None or public_y is None:
            self._release(self._with_aggregator(data, dealt), dealt, private_labelled=True)
            if self.aggregator is None:
                self.privacy_ = replace(self.privacy_, caveats=(LAST_PARTY_AGGREGATES_CAVEAT, *self.privacy_.caveats))
            return self
        return self._release(replace(data, labelled=self._public(public_X, public_y)), dealt)

    @override
    def _settings(self) -> dict[str, Any]:
        return {name: value for name, value in super()._settings().items() if name != "aggregator"}

    def _check_roles(self, public_X: object, public_y: object) -> None:
        """Raise InputError for half of the public rows, and for an aggregator without a task."""
        for name, one, other in (("public_X", public_X, public_y), ("public_y", public_y, public_X)):
            if one is None and other is not None:
                raise InputError("public_rows.only_half", name=name)
        if self.aggregator is not None and self.method == "avg_agg":
            raise InputError("setting.not_of_method", name="aggregator", method=self.method, got=shown(self.aggregator))
        if self.aggregator is not None and public_X is not None:
            raise InputError("aggregator.beside_public_rows", got=shown(self.aggregator))

    def _public(self, X: npt.ArrayLike, y: npt.ArrayLike) -> Rows:
        rows = self._public_rows("public_X", X)
        labels = check_labels("public_y", y, len(rows), f"the {len(rows)} rows of public_X")
        return Rows(rows, number_labels(labels, self.classes_, lambda i: f"public_y: row {i + 1}"))

    def _with_aggregator(self, data: Federation, dealt: bool) -> Federation:
        """Return a federation in which one party's rows are the labelled ones, and the others are sites."""
        if len(data.parties) < 2:
            raise InputError("parties.no_site_beside_aggregator")
        name = data.names[-1] if dealt and self.aggregator is None else str(self.aggregator)
        if self.aggregator is None and not dealt:
            raise InputError("aggregator.missing")
        if name not in data.names:
            raise InputError("aggregator.unknown_party", parties=list_first(data.names), got=shown(self.aggregator))
        k = data.names.index(name)
        sites, names = (data.parties[:k] + data.parties[k + 1 :], data.names[:k] + data.names[k + 1 :])
        return Federation(sites, data.classes, labelled=data.parties[k], names=names)
