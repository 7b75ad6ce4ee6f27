"""Averages of the parties' models (Pathak, Rane and Raj 2010), and the baselines beside them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from smc_dp.estimators.base import FederatedClassifier
from smc_dp.estimators.docstrings import documented


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class AveragingClassifier(FederatedClassifier):
    """Learn a linear classifier as an average of the parties' models, protecting each record.

    Unless `trust` is `secure`, the average is computed in the clear by an aggregator, which is trusted with the
    models, except in `local`.

    Parameters
    ----------
    method
        `wsum` is the mean of the parties' models weighted by their sizes, for two classes or more; for two classes
        `prr_mean` is the plain mean (Pathak, Rane and Raj 2010), `local` the mean of models that each party made noisy
        by itself, `central` one model of all rows, and `central_obj` one by objective perturbation.
    calibration
        `prr_mean` and `central` have a published scale.
    trust
        `wsum` has that.
    lam
        A larger one needs less noise, so the default is ten times that of the methods. `central_obj` has a public rule
        for None.
    classes
        There are two, or with `wsum` two and more.

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
