"""A site holds a release against its own model alone, with its own rows, and says where it would do better alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from smc_dp.data.federation import Federation, Rows
from smc_dp.methods.expected_accuracy import AccuracyInterval, ExpectedAccuracy, expected_accuracy
from smc_dp.pages.blocks import texts_by_code
from smc_dp.run import folder
from smc_dp.run.local_evaluation import FEWEST_ROWS, LocalComparison, evaluate_locally
from smc_dp.run.release import PublishedRelease
from smc_dp.run.run_protocol import run_protocol


def rows(n: int, seed: int) -> Rows:
    X = np.random.default_rng(seed).uniform(-0.5, 0.5, (n, 3))
    return Rows(X, (X @ [2.0, 1.0, 0.5] > 0).astype(int))


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> PublishedRelease:
    out = tmp_path_factory.mktemp("own") / "run"
    federation = Federation((rows(400, 1), rows(500, 2)), classes=2, names=("north", "south"))
    run_protocol(federation, method="newton", insecure_seed=3, out=out)
    return folder.parse_release(folder.read_release_file(out))


def test_a_good_release_is_not_complained_of(release: PublishedRelease) -> None:
    found = evaluate_locally(release, rows(400, 1))
    assert found.rows == 400
    assert min(found.release, found.alone) > 0.9
    assert not found.worse_than_planned
    few = rows(FEWEST_ROWS, 4)  # fewer say nothing
    assert evaluate_locally(release, few) is not None
    assert evaluate_locally(release, Rows(few.X[1:], few.y[1:])) is None
    (said,) = found.blocks()
    assert f"{found.rows:,} rows" in said.text
    agreed = release.agreement
    assert found.planned == expected_accuracy(agreed.method, agreed.target, agreed.terms, (400, 400), 3, 2)


def test_a_release_that_the_site_could_do_without_is(release: PublishedRelease) -> None:
    away = replace(release, result=tuple(-w for w in release.weights))  # type: ignore[operator]
    found = evaluate_locally(away, rows(400, 1))
    assert found.release < 0.1
    assert found.worse_than_planned
    assert found.as_dict()["worse_than_planned"] is True
    assert "run.worse_than_own_model" in texts_by_code(found.blocks())


def test_neither_the_band_nor_chance_is_complained_of() -> None:
    def worse(alone: float, high: float | None, n: int = 10_000) -> bool:
        planned = None if high is None else ExpectedAccuracy(9.0, AccuracyInterval(0.0, high))
        return LocalComparison(n, 0.8, alone, planned).worse_than_planned

    assert [worse(0.9, high) for high in (0.05, 0.2, None)] == [True, False, True]
    assert [worse(0.9, 0.05, n) for n in (100, 10_000)] == [False, True]


def test_the_own_model_is_tried_on_rows_that_it_has_not_seen(release: PublishedRelease) -> None:
    """Labels drawn by lot cannot be learnt; a model tried on its own rows would seem to know them."""
    lot = np.random.default_rng(5)
    X = lot.uniform(-0.2, 0.2, (60, 3))
    found = evaluate_locally(release, Rows(X, lot.integers(0, 2, 60)))
    assert 0.25 < found.alone < 0.7
