"""The paper's lemmas and Theorem 4 against exact laws and simulations."""

from __future__ import annotations

import math
from fractions import Fraction
from math import log, sqrt

import numpy as np
import pytest
import scipy.stats

from protocols.arithmetic.rng import Stream
from smc_dp.core.arrays import Array, into_ball
from smc_dp.data.federation import Federation, Rows
from smc_dp.methods.hamm2016.ensemble import Ensemble
from smc_dp.methods.hamm2016.votes import Soft
from smc_dp.methods.model import LinearModel
from smc_dp.methods.training.softmax import certified
from smc_dp.privacy.target import Target

LOGISTIC = 0.25
"""c for the logistic loss."""


def weighted_loss(margins: Array, alpha: Array) -> float:
    """The mean of alpha l(m) + (1 - alpha) l(-m), l the logistic loss (equation 14); margins m = w.x: (n,)."""
    return float(np.mean(alpha * np.logaddexp(0.0, -margins) + (1 - alpha) * np.logaddexp(0.0, margins)))


def lemma_2(margins: Array, Q: Array, M: int) -> float:
    """A bound, over the draw of M independent classifiers, on the mean of |E l^alpha - E l|, which tends to 0.

    Lemma 2 has the limit only. Q: (n,), the probability that a classifier chooses +1 for each row. l(m) - l(-m) = -m
    and alpha has the mean Q and the variance Q(1-Q)/M, so the mean difference of the losses at a row is at most
    |m| sqrt(Q(1-Q)/M).
    """
    return float(np.mean(np.abs(margins) * np.sqrt(Q * (1 - Q)))) / sqrt(M)


def lemma_5(k: int, theta: float, delta: float) -> float:
    """What a Gamma variable of shape k and scale theta exceeds with probability at most delta: k theta log(k/delta).

    It is a sum of k exponential variables, and each exceeds theta log(k/delta) with probability delta/k.
    """
    return k * theta * log(k / delta)


def lemma_6(d: int, lam: float, M: int, epsilon: float, delta: float, c: float = LOGISTIC) -> float:
    """What R(w_p) exceeds R(w_s) by with probability at most delta, R the regularised empirical risk (equation 32).

    R is (c + lam)-smooth with gradient 0 at w_s: (c + lam)/2 times the square of the noise's length by Lemma 5.
    """
    return (c + lam) / 2 * lemma_5(d, 2 / (M * lam * epsilon), delta) ** 2


def theorem_4(
    d: int,
    lam: float,
    M: int,
    N: int,
    epsilon: float,
    delta_p: float,
    delta_s: float,
    reference_norm: float,
    c: float = LOGISTIC,
) -> float:
    """What the expected risk R(w_p) exceeds that of any reference w_0 by, with probability at most delta_p + delta_s.

    Equation 22. Twice Lemma 6, the gap between expected and empirical risk (Sridharan, Shalev-Shwartz and Srebro
    2009, Theorem 1, for a 1-Lipschitz loss), and the reference's regulariser. The votes are fixed here: the
    probabilities are over the noise and the draw of the auxiliary rows.
    """
    gap = 16 * (32 + log(1 / delta_s)) / (lam * N)
    return 2 * lemma_6(d, lam, M, epsilon, delta_p, c) + gap + lam / 2 * reference_norm**2


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


def noise_as_published(M: int, lam: float, epsilon: float, d: int, draws: int, seed: str) -> Array:
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


def beyond(found: Array, bound: float, delta: float) -> float:
    """The p-value of so many figures above the bound, if each is with probability delta at most."""
    return float(scipy.stats.binomtest(int((found > bound).sum()), len(found), delta, alternative="greater").pvalue)


def test_lemma_6_is_not_violated_beyond_delta() -> None:
    M, N, d, lam, epsilon, delta = 50, 300, 5, 0.1, 4.0, 0.2
    X, alpha, drawn = a_setting(M, N, d)
    x, a = X[drawn], alpha[drawn]
    w_s = certified(x, np.column_stack([1 - a, a]), lam)[0]

    def regularised(w: Array) -> float:
        return risk(w, x, a) + lam / 2 * float(w @ w)

    noise = noise_as_published(M, lam, epsilon, d, 300, "lemma 6")
    excess = np.array([regularised(w_s + eta) - regularised(w_s) for eta in noise])
    bound = lemma_6(d, lam, M, epsilon, delta)
    assert beyond(excess, bound, delta) > 1e-6
    # twin: without d^2, as if the length of the noise were exponential
    assert beyond(excess, bound / d**2, delta) < 1e-12


@pytest.mark.slow
def test_theorem_4_is_not_violated_beyond_delta_where_noise_decides() -> None:
    """One dimension and a million rows, so that the gap is small, and Lemma 5 is exact: real runs do pass the bound."""
    M, N, d, lam, delta_p, delta_s = 50, 10**6, 1, 0.1, 0.2, 0.05
    rng = np.random.default_rng(1)
    X = rng.choice([-1.0, 1.0], (500, d)) * (1 - 1e-12)
    alpha, drawn = rng.binomial(M, 0.5, 500) / M, rng.integers(500, size=N)
    w_s = certified(X[drawn], np.column_stack([1 - alpha[drawn], alpha[drawn]]), lam)[0]
    w_0 = certified(X, np.column_stack([1 - alpha, alpha]), lam)[0]

    def gaps(epsilon: float) -> Array:
        noise = noise_as_published(M, lam, epsilon, d, 1000, "theorem 4")
        return np.array([risk(w_s + eta, X, alpha) for eta in noise]) - risk(w_0, X, alpha)

    bound = theorem_4(d, lam, M, N, 1.0, delta_p, delta_s, float(np.linalg.norm(w_0)))
    found = gaps(1.0)
    assert beyond(found, bound, delta_p + delta_s) > 1e-6
    assert (found > bound).mean() > 0.01  # so it is no bound for every draw
    # twins: without the term of the noise, and the noise of a quarter of epsilon
    without = bound - 2 * lemma_6(d, lam, M, 1.0, delta_p)
    assert beyond(found, without, delta_p + delta_s) < 1e-12
    assert beyond(gaps(0.25), bound, delta_p + delta_s) < 1e-12


def test_theorem_4_needs_its_gap_where_rows_are_few() -> None:
    """Votes without any relation to the rows: the best reference is 0, and 20 rows teach something else."""
    M, N, d, lam, epsilon, delta_p, delta_s = 1, 20, 5, 0.01, 1e6, 0.2, 0.05
    rng = np.random.default_rng(2)
    X = np.tile(into_ball(rng.normal(size=(250, d)), 2.0), (2, 1))
    alpha, gaps = np.repeat([0.0, 1.0], 250), []
    for eta in noise_as_published(M, lam, epsilon, d, 100, "gap"):
        drawn = rng.integers(500, size=N)
        w_s = certified(X[drawn], np.column_stack([1 - alpha[drawn], alpha[drawn]]), lam)[0]
        gaps.append(risk(w_s + eta, X, alpha) - math.log(2))
    bound = theorem_4(d, lam, M, N, epsilon, delta_p, delta_s, 0.0)
    assert beyond(np.array(gaps), bound, delta_p + delta_s) > 1e-6
    without = theorem_4(d, lam, M, 10**15, epsilon, delta_p, delta_s, 0.0)
    assert beyond(np.array(gaps), without, delta_p + delta_s) < 1e-12  # twin: as if there were rows without end


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
