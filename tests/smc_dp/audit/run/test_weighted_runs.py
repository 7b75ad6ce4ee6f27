"""Audits of runs with weights: they hold what was agreed, and noise for rows without weights is too little."""

from __future__ import annotations

from pathlib import Path

import pytest
from support import forgeries as f
from support.audits import failed, outcome, outcomes
from support.repetitions import with_slow

from smc_dp.audit.run.checks import CHECKS
from smc_dp.audit.run.evidence import load_evidence
from smc_dp.methods.gradients import newton
from smc_dp.methods.training.integer_rows import RowBounds
from tests.smc_dp.run.test_weighted_run import trained_with_weights, write_weighted_files


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_weighted_files(tmp_path_factory.mktemp("weighted"))


def test_an_audit_notices_weights_that_nobody_agreed_on(files: Path, tmp_path: Path) -> None:
    trained_with_weights(files, tmp_path / "run")
    for n, lie in enumerate((
        lambda d: d.pop("row_weights"),
        lambda d: d["row_weights"].update(classes=[1.0, 9.0]),
        lambda d: d["row_weights"].update(most=3.0),
    )):  # fmt: skip
        run = f.edited(tmp_path / "run", tmp_path / f"{n}", "release.json", lie)
        assert outcome("agreed", load_evidence(run)).status == "failed"


@pytest.mark.parametrize("method", with_slow(["newton", "gd"], "gd"))
def test_an_audit_with_views_takes_weighted_rows_for_what_they_are(files: Path, tmp_path: Path, method: str) -> None:
    trained_with_weights(files, tmp_path / "run", method=method, most_rows=600, views=tmp_path / "views")
    found = outcomes(load_evidence(tmp_path / "run", views=tmp_path / "views"), CHECKS)
    assert failed(found) == {}
    assert found["models"].status == found["mechanism"].status == "passed"


def test_noise_for_rows_without_weights_fails_the_audit(
    files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(newton.RowBounds, "of", lambda k, *, weighted: RowBounds(1 << 14, 1 << 28, 1 << 25))
    trained_with_weights(files, tmp_path / "run")
    assert outcome("mechanism", load_evidence(tmp_path / "run")).status == "failed"
