"""A study is simulated before anybody signs it: marked, charged to nobody, in a session that is not the study's."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from support import studies

from protocols.arithmetic.rng import Stream
from smc_dp import audit_run
from smc_dp.cli.main import main
from smc_dp.data.bounds import parse_bounds
from smc_dp.data.preprocess import encode_labelled_rows
from smc_dp.deploy.rehearsal import GENERATED_ROWS, made_up, rehearse
from smc_dp.privacy.ledger.ledger import Ledger
from smc_dp.run.agreement import REASONS, SIMULATED_STUDY
from smc_dp.run.settings import RunRequest
from tests.support.refusals import refused

EVERY_KIND = (
    '[columns]\nage = [0, 120]\nsex = ["f", "m"]\nday = [2010-01-01, 2025-12-31]\nbmi = {bins = [0, 18, 25.5, 60]}\n'
    '[label]\ncolumn = "outcome"\nclasses = ["no", "yes", "maybe"]\n'
)


@pytest.fixture
def study_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.toml").write_text(studies.text())
    return Path("study.toml")


def request(**data: object) -> RunRequest:
    return RunRequest.model_validate({"data": {"study": Path("study.toml"), **data}})


def test_a_simulated_study_is_marked_and_audited(
    study_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "--study", str(study_file), "--out", "run", "--json"]) == 0
    release = json.loads((tmp_path / "run" / "release.json").read_text())
    assert release["insecure"] == [REASONS[SIMULATED_STUDY]]
    agreed = studies.study().agreement()
    found = {name: release["parameters"][name] for name in agreed.parameters}
    assert found == agreed.parameters
    assert release["parameters"]["agreed"] != agreed.digest  # to which every session is bound
    assert {path.name for path in tmp_path.iterdir()} == {"study.toml", "run"}  # no ledger, no study in the folder
    assert audit_run(tmp_path / "run").passed


def test_test_rows_are_measured_at_the_public_threshold_of_the_study(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("test.csv").write_text("age,sex,outcome\n41,f,yes\n7,m,no\n55,f,no\n3,m,yes\n")
    answered = {}
    for threshold in ("", "threshold = 0.999\n", "threshold = 0.001\n"):
        Path("study.toml").write_text(studies.text(top=threshold))
        out = f"run {len(answered)}"
        assert main(["run", "--study", "study.toml", "--test", "test.csv", "--out", out, "--json"]) == 0
        metrics = json.loads(capsys.readouterr().out)["metrics"]
        answered[metrics["threshold"]["probability"]] = sum(row[1] for row in metrics["confusion"])
    assert answered.keys() == {0.5, 0.999, 0.001}
    assert (answered[0.999], answered[0.001]) == (0, 4)


def test_rows_come_from_files_of_every_party(study_file: Path, tmp_path: Path) -> None:
    for name in ("north", "south", "west"):
        rows = f"age,sex,outcome,site\n41,f,yes,{name}\n7,m,no,{name}\n55,f,no,{name}\n"
        (tmp_path / f"{name}.csv").write_text(rows)
    files = ["west.csv", "north=north.csv", "south.csv"]
    data, agreement = rehearse(request(party=files), Stream.insecure_from_seed(1))
    assert data.federation.names == agreement.parties == ("north", "south", "west")
    assert [len(party) for party in data.federation.parties] == [3, 3, 3]
    with refused("party.not_of_study", got=["west", "north"]):
        rehearse(request(party=files[:2]), Stream.insecure_from_seed(1))


def test_a_data_set_is_dealt_to_the_parties_of_the_study(study_file: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="'age' is missing"):  # its columns have to be those of the study
        rehearse(request(dataset="breast_cancer"), Stream.insecure_from_seed(1))


def test_made_up_rows_are_inside_the_bounds_and_their_classes_balanced() -> None:
    bounds = parse_bounds(EVERY_KIND)
    table = made_up(bounds, Stream.insecure_from_seed(1), "north")
    rows = encode_labelled_rows(table, bounds, "outcome", strict=True)
    counts = np.bincount(rows.y)
    assert counts.sum() == GENERATED_ROWS
    assert counts.max() - counts.min() <= 1
    assert (made_up(bounds, Stream.insecure_from_seed(1), "north").columns["age"] == table.columns["age"]).all()
    assert (made_up(bounds, Stream.insecure_from_seed(2), "north").columns["age"] != table.columns["age"]).any()


def test_options_that_contradict_the_study_are_all_refused(
    study_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A zero is a number as any other."""
    given = ["--epsilon", "2", "--lambda", "1", "--dropouts", "0", "--label", "x", "--ledgers", "l"]
    assert main(["run", "--study", str(study_file), *given, "--json"]) == 2
    out, err = capsys.readouterr()
    assert [fault["code"] for fault in json.loads(out)["faults"]] == ["study.contradicted"] * 5
    said = {line.removeprefix("error: ").partition(":")[0] for line in err.splitlines()}
    assert said == {"--epsilon", "--lambda", "--dropouts", "--label", "--ledgers"}


def check(site: Mapping[str, Path]) -> list[str]:
    """The command by which a site looks whether it can take part."""
    return ["study", "check", "study.toml", *(f"--{name}={site[name]}" for name in ("data", "ledger", "key", "policy"))]


def test_every_fault_of_every_file_is_said_as_a_site_hears_of_its_own(
    study_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site = studies.site(tmp_path) | {"ledger": tmp_path / "north.ledger"}
    Ledger.create(site["ledger"], Fraction(1), Fraction(1, 10**4)).close()
    files = {"north": site["data"], "south": tmp_path / "south.csv", "west": tmp_path / "west.csv"}
    for name, path in files.items():
        path.write_text(f"age,sex,outcome,site\nold,f,no,{name}\n2,x,yes,{name}\n3,m,maybe,{name}\n")
    given = [f"--party={name}={path}" for name, path in files.items()]
    assert main(["run", "--study", "study.toml", *given, "--json"]) == 2
    simulated = [fault["code"] for fault in json.loads(capsys.readouterr().out)["faults"]]
    assert main([*check(site), "--json"]) == 2
    own = [fault["code"] for fault in json.loads(capsys.readouterr().out)["faults"]]
    assert simulated == [*own, "form.lines_beside"] * 3  # a site has these lines apart from its faults
    assert len(own) == 3
