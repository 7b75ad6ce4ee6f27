"""Signal of a release against its noise, from public numbers alone; see `smc_dp.privacy.distributed.sums_signal`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from types import MappingProxyType

from smc_dp.core.errors import InputError
from smc_dp.methods.registry import find_method
from smc_dp.methods.sums.threat_model import ThreatModel
from smc_dp.privacy import distributed
from smc_dp.privacy.sensitivity import add_remove, largest_softmax_norm, logistic_constants, replace_one
from smc_dp.privacy.target import Target

SIGNAL_LAMBDA = 0.1
"""Regularisation that stands for that of a method without one; its signal does not depend on it."""


@dataclass(frozen=True)
class PublicNumbers:
    """Public numbers of a run: rows of each party, columns, classes, target and threat model.

    lam: of the method, if it has one. InputError for numbers that make no sense.
    """

    sizes: tuple[int, ...]
    dimension: int
    classes: int
    target: Target
    threat_model: ThreatModel
    lam: float = SIGNAL_LAMBDA

    def __post_init__(self) -> None:
        if not self.sizes or min(self.sizes) < 1:
            raise InputError("sizes.party_without_rows")
        self.threat_model.require_honest()

    @property
    def rows(self) -> int:
        """Number of rows of all parties."""
        return sum(self.sizes)

    @property
    def mu(self) -> float:
        """Parameter mu of the Gaussian curve that is wanted."""
        return float(self.target.mu)

    @property
    def counted(self) -> float:
        """Factor sqrt(H/K): the cost of the shares of parties that are not counted as honest."""
        return sqrt(self.threat_model.honest / self.threat_model.parties)


def method_signal(method: str, run: PublicNumbers) -> float:
    """Return the length of the released vector against that of its noise, at most or about: 0 or more.

    Of `newton` and `gd` it is n mu/sqrt(d(k-1)) sqrt(H/K); of the others something that means about the same. Noise
    is that of the mechanism specification. InputError for methods that no protocol computes.
    """
    name = find_method(method).name
    if name not in _OF:
        raise InputError("method.not_planned", known=tuple(_OF), got=name)
    return _OF[name](run)


def _of_sums(run: PublicNumbers) -> float:
    K, H = run.threat_model.parties, run.threat_model.honest
    return distributed.sums_signal(run.rows, run.mu, run.dimension, run.classes, H, K)


def _of_models(run: PublicNumbers, moved: float) -> float:
    longest, numbers = largest_softmax_norm(run.classes, 2 * run.lam), run.dimension * (run.classes - 1)
    return 8 * longest / (moved / run.mu * sqrt(numbers)) * run.counted


def _of_prr_mean(run: PublicNumbers) -> float:
    """Compare the longest model with K-norm noise of the smallest party, which is d scales long."""
    found = logistic_constants(2 * run.lam)
    scale = float(found.G) / (2 * run.lam * run.threat_model.parties * min(run.sizes) * float(run.target.wanted))
    return 8 * float(found.W) / (scale * run.dimension)


def _of_parties(run: PublicNumbers) -> float:
    """Return the signal of sums, with a party in place of a record."""
    K = run.threat_model.parties
    return K * run.mu / sqrt(run.dimension * (run.classes - 1)) * run.counted


_OF: MappingProxyType[str, Callable[[PublicNumbers], float]] = MappingProxyType(
    {
        "newton": _of_sums,
        "gd": _of_sums,
        # as of sums, of which five would do as well: noise is in all coefficients, and eigenvalues are lifted for it
        "ofaa": lambda run: _of_sums(run) / 5,
        # the longest model against noise of G/(2 lam n mu) in each number of the mean
        "wsum": lambda run: _of_models(run, float(replace_one(run.rows, 2 * run.lam, 0.0, run.classes))),
        "wsum_ar": lambda run: _of_models(run, float(add_remove(2 * run.lam, 0.0, run.classes)) / run.rows),
        "prr_mean": _of_prr_mean,
        # each party's own noise, as long as d of its scales, on the gradient of its own rows
        "ofpa": lambda run: run.rows * float(run.target.wanted) / (run.dimension * sqrt(run.threat_model.parties)),
        "avg_clip": _of_parties,
        "soft_ss": _of_parties,
    }
)
