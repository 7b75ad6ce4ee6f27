"""Every class that is a method is in the registry, and every method of the registry is where users look for it."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from protocols.arithmetic.rng import Stream
from smc_dp import (
    AveragingClassifier,
    CollaborativeClassifier,
    EnsembleClassifier,
    FeatureMethodClassifier,
    SecureSumClassifier,
    methods,
)
from smc_dp.data.federation import Public, Rows
from smc_dp.methods.method import Method
from smc_dp.methods.registry import METHODS
from smc_dp.methods.sums.weighted_sum import WeightedSum
from smc_dp.privacy.target import Target
from tests.support.refusals import refused

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
