"""`coef_` and `intercept_`, sparse rows, the warning that rows were clipped, and no `random_state`."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sparse
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectFromModel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from smc_dp import (
    AveragingClassifier,
    EnsembleClassifier,
    FeatureMethodClassifier,
    RowsClippedWarning,
)
from smc_dp.core import errors
from smc_dp.estimators import rows, validation
from smc_dp.estimators.base import FederatedClassifier
from smc_dp.estimators.rows import Ball
from smc_dp.privacy.ledger.ledger import Ledger
from tests.support.families import FAMILIES, PAIRS
from tests.support.refusals import refused, told

X, Y = make_blobs(150, centers=[[3, 1, 0], [-3, 1, 2], [0, -4, 1]], cluster_std=0.4, random_state=3)
LABELS = np.array(["a", "b", "c"])[Y]
FAR = 9.0  # longer than every row


def fitted(family: type[FederatedClassifier], method: str, classes: int = 2, **settings: Any) -> FederatedClassifier:
    few = classes > Y
    return family(method, radius=FAR, insecure_seed=4, **settings).fit(X[few], LABELS[few])


def apart(estimator: FederatedClassifier, at: Any, weights: Any, constants: Any) -> float:
    """How far the scores of these rows are from those of weights and constants, for the largest score."""
    scores = estimator.decision_function(at)
    linear = at @ weights.T + constants
    return float(np.abs(scores.reshape(linear.shape) - linear).max() / np.abs(scores).max())


@pytest.mark.parametrize(("family", "method"), PAIRS)
def test_weights_of_columns_are_the_decision_function(family: type[FederatedClassifier], method: str) -> None:
    for classes in (2,) if family.binary and method != "wsum" else (2, 3):
        estimator = fitted(family, method, classes)
        shape = (1, 3) if classes == 2 else (3, 3)
        assert (estimator.coef_.shape, estimator.intercept_.shape) == (shape, shape[:1])
        assert apart(estimator, X, estimator.coef_, estimator.intercept_) < 1e-12
        assert apart(estimator, 10 * X, estimator.coef_, estimator.intercept_) > 1e-2  # the twin: rows that are clipped
        assert apart(estimator, X, estimator.coef_ * FAR, estimator.intercept_) > 1e-2  # the twin: of rows of the ball


def test_there_are_no_weights_before_a_fit_or_of_what_is_not_linear() -> None:
    estimator = AveragingClassifier()
    assert not hasattr(estimator, "coef_")
    with pytest.raises(NotFittedError):
        estimator.intercept_  # noqa: B018
    estimator = fitted(AveragingClassifier, "wsum", bias=0.0)
    assert estimator.intercept_.tolist() == [0.0]
    assert SelectFromModel(estimator, prefit=True, max_features=1).transform(X).shape == (150, 1)


# Sparse rows.


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array])
def test_sparse_rows_give_the_same_model_block_by_block(form: Callable[[Any], Any], monkeypatch: Any) -> None:
    dense = fitted(EnsembleClassifier, "soft", 3, epsilon=math.inf)
    monkeypatch.setattr(rows, "_BLOCK", 3 * 7)  # seven rows
    thin = EnsembleClassifier("soft", radius=FAR, epsilon=math.inf, insecure_seed=4)
    np.testing.assert_array_equal(thin.fit(form(X), LABELS).coef_, dense.coef_)
    np.testing.assert_allclose(thin.decision_function(form(X)), dense.decision_function(X), atol=1e-12)
    np.testing.assert_array_equal(thin.predict(form(X)), dense.predict(X))
    listed = {"n": (form(X[:60]), LABELS[:60]), "s": (X[60:], LABELS[60:])}
    whose = np.array(["n"] * 60 + ["s"] * 90)
    np.testing.assert_array_equal(thin.fit_parties(listed).coef_, dense.fit(X, LABELS, whose).coef_)
    public = thin.fit(form(X), LABELS, auxiliary=form(X[:20])).coef_
    np.testing.assert_array_equal(public, dense.fit(X, LABELS, auxiliary=X[:20]).coef_)
    assert np.abs(public - thin.fit(X, LABELS).coef_).max() > 1e-3  # the twin


def test_sparse_rows_that_would_fill_the_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    wide = sparse.csr_array((200_000, 1000))
    with refused("rows.too_many_dense"):
        AveragingClassifier().fit(wide, np.arange(200_000) % 2)
    spoilt = sparse.csr_array(np.where(np.arange(150)[:, np.newaxis] == 149, math.nan, X))
    monkeypatch.setattr(rows, "_BLOCK", 9)
    with refused("array.not_finite", where="party z: row 1", got="NaN"):
        AveragingClassifier().fit(spoilt, Y > 0, np.array(["a"] * 149 + ["z"]))
    monkeypatch.setattr(validation, "_MOST_NUMBERS", 449)
    with refused("rows.too_many_dense", name="public_X"):
        FeatureMethodClassifier(radius=FAR).fit(X, Y > 0, None, sparse.csr_array(X), Y > 0)
    estimator = AveragingClassifier(radius=FAR).fit(X, Y > 0)  # dense rows are there already
    assert estimator.predict(sparse.csr_array(X)).shape == (150,)


# The warning.


def test_whoever_fits_is_told_when_many_rows_are_clipped() -> None:
    lengths = np.sort(np.linalg.norm(X, axis=1))
    for family in FAMILIES:
        for clipped, heard in ((7, []), (8, ["8 of 150 rows"])):  # of 150, 5 % are 7.5
            radius = float(lengths[-clipped - 1 :][:2].mean())
            said = told(lambda f=family, r=radius: f(radius=r, classes=[0, 1]).fit(X, (Y > 0).astype(int)))
            assert [words in one for one, words in zip(said, heard, strict=True)] == [True] * len(heard)
            assert all("sqrt(3) = 1.73" in one and one.endswith(errors._LOCAL) for one in said)
    assert issubclass(RowsClippedWarning, UserWarning)


def test_rows_that_somebody_normalised_are_not_clipped() -> None:
    unit = make_pipeline(Normalizer(), AveragingClassifier())
    assert told(lambda: unit.fit(X, Y > 0)) == []
    assert Ball(1.0, 0.0).longer(X / np.linalg.norm(X, axis=1, keepdims=True) * (1 + 1e-6)) == 150  # the twin
    assert Ball(1.0, 0.0).longer(np.array([[1e200, 1e200], [0.0, 0.1]])) == 1


def test_how_many_rows_were_clipped_is_in_nothing_that_is_released(tmp_path: Any) -> None:
    """Two data sets, of which one has its rows clipped, have the same statement and the same attributes."""
    Ledger.create(tmp_path / "fits", Fraction(5)).close()
    once = AveragingClassifier(radius=0.1, classes=[0, 1])
    with pytest.warns(RowsClippedWarning) as heard:
        once.fit(X, (Y > 0).astype(int))
    assert [(w.message.code, w.message.fault.fields["clipped"]) for w in heard] == [("rows.clipped_by_radius", 150)]
    other = clone(once).fit(X / 1e3, (Y > 0).astype(int))
    assert once.privacy_ == other.privacy_
    assert vars(once).keys() == vars(other).keys()
    with pytest.warns(RowsClippedWarning):
        once.set_params(ledger=tmp_path / "fits").fit(X, (Y > 0).astype(int))
    assert b"clipped" not in (tmp_path / "fits").read_bytes()
    assert "clipped" not in once.privacy_.plain_words()


def test_a_warning_that_is_an_error_leaves_nothing_fitted() -> None:
    estimator = AveragingClassifier(radius=0.1)
    with pytest.raises(RowsClippedWarning):  # as all warnings are here
        estimator.fit(X, Y > 0)
    assert not hasattr(estimator, "model_")


# By habit.


def test_random_state_points_to_what_there_is() -> None:
    for family in FAMILIES:
        with pytest.raises(TypeError, match=r"insecure_seed=5 .* takes the guarantee away"):
            family(random_state=3)
        with refused("random_state.not_a_parameter"):
            family().set_params(random_state=3)
        with refused("random_state.not_a_parameter"):
            make_pipeline(family()).set_params(**{f"{family.__name__.lower()}__random_state": 3})
        assert "random_state" not in family().get_params()
        assert clone(family(insecure_seed=2)).get_params()["insecure_seed"] == 2
        with pytest.raises(TypeError, match="unexpected keyword argument 'randomstate'"):
            family(randomstate=3)
