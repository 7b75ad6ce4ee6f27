"""Private aggregation of local classifiers (Hamm, Cao and Belkin 2016)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt
from typing_extensions import override

from smc_dp.core.arrays import Array
from smc_dp.estimators.base import FederatedClassifier
from smc_dp.estimators.docstrings import documented
from smc_dp.methods.hamm2016.ensemble import Learner
from smc_dp.methods.hamm2016.votes import ONE_ROW_CAVEATS, PUBLIC_ROWS_CAVEAT

GENERATED_AUXILIARY_CAVEAT = (
    "The auxiliary rows are 1000 points of the ball, drawn by a public seed, because none were given: they are "
    "nobody's rows."
)
_POINTS = 1000
_POINTS_SEED = 0  # public


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class EnsembleClassifier(FederatedClassifier):
    """Learn a classifier of two classes or more from the parties' own, protecting all rows of a party at once.

    The noise pays for all that a party can say, however many rows it has, and shrinks with the number of parties: five,
    the default so that the smallest tables can be dealt, teach little at epsilon 1. Where a table stands for
    many small holders deal it to many: `EnsembleClassifier(n_parties=500)` for some thousand rows. Parties that a table
    is dealt to stand for groups of its rows; a guarantee for real parties needs `parties` or `fit_parties`.

    The rows that the parties label are public, and nobody's. Where `fit` is given no `auxiliary`, they are 1000 points
    that are uniform in the ball of the radius, always the same (`smc_dp.estimators.ensemble.points_of_the_ball`).
    Unless `trust` is `secure`, the aggregator, which computes the release, is trusted with what the parties send.

    Parameters
    ----------
    method
        In `soft_ss`, `soft`, `vote` and `soft_aux` the parties' classifiers label public auxiliary rows, and one model
        is trained on the labels.
        `avg` and `avg_clip` average linear models.
    calibration
        `vote`, `soft`, `soft_aux` and `avg` have a published scale.
    noise
        `soft_ss` has no `laplace`.
    trust
        `soft_ss` and `avg_clip` have that.
    lam_global
        Like `lam`, for the common model of `soft_ss`, which alone has it; None leaves it to the method.
    clip
        The length to which `avg_clip`, which alone has it, clips the parties' models, from 2^-20 to 1e6 in the units of
        weights for rows of the unit ball; None leaves it to the method.
    learner : classifier, callable, sequence of these or None
        What a party trains: a scikit-learn classifier, a callable (X, y) -> predict, or one of them for each party;
        None is logistic regression. It is given rows of the unit ball and class numbers 0, ..., C-1, places in
        `classes_`, and must predict such numbers. `avg` and `avg_clip` have logistic regression only.
    classes
        There are at least two.

    References
    ----------
    * J. Hamm, Y. Cao and M. Belkin. Learning privately from multiparty data. ICML 2016.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from smc_dp import EnsembleClassifier
    >>> X, y = make_blobs(3000, centers=[[0.5, 0.0], [-0.5, 0.3], [0.0, -0.5]], cluster_std=0.1, random_state=4)
    >>> model = EnsembleClassifier("soft_ss", epsilon=1.0, n_parties=500, classes=[0, 1, 2])
    >>> model.fit(X[300:], y[300:], auxiliary=X[:300])
    EnsembleClassifier(classes=[0, 1, 2], n_parties=500)
    >>> model.privacy_.kind, model.privacy_.epsilon, model.privacy_.unit
    ('pure', 1.0, 'party')
    >>> model.score(X, y) > 0.9
    True

    """

    methods: ClassVar[tuple[str, ...]] = ("soft_ss", "soft", "soft_aux", "vote", "avg", "avg_clip")
    binary: ClassVar[bool] = False
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"auxiliary": True}

    method: str = field(default="soft_ss", kw_only=False)
    lam: float = 1e-4
    lam_global: float | None = None
    clip: float | None = None
    learner: Learner = None

    @override
    @documented
    def fit(  # noqa: D417  filled in
        self,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        parties: npt.ArrayLike | None = None,
        auxiliary: npt.ArrayLike | None = None,
    ) -> Self:
        """Train, draw noise, keep what is released and nothing else.

        Parameters
        ----------
        X, y, parties
        auxiliary : {array-like, sparse matrix} of shape (N, d), default=None
            Public rows without labels, which are not protected. Without any, 1000 points of the ball take their place,
            drawn by a public seed: as private, but local classifiers then meet the common model only where no data are,
            and it is less accurate. Earlier steps of a pipeline transform them only if it is told to:
            `Pipeline(..., transform_input=["auxiliary"])`.

        """
        data = self._federation(X, y, parties)
        public = self._auxiliary(auxiliary)
        self._release(replace(data, unlabelled=public), parties is None)
        if auxiliary is None:
            of_others = (
                caveat for caveat in self.privacy_.caveats if caveat not in (PUBLIC_ROWS_CAVEAT, *ONE_ROW_CAVEATS)
            )
            self.privacy_ = replace(self.privacy_, caveats=(GENERATED_AUXILIARY_CAVEAT, *of_others))
        return self

    def _auxiliary(self, given: npt.ArrayLike | None) -> Array:
        if given is None:
            return self.ball_.rows(self.ball_.radius * points_of_the_ball(self._width))
        return self._public_rows("auxiliary", given)


def points_of_the_ball(d: int) -> Array:
    """Return 1000 points, uniform in the unit ball of R^d, always the same: (1000, d)."""
    generator = np.random.default_rng(_POINTS_SEED)
    directions = generator.standard_normal((_POINTS, d))
    lengths = generator.random((_POINTS, 1)) ** (1 / d)
    points: Array = directions / np.linalg.norm(directions, axis=1, keepdims=True) * lengths
    return points
