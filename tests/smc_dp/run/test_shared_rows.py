"""Test rows that are also rows of a party are told of."""

from __future__ import annotations

from dataclasses import replace

import pytest

from smc_dp.data.sources import dataset
from smc_dp.run.shared_rows import shared_test_rows


@pytest.mark.parametrize("shared", [0, 1, 7])
def test_rows_that_a_party_has_learned_from_are_counted(shared: int) -> None:
    found = dataset("breast_cancer")
    last, test = found.federation.parties[-1], found.test
    assert test is not None
    mixed = replace(test, X=test.X.copy())
    mixed.X[:shared] = last.X[:shared]
    told = [prose.code for prose in shared_test_rows(replace(found, test=mixed))]
    assert told == ["run.shared_test_rows"] * (shared > 0)
    assert list(shared_test_rows(replace(found, test=None))) == []
