"""Every method in parts: what parties make at home gives what training in one place gives, under the same statement."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import math
import pkgutil
import re
from dataclasses import replace
from fractions import Fraction
from typing import Any, get_args

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from protocols.arithmetic.rng import Stream
from smc_dp import (
    AveragingClassifier,
    CollaborativeClassifier,
    EnsembleClassifier,
    FeatureMethodClassifier,
    SecureSumClassifier,
    methods,
)
from smc_dp.audit.epsilon.methods import visible_outputs
from smc_dp.core.arrays import OUTCOME_BITS, Array, into_ball
from smc_dp.data.federation import Federation, Public, Rows
from smc_dp.methods.central_objective import CentralObjective
from smc_dp.methods.collaborative.ofaa import Ofaa
from smc_dp.methods.collaborative.ofpa import Ofpa
from smc_dp.methods.collaborative.param_laplace import ParamLaplace
from smc_dp.methods.collaborative.rounds import BiasedModel
from smc_dp.methods.feature_method import AverageMethod, FeatureMethod
from smc_dp.methods.functionality import ideal
from smc_dp.methods.gradients.newton import Newton
from smc_dp.methods.hamm2016.release_all import Committee
from smc_dp.methods.hamm2016.votes import Soft, SoftAuxiliary, Vote
from smc_dp.methods.method import WITH_WEIGHTS, Method, SumSpec, noise_names
from smc_dp.methods.model import LinearModel, Release, ReleasedModel
from smc_dp.methods.nonprivate import Each, Individual
from smc_dp.methods.pathak2010.mean import PathakMean
from smc_dp.methods.registry import METHODS
from smc_dp.methods.sums.clipped_average import ClippedAverage
from smc_dp.methods.sums.soft_statistic import SoftStatistic
from smc_dp.methods.sums.weighted_sum import WeightedSum
from smc_dp.privacy.statement import Unit
from smc_dp.privacy.target import NOISES_AS_PUBLISHED, Calibration, NoiseName, Target
from tests.support.refusals import refused

LAM, TREE = 0.05, DecisionTreeClassifier(max_depth=2, random_state=0)


def usual(kind: type[Any]) -> Method:
    """Return a method with its defaults, and the lambda of these tests if it has one."""
    return kind(lam=LAM) if "lam" in kind.__dataclass_fields__ else kind()


VARIANTS: tuple[Method, ...] = (
    *(PathakMean(LAM, as_published=True), CentralObjective(), Newton("addremove"), ClippedAverage(LAM, clip=0.5)),
    *(SoftStatistic(LAM, TREE), Soft(LAM, TREE)),
    *(AverageMethod(LAM, loss="logistic", site_epsilons=(0.5,) * 3), FeatureMethod(LAM, scale="unit")),
    *(FeatureMethod(LAM, private_labelled=True), Ofpa(rounds=2, lam=LAM), Individual(LAM, TREE)),
    *(Ofpa(rounds=3, reading="truncated", epochs=5), Ofaa(rounds=2)),
    *(Ofaa(rounds=3, reading="truncated", epochs=5), Ofaa(trust="local", repair="trim")),
)
SLOW_BY_DEFAULT = ("ofaa", "ofpa")  # their default numbers of queries or rounds: a variant stands for them
EVERY: tuple[Method, ...] = (*(usual(kind) for name, kind in METHODS.items() if name not in SLOW_BY_DEFAULT), *VARIANTS)
BY_NAME = [pytest.param(method, id=f"{method.name}-{i}") for i, method in enumerate(EVERY)]
OUTPUTS: dict[type[Any], tuple[str, ...]] = {
    BiasedModel: ("ofpa", "ofaa", "param_laplace"),
    Committee: ("release_all",),
    Each: ("indiv",),
}


def a_federation(method: Method | None = None, seed: int = 0) -> Federation:
    """Rows with classes, or for a method that predicts a number with outcomes."""
    rng = np.random.default_rng(seed)
    truth = np.array([1.0, -1.0, 0.5])

    def rows(n: int) -> Rows:
        X = into_ball(rng.normal(size=(n, 3)), 2.0)
        y = (X @ truth + rng.normal(size=n) / 4 > 0).astype(np.int64)
        y[:2] = 0, 1
        return Rows(X, y)

    parties = tuple(rows(n) for n in (14, 9, 12))
    if getattr(method, "regresses", False):
        scale = 1 << OUTCOME_BITS
        numbers = (np.rint(scale * (rows.X @ truth) / 2).astype(np.int64) for rows in parties)
        return Federation(tuple(Rows(rows.X, y) for rows, y in zip(parties, numbers, strict=True)), 0)
    return Federation(parties, 2, unlabelled=rows(20).X, labelled=rows(15))


def targets(method: Method) -> list[Target]:
    """No noise under each calibration, and each noise that the method has."""
    found = [Target(None), Target(None, "paper", "laplace")] if "paper" in method.calibrations else [Target(None)]
    return found + [Target(Fraction(3), c, noise) for c in method.calibrations for noise in noise_names(method, c)]


def in_parts(method: Method, federation: Federation, target: Target) -> Release:
    """What comes of parts that every party makes on its own, from the system's generator."""
    public, rng = federation.public, Stream.from_system()
    parts = [method.part(rows, public, target, rng) for rows in federation.parties]
    return method.finish(ideal(method.functionality(public, target), parts, rng), public, target)


def numbers(model: ReleasedModel, probe: Array) -> Array:
    """What the model is made of."""
    if isinstance(model, LinearModel):
        return model.W
    if isinstance(model, BiasedModel):
        return model.theta
    if isinstance(model, Committee):
        return model.V
    if isinstance(model, Each) and isinstance(model.classifiers, np.ndarray):
        return model.classifiers
    return np.array([model.accuracy(Rows(probe, np.zeros(len(probe), dtype=np.int64)))])


def agree(method: Method, calibration: Calibration) -> bool:
    """Whether parts and training in one place give the same model where there is no noise."""
    federation, target = a_federation(method), Target(None, calibration)
    probe = a_federation(seed=5).pooled().X
    whole = method.train(federation).release(target, Stream.from_system())
    found = [numbers(release.model, probe) for release in (whole, in_parts(method, federation, target))]
    return found[0].shape == found[1].shape and bool(np.abs(found[0] - found[1]).max() <= 1e-6)


@pytest.mark.parametrize("method", BY_NAME)
def test_rows_with_weights_are_refused_where_nobody_uses_them(method: Method) -> None:
    plain = a_federation(method)
    parties = tuple(replace(rows, weights=np.ones(len(rows))) for rows in plain.parties)
    weighted, target = replace(plain, parties=parties), Target(None)
    if method.name in WITH_WEIGHTS:  # and equal weights are none
        both = (plain, weighted)
        one, other = (method.train(found).release(target, Stream.from_system()).model for found in both)
        assert other.W.tolist() == one.W.tolist()
        with refused("rows.weights_of_some", at="party 2"):
            replace(plain, parties=(parties[0], *plain.parties[1:]))
        return
    with refused("rows.weights_not_used"):
        method.train(weighted)
    with refused("rows.weights_not_used"):  # before anything is computed of all parts
        method.part(parties[0], plain.public, target, Stream.from_system())


def adjacency(method: Method) -> str:
    return getattr(method, "adjacency", "party" if method.protects == "party" else "replace")


def kind_of_guarantee(method: Method, target: Target) -> str:
    """Of Gaussian noise in what is released a curve follows; in an objective it has an epsilon and a delta."""
    if target.noise not in ("gauss", "ddg"):
        return "pure"
    return "approx" if isinstance(method, CentralObjective) else "zcdp"


@pytest.mark.parametrize("method", BY_NAME)
def test_parts_give_a_release_of_the_right_kind_with_the_statement_made_before(method: Method) -> None:
    federation, probe = a_federation(method), a_federation(seed=5).pooled().X
    trained = method.train(federation)
    for target in targets(method):
        stated = method.statement(federation.public, target)
        assert (stated.unit, stated.adjacency) == (method.protects, adjacency(method))
        release = in_parts(method, federation, target)
        kind = next((model for model, names in OUTPUTS.items() if method.name in names), LinearModel)
        assert isinstance(release.model, kind)
        assert release.privacy == stated
        assert trained.release(target, Stream.from_system()).privacy == stated
        assert stated.kind == ("none" if target.epsilon is None else stated.kind)
        if target.epsilon is not None and target.calibration == "proven":
            one, other = (numbers(trained.release(target, Stream.from_system()).model, probe) for _ in range(2))
            assert not np.array_equal(one, other)
        if getattr(method, "as_published", False):
            assert (stated.kind, stated.epsilon) == ("none", None)
        elif target.epsilon is not None and target.calibration == "proven":
            factor = 0.5 if getattr(method, "site_epsilons", None) else 1.0
            assert stated.epsilon == pytest.approx(3.0 * factor)
            assert stated.kind == kind_of_guarantee(method, target)
            assert stated.kind == "pure" or stated.delta == pytest.approx(float(target.delta))
            if stated.kind == "zcdp":
                assert 1 - 1e-6 < stated.mu / float(target.mu) <= 1
        known = trained.release(target, Stream.insecure_from_seed("known"))
        assert known.privacy.kind == "none"


@pytest.mark.parametrize("method", BY_NAME)
def test_without_noise_parts_give_the_model_of_one_place_and_no_statement_looks_at_rows(method: Method) -> None:
    assert not looks_at_rows(method)
    for calibration in method.calibrations or ("proven",):
        assert agree(method, calibration)


def looks_at_rows(method: Method) -> bool:
    """Whether a statement changes with private or public rows, where all sizes stay as they are."""
    first, second = (a_federation(method, seed) for seed in (0, 1))
    for target in targets(method):
        stated = [method.statement(federation.public, target) for federation in (first, second)]
        made = in_parts(method, second, target).privacy
        if not stated[0] == stated[1] == made:
            return True
    return False


def missing(method: type[Method]) -> list[str]:
    """The facts that the class lacks or has wrongly."""
    found = []
    for fact in ("name", "protects", "calibrations", "noises", "noises_as_published", "lambda_multiplies", "colour"):
        if not hasattr(method, fact):
            return [fact]
    if not re.fullmatch("#[0-9a-f]{6}", method.colour):
        found.append("colour")
    if method.protects not in get_args(Unit) or method.protects != unit_of(method):
        found.append("protects")
    if not set(method.calibrations) <= set(get_args(Calibration)):
        found.append("calibrations")
    if not set(method.noises) | set(method.noises_as_published) <= set(get_args(NoiseName)):
        found.append("noises")
    if bool(method.noises_as_published) != ("paper" in method.calibrations) or "gauss" in method.noises_as_published:
        found.append("noises_as_published")
    if bool(method.lambda_multiplies) != hasattr(method(), "lam"):
        found.append("lambda_multiplies")
    return found


def unit_of(method: type[Method]) -> Unit:
    """What the statement of a release without noise speaks of."""
    return method().statement(a_federation().public, Target(None)).unit


@pytest.mark.parametrize("name", METHODS)
def test_every_method_has_all_facts(name: str) -> None:
    assert missing(METHODS[name]) == []
    assert METHODS[name].name == name
    square = "|w|²" if METHODS[name].protects == "record" else "|V|²/2"
    assert METHODS[name].lambda_multiplies in ("", square)


@pytest.mark.parametrize("name", METHODS)
def test_neighbours_train_and_move_the_release(name: str) -> None:
    method = METHODS[name]
    for calibration in method.calibrations or ("proven",):
        pair = method.audit_pair(calibration)
        assert pair.method.name == name
        first, second = (
            visible_outputs(pair.method.train(world), Target(None, calibration), Stream.from_system())
            for world in pair.worlds
        )
        assert np.abs(first - second).max() > 1e-3 * max(np.abs(first).max(), np.abs(second).max())


# What the theory of a method does not give.

EVERY_NOISE = (
    *(Target(Fraction(1), "proven", noise) for noise in get_args(NoiseName)),
    *(Target(Fraction(1), "paper", noise) for noise in NOISES_AS_PUBLISHED),
)


@pytest.mark.parametrize("name", METHODS)
def test_noise_and_calibrations_that_a_method_does_not_have_are_refused(name: str) -> None:
    method = usual(METHODS[name])
    trained = method.train(a_federation(method))
    for target in EVERY_NOISE:
        if target.noise in noise_names(method, target.calibration):
            continue
        has_calibration = target.calibration in method.calibrations
        code = "noise.not_of_calibration" if has_calibration else "calibration.not_of_method"
        with refused(code if method.calibrations else "epsilon.not_private", method=name):
            trained.release(target, Stream.from_system())


FOR_TWO = {"prr_mean", "central", "local", "central_obj", "avg_agg", "feat_agg", "ofpa", "ofaa", "param_laplace"}
CODE_OF_THREE = {name: "classes.only_two" for name in (*FOR_TWO, "logistic")} | {"linear": "classes.of_no_number"}


@pytest.mark.parametrize("name", METHODS)
def test_methods_for_two_classes_refuse_three_and_others_take_them(name: str) -> None:
    rows, method, target = Rows(np.eye(3) / 2, np.arange(3)), usual(METHODS[name]), Target(None)
    three = Federation((rows, rows), 3, unlabelled=rows.X, labelled=rows)
    with refused(CODE_OF_THREE[name], got=3) if name in CODE_OF_THREE else contextlib.nullcontext():
        method.train(three).release(target, Stream.from_system())
    with refused(CODE_OF_THREE[name], got=3) if name in CODE_OF_THREE else contextlib.nullcontext():
        in_parts(method, three, target)


# What a party at home is told.


@pytest.mark.parametrize(
    ("method", "code"),
    [
        (Vote(LAM, [TREE, TREE]), "learner.wrong_number"),
        (AverageMethod(LAM, site_epsilons=(1.0, 0.5, 1.0)), "site_epsilons.several_at_home"),
    ],
)
def test_a_party_at_home_has_one_learner_and_one_share(method: Method, code: str) -> None:
    federation = a_federation()
    with refused(code):
        method.part(federation.parties[0], federation.public, Target(Fraction(1)), Stream.from_system())


@pytest.mark.parametrize("method", [Vote(), Soft(), SoftAuxiliary(), SoftStatistic()])
def test_labels_of_public_rows_need_such_rows(method: Method) -> None:
    without = replace(a_federation(), unlabelled=None)
    with refused("auxiliary_rows.needed", method=method.name):
        method.part(without.parties[0], without.public, Target(Fraction(1)), Stream.from_system())
    with refused("auxiliary_rows.needed", method=method.name):
        method.train(without)


@pytest.mark.parametrize("method", [WeightedSum(), AverageMethod(), ParamLaplace()])
def test_an_average_by_sizes_needs_them_to_be_public(method: Method) -> None:
    federation = a_federation()
    unknown = replace(federation.public, sizes=None)
    target = Target(None)
    if method.name == "avg_agg":  # whose statement is that of the smallest site
        with refused("sizes.missing", method="avg_agg"):
            method.statement(unknown, Target(Fraction(1)))
        return
    parts = [method.part(rows, unknown, target, Stream.from_system()) for rows in federation.parties]
    value = ideal(method.functionality(unknown, target), parts, Stream.from_system())
    with refused("sizes.missing", method=method.name):
        method.finish(value, unknown, target)
    assert math.isfinite(method.finish(value, federation.public, target).model.accuracy(federation.parties[0]))


def test_a_library_that_is_too_old_is_not_taken_for_a_method_that_is_no_sum() -> None:
    """On Python 3.11 `isinstance` with typing's own Protocol evaluates `sums`, and hides an AttributeError in it."""

    class Broken:
        @property
        def sums(self) -> Any:
            raise AttributeError("a library without this function")

    others = {"check", "functionality", "grid", "length", "model", "part", "public", "smallest_sets_noise", "statement"}
    spec = type("Spec", (Broken,), dict.fromkeys(others, 0))()
    assert isinstance(spec, SumSpec)
    with pytest.raises(AttributeError, match="a library without"):
        _ = spec.sums


# The registry.


FAMILIES = (
    *(AveragingClassifier, EnsembleClassifier, FeatureMethodClassifier, CollaborativeClassifier),
    SecureSumClassifier,
)
# Why there is no estimator of these.
IN_NO_FAMILY = {
    "wsum_ar": "its weights have a direction only, and probabilities would need their length",
    "logistic": "its intervals are those of columns, which arrays do not name",
    "linear": "its intervals are those of columns, and scikit-learn's classifiers predict no numbers",
    "batch": "scikit-learn has it",
    "indiv": "releases nothing in common",
    "release_all": "releases a committee and no model that scores rows",
}


def classes() -> list[type[Any]]:
    """Every class in the rooms of methods that has a name of its own and makes a part."""
    found = set()
    for module in pkgutil.walk_packages(methods.__path__, "smc_dp.methods."):
        for value in vars(importlib.import_module(module.name)).values():
            if inspect.isclass(value) and value is not Method and value.__module__.startswith("smc_dp.methods"):
                found |= {value} if isinstance(getattr(value, "name", None), str) and hasattr(value, "part") else set()
    return sorted(found, key=lambda kind: kind.__qualname__)


def test_every_class_that_is_a_method_is_in_the_registry() -> None:
    assert WeightedSum in classes()
    assert {method.name for method in EVERY} == set(METHODS)
    assert {method.name for method in VARIANTS} >= set(SLOW_BY_DEFAULT)
    assert [kind.__qualname__ for kind in classes() if METHODS.get(kind.name) is not kind] == []
    assert len(classes()) == len(METHODS)


def test_every_method_is_in_a_family_or_in_none_for_a_reason() -> None:
    homes = {name: sum(name in family.methods for family in FAMILIES) for name in METHODS}
    assert homes == {name: int(name not in IN_NO_FAMILY) for name in METHODS}
    assert IN_NO_FAMILY.keys() <= METHODS.keys()


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if method.lambda_multiplies])
def test_a_method_with_a_lambda_refuses_one_for_which_no_minimiser_is_certified(name: str) -> None:
    wanted: Any = METHODS[name]
    for lam in (0.0, -1.0, np.nan, np.inf, 1e7, "x"):
        code = "lambda.zero" if (name, lam) == ("param_laplace", 0) else "parameter.out_of_range"
        with refused(code, name="lambda"):
            wanted(lam=lam)


@pytest.mark.parametrize("name", ["local", "param_laplace", "release_all"])
def test_noise_that_is_wanted_is_in_what_leaves_a_party(name: str) -> None:
    rows, target = Rows(np.eye(2), np.array([0, 1])), Target(Fraction(1), noise="laplace")
    public, method = Public(1, 2, 2, (2,)), METHODS[name]()
    parts = [method.part(rows, public, wanted, Stream.from_system()) for wanted in (Target(None), target, target)]
    assert len({tuple(part) for part in parts}) == 3
