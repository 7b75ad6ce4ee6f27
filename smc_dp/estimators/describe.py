"""Description of all rows behind scikit-learn's interface; see the package."""

# Annotations are not deferred here, as in `base`.

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from smc_dp.core.errors import InputError
from smc_dp.data.federation import Federation
from smc_dp.data.preprocess import warn_of_clipping
from smc_dp.estimators.bounded_rows import encode_table, public_bounds
from smc_dp.estimators.data_frame import data_frame
from smc_dp.estimators.docstrings import documented
from smc_dp.estimators.rows import RowAssignment, join_parties
from smc_dp.estimators.sums import SumsEstimator
from smc_dp.methods.statistics.describe import Describe
from smc_dp.methods.statistics.describe_result import DescribeResult
from smc_dp.methods.statistics.figure_row import FigureRow

_FRAME = ("group", "column", "level", "figure", "estimate", "low", "high")


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class SecureSumDescribe(SumsEstimator):
    """Counts, means, deviations and quantiles of all rows, each with its interval, from one secure sum.

    It learns no model and needs no label: a label that the bounds name is described like any other column. Nobody is
    trusted, as in `SecureSumClassifier`.

    Parameters
    ----------
    bounds : Bounds, path or None
        Public bounds of the columns, or a TOML file of them, which a fit needs. Rows are data frames of pandas, polars
        or Arrow with these columns, or arrays of them in their order. `[label]` may be left out, and `[rows]` is not
        used. Bounds that leave rows out or have weights are refused.
    by : str or None
        The column of levels or bins, or the label, whose levels make groups that are described, too.
    tables : str or None
        Pairs of columns of levels or bins whose contingency tables are released, as "sex*ward, ill*ward".

    Attributes
    ----------
    result_ : DescribeResult
        The released sum, and all that follows from it.
    privacy_ : PrivacyStatement
        What the release guarantees, for whom and against whom, and what it does not cover.
    bounds_ : Bounds
        The bounds by which rows were encoded.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from smc_dp import SecureSumDescribe
    >>> from smc_dp.data.bounds import parse_bounds
    >>> rng = np.random.default_rng(4)
    >>> rows = pd.DataFrame({"age": rng.integers(20, 90, 3000), "sex": rng.choice(["f", "m"], 3000)})
    >>> bounds = parse_bounds('[columns]\\nage = [0, 120]\\nsex = ["f", "m"]')
    >>> hospital = np.repeat(["north", "south", "east"], 1000)
    >>> described = SecureSumDescribe(bounds, by="sex", epsilon=1.0).fit(rows, parties=hospital)
    >>> described.result_.rows, [one.group for one in described.result_.groups]
    (3000, ['f', 'm'])
    >>> mean = described.table()[0]
    >>> mean.column, mean.figure, mean.found.low < mean.found.estimate < mean.found.high
    ('age', 'mean', True)
    >>> described.privacy_.kind, described.privacy_.epsilon
    ('zcdp', 1.0)

    """

    by: str | None = None
    tables: str | None = None

    @documented
    def fit(self, X: npt.ArrayLike, y: None = None, parties: npt.ArrayLike | None = None) -> Self:  # noqa: D417  filled in
        """Add up, draw noise, keep what is released and nothing else.

        Parameters
        ----------
        X : data frame, or array-like of shape (n, d)
            Rows; a label that the bounds name is one of their columns.
        y : None
            There is none: scikit-learn passes it.
        parties

        """
        self._forget("result_")
        bounds = public_bounds(self.bounds, labelled=False)
        if bounds is None:
            raise InputError("bounds.none_to_describe_by")
        self.bounds_ = bounds.whole
        found = encode_table(X, self.bounds_, "X", labelled=True)
        every, parts = found.labelled, RowAssignment.of(len(found.X), parties, self.n_parties)
        warn_of_clipping(type(self).__name__, found, self.bounds_)
        data = Federation(tuple(map(every.take, parts.rows)), self.bounds_.class_count, names=parts.names)
        self.result_: DescribeResult = self._release(Describe(self.by, self.tables), data, dealt=parties is None)
        return self

    @documented
    def fit_parties(self, parties: Iterable[npt.ArrayLike] | Mapping[Any, npt.ArrayLike]) -> Self:
        """Describe each party's own rows together.

        Parameters
        ----------
        parties : iterable of data frames or arrays, or mapping of names to them
            The parties' rows, all with the same columns; in a list the parties are called 1, 2, ...

        """
        named: dict[Any, Any] = dict(parties) if isinstance(parties, Mapping) else dict(enumerate(parties, 1))
        labelled = {name: (rows, np.zeros(len(rows))) for name, rows in named.items()}
        X, _, whose, _ = join_parties(labelled, with_frames=True)
        return self.fit(X, parties=whose)

    def table(self) -> tuple[FigureRow, ...]:
        """Return the figures of all rows, of the tables, and of each group.

        Returns
        -------
        tuple of FigureRow
            Each with `column`, `level`, `figure`, `group` and `found`, an `Estimate` or None.

        """
        check_is_fitted(self, "result_")
        return self.result_.table()

    def to_frame(self) -> Any:
        """Return the figures as a data frame of pandas, which has to be installed.

        Returns
        -------
        pandas.DataFrame
            A row for each figure; `estimate`, `low` and `high` are NaN where too few cells are left.

        Raises
        ------
        InputError
            Where pandas is not installed.

        """
        rows = ({"group": row.group, **row.as_dict()} for row in self.table())
        return data_frame(rows, _FRAME, _FRAME[4:])
