"""Models learnt from secure sums of what single records contribute, so that nobody is trusted and little is lost."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from smc_dp.core.errors import InputError, shown
from smc_dp.estimators.base import FederatedClassifier
from smc_dp.estimators.checked import whole_number
from smc_dp.methods.method import Trust
from smc_dp.privacy.statement import RecordAdjacency
from smc_dp.privacy.target import Calibration, NoiseName


@dataclass(kw_only=True, eq=False, repr=False)
class SecureSumClassifier(FederatedClassifier):
    """Learn a linear classifier of two classes or more from secure sums, protecting each record from everybody else.

    The parties add up clipped gradients of their records, several times, each with its share of Gaussian noise (`ddg`),
    and nobody sees more than the sums. A fit computes in one place what the protocol computes, so whoever fits has all
    rows; `privacy_` says against whom a run of the protocol (`smc-dp run`) holds.

    Parameters
    ----------
    method : {"newton", "gd"}, default="newton"
        How the model is learnt: `newton` adds up the curvature once and gradients eight times; `gd` is gradient
        descent, for hundreds of columns and more, where a curvature is too large a sum. May be given by its place.
    epsilon : float, default=1.0
        The privacy loss of one fit, a pure number from 1e-9 to 1e6; inf asks for no noise and gives no privacy. A float
        is taken as the decimal that it prints as, or as its binary value where that is smaller.
    delta : float, default=1e-05
        A probability, from 1e-100 to below 1; it counts with noise `gauss` and `ddg` only.
    adjacency : {"replace", "addremove"}, default="replace"
        What is protected: that a record is one and not another, or that it is there at all.
    rows : int or None, default=None
        The number of all rows, from 1 to 10^12, which is public and sets the step of `gd`, which alone has it. None is
        the true number under `replace`, which `privacy_` then says; `addremove` protects that number and needs another.
    colluders : int, default=1
        How many parties may collude: the noise of all others is counted, and theirs is not.
    dropouts : int, default=0
        How many parties may vanish; their noise is not counted either.
    n_parties : int, default=5
        How many parties a table is dealt to, from 1 to the number of rows, where `fit` is not told whose each row is.
    radius : float, default=1.0
        The length, in the units of the columns and from 1e-150 to 1e150, to which rows are clipped before they are
        divided by it. It is public and must not come from private rows: take the length of a row in which every column
        has its largest possible value, or about the root of the number of columns after standardising with public
        constants. Where more than 5 % of the rows are longer, a fit tells whoever has them, and nobody else.
    bias : float, default=1.0
        The constant coordinate that rows then get, in units of the radius, finite and not negative; 0 adds none.
    classes : sequence or None, default=None
        The public list of classes, at least two, each once; None reads them off the labels, which `privacy_` then says.
    insecure_seed : int or None, default=None
        Any integer makes the noise reproducible and takes the guarantee away: for tests and demonstrations. None draws
        fresh noise from the operating system. There is no `random_state`.
    ledger : path or None, default=None
        The file of a ledger (`smc-dp ledger init`): each fit is charged before anybody trains, one that would pass the
        limit is refused, and `privacy_` speaks of all that stands in the ledger, such as all fits of a grid search.
        None charges nothing, and `privacy_` speaks of one fit.

    Attributes
    ----------
    classes_ : ndarray of shape (C,)
        The classes, sorted.
    n_features_in_ : int
        How many columns the rows had, without the bias.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        What the columns were called; only where the rows came with names that are all texts.
    privacy_ : PrivacyStatement
        What the release guarantees, for whom and against whom, and what it does not cover.
    model_ : Scored
        What was released: a linear model with noise, `W` of shape (C, d + 1).
    ball_ : Ball
        How a row gets into the unit ball: the radius and the bias of the fit.
    coef_ : ndarray of shape (C, d), or (1, d) for two classes
        The weights of the columns as they came: `decision_function` of rows that are not clipped, but for rounding.
    intercept_ : ndarray of shape (C,), or (1,) for two classes
        The constants beside them.

    Raises
    ------
    InputError
        A ValueError, from `fit` and `fit_parties`: a parameter, a party or a row is not what was wanted; the message
        names it. Nothing is checked before a fit.
    NotFittedError
        From `predict` and its like before a fit, and after one that was refused.

    Warns
    -----
    RowsClippedWarning
        From `fit` and `fit_parties`, where more than 5 % of the rows are longer than the radius. It stays where the
        rows are: no release and no `privacy_` has anything of it.

    References
    ----------
    * `smc_dp.methods.gradients` and `smc_dp.privacy.distributed.rounds` state the methods and prove what they cost.
    * D. Boehning. Multinomial logistic regression algorithm. Annals of the Institute of Statistical Mathematics 44,
      1992 (the curvature).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_blobs
    >>> from smc_dp import SecureSumClassifier
    >>> X, y = make_blobs(3000, centers=[[0.5, 0.0], [-0.5, 0.3], [0.0, -0.5]], cluster_std=0.1, random_state=4)
    >>> hospital = np.repeat(["north", "south", "east"], 1000)
    >>> model = SecureSumClassifier(epsilon=1.0, classes=[0, 1, 2]).fit(X, y, parties=hospital)
    >>> model
    SecureSumClassifier(classes=[0, 1, 2])
    >>> model.privacy_.kind, model.privacy_.epsilon, model.privacy_.unit
    ('zcdp', 1.0, 'record')
    >>> model.privacy_.adversary.partition(",")[0]
    'Charlie and any 1 of 3 parties'
    >>> model.score(X, y) > 0.9
    True

    """

    methods: ClassVar[tuple[str, ...]] = ("newton", "gd")
    binary: ClassVar[bool] = False

    method: str = field(default="newton", kw_only=False)
    adjacency: RecordAdjacency = "replace"
    rows: int | None = None
    # No parameters: both methods have one noise with one proof, and nobody is trusted.
    trust: Trust = field(default="secure", init=False)
    calibration: Calibration = field(default="proven", init=False)
    noise: NoiseName | None = field(default=None, init=False)

    def _settings(self) -> dict[str, Any]:
        if self.method == "gd" and self.adjacency == "addremove" and self.rows is None:
            raise InputError(
                "rows.not_announced", "rows: gd with adjacency addremove wants a public number, got {got}",
                got=shown(self.rows),
            )  # fmt: skip
        return {
            "adjacency": self.adjacency,
            "rows": None if self.rows is None else whole_number("rows", self.rows),
        }
