"""Collaborative logistic regression with a noisy objective or a noisy polynomial (OFPA and OFAA)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

from typing_extensions import override

from smc_dp.data.bounds import Bounds
from smc_dp.estimators.base import FederatedClassifier
from smc_dp.estimators.docstrings import documented


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class CollaborativeClassifier(FederatedClassifier):
    """Learn a logistic regression of two classes that the parties train in rounds, protecting each record.

    Rows get no bias here: the methods add a coordinate of their own.

    Parameters
    ----------
    method
        The noise perturbs in `ofpa` every party's objective, in `ofaa` a polynomial in place of the objective, and in
        `param_laplace` every party's model.
    calibration
        `ofpa` and `ofaa` have a published scale, with noise `laplace`; `ofpa` is then not private.
    noise
        The proven `ofpa` has `knorm` only, the proven `ofaa` all, `param_laplace` and the published versions `laplace`.
    trust
        `ofaa` has that, and `ofpa` with one round.
    rounds
        How often the server averages, from 1 to 10,000 rounds; a round costs its share of epsilon in `ofpa`, and
        nothing in the proven `ofaa`. None leaves it to the method, and `param_laplace` has none.
    lam
        `ofaa` has none.
    classes
        There are two.

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

    @override
    def _public_bounds(self) -> Bounds | None:
        found = super()._public_bounds()
        return found and replace(found, bias=0.0)
