"""Noise of R sums: what is charged against all pairs of records, and against exact and drawn noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import pytest
from support.repetitions import with_slow

from protocols.arithmetic.rng import Stream
from smc_dp.core.arrays import Array
from smc_dp.privacy.distributed.rounds import Curvature, RoundBound, SharedRounds, rounds_statement, sums_signal
from smc_dp.privacy.distributed.share_distributions import GaussianShares
from smc_dp.privacy.gaussian import VARIANCE_LOST, epsilon_of, mu_for, mu_keeps
from smc_dp.privacy.target import Target
from tests.support.refusals import refused

DELTA = Fraction(1, 10**5)
ONE = Target(Fraction(1), noise="ddg", delta=DELTA)
B, Q, LATER = 1 << 14, 1 << 28, 1 << 25
Change = Literal["replace", "addremove"]
CHANGES: tuple[Change, ...] = ("replace", "addremove")


def newton(change: Change = "replace", d: int = 7, rounds: int = 8, k: int = 2) -> tuple[RoundBound, ...]:
    p, first = (d, B) if k == 2 else (k * d, math.isqrt(k * (k - 1) * B**2 - 1) + 1)
    later = RoundBound(change, p, LATER if k == 2 else math.isqrt((1 << 54) * (k - 1) // k * 4) // 2)
    return (RoundBound(change, p, first, Curvature(d, Q)), *(later for _ in range(rounds - 1)))


def made(steps: tuple[RoundBound, ...], target: Target = ONE, **changes: Any) -> SharedRounds:
    usual: dict[str, Any] = {"parties": 5, "honest": 3, "most_rows": 10**5}
    return SharedRounds.calibrated(target, steps, **usual | changes)


def left(law: GaussianShares, smoothing: int = VARIANCE_LOST) -> float:
    """What is left of the variance of H shares."""
    return float(law.honest * law.variance - smoothing)


# What is charged.


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize(
    ("place", "epsilon"),
    [
        *((place, Fraction(1, 3)) for place in ({}, {"k": 6}, {"rounds": 1}, {"rounds": 58}, {"d": 1})),
        *(({}, epsilon) for epsilon in (Fraction(1, 10**9), Fraction(12))),
    ],
    ids=str,
)
def test_rounds_cost_what_was_asked_for_and_no_more(change: Change, place: dict[str, int], epsilon: Fraction) -> None:
    target = replace(ONE, epsilon=epsilon)
    steps = newton(change, **place)
    found = made(steps, target)
    assert target.mu**2 * (1 - Fraction(1, 10**6)) < found.mu_squared <= target.mu**2
    assert all(law.variance.denominator == 1 and law.honest == 3 for laws in found.distributions for law in laws)
    statement = rounds_statement(found, target, "anyone", ("A caveat.",))
    assert (statement.kind, statement.unit, statement.adjacency) == ("zcdp", "record", change)
    assert (statement.adversary, statement.caveats) == ("anyone", ("A caveat.",))
    assert statement.epsilon is not None
    assert statement.rho is not None
    assert Fraction(statement.epsilon) >= epsilon > Fraction(statement.epsilon) * (1 - Fraction(1, 2**50))
    assert statement.mu is not None
    assert found.mu_squared <= Fraction(statement.mu) ** 2 <= target.mu**2
    assert found.rho <= Fraction(statement.rho)
    assert float(found.rho) == pytest.approx(float(found.mu_squared) / 2, rel=1e-2)
    # Twins: a round that is answered once more, and a variance without the 9.
    again = replace(found, steps=(*steps, steps[-1]), distributions=(*found.distributions, found.distributions[-1]))
    R = len(steps)
    assert again.mu_squared == pytest.approx(float(found.mu_squared) * (R + 1) / R, rel=1e-4)
    assert not mu_keeps(again.mu_squared, epsilon, DELTA)
    bare = Fraction(LATER**2 * (4 if change == "replace" else 1) * R) / target.mu**2 / 3
    small = SharedRounds((newton(change)[1],) * R, ((GaussianShares(7, 3, bare),),) * R, 64)
    assert small.mu_squared > target.mu**2


def test_the_first_curvature_is_free_and_both_cost_as_designed() -> None:
    """c^2 is 8 E/A at a gradient clipped at 1/2 or at the start: 1, 1.125 and 1.5625 times the gradient alone."""
    found = made(newton())
    alone = made(tuple(replace(step, curvature=None) for step in newton()))
    assert found.distributions[0][0] == alone.distributions[0][0]
    for ratio, start, wanted in ((1 / 2, True, 1), (1 / 2, False, 1.125), (2, False, 1.5625), (1, False, 1.25)):
        step = RoundBound("replace", 7, B, Curvature(7, Q, Fraction(ratio), start))
        both = step.distributions(Fraction(1, 100), 3)
        assert left(both[2]) == pytest.approx(left(both[1]) / 2, rel=1e-5)
        assert left(both[0]) / (left(alone.distributions[1][0]) / LATER**2) == pytest.approx(
            wanted * B**2 * float(ONE.mu**2) * 100 / 8, rel=1e-5
        )
    added = made(newton("addremove"))
    assert left(found.distributions[0][0]) / left(added.distributions[0][0]) == pytest.approx(4 / 1.5, rel=1e-5)


def moved(laws: tuple[GaussianShares, ...], g: Array, H: Array, smoothing: int = VARIANCE_LOST) -> Array:
    """The sum of squares of what entries move, over the variances of their noise, for (..., p) and (..., d, d)."""
    found = (g**2).sum(axis=-1) / left(laws[0], smoothing)
    if len(laws) > 1:
        d = H.shape[-1]
        up = np.triu_indices(d, 1)
        found = found + (np.einsum("...ii->...i", H) ** 2).sum(axis=-1) / left(laws[1], smoothing)
        found = found + (H[..., up[0], up[1]] ** 2).sum(axis=-1) / left(laws[2], smoothing)
    return np.asarray(found)


def largest(step: RoundBound, laws: tuple[GaussianShares, ...], k: int = 2, *, weighted: bool = False) -> float:
    """Over a grid of pairs of records with rows in the plane; at the start length, weight and label decide all."""
    angle = np.linspace(0, 2 * np.pi, 721)
    sizes = np.linspace(0, 1, 9)
    start = step.curvature is not None and step.curvature.start
    found = 0.0
    for label in range(k):
        c = k * np.eye(k) - 1 if k > 2 else np.array([[1.0], [-1.0]])
        c /= np.linalg.norm(c[0])
        for a in sizes if start else (0, 1):
            r, q = np.array([(b, q) for b in (0.0, 1.0) for q in (0, 0.5, 1.0)]).T
            if start:
                r, q = np.array([(v * b, v * b**2) for b in sizes for v in (sizes if weighted else (1.0,))]).T
            owns = [a * b for b in sizes if b >= a] if weighted else [a**2]  # a = v b
            for own in owns if start else (0, 0.5, 1):
                one = np.array([1.0, 0.0])
                other = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
                g = step.bound * (a * np.kron(c[0], one) - np.einsum("i,c,jd->ijcd", r, c[label], other).reshape(
                    len(r), len(angle), -1))  # fmt: skip
                H = Q * (own * np.outer(one, one) - np.einsum("i,jc,jd->ijcd", q, other, other))
                if step.adjacency == "addremove":
                    g, H = step.bound * np.einsum("i,jd->ijd", r, other), Q * np.einsum(
                        "i,jc,jd->ijcd", q, other, other)  # fmt: skip
                found = max(found, float(moved(laws, g, H).max()))
    return found


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("ratio", with_slow([Fraction(1, 4), Fraction(1), Fraction(8)], Fraction(1)), ids=str)
@pytest.mark.parametrize("kind", ["start", "later", "softmax"])
def test_no_pair_of_records_costs_more_than_is_charged_and_one_costs_as_much(
    change: Change, ratio: Fraction, kind: str
) -> None:
    k = 3 if kind == "softmax" else 2
    p, bound = (2, B) if k == 2 else (6, math.isqrt(6 * B**2) + 1)
    step = RoundBound(change, p, bound, Curvature(2, Q, ratio, kind != "later"))
    laws = step.distributions(Fraction(1, 50), 3)
    cost, found = float(step.cost(laws)), largest(step, laws, k)
    assert cost <= 1 / 50
    assert 0.995 * cost < found <= cost * (1 + 1e-9)
    if kind == "start" and change == "replace" and ratio != 1:
        assert largest(step, laws, k, weighted=True) == pytest.approx(found, rel=1e-9)  # weights make no pair worse
    plain = (*laws[:2], replace(laws[2], variance=laws[1].variance))  # as much noise beside the diagonal as on it
    assert step.cost(plain) == step.cost(laws)  # is more than is needed
    thin = (*laws[:2], replace(laws[2], variance=laws[1].variance / 4))  # and a quarter is too little
    assert step.cost(thin) > (1.2 if change == "addremove" or ratio > 1 else 0.999) * cost
    # Twins: the larger one of both parts, and at later rounds what holds at the start.
    parts = [4 * bound**2 / left(laws[0]), 2 * Q**2 / left(laws[1])]
    if change == "addremove":
        assert found > 1.1 * max(part / factor for part, factor in zip(parts, (4, 2), strict=True))
    elif kind == "later" or ratio > Fraction(1, 2):
        assert found > 1.02 * max(parts)
    if kind == "later" and change == "replace" and ratio <= 1:
        at_start = replace(step, curvature=Curvature(2, Q, ratio, start=True))
        assert found > 1.05 * float(at_start.cost(laws))


# The laws.


def pmf(law: GaussianShares, made_for: int) -> Array:
    """Of the sum of two shares in one coordinate, of a size for so many."""
    variance = 2 * float(law.variance) / made_for
    reach = math.ceil(12 * math.sqrt(variance))
    one = np.exp(-(np.arange(-reach, reach + 1) ** 2) / (2 * variance))
    return np.convolve(one, one) / one.sum() ** 2


def pair(of: Sequence[tuple[Array, int]]) -> tuple[Array, Array]:
    """The joint probabilities of independent values here, and for the neighbour, which moves each by so much."""
    here = there = np.ones(1)
    for one, by in of:
        here = np.outer(here, np.pad(one, (0, by))).ravel()
        there = np.outer(there, np.pad(one, (by, 0))).ravel()
    return here, there


def small(kind: str) -> tuple[SharedRounds, tuple[int, ...]]:
    """Noise so small that the lattice shows, and how far the worst pair moves each entry: two in all."""
    target = Target(epsilon_of(Fraction(2), DELTA), noise="ddg", delta=DELTA)
    if kind == "two rounds":
        return made((RoundBound("replace", 1, 4), RoundBound("replace", 1, 5)), target, honest=2), (8, 10)
    return made((RoundBound("addremove", 1, 6, Curvature(1, 36)),), target, honest=2), (6, 36)


@pytest.mark.parametrize("kind", ["two rounds", "both blocks"])
def test_small_noise_keeps_its_curve_and_its_rho(kind: str) -> None:
    """Exact hockey sticks and Renyi divergences of two entries. Twins: shares for all K, and a curve without the 9."""
    found, by = small(kind)
    laws = [law for of_one in found.distributions for law in of_one]
    assert max(law.variance for law in laws[:1]) < 50
    honest, for_all = (pair([(pmf(law, H), x) for law, x in zip(laws, by, strict=True)]) for H in (2, 5))
    bare = sum(step.cost(of_one, 0) for step, of_one in zip(found.steps, found.distributions, strict=True))
    flattered = 0
    for delta in (Fraction(1, 10**2), Fraction(1, 10**4), DELTA, Fraction(1, 10**9)):
        epsilon, flattering = epsilon_of(found.mu_squared, delta), epsilon_of(Fraction(bare), delta)
        assert epsilon is not None
        assert flattering is not None
        stick = [float(np.maximum(p - math.exp(epsilon) * q, 0).sum()) for p, q in (honest, for_all)]
        assert stick[0] <= float(delta) < stick[1]
        flattered += np.maximum(honest[0] - math.exp(flattering) * honest[1], 0).sum() > float(delta)
    assert flattered or kind == "both blocks"
    for alpha in (1.5, 2.0, 4.0):
        renyi = []
        for p, q in (honest, for_all):
            inside = (p > 0) & (q > 0)
            powers = np.exp(alpha * np.log(p[inside]) + (1 - alpha) * np.log(q[inside]))
            renyi.append(math.log(powers.sum()) / (alpha - 1))
        assert 0.99 * alpha * float(found.rho) < renyi[0] <= alpha * float(found.rho) * (1 + 1e-9)
        assert renyi[1] > alpha * float(found.rho)


def test_what_sums_of_shares_cost_for_not_being_discrete_gaussians_is_in_rho() -> None:
    found = made(newton())
    bare = sum(step.cost(laws, 0) for step, laws in zip(found.steps, found.distributions, strict=True)) / 2
    assert found.integers == 7 + 7 + 21 + 7 * 7
    assert found.rho - bare == Fraction(2 * found.integers, 4 << 252)


def drawn(found: SharedRounds, parties: int, sums: int, seed: str) -> list[Array]:
    """Of each round what so many parties draw: (sums, parties, length)."""
    rng = Stream.insecure_from_seed(seed)

    def block(law: GaussianShares) -> Array:
        shape = (sums, parties, law.dimension)
        return np.array(replace(law, dimension=math.prod(shape)).share(rng), dtype=float).reshape(shape)

    return [np.concatenate([block(law) for law in laws], axis=-1) for laws in found.distributions]


def test_a_share_is_that_of_its_blocks_in_their_order() -> None:
    found = made(newton(d=3, rounds=2))
    one, other = Stream.insecure_from_seed("order"), Stream.insecure_from_seed("order")
    shares = [found.share(r, one) for r in (0, 1)]
    assert shares == [[x for law in laws for x in law.share(other)] for laws in found.distributions]
    assert [len(share) for share in shares] == [3 + 3 + 3, 3]
    sizes = [np.abs(part).max() for part in np.split(np.array(shares[0], dtype=float), 3)]
    assert sizes[0] * 1000 < min(sizes[1:])  # a curvature before the gradient would have its noise


# The ring, what is refused, what to expect.


@pytest.mark.parametrize("epsilon", [Fraction(1, 10**9), Fraction(1), Fraction(12)], ids=str)
@pytest.mark.parametrize("rows", [1, 10**7, 10**12])
def test_the_ring_is_as_long_as_all_sums_need(epsilon: Fraction, rows: int) -> None:
    found = made(newton(), replace(ONE, epsilon=epsilon), most_rows=rows)
    blocks = [law for laws in found.distributions for law in laws]
    most = 5 * rows * Q + max(law.tail(5, 80 + math.ceil(math.log2(len(blocks)))) for law in blocks)
    assert found.ring_bits % 8 == 0
    assert most < 2 ** (found.ring_bits - 1)
    assert found.ring_bits == 64 or most >= 2 ** (found.ring_bits - 9)
    # Each block misses its bound with 2^-80 over their number at most: a sub-Gaussian tail, summed.
    missed = sum(
        2 * law.dimension * math.exp(-(law.tail(5, 84) ** 2) / (2 * 5 * float(law.variance))) for law in blocks
    )
    assert missed <= 2.0**-80
    assert sum(2 * law.dimension * math.exp(-(law.tail(5, 76) ** 2) / (10 * float(law.variance))) for law in blocks) > (
        2.0**-80
    )


def test_a_ring_is_longer_by_one_step_where_one_row_more_would_not_fit() -> None:
    found = made(newton())
    tail = max(law.tail(5, 84) for laws in found.distributions for law in laws)  # ten blocks
    rows = (2**71 - 1 - tail) // (5 * Q)
    assert [made(newton(), most_rows=n).ring_bits for n in (rows, rows + 1)] == [72, 80]


def test_what_does_not_fit_is_refused_with_the_nearest_that_does() -> None:
    with refused("most_rows.integers_too_long", parties=5, most_rows=1 << 1000, bits=1024) as caught:
        made(newton(), most_rows=1 << 1000)
    nearest = caught.value.fault.fields["most"]
    assert isinstance(nearest, int)
    assert made(newton(), most_rows=nearest).ring_bits == 1024
    with refused("most_rows.integers_too_long"):
        made(newton(), most_rows=nearest + 1)


def test_numbers_that_make_no_sense_are_refused() -> None:
    wrong: dict[str, Any]
    for wrong in ({"honest": 0}, {"honest": 6}, {"most_rows": 0}, {"steps": ()}):
        with pytest.raises(ValueError, match="1 to 5 honest of 5"):
            made(**{"steps": newton()} | wrong)
    with pytest.raises(ValueError, match=r"ddg .* self"):
        made(newton(), Target(Fraction(1), noise="self"))
    with refused("epsilon.none"):
        made(newton(), Target(None, noise="ddg"))
    with pytest.raises(ValueError, match="same adjacency"):
        made((newton()[1], newton("addremove")[1]))
    with pytest.raises(ValueError, match="wanted at most"):
        made((RoundBound("replace", 1 << 46, 4), RoundBound("replace", 1, 4)))
    with pytest.raises(ValueError, match=r"distributions .* 0$"):
        SharedRounds(newton(), (), 64)
    with pytest.raises(ValueError, match="replace or addremove, got 'party'"):
        RoundBound("party", 1, 1)  # type: ignore[arg-type]
    for length, bound, *curvature in ((0, 1), (1, 0), (1, 1, 0, 1), (1, 1, 1, 0), (1, 1, 1, 1, Fraction(0))):
        with pytest.raises(ValueError, match="ratios above 0"):
            RoundBound("replace", length, bound, Curvature(*curvature) if curvature else None)
    with pytest.raises(ValueError, match="two classes"):
        sums_signal(10, 1.0, 3, 1, 1, 1)


# n, d, k: what was found at epsilon .1, .5, 1, 3 and delta 1e-5.
SIGNALS = {(1438, 65, 10): (1.9, 8.4, 16, 43), (7352, 265, 6): (6.6, 29, 54, 145)}


@pytest.mark.parametrize("place", SIGNALS, ids=str)
def test_the_signal_is_that_of_the_tables(place: tuple[int, int, int]) -> None:
    for epsilon, wanted in zip(("1/10", "1/2", "1", "3"), SIGNALS[place], strict=True):
        mu = mu_for(Fraction(epsilon), DELTA)
        assert sums_signal(place[0], mu, *place[1:], 1, 1) == pytest.approx(wanted, rel=0.03)
        assert sums_signal(place[0], mu, *place[1:], 4, 9) == pytest.approx(
            sums_signal(place[0], mu, *place[1:], 9, 9) * 2 / 3
        )
