"""An empirical lower bound on epsilon through the whole protocol, from what everybody sees: the published shares.

Two neighbouring inputs differ by the whole sensitivity in one weight. An attacker picks, on half of the runs, the
threshold that tells them apart best; on the other half, Clopper-Pearson intervals give a bound on epsilon that holds
with probability 1 - ALPHA.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from math import inf, isclose, log

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import beta, binom

from protocols.arithmetic.rng import Stream
from smc_dp.aggregation import Contribution, Outcome, ProtocolSettings, ideal, secure
from smc_dp.learning.solver import minimise
from smc_dp.methods.pathak2010 import Settings
from smc_dp.privacy.noise import KNorm

D2, EPSILON = 1 << 20, Fraction(1)  # the sensitivity in grid units, and what is claimed
ALPHA = 0.01
SETTINGS = ProtocolSettings(1, 64, key_bits=512, insecure_test_keys=True)
Event = tuple[int, int]  # (sign, threshold): sign * x >= threshold


def contributions(moved: int, scale: Fraction, rng: Stream) -> list[Contribution]:
    """Two parties, the smaller one with one weight moved; each draws its own noise."""
    noise = [tuple(KNorm(1, scale).sample(rng.fork(f"noise {j}"))) for j in range(2)]
    return [Contribution("north", 40, (moved,), noise[0]), Contribution("south", 90, (-123_456,), noise[1])]


def release(outcome: Outcome) -> int:
    """The sum of all published shares as a signed integer."""
    S = sum(share[0] for share in outcome.shares.values()) % outcome.modulus
    return S - outcome.modulus if outcome.modulus // 2 < S else S


def by_protocol(moved: int, scale: Fraction, rng: Stream) -> int:
    return release(secure(contributions(moved, scale, rng), SETTINGS, rng=rng.fork("protocol")))


def in_the_clear(moved: int, scale: Fraction, rng: Stream) -> int:
    return release(ideal(contributions(moved, scale, rng), SETTINGS.ring_bits, rng.fork("ideal")))


def epsilon_at_least(left: Sequence[int], right: Sequence[int]) -> float:
    """A lower bound on the epsilon of whatever made the two samples, right with probability at least 1 - ALPHA."""
    half = len(left) // 2
    pooled = sorted((*left[:half], *right[:half]))[half // 4 : -half // 4 : 10]  # no thresholds in thin tails
    events = [(sign, sign * t) for sign in (1, -1) for t in pooled]
    pairs = ((left, right), (right, left))
    best = max(
        ((event, pair) for event in events for pair in (0, 1)),
        key=lambda choice: bound(choice[0], *(sample[:half] for sample in pairs[choice[1]])),
    )
    return bound(best[0], *(sample[half:] for sample in pairs[best[1]]))


def bound(event: Event, likely: Sequence[int], unlikely: Sequence[int]) -> float:
    """log of a lower confidence limit of P(event) in one world over an upper one in the other."""
    sign, threshold = event
    k, m = (sum(sign * x >= threshold for x in sample) for sample in (likely, unlikely))
    low = beta.ppf(ALPHA / 2, k, len(likely) - k + 1) if k else 0.0
    high = beta.ppf(1 - ALPHA / 2, m + 1, len(unlikely) - m) if m < len(unlikely) else 1.0
    return log(low / high) if low else -inf


def audited(run: Callable[[int, Fraction, Stream], int], scale: Fraction, count: int) -> float:
    """The bound from `count` runs on each of two neighbours."""
    samples = [
        [run(moved, scale, Stream.insecure_from_seed(f"audit {moved} {i}")) for i in range(count)] for moved in (0, D2)
    ]
    return epsilon_at_least(*samples)


@pytest.mark.slow
def test_through_the_whole_protocol_the_bound_is_below_epsilon_and_not_idle() -> None:
    assert 0.4 < audited(by_protocol, D2 / EPSILON, 1000) <= EPSILON


@pytest.mark.slow
def test_through_the_whole_protocol_a_quarter_of_the_noise_is_caught() -> None:
    assert audited(by_protocol, D2 / EPSILON / 4, 250) > EPSILON


def test_the_audit_itself_in_the_clear() -> None:
    """The same attacker on the ideal functionality, with the same numbers of runs."""
    assert 0.4 < audited(in_the_clear, D2 / EPSILON, 1000) <= EPSILON
    assert audited(in_the_clear, D2 / EPSILON / 4, 250) > EPSILON


def test_the_bound_solves_the_binomial_tails() -> None:
    """300 of 500 against 100 of 500: the limits by their definition."""
    likely, unlikely = [1] * 300 + [0] * 200, [1] * 100 + [0] * 400
    low = brentq(lambda p: binom.sf(299, 500, p) - ALPHA / 2, 0.01, 0.99)
    high = brentq(lambda p: binom.cdf(100, 500, p) - ALPHA / 2, 0.01, 0.99)
    assert isclose(bound((1, 1), likely, unlikely), log(low / high))
    assert bound((-1, 0), unlikely, likely) < bound((1, 1), likely, unlikely)
    assert bound((1, 1), [0] * 50, unlikely) == -inf
    assert bound((1, 0), [0] * 50, unlikely) < 0


@cache
def trained(lam: str) -> tuple[int, int]:
    """The weight on the grid that a party learns from one row at x = 1 and nineteen at 0, and with that row's label
    changed.

    Rows at 0 curve the objective least, so this comes within 2 % of the sensitivity that the noise is calibrated to.
    """
    settings, X = Settings(lam=Fraction(lam)), (1 - 2.0**-40) * np.eye(20)[:, :1]
    labels = np.where(np.arange(20) % 2, 1.0, -1.0)
    neighbour = np.where(np.arange(20) == 0, 1.0, labels)
    models = [settings.grid.encode(minimise(settings.objective, X, y).weights.tolist()) for y in (labels, neighbour)]
    return models[0][0], models[1][0]


def from_rows(factor: Fraction, lam: str = "1") -> float:
    """The bound for release of a party's model in the clear, its noise as calibrated, times `factor`."""
    settings = Settings(lam=Fraction(lam))
    calibrated = settings.noise_of(20, 2, 1)
    assert isinstance(calibrated, KNorm)
    noise, rng = KNorm(1, calibrated.scale * factor), Stream.insecure_from_seed("audit from rows")
    samples = [[w + noise.sample(rng)[0] for _ in range(4000)] for w in trained(lam)]
    return epsilon_at_least(*samples)


def test_from_rows_to_release_the_calibration_is_right_and_not_idle() -> None:
    """Training, sensitivity, grid and noise together: near epsilon for the worst neighbours, never above it."""
    assert 0.7 < from_rows(Fraction(1)) <= EPSILON


def test_noise_for_twice_the_strong_convexity_is_caught() -> None:
    """What taking lambda w.w for lambda/2 w.w the wrong way round, or forgetting half of the rows, would give."""
    assert from_rows(Fraction(1, 2)) > EPSILON
