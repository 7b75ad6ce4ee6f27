"""The paper's lemmas and Theorem 4 against exact laws and simulations."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.stats

from protocols.arithmetic.rng import Stream
from smc_dp.data.federation import Federation, Rows
from smc_dp.learning.softmax import certified
from smc_dp.methods.ensemble import Ensemble
from smc_dp.methods.hamm2016 import Soft
from smc_dp.methods.hamm2016_bounds import lemma_2, lemma_5, lemma_6, theorem_4, weighted_loss
from smc_dp.methods.model import LinearModel
from smc_dp.privacy.target import Target
from smc_dp.unit_ball import Array, into_ball


@pytest.mark.parametrize("k", [1, 2, 10, 123])
@pytest.mark.parametrize("delta", [0.5, 0.05, 1e-6])
def test_lemma_5_by_the_exact_distribution(k: int, delta: float) -> None:
    law = scipy.stats.gamma(k, scale=0.3)
    assert law.sf(lemma_5(k, 0.3, delta)) <= delta * (1 + 1e-12)
    if k > 1:
        assert law.sf(lemma_5(k, 0.3, delta) / k) > delta  # twin: theta log(k/delta), as for one dimension


def test_lemma_2_the_losses_meet_as_the_ensemble_grows() -> None:
    rng = np.random.default_rng(0)
    margins, Q = rng.normal(size=200) * 3, rng.uniform(size=200)
    expected = weighted_loss(margins, Q)  # the expectation over v, equation 17
    by_hand = np.mean(Q * np.log1p(np.exp(-margins)) + (1 - Q) * np.log1p(np.exp(margins)))
    assert expected == pytest.approx(by_hand)
    # the gap row by row, averaged over ensembles: alpha is a share of M independent votes
    for M in (1, 10, 1000):
        alpha = rng.binomial(M, Q, size=(400, 200)) / M
        gaps = [
            np.mean(
                [
                    abs(
                        weighted_loss(margins[i : i + 1], a[i : i + 1])
                        - weighted_loss(margins[i : i + 1], Q[i : i + 1])
                    )
                    for i in range(0, 200, 10)
                ]
            )
            for a in alpha
        ]
        bound = lemma_2(margins[::10], Q[::10], M)
        assert 0.4 * bound < np.mean(gaps) <= bound
        means = [weighted_loss(margins, a) for a in alpha]
        assert abs(np.mean(means) - expected) <= 6 * np.std(means) / 20  # alpha is unbiased
        if M > 1:
            assert np.mean(gaps) > lemma_2(margins[::10], Q[::10], M * M)  # twin: 1/M instead of its root


def a_setting(M: int, N: int, d: int) -> tuple[Array, Array, Array]:
    """A population of rows, the shares of positive votes on each, and the numbers of N rows drawn from it."""
    rng = np.random.default_rng(1)
    X = into_ball(rng.normal(size=(500, d)), 2.0)
    alpha = rng.binomial(M, 1 / (1 + np.exp(-6 * X[:, 0]))) / M
    return X, alpha, rng.integers(500, size=N)


def risk(w: Array, X: Array, alpha: Array) -> float:
    return weighted_loss(X @ w, alpha)


def printed_noise(M: int, lam: float, epsilon: float, d: int, draws: int, seed: str) -> Array:
    """What Algorithm 2 adds, taken from releases of the method itself: (draws, d)."""
    party = Rows(np.eye(1, d), np.zeros(1, dtype=np.int64))
    voters = Ensemble(Federation((party,) * M, 2, np.eye(d)), np.zeros((M, 1, d)))
    trained, rng = Soft(lam).train_from(voters), Stream.insecure_from_seed(seed)
    releases = []
    for target in (Target(None), *[Target(Fraction(epsilon), "paper")] * draws):
        model = trained.release(target, rng).model
        assert isinstance(model, LinearModel)
        releases.append(model.W[1] - model.W[0])
    return np.array(releases[1:]) - releases[0]


def test_lemma_6_and_theorem_4_are_never_violated_beyond_delta() -> None:
    M, N, d, lam, epsilon, delta = 50, 300, 5, 0.1, 4.0, 0.2
    X, alpha, drawn = a_setting(M, N, d)
    x, a = X[drawn], alpha[drawn]
    w_s = certified(x, np.column_stack([1 - a, a]), lam)[0]

    def regularised(w: Array) -> float:
        return risk(w, x, a) + lam / 2 * float(w @ w)

    noise = printed_noise(M, lam, epsilon, d, 300, "lemma 6")
    excess = np.array([regularised(w_s + eta) - regularised(w_s) for eta in noise])
    bound = lemma_6(d, lam, M, epsilon, delta)
    assert scipy.stats.binomtest(int((excess > bound).sum()), 300, delta, alternative="greater").pvalue > 1e-6
    # twin: without d^2, as if the length of the noise were exponential
    wrong = int((excess > bound / d**2).sum())
    assert scipy.stats.binomtest(wrong, 300, delta, alternative="greater").pvalue < 1e-12

    w_0 = certified(X, np.column_stack([1 - alpha, alpha]), 1e-3)[0]  # nearly the best there is, on the population
    allowed = theorem_4(d, lam, M, N, epsilon, delta, 0.05, float(np.linalg.norm(w_0)))
    gaps = np.array([risk(w_s + eta, X, alpha) for eta in noise]) - risk(w_0, X, alpha)
    assert (gaps > allowed).mean() <= delta + 0.05
    assert gaps.max() > 0


def test_theorem_4_falls_with_parties_rows_and_epsilon() -> None:
    figures = dict(d=10, lam=0.1, M=100, N=10**6, epsilon=1.0, delta_p=0.05, delta_s=0.05, reference_norm=1.0)
    bound = theorem_4(**figures)  # type: ignore[arg-type]
    # Equation 22 written out
    noise = 4 * 100 * 0.35 * math.log(200) ** 2 / (0.01 * 10**4)
    assert bound == pytest.approx(noise + 16 * (32 + math.log(20)) / 1e5 + 0.05)
    for name in ("M", "N", "epsilon"):
        assert theorem_4(**{**figures, name: 10 * figures[name]}) < bound  # type: ignore[arg-type]
    # 10 times the parties and 1/10 of epsilon: the same noise
    same = theorem_4(**{**figures, "M": 1000, "epsilon": 0.1})  # type: ignore[arg-type]
    assert same == pytest.approx(bound)
