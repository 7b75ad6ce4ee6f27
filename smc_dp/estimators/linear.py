"""Least squares with intervals behind scikit-learn's interface; see the package."""

# Annotations are not deferred here, as in `base`.

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data
from typing_extensions import override

from smc_dp.core.arrays import Array, in_columns
from smc_dp.core.errors import InputError, shown
from smc_dp.data.bounds import Bounds
from smc_dp.data.federation import Federation, Rows
from smc_dp.data.preprocess import label_column, label_numbers, warn_of_clipping
from smc_dp.estimators.base import PartyRows
from smc_dp.estimators.bounded_rows import encode_table, public_bounds
from smc_dp.estimators.coefficient_intervals import CoefficientIntervals, infer_bounds
from smc_dp.estimators.docstrings import documented
from smc_dp.estimators.rows import RowAssignment, join_parties
from smc_dp.estimators.sums import SumsEstimator
from smc_dp.estimators.validation import LabelArray, check_labels
from smc_dp.methods.model import scores
from smc_dp.methods.statistics.coefficient_sums import InferredModel
from smc_dp.methods.statistics.linear import LinearRegression
from smc_dp.privacy.statement import RecordAdjacency


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class SecureSumLinearRegression(CoefficientIntervals, RegressorMixin, SumsEstimator):  # type: ignore[misc]  # no types
    """Least squares of a number from three secure sums, with robust standard errors and intervals.

    Its coefficients have the names and units of the columns, as a run of `linear` releases them. Nobody is trusted, as
    in `SecureSumClassifier`. `smc_dp.methods.statistics.linear` states the method.

    Parameters
    ----------
    bounds : Bounds, path or None
        Public bounds of the columns, or a TOML file of them, which a fit needs: `range` under `[label]` is that of the
        outcome. Rows are data frames of pandas, polars or Arrow with these columns, or arrays of them in their order.
        `[rows]` is not used: no row is shortened, and a constant is added. Bounds that leave rows out or have weights
        are refused.
    adjacency : {"replace", "addremove"}
        The change of the data that is protected: a record is another one, or it is not there at all.

    Attributes
    ----------
    n_features_in_ : int
        How many columns the rows had.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        What the columns were called; only where the rows came with names that are all texts.
    privacy_ : PrivacyStatement
        What the release guarantees, for whom and against whom, and what it does not cover.
    model_ : InferredModel
        What was released: a linear model with noise, and the inference on its weights.
    bounds_ : Bounds
        The bounds by which rows were encoded.
    coef_ : ndarray of shape (d,)
        The weights of the encoded features, those of reference levels 0; `table()` has the coefficients of the columns.
    intercept_ : float
        The constant beside them.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from smc_dp import SecureSumLinearRegression
    >>> from smc_dp.data.bounds import parse_bounds
    >>> rng = np.random.default_rng(4)
    >>> rows = pd.DataFrame({"age": rng.integers(20, 90, 6000), "sex": rng.choice(["f", "m"], 6000)})
    >>> stay = (0.1 * rows.age + 2 * (rows.sex == "m") + rng.normal(4, 2, 6000)).clip(0, 30)
    >>> bounds = parse_bounds(
    ...     '[columns]\\nage = [18, 98]\\nsex = ["f", "m"]\\n[label]\\ncolumn = "stay"\\nrange = [0, 30]'
    ... )
    >>> model = SecureSumLinearRegression(bounds, epsilon=3.0).fit(rows, stay)
    >>> [(row.column, row.what) for row in model.table()]
    [('', ''), ('age', 'a unit'), ('sex', 'm')]
    >>> bool(model.conf_int()[1][0] < 0.1 < model.conf_int(0.999)[1][1])
    True
    >>> 0.3 < model.score(rows, stay) < 0.7
    True

    """

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"parties": True}

    adjacency: RecordAdjacency = "replace"

    @documented
    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike, parties: npt.ArrayLike | None = None) -> Self:  # noqa: D417  filled in
        """Train, draw noise, keep what is released and nothing else.

        Parameters
        ----------
        X : data frame, or array-like of shape (n, d)
            Rows with the columns of the bounds.
        y : array-like of shape (n,)
            Their outcomes, numbers in the range of the bounds.
        parties

        """
        self._forget("model_")
        self.bounds_ = _bounds_of_number(public_bounds(self.bounds))
        found = encode_table(X, self.bounds_, "X")
        labels = check_labels("y", y, len(found.X), f"the {len(found.X)} rows", wanted="a number")
        validate_data(self, X, skip_check_array=True)  # the number and the names of columns
        parts = RowAssignment.of(len(found.X), parties, self.n_parties)
        rows = Rows(found.X, _encoded_outcomes(labels, self.bounds_, parts))
        data = Federation(tuple(map(rows.take, parts.rows)), 0, names=parts.names)
        warn_of_clipping(type(self).__name__, found, self.bounds_)
        self.model_: InferredModel = self._release(LinearRegression(self.adjacency), data, dealt=parties is None)
        return self

    @documented
    def fit_parties(self, parties: Iterable[PartyRows] | Mapping[Any, PartyRows]) -> Self:
        """Fit to each party's own rows.

        Parameters
        ----------
        parties : iterable of pairs (X, y), or mapping of names to them
            The parties' rows and outcomes, X with the same columns; in a list the parties are called 1, 2, ...

        """
        X, y, whose, _ = join_parties(parties, with_frames=True)
        return self.fit(X, y, parties=whose)

    def predict(self, X: npt.ArrayLike) -> Array:
        """Return the predicted number of each row, whose cells are clipped as in training.

        Parameters
        ----------
        X : data frame, or array-like of shape (n, d)
            Rows with the columns of the bounds.

        Returns
        -------
        ndarray of shape (n,)
            Numbers in the unit of the outcome; some may lie outside its range.

        """
        check_is_fitted(self)
        validate_data(self, X, reset=False, skip_check_array=True)
        return scores(self.model_.W[0], encode_table(X, self.bounds_, "X").X)

    @property
    def coef_(self) -> Array:
        """Weights of the encoded features: (d,)."""
        return self._in_columns[0]

    @property
    def intercept_(self) -> float:
        """Constant beside `coef_`."""
        return self._in_columns[1]

    @property
    def _in_columns(self) -> tuple[Array, float]:
        check_is_fitted(self)
        weights, constants = in_columns(self.model_.W, self.bounds_.clip, self.bounds_.bias)
        return weights[0], float(constants[0])

    @override
    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = self.epsilon != math.inf and self.insecure_seed is None
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")


def _bounds_of_number(bounds: Bounds | None) -> Bounds:
    """Return the bounds that rows are encoded by; raise InputError unless they state the range of an outcome."""
    if bounds is None or bounds.outcome is None:
        raise InputError("bounds.no_range_of_outcome")
    return infer_bounds(bounds)


def _encoded_outcomes(y: LabelArray, bounds: Bounds, parts: RowAssignment) -> npt.NDArray[np.int64]:
    """Return outcomes in the units of `Rows`; raise InputError at the party and the row of one outside the range."""
    try:
        numbers = y.astype(np.float64)
    except (TypeError, ValueError):
        raise InputError("outcome.no_numbers", got=shown(y.tolist())) from None
    low, high = bounds.outcome or (0.0, 0.0)
    inside = (low <= numbers) & (numbers <= high)
    if not inside.all():
        first = int(np.flatnonzero(~inside)[0])
        raise InputError(
            "outcome.out_of_range", where=parts.place(first), range=bounds.label_range, got=float(numbers[first])
        )
    return label_numbers(numbers, label_column(bounds, bounds.label or "label"))
