"""Sites of a study that describes rows, learns from their Fourier features, or states intervals, release the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import sites
from support.sites import Sites

from smc_dp import predict
from smc_dp.audit.run.checks import audit_run
from smc_dp.cli.main import main
from smc_dp.data.federation import Rows
from smc_dp.deploy.study import JointStudy
from smc_dp.methods.training.fourier import FourierFeatures
from smc_dp.run.verify_release import verify_release

ROWS, FEATURES = 12, "fourier:16"


def numbers(name: str) -> Rows:
    """Rows of two numbers in [-1, 1], as bounds that shorten nothing encode them, and two classes."""
    rng = np.random.default_rng(sum(name.encode()))
    return Rows(rng.uniform(-1, 1, size=(ROWS, 2)) / 1.42, np.array([0, 1] * (ROWS // 2), dtype=np.int64))


DESCRIBED = {
    **sites.one_sum(),
    "method": {"name": "describe"},
    "target": {"epsilon": "1", "delta": "1/100000", "noise": "ddg", "calibration": "proven"},
    "bounds": {**sites.BOUNDS, "rows": {"clip": 1.42, "bias": 0.0, "center": True}},
}


def drafted(folder: Path) -> JointStudy:
    """A study of a model on Fourier features, as `study new` writes it."""
    bounds = '[label]\ncolumn = "y"\nclasses = ["0", "1"]\n[columns]\na = [0, 1]\nb = [0, 1]\n'
    (folder / "bounds.toml").write_text(bounds)
    keys = {name: sites.identity(name).public.hex() for name in (*sites.names(3), "charlie")}
    parties = [word for name in sites.names(3) for word in ("--party", f"{name}={keys[name]}")]
    around = ["--title", "T", "--purpose", "research", "--relay", "nats://relay.example:4222"]
    given = [*parties, "--curator", keys["charlie"], "--bounds", str(folder / "bounds.toml"), *around]
    chosen = ["--method", "newton", "--features", FEATURES, "--most-rows", "100", "--dropouts", "0"]
    assert main(["study", "new", "--out", str(folder / "study.toml"), *given, *chosen]) == 0
    return JointStudy.read(folder / "study.toml")


@pytest.mark.parametrize("what", ["description", "features"])
def test_all_sites_have_the_same_release(what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if what == "description":
        monkeypatch.setattr(sites, "rows", numbers)
    run = Sites(sites.joint(DESCRIBED) if what == "description" else drafted(tmp_path), tmp_path).run()
    assert sites.by_link(run.frames()) == sites.simulated(run)  # bit for bit what one process makes of these seeds
    assert {run.ends[name] for name in run.study.names} == {"released"}
    assert len(set(run.releases().values())) == 1
    folder = run.at["P1"].release.parent
    found = verify_release(folder).release
    if found.description is not None:
        assert (found.description.rows, found.description.parties) == (3 * ROWS, 3)
    else:
        assert found.agreement.parameters["features"] == run.study.agreement().parameters["features"] == FEATURES
        assert len(found.weights) == 3 + 16
        X = sites.rows("P1").X
        wanted = FourierFeatures.of(FEATURES).of_rows(X) @ np.array(found.weights)
        assert predict(folder, X).scores == pytest.approx(wanted.tolist())
    assert audit_run(folder).passed


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "label"), [("logistic", {"classes": ["0", "1"]}), ("linear", {"range": [0, 1]})], ids=str
)
def test_all_sites_have_the_same_figures_after_a_drop_out(
    tmp_path: Path, method: str, label: dict[str, list[Any]]
) -> None:
    said = sites.newton(colluders=0, dropouts=1)
    bounds = {**sites.BOUNDS, "label": {"column": "y", **label}}
    study = sites.joint({**said, "method": {"name": method, "adjacency": "replace"}, "bounds": bounds})
    run = Sites(study, tmp_path)
    run.run(until=lambda: run.facts("P1").get("stage") == "sum2")
    run.away.add("P3")
    run.run()
    assert {name: end for name, end in run.ends.items() if name != "P3"} == dict.fromkeys(
        ("P1", "P2", "charlie"), "released"
    )
    assert sites.by_link(run.frames()) == sites.simulated(run, {"P3": len(sites.sent(run, "P3"))})
    (released,) = set(run.releases().values())
    found = json.loads(released)["inference"]
    assert [(term["column"], term["kind"]) for term in found["terms"]] == [
        ("", "intercept"),
        ("a", "slope"),
        ("b", "slope"),
    ]
    assert audit_run(run.at["P1"].folder / "run").passed
