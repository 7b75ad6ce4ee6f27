"""Private aggregation of local classifiers (Hamm, Cao and Belkin 2016)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from smc_dp.arrays import Array
from smc_dp.estimators.base import FederatedClassifier
from smc_dp.estimators.checked import number, public_rows
from smc_dp.methods.hamm2016.ensemble import Learner
from smc_dp.privacy.target import Calibration, NoiseName

_POINTS = 1000
_POINTS_SEED = 0  # public


class EnsembleClassifier(FederatedClassifier):
    """Two classes or more; all rows of one party are protected together, so many parties are needed.

    The noise pays for all that a party can say, however many rows it has, and shrinks with the number of parties: five,
    the default so that the smallest tables can be dealt, teach little at epsilon 1. Where a table stands for
    many small holders deal it to many: `EnsembleClassifier(n_parties=500)` for some thousand rows.

    Each party trains a classifier of its own rows. method: `soft_ss`, `soft`, `vote`, `soft_aux` have these label
    public auxiliary rows and train one model on the labels; `avg`, `avg_clip` average the parties' linear models.
    learner: what a party trains, a scikit-learn classifier, a callable (X, y) -> predict, or one of them for each
    party; None is logistic regression. It is given rows of the unit ball and class numbers 0, ..., C-1, places in
    classes_, and must predict such numbers. lam: the regulariser is (lam/2) |w|^2. lam_global: that of `soft_ss` for
    the common model, clip: the norm to which `avg_clip` clips; None leaves both to the method. Parties that a table is
    dealt to stand for groups of its rows; a guarantee for real parties needs `parties` or `fit_parties`.

    The other parameters: help(smc_dp.estimators).
    """

    methods: ClassVar[tuple[str, ...]] = ("soft_ss", "soft", "soft_aux", "vote", "avg", "avg_clip")
    binary: ClassVar[bool] = False
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"auxiliary": True}

    def __init__(
        self,
        method: str = "soft_ss",
        *,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        calibration: Calibration = "proven",
        noise: NoiseName = "knorm",
        lam: float = 1e-4,
        lam_global: float | None = None,
        clip: float | None = None,
        learner: Learner = None,
        n_parties: int = 5,
        radius: float = 1.0,
        bias: float = 1.0,
        classes: Sequence[Any] | None = None,
        insecure_seed: int | None = None,
    ) -> None:
        self.method = method
        self.epsilon = epsilon
        self.delta = delta
        self.calibration = calibration
        self.noise = noise
        self.lam = lam
        self.lam_global = lam_global
        self.clip = clip
        self.learner = learner
        self.n_parties = n_parties
        self.radius = radius
        self.bias = bias
        self.classes = classes
        self.insecure_seed = insecure_seed

    def fit(
        self,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        parties: npt.ArrayLike | None = None,
        auxiliary: npt.ArrayLike | None = None,
    ) -> Self:
        """As `FederatedClassifier.fit`. auxiliary: (N, d), public rows without labels, which are not protected.

        Without any, 1000 points of the ball take their place, drawn by a public seed: as private, but local
        classifiers then meet the common model only where no data are, and it is less accurate. Earlier steps of a
        pipeline transform them only if it is told to: `Pipeline(..., transform_input=["auxiliary"])`.
        """
        data = self._federation(X, y, parties)
        public = self.ball_.rows(self._auxiliary(auxiliary))
        return self._release(replace(data, unlabelled=public), parties is None)

    def _settings(self) -> dict[str, Any]:
        optional = {"lam_global": self.lam_global, "clip": self.clip}
        numbers = {name: None if value is None else number(name, value) for name, value in optional.items()}
        return {"lam": number("lam", self.lam), "learner": self.learner, **numbers}

    def _auxiliary(self, given: npt.ArrayLike | None) -> Array:
        if given is None:
            return self.ball_.radius * points_of_the_ball(self.n_features_in_)
        return public_rows("auxiliary", given, self.n_features_in_)


def points_of_the_ball(d: int) -> Array:
    """1000 points, uniform in the unit ball of R^d, always the same: (1000, d)."""
    generator = np.random.default_rng(_POINTS_SEED)
    directions = generator.standard_normal((_POINTS, d))
    lengths = generator.random((_POINTS, 1)) ** (1 / d)
    points: Array = directions / np.linalg.norm(directions, axis=1, keepdims=True) * lengths
    return points
