"""The estimator of one site keeps a release as it is, and never passes for one."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score

from smc_dp import CollaborativeClassifier, PersonalisedClassifier, SecureSumClassifier
from tests.support.refusals import refused

CENTRES = [[0.5, 0.0], [-0.5, 0.3], [0.0, -0.5]]


def made(n: int, classes: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    X, y = make_blobs(n, centers=CENTRES[:classes], cluster_std=0.2, random_state=seed)
    return X, np.array(["a", "b", "c"])[y]


@pytest.mark.parametrize("classes", [2, 3])
def test_a_site_whose_rows_differ_has_a_better_model(classes: int) -> None:
    release = SecureSumClassifier(epsilon=1.0, classes=["a", "b", "c"][:classes], insecure_seed=1)
    release.fit(*made(3000, classes, 1))
    before = release.coef_.copy()
    X, y = made(800, classes, 2)
    others = np.roll(release.classes_, 1)[np.searchsorted(release.classes_, y)]  # the site calls classes otherwise
    own = PersonalisedClassifier(release).fit(X[:400], others[:400])
    assert own.score(X[400:], others[400:]) > 0.8 > release.score(X[400:], others[400:])
    assert own.kind_ != "release"
    assert np.array_equal(release.coef_, before)
    assert not hasattr(own, "privacy_")
    assert not hasattr(own.model_, "privacy_")
    assert hasattr(release, "privacy_")
    scores = X @ own.coef_.T + own.intercept_
    inside = np.linalg.norm(X, axis=1) <= 1
    decided = own.decision_function(X)
    assert np.allclose((scores[:, 0] if classes == 2 else scores)[inside], decided[inside])
    assert own.predict_proba(X).shape == (800, classes)
    assert own.n_features_in_ == 2


def test_a_clone_keeps_the_release() -> None:
    release = SecureSumClassifier(epsilon=1.0, classes=["a", "b"], insecure_seed=1).fit(*made(2000, 2, 1))
    X, y = made(200, 2, 2)
    own = PersonalisedClassifier(release)
    assert clone(own).release is release
    assert cross_val_score(own, X, y, cv=3).min() > 0.8
    with pytest.raises(NotFittedError):
        own.predict(X)


def test_what_cannot_be_personalised_is_refused() -> None:
    X, y = made(300, 2, 1)
    with refused("release.not_fitted"):
        PersonalisedClassifier(SecureSumClassifier(classes=["a", "b"])).fit(X, y)
    with refused("release.not_fitted"):
        PersonalisedClassifier(None).fit(X, y)
    constant = CollaborativeClassifier("ofaa", epsilon=1.0, classes=["a", "b"], insecure_seed=1).fit(X, y)
    with refused("release.not_linear"):
        PersonalisedClassifier(constant).fit(X, y)
    release = SecureSumClassifier(epsilon=1.0, classes=["a", "b"], insecure_seed=1).fit(X, y)
    with refused("label.unknown_class"):
        PersonalisedClassifier(release).fit(X, np.where(y == "a", "a", "other"))
    with refused("personal.too_few_rows"):
        PersonalisedClassifier(release).fit(X[:4], y[:4])
