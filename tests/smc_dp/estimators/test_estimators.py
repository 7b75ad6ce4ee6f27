"""The scikit-learn estimators: scikit-learn's own checks, that they are the methods, and what they keep and refuse."""

from __future__ import annotations

import math
import pickle  # noqa: TID251  # estimators must survive it, and nothing here reads what others wrote
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_estimator

from protocols.arithmetic.rng import Stream
from smc_dp import (
    METHODS,
    AveragingClassifier,
    CollaborativeClassifier,
    EnsembleClassifier,
    FeatureMethodClassifier,
    Federation,
    InputError,
    PrivacyStatement,
    Rows,
    SecureSumClassifier,
    Target,
    estimators,
)
from smc_dp.core.arrays import Array, IntArray, first_outside
from smc_dp.data.federation import Public
from smc_dp.estimators import expected_failed_checks
from smc_dp.estimators.base import CLASSES_FROM_LABELS, REFUSAL, SIMULATED_PARTIES, SINGLE_RELEASE, FederatedClassifier
from smc_dp.estimators.ensemble import GENERATED_AUXILIARY_CAVEAT, points_of_the_ball
from smc_dp.estimators.rows import Ball, RowAssignment
from smc_dp.estimators.validation import check_exact_number
from smc_dp.methods import feature_method
from smc_dp.methods.functionality import ideal
from smc_dp.methods.hamm2016.votes import ONE_ROW_CAVEATS, PUBLIC_ROWS_CAVEAT
from smc_dp.methods.sums.simulated_sum import ONE_PLACE_CAVEAT
from smc_dp.methods.sums.threat_model import AnnouncedRows, ThreatModel
from smc_dp.methods.training.fourier import FourierFeatures
from smc_dp.privacy.ledger.ledger import Ledger
from smc_dp.privacy.pathak2010 import LARGEST_N
from tests.support.families import FAMILIES, PAIRS
from tests.support.refusals import refused

OF_EACH_FAMILY = [
    *(pytest.param(family, family.methods[0], id=family.methods[0], marks=pytest.mark.slow) for family in FAMILIES[:4]),
    pytest.param(SecureSumClassifier, "newton", id="newton"),
]
IN_THE_CLEAR = [pair for pair in PAIRS if pair.values[0] is not SecureSumClassifier]
SECURE = [
    *((AveragingClassifier, "wsum"), (EnsembleClassifier, "soft_ss"), (EnsembleClassifier, "avg_clip")),
    *((CollaborativeClassifier, "ofaa"), (CollaborativeClassifier, "ofpa")),
    *((SecureSumClassifier, "newton"), (SecureSumClassifier, "gd")),
]
# What scikit-learn's checks train on, and some of what is here, is longer than the default radius.
pytestmark = pytest.mark.filterwarnings("ignore::smc_dp.core.errors.RowsClippedWarning")
BLOBS, LABELS = make_blobs(240, centers=[[0.6, 0.1, 0], [-0.4, 0.3, 0.2]], cluster_std=0.2, random_state=1)
WHO = np.array(["north", "south", "east"])[np.arange(240) % 3]


# scikit-learn's own checks.


def failed(estimator: FederatedClassifier) -> set[str]:
    """The names of the checks that this estimator fails."""
    results = check_estimator(estimator, on_fail=None, on_skip=None)
    assert len(results) > 45
    return {result["check_name"] for result in results if result["status"] == "failed"}


@pytest.mark.parametrize(("family", "method"), OF_EACH_FAMILY)
def test_all_checks_pass_without_noise(family: type[FederatedClassifier], method: str) -> None:
    estimator = family(method, epsilon=math.inf)
    named = expected_failed_checks(estimator)
    assert failed(estimator) <= set(named)
    assert bool(named) == (family is SecureSumClassifier)  # checks of weights


@pytest.mark.slow
def test_all_checks_pass_where_nobody_is_trusted() -> None:
    assert failed(secure(AveragingClassifier, "wsum", epsilon=math.inf)) == set()


@pytest.mark.slow
def test_each_named_check_does_fail_with_noise() -> None:
    # Two noisy classifiers of two classes agree on a few rows about half of the time: 60 times in a row they do not.
    estimator = SecureSumClassifier(epsilon=0.1)
    named, seen = expected_failed_checks(estimator), set[str]()
    assert "check_fit_idempotent" in named
    assert all(reason.strip() for reason in named.values())
    for _ in range(60):
        if (seen := seen | failed(estimator)) == set(named):
            return
    assert seen == set(named)


@pytest.mark.slow
def test_it_is_the_fresh_noise_that_fails_them() -> None:
    # The twin: the same noise in every fit, and every check passes.
    estimator = AveragingClassifier(epsilon=0.1, insecure_seed=3)
    assert expected_failed_checks(estimator) == {}
    assert failed(estimator) == set()


# They are the methods.


@pytest.mark.parametrize(("family", "method"), IN_THE_CLEAR)
def test_the_estimator_is_the_method_of_that_name(family: type[FederatedClassifier], method: str) -> None:
    estimator = family(method, insecure_seed=5, radius=2.0)
    if method == "feat_agg":
        estimator.set_params(aggregator="east")
    estimator.fit(BLOBS, LABELS, parties=WHO)
    X = Ball(2.0, estimator.bias).rows(BLOBS)
    rows = {name: Rows(X[who], LABELS[who]) for name in ("east", "north", "south") if (who := name == WHO).any()}
    held = rows.pop("east") if method == "feat_agg" else None
    settings: dict[str, Any] = {"private_labelled": True} if method == "feat_agg" else {}
    if family is AveragingClassifier:
        settings = {"lam": 1e-2}
    auxiliary = Ball(2.0, estimator.bias).rows(2 * points_of_the_ball(3))
    data = Federation(tuple(rows.values()), 2, auxiliary, held, tuple(rows))
    target = Target(Fraction(1), noise=METHODS[method].noises[0])

    def scores(seed: int) -> Any:
        """The method's own, on the same rows, parties and auxiliary points."""
        release = METHODS[method](**settings).train(data).release(target, Stream.insecure_from_seed(seed))
        return release.model.scores(X)

    np.testing.assert_allclose(estimator.model_.scores(X), scores(5), rtol=1e-9)
    assert not np.allclose(estimator.model_.scores(X), scores(6), rtol=1e-3)


def secure(family: type[FederatedClassifier], method: str, **settings: Any) -> FederatedClassifier:
    """With nobody trusted."""
    return family(method, **({} if family is SecureSumClassifier else {"trust": "secure"}) | settings)


@pytest.mark.parametrize(("family", "method"), SECURE, ids=[method for _, method in SECURE])
def test_where_nobody_is_trusted_it_is_the_sum_of_the_parts(family: type[FederatedClassifier], method: str) -> None:
    """Of the mechanism specification, made one by one here: nothing stands between these and the model."""
    estimator = secure(family, method, insecure_seed=5, radius=2.0, dropouts=1, colluders=0).fit(BLOBS, LABELS, WHO)
    ball = Ball(2.0, estimator.bias)
    X, auxiliary = ball.rows(BLOBS), ball.rows(2 * points_of_the_ball(3))
    parties = tuple(Rows(X[name == WHO], LABELS[name == WHO]) for name in ("east", "north", "south"))
    made_of: Any = METHODS[method](**({"lam": 1e-2} if method == "wsum" else {}))
    target = Target(Fraction(1), noise="knorm" if method == "ofpa" else "ddg", delta=Fraction(1, 10**5))
    announced = AnnouncedRows(LARGEST_N, made_of.sizes)

    def scores(seed: int, sizes: Any = (80, 80, 80)) -> Any:
        public = Public(3, X.shape[1], 2, sizes, auxiliary)
        spec, rng = (
            made_of.shared(public, target, ThreatModel(3, 0, 1), announced),
            Stream.insecure_from_seed(seed).spawn(),
        )
        parts = [spec.part(rows, rng.fork(f"party {j}")) for j, rows in enumerate(parties)]
        return spec.model(ideal(spec.functionality, parts)).scores(X)

    np.testing.assert_array_equal(estimator.model_.scores(X), scores(5))
    assert not np.allclose(estimator.model_.scores(X), scores(6), rtol=1e-3)
    assert estimator.privacy_.kind == "none"  # the noise of a seed


@pytest.mark.parametrize(("family", "method"), SECURE, ids=[method for _, method in SECURE])
def test_where_nobody_is_trusted_the_statement_says_against_whom(
    family: type[FederatedClassifier], method: str
) -> None:
    stated = secure(family, method, epsilon=0.5, colluders=2, dropouts=0).fit(BLOBS, LABELS).privacy_
    assert stated.epsilon == pytest.approx(0.5)
    assert stated.kind == ("pure" if method == "ofpa" else "zcdp")
    assert stated.delta == (0.0 if method == "ofpa" else pytest.approx(1e-5))
    assert "any 2 of 5 parties" in stated.adversary or "other" in stated.adversary
    assert "trusted aggregator" not in stated.plain_words()
    assert {ONE_PLACE_CAVEAT, SIMULATED_PARTIES, SINGLE_RELEASE, REFUSAL} <= set(stated.caveats)
    if family is not SecureSumClassifier:  # the twin: the default trusts whoever computes it
        clear = family(method, epsilon=0.5).fit(BLOBS, LABELS).privacy_
        assert ONE_PLACE_CAVEAT not in clear.caveats
        assert stated.adversary != clear.adversary


def test_parties_are_labels_or_a_list_or_dealt() -> None:
    names = sorted(set(WHO))
    by_label = AveragingClassifier(epsilon=math.inf).fit(BLOBS, LABELS, parties=WHO)
    listed = [(BLOBS[name == WHO], LABELS[name == WHO]) for name in names]
    by_list = AveragingClassifier(epsilon=math.inf).fit_parties(listed)
    np.testing.assert_array_equal(by_label.model_.W, by_list.model_.W)
    by_name = AveragingClassifier(epsilon=math.inf).fit_parties(dict(zip(names, listed, strict=True)))
    np.testing.assert_array_equal(by_label.model_.W, by_name.model_.W)
    shuffled = AveragingClassifier(epsilon=math.inf).fit(BLOBS, LABELS, parties=WHO[np.argsort(LABELS, kind="stable")])
    dealt = AveragingClassifier(epsilon=math.inf, n_parties=3).fit(BLOBS, LABELS)
    for other in (shuffled, dealt):
        assert np.abs(other.model_.W - by_label.model_.W).max() > 1e-6


def parties_touched(deal: Callable[[Any], list[Any]]) -> int:
    """How many parties' rows change when one record is replaced by another with the other label."""
    y = np.arange(200) % 2
    X = np.column_stack([np.arange(200.0), y])
    before = deal((X, y))
    X, y = X.copy(), y.copy()
    X[7], y[7] = (-1.0, 1 - y[7]), 1 - y[7]
    return sum(not np.array_equal(a, b) for a, b in zip(before, deal((X, y)), strict=True))


def test_dealing_does_not_look_at_the_rows() -> None:
    assert parties_touched(lambda rows: [rows[0][i] for i in RowAssignment.even(200, 8).rows]) == 1
    stratified = parties_touched(lambda rows: np.array_split(rows[0][np.argsort(rows[1], kind="stable")], 8))
    assert stratified > 1  # the twin
    parts = RowAssignment.even(103, 5).rows
    assert sorted(np.concatenate(parts).tolist()) == list(range(103))
    assert {len(part) for part in parts} == {20, 21}


# What is guaranteed.


@given(st.floats(min_value=1e-9, max_value=1e6))
def test_an_epsilon_is_never_more_than_what_was_asked(asked: float) -> None:
    taken = check_exact_number("epsilon", asked)
    assert taken is not None
    assert taken <= Fraction(asked)
    assert taken <= Fraction(repr(asked))
    assert taken >= Fraction(asked) * (1 - Fraction(1, 2**52))


def test_of_two_readings_of_a_float_the_smaller_is_taken() -> None:
    assert check_exact_number("epsilon", 0.3) == Fraction(0.3) < Fraction(repr(0.3))
    assert check_exact_number("epsilon", 0.1) == Fraction(1, 10)
    assert check_exact_number("epsilon", np.float64(0.1)) == Fraction(1, 10)
    assert check_exact_number("epsilon", np.int64(3)) == 3
    assert check_exact_number("epsilon", Fraction(1, 3)) == Fraction(1, 3)
    assert check_exact_number("epsilon", math.inf) is None


def honours(privacy: PrivacyStatement, asked: float) -> bool:
    """Whether the statement promises what was asked: pure, no more, and no less than rounding explains."""
    return privacy.kind == "pure" and privacy.epsilon is not None and 0.999 * asked < privacy.epsilon <= asked


@pytest.mark.parametrize(("family", "method"), IN_THE_CLEAR)
def test_the_statement_is_what_was_asked(family: type[FederatedClassifier], method: str) -> None:
    noise = "knorm" if "knorm" in METHODS[method].noises else None
    estimator = family(method, epsilon=0.3, noise=noise, n_parties=4).fit(BLOBS, LABELS)
    assert honours(estimator.privacy_, 0.3)
    assert estimator.privacy_.unit == ("party" if family is EnsembleClassifier else "record")


def test_what_the_interface_adds_is_in_the_caveats() -> None:
    plain = AveragingClassifier().fit(BLOBS, LABELS).privacy_.caveats
    assert {CLASSES_FROM_LABELS, SIMULATED_PARTIES, SINGLE_RELEASE, REFUSAL} <= set(plain)
    public = AveragingClassifier(classes=[0, 1]).fit(BLOBS, LABELS, parties=WHO).privacy_.caveats
    assert set(public) & {CLASSES_FROM_LABELS, SIMULATED_PARTIES, SINGLE_RELEASE, REFUSAL} == {SINGLE_RELEASE, REFUSAL}


def test_noise_is_fresh_and_a_seed_takes_the_guarantee() -> None:
    first, second = (AveragingClassifier(insecure_seed=9).fit(BLOBS, LABELS) for _ in range(2))
    np.testing.assert_array_equal(first.model_.W, second.model_.W)
    assert first.privacy_.kind == "none"
    fresh = [AveragingClassifier().fit(BLOBS, LABELS).model_.W for _ in range(2)]
    assert not np.allclose(*fresh)


def test_public_classes_need_not_occur() -> None:
    estimator = EnsembleClassifier("avg", epsilon=math.inf, classes=["c", "a", "b"])
    estimator.fit(BLOBS, np.array(["a", "b"])[LABELS])
    assert estimator.classes_.tolist() == ["a", "b", "c"]
    assert estimator.predict_proba(BLOBS).shape == (240, 3)
    assert estimator.score(BLOBS, np.array(["a", "b"])[LABELS]) > 0.95


# What is kept.


def holds_rows(estimator: FederatedClassifier) -> bool:
    """Whether the bytes of a row, as it came or as it was trained on, or of all labels, are in the pickle."""
    text = pickle.dumps(estimator)
    rows = Ball(estimator.radius, estimator.bias).rows(BLOBS)
    return any(secret.tobytes() in text for secret in (*BLOBS, *rows, LABELS))


@pytest.mark.parametrize(("family", "method"), PAIRS)
def test_only_the_release_is_kept_and_survives_a_pickle(family: type[FederatedClassifier], method: str) -> None:
    estimator = family(method).fit(BLOBS, LABELS)
    assert set(vars(estimator)) - set(estimator.get_params()) == {
        *("n_features_in_", "classes_", "ball_", "bounds_", "model_", "privacy_")
    }
    assert not holds_rows(estimator)
    back = pickle.loads(pickle.dumps(estimator))
    np.testing.assert_array_equal(back.decision_function(BLOBS), estimator.decision_function(BLOBS))
    assert back.privacy_ == estimator.privacy_
    estimator.remembered_ = BLOBS  # the twin
    assert holds_rows(estimator)


def test_a_clone_is_not_fitted_and_a_failed_fit_leaves_none() -> None:
    estimator = AveragingClassifier(lam=0.5, epsilon=math.inf).fit(BLOBS, LABELS)
    copy = clone(estimator)
    assert copy.get_params() == estimator.get_params()
    for broken in (copy, estimator):
        with pytest.raises(InputError):
            broken.fit(BLOBS, np.zeros(240))
        with pytest.raises(sklearn.exceptions.NotFittedError):
            broken.predict(BLOBS)
        assert not hasattr(broken, "privacy_")


def test_scores_probabilities_and_predictions_agree() -> None:
    X, y = make_blobs(300, centers=4, random_state=2)
    for estimator, labels in ((EnsembleClassifier("avg", insecure_seed=1), y), (AveragingClassifier(), y > 1)):
        estimator.fit(X, labels)
        decision, chances = estimator.decision_function(X), estimator.predict_proba(X)
        best = (decision > 0).astype(int) if decision.ndim == 1 else decision.argmax(axis=1)
        np.testing.assert_array_equal(estimator.classes_[best], estimator.predict(X))
        np.testing.assert_allclose(chances.sum(axis=1), 1)
        if decision.ndim == 1:
            np.testing.assert_allclose(chances[:, 1], 1 / (1 + np.exp(-decision)), atol=1e-12)


# Pipelines and model selection.


def closeness(estimator: Any, X: Any, y: Any) -> float:
    """A scorer that sees the smallest change of a model."""
    return -float(np.abs(estimator.predict_proba(X)[:, 1] - y).mean())


def test_grid_search_over_a_pipeline_routes_the_parties() -> None:
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(FunctionTransformer(np.tanh), AveragingClassifier(epsilon=math.inf))
        search = GridSearchCV(pipeline, {"averagingclassifier__lam": [1e-3, 10.0]}, cv=3, scoring=closeness)
        search.fit(BLOBS, LABELS, parties=WHO)
    assert search.best_params_ == {"averagingclassifier__lam": 1e-3}
    best = search.best_estimator_[-1].model_.W
    direct = AveragingClassifier(epsilon=math.inf, lam=1e-3)
    np.testing.assert_allclose(best, direct.fit(np.tanh(BLOBS), LABELS, WHO).model_.W, rtol=1e-12)
    assert not np.allclose(best, direct.fit(np.tanh(BLOBS), LABELS).model_.W, rtol=1e-6)  # the twin: dealt


@pytest.mark.parametrize(
    ("estimator", "public", "told"),
    [
        (EnsembleClassifier("soft", epsilon=math.inf), {"auxiliary": BLOBS[:50]}, ["auxiliary"]),
        (FeatureMethodClassifier(epsilon=math.inf), {"public_X": BLOBS[:50], "public_y": LABELS[:50]}, ["public_X"]),
    ],
)
def test_a_pipeline_transforms_public_rows_only_where_it_is_told_to(
    estimator: FederatedClassifier, public: dict[str, Any], told: list[str]
) -> None:
    direct, found = clone(estimator), {}
    with sklearn.config_context(enable_metadata_routing=True):
        for names in (told, None):
            pipeline = make_pipeline(FunctionTransformer(np.tanh), clone(estimator), transform_input=names)
            found[names is None] = pipeline.fit(BLOBS, LABELS, parties=WHO, **public)[-1].model_.W
    for silent, rows in ((False, np.tanh(BLOBS[:50])), (True, BLOBS[:50])):
        wanted = direct.fit(np.tanh(BLOBS), LABELS, WHO, **{**public, told[0]: rows}).model_.W
        np.testing.assert_allclose(found[silent], wanted, rtol=1e-9)
    assert not np.allclose(found[True], found[False], rtol=1e-6)
    for documented in (estimators, type(estimator).fit):
        assert "transform_input=[" in str(documented.__doc__)  # nothing warns, so it must be said


# Families.


def test_learners_may_be_of_several_kinds() -> None:
    mixed = [DecisionTreeClassifier(max_depth=2, random_state=0), GaussianNB(), lambda X, y: lambda Z: np.zeros(len(Z))]
    estimator = EnsembleClassifier("soft", epsilon=math.inf, learner=mixed, n_parties=3)
    estimator.fit(BLOBS, LABELS, auxiliary=BLOBS)
    assert estimator.score(BLOBS, LABELS) > 0.9  # two of three can tell
    constant = EnsembleClassifier("soft", epsilon=math.inf, learner=mixed[2]).fit(BLOBS, LABELS)
    assert set(constant.predict(BLOBS)) == {0}
    tree = EnsembleClassifier(learner=mixed[0])
    assert tree.set_params(learner__max_depth=5).get_params()["learner__max_depth"] == 5
    assert mixed[0].max_depth == 5
    assert clone(tree).learner is not tree.learner


def test_points_of_the_ball_are_uniform_and_fixed() -> None:
    points = points_of_the_ball(3)
    assert first_outside(points) is None
    np.testing.assert_array_equal(points, points_of_the_ball(3))
    inner = np.mean(np.linalg.norm(points, axis=1) < 0.5)
    assert abs(inner - 1 / 8) < 0.05
    on_the_sphere = points / np.linalg.norm(points, axis=1, keepdims=True)
    assert np.mean(np.linalg.norm(on_the_sphere, axis=1) < 0.5) == 0  # the twin


def test_the_feature_method_learns_from_public_rows_or_from_an_aggregator() -> None:
    weights = {}
    for name, public in (("public", BLOBS[:50]), ("other", BLOBS[100:150])):
        fitted = FeatureMethodClassifier(epsilon=math.inf).fit(BLOBS, LABELS, WHO, public, LABELS[:50])
        weights[name] = fitted.model_.W
    for name in ("east", "north"):
        fitted = FeatureMethodClassifier(epsilon=math.inf, aggregator=name).fit(BLOBS, LABELS, WHO)
        weights[name] = fitted.model_.W
    directions = [w[1] / np.linalg.norm(w[1]) for w in weights.values()]
    assert all(np.abs(a - b).max() > 1e-6 for i, a in enumerate(directions) for b in directions[:i])
    by_number = FeatureMethodClassifier(epsilon=math.inf, n_parties=3, aggregator=3).fit(BLOBS, LABELS)
    last = FeatureMethodClassifier(epsilon=math.inf, n_parties=3).fit(BLOBS, LABELS)
    np.testing.assert_array_equal(by_number.model_.W, last.model_.W)


def test_the_aggregator_s_rows_are_protected_and_public_ones_are_not() -> None:
    public = FeatureMethodClassifier().fit(BLOBS, LABELS, WHO, BLOBS[:50], LABELS[:50]).privacy_
    private = FeatureMethodClassifier(aggregator="east").fit(BLOBS, LABELS, WHO).privacy_
    assert feature_method._PUBLIC in public.caveats
    assert feature_method._PRIVATE in private.caveats


# What is refused.


def at(**changes: Any) -> Callable[[], object]:
    """A fit with these parameters."""
    return lambda: AveragingClassifier(**changes).fit(BLOBS, LABELS)


def given_rows(X: Any = BLOBS, y: Any = LABELS, parties: Any = WHO, **settings: Any) -> Callable[[], object]:
    """A fit of these rows."""
    return lambda: AveragingClassifier(**settings).fit(X, y, parties)


def ensemble(auxiliary: Any = None, **settings: Any) -> Callable[[], object]:
    return lambda: EnsembleClassifier(**settings).fit(BLOBS, LABELS, WHO, auxiliary)


def feature(*public: Any, parties: Any = WHO, **settings: Any) -> Callable[[], object]:
    return lambda: FeatureMethodClassifier(**settings).fit(BLOBS, LABELS, parties, *public)


def sums(**settings: Any) -> Callable[[], object]:
    return lambda: SecureSumClassifier(**settings).fit(BLOBS, LABELS, WHO)


def printed_noise() -> object:
    return CollaborativeClassifier(calibration="paper", noise="knorm").fit(BLOBS, LABELS)


def all_parties(parties: Any) -> Callable[[], object]:
    """A fit of whatever this is."""
    return lambda: AveragingClassifier().fit_parties(parties)


def raising(X: Any, y: Any) -> Any:
    raise RuntimeError("no convergence")


def missing(label: object) -> Any:
    who = WHO.astype(object)
    who[4] = label
    return who


WRONG = {
    "epsilon 0": (at(epsilon=0.0), "parameter.wrong", {"name": "epsilon", "got": "0.0"}),
    "epsilon huge": (at(epsilon=10**400), "setting.too_large", {"name": "epsilon"}),
    "epsilon out of range": (at(epsilon=1e-12), "epsilon.out_of_range", {}),
    "delta": (at(delta=1.0), "delta.out_of_range", {"got": "1"}),
    "delta inf": (at(delta=math.inf), "delta.infinite", {}),
    "calibration": (at(calibration="paper"), "calibration.not_of_method", {"known": "proven"}),
    "noise": (at(noise="white"), "setting.unknown_value", {"name": "noise"}),
    "lam": (at(lam=0.0), "parameter.out_of_range", {"name": "lam"}),
    "radius": (at(radius=0), "parameter.wrong", {"name": "radius"}),
    "clip": (ensemble(method="avg_clip", clip=0), "parameter.out_of_range", {}),
    "printed noise": (printed_noise, "noise.not_of_calibration", {"got": "knorm", "other": "laplace"}),
    "trust of a mean": (at(method="prr_mean", trust="secure"), "trust.no_secure_sum", {}),
    "secure noise": (at(trust="secure", noise="knorm"), "noise.not_of_protocol", {"other": "ddg"}),
    "colluders": (at(trust="secure", colluders=5), "colluders.too_many", {"most": 4, "parties": 5}),
    "a sum of one": (at(trust="secure", n_parties=1, colluders=0), "parties.too_few_for_sum", {"least": 2}),
    "adjacency": (sums(adjacency="party"), "setting.unknown_value", {}),
    "rows": (sums(method="gd", rows=0), "parameter.no_count", {}),
    "features": (sums(features="relu:64"), "features.unknown", {}),
    "rows of newton": (sums(rows=5), "setting.not_of_method", {"name": "rows", "method": "newton"}),
    "rows that are protected": (sums(method="gd", adjacency="addremove"), "rows.not_announced", {}),
    "learners": (ensemble(trust="secure", learner=[GaussianNB()] * 4), "learner.wrong_number", {"most": 3, "got": 4}),
    "bias": (at(bias=-1), "parameter.wrong", {"name": "bias"}),
    "seed": (at(insecure_seed=0.5), "setting.no_whole_number", {"name": "insecure_seed"}),
    "n_parties 0": (at(n_parties=0), "parameter.wrong", {"name": "n_parties"}),
    "classes twice": (at(classes=[0, 1, 1]), "classes.not_listed_once", {}),
    "one class listed": (at(classes=[0]), "classes.fewer_than_two", {}),
    "three classes": (at(method="prr_mean", classes=[0, 1, 2]), "classes.only_two_supported", {}),
    "unknown class": (given_rows(classes=[0, 7]), "label.unknown_class", {"where": "party south: row 1", "got": "1"}),
    "classes ragged": (at(classes=[[0], [1, 2]]), "array.ragged", {"name": "classes"}),
    "too few labels": (given_rows(parties=WHO[:-1]), "array.wrong_shape", {"name": "parties"}),
    "label None": (given_rows(parties=missing(None)), "parties.no_label", {"row": 5}),
    "label that raises": (given_rows(parties=missing(pd.NA)), "parties.no_label", {"row": 5}),
    "no parties": (all_parties([]), "parties.none", {}),
    "a number for parties": (all_parties(5), "parties.no_pairs", {}),
    "None for a party": (all_parties([(BLOBS, LABELS), None]), "party.no_pair", {"name": "party 2"}),
    "names mixed": (all_parties({"1": (BLOBS, LABELS), 1: (BLOBS, LABELS)}), "labels.mixed_kinds", {"name": "parties"}),
    "width": (all_parties([(BLOBS, LABELS), (BLOBS[:, :2], LABELS)]), "array.wrong_shape", {"name": "party 2"}),
    "no rows": (all_parties([(BLOBS, LABELS), (BLOBS[:0], LABELS[:0])]), "party.no_rows", {"name": "party 2"}),
    "auxiliary width": (ensemble(BLOBS[:, :2]), "array.wrong_shape", {"name": "auxiliary"}),
    "no aggregator": (feature(), "aggregator.missing", {}),
    "unknown aggregator": (feature(aggregator="west"), "aggregator.unknown_party", {}),
    "aggregator of a mean": (
        feature(method="avg_agg", aggregator="east"),
        "setting.not_of_method",
        {"name": "aggregator"},
    ),
    "aggregator and public rows": (feature(BLOBS, LABELS, aggregator="east"), "aggregator.beside_public_rows", {}),
    "public rows without labels": (feature(BLOBS), "public_rows.only_half", {"name": "public_y"}),
    "public shape": (feature(BLOBS[0], LABELS), "rows.unreadable", {"name": "public_X"}),
    "lone aggregator": (feature(parties=None, n_parties=1), "parties.no_site_beside_aggregator", {}),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_input_is_named(name: str) -> None:
    attempt, code, fields = WRONG[name]
    with refused(code, **fields) as caught:
        attempt()
    assert "\n" not in str(caught.value)


# Fits that are charged.


@pytest.fixture
def book(tmp_path: Path) -> Path:
    path = tmp_path / "fits.ledger"
    Ledger.create(path, Fraction(5)).close()
    return path


def entries(path: Path) -> list[str]:
    with Ledger.open(path) as ledger:
        return [entry.state for entry in ledger.history().entries[1:]]


def test_one_number_covers_all_fits_of_a_grid_search(book: Path) -> None:
    search = GridSearchCV(
        AveragingClassifier(epsilon=0.25, classes=[0, 1], ledger=book), {"lam": [1e-2, 1e-1]}, cv=KFold(3)
    ).fit(BLOBS, LABELS)
    stated = search.best_estimator_.privacy_
    assert (stated.kind, stated.epsilon, stated.delta) == ("pure", 7 * 0.25, 0.0)  # six fits and the last
    assert "all 7 releases" in stated.caveats[-1]
    assert "This fit alone has epsilon 0.25" in stated.caveats[-1]
    assert SINGLE_RELEASE not in stated.caveats
    assert entries(book) == ["reserved", "released"] * 7
    alone = AveragingClassifier(epsilon=0.25, classes=[0, 1]).fit(BLOBS, LABELS).privacy_  # twin: without a ledger
    assert alone.epsilon == 0.25
    assert SINGLE_RELEASE in alone.caveats


def test_a_fit_that_would_pass_the_limit_is_refused_before_anybody_trains(
    book: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    estimator = AveragingClassifier(epsilon=3.0, ledger=str(book)).fit(BLOBS, LABELS)
    monkeypatch.setattr(METHODS["wsum"], "train", missing("wsum"))
    with refused("budget.passed", spent="3", left="2", epsilon="3", with_delta=""):
        estimator.fit(BLOBS, LABELS)
    assert not hasattr(estimator, "privacy_")
    assert entries(book) == ["reserved", "released"]


def test_a_fit_that_fails_costs_nothing(book: Path) -> None:
    with refused("learner.training_failed"):
        EnsembleClassifier("soft", noise="knorm", learner=raising, ledger=book).fit(BLOBS, LABELS, parties=WHO)
    assert entries(book) == ["reserved", "refunded"]
    with refused("ledger.insecure_seed"):
        AveragingClassifier(insecure_seed=1, ledger=book).fit(BLOBS, LABELS)
    with refused("guarantee.not_chargeable"):
        AveragingClassifier(epsilon=math.inf, ledger=book).fit(BLOBS, LABELS)
    with refused("ledger.no_path"):
        AveragingClassifier(ledger=5).fit(BLOBS, LABELS)  # type: ignore[arg-type]
    assert entries(book) == ["reserved", "refunded"]


def test_fits_by_secure_sums_are_charged_before_anybody_trains(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "fits.ledger"
    Ledger.create(path, Fraction(2), Fraction(1, 10**4)).close()
    for family, method in ((SecureSumClassifier, "newton"), (AveragingClassifier, "wsum")):
        stated = secure(family, method, ledger=path).fit(BLOBS, LABELS).privacy_
    assert stated.kind == "approx"
    assert 1 < stated.epsilon < 2
    assert "all 2 releases" in stated.caveats[-1]
    monkeypatch.setattr(METHODS["newton"], "prepare", missing("newton"))
    with refused("budget.passed"):
        SecureSumClassifier(epsilon=2.0, ledger=path).fit(BLOBS, LABELS)
    assert entries(path) == ["reserved", "released"] * 2


@pytest.mark.parametrize("method", ["soft", "soft_aux", "soft_ss"])
def test_nobody_is_told_of_auxiliary_rows_that_nobody_gave(method: str) -> None:
    """Those that are given are public, and the statement says what follows from that."""
    caveats = [EnsembleClassifier(method).fit(BLOBS, LABELS, parties=WHO, **given).privacy_.caveats
               for given in ({}, {"auxiliary": BLOBS[:9]})]  # fmt: skip
    assert [GENERATED_AUXILIARY_CAVEAT in said for said in caveats] == [True, False]
    assert [not {PUBLIC_ROWS_CAVEAT, *ONE_ROW_CAVEATS}.isdisjoint(said) for said in caveats] == [False, True]


def products(n: int, seed: int) -> tuple[Array, IntArray]:
    """Rows whose class is the sign of the product of two columns."""
    X = np.random.default_rng(seed).uniform(-1, 1, (n, 2))
    return X, (X[:, 0] * X[:, 1] > 0).astype(np.int64)


@pytest.mark.parametrize("method", ["newton", "gd"])
def test_an_estimator_learns_from_features(method: str) -> None:
    X, y = products(3000, 1)
    test, right = products(1000, 2)
    made = {"method": method, "epsilon": 20, "classes": [0, 1], "radius": 1.5, "insecure_seed": 5}
    model = clone(SecureSumClassifier(features="fourier:64", **made)).fit(X, y)
    assert model.score(test, right) > 0.85
    assert SecureSumClassifier(**made).fit(X, y).score(test, right) < 0.6
    with pytest.raises(AttributeError):
        _ = model.coef_
    weights = model.model_.linear.W[1] - model.model_.linear.W[0]
    inside = np.concatenate(list(model._rows(test)))
    wanted = FourierFeatures.of("fourier:64").of_rows(inside) @ weights
    np.testing.assert_allclose(model.decision_function(test), wanted, atol=1e-9)
