"""Collaborative logistic regression with a noisy objective or a noisy polynomial (OFPA and OFAA)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from smc_dp.estimators.base import FederatedClassifier
from smc_dp.estimators.checked import number, whole_number


@dataclass(kw_only=True, eq=False, repr=False)
class CollaborativeClassifier(FederatedClassifier):
    """Learn a logistic regression of two classes that the parties train in rounds, protecting each record.

    Rows get no bias here: the methods add a coordinate of their own.

    Parameters
    ----------
    method : {"ofpa", "ofaa", "param_laplace"}, default="ofpa"
        What is perturbed: in `ofpa` every party's objective; in `ofaa` a polynomial in place of the objective; in
        `param_laplace` every party's model. May be given by its place.
    epsilon : float, default=1.0
        The privacy loss of one fit, a pure number from 1e-9 to 1e6; inf asks for no noise and gives no privacy. A float
        is taken as the decimal that it prints as, or as its binary value where that is smaller.
    delta : float, default=1e-05
        A probability, from 1e-100 to below 1; it counts with noise `gauss` and `ddg` only.
    calibration : {"proven", "paper"}, default="proven"
        What sets the scale of the noise: a proof, or what is printed (`ofpa` and `ofaa` have that, with noise
        `laplace`; `ofpa` is then not private). `privacy_` states what the printed scale is proved to give at most.
    noise : {"knorm", "laplace", "gauss", "ddg", "vg", "self"} or None, default=None
        The law of the noise: `knorm`, `laplace` and `self` give pure epsilon, `gauss` and `ddg` give zCDP, and
        (epsilon, delta) by the exact curve of a Gaussian; `vg` is `knorm` in shares, with a delta below 2^-64. The last
        three are for `trust="secure"`. None is the first that the method has, in shares `ddg`.
        The proven `ofpa` has `knorm` only, the proven `ofaa` all, `param_laplace` and the printed forms `laplace`.
    trust : {"aggregator", "secure"}, default="aggregator"
        Whether somebody is trusted with what the parties send, or nobody: `secure` computes what the secure sum
        computes of all parties, each with noise that it draws itself (`ofaa` has that,
        and `ofpa` with one round).
    colluders : int, default=1
        How many parties may collude, with `trust="secure"`: the noise of all others is counted, and theirs is not.
    dropouts : int, default=0
        How many parties may vanish, with `trust="secure"`; their noise is not counted either.
    rounds : int or None, default=None
        How often the server averages, from 1 to 10,000 rounds; a round costs its share of epsilon in `ofpa`, and
        nothing in the proven `ofaa`. None leaves it to the method, and `param_laplace` has none.
    lam : float or None, default=None
        The weight of the regulariser `lam |theta|^2` beside the mean log-loss, a pure number from 2^-29 to 1e6. None
        leaves it to the method, and `ofaa` has none.
    n_parties : int, default=5
        How many parties a table is dealt to, from 1 to the number of rows, where `fit` is not told whose each row is.
    radius : float, default=1.0
        The length, in the units of the columns and from 1e-150 to 1e150, to which rows are clipped before they are
        divided by it. It is public and must not come from private rows: take the length of a row in which every column
        has its largest possible value, or about the root of the number of columns after standardising with public
        constants. Where more than 5 % of the rows are longer, a fit tells whoever has them, and nobody else.
    classes : sequence or None, default=None
        The public list of classes, two, each once; None reads them off the labels, which `privacy_` then says.
    insecure_seed : int or None, default=None
        Any integer makes the noise reproducible and takes the guarantee away: for tests and demonstrations. None draws
        fresh noise from the operating system. There is no `random_state`.
    ledger : path or None, default=None
        The file of a ledger (`smc-dp ledger init`): each fit is charged before anybody trains, one that would pass the
        limit is refused, and `privacy_` speaks of all that stands in the ledger, such as all fits of a grid search.
        None charges nothing, and `privacy_` speaks of one fit.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The classes, sorted.
    n_features_in_ : int
        How many columns the rows had, without the bias.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        What the columns were called; only where the rows came with names that are all texts.
    privacy_ : PrivacyStatement
        What the release guarantees, for whom and against whom, and what it does not cover.
    model_ : Scored
        What was released: logistic regression with noise, which scores rows.
    ball_ : Ball
        How a row gets into the unit ball: the radius and the bias of the fit.
    coef_ : ndarray of shape (1, d)
        The weights of the columns as they came: `decision_function` of rows that are not clipped, but for rounding.
    intercept_ : ndarray of shape (1,)
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
    * W. Du, A. Li and Q. Li. Privacy-preserving multiparty learning for logistic regression. SecureComm 2018.
    * J. Zhang, Z. Zhang, X. Xiao, Y. Yang and M. Winslett. Functional mechanism: regression analysis under differential
      privacy. VLDB 2012.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from smc_dp import CollaborativeClassifier
    >>> X, y = make_blobs(6000, centers=[[0.5, 0.1], [-0.5, 0.2]], cluster_std=0.1, random_state=4)
    >>> model = CollaborativeClassifier("ofaa", epsilon=1.0, n_parties=3, rounds=2, classes=[0, 1]).fit(X, y)
    >>> model
    CollaborativeClassifier(classes=[0, 1], method='ofaa', n_parties=3, rounds=2)
    >>> model.privacy_.kind, model.privacy_.epsilon, model.privacy_.unit
    ('pure', 1.0, 'record')
    >>> model.score(X, y) > 0.9
    True

    """

    methods: ClassVar[tuple[str, ...]] = ("ofpa", "ofaa", "param_laplace")
    binary: ClassVar[bool] = True

    method: str = field(default="ofpa", kw_only=False)
    rounds: int | None = None
    lam: float | None = None
    bias: float = field(default=0.0, init=False)  # no parameter: the methods add a coordinate of their own

    def _settings(self) -> dict[str, Any]:
        return {
            "rounds": None if self.rounds is None else whole_number("rounds", self.rounds),
            "lam": None if self.lam is None else number("lam", self.lam),
        }
