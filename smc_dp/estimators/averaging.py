"""Averages of the parties' models (Pathak, Rane and Raj 2010), and what they are compared with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from smc_dp.estimators.base import FederatedClassifier
from smc_dp.estimators.checked import number
from smc_dp.privacy.target import Calibration, NoiseName


class AveragingClassifier(FederatedClassifier):
    """Two classes; each record is protected.

    method: `wsum`, the mean of the parties' models weighted by their sizes; `prr_mean`, the plain mean (Pathak, Rane
    and Raj 2010); `local`, the mean of models that each party made noisy by itself; `central`, one model of all rows.
    lam: the regulariser is lam |w|^2; a larger one needs less noise, so the default is ten times that of the methods.
    calibration: `proven`, or `paper` for the printed scale of the noise; privacy_ states what that is proved to give at
    most.

    The other parameters: help(smc_dp.estimators).
    """

    methods: ClassVar[tuple[str, ...]] = ("wsum", "prr_mean", "local", "central")
    binary: ClassVar[bool] = True

    def __init__(
        self,
        method: str = "wsum",
        *,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        calibration: Calibration = "proven",
        noise: NoiseName = "knorm",
        lam: float = 1e-2,
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
        self.n_parties = n_parties
        self.radius = radius
        self.bias = bias
        self.classes = classes
        self.insecure_seed = insecure_seed

    def _settings(self) -> dict[str, Any]:
        return {"lam": number("lam", self.lam)}
