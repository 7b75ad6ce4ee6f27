"""A personalised model stays with its owner: it is a file of its own, and no release."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smc_dp import personalise, predict
from smc_dp.cli.main import main
from smc_dp.data.federation import Federation, Rows
from smc_dp.methods.model import LinearModel
from smc_dp.methods.personal import FOLDS, fit_personal
from smc_dp.pages.blocks import Bullets, Prose, coded_prose
from smc_dp.run import personal_comparison
from smc_dp.run.personal_comparison import compare_personalised, personal_gain_blocks
from smc_dp.run.personal_model import PERSONAL_STATEMENTS, read_personal_model
from smc_dp.run.personalisation import personal_blocks
from smc_dp.run.run_files import is_personal_model
from tests.smc_dp.cli.test_predict import BOUNDS, patients, write
from tests.support.audited import hospitals
from tests.support.refusals import refused


@pytest.fixture
def _all_strengths(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(personal_comparison, "fit_personal", fit_personal)


METRICS = ("alone", "release", "personalised", "rows", "kept_out", "shared")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two sites, rows that were kept out of it, and the model of the first site."""
    folder = tmp_path_factory.mktemp("personal")
    for name, n, seed in (("north", 300, 1), ("south", 200, 2), ("kept_out", 250, 3)):
        write(folder / f"{name}.csv", patients(n, seed))
    (folder / "bounds.toml").write_text(BOUNDS)
    given = [*("--party", str(folder / "north.csv"), "--party", str(folder / "south.csv"), "--method", "newton")]
    asked = ["run", *given, "--bounds", str(folder / "bounds.toml"), "--out", str(folder / "run"), "--json"]
    assert main([*asked, "--insecure-seed", "5"]) == 0
    assert main(["personalise", str(folder / "run"), *_files(folder, "own.model", "north.csv", "kept_out.csv")]) == 0
    return folder


def _files(folder: Path, out: str, data: str, test: str | None = None) -> list[str]:
    more = [] if test is None else ["--test", str(folder / test)]
    return ["--data", str(folder / data), "--out", str(folder / out), *more]


def test_the_file_says_what_it_is_and_only_its_owner_reads_it(made: Path) -> None:
    path = made / "own.model"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert is_personal_model(path)
    document = json.loads(path.read_text())
    release = (made / "run" / "release.json").read_bytes()
    assert document["release_sha256"] == hashlib.sha256(release).hexdigest()
    assert document["release"] == json.loads(release)
    assert len(document["privacy"]) == len(PERSONAL_STATEMENTS)
    assert document["accuracy"].keys() == set(METRICS)
    assert document["accuracy"]["kept_out"] is True
    assert (document["rows"], document["accuracy"]["rows"]) == (300, 250)
    assert sorted(os.listdir(made / "run")) == ["release.json", "timings.json", "transcript.jsonl"]


def test_accuracy_on_the_own_rows_is_marked_as_optimistic(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["personalise", str(made / "run"), *_files(made, "other.model", "north.csv"), "--json"]
    assert main(asked) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["accuracy"]["kept_out"] is False
    assert found["accuracy"]["rows"] == 300
    assert found["release_sha256"] == read_personal_model(made / "own.model").release_sha256


def test_the_screen_says_what_was_chosen_and_how_private_it_is(made: Path) -> None:
    model = read_personal_model(made / "own.model")
    for kind, code in (("release", "release"), ("towards the release", "towards"), ("own rows alone", "alone")):
        strength = None if kind == "release" else 1.0
        for kept_out, marked in ((True, "kept_out"), (False, "optimistic")):
            found = list(personal_blocks(replace(model, kind=kind, strength=strength, kept_out=kept_out, shared=0)))
            codes = [block.code for block in found if isinstance(block, Prose) and block.code]
            assert codes == [f"personal.chosen_{code}", f"personal.{marked}"]
            (said,) = (block.items for block in found if isinstance(block, Bullets))
            assert len(said) == len(PERSONAL_STATEMENTS)


def test_rows_that_stand_in_both_files_are_counted_and_the_same_file_is_no_test(made: Path, tmp_path: Path) -> None:
    head, *kept = (made / "kept_out.csv").read_text().splitlines()
    (tmp_path / "mixed.csv").write_text("\n".join([head, *(made / "north.csv").read_text().splitlines()[1:41], *kept]))
    own = personalise(made / "run", made / "north.csv", test=tmp_path / "mixed.csv")
    apart = personalise(made / "run", made / "north.csv", test=made / "kept_out.csv")
    assert own.shared == apart.shared + 40
    for shared in (40, 0):
        codes = [block.code for block in personal_blocks(replace(own, shared=shared)) if isinstance(block, Prose)]
        assert ("personal.shared_rows" in codes) == bool(shared)
    own.write(tmp_path / "own.model")
    assert read_personal_model(tmp_path / "own.model").shared == own.shared
    with refused("personal.same_rows"):
        personalise(made / "run", made / "north.csv", test=made / "north.csv")


def test_predictions_say_whose_they_are(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = predict(made / "own.model", made / "kept_out.csv")
    assert found.accuracy == pytest.approx(read_personal_model(made / "own.model").accuracy.personalised)
    assert found.probabilities is not None
    assert found.insecure
    asked = ["predict", str(made / "own.model"), "--data", str(made / "kept_out.csv")]
    capsys.readouterr()
    assert main(asked) == 0
    out, err = capsys.readouterr()
    assert out.split() == list(found.labels)
    assert found.personal.release_sha256[:16] in err.splitlines()[0]
    assert main([*asked, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)["personalised"]
    assert said["release_sha256"] == found.personal.release_sha256
    assert len(said["privacy"]) == len(PERSONAL_STATEMENTS)
    assert predict(made / "run", made / "kept_out.csv").personal is None


@pytest.mark.parametrize(
    "command",
    [
        ["audit"], ["show"], ["export", "--to", "json", "--out", "model.json"], ["publish", "--to", "published"],
        ["predict", "--data", "north.csv", "--level", "1"], ["personalise", "--data", "north.csv", "--out", "again"],
    ],
)  # fmt: skip
def test_it_is_no_release(
    made: Path, command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(made)
    before = sorted(os.listdir(made))
    assert main([command[0], "own.model", *command[1:], *(["--json"] if command[0] == "audit" else [])]) == 2
    out, err = capsys.readouterr()
    assert coded_prose("personal.no_release", file="own.model").text in err
    assert sorted(os.listdir(made)) == before
    assert command[0] != "audit" or json.loads(out)["error"]["code"] == "personal.no_release"


def test_it_is_never_in_a_run_folder(made: Path, tmp_path: Path) -> None:
    shutil.copytree(made / "run", tmp_path / "other")
    (tmp_path / "other" / "inner").mkdir()
    model = read_personal_model(made / "own.model")
    inside = (made / "run" / "own.model", tmp_path / "other" / "own.model", tmp_path / "other" / "inner" / "own")
    for out in inside:
        with refused("personal.in_run_folder"):
            model.write(out)
    assert main(["personalise", str(made / "run"), *_files(made, "run/own.model", "north.csv", "kept_out.csv")]) == 2
    assert not any(out.exists() for out in inside)
    with refused("file.exists"):
        model.write(made / "own.model")


def test_a_file_that_was_changed_is_refused_or_says_what_it_says(made: Path, tmp_path: Path) -> None:
    document: dict[str, Any] = json.loads((made / "own.model").read_text())
    for name, value, code in (
        ("weights", document["weights"][:-1], "weights.other_length"),
        ("kind", "another", "value.unknown"),
    ):
        changed = tmp_path / name
        changed.write_text(json.dumps({**document, name: value}, indent=2))
        with refused(code):
            predict(changed, made / "kept_out.csv")


@pytest.mark.usefixtures("_all_strengths")
def test_a_simulation_says_what_each_party_would_gain(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    asked = ["run", "--method", "newton", "--out", str(tmp_path / "run"), "--insecure-seed", "5"]
    assert main([*asked, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    found = report["personalised"]
    assert list(found) == list(report["baselines"]["individual"])
    assert "personalised" in report["simulation_only"]["fields"]
    for one in found.values():
        assert one["rows"] == 114
        assert one["release"] == report["accuracy"]
    last = found["hospital-5"]  # its rows are of few malignant tumours
    assert last["alone"] < 0.8 < last["personalised"]
    assert "personalised" not in (tmp_path / "run" / "release.json").read_text()


def test_a_long_comparison_is_left_out_and_so_is_a_party_with_few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    data = hospitals((FOLDS - 1, 30), 3)
    release, test = LinearModel.from_weights((1.0, 2.0, 3.0)), data.federation.parties[1]
    found = compare_personalised(data.federation, release, test, fits_length=True)
    assert found is not None
    assert list(found) == ["north-1"]
    (table, _) = personal_gain_blocks(found)
    assert [row[0] for row in table.rows] == ["north-1", "mean"]
    monkeypatch.setattr("smc_dp.run.personal_comparison._MOST_NUMBERS", 34 * 6 - 1)
    assert compare_personalised(data.federation, release, test, fits_length=False) is None


@pytest.mark.usefixtures("_all_strengths")
def test_a_release_whose_length_says_nothing_is_given_one() -> None:
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, (300, 4)) / 2
    weights = np.array([8.0, -8.0, 4.0, 0.0])
    y = (rng.random(300) < 1 / (1 + np.exp(-X @ weights))).astype(np.int64)
    small = Federation((Rows(X[:20], y[:20]), Rows(X[20:40], y[20:40])), 2, names=("north", "south"))
    test, release = Rows(X[40:], y[40:]), LinearModel.from_weights(tuple((1e6 * weights).tolist()))
    found = [compare_personalised(small, release, test, fits_length=fits) for fits in (True, False)]
    fitted, as_it_is = (one["north"] for one in found if one is not None)
    assert fitted.release == as_it_is.release
    assert fitted.personalised >= fitted.release - 0.01
    assert as_it_is.personalised < fitted.personalised
