from __future__ import annotations

import csv
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.clear import in_the_clear

from smc_dp import predict
from smc_dp.cli import screen
from smc_dp.cli.main import main
from smc_dp.data.sources import dataset
from smc_dp.pages.blocks import texts_by_code
from smc_dp.pages.text import block_lines
from smc_dp.run.protocols import execution
from smc_dp.run.protocols.cost import Cost, Outcome, StageCost
from smc_dp.run.report import SIMULATION_CAVEAT, Comparison
from smc_dp.run.report_blocks import accuracy_blocks
from smc_dp.run.shared_rows import shared_test_rows

BOUNDS = """
[columns]
age = [0, 100]
sex = ["f", "m"]
[label]
classes = ["no", "yes"]
"""


@pytest.fixture(autouse=True)
def _in_the_clear(monkeypatch) -> None:
    """The ideal functionality in place of the protocol."""

    def secure(functionality, parts, taking_part, *, progress=None, **rest) -> Outcome:
        if progress:
            progress("stage 1", 1, 2)
        seconds = dict.fromkeys(taking_part.session.parties, 0.25) | {"charlie": 0.5}
        stage = StageCost("stage 1", 7, 1234, 3, seconds)
        return in_the_clear(functionality, parts, taking_part, cost=Cost(2.0, 7, 1234, 3, (stage,)), **rest)

    monkeypatch.setattr(execution, "run_session", secure)


def patients(seed: int, n: int) -> tuple[list[int], list[str], list[str]]:
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 100, n)
    sex = rng.choice(["f", "m"], n)
    outcome = np.where(age + 20 * (sex == "m") + rng.normal(0, 5, n) > 60, "yes", "no")
    return age.tolist(), sex.tolist(), outcome.tolist()


def csv_text(seed: int, n: int) -> str:
    rows = enumerate(zip(*patients(seed, n), strict=True))
    return "".join(f"{line}\n" for line in ("id,age,sex,outcome", *(",".join(map(str, (i, *row))) for i, row in rows)))


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


def test_a_run_needs_no_more_than_a_method(folder, capsys):
    assert main(["run", "--method", "prr_mean"]) == 0
    out, err = capsys.readouterr()
    assert err.splitlines() == ["local training ...", "stage 1 ..."]
    (run_dir,) = (folder / "runs").iterdir()
    for words in (
        "stage 1", "1,234", "0.25", "0.50", "epsilon 1.0", "hospital-5 alone", "pooled, no privacy",
        f"runs/{run_dir.name}",
    ):  # fmt: skip
        assert words.lower() in out.lower()
    assert "insecure" not in out.lower()
    assert "Use `--method newton`" in out.splitlines()[-1]
    release = json.loads((run_dir / "release.json").read_text())
    assert len(release["weights"]) == 31
    assert "insecure" not in release
    timings = json.loads((run_dir / "timings.json").read_text())
    assert next(iter(timings)) == "not_for_publication"


def test_json_is_one_object_with_the_announced_keys(folder, capsys):
    assert main(["run", "--method", "prr_mean", "--json", "--out", "a", "--parties", "3"]) == 0
    report = printed_json(capsys)
    assert list(report) == [
        "method", "protocol", "parties", "dimension", "lambda", "calibration", "accuracy", "metrics", "baselines",
        "personalised", "loss", "simulation_only", "privacy", "cost", "run_dir",
    ]  # fmt: skip
    assert (report["method"], report["protocol"]) == ("prr_mean", "pathak2010")
    assert (report["parties"], report["dimension"]) == (3, 31)
    assert report["calibration"] == "proven"
    assert list(report["baselines"]) == ["individual", "pooled"]
    assert list(report["baselines"]["individual"]) == ["hospital-1", "hospital-2", "hospital-3"]
    assert list(report["privacy"]) == [
        "kind", "epsilon", "delta", "unit", "adjacency", "adversary", "caveats", "mu",
    ]  # fmt: skip
    assert (report["privacy"]["kind"], report["privacy"]["epsilon"], report["privacy"]["mu"]) == ("pure", 1.0, None)
    assert list(report["cost"]) == ["seconds", "messages", "bytes", "rounds", "by_stage"]
    assert report["run_dir"] == "a"
    assert (folder / "a" / "shares.json").exists()


def test_own_files_make_a_release(folder, capsys):
    arguments = ["run", "--method", "prr_mean", *own_data(folder), "--epsilon", "5", "--lambda", "0.01"]
    assert main([*arguments, "--out", "r", "--json"]) == 0
    report = printed_json(capsys)
    assert (report["parties"], report["dimension"]) == (2, 4)
    assert set(report["baselines"]["individual"]) == {"north", "south"}
    assert report["accuracy"] > 0.8
    release = json.loads((folder / "r" / "release.json").read_text())
    assert release["columns"] == ["age", "sex"]
    assert release["categories"] == {"sex": ["f", "m"]}
    assert release["bounds"] == {"age": [0.0, 100.0]}
    assert (release["clip"], release["bias"], release["classes"]) == (1.42, 0.1, ["no", "yes"])


@pytest.mark.parametrize(
    ("flags", "kind", "reasons"),
    [
        (["--key-bits", "512", "--insecure-test-keys"], "pure", ["test keys"]),
        (["--insecure-test-keys"], "pure", []),
        (["--as-published-insecure", "--insecure-seed", "1"], "none", ["seed", "exactly as published"]),
    ],
)
def test_insecure_runs_are_marked_on_screen_and_in_the_release(flags, kind, reasons, folder, capsys):
    assert main(["run", "--method", "prr_mean", *flags, "--out", "r"]) == 0
    out = capsys.readouterr().out
    release = json.loads((folder / "r" / "release.json").read_text())
    assert release["privacy"]["kind"] == kind
    marked = release.get("insecure", [])
    assert len(marked) == len(reasons)
    assert out.count("INSECURE: ") >= len(reasons)
    for reason, words in zip(marked, reasons, strict=True):
        assert words in reason
        assert f"INSECURE: {reason}." in out


def unmarked(document: dict, without_test_rows: dict) -> set[str]:
    """The fields that depend on rows which no party has, and do not say so."""
    marked = document["simulation_only"]["fields"]
    return {name for name in document if document[name] != without_test_rows[name]} - {*marked, "run_dir"}


def test_what_needs_everybodys_rows_is_marked_in_the_same_object(folder, capsys):
    """A run of the same coins without rows to test on tells which figures are made of them."""
    arguments = [*own_data(folder), "--insecure-seed", "1", "--json"]
    assert main(["run", "--method", "prr_mean", *arguments]) == 0
    document = printed_json(capsys)
    assert main(["run", "--method", "prr_mean", *arguments[:-5], *arguments[-3:]]) == 0
    bare = printed_json(capsys)
    assert bare["simulation_only"] == document["simulation_only"]
    assert document["simulation_only"]["fields"] == ["accuracy", "metrics", "baselines", "personalised", "loss"]
    assert document["simulation_only"]["caveat"] == SIMULATION_CAVEAT
    assert set(document["simulation_only"]["fields"]) <= set(document)
    assert bare["accuracy"] is None
    assert unmarked(document, bare) == set()


def held(place: Path, report: dict) -> set[str]:
    """The words and figures of a comparison that stand in any file below this folder."""
    baselines = report["baselines"]
    compared = report["accuracy"], baselines["pooled"], *baselines["individual"].values()
    measured = [x for x in map(report["metrics"].get, ("auc", "balanced_accuracy", "brier")) if 0 < x < 1]
    figures = map(repr, (*compared, *measured, report["loss"]["without_noise"], report["loss"]["planned"]["high"]))
    words = {"metrics", "base_brier", "confusion", "accuracy", "without_noise", "planned", "individual", "pooled"}
    words |= {"baseline", "simulation_only", *figures}
    content = b"".join(path.read_bytes() for path in place.rglob("*") if path.is_file())
    return {word for word in words if word.encode() in content}


def test_no_file_of_a_run_holds_a_comparison(folder, capsys):
    assert main(["run", "--method", "prr_mean", "--out", "r", "--ledgers", "books", "--budget", "3", "--json"]) == 0
    report = printed_json(capsys)
    assert len(report["baselines"]["individual"]) == 5
    assert {path.name for path in folder.iterdir()} == {"r", "books"}
    assert held(folder, report) == set()
    (folder / "r" / "more.json").write_text(json.dumps(report["baselines"]))  # the twin
    assert held(folder, report) >= {"individual", "pooled", repr(report["baselines"]["pooled"])}


def test_progress_is_drawn_on_a_terminal_and_plain_elsewhere(capsys, monkeypatch):
    with screen.progress_bar(quiet=True) as callback:
        assert callback is None
    with screen.progress_bar() as callback:
        for done in (1, 2):
            callback("stage [1]", done, 2)
    assert capsys.readouterr() == ("", "stage [1] ...\n")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    assert main(["run", "--method", "prr_mean", "--json", "--out", "r"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["run_dir"] == "r"
    assert "local training" in err


def test_predictions_go_to_a_file_with_ids_and_scores_and_accuracy_apart(folder, capsys):
    assert main(["run", "--method", "prr_mean", *own_data(folder), "--out", "r", "--json"]) == 0
    (folder / "new.csv").write_text(csv_text(3, 200))
    capsys.readouterr()
    assert main(["predict", "r", "--data", "new.csv", "--json"]) == 0
    found = printed_json(capsys)
    for options, called, ids in (
        (["--out", "a.csv"], "row", [str(i) for i in range(1, 201)]),
        (["--out", "b.csv", "--id", "id"], "id", [str(i) for i in range(200)]),
    ):
        assert main(["predict", "r", "--data", "new.csv", *options]) == 0
        said = capsys.readouterr()
        assert said.out == f"Written to {options[1]}: 200 rows.\n"
        assert f"accuracy                  {found['accuracy']:.3f} (" in said.err
        heading, *rows = csv.reader((folder / options[1]).read_text().splitlines())
        assert heading == [called, "prediction", "score", "probability yes", "reason"]
        assert [row[0] for row in rows] == ids
        assert [row[1] for row in rows] == found["predictions"]
        assert [float(row[2]) for row in rows] == found["scores"]
        assert [float(row[3]) for row in rows] == found["probabilities"]
        assert {row[4] for row in rows} == {""}
        assert {(float(row[2]) > 0, row[1]) for row in rows} == {(False, "no"), (True, "yes")}
    assert main(["predict", "r", "--data", "new.csv", "--json", "--id", "id"]) == 0
    assert printed_json(capsys) == {**found, "ids": [str(i) for i in range(200)]}
    assert {*found} == {"predictions", "scores", "probabilities", "reasons", "accuracy", "metrics"}
    predict("r", "new.csv", "id").write("c.csv", "id")  # the same from Python
    assert Path("c.csv").read_bytes() == Path("b.csv").read_bytes()
    heading, *rows = csv_text(3, 200).splitlines()[:10]
    coming = [heading, *(f"{row.rpartition(',')[0]}," for row in rows)]  # nobody knows yet what will come out
    (folder / "coming.csv").write_text("\n".join(coming))
    assert main(["predict", "r", "--data", "coming.csv"]) == 0
    assert capsys.readouterr() == ("".join(f"{label}\n" for label in found["predictions"][:9]), "")
    for options, why in (
        (["--out", "a.csv"], "--out: a.csv: exists already. Name another file"),
        (["--out", "none/d.csv"], "--out: none/d.csv: its folder does not exist"),
        (["--out", "d.csv", "--json"], "--out: does not go with --json"),
        (["--id", "id"], "--id: goes with --out or --json"),
        (["--out", "d.csv", "--id", "name"], "column 'name' is missing"),
    ):
        assert main(["predict", "r", "--data", "new.csv", *options]) == 2
        assert why in capsys.readouterr().err
    assert not (folder / "d.csv").exists()


def remarked(out: str) -> tuple[int, list[str]]:
    """How many parties alone do better, counted from what is printed, and the remarks on it."""
    released = float(re.search(r"Test accuracy of the release: (\S+)", out)[1])
    better = sum(float(value) > released for value in re.findall(r" alone +(\S+)", out))
    return better, [line for line in out.splitlines() if "parties alone" in line]


def test_a_release_that_parties_could_do_without_says_so(folder, capsys):
    assert main(["run", "--method", "prr_mean", *own_data(folder), "--epsilon", "0.001", "--insecure-seed", "4"]) == 0
    better, remarks = remarked(capsys.readouterr().out)
    assert better == 2
    assert re.findall(r"\d+", remarks[0]) == ["2", "300"]  # parties, and rows of the smallest one
    as_good = Comparison(0.9, {"north": 0.9, "south": 0.85}, 0.95, 0.6, 300)
    assert remarked("\n".join(block_lines(accuracy_blocks(as_good), 999, 999))) == (0, [])


@pytest.mark.parametrize(
    ("north", "without_noise", "rows", "is_noise"),
    [
        (0.98, 0.97, 50, None),  # two standard errors are 0.085
        (0.99, 0.99, 50, True),
        (0.99, 0.90, 50, False),
        (0.98, 0.97, 5000, True),
    ],
)
def test_a_difference_within_chance_is_no_warning_and_noise_is_blamed_for_its_own_alone(
    north: float, without_noise: float, rows: int, is_noise: bool | None
) -> None:
    found = Comparison(0.9, {"north": north}, 0.95, 0.6, None, None, without_noise, rows)
    text = texts_by_code(accuracy_blocks(found)).get("run.worse_than_parties_alone")
    assert (text is None) == (is_noise is None)
    assert text is None or (f"{without_noise:.3f}" not in text) == is_noise


@pytest.mark.parametrize(("rows", "beats"), [(None, (2, 2)), (400, (1, 1)), (1, (0, 0))])
def test_a_difference_within_two_standard_errors_counts_for_nobody(rows: int | None, beats: tuple[int, int]) -> None:
    alone = {"far below": 0.5, "below": 0.89, "above": 0.91, "far above": 0.99}
    assert Comparison(0.9, alone, 0.95, 0.6, None, None, 0.9, rows).compared_beyond_chance() == beats


@pytest.mark.parametrize("shared", [0, 1, 7])
def test_rows_that_a_party_has_learned_from_are_counted(shared: int) -> None:
    found = dataset("breast_cancer")
    last, test = found.federation.parties[-1], found.test
    mixed = replace(test, X=test.X.copy())
    mixed.X[:shared] = last.X[:shared]
    told = [prose.code for prose in shared_test_rows(replace(found, test=mixed))]
    assert told == ["run.shared_test_rows"] * (shared > 0)
    assert list(shared_test_rows(replace(found, test=None))) == []


def test_only_what_goes_to_a_terminal_is_folded(folder, capsys, monkeypatch):
    prose = []
    for terminal in (False, True):
        monkeypatch.setattr("sys.stdout.isatty", lambda terminal=terminal: terminal, raising=False)
        monkeypatch.setenv("COLUMNS", "60")
        assert main(["run", "--method", "prr_mean", *own_data(folder), "--out", f"r{terminal}"]) == 0
        lines = capsys.readouterr().out.splitlines()
        prose.append(lines[lines.index("Privacy") + 1 : lines.index("", lines.index("Privacy"))])
    whole, folded = prose
    assert len(whole) == 6
    assert len(folded) > 10
    assert max(map(len, folded)) <= 60
    assert " ".join(" ".join(folded).split()).replace("rTrue", "rFalse") == " ".join(" ".join(whole).split())
    assert main(["run", "--method", "prr_mean", "--party", "x" * 200]) == 2  # an error is one line wherever it goes
    assert len(capsys.readouterr().err.splitlines()) == 1
