"""Private learning by several parties as a step of a scikit-learn pipeline.

You will see three hospitals that classify patients together: rows are scaled by constants from public patients, labels
say whose row each is, and metadata routing takes them through cross-validation to the estimator, which clips rows and
adds noise for any hospital's patient. Below the accuracies stands what the last release promises, in plain words. Then
500 phones with eight rows each, half of them with a decision tree and half with naive Bayes, label public points, from
which one classifier is trained that protects all rows of a phone. At the end the script checks that the noise has a
price and that both classifiers are worth it.

    python with_scikit_learn.py
"""

from __future__ import annotations

import math
import textwrap
import warnings

import numpy as np
import sklearn
from sklearn.datasets import load_breast_cancer, make_blobs
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from smc_dp import AveragingClassifier, EnsembleClassifier, RowsClippedWarning

EPSILONS = (math.inf, 1.0, 0.2)


def hospitals() -> tuple[dict[float, float], float]:
    """Return the mean accuracy for each epsilon, and that of always answering the majority class."""
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :10]  # the means
    scaler = StandardScaler().fit(X[:100])  # public patients; a step fitted on private rows would give them away
    X, y = X[100:], y[100:]
    whose = np.array(["north", "south", "east"])[np.arange(len(y)) % 3]

    reached = {}
    for epsilon in EPSILONS:
        estimator = AveragingClassifier("wsum", epsilon=epsilon, lam=0.007, radius=4.0, classes=[0, 1])
        pipeline = make_pipeline(FunctionTransformer(scaler.transform), estimator)
        scores = [cross_val_score(pipeline, X, y, params={"parties": whose}).mean() for _ in range(5)]
        reached[epsilon] = float(np.mean(scores))
        print(f"epsilon = {epsilon:<4g} accuracy {reached[epsilon]:.1%}")
    pipeline.fit(X, y, parties=whose)
    print(textwrap.fill(pipeline[-1].privacy_.plain_words(), 100, initial_indent="  ", subsequent_indent="  "))
    majority = float(max(np.mean(y), 1 - np.mean(y)))
    print(f"Always answering the majority class: {majority:.1%}.")
    return reached, majority


def phones() -> float:
    """Return the accuracy of a classifier of three classes on new rows."""
    X, y = make_blobs(6000, centers=[[0.5, 0.5], [-0.6, 0.2], [0.1, -0.6]], cluster_std=0.2, random_state=0)
    learners = [DecisionTreeClassifier(max_depth=3, random_state=0), GaussianNB()]  # they take turns
    estimator = EnsembleClassifier("soft_ss", learner=learners, epsilon=1.0, classes=[0, 1, 2])
    estimator.fit(X[:4000], y[:4000], parties=np.arange(4000) // 8, auxiliary=X[4000:5000])
    score = float(estimator.score(X[5000:], y[5000:]))
    print(f"\n500 phones, three classes, epsilon = {estimator.privacy_.epsilon:g} for a phone: accuracy {score:.1%}")
    return score


def main() -> None:
    """Fit, score, check."""
    print("About one row in six is longer than the public radius and is shortened to it: so there is less noise.")
    with sklearn.config_context(enable_metadata_routing=True), warnings.catch_warnings():
        warnings.simplefilter("ignore", RowsClippedWarning)  # it would come with each of 77 fits
        (reached, majority), score = hospitals(), phones()
    if not (reached[math.inf] > max(0.9, reached[0.2]) and reached[1.0] > majority and score > 0.8):
        raise SystemExit("the noise costs nothing, or all there is")


if __name__ == "__main__":
    main()
