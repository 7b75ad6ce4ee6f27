"""Checks of privacy of the sums of least squares, derived again, and of what parties entered to them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from support.audited import Folders

from smc_dp import run_protocol
from smc_dp.audit.run import checks
from smc_dp.audit.run.derived_parameters import DerivedParameters, derive_parameters
from smc_dp.audit.run.evidence import Evidence
from smc_dp.audit.run.privacy import rounds
from smc_dp.audit.run.privacy.view_inputs import InputBlock, inputs_of_views
from smc_dp.audit.run.report import audit_evidence

BOUNDS = """
[columns]
age = [18, 98]
ward = ["a", "b", "c"]
[label]
column = "stay"
range = [0, 60]
"""
P = 4  # age, two wards, the constant


@pytest.fixture(scope="module", params=["replace", "addremove"])
def evidence(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    folder, rng = tmp_path_factory.mktemp("least_squares"), np.random.default_rng(1)
    (folder / "bounds.toml").write_text(BOUNDS)
    for name in ("north", "south", "west"):
        lines = [f"{rng.integers(18, 99)},{rng.choice(list('abc'))},{rng.integers(61)}" for _ in range(40)]
        (folder / f"{name}.csv").write_text("\n".join(["age,ward,stay", *lines]) + "\n")
    parties = {name: folder / f"{name}.csv" for name in ("north", "south", "west")}
    run_protocol(
        parties,
        method="linear",
        epsilon=2,
        adjacency=request.param,
        bounds=folder / "bounds.toml",
        most_rows=50,
        out=folder / "run",
        views=folder / "views",
    )
    return Folders(folder / "run", folder / "views").evidence()


@pytest.fixture(scope="module")
def found(evidence: Evidence) -> DerivedParameters:
    return derive_parameters(evidence)


def test_a_run_passes_with_its_views(evidence: Evidence) -> None:
    report = {x.check.name: x.outcome for x in audit_evidence(evidence, tuple(checks.CHECKS)).findings}
    assert [name for name, outcome in report.items() if outcome.status == "failed"] == []
    for name in ("mechanism", "statement", "noise", "models", "messages-recomputed", "result"):
        assert report[name].status == "passed", name


@pytest.mark.parametrize(("number", "block"), [(r, i) for r in range(3) for i in range(5)])
def test_less_noise_in_any_block_of_a_sum_is_noticed(found: DerivedParameters, number: int, block: int) -> None:
    shared: Any = found.shared
    each = list(shared.distributions)
    each[number] = tuple(
        replace(of, variance=of.variance * (Fraction(1, 2) if i == block else 1)) for i, of in enumerate(each[number])
    )
    less = replace(found, shared=replace(shared, distributions=tuple(each)))
    assert rounds.check_rounds_mechanism(found).status == "passed"
    assert rounds.check_rounds_mechanism(less).code == "noise.mu_too_large"


def test_blocks_of_other_lengths_are_no_least_squares(found: DerivedParameters) -> None:
    class Other(type(found)):  # type: ignore[misc]
        sums = tuple(blocks[:-1] for blocks in found.sums)

    other = Other(found.method, found.target, found.public, found.grid, found.spec, found.shared)
    assert rounds.check_rounds_mechanism(other).code == "sums.other_blocks"


def changed(block: int, *numbers: int) -> Callable[[list[InputBlock]], None]:
    def change(blocks: list[InputBlock]) -> None:
        padded = (*numbers, *(0,) * (len(blocks[block].without_noise) - len(numbers)))
        blocks[block] = replace(blocks[block], without_noise=padded)

    return change


@pytest.mark.parametrize(
    ("number", "change"),
    [
        (1, changed(0, 50 * 2**28 + 1)),
        (1, changed(1, 50 * 2**28)),
        (1, changed(2, 50 * 2**34 + 1)),
        (1, changed(3, 50 * 2**40 + 1)),
        (1, changed(4, 51 << 16)),
        (2, changed(0, 50 * 2**26 + 1)),
        (2, changed(1, 50 * 2**52 + 1)),
        (2, changed(3, 50 * 2**24 + 1)),
        (2, changed(4, 51 << 16)),
    ],
)
def test_an_input_that_no_rows_make_is_noticed(
    evidence: Evidence, found: DerivedParameters, number: int, change: Callable[[list[InputBlock]], None]
) -> None:
    read: Any = inputs_of_views(evidence, found)
    assert rounds.check_contributions(evidence, found, read).status == "passed"
    sums = list(read["south"])
    blocks = list(sums[number])
    change(blocks)
    sums[number] = tuple(blocks)
    assert rounds.check_contributions(evidence, found, {**read, "south": tuple(sums)}).status == "failed"


def test_it_is_of_the_columns_that_are_no_reference(found: DerivedParameters) -> None:
    matrix = [P, P * (P - 1) // 2]
    assert [[length for length, _ in blocks] for blocks in found.sums] == [
        [*matrix, P, 1, 1],
        [*matrix, P, 1, 1],
        [P, *matrix, 1, 1],
    ]
