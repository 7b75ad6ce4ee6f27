"""Checks of privacy of the sums of both regressions, derived again, and of what parties entered to them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from support.audited import Folders
from support.audits import failed, outcomes

from smc_dp import run_protocol
from smc_dp.audit.run.checks import CHECKS
from smc_dp.audit.run.derived_parameters import DerivedParameters, derive_parameters
from smc_dp.audit.run.evidence import Evidence
from smc_dp.audit.run.privacy import rounds
from smc_dp.audit.run.privacy.view_inputs import inputs_of_views

COLUMNS = '[columns]\nage = [18, 98]\nward = ["a", "b", "c"]\n'
LABELS = {
    "logistic": '[label]\ncolumn = "label"\nclasses = ["0", "1"]\n',
    "linear": '[label]\ncolumn = "label"\nrange = [0, 60]\n',
}
P = 4  # age, two wards, the constant
MATRIX = [P, P * (P - 1) // 2]
LENGTHS = {  # of the blocks of each sum
    "logistic": [[P, *MATRIX, *MATRIX, 1]] * 3,
    "linear": [[*MATRIX, P, 1, 1], [*MATRIX, P, 1, 1], [P, *MATRIX, 1, 1]],
}
EACH_BLOCK = [("logistic", 2, i) for i in range(6)] + [("linear", r, i) for r in range(3) for i in range(5)]

Made = Callable[[str], tuple[Evidence, DerivedParameters]]


@pytest.fixture(scope="module", params=["replace", "addremove"])
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Return a function of a method that gives the evidence of a run of it, and what an audit derives from that."""

    @cache
    def run(method: str) -> tuple[Evidence, DerivedParameters]:
        folder, rng = tmp_path_factory.mktemp(method), np.random.default_rng(1)
        (folder / "bounds.toml").write_text(COLUMNS + LABELS[method])
        parties = {name: folder / f"{name}.csv" for name in ("north", "south", "west")}
        for path in parties.values():
            labels = rng.integers(2 if method == "logistic" else 61, size=40)
            lines = [f"{rng.integers(18, 99)},{rng.choice(list('abc'))},{label}" for label in labels]
            path.write_text("\n".join(["age,ward,label", *lines]) + "\n")
        run_protocol(
            parties,
            method=method,
            epsilon=2,
            adjacency=request.param,
            bounds=folder / "bounds.toml",
            most_rows=50,
            out=folder / "run",
            views=folder / "views",
        )
        evidence = Folders(folder / "run", folder / "views").evidence()
        return evidence, derive_parameters(evidence)

    return run


@pytest.mark.parametrize("method", LABELS)
def test_a_run_passes_with_its_views(made: Made, method: str) -> None:
    report = outcomes(made(method)[0], CHECKS)
    assert failed(report) == {}
    for name in ("mechanism", "statement", "noise", "models", "messages-recomputed", "result"):
        assert report[name].status == "passed", name


@pytest.mark.parametrize(("method", "number", "block"), EACH_BLOCK)
def test_less_noise_in_any_block_of_a_sum_is_noticed(made: Made, method: str, number: int, block: int) -> None:
    _, found = made(method)
    shared: Any = found.shared
    each = list(shared.distributions)
    each[number] = tuple(
        replace(of, variance=of.variance * (Fraction(1, 2) if i == block else 1)) for i, of in enumerate(each[number])
    )
    less = replace(found, shared=replace(shared, distributions=tuple(each)))
    assert rounds.check_rounds_mechanism(found).status == "passed"
    assert rounds.check_rounds_mechanism(less).code == "noise.mu_too_large"


@pytest.mark.parametrize("method", LABELS)
def test_blocks_of_other_lengths_are_no_sums_of_the_method(made: Made, method: str) -> None:
    _, found = made(method)

    class Other(type(found)):  # type: ignore[misc]
        sums = tuple(blocks[:-1] for blocks in found.sums)

    other = Other(found.method, found.target, found.public, found.grid, found.spec, found.shared)
    assert rounds.check_rounds_mechanism(other).code == "sums.other_blocks"


@pytest.mark.parametrize(
    ("method", "number", "blocks"),
    [
        ("logistic", 2, {0: (50 * 2**26 + 1,)}),
        ("logistic", 2, {1: (50 * 2**50 + 1,), 2: ()}),
        ("logistic", 2, {3: (50 * 2**52 + 1,), 4: ()}),
        ("logistic", 2, {3: (2**53,) * 4, 4: (2**54,)}),  # the square of no matrix
        ("logistic", 2, {5: (51 << 16,)}),
        ("linear", 1, {0: (50 * 2**28 + 1,)}),
        ("linear", 1, {1: (50 * 2**28,)}),
        ("linear", 1, {2: (50 * 2**34 + 1,)}),
        ("linear", 1, {3: (50 * 2**40 + 1,)}),
        ("linear", 1, {4: (51 << 16,)}),
        ("linear", 2, {0: (50 * 2**26 + 1,)}),
        ("linear", 2, {1: (50 * 2**52 + 1,)}),
        ("linear", 2, {3: (50 * 2**24 + 1,)}),
        ("linear", 2, {4: (51 << 16,)}),
    ],
)
def test_an_input_that_no_rows_make_is_noticed(
    made: Made, method: str, number: int, blocks: dict[int, tuple[int, ...]]
) -> None:
    evidence, found = made(method)
    read: Any = inputs_of_views(evidence, found)
    assert rounds.check_contributions(evidence, found, read).status == "passed"
    sums = [list(of_sum) for of_sum in read["south"]]
    for block, numbers in blocks.items():
        padded = (*numbers, *(0,) * (len(sums[number][block].without_noise) - len(numbers)))
        sums[number][block] = replace(sums[number][block], without_noise=padded)
    assert rounds.check_contributions(evidence, found, {**read, "south": tuple(map(tuple, sums))}).status == "failed"


@pytest.mark.parametrize("method", LABELS)
def test_it_is_of_the_columns_that_are_no_reference(made: Made, method: str) -> None:
    _, found = made(method)
    assert found.public.box is not None
    assert found.public.box.references == (1,)
    assert [[length for length, _ in blocks] for blocks in found.sums[:3]] == LENGTHS[method]
