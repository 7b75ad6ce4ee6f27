"""Weights of classes and rows in a fit: what they are, what is refused, and that they change nothing of the claim."""

from __future__ import annotations

import inspect
import math
import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs

from protocols.arithmetic.rng import Stream
from smc_dp import (
    AveragingClassifier,
    Federation,
    Rows,
    RowsClippedWarning,
    SecureSumClassifier,
)
from smc_dp.estimators.base import FederatedClassifier
from smc_dp.methods.registry import find_method
from smc_dp.privacy.target import Target
from tests.support.families import FAMILIES
from tests.support.refusals import refused

X, Y = make_blobs(300, centers=[[0.5, 0.1], [-0.3, 0.2]], cluster_std=0.2, random_state=4)
LABELS = np.array(["healthy", "ill"])[Y]
WEIGHTS = np.random.default_rng(2).uniform(0, 5, 300)
WHO = np.arange(300) % 3


def fitted(sample_weight: Any = None, **settings: Any) -> SecureSumClassifier:
    given = {"epsilon": math.inf, "insecure_seed": 1, "radius": 9.0, **settings}
    return SecureSumClassifier(**given).fit(X, LABELS, WHO, sample_weight=sample_weight)


@pytest.mark.filterwarnings("ignore::smc_dp.core.errors.RowsClippedWarning")
@pytest.mark.parametrize("method", SecureSumClassifier.methods)
def test_weights_are_those_of_the_method_in_parts_of_the_largest(method: str) -> None:
    found = fitted(WEIGHTS, method=method, most_weight=4.0, class_weight={"ill": 5, "healthy": 2.5})
    parts = np.where(Y == 1, 1.0, 0.5) * np.minimum(WEIGHTS, 4.0) / 4.0
    rows = found.ball_.rows(X)
    every = Federation(tuple(Rows(rows[i], Y[i], parts[i]) for i in (WHO == 0, WHO == 1, WHO == 2)), 2)
    trained = find_method(method)().train(every)
    expected = trained.release(Target(None, noise="ddg"), Stream.from_system()).model
    np.testing.assert_allclose(found.model_.scores(rows), expected.scores(rows), atol=1e-3)
    # Mutants: other parts.
    assert np.abs(found.coef_ - fitted(WEIGHTS, method=method, most_weight=4.0).coef_).max() > 1e-2
    assert np.abs(found.coef_ - fitted(WEIGHTS / 4, method=method, most_weight=4.0).coef_).max() > 1e-2


def test_weights_of_one_size_and_classes_without_a_weight() -> None:
    whole = fitted()
    np.testing.assert_allclose(fitted(np.full(300, 3), most_weight=3.0).coef_, whole.coef_, rtol=1e-6)
    np.testing.assert_allclose(fitted(class_weight={"ill": 1}).coef_, whole.coef_, rtol=1e-6)
    one = fitted(class_weight={"ill": 3})
    np.testing.assert_array_equal(one.coef_, fitted(class_weight={"healthy": 1, "ill": 3.0}).coef_)
    assert (one.predict(X) == "ill").sum() > (whole.predict(X) == "ill").sum()
    np.testing.assert_array_equal(clone(one).fit(X, LABELS, WHO).coef_, one.coef_)


def test_the_claim_is_that_without_weights() -> None:
    noisy = {"epsilon": 1.0, "insecure_seed": None, "classes": ["healthy", "ill"]}
    found = fitted(WEIGHTS, most_weight=5.0, class_weight={"ill": 4}, **noisy)
    stated, without = found.privacy_, fitted(**noisy).privacy_
    assert (stated.kind, stated.epsilon, stated.delta) == (without.kind, without.epsilon, without.delta)
    assert (stated.adversary, stated.caveats) == (without.adversary, without.caveats)


def test_parties_bring_their_own_weights() -> None:
    parties = {j: (X[j == WHO], LABELS[j == WHO], WEIGHTS[j == WHO]) for j in range(3)}
    given = {"epsilon": math.inf, "insecure_seed": 1, "radius": 9.0, "most_weight": 5.0}
    np.testing.assert_array_equal(
        SecureSumClassifier(**given).fit_parties(parties).coef_, fitted(WEIGHTS, most_weight=5.0).coef_
    )
    with refused("parties.some_with_weights"):
        SecureSumClassifier().fit_parties({**parties, 1: parties[1][:2]})
    with refused("array.wrong_shape", name="party 1", wanted="a weight for each of its 100 rows"):
        SecureSumClassifier().fit_parties({**parties, 1: (*parties[1][:2], WEIGHTS)})
    with refused("party.no_pair"):
        AveragingClassifier().fit_parties(parties)


def test_larger_weights_are_clipped_and_the_owner_is_told() -> None:
    clipped = SecureSumClassifier(epsilon=math.inf, insecure_seed=1, radius=9.0, most_weight=4.0)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        line = inspect.currentframe().f_lineno + 1  # type: ignore[union-attr]
        clipped.fit(X, LABELS, WHO, sample_weight=WEIGHTS)
    assert [(warning.filename, warning.lineno) for warning in told] == [(__file__, line)]
    assert [warning.category for warning in told] == [RowsClippedWarning]
    np.testing.assert_array_equal(clipped.coef_, fitted(np.minimum(WEIGHTS, 4.0), most_weight=4.0).coef_)


@pytest.mark.parametrize(
    ("settings", "sample_weight", "code"),
    [
        ({"class_weight": "balanced"}, None, "class_weight.from_private_counts"),
        ({"class_weight": [1, 2]}, None, "class_weight.no_numbers"),
        ({"class_weight": {}}, None, "class_weight.no_numbers"),
        ({"class_weight": {"ill": "2"}}, None, "setting.no_number"),
        ({"class_weight": {"ill": 0}}, None, "class_weight.not_positive"),
        ({"class_weight": {"ill": math.nan}}, None, "class_weight.not_positive"),
        ({"class_weight": {"ill": 101}}, None, "class_weight.too_different"),
        ({"class_weight": {"dead": 2}}, None, "class_weight.unknown_class"),
        ({"most_weight": 0}, None, "parameter.wrong"),
        ({"most_weight": math.inf}, None, "parameter.wrong"),
        ({"most_weight": "4"}, None, "setting.no_number"),
        ({}, WEIGHTS[1:], "array.wrong_shape"),
        ({}, np.zeros(300), "sample_weight.all_zero"),
        ({}, [*WEIGHTS[1:], -1e-9], "sample_weight.no_weight"),
        ({}, [*WEIGHTS[1:], math.nan], "sample_weight.no_weight"),
        ({}, [*WEIGHTS[1:], math.inf], "sample_weight.no_weight"),
        ({}, ["a"] * 300, "sample_weight.no_numbers"),
    ],
)
def test_what_is_no_weight_is_refused(settings: dict[str, Any], sample_weight: Any, code: str) -> None:
    with refused(code):
        fitted(sample_weight, **settings)


@pytest.mark.parametrize("family", FAMILIES[:4])
def test_other_families_refuse_weights_before_a_fit(family: type[FederatedClassifier]) -> None:
    with pytest.raises(TypeError, match="SecureSumClassifier"):
        family(class_weight={"ill": 2})
    with refused("class_weight.not_of_family"):
        family().set_params(class_weight={"ill": 2})
    with pytest.raises(TypeError, match="sample_weight"):
        family().fit(X, LABELS, sample_weight=WEIGHTS)
