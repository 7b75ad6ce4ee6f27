"""Runs on Fourier features: agreed on, published, audited, and of use where a linear model is of none."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support import forgeries as f

from smc_dp import audit_run, personalise, predict, run_protocol
from smc_dp.audit.run.privacy import rounds as audited
from smc_dp.core.errors import InputError
from smc_dp.data import limits
from smc_dp.data.columns import CategoricalColumn
from smc_dp.data.federation import Federation, Rows
from smc_dp.data.limits import allow_cells
from smc_dp.methods.training.fourier import FourierFeatures, cosine_table
from smc_dp.run.export.export_run import export_run
from smc_dp.run.report import Report
from smc_dp.run.verify_release import verify_release
from tests.support.refusals import refused

SETTING = "fourier:64"


def write_party(path: Path, n: int, seed: int) -> None:
    """Write rows whose class is that of the product of two columns, which no linear model finds."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, (n, 2))
    lines = (f"{a:.4f},{b:.4f},{'yes' if a * b > 0 else 'no'}" for a, b in x.tolist())
    path.write_text("\n".join(["a,b,class", *lines]) + "\n")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("features")
    for i, name in enumerate(("north", "south", "west", "test")):
        write_party(found / f"{name}.csv", 1000, i)
    columns = "[columns]\na = [-1, 1]\nb = [-1, 1]\n"
    (found / "bounds.toml").write_text(f'[label]\ncolumn = "class"\nclasses = ["no", "yes"]\n{columns}')
    return found


def run(folder: Path, out: Path, **settings: object) -> Report:
    files = [folder / f"{name}.csv" for name in ("north", "south", "west")]
    made = {"method": "newton", "epsilon": 6, "bounds": folder / "bounds.toml", "test": folder / "test.csv", **settings}
    return run_protocol(files, out=out, **made)


@pytest.fixture(scope="module")
def learnt(folder: Path) -> Path:
    run(folder, folder / "newton", features=SETTING, views=folder / "views")
    return folder / "newton"


def test_features_learn_what_is_not_linear_by_scores_of_encoded_rows(folder: Path, learnt: Path) -> None:
    found = predict(learnt, folder / "test.csv")
    assert found.accuracy > 0.9
    release = json.loads((learnt / "release.json").read_text())
    assert (release["parameters"]["features"], release["parameters"]["dimension"]) == (SETTING, 3)
    assert len(release["weights"]) == 3 + 64
    assert "coefficients" not in release
    X = np.array([[0.3, -0.4, 0.7], [0.1, 0.1, 0.7]])
    wanted = FourierFeatures.of(SETTING).integers(X) @ np.array(release["weights"]) / 2**14
    assert predict(learnt, X).scores == pytest.approx(wanted.tolist())


def test_the_settings_are_bound_to_the_session_and_audited(folder: Path, learnt: Path, tmp_path: Path) -> None:
    found = audit_run(learnt, views=folder / "views")
    assert found.passed
    outcomes = {one.check.name: one.outcome.status for one in found.findings}
    assert outcomes["models"] == outcomes["mechanism"] == "passed", "views of features are those that rows can give"
    for n, stated in enumerate(("fourier:64:0.5", "fourier:66")):
        other = f.edited(
            learnt, tmp_path / f"{n}", "release.json", lambda d, s=stated: d["parameters"].update(features=s)
        )
        assert not audit_run(other).passed
        with pytest.raises(InputError):
            predict(other, folder / "test.csv")


def test_an_audit_finds_features_that_are_too_long(learnt: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audited, "cosine_table", lambda count: cosine_table(count - 2))
    failed = [one.check.name for one in audit_run(learnt).findings if one.outcome.status == "failed"]
    assert failed == ["mechanism"]


def test_a_site_personalises_a_release_of_features(folder: Path, learnt: Path, tmp_path: Path) -> None:
    model = personalise(learnt, folder / "north.csv", test=folder / "test.csv")
    assert model.accuracy.personalised > 0.9
    model.write(tmp_path / "model")
    found = predict(tmp_path / "model", folder / "test.csv")
    assert found.accuracy == pytest.approx(model.accuracy.personalised)


def test_exports_of_linear_models_and_other_methods_refuse_features(folder: Path, learnt: Path, tmp_path: Path) -> None:
    for to in ("sql", "onnx"):
        with refused("export.of_features"):
            export_run(learnt, to, tmp_path / "model")
    for method in ("logistic", "describe", "wsum"):
        with refused("method.no_such_setting"):
            run(folder, tmp_path / "run", method=method, features=SETTING, test=None)
    with refused("features.unknown"):
        run(folder, tmp_path / "run", features="fourier")


def test_an_agreement_refuses_features_of_too_many_columns(learnt: Path) -> None:
    agreement = verify_release(learnt).release.agreement
    levels = tuple(f"{i}" for i in range(2**16))
    with refused("features.too_many"):
        replace(agreement, bounds=replace(agreement.bounds, columns=(CategoricalColumn("c", levels),)))


def test_features_that_would_fill_the_memory_are_refused(
    folder: Path, learnt: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = "1,000 rows of 67 features"
    monkeypatch.setattr(limits, "_MOST_FEATURES", 1000 * 3)  # enough for the rows alone
    with allow_cells(3000), refused("rows.too_many_features", most=3000, got=given):
        personalise(learnt, folder / "north.csv")
    with allow_cells(3000), refused("rows.too_many_features", most=3000, got=given):
        run(folder, tmp_path / "run", features=SETTING, test=None)
    with allow_cells(3000), refused("rows.too_many_features", most=3000, got=given):
        verify_release(learnt).release.agreement.check_room(1000, None)  # as a site asks before it joins
    (folder / "north.csv.toml").write_text(f"[file]\nmost_cells = {1000 * 67}\n")
    try:
        found = personalise(learnt, folder / "north.csv", test=folder / "test.csv")
        assert found.rows == 1000  # the owner of the file allows it
    finally:
        (folder / "north.csv.toml").unlink()


def test_rows_with_weights_keep_them(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    X = rng.uniform(-0.7, 0.7, (900, 2))
    wrong = (X[:, 0] * X[:, 1] > 0).astype(np.int64)
    y, heavy = np.where(np.arange(900) % 3 == 0, wrong, 1 - wrong), np.where(np.arange(900) % 3 == 0, 1.0, 0.1)
    parties = tuple(Rows(X[i::3], y[i::3], heavy[i::3]) for i in (0, 1, 2))
    order = rng.permutation(900)
    mixed = tuple(Rows(X[p], y[p], heavy[p]) for p in np.array_split(order, 3))
    assert len(parties) == len(mixed)
    run_protocol(Federation(mixed, 2), method="newton", epsilon=100, features="fourier:32:0.3", out=tmp_path / "run")
    labels = np.array([int(label) for label in predict(tmp_path / "run", X).labels])
    assert (labels == wrong).mean() > 0.9
