"""Least squares with intervals: statsmodels' figures without noise, and how often intervals hold with real sums."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from scipy.stats import norm

from protocols.arithmetic.rng import Stream
from smc_dp.core.arrays import OUTCOME_BITS, Array
from smc_dp.data.columns import NumericColumn
from smc_dp.data.federation import FeatureBox, Federation, Public, Rows
from smc_dp.methods.statistics.coefficient_inference import CoefficientInference
from smc_dp.methods.statistics.least_squares_steps import normal_beyond, residual_clip
from smc_dp.methods.statistics.linear import LinearRegression, LinearSums
from smc_dp.methods.sums.threat_model import AnnouncedRows, ThreatModel
from smc_dp.methods.training.least_squares import gram_numbers, residual_numbers
from smc_dp.privacy.distributed import GramBound, ResidualBound
from smc_dp.privacy.target import Target
from tests.smc_dp.methods.statistics.test_logistic import (
    BOX,
    HALF,
    PARTIES,
    check_any_sums,
    check_counts,
    columns,
    covered,
    in_box,
    summed,
)
from tests.support.refusals import refused
from tests.support.regressions import least_squares

TRUTH = np.array([3.0, 2.0, -1.5, 4.0, 10.0])  # of the number, two levels, the skewed number and the constant
OUTCOME = NumericColumn("stay", -20.0, 60.0)
DDG = "ddg"


def drawn(n: int, seed: int, *, uneven: bool = True) -> tuple[Array, Array]:
    """Columns, and outcomes, of `uneven` variance."""
    rng = np.random.default_rng(seed)
    Z = columns(n, rng)
    spread = 0.5 + 2 * np.abs(Z[:, 0]) if uneven else 1.0
    return Z, Z @ TRUTH + 3 * spread * rng.normal(size=n)


def encoded(Z: Array, y: Array) -> Rows:
    middle, half = OUTCOME.scale(center=True)
    return Rows(in_box(Z), np.rint(np.clip((y - middle) / half, -1, 1) * 2.0**OUTCOME_BITS).astype(np.int64))


@cache  # and with it the noise, which is calibrated once
def specification(target: Target, model: ThreatModel = PARTIES) -> LinearSums:
    return LinearRegression().shared(Public(3, 6, 0, label=OUTCOME, box=BOX), target, model, AnnouncedRows(100_000))


def inferred(Z: Array, y: Array, target: Target, seed: str = "one") -> tuple[CoefficientInference, Array]:
    """What three parties find of these rows, in units of the columns, and the weights without the reference."""
    spec, units = specification(target), np.array([BOX.reach] * 4 + [BOX.constant])
    model = spec.model(summed(spec, encoded(Z, y), seed))
    return model.inference.transformed(np.diag(units)), model.W[0, [0, 2, 3, 4, 5]] * units


def test_without_noise_it_is_least_squares_of_statsmodels() -> None:
    Z, _ = drawn(3000, 1)
    Z[:, 3] = np.minimum(Z[:, 3], 0.5)  # so that no row is far from the others
    errors = np.random.default_rng(2).uniform(-5, 5, len(Z)) * (0.5 + 2 * np.abs(Z[:, 0]))  # none is beyond the clip
    y = Z @ TRUTH + errors
    (found, weights), wanted = inferred(Z, y, Target(None)), least_squares(Z, y, HALF)
    assert found.obstacles == ()
    assert found.left_out == 0
    assert found.rows == pytest.approx(3000, rel=1e-3)
    wanted.check(weights, found.covariance)
    assert found.residual == pytest.approx(np.sqrt(((y - Z @ wanted.coefficients) ** 2).sum() / 2995), rel=1e-3)


def test_rows_that_lie_far_from_all_others_are_left_out_and_counted() -> None:
    Z, y = drawn(2000, 2)
    for column, step in ((0, 7), (3, 5)):
        Z[:, column] = -0.98 + 0.02 * (np.arange(2000) % step)
        Z[:7, column] = 1.0
    y[:7] = 60.0
    (found, weights), wanted = inferred(Z, y, Target(None)), least_squares(Z[7:], y[7:], HALF)
    assert found.left_out == 7
    assert found.rows == pytest.approx(1993, rel=1e-3)
    assert np.abs((weights - wanted.coefficients) / wanted.errors).max() < 0.1


def test_intervals_hold_in_most_releases() -> None:
    releases = (inferred(*drawn(3000, seed), Target(Fraction(3), noise=DDG), f"{seed}") for seed in range(40))
    held, forgotten, stated = covered((replace(found, estimate=weights) for found, weights in releases), TRUTH)
    assert stated >= 38
    assert 0.9 < held.mean() < 0.99
    assert held.min() >= 0.8
    assert forgotten.mean() < held.mean() - 0.05


def test_the_clip_is_no_smaller_than_residuals_need() -> None:
    """It rests on an upper bound, for a clip that noise made small would cut residuals of all rows."""
    spec, clips = specification(Target(Fraction(1, 2), noise=DDG)), []
    for seed in range(30):
        Z, y = drawn(5000, seed, uneven=False)
        state = spec.steps.begin()
        for one in summed(spec, encoded(Z, y), seed)[:2]:
            state = spec.steps.after(state, one)
        clips.append(state.clip / 2**30 * 40)
    assert min(clips) > 3 * 3.0  # residuals have a deviation of 3


def test_what_normal_residuals_have_beyond_the_clip_is_no_long_tail() -> None:
    assert normal_beyond(3.2, 1.0) == pytest.approx(2 * norm.sf(3.2))
    assert normal_beyond(8.0, 2.0) == pytest.approx(2 * norm.sf(4.0))
    assert normal_beyond(1.0, 1.0) == pytest.approx(2 * norm.sf(3.0))
    assert normal_beyond(1.0, 0.0) == 0.0


def test_the_clip_is_a_smaller_part_of_the_bound_where_noise_makes_the_bound() -> None:
    assert residual_clip(1.0, 0.0, 1.0) == 4.0
    assert residual_clip(1.0, 0.1, 1.0) == pytest.approx(4 * np.sqrt(1.2))
    assert residual_clip(1.0, 0.4, 1.0) == pytest.approx(4.9)
    assert residual_clip(1.0, 4.0, 1.0) == pytest.approx(3 * np.sqrt(9.0))
    assert residual_clip(-3.0, 1.0, 1.0) == 3.0  # noise made the square smaller than 0
    errors = np.linspace(0, 10, 200)
    clips = np.array([residual_clip(1.0, error, 1.0) for error in errors])
    assert (np.diff(clips) >= 0).all()
    assert (clips >= 3 * np.sqrt(1 + 2 * errors) - 1e-9).all()


def test_the_mean_of_both_estimates_errs_as_its_covariance_says() -> None:
    rng, zero = np.random.default_rng(2), np.zeros((2, 2))
    of_step, of_start = np.array([[2.0, 0.5], [0.5, 1.0]]), np.array([[4.0, -1.0], [-1.0, 9.0]])
    starts, steps = (rng.multivariate_normal(np.zeros(2), V, size=5000) for V in (of_start, of_step))
    made = [
        CoefficientInference(b, zero, of_step, b - start, 0.0, zero, np.zeros(2, dtype=bool), zero).averaged_with_start(
            of_start
        )
        for start, b in zip(starts, steps, strict=True)
    ]
    assert np.cov(np.array([one.estimate for one in made]).T) == pytest.approx(made[0].privacy, abs=0.1)
    assert np.linalg.inv(made[0].privacy) == pytest.approx(np.linalg.inv(of_step) + np.linalg.inv(of_start))


def test_an_intercept_far_from_the_middle_of_its_range_errs_no_more_than_it_says() -> None:
    """The noise of the Gram matrix takes a part of each coefficient away, on average, and most of the largest one."""
    n, columns, rng = 8000, 12, np.random.default_rng(1)
    box = FeatureBox(1 / np.sqrt(2 * columns), np.sqrt(0.5), columns, ())
    spec = LinearRegression().shared(
        Public(3, columns + 1, 0, label=OUTCOME, box=box), Target(Fraction(1), noise=DDG), PARTIES, AnnouncedRows(n)
    )
    Z = np.column_stack([np.clip(rng.normal(size=(n, columns)) / 3.5, -1, 1), np.ones(n)])
    y, (middle, half) = 50.0 + rng.uniform(-0.5, 0.5, n), OUTCOME.scale(center=True)
    X = Z * ([box.reach] * columns + [box.constant]) * (1 - 2.0**-40)
    rows = Rows(X, np.rint((y - middle) / half * 2.0**OUTCOME_BITS).astype(np.int64))
    wanted, off = np.linalg.lstsq(Z, y, rcond=None)[0][-1], []
    for seed in range(20):
        model = spec.model(summed(spec, rows, seed))
        error = np.sqrt(model.inference.privacy[-1, -1]) * box.constant
        off.append((model.W[0, -1] * box.constant - wanted) / error)
    assert np.mean(np.square(off)) < 1.4


@pytest.mark.slow
def test_the_squared_error_of_few_rows_is_near_that_without_privacy() -> None:
    """The simulation of dp-statsmodels: two normal columns within 4, an outcome within 15, a thousand rows."""
    box = FeatureBox(0.5, np.sqrt(0.5), 2, ())
    public = Public(3, 3, 0, label=NumericColumn("y", -15.0, 15.0), box=box)
    spec = LinearRegression().shared(
        public, Target(Fraction(5), noise=DDG), ThreatModel(3, 0, 0), AnnouncedRows(10_000)
    )
    rng, private, free, truth = np.random.default_rng(6), [], [], np.array([1.0, 2.0, 1.0])
    for seed in range(150):
        Z = np.column_stack([rng.normal(size=(1000, 2)), np.ones(1000)])
        y = Z @ truth + rng.normal(size=1000)
        units = np.array([box.reach / 4, box.reach / 4, box.constant])
        X = np.clip(Z / [4, 4, 1], -1, 1) * [box.reach, box.reach, box.constant] * (1 - 2.0**-40)
        rows = Rows(X, np.rint(np.clip(y / 15, -1, 1) * 2.0**OUTCOME_BITS).astype(np.int64))
        private.append(spec.model(summed(spec, rows, seed)).W[0] * units - truth)
        free.append(least_squares(Z, y, np.zeros(3)).coefficients - truth)
    assert (np.array(private) ** 2).sum() <= 6 * (np.array(free) ** 2).sum()


def test_errors_with_a_long_tail_are_told() -> None:
    Z, _ = drawn(5000, 4)
    tail = np.zeros(5000)
    tail[:100] = 45.0  # 2 % beyond four deviations
    y = Z @ TRUTH + np.random.default_rng(4).normal(size=5000) + tail * (Z @ TRUTH < 14)
    assert inferred(Z, y, Target(None))[0].obstacles == ("long_tail",)
    assert inferred(Z, Z @ TRUTH + np.random.default_rng(4).normal(size=5000), Target(None))[0].obstacles == ()


@pytest.mark.parametrize(("n", "far", "obstacles"), [(20_000, 39, ("long_tail",)), (20_000, 30, ()), (2000, 8, ())])
def test_outliers_that_move_the_intercept_by_its_standard_error_are_told(n: int, far: int, obstacles: object) -> None:
    """That is the square root of n over the clip, which is four deviations: 35 of 20,000 rows, and 11 of 2,000."""
    Z, _ = drawn(n, 4)
    errors = np.random.default_rng(4).uniform(-np.sqrt(3), np.sqrt(3), n)  # none is beyond the clip
    errors[:far] = 6.0
    assert inferred(Z, Z @ TRUTH + errors, Target(None))[0].obstacles == obstacles


def test_the_noise_is_that_of_all_parties() -> None:
    """Not that of the honest ones, which the guarantee counts."""
    spec = specification(Target(Fraction(1), noise=DDG))
    steps, rng, p = spec.steps, Stream.insecure_from_seed("noise"), 5
    for r, names, start, units in (
        (1, ("gram", "products"), (0, 15), (2.0**28, 2.0**34)),
        (2, ("gradient", "meat"), (0, 5), (2.0**26, 2.0**52)),
    ):
        sums = [np.sum([spec.noise.share(r, rng) for _ in range(3)], axis=0) for _ in range(150)]
        said = (*steps.noise.gram, steps.noise.residuals)[r]
        for name, at, unit in zip(names, start, units, strict=True):
            measured = np.std(np.array(sums, dtype=float)[:, at : at + p]) / unit
            assert measured == pytest.approx(getattr(said, name), rel=0.15), name


def test_numbers_of_rows_err_as_they_say() -> None:
    rows, target = drawn(1000, 5), Target(Fraction(3), noise=DDG)
    check_counts([inferred(*rows, target, f"{seed}")[0] for seed in range(30)], len(rows[1]))


def test_no_record_enters_more_than_it_may() -> None:
    rng, p = np.random.default_rng(8), 5
    spec = specification(Target(Fraction(1), noise=DDG))
    Z, y = drawn(40, 7)
    triangle = p * (p - 1) // 2
    for i in range(40):
        one = spec.method.prepare(encoded(Z[i : i + 1], y[i : i + 1]), spec.public)
        numbers = gram_numbers(one)
        length = sum(x * x for x in numbers[:p]) + 2 * sum(x * x for x in numbers[p : p + triangle])
        assert length <= GramBound.row**4
        assert sum(x * x for x in numbers[p + triangle : -2]) <= (GramBound.row * GramBound.outcome) ** 2
        assert numbers[-2] <= GramBound.outcome**2
        for clip in (1, 1 << 20, 1 << 40):
            w = rng.integers(-(2**30), 2**30, (1, p))
            found = residual_numbers(one, w, clip)
            assert sum(x * x for x in found[:p]) <= ResidualBound.gradient**2
            length = sum(x * x for x in found[p : 2 * p]) + 2 * sum(x * x for x in found[2 * p : -2])
            assert length <= ResidualBound.matrix**2
            assert found[-2] <= ResidualBound.residual**2
            assert found[-1] in (0, ResidualBound.count)


def test_a_row_that_is_left_out_enters_its_count_alone() -> None:
    spec = specification(Target(Fraction(1), noise=DDG))
    Z, y = drawn(1, 7)
    one = encoded(Z, y)
    nothing = spec.method.prepare(Rows(one.X * 0, one.y), spec.public)
    assert gram_numbers(nothing) == [0] * 21 + [GramBound.count]
    assert not any(residual_numbers(nothing, np.ones((1, 5), dtype=np.int64), 1 << 20))


def test_whatever_the_sums_are_weights_come_of_them() -> None:
    spec = specification(Target(Fraction(1), noise=DDG))
    check_any_sums(spec, spec.method.prepare(encoded(*drawn(20, 5)), spec.public))


def test_sums_of_very_many_large_outcomes_do_not_wrap_round() -> None:
    spec = specification(Target(None))
    Z, y = drawn(1, 9)
    one = encoded(Z, y)
    rows = spec.method.prepare(Rows(np.repeat(one.X, 10_000, axis=0), np.full(10_000, 1 << OUTCOME_BITS)), spec.public)
    assert gram_numbers(rows)[-2] == 10_000 << 2 * OUTCOME_BITS


def test_rows_that_somebody_encoded_otherwise_are_learnt_from_as_they_are() -> None:
    rng = np.random.default_rng(9)
    X = rng.uniform(-0.5, 0.5, (3000, 3))
    y = X @ [0.5, -0.25, 0.3] + rng.normal(size=3000) / 20
    numbers = np.rint(np.clip(y, -1, 1) * 2**OUTCOME_BITS).astype(np.int64)
    federation = Federation(tuple(Rows(X[j::3], numbers[j::3]) for j in range(3)), 0)
    release = LinearRegression().train(federation).release(Target(None), Stream.insecure_from_seed("x"))
    assert release.model.W[0] == pytest.approx(np.linalg.lstsq(X, y, rcond=None)[0], abs=0.002)  # type: ignore[attr-defined]


def test_what_it_does_not_learn_is_refused() -> None:
    target = Target(Fraction(1), noise=DDG)
    for public, code in (
        (Public(3, 6, 2), "classes.of_no_number"),
        (Public(3, 501, 0), "features.too_many"),
    ):
        with refused(code):
            LinearRegression().shared(public, target, PARTIES, AnnouncedRows(10)).noise  # noqa: B018
    with refused("rows.outcome_out_of_range"):
        Federation((Rows(np.zeros((1, 1)), np.array([(1 << OUTCOME_BITS) + 1])),), 0)
