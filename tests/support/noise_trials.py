"""What noise really costs: one release with noise and one without, of the same rows, on rows that were held out.

A trial computes what a run would: the method by its specification, with the noise of all parties, calibrated for those
who are counted as honest. It is one release with noise, no average of several, as whoever runs it sees one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from protocols.arithmetic.rng import Stream
from smc_dp.data.federation import Federation, Rows
from smc_dp.methods.functionality import ideal
from smc_dp.methods.gradients.contributor import Contributor
from smc_dp.methods.gradients.gradient_sums import GradientSums
from smc_dp.methods.method import NeedsRowCounts, default_secure_noise
from smc_dp.methods.model import ReleasedModel
from smc_dp.methods.registry import find_method
from smc_dp.methods.sums.simulated_sum import SimulatedSum, has_secure_sum
from smc_dp.methods.sums.threat_model import AnnouncedRows, ThreatModel
from smc_dp.privacy.distributed import SharedRounds
from smc_dp.privacy.pathak2010 import LARGEST_N
from smc_dp.privacy.target import Target


@dataclass(frozen=True)
class TrialSetting:
    """Public numbers of a run, and a seed for everything that is not."""

    method: str
    source: str
    sizes: tuple[int, ...]
    epsilon: float
    delta: float
    colluders: int
    dropouts: int
    lam: float
    seed: int


@dataclass(frozen=True)
class NoiseTrial:
    """What came out: test accuracies without noise and with."""

    without: float
    noisy: float
    tested: int

    @property
    def lost(self) -> float:
        """The accuracy lost; below 0 where the noise happened to help."""
        return self.without - self.noisy


def tried(setting: TrialSetting, federation: Federation, test: Rows) -> NoiseTrial:
    """One release with noise, and one without."""
    method = made(setting, federation)
    noise = default_secure_noise(method) if has_secure_sum(method) else method.noises[0]
    target = Target(Fraction(repr(setting.epsilon)), noise=noise, delta=Fraction(repr(setting.delta)))
    rng = Stream.insecure_from_seed(f"noise {setting.seed}")
    run = _sums if setting.method in ("newton", "gd") else _one_sum
    without, noisy = run(method, setting, federation, target, rng)
    return NoiseTrial(without.accuracy(test), noisy.accuracy(test), len(test))


def made(setting: TrialSetting, federation: Federation) -> Any:
    """The method as a run would take it."""
    kind: Any = find_method(setting.method)
    method = kind(lam=setting.lam) if "lam" in kind.__dataclass_fields__ else kind()
    return method.with_row_counts(tuple(federation.sizes.tolist())) if isinstance(method, NeedsRowCounts) else method


def _one_sum(
    method: Any, setting: TrialSetting, federation: Federation, target: Target, rng: Stream
) -> tuple[ReleasedModel, ReleasedModel]:
    trained = method.train(federation)
    if has_secure_sum(method):
        threat_model = ThreatModel(len(federation.parties), setting.colluders, setting.dropouts)
        trained = SimulatedSum.of(method, federation, threat_model, LARGEST_N).train()
    return trained.release(replace(target, epsilon=None), rng).model, trained.release(target, rng).model


def _sums(
    method: Any, setting: TrialSetting, federation: Federation, target: Target, rng: Stream
) -> tuple[ReleasedModel, ReleasedModel]:
    """All rows as if one party had them, with the noise of all: the sums are the same, and so is their law.

    A sum of discrete Gaussians is one of the summed variance but for what `GaussianShares.closeness` counts.
    """
    threat_model = ThreatModel(len(federation.parties), setting.colluders, setting.dropouts)
    pooled = method.prepare(federation.pooled(), federation.public)
    found = []
    for wanted in (replace(target, epsilon=None), target):
        spec: GradientSums = method.shared(federation.public, wanted, threat_model, AnnouncedRows(LARGEST_N))
        own = Contributor(
            pooled, _of_all(spec.noise, threat_model.parties), spec.steps, rng if wanted.epsilon else None
        )
        found.append(spec.model(ideal(spec.functionality, [own], rng)))
    return found[0], found[1]


def _of_all(noise: SharedRounds, parties: int) -> SharedRounds:
    laws = tuple(tuple(replace(law, variance=parties * law.variance) for law in laws) for laws in noise.distributions)
    return replace(noise, distributions=laws)
