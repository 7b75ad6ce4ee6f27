"""A coalition that chooses its moves by coins gets what the theorem lets it have and no more, as often as it tries."""

from __future__ import annotations

import pytest
from broken.secure_sum_mutants import MUTANTS
from support import role_code
from support.role_code import Code
from support.wandering import broken_rule, wander

CASES = [(3, 0, 1), (4, 0, 1), (4, 2, 0), (5, 1, 1), (6, 1, 2), (6, 2, 1), (7, 1, 2)]
FEW, MANY = 2, 50
FOUND = {1: (5, 1, 2), 9: (6, 1, 2), 15: (4, 0, 1), 16: (4, 0, 1)}  # mutants that it comes upon by itself


def broken(code: Code, case: tuple[int, int, int], tries: int) -> tuple[list[str], int]:
    """Which rules were broken, and how many sums were read."""
    found, sums = [], 0
    for seed in range(tries):
        c = wander(code, *case, seed)
        found += [why for r in range(2) if (why := broken_rule(c, r))]
        sums += sum(len(c.readable(r)) for r in range(2))
    return found, sums


@pytest.mark.parametrize("case", CASES[2:4])
def test_a_few_coalitions_get_one_sum_over_enough(case: tuple[int, int, int]) -> None:
    assert broken(role_code.honest(), case, FEW)[0] == []


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_coalitions_get_one_sum_over_enough(case: tuple[int, int, int]) -> None:
    found, sums = broken(role_code.honest(), case, MANY)
    assert found == []
    assert sums >= MANY // 5  # else they tried nothing that leads anywhere


@pytest.mark.slow
@pytest.mark.parametrize("number", FOUND)
def test_what_a_mutant_lets_them_have_is_found(number: int) -> None:
    with MUTANTS[number - 1].applied() as code:
        assert broken(code, FOUND[number], 25)[0]
