"""The peers: what a row can do to a step, rows drawn one by one, the accounting, and a library that is missing."""

from __future__ import annotations

import math
import sys
from fractions import Fraction

import numpy as np
import pytest

from protocols.arithmetic.rng import Stream
from smc_dp.data.federation import Federation, Rows
from smc_dp.data.load_pool import load_pool
from smc_dp.data.partition import Partition, partition_pool
from smc_dp.experiments.compare import peers
from smc_dp.experiments.compare.peers import Diffprivlib, DpSgd
from smc_dp.experiments.compare.plan import GridEntry
from smc_dp.privacy.target import Target
from tests.support.refusals import refused

DELTA = Fraction(1, 10**5)
SGD = Target(Fraction(1), noise="gauss", delta=DELTA)


def first_sum(rows: Rows, classes: int, clip: float) -> np.ndarray:
    """The sum of clipped gradients at zero, without noise."""
    one = DpSgd(rate=1.0, steps=1, clip=clip, speed=1.0, momentum=0.0)
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
    one = DpSgd(rate=rate, steps=1, momentum=0.0)
    counts = [np.count_nonzero(one.descend(rows, 2, 0.0, np.random.default_rng(seed))[0]) for seed in range(300)]
    assert abs(np.mean(counts) - n * rate) < 4 * math.sqrt(n * rate * (1 - rate) / 300)
    assert 0.75 < np.var(counts) / (n * rate * (1 - rate)) < 1.3


@pytest.mark.slow
def test_the_noise_gives_what_is_stated_and_no_more():
    """Half of epsilon for a row more or less, twice; the twin, a tenth less noise, does not."""
    from dp_accounting.pld.pld_privacy_accountant import PLDAccountant  # seconds, which the others need not wait for

    peer = DpSgd()
    noise = peers.noise_multiplier(1.0, float(DELTA), peer.rate, peer.steps)
    delta = float(DELTA) / (1 + math.exp(0.5))

    def given(noise: float) -> float:
        return float(PLDAccountant().compose(peers.sampled_event(noise, peer.rate, peer.steps)).get_epsilon(delta))

    assert 0.49 < given(noise) <= 0.5
    assert given(0.9 * noise) > 0.5


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


def test_peers_are_entries_of_grids_and_want_their_own_noise():
    assert GridEntry("x", "dp_sgd", "proven", (Fraction(1),), options=(("rate", 0.5),)).make() == DpSgd(rate=0.5)
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
