"""Checks of privacy of sums for inference, derived again, and of what parties entered to them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.audited import Folders

from smc_dp import run_protocol
from smc_dp.audit.run import checks
from smc_dp.audit.run.derived_parameters import DerivedParameters, derive_parameters
from smc_dp.audit.run.evidence import Evidence
from smc_dp.audit.run.privacy import rounds
from smc_dp.audit.run.privacy.view_inputs import InputBlock, InputSums, inputs_of_views
from smc_dp.audit.run.report import audit_evidence

BOUNDS = """
[columns]
age = [18, 98]
ward = ["a", "b", "c"]
[label]
column = "died"
classes = ["no", "yes"]
"""
BLOCKS = ("gradient", "diagonal", "above", "square", "above it", "count")


@pytest.fixture(scope="module", params=["replace", "addremove"])
def evidence(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    folder, rng = tmp_path_factory.mktemp("inference"), np.random.default_rng(1)
    (folder / "bounds.toml").write_text(BOUNDS)
    for name in ("north", "south", "west"):
        lines = [f"{rng.integers(18, 99)},{rng.choice(list('abc'))},{rng.choice(['no', 'yes'])}" for _ in range(40)]
        (folder / f"{name}.csv").write_text("\n".join(["age,ward,died", *lines]) + "\n")
    parties = {name: folder / f"{name}.csv" for name in ("north", "south", "west")}
    run_protocol(
        parties,
        method="logistic",
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


@pytest.mark.parametrize("block", range(6), ids=BLOCKS)
def test_less_noise_in_any_block_of_a_sum_is_noticed(found: DerivedParameters, block: int) -> None:
    shared: Any = found.shared
    last = tuple(
        replace(of, variance=of.variance * (Fraction(1, 2) if i == block else 1))
        for i, of in enumerate(shared.distributions[-1])
    )
    less = replace(found, shared=replace(shared, distributions=(*shared.distributions[:-1], last)))
    assert rounds.check_rounds_mechanism(found).status == "passed"
    assert rounds.check_rounds_mechanism(less).code == "noise.mu_too_large"


def test_blocks_of_other_lengths_are_no_sum_for_inference(found: DerivedParameters) -> None:
    class Other(type(found)):  # type: ignore[misc]
        sums = tuple(blocks[:-1] for blocks in found.sums)

    other = Other(found.method, found.target, found.public, found.grid, found.spec, found.shared)
    assert rounds.check_rounds_mechanism(other).code == "sums.other_blocks"


def long_gradient(blocks: list[InputBlock]) -> None:
    blocks[0] = replace(blocks[0], without_noise=(50 * 2**26 + 1, 0, 0, 0))


def long_hessian(blocks: list[InputBlock]) -> None:
    blocks[1] = replace(blocks[1], without_noise=(50 * 2**50 + 1, 0, 0, 0))
    blocks[2] = replace(blocks[2], without_noise=(0,) * 6)


def long_square(blocks: list[InputBlock]) -> None:
    blocks[3] = replace(blocks[3], without_noise=(50 * 2**52 + 1, 0, 0, 0))
    blocks[4] = replace(blocks[4], without_noise=(0,) * 6)


def no_square(blocks: list[InputBlock]) -> None:
    blocks[4] = replace(blocks[4], without_noise=(2**54, 0, 0, 0, 0, 0))
    blocks[3] = replace(blocks[3], without_noise=(2**53,) * 4)


def many_left_out(blocks: list[InputBlock]) -> None:
    blocks[5] = replace(blocks[5], without_noise=(51 << 16,))


@pytest.mark.parametrize("change", [long_gradient, long_hessian, long_square, no_square, many_left_out])
def test_an_input_that_no_rows_make_is_noticed(
    evidence: Evidence, found: DerivedParameters, change: Callable[[list[InputBlock]], None]
) -> None:
    read: Any = inputs_of_views(evidence, found)
    assert rounds.check_contributions(evidence, found, read).status == "passed"
    sums: InputSums = read["south"]
    blocks = list(sums[2])
    change(blocks)
    read = {**read, "south": (*sums[:2], tuple(blocks), *sums[3:])}
    assert rounds.check_contributions(evidence, found, read).status == "failed"


def test_it_is_of_the_columns_that_are_no_reference(found: DerivedParameters, tmp_path: Path) -> None:
    assert found.public.box is not None
    assert found.public.box.references == (1,)
    assert [length for length, _ in found.sums[0]] == [4, 4, 6, 4, 6, 1]
