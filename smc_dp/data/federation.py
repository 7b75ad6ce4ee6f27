"""Data of all parties: the private rows of each, and the public rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from smc_dp.core.arrays import OUTCOME_BITS, Array, first_outside
from smc_dp.core.errors import InputError, InputFault, plain_name, shown
from smc_dp.data.columns import CategoricalColumn, Column, NumericColumn

MOST_CLASSES = 1000
NO_ROWS = InputFault("rows.none")


@dataclass(frozen=True, eq=False, repr=False)
class Rows:
    """Rows of one party in the unit ball, with their classes.

    They are checked before a `Federation` is made of them.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The rows; every row's norm is at most 1, exactly.
    y : ndarray of shape (n,)
        Class numbers 0, 1, ..., of type int64; where the outcome is a number, its distance from the middle of its
        range, in units of 2^-20 of half of the range.
    weights : ndarray of shape (n,), default=None
        Weight of each row in what `newton` and `gd` learn, from 0 to 1: parts of the largest that any row may have,
        which is public. Other methods refuse rows with weights.

    Examples
    --------
    >>> import numpy as np
    >>> from smc_dp import Rows
    >>> len(Rows(np.array([[0.6, 0.7], [0.0, -0.5]]), np.array([1, 0])))
    2

    """

    X: Array
    y: npt.NDArray[np.int64]
    weights: Array | None = None

    def __len__(self) -> int:
        return len(self.X)

    def take(self, rows: npt.NDArray[np.int64]) -> Rows:
        """Return the rows with these numbers."""
        return Rows(self.X[rows], self.y[rows], None if self.weights is None else self.weights[rows])


@dataclass(frozen=True)
class FeatureBox:
    """Place of encoded rows in the ball.

    `reach`: the largest absolute value of a feature in a row that was not shortened. `constant`: the last feature. Both
    hold up to 2^-38 of them. `columns`: how many features at most are not 0 in a row, but for the constant, counting
    each as one. `levels`: of each set of features of which exactly one is not 0, the first, and how many they are.
    """

    reach: float
    constant: float
    columns: int
    levels: tuple[tuple[int, int], ...]

    @property
    def references(self) -> tuple[int, ...]:
        """First feature of each such set, which a model with a constant does without."""
        return tuple(first for first, _ in self.levels)


@dataclass(frozen=True, eq=False, repr=False)
class Public:
    """Public facts before training: number of parties, features d, classes, and the public rows.

    `sizes`: the number of rows of each party where they are constants of the neighbourhood and known, else None.
    `unlabelled`, `labelled`, `names`: as in `Federation`. `weighted`: whether all rows have weights. `columns`:
    those that the features of rows encode, `label`: that of their classes or outcomes, where rows were made of tables.
    `box`:
    where bounds with a constant put rows, None for rows that somebody encoded otherwise.
    """

    parties: int
    dimension: int
    classes: int
    sizes: tuple[int, ...] | None = None
    unlabelled: Array | None = None
    labelled: Rows | None = None
    names: tuple[str, ...] = ()
    weighted: bool = False
    columns: tuple[Column, ...] = ()
    label: CategoricalColumn | NumericColumn | None = None
    box: FeatureBox | None = None

    def name(self, party: int) -> str:
        """Return the name of the party with this number (from 0) for a message."""
        return _name(self.names, party)


@dataclass(frozen=True, eq=False, repr=False)
class Federation:
    """Rows of each party, with what is public: the number of classes, auxiliary rows, the parties' names.

    Parameters
    ----------
    parties : tuple of Rows
        What each party holds.
    classes : int
        How many classes there are, from 2 to 1000; 0 where the outcome is a number.
    unlabelled : ndarray of shape (N, d), default=None
        Public rows without labels, in the ball (Hamm, Cao and Belkin); they belong to nobody and are not protected.
    labelled : Rows, default=None
        Public rows with labels (the aggregator's data set of the feature method), which are not protected either.
    names : tuple of str, default=()
        What the parties are called, each otherwise; without names they are numbered.

    Raises
    ------
    InputError
        Naming the party and the row, for a party without rows, rows outside the ball, not finite, or of another width,
        and unknown classes.

    Examples
    --------
    >>> import numpy as np
    >>> from smc_dp import Federation, Rows
    >>> X, y = np.array([[0.6, 0.7], [0.0, -0.5], [-0.3, 0.1]]), np.array([1, 0, 0])
    >>> Federation((Rows(X, y), Rows(-X, y)), classes=2, names=("north", "south")).sizes.tolist()
    [3, 3]
    >>> Federation((Rows(2 * X, y),), classes=2, names=("north",))
    Traceback (most recent call last):
    smc_dp.core.errors.InputError: party north: row 1: wanted a Euclidean norm of at most 1, ...

    """

    parties: tuple[Rows, ...]
    classes: int
    unlabelled: Array | None = None
    labelled: Rows | None = None
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if type(self.classes) is not int or not (self.classes == 0 or 2 <= self.classes <= MOST_CLASSES):
            raise InputError("classes.not_a_number", most=MOST_CLASSES, got=shown(self.classes))
        if not isinstance(self.parties, tuple) or not all(isinstance(rows, Rows) for rows in self.parties):
            raise InputError("parties.not_rows", got=shown(self.parties))
        if not self.parties:
            raise InputError("parties.none")
        if self.names and not (isinstance(self.names, tuple) and len(set(self.names)) == len(self.parties)):
            raise InputError("parties.names_not_different", wanted=len(self.parties))
        check_features(self.parties[0].X, None, self.name(0))
        width = self.parties[0].X.shape[1:]
        for j, rows in enumerate(self.parties):
            check_labelled_rows(rows, self.classes, width, self.name(j))
            if (rows.weights is None) is self.weighted:
                raise InputError("rows.weights_of_some").within(self.name(j))
        if self.labelled is not None:
            check_labelled_rows(self.labelled, self.classes, width, "the public labelled rows")
        if self.unlabelled is not None:
            check_features(self.unlabelled, width, "the auxiliary rows")

    def name(self, party: int) -> str:
        """Return the name of the party with this number (from 0) for a message."""
        return _name(self.names, party)

    @property
    def by_name(self) -> dict[str, Rows]:
        """Rows of each party by its name, which it must have."""
        return dict(zip(self.names, self.parties, strict=True))

    @property
    def dimension(self) -> int:
        """Number of features d."""
        return int(self.parties[0].X.shape[1])

    @property
    def public(self) -> Public:
        """Public facts of this federation, with the sizes of the parties."""
        sizes = tuple(self.sizes.tolist())
        return Public(
            len(self.parties),
            self.dimension,
            self.classes,
            sizes,
            self.unlabelled,
            self.labelled,
            self.names,
            self.weighted,
        )

    @property
    def weighted(self) -> bool:
        """True if the rows have weights."""
        return self.parties[0].weights is not None

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        """Number of rows of each party."""
        return np.array([len(rows) for rows in self.parties], dtype=np.int64)

    def pooled(self) -> Rows:
        """Return all private rows in one place: no party may see them, only a simulation."""
        weights = [rows.weights for rows in self.parties if rows.weights is not None]
        return Rows(
            np.concatenate([rows.X for rows in self.parties]),
            np.concatenate([rows.y for rows in self.parties]),
            np.concatenate(weights) if weights else None,
        )


def _name(names: tuple[str, ...], party: int) -> str:
    return f"party {plain_name(names[party])}" if names else f"party {party + 1}"


def check_labelled_rows(rows: Rows, classes: int, width: tuple[int, ...], whose: str) -> None:
    """Raise InputError unless these are labelled rows of the unit ball."""
    check_features(rows.X, width, whose)
    if type(rows.y) is not np.ndarray or rows.y.shape != (len(rows.X),) or rows.y.dtype.kind not in "iu":
        came = f"an array of {rows.y.dtype}, shape {rows.y.shape}" if isinstance(rows.y, np.ndarray) else shown(rows.y)
        raise InputError("rows.no_class_numbers", wanted=len(rows.X), got=came).within(whose)
    if not classes:
        if np.abs(rows.y).max() > 1 << OUTCOME_BITS:
            i = int(np.abs(rows.y).argmax())
            raise InputError("rows.outcome_out_of_range", row=i + 1, most=1 << OUTCOME_BITS).within(whose)
    elif rows.y.min() < 0 or rows.y.max() >= classes:
        i = int(np.flatnonzero((rows.y < 0) | (rows.y >= classes))[0])
        raise InputError("rows.unknown_class", row=int(i) + 1, last=classes - 1, got=shown(int(rows.y[i]))).within(
            whose
        )
    if rows.weights is not None:
        _check_weights(rows.weights, len(rows), whose)


def _check_weights(weights: Array, n: int, whose: str) -> None:
    """Raise InputError unless there is a weight from 0 to 1 for each of n rows."""
    if type(weights) is not np.ndarray or weights.dtype != np.float64 or weights.shape != (n,):
        raise InputError("rows.no_weights", wanted=n, got=shown(getattr(weights, "shape", weights))).within(whose)
    if not ((weights >= 0) & (weights <= 1)).all():
        i = int(np.flatnonzero(~((weights >= 0) & (weights <= 1)))[0])
        raise InputError("rows.weight_out_of_range", row=i + 1).within(whose)


def check_features(X: Array, width: tuple[int, ...] | None, whose: str) -> None:
    """Raise InputError unless X holds at least one row, of this width if given, finite and in the unit ball."""
    if type(X) is not np.ndarray or X.dtype != np.float64:
        came = f"an array of {X.dtype}" if isinstance(X, np.ndarray) else shown(type(X).__name__)
        raise InputError("rows.not_float64", got=came).within(whose)
    if X.ndim != 2 or not X.shape[1] or width not in (None, X.shape[1:]):
        raise InputError("federation.wrong_width", width=width[0] if width else "d", shape=str(X.shape)).within(whose)
    if not len(X):
        raise InputError(NO_ROWS).within(whose)
    finite = np.isfinite(X)
    if not finite.all():
        i, k = np.argwhere(~finite)[0]
        raise InputError("federation.not_finite", row=int(i) + 1, column=int(k) + 1, got=float(X[i, k])).within(whose)
    i = first_outside(X)
    if i is not None:
        raise InputError("rows.outside_ball", row=int(i) + 1, got=float(np.linalg.norm(X[i]))).within(whose)
