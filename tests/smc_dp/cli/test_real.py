"""The command line over the real protocol, with nothing replaced; toy keys, so that it takes a second."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from smc_dp.audit.run import conformity
from smc_dp.audit.run.evidence import load_evidence
from smc_dp.cli.main import main

TOY = ("--insecure-test-keys", "--key-bits", "512", "--parties", "3")
KEYS = (
    *("method", "protocol", "parties", "dimension", "lambda", "calibration", "accuracy", "metrics", "baselines"),
    *("personalised", "loss", "simulation_only", "privacy", "cost"),
    "run_dir",
)


def run(capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    """The one object that `--json` prints."""
    assert main(["run", "--method", "prr_mean", *TOY, *options, "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    report = json.loads(out)
    assert tuple(report) == KEYS
    assert out.count("\n") == 1
    return dict(report)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def lines(folder: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (Path(folder) / "transcript.jsonl").read_text().splitlines()]


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--comparison", "all-pairs"),
        ("--topology", "star", "--link", "wan"),
        ("--noise", "laplace", "--calibration", "paper"),
        ("--as-published-insecure",),
    ],
    ids=" ".join,
)
def test_reports_are_those_of_the_run(options: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    report = run(capsys, *options, "--out", "r")
    folder = Path("r")
    record = lines("r")
    evidence = load_evidence(folder)
    assert [check.run(evidence).status for check in conformity.LINK_CHECKS] == ["passed"] * len(conformity.LINK_CHECKS)
    assert all({"n", "from", "to", "kind", "size", "digest", "prev"} <= line.keys() for line in record)
    cost = report["cost"]
    assert [stage["stage"] for stage in cost["by_stage"]] == ["setup", "keys", "stage1", "stage2", "stage3"]
    for figure in ("messages", "bytes", "rounds"):
        assert cost[figure] == sum(stage[figure] for stage in cost["by_stage"])
    relayed = sum("via" in line for line in record)
    assert cost["messages"] == len(record) - 1 + relayed
    assert bool(relayed) == ("star" in options)
    assert cost["seconds"] > (0.3 if "wan" in options else 0)
    shares, release = (json.loads((folder / f"{name}.json").read_text()) for name in ("shares", "release"))
    assert set(shares["shares"]) == {"charlie", "hospital-1", "hospital-2", "hospital-3"}
    modulus = int(shares["modulus"])
    total = [sum(map(int, column)) % modulus for column in zip(*shares["shares"].values(), strict=True)]
    signed = [x - modulus if x >= modulus // 2 else x for x in total]
    assert release["weights"] == [float(Fraction(x, 3 * 2 ** shares["fraction_bits"])) for x in signed]
    printed = "--as-published-insecure" in options
    assert (report["privacy"]["kind"] == "none") == printed
    assert ("as printed" in record[0]["insecure"]) == printed
    assert len(release["insecure"]) == 1 + printed
    assert record[0]["parameters"]["agreed"] == release["parameters"]["agreed"]


def test_predictions_are_the_release_applied(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    from sklearn.datasets import load_breast_cancer

    run(capsys, "--out", "r")
    bunch = load_breast_cancer()
    table = [",".join(bunch.feature_names), *(",".join(map(str, row)) for row in bunch.data)]
    Path("new.csv").write_text("\n".join(table) + "\n")
    assert main(["predict", "r", "--data", "new.csv", "--json"]) == 0
    predictions = json.loads(capsys.readouterr().out)["predictions"]
    truth = [bunch.target_names[t] for t in bunch.target]
    assert sum(p == t for p, t in zip(predictions, truth, strict=True)) > 0.8 * len(truth)


def test_a_seed_gives_the_same_bytes_and_another_gives_others(capsys: pytest.CaptureFixture[str]) -> None:
    """All but the seconds; and a seed promises nothing, for whoever guesses it knows the noise."""
    for folder, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        privacy = run(capsys, "--insecure-seed", seed, "--out", folder)["privacy"]
        assert (privacy["kind"], privacy["epsilon"]) == ("none", None)
    a, b, c = (
        {name: (Path(folder) / name).read_bytes() for name in ("shares.json", "transcript.jsonl")} for folder in "abc"
    )
    assert a == b
    assert a["shares.json"] != c["shares.json"]


def test_two_runs_of_different_data_look_alike_on_the_wire(capsys: pytest.CaptureFixture[str]) -> None:
    shapes = []
    for folder, split in (("a", "20,30,50"), ("b", "50,25,25")):
        run(capsys, "--split", split, "--out", folder)
        shapes.append(sorted((x["from"], x["to"], x["kind"], x["size"]) for x in lines(folder)))
    assert shapes[0] == shapes[1]
