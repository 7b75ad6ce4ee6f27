"""scikit-learn's own checks that a private estimator cannot pass, and why."""

from __future__ import annotations

import math

from smc_dp.estimators.base import FederatedClassifier
from smc_dp.estimators.weights import uses_weights

_PUBLIC_TERMS = (
    "repeats rows up to four times and gives them weights up to 4, but weights are parts of the public `most_weight`, "
    "and sums are divided by the number of rows, never by the sum of the weights, which is private"
)
_TOO_DIFFERENT = "gives one class 10^7 times the weight of another; more than 100 times is refused"
_TWICE = "fits twice and wants the same predictions, but every fit draws fresh noise from the operating system: "


def expected_failed_checks(estimator: FederatedClassifier) -> dict[str, str]:
    """Return names and reasons, as `check_estimator` and `parametrize_with_checks` take them.

    Each may pass by luck. At epsilon = inf, and with an insecure_seed, by which the noise is the same in every fit, no
    check fails but some of the weights of rows and classes, which `SecureSumClassifier` has.
    The estimator's tags (poor_score, non_deterministic) tell scikit-learn not to check accuracy, nor to compare
    predictions across pipelines. Rows of the checks are longer than the default radius, so a RowsClippedWarning comes.

    Parameters
    ----------
    estimator : FederatedClassifier
        The estimator that is to be checked.

    Returns
    -------
    dict of str to str
        The name of each check that cannot pass, and why.

    Raises
    ------
    AttributeError
        For what is no estimator of this package.

    References
    ----------
    * scikit-learn, "Developing scikit-learn estimators": `check_estimator` and its `expected_failed_checks`.

    Examples
    --------
    >>> from smc_dp import AveragingClassifier
    >>> from smc_dp.estimators import expected_failed_checks
    >>> sorted(expected_failed_checks(AveragingClassifier()))
    ['check_classifier_data_not_an_array', 'check_fit_idempotent', 'check_supervised_y_2d']
    >>> expected_failed_checks(AveragingClassifier(insecure_seed=5))
    {}

    """
    found = {}
    if uses_weights(estimator.methods):
        found = {
            "check_class_weight_classifiers": _TOO_DIFFERENT,
            "check_sample_weight_equivalence_on_dense_data": _PUBLIC_TERMS,
            "check_sample_weight_equivalence_on_sparse_data": _PUBLIC_TERMS,
        }
    if estimator.epsilon == math.inf or estimator.insecure_seed is not None:
        return found
    return {
        **found,
        "check_fit_idempotent": _TWICE + "the same rows again",
        "check_classifier_data_not_an_array": _TWICE + "as an array and as another container",
        "check_supervised_y_2d": _TWICE + "labels as a vector and as a column",
    }
