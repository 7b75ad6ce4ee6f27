"""Averages of the parties' models (Pathak, Rane and Raj 2010), and what they are compared with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from smc_dp.estimators.base import FederatedClassifier
from smc_dp.estimators.checked import number


@dataclass(kw_only=True, eq=False, repr=False)
class AveragingClassifier(FederatedClassifier):
    """Learn a linear classifier as an average of the parties' models, protecting each record.

    Unless `trust` is `secure`, the average is computed in the clear: whoever computes it is trusted with the models,
    except in `local`.

    Parameters
    ----------
    method : {"wsum", "prr_mean", "local", "central", "central_obj"}, default="wsum"
        What is released: `wsum`, the mean of the parties' models weighted by their sizes, for two classes or more;
        for two classes `prr_mean`, the plain mean (Pathak, Rane and Raj 2010); `local`, the mean of models that each
        party made noisy by itself; `central`, one model of all rows, and `central_obj` one by objective perturbation.
        May be given by its place.
    epsilon : float, default=1.0
        The privacy loss of one fit, a pure number from 1e-9 to 1e6; inf asks for no noise and gives no privacy. A float
        is taken as the decimal that it prints as, or as its binary value where that is smaller.
    delta : float, default=1e-05
        A probability, from 1e-100 to below 1; it counts with noise `gauss` and `ddg` only.
    calibration : {"proven", "paper"}, default="proven"
        What sets the scale of the noise: a proof, or what is printed (`prr_mean` and `central` have that). `privacy_`
        states what the printed scale is proved to give at most.
    noise : {"knorm", "laplace", "gauss", "ddg", "vg", "self"} or None, default=None
        The law of the noise: `knorm`, `laplace` and `self` give pure epsilon, `gauss` and `ddg` give zCDP, and
        (epsilon, delta) by the exact curve of a Gaussian; `vg` is `knorm` in shares, with a delta below 2^-64. The last
        three are for `trust="secure"`. None is the first that the method has, in shares `ddg`.
    trust : {"aggregator", "secure"}, default="aggregator"
        Whether somebody is trusted with what the parties send, or nobody: `secure` computes what the secure sum
        computes of all parties, each with noise that it draws itself (`wsum` has that).
    colluders : int, default=1
        How many parties may collude, with `trust="secure"`: the noise of all others is counted, and theirs is not.
    dropouts : int, default=0
        How many parties may vanish, with `trust="secure"`; their noise is not counted either.
    lam : float or None, default=0.01
        The weight of the regulariser `lam |w|^2` beside the mean log-loss, a pure number from 2^-29 to 1e6. A larger
        one needs less noise, so the default is ten times that of the methods. None leaves it to the method, and
        `central_obj` has a public rule for it.
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
        The public list of classes, two, or with `wsum` two and more, each once; None reads them off the labels, which
        `privacy_` then says.
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
    * M. Pathak, S. Rane and B. Raj. Multiparty differential privacy via aggregation of locally trained classifiers.
      NIPS 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_blobs
    >>> from smc_dp import AveragingClassifier
    >>> X, y = make_blobs(3000, centers=[[0.5, 0.1], [-0.5, 0.2]], cluster_std=0.2, random_state=4)
    >>> hospital = np.repeat(["north", "south", "east"], 1000)
    >>> model = AveragingClassifier("wsum", epsilon=1.0, classes=[0, 1]).fit(X, y, parties=hospital)
    >>> model
    AveragingClassifier(classes=[0, 1])
    >>> model.privacy_.kind, model.privacy_.epsilon, model.privacy_.unit
    ('pure', 1.0, 'record')
    >>> model.score(X, y) > 0.9
    True

    """

    methods: ClassVar[tuple[str, ...]] = ("wsum", "prr_mean", "local", "central", "central_obj")
    binary: ClassVar[bool] = True

    method: str = field(default="wsum", kw_only=False)
    lam: float | None = 1e-2

    def _settings(self) -> dict[str, Any]:
        return {"lam": None if self.lam is None else number("lam", self.lam)}
