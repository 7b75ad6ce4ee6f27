"""The commands of experiments, data sets and training: what they print, write and refuse."""

from __future__ import annotations

import csv
import json
import re
from fractions import Fraction
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

import smc_dp
from protocols.arithmetic.rng import Stream
from smc_dp.cli.compare import FIGURES, compare_methods
from smc_dp.cli.main import main
from smc_dp.core.errors import InputError
from smc_dp.data.federation import Federation, Rows
from smc_dp.data.load_pool import load_pool
from smc_dp.data.partition import Partition
from smc_dp.experiments.compare import defaults, runner
from smc_dp.experiments.reproduce import papers
from smc_dp.methods.method import noise_names
from smc_dp.methods.registry import METHODS
from smc_dp.methods.sums.weighted_sum import WeightedSum
from smc_dp.pages.blocks import coded_prose
from smc_dp.privacy.target import NoiseName, Target
from tests.support.commands import refusal
from tests.support.refusals import refused

SMALL = ["lab", "compare", "--methods", "wsum,central", "--epsilons", "1,inf", "--repeats", "2", "--jobs", "1"]
SMALLEST = [*SMALL, "--methods", "central", "--epsilons", "0.5", "--repeats", "1"]


def table(folder: Path) -> list[dict[str, str]]:
    with (folder / "results.csv").open() as file:
        return list(csv.DictReader(file))


def test_compare_writes_a_table_pictures_and_a_page(folder, capsys):
    both = [*SMALL, "--repeats", "1", "--calibration", "proven,paper", "--draws", "2", "--out", "out"]
    assert main(both) == 0
    out, err = capsys.readouterr()
    assert err.count("note: ") == 1
    assert "note: wsum is skipped for calibration paper: it has proven" in err
    rows = table(folder / "out")
    assert {(r["method"], r["trust"], r["calibration"]) for r in rows} == {
        *(("wsum", "aggregator", "proven"), ("wsum", "secure", "proven")),
        *(("central", "aggregator", "proven"), ("central", "aggregator", "paper")),
    }
    assert len(rows) == 4 * (2 + 1)
    assert {r["delta"] for r in rows if (r["trust"], r["epsilon"]) == ("secure", "1")} == {"1e-05"}
    assert {r["dataset"] for r in rows} == {"breast_cancer"}
    assert (folder / "out" / "index.html").read_text().startswith("<!DOCTYPE html>")
    assert "wsum" in out
    assert "no noise" in out
    assert str(Path("out") / "index.html") in out


def test_the_same_command_goes_on_and_another_is_refused(folder, capsys):
    command = [*SMALL, "--repeats", "1", "--insecure-seed", "3", "--out", "out"]
    assert main(command) == 0
    first = table(folder / "out")
    (next((folder / "out" / "cells").glob("*wsum*.json"))).unlink()
    assert main(command) == 0
    same = [name for name in first[0] if name != "seconds"]
    assert [[r[n] for n in same] for r in table(folder / "out")] == [[r[n] for n in same] for r in first]
    capsys.readouterr()
    assert "another plan" in refusal(capsys, folder, *command, "--insecure-seed", "4")


def test_who_stops_a_run_is_told_how_to_go_on(folder, capsys, monkeypatch):
    def stop(cells, pool, seed):
        raise KeyboardInterrupt

    monkeypatch.setattr(runner, "run_cells", stop)
    assert main([*SMALL, "--out", "out"]) == 130
    assert "stopped: the same command with --out out goes on\n" in capsys.readouterr().err


def test_failing_cells_give_exit_code_1_and_are_named(folder, capsys, monkeypatch):
    def broken(self, federation):
        raise RuntimeError("no luck")

    monkeypatch.setattr(WeightedSum, "train", broken)
    assert main([*SMALL, "--out", "out"]) == 1
    _, err = capsys.readouterr()
    assert "failed: wsum, proven on breast_cancer, data repeat 0: RuntimeError: no luck" in err
    assert "error: 2 cells failed" in err
    assert {(r["method"], r["trust"]) for r in table(folder / "out")} == {
        *(("central", "aggregator"), ("wsum", "secure")),  # whose parties train without it
    }
    assert len(json.loads((folder / "out" / "failures.json").read_text())["failures"]) == 2


@pytest.mark.parametrize(
    ("argv", "names"),
    [
        (["--methods", "wsum,magic"], ["--methods", "'magic'", "wsum"]),
        (["--methods", ""], ["--methods"]),
        (["--methods", "central", "--trust", "secure"], ["none is left", coded_prose("comparison.no_secure_sum").text]),
        (["--trust", "aggregator", "--dropouts", "1"], ["--dropouts", "--trust secure"]),
    ],
)
def test_a_wrong_option_is_one_line(argv, names, folder, capsys):
    line = refusal(capsys, folder, *SMALL, *argv)
    for name in names:
        assert name in line


def test_a_figure_that_no_paper_has(folder, capsys):
    line = refusal(capsys, folder, "lab", "reproduce", "hamm-fig9")
    assert "'hamm-fig9'" in line
    assert "pathak-fig2" in line
    assert "a9a" in refusal(capsys, folder, "lab", "reproduce", "pathak-fig2")


def test_help_names_every_figure_and_has_examples(capsys):
    spelt = set()
    for part in FIGURES.split("|"):
        name, dots, last = part.partition("..")
        spelt |= {f"{name[:-1]}{i}" for i in range(int(name[-1]), int(last) + 1)} if dots else {name}
    assert spelt == set(papers.STUDIES)
    for command in ("compare", "reproduce"):
        assert main(["lab", command, "--help"]) == 0
        assert f"smc-dp lab {command}" in capsys.readouterr().out


def learnt(argv: list[str], folder: Path) -> float:
    """The mean accuracy of the two sums at epsilon = 1, from a few deals and one seed."""
    out = str(folder / f"out-{len(list(folder.iterdir()))}")
    few = ["--epsilons", "1", "--repeats", "3", "--jobs", "1", "--insecure-seed", "2016"]
    assert main([*argv, *few, "--out", out]) == 0
    found = [r for r in table(Path(out)) if r["method"] in ("wsum", "prr_mean")]
    return sum(float(row["accuracy"]) for row in found) / len(found)


@pytest.mark.slow
def test_the_first_example_learns(folder):
    """Clearly more than the share of the commonest class; its twin, as it was, without a lambda, does not."""
    examples = re.findall(r"smc-dp (lab compare .+?)(?:\n|$)", compare_methods.__doc__ or "")
    page = (Path(smc_dp.__file__).parent / "experiments" / "HOWTO_COMPARE.md").read_text()
    assert re.findall(r"^smc-dp (lab compare .+)$", page, re.MULTILINE)[0] == examples[0]
    first = examples[0].partition(" --out")[0].split()
    pool = load_pool("breast_cancer")
    commonest = float(np.bincount(pool.train.y).max() / len(pool.train.y))
    assert commonest == pytest.approx(0.63, abs=0.005)
    assert learnt(first, folder) > commonest + 0.2
    assert learnt(first[:4], folder) < commonest + 0.1


def test_data_list(folder, capsys):
    assert main(["lab", "data", "list"]) == 0
    out = capsys.readouterr().out
    lines = {line.split()[0]: line for line in out.splitlines()[1:] if line.strip()}
    assert "bundled" in lines["digits"]
    assert "absent" in lines["a9a"]
    assert "malicious_url" in lines


def test_data_verify_names_what_is_wrong(folder, capsys):
    for given in ([], ["--data-dir", "nowhere"]):
        assert "wanted the folder" in refusal(capsys, folder, "lab", "data", "verify", *given)
    (folder / "files" / "a9a").mkdir(parents=True)
    (folder / "files" / "a9a" / "a9a.gz").write_bytes(b"not it")
    assert main(["lab", "data", "verify", "--data-dir", "files"]) == 2
    out, err = capsys.readouterr()
    assert "not as recorded: a9a/a9a.gz," in err
    assert "WRONG: data file files/a9a/a9a.gz: wanted SHA-256" in out
    assert "ok " not in out


def test_rows_are_dealt_as_usual_unless_options_say_otherwise():
    assert defaults.default_partition("har").parties == 1000
    assert defaults.default_partition("har", parties=500).per_party == 6
    assert defaults.default_partition("har", per_party=5, auxiliary=7) == Partition(1000, 5, auxiliary=7, components=50)
    split = defaults.default_partition("har", "50,50")
    assert (split.parties, split.per_party, split.auxiliary) == (2, None, 1352)
    assert defaults.default_partition("bank", parties=4).split is None
    with refused("split.wrong_number", wanted=3):
        defaults.default_partition("a9a", "50,50", parties=3)


def test_each_method_has_its_own_noise_unless_one_is_asked_for():
    def chosen(methods: list[str], noise: str | None) -> tuple[dict, list[str]]:
        both = ("proven", "paper")
        found, skipped = defaults.make_entries(methods, both, (None,), noise=noise, delta=Fraction(1, 10**6), draws=1)
        return {(e.method, e.calibration): e.noise for e in found}, list(map(str, skipped))

    assert chosen(["ofpa", "param_laplace", "batch"], None)[0] == {
        ("ofpa", "proven"): "knorm",
        ("ofpa", "paper"): "laplace",
        ("param_laplace", "proven"): "laplace",
        ("batch", None): "knorm",
    }
    found, skipped = chosen(["ofpa", "soft"], "knorm")
    assert set(found) == {("ofpa", "proven"), ("soft", "proven"), ("soft", "paper")}
    assert skipped == ["ofpa is skipped for calibration paper: the noise of the paper is laplace"]
    assert chosen(["soft"], "gauss")[1] == ["soft is skipped for calibration paper: the noise of the paper is knorm"]
    assert chosen(["prr_mean"], "gauss")[1][0].endswith("the noise of the paper is knorm or laplace")
    found, skipped = chosen(["soft", "avg", "soft_aux", "vote", "ofpa"], "laplace")
    assert set(found) == {*((m, "proven") for m in ("soft", "avg", "soft_aux", "vote")), ("ofpa", "paper")}
    assert len(skipped) == 5


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("calibration", ["proven", "paper"])
def test_a_noise_that_is_not_skipped_is_one_that_the_method_draws(name, calibration):
    """And the methods refuse every other: `noise_names` is what they do."""
    method = METHODS[name]
    if not method.calibrations or getattr(method, "regresses", False):
        return
    rng = np.random.default_rng(1)
    parties = tuple(Rows(rng.normal(size=(20, 2)) / 10, rng.integers(0, 2, 20)) for _ in range(2))
    trained = method().train(Federation(parties, 2, unlabelled=parties[0].X, labelled=parties[1]))

    def drawn(noise: str) -> bool:
        try:
            trained.release(Target(Fraction(1), calibration, noise), Stream.insecure_from_seed(1))
        except InputError:
            return False
        return True

    assert {n for n in get_args(NoiseName) if drawn(n)} == set(noise_names(method, calibration))
