"""What the estimators' docstrings say is so: every method, the same words for the same parameter, what a fit sets."""

from __future__ import annotations

import inspect
import re

import numpy as np
import pytest

from smc_dp.estimators.base import FederatedClassifier
from tests.support.families import FAMILIES


def sections(documented: object) -> dict[str, str]:
    """The sections of a docstring by their headings; what stands before the first has none."""
    text = "\n\n" + inspect.cleandoc(str(documented.__doc__))
    parts = re.split(r"\n\n(.+)\n-+\n", text)
    return dict(zip(["", *parts[1::2]], parts[::2], strict=True))


def entries(section: str) -> dict[str, tuple[str, str]]:
    """Name -> what stands behind the colon, and the description."""
    found = re.findall(r"^(\w+)(?: : (.+))?\n((?: {4}.+\n?)+)", section, flags=re.MULTILINE)
    return {name: (kind, " ".join(words.split())) for name, kind, words in found}


@pytest.mark.parametrize("family", FAMILIES)
def test_every_method_is_described(family: type[FederatedClassifier]) -> None:
    kind, words = entries(sections(family)["Parameters"])["method"]
    assert tuple(re.findall(r'"(\w+)"', kind.partition("}")[0])) == family.methods
    assert set(family.methods) <= set(re.findall(r"`(\w+)`", words))


def described_alike(families: tuple[type, ...]) -> set[str]:
    """The parameters of all these families that are described in the same words."""
    said = [entries(sections(family)["Parameters"]) for family in families]
    return {name for name in set.intersection(*map(set, said)) if len({each[name] for each in said}) == 1}


def test_what_is_one_parameter_is_described_in_one_way() -> None:
    assert described_alike(FAMILIES) == {"bounds", "epsilon", "delta", "n_parties", "radius", "insecure_seed", "ledger"}


@pytest.mark.parametrize("family", FAMILIES)
def test_the_attributes_are_those_that_a_fit_sets(family: type[FederatedClassifier]) -> None:
    X = np.random.default_rng(0).standard_normal((60, 2)) / 10
    fitted = family(epsilon=np.inf).fit(X, X[:, 0] > 0)
    said = set(entries(sections(family)["Attributes"]))
    assert said - {"feature_names_in_"} == {  # these columns have no names
        *(set(vars(fitted)) - set(fitted.get_params())),
        *("coef_", "intercept_"),
    }


def test_the_first_parameter_may_be_given_by_its_place_and_no_other() -> None:
    for family in FAMILIES:
        assert family(family.methods[-1]).method == family.methods[-1]
        with pytest.raises(TypeError, match="positional"):
            family(family.methods[-1], 1.0)
