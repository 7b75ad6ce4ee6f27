"""Averages of the parties' models (Pathak, Rane and Raj 2010), and what they are compared with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from smc_dp.estimators.base import FederatedClassifier
from smc_dp.estimators.checked import number
from smc_dp.estimators.documented import documented


@documented
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
    calibration
        `prr_mean` and `central` have a printed scale.
    trust
        `wsum` has that.
    lam : float or None, default=0.01
        The weight of the regulariser `lam |w|^2` beside the mean log-loss, a pure number from 2^-29 to 1e6. A larger
        one needs less noise, so the default is ten times that of the methods. None leaves it to the method, and
        `central_obj` has a public rule for it.
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

    def _settings(self) -> dict[str, Any]:
        return {"lam": None if self.lam is None else number("lam", self.lam)}
