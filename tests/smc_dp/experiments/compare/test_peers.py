"""The peers: what a row can do to a step, rows drawn one by one, the accounting, and a library that is missing."""

from __future__ import annotations

import math
import sys
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import norm

from protocols.arithmetic.rng import Stream
from smc_dp.data.federation import Federation, Rows
from smc_dp.data.load_pool import load_pool
from smc_dp.data.partition import Partition, partition_pool
from smc_dp.experiments.compare import peers
from smc_dp.experiments.compare.peers import Diffprivlib, DpSgd, SgdSettings
from smc_dp.experiments.compare.plan import GridEntry
from smc_dp.privacy.target import Target
from tests.support.refusals import refused

DELTA = Fraction(1, 10**5)
SGD = Target(Fraction(1), noise="gauss", delta=DELTA)


def first_sum(rows: Rows, classes: int, clip: float) -> np.ndarray:
    """The sum of clipped gradients at zero, without noise."""
    one = SgdSettings(rate=1.0, steps=1, clip=clip, speed=1.0, momentum=0.0)
    return -len(rows) * one.descend(rows, classes, 0.0, np.random.default_rng(0))


def test_a_row_moves_a_step_by_the_clip_at_most():
    """Also where it is far outside of the unit ball; the twin, a clip that is never reached, lets it move further."""
    X = np.random.default_rng(1).normal(size=(40, 7))
    y = np.arange(40) % 3
    moved = [
        max(
            np.linalg.norm(
                first_sum(Rows(X, y), 3, clip) - first_sum(Rows(np.delete(X, j, 0), np.delete(y, j)), 3, clip)
            )
            for j in range(40)
        )
        for clip in (0.5, 1e9)
    ]
    assert 0.5 - 1e-9 <= moved[0] <= 0.5 + 1e-9
    assert moved[1] > 1


def test_every_row_is_drawn_by_a_coin_of_its_own():
    """The number of rows of a step is binomial, which a batch of a fixed size, as many use, is not."""
    n, rate = 400, 0.2
    rows = Rows(np.eye(n), np.zeros(n, dtype=np.int64))
    one = SgdSettings(rate=rate, steps=1, clip=0.5, speed=1.6, momentum=0.0)
    counts = [np.count_nonzero(one.descend(rows, 2, 0.0, np.random.default_rng(seed))[0]) for seed in range(300)]
    assert abs(np.mean(counts) - n * rate) < 4 * math.sqrt(n * rate * (1 - rate) / 300)
    assert 0.75 < np.var(counts) / (n * rate * (1 - rate)) < 1.3


def one_step(noise: float, rate: float, epsilon: float) -> float:
    """Delta of one step by its definition: the best threshold on the noisy sum, rows of 1 and -1 in it or not."""
    t = np.linspace(-8 * noise, 8 * noise, 200_001)
    tails = [(1 - rate) * norm.sf(t, 0, noise) + rate * norm.sf(t, row, noise) for row in (1, -1)]
    return float(np.max(tails[0] - math.exp(epsilon) * tails[1]))


def full_steps(noise: float, steps: int, epsilon: float) -> float:
    """Delta of steps with all rows by the formula of Balle and Wang (2018), for sums 2 sqrt(steps) apart."""
    apart = 2 * math.sqrt(steps) / noise
    return float(norm.cdf(apart / 2 - epsilon / apart) - math.exp(epsilon) * norm.cdf(-apart / 2 - epsilon / apart))


def drawn_steps(noise: float, rate: float, steps: int, epsilon: float) -> float:
    """Delta of steps with sampled rows by a million drawn privacy losses."""
    drawn = np.random.default_rng(3)
    total = np.zeros(1_000_000)
    for _ in range(steps):
        z = (drawn.random(len(total)) < rate) + noise * drawn.standard_normal(len(total))
        log = [np.logaddexp(math.log1p(-rate), math.log(rate) + (s * z - 0.5) / noise**2) for s in (1, -1)]
        total += log[0] - log[1]
    return float(np.mean(np.maximum(0, 1 - np.exp(epsilon - total))))


def test_replacing_a_row_costs_what_is_stated_and_no_less_noise_does():
    """By the definition, which knows nothing of the accounting; the twin, 3 % less noise, costs more."""
    epsilon, delta, rate = 1.0, float(DELTA), 0.1
    noise = peers.noise_multiplier(epsilon, delta, rate, 1)
    assert 0.9 * delta < one_step(noise, rate, epsilon) <= delta * 1.001
    assert one_step(0.97 * noise, rate, epsilon) > delta * 1.001


@pytest.mark.slow
def test_steps_together_cost_what_is_stated_and_no_less_noise_does():
    """By a formula for steps with all rows, and by draws for sampled ones; the twin, 3 % less noise, costs more."""
    noise = peers.noise_multiplier(0.5, float(DELTA), 1.0, 30)
    assert 0.9 * DELTA < full_steps(noise, 30, 0.5) <= float(DELTA) * 1.001
    assert full_steps(0.97 * noise, 30, 0.5) > float(DELTA) * 1.001
    noise = peers.noise_multiplier(0.5, 0.01, 0.2, 10)
    assert 0.97 * 0.01 < drawn_steps(noise, 0.2, 10, 0.5) < 1.03 * 0.01
    assert drawn_steps(0.97 * noise, 0.2, 10, 0.5) > 1.03 * 0.01


@pytest.mark.slow
def test_dp_sgd_learns_in_one_place():
    dealt, test = partition_pool(load_pool("breast_cancer"), Partition(parties=5), 1)
    release = DpSgd().train(dealt).release(SGD, Stream.from_system())
    assert release.privacy.epsilon == 1
    assert release.privacy.delta == float(DELTA)
    assert release.privacy.adjacency == "replace"
    assert "had all rows" in release.privacy.adversary
    assert release.model.accuracy(test) > 0.7
    seeded = DpSgd().train(dealt).release(SGD, Stream.insecure_from_seed(1))
    assert seeded.privacy.kind == "none"


def test_a_missing_library_is_one_sentence(monkeypatch):
    """With what puts it there; nothing is refused that does not need it."""
    monkeypatch.setitem(sys.modules, "diffprivlib.models", None)
    rows = Federation((Rows(np.eye(2), np.array([0, 1])),), 2)
    with refused("peer.not_installed"):
        Diffprivlib().train(rows)
    assert peers.missing_peers() == (peers.NO_DIFFPRIVLIB,)
    assert DpSgd().train(rows) is not None


def test_settings_of_dp_sgd_follow_from_rows_times_epsilon(monkeypatch):
    """Public numbers alone; the noise is that of the very settings."""
    asked = list[tuple[float, int]]()
    monkeypatch.setattr(peers, "noise_multiplier", lambda e, d, rate, steps: asked.append((rate, steps)) or 1.0)
    for rows, epsilon in ((199, 10), (200, 10), (200, 9)):
        X = np.random.default_rng(1).normal(size=(rows, 3)) / 4
        trained = DpSgd().train(Federation((Rows(X, np.arange(rows) % 2),), 2))
        trained.release(Target(Fraction(epsilon), noise="gauss", delta=DELTA), Stream.from_system())
    assert asked == [(1.0, 60), (0.05, 100), (1.0, 60)]


def test_peers_are_entries_of_grids_and_want_their_own_noise():
    assert GridEntry("x", "dp_sgd", "proven", (Fraction(1),)).make() == DpSgd()
    assert GridEntry("x", "diffprivlib", "proven", (Fraction(1),)).make() == Diffprivlib()
    with refused("comparison.unknown_option", method="dp_sgd", option="'lam'"):
        GridEntry("x", "dp_sgd", "proven", (Fraction(1),), options=(("lam", 0.5),)).make()
    for target in (Target(None, noise="gauss"), Target(Fraction(1)), Target(Fraction(1), "paper")):
        with refused("peer.needs_noise" if target.epsilon is None else "peer.other_noise", peer="dp_sgd"):
            peers.requested_epsilon(target, DpSgd())


def test_diffprivlib_is_pure_and_has_all_rows():
    if peers.missing_peers():
        pytest.skip("diffprivlib: the extra `peers` is not installed")
    dealt, test = partition_pool(load_pool("breast_cancer"), Partition(parties=5), 1)
    release = Diffprivlib().train(dealt).release(Target(Fraction(10)), Stream.from_system())
    assert (release.privacy.kind, release.privacy.epsilon) == ("pure", 10)
    assert "had all rows" in release.privacy.adversary
    assert release.model.accuracy(test) > 0.8
    again = [
        Diffprivlib().train(dealt).release(Target(Fraction(10)), Stream.insecure_from_seed(1)).model.W for _ in "ab"
    ]
    assert np.array_equal(*again)
