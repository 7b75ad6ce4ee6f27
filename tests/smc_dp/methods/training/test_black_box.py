"""Local classifiers of any kind: fitted, asked, and named when they misbehave."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from smc_dp.core.arrays import Array, IntArray
from smc_dp.methods.training.black_box import PredictFunction, answers_of, train_each, votes_of
from tests.support.refusals import refused

NAMES = ["party 1", "party 2", "party 3", "party 4"]


def parties(classes: int = 3) -> list[tuple[Array, IntArray]]:
    rng = np.random.default_rng(0)
    return [(rng.normal(size=(12, 2)), np.arange(12) % classes) for _ in NAMES]


def rows(n: int = 25) -> Array:
    return np.random.default_rng(1).normal(size=(n, 2))


def majority(X: Array, y: IntArray) -> PredictFunction:
    """A learner that is a plain function."""
    most = np.bincount(y).argmax()
    return lambda X: np.full(len(X), float(most))


def failing(X: Array, y: IntArray) -> PredictFunction:
    raise ZeroDivisionError("no luck with\nthese " + "x" * 200)


def test_votes_are_what_the_classifiers_predict() -> None:
    data, X = parties(), rows()
    predictors = train_each(DecisionTreeClassifier(random_state=0), data, NAMES)
    counts = votes_of(predictors, X, 3, NAMES)
    alone = [DecisionTreeClassifier(random_state=0).fit(*party).predict(X) for party in data]
    expected = np.stack([sum((a == k).astype(int) for a in alone) for k in range(3)], axis=1)
    assert np.array_equal(counts, expected)
    assert (counts.sum(axis=1) == 4).all()


def test_learners_of_mixed_kinds_are_taken_in_turn() -> None:
    data, X = parties(), rows()
    data[1] = (data[1][0], np.full(12, 2))
    network = make_pipeline(StandardScaler(), LogisticRegression())
    predictors = train_each([GaussianNB(), majority, network], data, NAMES)
    assert np.array_equal(answers_of(predictors[0], X, 3, "party 1"), GaussianNB().fit(*data[0]).predict(X))
    assert answers_of(predictors[1], X, 3, "party 2").tolist() == [2] * 25
    assert np.array_equal(answers_of(predictors[2], X, 3, "party 3"), network.fit(*data[2]).predict(X))
    assert np.array_equal(answers_of(predictors[3], X, 3, "party 4"), GaussianNB().fit(*data[3]).predict(X))
    for wrong in ([], [majority] * 5):
        with refused("learner.wrong_number", most=4, got=len(wrong)):
            train_each(wrong, data, NAMES)


def test_the_learner_given_is_left_alone_and_its_seed_kept() -> None:
    learner = DecisionTreeClassifier(random_state=7, splitter="random")
    first, second = (train_each(learner, parties(), NAMES) for _ in range(2))
    assert not hasattr(learner, "tree_")
    X = rows(200)
    assert np.array_equal(votes_of(first, X, 3, NAMES), votes_of(second, X, 3, NAMES))
    other = train_each(DecisionTreeClassifier(random_state=8, splitter="random"), parties(), NAMES)
    assert not np.array_equal(votes_of(first, X, 3, NAMES), votes_of(other, X, 3, NAMES))


def test_nobody_changes_the_rows_of_others() -> None:
    data, X = parties(), rows()
    before, seen = [(x.copy(), y.copy()) for x, y in data], X.copy()

    def vandal(X: Array, y: IntArray) -> PredictFunction:
        X[:], y[:] = 0, 0

        def predict(X: Array) -> IntArray:
            X[:] = 0
            return np.zeros(len(X), dtype=np.int64)

        return predict

    assert votes_of(train_each(vandal, data, NAMES), X, 3, NAMES).tolist() == [[4, 0, 0]] * 25
    assert np.array_equal(X, seen)
    assert all(
        np.array_equal(a, b) for party, old in zip(data, before, strict=True) for a, b in zip(party, old, strict=True)
    )


def test_a_learner_that_raises_is_named_with_its_party() -> None:
    told = "no luck with these " + "x" * 98 + "..."
    assert len(told) == 120
    with refused("learner.training_failed", party="party 2", reason=f"ZeroDivisionError: {told}") as caught:
        train_each([majority, failing], parties(), NAMES)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    endless = [(x + np.inf, y) for x, y in parties()]
    with refused("learner.training_failed", party="party 1"):
        train_each(LogisticRegression(), endless, NAMES)


def test_what_is_no_learner_is_refused() -> None:
    for learner, code in (
        ("forest", "learner.no_classifier"),
        (lambda X, y: None, "learner.training_failed"),
        (LogisticRegression, "learner.training_failed"),
        (StandardScaler(), "learner.training_failed"),
    ):
        with refused(code):
            train_each(learner, parties() * 2, [*NAMES, *NAMES])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("answer", "what"),
    [
        (np.zeros(24), "no_classes"),
        (["a"] * 25, "no_classes"),
        ([0] * 24 + [3], "no_classes"),
        ([0] * 24 + [-1], "no_classes"),
        ([0] * 24 + [0.5], "no_classes"),
        ([0] * 24 + [np.nan], "no_classes"),
        ([[0], [0, 1]], "failed"),
    ],
)
def test_answers_that_are_no_classes_are_refused(answer: object, what: str) -> None:
    predictors = train_each([majority, lambda X, y: lambda X: answer], parties(), NAMES)  # type: ignore[list-item, return-value]
    with refused(f"learner.predictions_{what}", party="party 2"):
        votes_of(predictors, rows(), 3, NAMES)


def test_whole_numbers_of_any_type_are_classes() -> None:
    for dtype in (np.float32, np.float64, np.int8, np.uint64, np.bool_):
        answer = np.array([0, 1] * 5, dtype=dtype)
        chosen = answers_of(lambda X, answer=answer: answer, rows(10), 2, "party 1")  # type: ignore[misc]
        assert chosen.dtype == np.int64
        assert chosen.tolist() == [0, 1] * 5


def test_a_predictor_that_raises_is_named_with_its_party() -> None:
    def refuses(X: Array, y: IntArray) -> PredictFunction:
        def predict(X: Array) -> Array:
            raise RuntimeError("out of order")

        return predict

    predictors = train_each([majority, majority, refuses], parties(), NAMES)
    with refused("learner.predictions_failed", party="party 3", reason="RuntimeError: out of order"):
        votes_of(predictors, rows(), 3, NAMES)


def refusing(X: Array, y: IntArray) -> PredictFunction:
    return LogisticRegression().fit(X, y).predict


@pytest.mark.parametrize("learner", [refusing, LogisticRegression()], ids=["function", "sklearn"])
def test_a_party_with_one_class_votes_for_it_whatever_its_learner_does(learner: object) -> None:
    data = parties()
    for only in range(3):
        data[2] = (data[2][0], np.full(12, only))
        predictors = train_each(learner, data, NAMES)  # type: ignore[arg-type]
        assert answers_of(predictors[2], rows(), 3, "party 3").tolist() == [only] * 25


def drawn(learner: object) -> list[object]:
    """The random states with which a learner was trained, by party."""
    states: list[object] = []

    class Noted(DecisionTreeClassifier):
        def fit(self, X: Array, y: IntArray) -> Noted:
            states.append(self.random_state)
            return self

        def predict(self, X: Array) -> Array:
            return np.zeros(len(X))

    train_each(make_pipeline(StandardScaler(), Noted(random_state=learner)), parties(), NAMES)
    return states


def test_no_two_parties_share_a_generator() -> None:
    """Trees that split at random, on the same rows, with numpy's global generator at the same place each time."""
    states = drawn(None)
    assert len({*states}) == 4
    assert drawn(7) == [7] * 4  # what was given is kept
    alike = [parties()[0]] * 4
    votes = []
    for _ in range(2):
        np.random.seed(5)
        before = np.random.get_state()[1].tolist()
        fitted = train_each(DecisionTreeClassifier(splitter="random"), alike, NAMES)
        votes.append([answers_of(f, rows(200), 3, "party").tolist() for f in fitted])
        assert np.random.get_state()[1].tolist() == before
    assert votes[0] != votes[1]
