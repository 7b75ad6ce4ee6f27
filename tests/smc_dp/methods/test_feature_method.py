"""The feature method against Algorithm 1 done by hand, what its statements say, and the trends of the paper."""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import scipy.optimize
import scipy.stats
from sklearn.linear_model import LogisticRegression

from protocols.arithmetic.rng import Stream
from smc_dp.core.arrays import Array, first_outside, into_ball
from smc_dp.data.federation import Federation, Rows
from smc_dp.methods import feature_method
from smc_dp.methods.feature_method import AverageMethod, FeatureMethod, site_perturbations
from smc_dp.methods.method import release_parts
from smc_dp.privacy.target import Target
from tests.support.refusals import refused

EXACT = Target(None)
METHODS: tuple[AverageMethod | FeatureMethod, ...] = (AverageMethod(), FeatureMethod())


def stream(seed: int) -> Stream:
    return Stream.insecure_from_seed(seed)


def draw(rng: np.random.Generator, n: int, w: Array) -> Rows:
    X = into_ball(rng.normal(size=(n, len(w))), 1.5 * math.sqrt(len(w)))
    y = (X @ w + 0.05 * rng.normal(size=n) > 0).astype(np.int64)
    return Rows(X, y)


def sites(N: int, n: int, d: int, seed: int = 0, m0: int = 0) -> tuple[Federation, Rows]:
    """N sites of n rows each, an aggregator with m0 (n if 0), and rows to test on."""
    rng = np.random.default_rng(seed)
    w = rng.normal(size=d)
    parties = tuple(draw(rng, n, w) for _ in range(N))
    return Federation(parties, 2, labelled=draw(rng, m0 or n, w)), draw(rng, 2000, w)


def weights(model: Any) -> Array:
    return np.asarray(model.W[1] - model.W[0])


def by_scikit(X: Array, y: npt.NDArray[np.int64], lam: float) -> Array:
    """The minimiser of the mean log-loss + lam |w|^2."""
    model = LogisticRegression(C=1 / (2 * lam * len(X)), fit_intercept=False, tol=1e-12, max_iter=100_000)
    return np.asarray(model.fit(X, y).coef_[0])


@pytest.mark.parametrize("scale", ["none", "unit"])
def test_without_noise_it_is_algorithm_1(scale: Any) -> None:
    federation, _ = sites(4, 60, 6)
    M = np.array([by_scikit(rows.X, rows.y, 0.01) for rows in federation.parties])
    average = AverageMethod(loss="logistic").train(federation).release(EXACT, stream(1)).model
    np.testing.assert_allclose(weights(average), M.mean(axis=0), atol=1e-5)
    if scale == "unit":
        M /= np.linalg.norm(M, axis=1, keepdims=True)
    omega = by_scikit(federation.labelled.X @ M.T, federation.labelled.y, 0.01)
    method = FeatureMethod(loss="logistic", scale=scale)
    found = weights(method.train(federation).release(EXACT, stream(1)).model)
    np.testing.assert_allclose(found, M.T @ omega, atol=1e-5)


def test_local_classifiers_minimise_the_huber_loss_and_lam_times_the_squared_length() -> None:
    federation, _ = sites(1, 40, 3)
    rows = federation.parties[0]
    (f,) = AverageMethod(lam=0.05, h=0.3).train(federation).classifiers(EXACT, stream(1))

    def value(f: Array) -> float:
        z = (2 * rows.y - 1) * (rows.X @ f)
        losses = np.where(z > 1.3, 0, np.where(z < 0.7, 1 - z, (1.3 - z) ** 2 / 1.2))
        return float(losses.mean() + 0.05 * f @ f)

    options = {"xatol": 1e-10, "fatol": 1e-15, "maxiter": 10_000, "maxfev": 10_000}
    by_search = scipy.optimize.minimize(value, f * 0, method="Nelder-Mead", options=options).x
    np.testing.assert_allclose(f, by_search, atol=1e-6)


@pytest.mark.parametrize("calibration", ["paper", "proven"])
def test_lambda_in_objective_perturbation_is_twice_the_papers(calibration: Any) -> None:
    federation, _ = sites(2, 40, 3)
    for method in METHODS:
        for law in site_perturbations(method, federation.public, Target(Fraction(1), calibration)):
            assert law.modulus == 0.02
            assert float(law.jacobian) == pytest.approx(math.log1p(1 / (40 * law.total)), rel=1e-12)


@pytest.mark.parametrize("target", [EXACT, Target(Fraction(1)), Target(Fraction(1), "paper")])
def test_the_combination_is_in_the_span_of_the_sites(target: Target) -> None:
    federation, _ = sites(3, 50, 8)
    for method in (FeatureMethod(), FeatureMethod(scale="unit"), FeatureMethod(private_labelled=True), AverageMethod()):
        trained = method.train(federation)
        M = trained.classifiers(target, stream(4))
        f = weights(trained.release(target, stream(4)).model)

        def distance(rows: Array, f: Array = f) -> float:
            omega = np.linalg.lstsq(rows.T, f, rcond=None)[0]
            return float(np.linalg.norm(f - rows.T @ omega) / np.linalg.norm(f))

        assert distance(M) < 1e-9
        assert distance(M[:2]) > 1e-3  # and in no smaller one


@pytest.mark.parametrize("calibration", ["paper", "proven"])
def test_a_release_minimises_the_loss_with_the_noise_of_its_law(calibration: Any) -> None:
    federation, _ = sites(1, 20, 1)
    target, rows = Target(Fraction(1, 2), calibration), federation.parties[0]
    (law,) = site_perturbations(AverageMethod(), federation.public, target)
    assert law.extra > 0.1
    (f,) = weights(AverageMethod().train(federation).release(target, stream(6)).model)
    (b,) = map(float, law.linear(stream(6)))
    u = (2 * rows.y - 1) * rows.X[:, 0]
    slope = float((np.clip(u * f - 1.5, -1, 0) * u).mean())
    assert abs(slope + law.total * f + b) < 1e-4
    assert abs(slope + law.modulus * f + b) > 0.1  # without Delta


def test_what_the_statement_says() -> None:
    federation, _ = sites(3, 40, 3)
    rng = Stream.from_system()
    for method in METHODS:
        privacy = method.train(federation).release(Target(Fraction(1, 2)), rng).privacy
        assert privacy.adversary == feature_method._ADVERSARY
    assert feature_method._PUBLIC in privacy.caveats


def test_the_papers_noise_is_stated_with_what_it_gives() -> None:
    """At 1/2, n = 40, lam = 0.01, h = 1/2: Delta > 0, epsilon' = 1/4, the determinant 1/8, and epsilon/100."""
    federation, _ = sites(2, 40, 3)
    privacy = AverageMethod().train(federation).release(Target(Fraction(1, 2), "paper"), Stream.from_system()).privacy
    assert privacy.epsilon == pytest.approx(0.25 + 0.125 + 0.005, rel=1e-9)
    assert any("nominal epsilon is 0.5; the epsilon proved for it is at most 0.38" in c for c in privacy.caveats)


def test_every_site_has_its_own_epsilon_and_the_worst_is_stated() -> None:
    federation, _ = sites(3, 40, 3)
    named = replace(federation, names=("north", "east", "west"))
    method = FeatureMethod(site_epsilons=(1.0, 0.25, 2.0))
    trained = method.train(named)
    target = Target(Fraction(1, 2))
    assert [law.epsilon for law in site_perturbations(method, named.public, target) if law] == [
        Fraction(1, 2),
        Fraction(1, 8),
        Fraction(1),
    ]
    privacy = trained.release(target, Stream.from_system()).privacy
    assert privacy.epsilon == 1
    assert any("party north 0.5, party east 0.125, party west 1" in c for c in privacy.caveats)


def test_private_rows_of_the_aggregator_are_perturbed_as_a_site_is() -> None:
    federation, _ = sites(3, 200, 4)
    target, assumed = Target(Fraction(10)), FeatureMethod(private_labelled=True)
    privacy = assumed.train(federation).release(target, Stream.from_system()).privacy
    assert privacy.epsilon == 10
    assert feature_method._PRIVATE in privacy.caveats
    # Where the sites spend almost nothing, the aggregator's epsilon is the worst.
    careful = replace(assumed, site_epsilons=(0.01,) * 3).train(federation).release(target, Stream.from_system())
    assert careful.privacy.epsilon == 10
    # For the same classifiers another omega in every release; with public rows it is a function of the classifiers.
    for method, same in ((assumed, False), (FeatureMethod(), True)):
        M = list(method.train(federation).classifiers(target, stream(2)))
        found = [weights(release_parts(method, M, federation.public, target, stream(seed)).model) for seed in (3, 4)]
        assert np.array_equal(*found) is same


@pytest.mark.parametrize("scale", ["none", "unit"])
def test_features_of_private_rows_are_divided_by_the_length_of_all_classifiers(scale: Any) -> None:
    """Without that they are outside the unit ball, in which objective perturbation needs its rows."""
    federation, _ = sites(5, 30, 3)
    labelled = federation.labelled
    M = AverageMethod().train(federation).classifiers(Target(Fraction(1, 10)), stream(1))
    assert first_outside(labelled.X @ M.T) is not None
    lengths = np.linalg.norm(M, axis=1, keepdims=True) if scale == "unit" else 1.0
    divided = M / lengths / np.linalg.norm(M / lengths)
    assert first_outside(labelled.X @ divided.T) is None
    omega = by_scikit(labelled.X @ divided.T, labelled.y, 0.01)
    found, as_public = (
        weights(
            release_parts(
                FeatureMethod(scale=scale, private_labelled=p), list(M), federation.public, EXACT, stream(1)
            ).model
        )
        for p in (True, False)
    )
    np.testing.assert_allclose(found, divided.T @ omega, atol=1e-5)
    assert np.abs(as_public - found).max() > 1e-2


def test_at_the_edge_of_the_cliff_there_is_a_release_too() -> None:
    """epsilon' = 10^-25 or less: b is 10^27 long, and so is the classifier."""
    federation, _ = sites(2, 40, 3)
    ratio = 1 / (40 * Fraction(0.02))
    with localcontext(prec=60):
        edge = Fraction(2 * (Decimal((1 + ratio).numerator) / Decimal((1 + ratio).denominator)).ln())
    target = Target(edge + Fraction(1, 10**25), "paper")
    for method in METHODS:
        trained = method.train(federation)
        (law, _) = site_perturbations(method, federation.public, target)
        assert law.extra == 0
        assert law.noise.epsilon(2 << 40) < Fraction(2, 10**25)
        assert np.isfinite(weights(trained.release(target, stream(1)).model)).all()


def test_sites_with_one_class_or_one_row_are_of_use() -> None:
    rows = Rows(np.array([[0.5, 0.1]]), np.array([1]))
    federation = Federation((rows, rows), 2, labelled=rows)
    for method in METHODS:
        for target in (EXACT, Target(Fraction(1)), Target(Fraction(1), "paper")):
            model = method.train(federation).release(target, stream(1)).model
            assert np.isfinite(weights(model)).all()


@pytest.mark.parametrize("cls", [AverageMethod, FeatureMethod])
@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"h": 0.0}, "parameter.out_of_range"),
        ({"loss": "hinge"}, "setting.unknown_value"),
        ({"site_epsilons": (1.0, 0.0)}, "parameter.out_of_range"),
        ({"site_epsilons": (math.inf,)}, "parameter.out_of_range"),
        ({"site_epsilons": ("x",)}, "parameter.out_of_range"),
        ({"site_epsilons": 2.0}, "site_epsilons.no_tuple"),
    ],
)
def test_settings_out_of_range_are_refused(cls: Any, settings: dict[str, Any], code: str) -> None:
    with refused(code):
        cls(**settings)


def test_what_is_missing_or_wrong_is_named() -> None:
    federation, _ = sites(2, 20, 3)
    with refused("setting.unknown_value", name="scale", got="'norm'"):
        FeatureMethod(scale="norm")  # type: ignore[arg-type]
    for answer in ("x", 1, None):
        with refused("private_labelled.no_bool", got=repr(answer)):
            FeatureMethod(private_labelled=answer)  # type: ignore[arg-type]
    with refused("labelled_rows.missing", method="feat_agg"):
        FeatureMethod().train(replace(federation, labelled=None))
    AverageMethod().train(replace(federation, labelled=None))
    for method in METHODS:
        with refused("site_epsilons.wrong_number", wanted=2, got=3):
            replace(method, site_epsilons=(1.0, 1.0, 1.0)).train(federation)
