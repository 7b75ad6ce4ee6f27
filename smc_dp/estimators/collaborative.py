"""Collaborative logistic regression with a noisy objective or a noisy polynomial (OFPA and OFAA)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from smc_dp.estimators.base import FederatedClassifier
from smc_dp.estimators.checked import number, whole_number
from smc_dp.privacy.target import Calibration, NoiseName


class CollaborativeClassifier(FederatedClassifier):
    """Two classes; each record is protected.

    method: `ofpa`, every party perturbs its objective; `ofaa`, a polynomial in place of the objective is perturbed;
    `param_laplace`, every party adds noise to its model, which takes noise `laplace`. So do the printed forms, with
    calibration `paper`; that of `ofpa` is not private, which privacy_ says. rounds: how often the server averages; a
    round costs its share of epsilon in `ofpa`, and nothing in the proven `ofaa`. lam: the regulariser is
    lam |theta|^2; None leaves it to the method, and `ofaa` has none. The methods have a bias of their own.

    The other parameters: help(smc_dp.estimators).
    """

    methods: ClassVar[tuple[str, ...]] = ("ofpa", "ofaa", "param_laplace")
    binary: ClassVar[bool] = True
    bias: float = 0.0

    def __init__(
        self,
        method: str = "ofpa",
        *,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        calibration: Calibration = "proven",
        noise: NoiseName = "knorm",
        rounds: int | None = None,
        lam: float | None = None,
        n_parties: int = 5,
        radius: float = 1.0,
        classes: Sequence[Any] | None = None,
        insecure_seed: int | None = None,
    ) -> None:
        self.method = method
        self.epsilon = epsilon
        self.delta = delta
        self.calibration = calibration
        self.noise = noise
        self.rounds = rounds
        self.lam = lam
        self.n_parties = n_parties
        self.radius = radius
        self.classes = classes
        self.insecure_seed = insecure_seed

    def _settings(self) -> dict[str, Any]:
        return {
            "rounds": None if self.rounds is None else whole_number("rounds", self.rounds),
            "lam": None if self.lam is None else number("lam", self.lam),
        }
