"""What the estimators' docstrings say is so: every parameter with its default, in the same words, and the examples."""

from __future__ import annotations

import doctest
import inspect
import re
import typing
from ast import literal_eval
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pytest

from smc_dp import (
    AveragingClassifier,
    CollaborativeClassifier,
    EnsembleClassifier,
    FeatureMethodClassifier,
    SecureSumClassifier,
)
from smc_dp.estimators.base import FederatedClassifier
from smc_dp.estimators.docstrings import documented

FAMILIES = (
    *(AveragingClassifier, EnsembleClassifier, FeatureMethodClassifier, CollaborativeClassifier),
    SecureSumClassifier,
)
SECTIONS = ["Parameters", "Attributes", "Raises", "Warns", "References", "Examples"]


def sections(documented: object) -> dict[str, str]:
    """The sections of a docstring by their headings; what stands before the first has none."""
    text = "\n\n" + inspect.cleandoc(str(documented.__doc__))
    parts = re.split(r"\n\n(.+)\n-+\n", text)
    return dict(zip(["", *parts[1::2]], parts[::2], strict=True))


def entries(section: str) -> dict[str, tuple[str, str]]:
    """Name -> what stands behind the colon, and the description."""
    found = re.findall(r"^(\w+)(?: : (.+))?\n((?: {4}.+\n?)+)", section, flags=re.MULTILINE)
    return {name: (kind, " ".join(words.split())) for name, kind, words in found}


def defaults_said(family: type) -> dict[str, Any]:
    """Parameter -> its default, as the docstring has both."""
    said = entries(sections(family)["Parameters"])
    return {name: literal_eval(kind.rpartition("default=")[2]) for name, (kind, _) in said.items()}


def defaults(family: type[FederatedClassifier]) -> dict[str, Any]:
    """Parameter -> its default, as the dataclass has both."""
    return {parameter.name: parameter.default for parameter in fields(family) if parameter.init}


@pytest.mark.parametrize("family", FAMILIES)
def test_the_docstring_lists_exactly_the_parameters_and_their_defaults(family: type[FederatedClassifier]) -> None:
    assert defaults_said(family) == defaults(family)
    assert set(defaults(family)) == set(family().get_params(deep=False))


@dataclass(kw_only=True, eq=False, repr=False)
class Forgotten(AveragingClassifier):
    """Broken: a parameter that nobody described."""

    momentum: float = 0.0


Forgotten.__doc__ = AveragingClassifier.__doc__


@dataclass(kw_only=True, eq=False, repr=False)
class Outdated(AveragingClassifier):
    """Broken: the default is not what is described."""

    lam: float = 1e-3


Outdated.__doc__ = AveragingClassifier.__doc__


def test_a_missing_parameter_and_an_old_default_are_told() -> None:
    assert defaults(Forgotten).keys() - defaults_said(Forgotten).keys() == {"momentum"}
    assert defaults_said(Outdated) != defaults(Outdated)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_method_is_described(family: type[FederatedClassifier]) -> None:
    kind, words = entries(sections(family)["Parameters"])["method"]
    assert tuple(re.findall(r'"(\w+)"', kind.partition("}")[0])) == family.methods
    assert set(family.methods) <= set(re.findall(r"`(\w+)`", words))


def described_alike(families: tuple[type, ...]) -> set[str]:
    """The parameters of all these families that are described in the same words."""
    said = [entries(sections(family)["Parameters"]) for family in families]
    return {name for name in set.intersection(*map(set, said)) if len({each[name] for each in said}) == 1}


class Reworded(AveragingClassifier):
    __doc__ = str(AveragingClassifier.__doc__).replace("A probability,", "A number,")


def test_what_is_one_parameter_is_described_in_one_way() -> None:
    assert described_alike(FAMILIES) == {"bounds", "epsilon", "delta", "n_parties", "radius", "insecure_seed", "ledger"}
    assert "delta" not in described_alike((*FAMILIES, Reworded))  # the twin


@documented
class Terse:
    """Learn.

    Parameters
    ----------
    delta, bias
        There is none.
    delta, momentum

    References
    ----------
    None.

    """

    def __init__(self, ledger: str | None = None, delta: float = 1e-5, bias: float = 1.0) -> None: ...


def test_names_of_what_is_shared_become_descriptions_and_others_stay() -> None:
    said = entries(sections(Terse)["Parameters"])
    assert said["delta"] == entries(sections(AveragingClassifier)["Parameters"])["delta"]
    assert said["bias"][1].endswith("0 adds none. There is none.")
    assert list(said) == ["ledger", "delta", "bias"]  # what is shared is there without being named
    assert "\ndelta, momentum\n" in str(Terse.__doc__)
    assert list(sections(Terse))[1:] == SECTIONS[:-1]


@pytest.mark.parametrize("family", FAMILIES)
def test_the_sections_are_all_there_and_the_summary_is_a_sentence(family: type[FederatedClassifier]) -> None:
    assert list(sections(family))[1:] == SECTIONS
    summary = sections(family)[""].strip().partition("\n\n")[0]
    assert summary.endswith(".")
    assert "\n" not in summary


@pytest.mark.parametrize("family", FAMILIES)
def test_the_attributes_are_those_that_a_fit_sets(family: type[FederatedClassifier]) -> None:
    X = np.random.default_rng(0).standard_normal((60, 2)) / 10
    fitted = family(epsilon=np.inf).fit(X, X[:, 0] > 0)
    said = set(entries(sections(family)["Attributes"]))
    assert said - {"feature_names_in_"} == {  # these columns have no names
        *(set(vars(fitted)) - set(fitted.get_params())),
        *("coef_", "intercept_"),
    }


def failures(documented: type) -> tuple[int, int]:
    """How many lines of the examples give something else, and how many there are."""
    test = doctest.DocTestParser().get_doctest(str(documented.__doc__), {}, documented.__name__, None, None)
    result = doctest.DocTestRunner(verbose=False).run(test, out=lambda line: None)
    return result.failed, result.attempted


@pytest.mark.parametrize("family", FAMILIES)
def test_the_examples_give_what_is_printed(family: type) -> None:
    wrong, lines = failures(family)
    assert wrong == 0
    assert lines > 5


class Boasting(AveragingClassifier):
    __doc__ = str(AveragingClassifier.__doc__).replace("('pure', 1.0, 'record')", "('pure', 0.5, 'record')")


def test_an_example_that_gives_something_else_is_told() -> None:
    assert failures(Boasting)[0] == 1


def test_the_first_parameter_may_be_given_by_its_place_and_no_other() -> None:
    for family in FAMILIES:
        assert family(family.methods[-1]).method == family.methods[-1]
        with pytest.raises(TypeError, match="positional"):
            family(family.methods[-1], 1.0)


@dataclass(kw_only=True, eq=False, repr=False)
class Untyped(AveragingClassifier):
    """Broken: nobody finds the type of a parameter."""

    momentum: Velocity = 0.0  # type: ignore[name-defined]  # noqa: F821


def test_the_types_of_the_parameters_are_found_where_they_are_inherited() -> None:
    for family in FAMILIES:
        assert typing.get_type_hints(family.__init__).keys() - {"return"} == set(defaults(family))
    with pytest.raises(NameError, match="Velocity"):
        typing.get_type_hints(Untyped.__init__)
