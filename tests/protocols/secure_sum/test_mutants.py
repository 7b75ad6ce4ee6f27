"""Forty ways to get the protocol wrong: the check that is named for each finds it, and finds nothing in the code
as it is.
"""

from __future__ import annotations

from typing import Any

import pytest
from broken.secure_sum_mutants import MUTANTS, Mutant
from support.role_code import Code, Patch, copied


@pytest.fixture(scope="module")
def unpatched() -> Code:
    """A copy of the code as it is: what kills a mutant is its patch, and not the copying."""
    return copied()


# One of each kind; the others are slow only because they are many.
SAMPLE = (1, 5, 8, 12, 17, 20, 24, 28, 33, 34, 35, 36, 37, 40)


def cases() -> list[Any]:
    """Every mutant, by number and name."""
    marks = {m.number: [] if m.number in SAMPLE else [pytest.mark.slow] for m in MUTANTS}
    return [pytest.param(m, id=f"{m.number} {m.name}", marks=marks[m.number]) for m in MUTANTS]


@pytest.mark.parametrize("mutant", cases())
def test_the_named_check_finds_the_mutant_and_nothing_else(mutant: Mutant, unpatched: Code) -> None:
    mutant.check(unpatched)
    with mutant.applied() as code, pytest.raises(AssertionError) as found:
        mutant.check(code)
    assert str(found.value) == mutant.why


def test_all_forty_are_there_and_each_has_a_check_of_its_own() -> None:
    assert [mutant.number for mutant in MUTANTS] == list(range(1, 41))
    assert len({mutant.check for mutant in MUTANTS}) == len({mutant.why for mutant in MUTANTS}) == 40
    assert [mutant.check.__doc__.split(".")[0] for mutant in MUTANTS] == [str(n) for n in range(1, 41)]


@pytest.mark.parametrize(("module", "old"), [("sums", "no such text"), ("sums", "await"), ("no such module", "")])
def test_a_patch_that_does_not_fit_is_refused(module: str, old: str) -> None:
    with pytest.raises(ValueError, match=r"stands there [09] times|nobody imports no such module"):
        copied(Patch(module, old, ""))
