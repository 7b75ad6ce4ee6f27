"""scikit-learn's own checks that a private estimator cannot pass, and why."""

from __future__ import annotations

import math

from smc_dp.estimators.base import FederatedClassifier

_TWICE = "fits twice and wants the same predictions, but every fit draws fresh noise from the operating system: "


def expected_failed_checks(estimator: FederatedClassifier) -> dict[str, str]:
    """Return names and reasons, as `check_estimator` and `parametrize_with_checks` take them; none at epsilon = inf.

    Each may pass by luck. With an insecure_seed the noise is the same in every fit, and nothing is expected to fail.
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
    if estimator.epsilon == math.inf or estimator.insecure_seed is not None:
        return {}
    return {
        "check_fit_idempotent": _TWICE + "the same rows again",
        "check_classifier_data_not_an_array": _TWICE + "as an array and as another container",
        "check_supervised_y_2d": _TWICE + "labels as a vector and as a column",
    }
