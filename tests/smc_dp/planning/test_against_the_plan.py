"""A run says beforehand what to expect, and afterwards whether it came to less."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from smc_dp import run_protocol
from smc_dp.cli.main import main
from smc_dp.data.federation import Federation, Rows
from smc_dp.methods.expected_accuracy import AccuracyInterval, ExpectedAccuracy
from smc_dp.pages.blocks import coded_prose, texts_by_code
from smc_dp.planning.candidate import Candidate, Circumstances
from smc_dp.planning.report import expected_in_simulation
from smc_dp.run.report import Report
from smc_dp.run.report_blocks import accuracy_blocks

SIZES = {"north": 600, "south": 500, "clinic": 8}
PROTOCOLS = {"prr_mean": "linear"} | dict.fromkeys(("newton", "wsum", "avg_clip"), "secure_sum")


def rows(n: int, rng: np.random.Generator) -> Rows:
    X = rng.uniform(-0.5, 0.5, (n, 3))
    return Rows(X, (X @ [2.0, 1.0, 0.5] > 0).astype(int))


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Report]:
    """One run of each method."""
    rng = np.random.default_rng(3)
    federation = Federation(tuple(rows(n, rng) for n in SIZES.values()), classes=2, names=tuple(SIZES))
    test = rows(400, rng)
    place = tmp_path_factory.mktemp("runs")
    return {
        method: run_protocol(
            federation, method=method, protocol=protocol, test=test, insecure_seed=5, out=place / method
        )
        for method, protocol in PROTOCOLS.items()
    }


@pytest.mark.parametrize("method", PROTOCOLS)
def test_the_loss_is_against_the_same_method_without_noise(reports: dict[str, Report], method: str) -> None:
    report = reports[method]
    found, planned = report.comparison, report.planned
    assert found.without_noise > 0.9  # these rows are told apart easily
    assert found.lost == found.without_noise - found.accuracy
    known = Circumstances(tuple(SIZES), tuple(SIZES.values()), 3)
    assert planned == Candidate.build(method, known).expected
    told = report.as_dict()
    assert told["loss"]["lost"] == found.lost
    assert told["loss"]["planned"] == planned.as_dict()
    assert "loss" in told["simulation_only"]["fields"]


def test_a_release_that_is_worse_than_its_band_says_so(reports: dict[str, Report]) -> None:
    report = reports["newton"]
    found = report.comparison
    bad = replace(report, comparison=replace(found, accuracy=found.without_noise - 0.2), planned=_planned(0.1))
    assert (bad.worse_than_planned, replace(bad, planned=_planned(0.3)).worse_than_planned) == (True, False)
    assert replace(bad, planned=None).worse_than_planned is replace(bad, comparison=None).worse_than_planned is None
    worse = texts_by_code(accuracy_blocks(bad.comparison, bad.planned))
    assert "0.200. Noise was predicted to cost 0.000 to 0.100" in worse["run.lost_more_than_planned"]
    good = texts_by_code(accuracy_blocks(bad.comparison, _planned(0.3)))
    assert "0.200. Noise was predicted to cost 0.000 to 0.300" in good["run.lost_as_planned"]


def _planned(high: float) -> ExpectedAccuracy:
    return ExpectedAccuracy(10.0, AccuracyInterval(0.0, high))


def test_the_clinic_is_named_before_anything_is_spent(reports: dict[str, Report]) -> None:
    expected, harm = expected_in_simulation(reports["prr_mean"].agreement, SIZES)
    assert (expected.code, harm.code) == ("plan.expected_loss", "plan.leave_parties_out")
    assert all(fact in harm.text for fact in ("8 rows", "clinic", "1,108"))
    assert len(list(expected_in_simulation(reports["prr_mean"].agreement, {**SIZES, "clinic": 400}))) == 1
    (only,) = expected_in_simulation(reports["newton"].agreement, SIZES)
    assert only.code == "plan.expected_loss"
    newton = reports["newton"].agreement
    tiny = replace(newton, target=replace(newton.target, epsilon=Fraction(1, 10_000)))
    assert [block.code for block in expected_in_simulation(tiny, SIZES)] == ["plan.may_lose_much", "plan.expected_loss"]
    printed = reports["prr_mean"].agreement
    paper = replace(printed, target=replace(printed.target, calibration="paper"))
    assert list(expected_in_simulation(paper, SIZES)) == []  # no figures were made for that noise


def test_the_command_warns_first_and_then_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["run", "--split", "60,37,3", "--protocol", "linear", "--out"]
    assert main([*arguments, str(tmp_path / "run")]) == 0
    out = capsys.readouterr().out
    assert out.index("What to expect: ") < out.index("The 14 rows of hospital-3") < out.index("Privacy")
    assert coded_prose("run.lost_as_planned", lost="?", low=0, high=0).text.partition("?")[0] in out
