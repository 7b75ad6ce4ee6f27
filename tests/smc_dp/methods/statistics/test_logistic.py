"""Coefficients with intervals: those of statsmodels without noise, and how often intervals hold with the real sums."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
from statsmodels.discrete.discrete_model import Logit

from protocols.arithmetic.rng import Stream
from smc_dp.core.arrays import OUTCOME_BITS, Array, IntArray
from smc_dp.data.columns import NumericColumn
from smc_dp.data.federation import FeatureBox, Federation, Public, Rows
from smc_dp.methods.functionality import ideal
from smc_dp.methods.statistics.centring import Centring
from smc_dp.methods.statistics.coefficient_inference import CoefficientInference, InferenceNoise, infer_coefficients
from smc_dp.methods.statistics.coefficient_sums import CoefficientSums
from smc_dp.methods.statistics.linear import LinearRegression
from smc_dp.methods.statistics.logistic import LogisticCoefficients
from smc_dp.methods.sums.threat_model import AnnouncedRows, ThreatModel
from smc_dp.methods.training.integer_rows import IntegerRows
from smc_dp.privacy.distributed import InferenceBound, share_distributions
from smc_dp.privacy.target import Target
from smc_dp.run.coefficient_intervals import interval_quantile
from tests.support.refusals import refused
from tests.support.regressions import logit

# A number, a set of three levels of which the first is the reference, a skewed number; and the constant.
BOX = FeatureBox(1 / np.sqrt(6.0), np.sqrt(0.5), 3, ((1, 3),))
TRUTH = np.array([0.9, 0.8, -0.5, 1.2, -0.2])  # of the number, two levels, the skewed number and the constant
HALF = np.array([1.0, 1.0, 1.0, 1.0, 0.0])  # of the range of each
PARTIES = ThreatModel(3, 1, 0)


def columns(n: int, rng: np.random.Generator) -> Array:
    """Columns in [-1, 1] without the reference, the constant last: (n, 5)."""
    level = rng.choice(3, size=n, p=[0.5, 0.3, 0.2])
    skewed = np.minimum(rng.exponential(size=n), 6) / 3 - 1
    return np.stack([rng.uniform(-1, 1, n), level == 1, level == 2, skewed, np.ones(n)], axis=1).astype(np.float64)


def in_box(Z: Array) -> Array:
    """The rows as bounds encode them."""
    reference = 1.0 - Z[:, 1] - Z[:, 2]
    X = np.column_stack([Z[:, 0], reference, Z[:, 1:4]]) * BOX.reach
    return np.asarray(np.column_stack([X, np.full(len(X), BOX.constant)]) * (1 - 2.0**-40))


def drawn(n: int, seed: int) -> tuple[Array, IntArray]:
    rng = np.random.default_rng(seed)
    Z = columns(n, rng)
    return Z, (rng.random(n) < 1 / (1 + np.exp(-Z @ TRUTH))).astype(np.int64)


def encoded(Z: Array, y: IntArray) -> Rows:
    return Rows(in_box(Z), y)


@cache  # and with it the noise, which is calibrated once
def specification(target: Target, model: ThreatModel = PARTIES, rows: int = 10_000) -> CoefficientSums:
    return LogisticCoefficients().shared(Public(3, 6, 2, box=BOX), target, model, AnnouncedRows(rows))


def summed(spec: CoefficientSums, rows: Rows, seed: object) -> Any:
    """The sums of three parties who have these rows in turn, with the noise of all of them."""
    coins = Stream.insecure_from_seed(str(seed))
    parts = [spec.part(rows.take(np.arange(len(rows))[j::3]), coins.fork(f"{j}")) for j in range(3)]
    return ideal(spec.functionality, parts, coins.fork("all"))


def inferred(Z: Array, y: IntArray, target: Target, seed: str = "one") -> CoefficientInference:
    spec = specification(target)
    inference = spec.model(summed(spec, encoded(Z, y), seed)).inference
    return inference.transformed(np.diag([BOX.reach] * 4 + [BOX.constant]))


def test_without_noise_it_is_logit_of_statsmodels() -> None:
    Z, y = drawn(3000, 1)
    Z[:, 3] = np.minimum(Z[:, 3], 0.5)  # so that no row is far from the others
    found = inferred(Z, y, Target(None))
    assert found.obstacles == ()
    assert found.left_out == 0
    assert found.rows == pytest.approx(3000, rel=1e-3)
    logit(Z, y, HALF).check(found.estimate, found.covariance)
    assert found.step < 1e-6


def test_errors_are_robust_where_the_model_is_wrong() -> None:
    """The classes follow the square of a column, which the model does not know."""
    Z, _ = drawn(3000, 11)
    Z[:, 3] = np.minimum(Z[:, 3], 0.5)
    y = (np.random.default_rng(12).random(3000) < np.where(np.abs(Z[:, 0]) > 0.6, 0.95, 0.1)).astype(np.int64)
    found, wanted = inferred(Z, y, Target(None)), logit(Z, y, HALF)
    wanted.check(found.estimate, found.covariance)


def test_rows_that_lie_far_from_all_others_are_left_out_and_counted() -> None:
    Z, y = drawn(2000, 2)
    for column, step in ((0, 7), (3, 5)):
        Z[:, column] = -0.98 + 0.02 * (np.arange(2000) % step)
        Z[:7, column] = 1.0
    found, wanted = inferred(Z, y, Target(None)), logit(Z[7:], y[7:], HALF)
    assert found.left_out == 7
    assert found.rows == pytest.approx(1993, rel=1e-3)
    assert np.abs((found.estimate - wanted.coefficients) / wanted.errors).max() < 0.05


def covered(found: Iterable[CoefficientInference], truth: Array) -> tuple[Array, Array, int]:
    """How often intervals hold each coefficient, with and without the noise in them, and how many releases have any."""
    both = []
    for one in found:
        if not one.obstacles:
            off = np.abs(one.estimate - truth)
            both.append([off < 1.96 * np.sqrt(np.diag(V)) for V in (one.covariance, one.sampling)])
    held, forgotten = np.mean(both, axis=0)
    return held, forgotten, len(both)


def test_intervals_hold_in_most_releases() -> None:
    target = Target(Fraction(3), noise="ddg")
    held, forgotten, stated = covered((inferred(*drawn(3000, seed), target, f"{seed}") for seed in range(30)), TRUTH)
    assert stated >= 24
    assert held.mean() > 0.9
    assert held.min() >= 0.8
    assert forgotten.mean() < held.mean() - 0.03


def symmetric(rng: np.random.Generator, p: int, deviation: float) -> Array:
    M = np.triu(rng.normal(size=(p, p)) * deviation / np.sqrt(2), 1)
    whole: Array = M + M.T + np.diag(rng.normal(size=p) * deviation)
    return whole


def test_the_covariance_of_noise_is_that_of_many_draws() -> None:
    """Of the gradient, and of the Hessian in a long step, whose noise is less beside the diagonal."""
    rng = np.random.default_rng(5)
    hessian, at = np.diag([900.0, 500.0, 300.0]) + 40.0, np.zeros(3)
    gradient, square = np.array([260.0, -200.0, 150.0]), np.eye(3)
    for noise in (InferenceNoise(8.0, 1e-9, 0.0), InferenceNoise(1e-9, 12.0, 0.0)):
        stated = infer_coefficients(at, gradient, hessian, 0 * hessian, square, 1e6, noise).privacy
        estimates = [
            infer_coefficients(
                at,
                gradient + rng.normal(size=3) * noise.gradient,
                hessian + symmetric(rng, 3, noise.hessian),
                0 * hessian,
                square,
                1e6,
                noise,
            ).estimate
            for _ in range(1500)
        ]
        measured = np.cov(np.array(estimates).T)
        assert np.abs(measured - stated).max() < 0.12 * np.abs(stated).max()


def test_the_noise_is_that_of_all_parties() -> None:
    """Not that of the honest ones, which the guarantee counts."""
    spec = specification(Target(Fraction(1), noise="ddg"))
    said, rng = spec.steps.noise[-1], Stream.insecure_from_seed("noise")  # type: ignore[attr-defined]
    p = 5
    sums = np.array([np.sum([spec.noise.share(4, rng) for _ in range(3)], axis=0) for _ in range(150)], dtype=float)
    unit = {"gradient": 2.0**26, "hessian": 2.0**52, "meat": 2.0**52}
    start = {"gradient": 0, "hessian": p, "meat": 2 * p + p * (p - 1) // 2}
    for name, at in start.items():
        assert np.std(sums[:, at : at + p]) / unit[name] == pytest.approx(getattr(said, name), rel=0.1)
        if name != "gradient":  # beside the diagonal
            above = sums[:, at + p : at + p + p * (p - 1) // 2]
            assert np.std(above) / unit[name] == pytest.approx(getattr(said, name) / np.sqrt(2), rel=0.1)


def check_counts(found: list[CoefficientInference], rows: int) -> None:
    """Both numbers of rows err as releases of the same rows say, hardly any of which lie far from the others."""
    off = [(one.rows + one.left_out - rows) / np.hypot(one.rows_error, one.left_out_error) for one in found]
    assert np.sqrt(np.mean(np.square(off))) == pytest.approx(1.0, abs=0.27)  # three standard errors
    left_out = np.std([one.left_out for one in found], ddof=1)
    assert left_out == pytest.approx(np.mean([one.left_out_error for one in found]), rel=0.27)


def test_numbers_of_rows_err_as_they_say() -> None:
    rows, target = drawn(1000, 5), Target(Fraction(3), noise="ddg")
    check_counts([inferred(*rows, target, f"{seed}") for seed in range(30)], len(rows[1]))


def test_why_there_is_no_interval() -> None:
    def obstacles(gradient: float, rows: float, before: float = 0.0) -> tuple[str, ...]:
        noise, hessian = InferenceNoise(1e-9, 1.0, 1.0), np.diag([200.0, 100.0])
        square = 4 * hessian
        return infer_coefficients(
            np.zeros(2), np.array([gradient, 0.0]), hessian, hessian, square, rows, noise, before
        ).obstacles

    assert obstacles(49.0, 1000.0) == ()  # 800 (49/200)^2/1000 = .048
    assert obstacles(51.0, 1000.0) == ("far_start",)
    assert obstacles(52.0, 1000.0, 10.0) == ()  # 100 (4/200 + 4/100)/1000 = .006 are by noise
    assert obstacles(54.0, 1000.0, 10.0) == ("far_start",)
    assert obstacles(0.0, 2.0) == ("few_rows",)


def test_coefficients_along_which_noise_hides_the_hessian_are_ill_determined() -> None:
    def ill(least: float, angle: float) -> list[bool]:
        noise, hessian = InferenceNoise(1.0, 1.0, 1.0), np.diag([200.0, least])
        found = infer_coefficients(np.zeros(2), np.zeros(2), hessian, hessian, 4 * hessian, 1000.0, noise)
        assert found.least == least / 2
        turn = np.array([[np.cos(angle), np.sin(angle)], [0.0, 1.0]])
        told: list[bool] = found.transformed(turn).ill_determined.tolist()
        return told

    assert ill(2.01, 0.5) == [False, False]  # the noise's norm, about sqrt(2 p), is 2
    assert ill(1.99, 0.0) == [False, True]
    assert ill(1.99, 0.0098) == [False, True]  # at 1.99/200 half comes from there
    assert ill(1.99, 0.0101) == [True, True]


def test_noise_alone_has_no_interval() -> None:
    for seed in (0, 7, 8, 16):  # with a smaller floor, three of them have intervals
        found = inferred(*drawn(1000, seed), Target(Fraction(1, 100), noise="ddg"), f"{seed}")
        assert found.obstacles or found.ill_determined.all()


def test_columns_that_follow_from_each_other_have_no_interval() -> None:
    Z, y = drawn(3000, 3)
    Z[:, 3] = -Z[:, 0]
    found = inferred(Z, y, Target(Fraction(3), noise="ddg"))
    assert found.ill_determined.tolist()[:4] == [True, False, False, True]


@pytest.mark.parametrize("first", range(4))
def test_centred_levels_are_as_far_apart_whichever_is_first(first: int) -> None:
    order, frequency = np.roll(np.arange(4), -first), np.array([0.6, 0.3, 0.08, 0.02])
    box, n = FeatureBox(0.5, 0.5, 1, ((0, 4),)), 10_000
    X = np.column_stack([np.eye(4)[:, order[1:]] * box.reach, np.full(4, box.constant)])  # a row of each level
    public = Centring.public(box, 4)
    Z = X @ public.matrix
    centring = public.then((Z * n * frequency[:, np.newaxis]).T @ Z)
    centred = X @ centring.matrix * np.sqrt(centring.square)
    scales = np.maximum(np.sqrt(frequency * (1 - frequency)), (1 + frequency) / 3)
    longest = np.linalg.norm((np.eye(4) - frequency) / scales, axis=1).max()
    scales *= max(1.0, longest / 2.5)
    for i in range(4):
        for j in range(i):
            far = np.hypot(1 / scales[i], 1 / scales[j])
            assert np.linalg.norm(centred[i] - centred[j]) == pytest.approx(far, rel=1e-4)
    assert frequency @ centred[:, :-1] == pytest.approx(0, abs=1e-4)


def test_weights_of_centred_rows_are_those_of_the_rows() -> None:
    Z, y = drawn(200, 4)
    rows = LogisticCoefficients().prepare(encoded(Z, y), Public(3, 6, 2, box=BOX))
    public = Centring.public(BOX, 5)
    boxed = public.apply(rows).x / 2.0**14
    centring = public.then(boxed.T @ boxed)
    centred = centring.apply(rows)
    assert (centred.squares > 0).mean() > 0.97
    b = np.array([0.7, -1.0, 0.3, 2.0, 0.4])
    w = centring.matrix @ b
    assert centring.centred(w) == pytest.approx(b)
    kept = centred.squares > 0
    assert (centred.x @ b)[kept] == pytest.approx((rows.x @ w)[kept], abs=5 * 2)  # of 2^14: both are truncated
    means = (centred.x[kept] / 2.0**14).mean(axis=0)[:-1]
    assert np.abs(means).max() < 0.03
    assert public.count(boxed.T @ boxed) == pytest.approx(200, rel=1e-3)


def check_any_sums(spec: CoefficientSums, rows: IntegerRows) -> None:
    """Whatever integers the sums are, there are weights and an inference, and the next query has an answer."""
    lengths, rng = [sum(length for length, _ in blocks) for blocks in spec.sums], np.random.default_rng(6)
    for value in (0, 1, -1, 1 << 60, -(1 << 60), 1 << 400, -(1 << 400), None):
        state, every = spec.steps.begin(), []
        for length in lengths:
            sums = [value] * length if value is not None else [int(x) << 90 for x in rng.integers(-9, 9, length)]
            assert len(spec.steps.numbers(state, rows)) == length
            state = spec.steps.after(state, tuple(sums))
            every.append(tuple(sums))
        assert np.isfinite(state.released).all()
        assert np.isfinite(spec.model(every).W).all()
        assert spec.model(every).inference is not None


def test_whatever_the_sums_are_weights_come_of_them() -> None:
    spec = specification(Target(Fraction(1), noise="ddg"))
    check_any_sums(spec, LogisticCoefficients().prepare(encoded(*drawn(20, 5)), spec.public))


def test_no_record_enters_more_than_it_may() -> None:
    """Bounds of the theorem, at any weights and centring."""
    spec = specification(Target(Fraction(1), noise="ddg"))
    Z, y = drawn(60, 7)
    every = [LogisticCoefficients().prepare(encoded(Z[i : i + 1], y[i : i + 1]), spec.public) for i in range(60)]
    rng, p = np.random.default_rng(8), 5
    triangle = p * (p - 1) // 2
    for _ in range(4):
        state = spec.steps.begin()
        for _ in range(3):
            for rows in every:
                numbers = [int(x) for x in spec.steps.numbers(state, rows)]
                assert sum(x * x for x in numbers[:p]) <= InferenceBound.gradient**2
                for at, part in ((p, 4), (2 * p + triangle, 1)):
                    diagonal, above = numbers[at : at + p], numbers[at + p : at + p + triangle]
                    length = sum(x * x for x in diagonal) + 2 * sum(x * x for x in above)
                    assert length * part**2 <= InferenceBound.matrix**2
                assert numbers[-1] == 0 or (numbers[-1] == InferenceBound.count and not any(numbers[:-1]))
            state = spec.steps.after(
                state, tuple(int(x) << 20 for x in rng.integers(-(2**35), 2**35, spec.length // 5))
            )


def test_rows_that_somebody_encoded_otherwise_are_learnt_from_as_they_are() -> None:
    rng = np.random.default_rng(9)
    X = rng.uniform(-0.5, 0.5, (3000, 3))
    y = (rng.random(3000) < 1 / (1 + np.exp(-X @ [2.0, -1.0, 0.5]))).astype(np.int64)
    federation = Federation(tuple(Rows(X[j::3], y[j::3]) for j in range(3)), 2)
    release = LogisticCoefficients().train(federation).release(Target(None), Stream.insecure_from_seed("x"))
    W = release.model.W  # type: ignore[attr-defined]
    assert W[1] - W[0] == pytest.approx(Logit(y, X).fit(disp=False).params, abs=0.01)
    spec = LogisticCoefficients().shared(federation.public, Target(None), PARTIES, AnnouncedRows(10_000))
    assert spec.model([(0,) * (spec.length // 5)] * 5).inference is None


def test_what_it_does_not_learn_is_refused() -> None:
    target = Target(Fraction(1), noise="ddg")
    for public, code in (
        (Public(3, 6, 3), "classes.only_two"),
        (Public(3, 501, 2), "features.too_many"),
    ):
        with refused(code):
            LogisticCoefficients().shared(public, target, PARTIES, AnnouncedRows(10)).noise  # noqa: B018


def test_the_parts_of_the_sums_are_as_said() -> None:
    spec = specification(Target(Fraction(1), noise="ddg"))
    costs = [step.cost(of) for step, of in zip(spec.noise.steps, spec.noise.distributions, strict=True)]
    assert [float(9 * cost / spec.target.mu**2) for cost in costs] == pytest.approx([1, 1, 1, 2, 4], rel=1e-6)
    assert spec.noise.mu_squared <= spec.target.mu**2


# Rows of other shapes, of both regressions: many columns, and few rows of one class. Sums are the real integers. Their
# noise is rounded normal numbers, which are cheap to draw: the laws agree but for the rounding of numbers above 2^20.


BOUND, LARGEST_OUTCOME = 3.5, 8.0


class Shape(NamedTuple):
    """Rows of `columns` standard normal columns, the truth about them, and how often they are drawn.

    `scale` multiplies the slopes.
    """

    columns: int
    rows: int
    epsilon: int
    runs: int
    scale: float = 1.0
    intercept: float = 0.0

    @property
    def truth(self) -> Array:
        """Coefficients, the intercept last."""
        return np.append(self.scale * np.resize([0.4, -0.3, 0.2, 0.0], self.columns), self.intercept)

    @property
    def box(self) -> FeatureBox:
        """The public box of the columns, with a constant."""
        return FeatureBox(np.sqrt(0.5 / self.columns), np.sqrt(0.5), self.columns, ())

    def public(self, label: NumericColumn | None) -> Public:
        """What is public of such rows."""
        return Public(3, self.columns + 1, 2 if label is None else 0, label=label, box=self.box)

    @property
    def units(self) -> Array:
        """Encoded length of a unit of each column."""
        return np.append(np.full(self.columns, self.box.reach / BOUND), self.box.constant)


def of_shape(shape: Shape, *, of_number: bool) -> CoefficientSums:
    method = LinearRegression() if of_number else LogisticCoefficients()
    label = NumericColumn("y", -LARGEST_OUTCOME, LARGEST_OUTCOME) if of_number else None
    target = Target(Fraction(shape.epsilon), noise="ddg")
    return method.shared(shape.public(label), target, PARTIES, AnnouncedRows(100_000))


def inferred_of(shape: Shape, spec: CoefficientSums, seed: int) -> CoefficientInference:
    rng, n = np.random.default_rng(seed), shape.rows
    Z = np.column_stack([np.clip(rng.normal(size=(n, shape.columns)), -BOUND, BOUND), np.ones(n)])
    score = Z @ shape.truth
    if spec.public.label is None:
        y = (rng.random(n) < 1 / (1 + np.exp(-score))).astype(np.int64)
    else:
        outcome = np.clip((score + rng.normal(size=n)) / LARGEST_OUTCOME, -1, 1)
        y = np.rint(outcome * 2.0**OUTCOME_BITS).astype(np.int64)
    rows = Rows(Z * shape.units * (1 - 2.0**-40), y)
    return spec.model(summed(spec, rows, seed)).inference.transformed(np.diag(shape.units))


@pytest.fixture
def normal_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    noise = np.random.default_rng(11)

    def drawn(variance: Fraction, count: int, _: Stream) -> list[int]:
        return [round(x) for x in noise.normal(scale=float(variance) ** 0.5, size=count)]

    monkeypatch.setattr(share_distributions, "discrete_gaussians", drawn)


def held(shape: Shape, spec: CoefficientSums) -> Iterator[Array]:
    """Yield of each release with intervals which coefficients they hold: NaN where a rule forbids one."""
    for seed in range(shape.runs):
        found = inferred_of(shape, spec, seed)
        if not found.obstacles:
            half = interval_quantile(found, 0.95) * np.sqrt(np.diagonal(found.covariance))
            inside = np.abs(found.estimate - shape.truth) < half
            yield np.where(found.ill_determined | found.clipped, np.nan, inside)


@pytest.mark.slow
@pytest.mark.usefixtures("normal_noise")
@pytest.mark.parametrize(
    ("shape", "of_number"),
    [
        pytest.param(Shape(13, 3000, 10, 400), True, id="linear, 13 columns"),
        pytest.param(Shape(12, 4000, 4, 200), False, id="logistic, 12 columns"),
        pytest.param(Shape(5, 8000, 5, 200, 0.6, -3.0), False, id="logistic, a class of one row in twenty"),
    ],
)
def test_intervals_of_many_columns_and_of_rare_classes_cover_at_their_level(shape: Shape, *, of_number: bool) -> None:
    inside = np.array([*held(shape, of_shape(shape, of_number=of_number))])
    assert len(inside) >= 0.9 * shape.runs
    assert np.isnan(inside).mean() < 0.05
    assert 0.93 <= np.nanmean(inside) <= 0.98
    assert np.nanmean(inside, axis=0).min() >= 0.89
