"""Estimator of one site for itself: a fitted estimator of this package and the site's own rows become its model."""

from __future__ import annotations

from copy import copy
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from smc_dp.core.arrays import Array
from smc_dp.core.errors import InputError, shown
from smc_dp.data.federation import Rows
from smc_dp.estimators.base import FederatedClassifier
from smc_dp.estimators.rows import number_labels
from smc_dp.estimators.validation import LabelArray, check_labels
from smc_dp.methods.model import FourierModel, LinearModel
from smc_dp.methods.personal import PersonalKind, fit_personal, in_features


class PersonalisedClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Learn a model for one site from a release and the site's own rows; it is as private as these rows.

    Cross-validation on the own rows chooses between the release, models that are drawn towards it, and models of the
    own rows alone. For records of other sites the guarantee of the release holds (post-processing), for the own records
    there is none, so there is no `privacy_`. Do not publish the model or its predictions. Scores on rows that took part
    in the release are optimistic. `smc_dp.personalise` does the same with a run folder.

    Parameters
    ----------
    release : estimator
        A fitted estimator of this package whose model is linear. It is used as it is: no fit changes it, and a clone
        keeps it.

    Attributes
    ----------
    classes_ : ndarray of shape (C,)
        The classes of the release.
    kind_ : {"release", "towards the release", "own rows alone"}
        Which kind of model was chosen.
    strength_ : float
        The strength with which the model is drawn towards the release, or towards zero; inf for the release.
    coef_, intercept_ : ndarray
        The model in the columns of the rows, as those of `release`.

    Raises
    ------
    InputError
        A ValueError, from `fit`: the release or a row is not what was wanted.
    NotFittedError
        From `predict` and its like before a fit.

    References
    ----------
    * `smc_dp.methods.personal` states what is minimised, and how the model is chosen.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_blobs
    >>> from smc_dp import PersonalisedClassifier, SecureSumClassifier
    >>> X, y = make_blobs(3000, centers=[[0.5, 0.0], [-0.5, 0.3]], cluster_std=0.2, random_state=4)
    >>> release = SecureSumClassifier(epsilon=1.0, classes=[0, 1]).fit(X, y)
    >>> turned = np.where(X[:600, 1] > 0.15, 1, 0)  # another site, where other things matter
    >>> own = PersonalisedClassifier(release).fit(X[:300], turned[:300])
    >>> own.score(X[300:600], turned[300:]) > release.score(X[300:600], turned[300:])
    True

    """

    def __init__(self, release: Any) -> None:
        self.release = release

    def __sklearn_clone__(self) -> Self:
        return type(self)(self.release)  # scikit-learn would take an estimator without its fit

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> Self:
        """Choose a model by cross-validation, and learn it from all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
            The own rows, finite; they are clipped as in the fit of the release.
        y : array-like of shape (n,)
            Their classes, out of those of the release.

        Returns
        -------
        PersonalisedClassifier
            The estimator itself.

        Raises
        ------
        InputError
            For a release that is not fitted or not linear, for fewer than five rows, and for a class that it has not.

        """
        release = self.release
        if not isinstance(release, FederatedClassifier) or not release.__sklearn_is_fitted__():
            raise InputError("release.not_fitted", got=shown(release))
        made = release.model_
        features = made.features if isinstance(made, FourierModel) else None
        linear = made.linear if isinstance(made, FourierModel) else made
        if not isinstance(linear, LinearModel):
            raise InputError("release.not_linear", got=type(made).__name__)
        rows = np.concatenate(list(release._rows(X)))
        labels = check_labels("y", y, len(rows), f"the {len(rows)} rows")
        numbers = number_labels(labels, release.classes_, lambda i: f"row {i + 1}")
        fit = fit_personal(in_features(Rows(rows, numbers), features), linear)
        self.kind_: PersonalKind = fit.kind
        self.strength_ = fit.strength
        self.classes_: LabelArray = release.classes_
        self.n_features_in_: int = release.n_features_in_
        self.model_ = copy(release)
        self.model_.model_ = fit.model if features is None else FourierModel(fit.model, features)
        del self.model_.privacy_  # it speaks of a release
        return self

    def predict(self, X: npt.ArrayLike) -> LabelArray:
        """Return the likeliest class of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
            Rows, finite.

        Returns
        -------
        ndarray of shape (n,)
            Classes out of `classes_`.

        """
        return self._fitted.predict(X)

    def predict_proba(self, X: npt.ArrayLike) -> Array:
        """Return the softmax of the scores.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
            Rows, finite.

        Returns
        -------
        ndarray of shape (n, C)
            A number for each row and class, in the order of `classes_`.

        """
        return self._fitted.predict_proba(X)

    def decision_function(self, X: npt.ArrayLike) -> Array:
        """Return the scores, of which the largest is the class that is predicted.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
            Rows, finite.

        Returns
        -------
        ndarray of shape (n, C), or (n,) for two classes
            One score for each row and class; for two, how far the second is ahead of the first.

        """
        return self._fitted.decision_function(X)

    @property
    def coef_(self) -> Array:
        """Weights of the columns in `decision_function`, for rows that are not clipped: (C, d), or (1, d) for two."""
        return self._fitted.coef_

    @property
    def intercept_(self) -> Array:
        """Constants beside `coef_`: (C,), or (1,) for two classes."""
        return self._fitted.intercept_

    @property
    def _fitted(self) -> FederatedClassifier:
        check_is_fitted(self, "model_")
        return self.model_
