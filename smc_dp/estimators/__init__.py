"""scikit-learn estimators: every family of methods behind `fit`, `predict` and the statement `privacy_`.

`fit(X, y, parties=...)` takes labels that say whose row each is (metadata routing knows them), `fit_parties` the
parties' own (X, y), in a list or by name, and `fit(X, y)` deals the rows evenly to n_parties. Public rows (`auxiliary`
of EnsembleClassifier, `public_X` of FeatureMethodClassifier) are routed too, but earlier steps of a pipeline do not
transform them unless it is told to: `Pipeline(..., transform_input=["auxiliary"])`, in scikit-learn from 1.6. Nothing
warns where that is forgotten.

The parameters stand at each class; those that all have are fields of one dataclass, described once. Rows are clipped
to the public radius, not refused (a `RowsClippedWarning` says so, locally, where it is more than 5 % of them), and no
earlier step of a pipeline may be fitted on private rows: such a step is outside the guarantee. Public constants or a
step that was fitted on public rows and frozen are fine. A radius is long enough for all rows if it is the length of
one in which every column has its largest possible value; after standardising with public constants the root of the
number of columns is about what most rows are long. Sparse rows are accepted, and made dense in blocks. With `bounds`
rows are tables as files have them, data frames with levels, dates and empty cells, encoded as a run encodes them, and
no earlier step is needed.

`SecureSumClassifier` alone takes weights: `class_weight` and `most_weight` are public parameters, and
`fit(..., sample_weight=...)` has a private weight for each row.

In `SecureSumClassifier`, and with `trust="secure"` in three other families, nobody is trusted: contributions are those
that parties enter to the secure sum, each with noise of the party's own, and their sum is what the protocol gives. A
fit computes it in one place all the same: it is no run of the protocol, and `privacy_` says so.

`SecureSumLogisticRegression`, and `SecureSumLinearRegression` of an outcome that is a number, say how sure their
coefficients are: `table()`, `conf_int(level)`, `bse` and `cov`.

`SecureSumDescribe` learns no model: `fit(X, parties=...)` describes rows with public bounds, and `table()` has every
figure with its interval.

Settings that only some methods have (sites with epsilons of their own, the scale of features, the reading of OFPA, the
repair of OFAA), and the methods wsum_ar and release_all, are reached through `smc_dp.METHODS`.

After a fit: classes_, n_features_in_, privacy_ (a `PrivacyStatement`), model_, which is what was released, and coef_
and intercept_, what it says of the columns as they came. Each fit spends its epsilon again: cross-validation and grid
search on private rows are for experiments, or for epsilon = inf on public rows. Parameters and rows that are wrong
raise `InputError`, a ValueError, that names the party and the row.
"""

from smc_dp.estimators.averaging import AveragingClassifier
from smc_dp.estimators.checks import expected_failed_checks
from smc_dp.estimators.collaborative import CollaborativeClassifier
from smc_dp.estimators.describe import SecureSumDescribe
from smc_dp.estimators.ensemble import EnsembleClassifier
from smc_dp.estimators.feature import FeatureMethodClassifier
from smc_dp.estimators.linear import SecureSumLinearRegression
from smc_dp.estimators.logistic import SecureSumLogisticRegression
from smc_dp.estimators.secure_sum import SecureSumClassifier

__all__ = [
    "AveragingClassifier",
    "CollaborativeClassifier",
    "EnsembleClassifier",
    "FeatureMethodClassifier",
    "SecureSumClassifier",
    "SecureSumDescribe",
    "SecureSumLinearRegression",
    "SecureSumLogisticRegression",
    "expected_failed_checks",
]
