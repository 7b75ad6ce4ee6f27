from __future__ import annotations

import json
import statistics
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.clear import in_the_clear

from smc_dp import aggregation
from smc_dp.aggregation import Cost, Outcome, StageCost
from smc_dp.cli import screen
from smc_dp.cli.main import main

BOUNDS = """
[columns]
age = [0, 100]
sex = ["f", "m"]
[label]
classes = ["no", "yes"]
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    """An empty working folder, and the ideal functionality in place of the protocol."""

    def secure(functionality, parts, taking_part, *, progress=None, **rest) -> Outcome:
        if progress:
            progress("stage 1", 1, 2)
        seconds = dict.fromkeys(taking_part.session.parties, 0.25) | {"charlie": 0.5}
        stage = StageCost("stage 1", 7, 1234, 3, seconds)
        return in_the_clear(functionality, parts, taking_part, cost=Cost(2.0, 7, 1234, 3, (stage,)), **rest)

    monkeypatch.setattr(aggregation, "secure", secure)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def patients(seed: int, n: int) -> tuple[list[int], list[str], list[str]]:
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 100, n)
    sex = rng.choice(["f", "m"], n)
    outcome = np.where(age + 20 * (sex == "m") + rng.normal(0, 5, n) > 60, "yes", "no")
    return age.tolist(), sex.tolist(), outcome.tolist()


def csv_text(seed: int, n: int, hospital: str | None = None) -> str:
    lines = ["id,age,sex,outcome" + (",hospital" if hospital else "")]
    for i, row in enumerate(zip(*patients(seed, n), strict=True)):
        lines.append(",".join(map(str, (i, *row, *([hospital] if hospital else [])))))
    return "\n".join(lines) + "\n"


def own_data(folder: Path) -> list[str]:
    (folder / "bounds.toml").write_text(BOUNDS)
    (folder / "north.csv").write_text(csv_text(1, 300))
    age, sex, outcome = patients(2, 400)
    pq.write_table(pa.table({"age": age, "sex": sex, "outcome": outcome}), folder / "data.parquet")
    (folder / "held_out.csv").write_text(csv_text(3, 200))
    return ["--party", "north.csv", "--party", "south=data.parquet", "--label", "outcome",
            "--bounds", "bounds.toml", "--test", "held_out.csv"]  # fmt: skip


def printed_json(capsys) -> dict:
    out, err = capsys.readouterr()
    assert err == ""
    assert out.count("\n") == 1
    return json.loads(out)


def test_the_main_job_needs_no_flag(folder, capsys):
    assert main(["run"]) == 0
    out, err = capsys.readouterr()
    assert err.splitlines() == ["local training ...", "stage 1 ..."]
    (run_dir,) = (folder / "runs").iterdir()
    for words in (
        "stage 1", "1,234", "0.25", "0.50", "epsilon = 1", "hospital-5 alone", "pooled, no privacy",
        "comparison of a simulation, needs everyone's data in one place; not part of the release",
        f"runs/{run_dir.name}",
    ):  # fmt: skip
        assert words.lower() in out.lower()
    assert "insecure" not in out.lower()
    release = json.loads((run_dir / "release.json").read_text())
    assert len(release["weights"]) == 31
    assert "insecure" not in release


def test_json_is_one_object_with_the_announced_keys(folder, capsys):
    assert main(["run", "--json", "--out", "a", "--parties", "3"]) == 0
    report = printed_json(capsys)
    assert list(report) == [
        "method", "protocol", "parties", "dimension", "calibration", "accuracy", "baselines", "privacy", "cost",
        "run_dir",
    ]  # fmt: skip
    assert (report["method"], report["protocol"]) == ("prr_mean", "pathak2010")
    assert (report["parties"], report["dimension"]) == (3, 31)
    assert report["calibration"] == "proven"
    assert list(report["baselines"]) == ["individual", "pooled"]
    assert list(report["baselines"]["individual"]) == ["hospital-1", "hospital-2", "hospital-3"]
    assert list(report["privacy"]) == [
        "kind", "epsilon", "delta", "unit", "adjacency", "adversary", "caveats",
    ]  # fmt: skip
    assert (report["privacy"]["kind"], report["privacy"]["epsilon"]) == ("pure", 1.0)
    assert list(report["cost"]) == ["seconds", "messages", "bytes", "rounds", "by_stage"]
    assert report["run_dir"] == "a"
    assert (folder / "a" / "shares.json").exists()


def test_the_median_accuracy_over_20_runs_is_at_least_85_percent(capsys):
    found = []
    for seed in range(20):
        assert main(["run", "--json", "--insecure-seed", str(seed), "--out", f"run{seed}"]) == 0
        found.append(printed_json(capsys)["accuracy"])
    assert statistics.median(found) >= 0.85


def test_own_files_make_a_release_that_predicts(folder, capsys):
    assert main(["run", *own_data(folder), "--epsilon", "5", "--lambda", "0.01", "--out", "r", "--json"]) == 0
    report = printed_json(capsys)
    assert (report["parties"], report["dimension"]) == (2, 4)
    assert set(report["baselines"]["individual"]) == {"north", "south"}
    assert report["accuracy"] > 0.8
    release = json.loads((folder / "r" / "release.json").read_text())
    assert release["columns"] == ["age", "sex"]
    assert release["categories"] == {"sex": ["f", "m"]}
    assert release["bounds"] == {"age": [0.0, 100.0]}
    assert (release["clip"], release["bias"], release["classes"]) == (2.0, 0.1, ["no", "yes"])

    assert main(["predict", "r", "--data", "held_out.csv"]) == 0
    out, err = capsys.readouterr()
    *predictions, last = out.splitlines()
    assert err == ""
    assert set(predictions) <= {"no", "yes"}
    agreement = np.mean(np.array(predictions) == np.array(patients(3, 200)[2]))
    assert agreement == report["accuracy"]
    assert last == f"accuracy {agreement:.3f} on 200 rows"

    (folder / "new.csv").write_text("sex,age\nf,5\nm,95\n")  # no label, another order
    assert main(["predict", "r", "--data", "new.csv", "--json"]) == 0
    assert printed_json(capsys) == {"predictions": ["no", "yes"]}
    assert main(["predict", "r", "--data", "new.csv"]) == 0
    assert capsys.readouterr().out == "no\nyes\n"


def test_no_test_rows_no_accuracy(folder, capsys):
    arguments = own_data(folder)[:-2]
    assert main(["run", *arguments, "--json"]) == 0
    report = printed_json(capsys)
    assert report["accuracy"] is None
    assert report["baselines"] == {"individual": None, "pooled": None}
    assert main(["run", *arguments]) == 0
    assert "no accuracy is known" in capsys.readouterr().out


def test_one_table_is_grouped_by_a_column(folder, capsys):
    own_data(folder)
    north, south = csv_text(1, 300, "north"), csv_text(2, 200, "south").split("\n", 1)[1]
    (folder / "all.csv").write_text(north + south)
    arguments = ["--party", "all.csv", "--parties-by", "hospital", "--label", "outcome", "--bounds", "bounds.toml"]
    assert main(["run", *arguments, "--test", "held_out.csv", "--json"]) == 0
    assert list(printed_json(capsys)["baselines"]["individual"]) == ["north", "south"]


def test_a_seed_repeats_a_run_and_marks_it(folder, capsys):
    for out in ("a", "b"):
        assert main(["run", "--insecure-seed", "7", "--out", out]) == 0
        assert "INSECURE: the run was made from a seed" in capsys.readouterr().out
    first, second = ((folder / out / "release.json").read_text() for out in ("a", "b"))
    assert json.loads(first)["weights"] == json.loads(second)["weights"]
    (reason,) = json.loads(first)["insecure"]
    assert "seed" in reason
    (folder / "new.csv").write_text("")
    assert main(["predict", "a", "--data", "new.csv"]) == 2


@pytest.mark.parametrize(
    ("flags", "kind", "reasons"),
    [
        (["--key-bits", "512", "--insecure-test-keys"], "pure", ["test keys"]),
        (["--insecure-test-keys"], "pure", []),
        (["--as-printed-insecure"], "none", ["exactly as printed"]),
        (["--as-printed-insecure", "--insecure-seed", "1"], "none", ["seed", "exactly as printed"]),
    ],
)
def test_insecure_runs_are_marked_on_screen_and_in_the_release(flags, kind, reasons, folder, capsys):
    assert main(["run", *flags, "--out", "r"]) == 0
    out = capsys.readouterr().out
    assert main(["run", *flags, "--json"]) == 0
    assert printed_json(capsys)["privacy"]["kind"] == kind
    release = json.loads((folder / "r" / "release.json").read_text())
    marked = release.get("insecure", [])
    assert len(marked) == len(reasons)
    assert out.count("INSECURE: ") >= len(reasons)
    for reason, words in zip(marked, reasons, strict=True):
        assert words in reason
        assert f"INSECURE: {reason}." in out


def test_no_file_of_a_run_holds_a_comparison(folder, capsys):
    assert main(["run", "--out", "r", "--json"]) == 0
    report = printed_json(capsys)
    content = "".join(path.read_text() for path in (folder / "r").iterdir())
    for word in ("accuracy", "individual", "pooled", "baseline", str(report["baselines"]["pooled"])):
        assert word not in content


def test_the_paper_calibration_states_what_it_really_gives(capsys):
    assert main(["run", "--calibration", "paper", "--noise", "laplace", "--json"]) == 0
    report = printed_json(capsys)
    assert report["calibration"] == "paper"
    assert report["privacy"]["epsilon"] != 1.0


def test_every_help_has_examples(capsys):
    assert main([]) == 0
    assert "predict" in capsys.readouterr().out
    for command in ("run", "predict", "bench"):
        assert main([command, "--help"]) == 0
        assert f"smc-dp {command}" in capsys.readouterr().out.split("Examples:")[1]


def test_progress_is_drawn_on_a_terminal_and_plain_elsewhere(capsys, monkeypatch):
    with screen.progress(quiet=True) as callback:
        assert callback is None
    with screen.progress() as callback:
        for done in (1, 2):
            callback("stage [1]", done, 2)
    assert capsys.readouterr() == ("", "stage [1] ...\n")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    assert main(["run", "--json", "--out", "r"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["run_dir"] == "r"
    assert "local training" in err
