"""The comparisons without privacy: all rows in one place, and every party alone."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.tree import DecisionTreeClassifier

from protocols.arithmetic.rng import Stream
from smc_dp.core.arrays import into_ball
from smc_dp.data.federation import Federation, Rows
from smc_dp.methods import nonprivate
from smc_dp.methods.hamm2016.ensemble import train_ensemble
from smc_dp.methods.model import ReleasedModel, classify
from smc_dp.methods.nonprivate import Batch, Individual, accuracy_alone
from smc_dp.methods.training.classes import code
from smc_dp.methods.training.softmax import certified, one_hot
from smc_dp.privacy.target import Target


def a_simulation(classes: int) -> tuple[Federation, Rows]:
    rng = np.random.default_rng(0)
    X = into_ball(rng.normal(size=(160, 3)), 2.0)
    y = (X @ rng.normal(size=(3, classes)) + rng.normal(size=(160, classes)) / 4).argmax(axis=1)
    parties = tuple(Rows(X[i : i + 10], y[i : i + 10]) for i in range(0, 60, 10))
    return Federation(parties, classes), Rows(X[60:], y[60:])


def model(method: Batch | Individual, federation: Federation) -> ReleasedModel:
    return method.train(federation).release(Target(None), Stream.from_system()).model


@pytest.mark.parametrize("classes", [2, 3])
def test_batch_is_the_minimiser_over_all_rows(classes: int) -> None:
    federation, test = a_simulation(classes)
    pooled = model(Batch(lam=0.05), federation)
    rows = federation.pooled()
    # A solver that all versions of scikit-learn drive alike, and without a warning of SciPy.
    learner = LogisticRegression(C=1 / (0.05 * len(rows)), fit_intercept=False, tol=1e-10, solver="newton-cholesky")
    reference = learner.fit(rows.X, rows.y)
    expected = reference.coef_ if classes > 2 else np.vstack([-reference.coef_, reference.coef_]) / 2
    assert np.abs(pooled.W - (expected - expected.mean(axis=0))).max() < 1e-5
    assert pooled.accuracy(test) == pytest.approx(reference.score(test.X, test.y))


@pytest.mark.parametrize("classes", [2, 3])
def test_indiv_is_the_mean_over_the_parties(classes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    federation, test = a_simulation(classes)
    each = model(Individual(lam=0.05), federation)
    V = train_ensemble(federation, 0.05).classifiers
    scores = [test.X @ v.T @ code(classes).T for v in V]
    assert each.accuracy(test) == pytest.approx(np.mean([np.mean(s.argmax(axis=1) == test.y) for s in scores]))
    by_hand = [
        roc_auc_score(test.y, s[:, 1] - s[:, 0])
        if classes == 2
        else np.mean([roc_auc_score(test.y == k, s[:, k]) for k in range(classes)])
        for s in scores
    ]
    assert each.accuracy_and_auc(test) == pytest.approx((each.accuracy(test), np.mean(by_hand)))
    monkeypatch.setattr(nonprivate, "MOST_SCORES", 10)
    assert np.isnan(each.accuracy_and_auc(test)[1])


def test_what_a_party_would_have_alone_is_the_softmax_model_of_its_rows() -> None:
    """As the certified one predicts, which takes longer; lambda multiplies |V|², as for two classes."""
    federation, test = a_simulation(3)
    rows = federation.pooled()
    one = Rows(rows.X, np.full(len(rows), 1))  # no other class occurs
    for some, lam in ((rows, 0.02), (rows, 1e-5), (one, 1e-3)):
        W = code(3) @ certified(some.X, one_hot(some.y, 3), 2 * lam)
        # Older solvers stop a little earlier, which may decide one row of a hundred.
        assert abs(accuracy_alone(some, lam, test, 3) - np.mean(classify(W, test.X) == test.y)) < 1.5 / len(test)
    assert accuracy_alone(rows, 0.02, test, 3) != accuracy_alone(rows, 1e-5, test, 3)


@pytest.mark.parametrize("lam", [2.0**-29, 1e-5, 1.0])
def test_who_has_one_class_only_has_a_model_alone_all_the_same(lam: float) -> None:
    """Of equal rows u of the second class the minimiser is along u. Twin: of the first class, against it."""
    _, test = a_simulation(2)
    u = np.array([0.3, -0.5, 0.4])
    X, along = np.tile(u, (7, 1)), test.X @ u > 0
    ahead, behind = (accuracy_alone(Rows(X, np.full(7, only)), lam, test) for only in (1, 0))
    assert ahead == np.mean(along == test.y)
    assert behind == np.mean(~along == test.y) != ahead


def test_indiv_of_black_boxes() -> None:
    federation, test = a_simulation(3)
    learner = DecisionTreeClassifier(random_state=0)
    each = model(Individual(learner=learner), federation)
    by_hand = [DecisionTreeClassifier(random_state=0).fit(r.X, r.y).score(test.X, test.y) for r in federation.parties]
    assert each.accuracy(test) == pytest.approx(np.mean(by_hand))
    assert np.isnan(each.accuracy_and_auc(test)[1])


@pytest.mark.parametrize("method", [Batch(), Individual()])
def test_neither_is_private(method: Batch | Individual) -> None:
    trained = method.train(a_simulation(2)[0])
    privacy = trained.release(Target(None), Stream.from_system()).privacy
    assert (privacy.kind, privacy.epsilon, privacy.unit) == ("none", None, "party")
    assert "without noise" in " ".join(privacy.caveats)
