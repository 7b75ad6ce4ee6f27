"""Grids: plans, cells that resume and fail one by one, and what a page says."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from support.repetitions import with_slow
from threadpoolctl import threadpool_info, threadpool_limits

from smc_dp.data.load_pool import load_pool
from smc_dp.data.partition import Partition, partition_pool
from smc_dp.experiments.compare import charts, report, results, runner, study, task
from smc_dp.experiments.compare.plan import GridEntry, GridPlan, GridSetting, plain_data
from smc_dp.experiments.compare.results import Trial
from smc_dp.experiments.compare.runner import ExperimentGrid
from smc_dp.experiments.compare.study import Panel, PaperClaim, PaperFigure, Point, Study
from smc_dp.methods.model import LinearModel
from smc_dp.methods.registry import find_method
from smc_dp.methods.sums.weighted_sum import WeightedSum
from smc_dp.pages.html import html
from smc_dp.privacy.statement import PrivacyStatement
from tests.support.refusals import refused

ROOT = Path(__file__).parents[4]
SETTING = GridSetting("breast_cancer", "breast_cancer", Partition(parties=3))
WSUM = GridEntry("wsum", "wsum", "proven", (Fraction(1), None), draws=2)
CENTRAL = GridEntry("central", "central", "paper", (Fraction(1, 10),))
PLAN = GridPlan((SETTING,), (WSUM, CENTRAL), repeats=2, insecure_seed=7)
NOWHERE = None


def run(plan: GridPlan, folder: Path, **options) -> ExperimentGrid:
    return runner.run_grid(plan, folder, NOWHERE, jobs=1, **options)


def figures_of(grid: ExperimentGrid) -> list[tuple]:
    """Everything about the trials but how long they took."""
    return sorted((t.dataset, t.method, t.calibration, t.epsilon, t.repeat, t.accuracy, t.auc) for t in grid.trials)


def stamps(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in (folder / "cells").glob("*.json")}


def test_a_plan_has_a_cell_for_each_entry_and_deal_and_a_number_for_each_trial():
    cells = PLAN.cells()
    assert len(cells) == 4
    assert len({cell.key for cell in cells}) == 4
    numbers = [n for cell in cells if cell.entry == WSUM for e, n in cell.trials() if e is not None]
    assert sorted(numbers) == [0, 1, 2, 3]
    assert [n for cell in cells if cell.entry == WSUM for e, n in cell.trials() if e is None] == [0, 2]


def test_the_digest_is_of_everything_that_matters():
    same = GridPlan((SETTING,), (WSUM, CENTRAL), repeats=2, insecure_seed=7)
    others = [
        replace(PLAN, repeats=3),
        replace(PLAN, insecure_seed=None),
        replace(PLAN, entries=(WSUM,)),
        replace(PLAN, entries=(replace(WSUM, epsilons=(Fraction(1), Fraction(2))), CENTRAL)),
        replace(PLAN, entries=(replace(WSUM, options=(("lam", 0.5),)), CENTRAL)),
        replace(PLAN, settings=(replace(SETTING, deal=Partition(parties=4)),)),
    ]
    assert same.digest == PLAN.digest
    assert len({plan.digest for plan in (PLAN, *others)}) == len(others) + 1
    assert json.loads(json.dumps(plain_data(PLAN)))["entries"][0]["epsilons"] == ["1", "inf"]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"entries": ()}, "comparison.empty"),
        ({"repeats": 0}, "comparison.no_repeats"),
        ({"entries": (WSUM, WSUM)}, "comparison.repeated_entry"),
        ({"entries": (replace(WSUM, method="setting.unknown_value"),)}, "setting.unknown_value"),
        ({"entries": (replace(WSUM, options=(("lamda", 1.0),)),)}, "comparison.unknown_option"),
        ({"entries": (replace(WSUM, options=(("lam", 1e9),)),)}, "parameter.out_of_range"),
        ({"entries": (replace(WSUM, epsilons=(Fraction(10**9),)),)}, "epsilon.out_of_range"),
        ({"entries": (replace(WSUM, epsilons=(Fraction(1), Fraction(1))),)}, "comparison.repeated_epsilon"),
        ({"repeats": 10**8}, "comparison.too_many_trials"),
    ],
)
def test_a_wrong_plan_is_refused(change, code):
    with refused(code):
        replace(PLAN, **change)


def test_trials_are_those_of_the_methods_themselves(tmp_path):
    """Without noise there is one answer, and here it is computed by hand."""
    grid = run(PLAN, tmp_path / "out")
    pool = load_pool("breast_cancer")
    for repeat in (0, 1):
        federation, test = partition_pool(pool, SETTING.deal, task.GRID_PARTITION_SEED + repeat)
        models = find_method("wsum")().train(federation).known
        w = federation.sizes @ models / federation.sizes.sum()
        expected = float(np.mean((test.X @ w > 0) == test.y))
        found = [t for t in grid.trials if t.epsilon == math.inf and t.repeat == 2 * repeat]
        assert [t.accuracy for t in found] == [pytest.approx(expected, abs=1e-12)]
    assert grid.failures == ()
    assert len(grid.trials) == 2 * (2 + 1) + 2 * 1
    assert {t.delta for t in grid.trials} == {0.0}
    assert all(t.seconds > 0 for t in grid.trials)


def test_statements_are_true_and_of_each_epsilon(tmp_path):
    grid = run(replace(PLAN, insecure_seed=None), tmp_path / "out")
    found = {(s["method"], s["epsilon"]): s for s in grid.statements}
    assert found["wsum", "1"]["statement"]["epsilon"] == pytest.approx(1, rel=1e-9)
    assert found["central", "0.1"]["statement"]["epsilon"] < 0.06
    assert found["wsum", "inf"]["statement"]["kind"] == "none"
    assert found["wsum", "1"]["repeats"] == [0, 1]
    assert json.loads((tmp_path / "out" / "statements.json").read_text())["statements"] == list(grid.statements)
    insecure = run(PLAN, tmp_path / "insecure")
    assert {s["statement"]["kind"] for s in insecure.statements} == {"none"}


def test_a_finished_grid_is_not_run_again(tmp_path):
    first = run(PLAN, tmp_path / "out")
    before = stamps(tmp_path / "out")
    heard = []
    again = run(PLAN, tmp_path / "out", hear=lambda *counts: heard.append(counts))
    assert stamps(tmp_path / "out") == before
    assert heard == []
    assert figures_of(again) == figures_of(first)
    next((tmp_path / "out" / "cells").glob("*wsum*.json")).unlink()  # the check does see a cell that is run again
    assert figures_of(run(PLAN, tmp_path / "out")) == figures_of(first)
    assert stamps(tmp_path / "out") != before


def test_a_killed_grid_goes_on_without_redoing_finished_cells(tmp_path, monkeypatch):
    """It is killed before its second cell is written."""
    out, write = tmp_path / "out", results.write_json

    def killed(path, value):
        if path.parent.name == "cells" and stamps(out):
            raise KeyboardInterrupt
        write(path, value)

    with monkeypatch.context() as patch:
        patch.setattr(results, "write_json", killed)
        with pytest.raises(KeyboardInterrupt):
            run(PLAN, out)
    before = stamps(out)
    assert figures_of(run(PLAN, out)) == figures_of(run(PLAN, tmp_path / "uninterrupted"))
    assert before.items() < stamps(out).items()


def test_a_folder_of_something_else_is_refused_and_left_alone(tmp_path):
    run(PLAN, tmp_path / "out")
    with refused("results.other_plan"):
        run(replace(PLAN, repeats=3), tmp_path / "out")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("keep")
    document = json.loads((tmp_path / "out" / "plan.json").read_text())
    (tmp_path / "out" / "plan.json").write_text(json.dumps({**document, "version": "0.0.0"}))
    with refused("results.other_plan"):
        run(PLAN, tmp_path / "out")
    with refused("results.not_empty"):
        run(PLAN, tmp_path / "mine")
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["notes.txt"]
    with refused("results.no_folder"):
        run(PLAN, tmp_path / "mine" / "notes.txt")


def test_data_that_are_not_there_leave_nothing_behind(tmp_path):
    absent = replace(SETTING, dataset="a9a")
    with refused("dataset.no_folder"):
        run(replace(PLAN, settings=(absent,)), tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("entry", "dataset", "deal", "code", "place"),
    [
        (CENTRAL, "digits", Partition(), "classes.only_two", "central cannot run on x: "),
        (
            GridEntry("mine", "soft", "proven", (None,)),
            *("breast_cancer", Partition(), "auxiliary_rows.needed", "mine cannot run on x: "),
        ),
        (
            GridEntry("feat_agg", "feat_agg", "proven", (None,)),
            *("breast_cancer", Partition(), "labelled_rows.missing", "feat_agg cannot run on x: "),
        ),
        (WSUM, "breast_cancer", Partition(parties=100_000), "dataset.too_few_rows", "data set breast_cancer: "),
        (WSUM, "breast_cancer", Partition(auxiliary=9, components=20), "components.too_few_rows", ""),
    ],
)
def test_what_can_never_work_is_refused_and_leaves_nothing_behind(entry, dataset, deal, code, place, tmp_path):
    plan = GridPlan((GridSetting("x", dataset, deal),), (GridEntry("batch", "batch", None, (None,)), entry), repeats=2)
    with refused(code, at=place):
        run(plan, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_workers_that_get_no_rows_are_one_sentence(tmp_path, monkeypatch):
    def full(*args, **options):
        def call(tasks):
            raise OSError(28, "No space left on device")

        return call

    monkeypatch.setattr(runner, "Parallel", full)
    with refused("comparison.rows_not_handed_over"):
        run(PLAN, tmp_path / "out")


def test_a_data_set_that_memory_does_not_hold_is_one_sentence(tmp_path, monkeypatch):
    def large(*args, **options):
        raise MemoryError

    monkeypatch.setattr(runner, "load_pool", large)
    with refused("comparison.no_memory", dataset="breast_cancer"):
        run(PLAN, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_spoilt_file_is_named_and_can_be_made_anew(tmp_path):
    first = run(PLAN, tmp_path / "out")
    spoilt = next((tmp_path / "out" / "cells").glob("*wsum*.json"))
    for content in (spoilt.read_text()[:-20], spoilt.read_text().replace('"deal"', '"dealt"')):
        spoilt.write_text(content)
        with refused("results.no_cell", file=str(spoilt)):
            run(PLAN, tmp_path / "out")
    spoilt.unlink()
    assert figures_of(run(PLAN, tmp_path / "out")) == figures_of(first)


def test_a_failing_cell_is_reported_and_does_not_stop_the_others(tmp_path, monkeypatch):
    broken = {"now": True}
    train = WeightedSum.train

    def sometimes(self, federation):
        if broken["now"]:
            raise ZeroDivisionError("by hand")
        return train(self, federation)

    monkeypatch.setattr(WeightedSum, "train", sometimes)
    many = replace(SETTING, name="too many", deal=Partition(parties=3, per_party=10_000))
    plan = replace(PLAN, settings=(SETTING, many))
    grid = run(plan, tmp_path / "out")
    assert {t.method for t in grid.trials} == {"central"}
    failures = json.loads((tmp_path / "out" / "failures.json").read_text())["failures"]
    assert len(failures) == 2 + 4
    by_hand = [f for f in failures if f["setting"]["name"] == "breast_cancer"]
    assert {f["failure"] for f in by_hand} == {"ZeroDivisionError: by hand"}
    assert sorted(f["repeat"] for f in by_hand) == [0, 1]
    assert by_hand[0]["entry"]["label"] == "wsum"
    assert all("10000 rows each" in f["failure"] for f in failures if f not in by_hand)
    broken["now"] = False
    assert len(run(plan, tmp_path / "out").failures) == 4  # what can be done is tried again


def test_a_second_data_set_that_cannot_be_loaded_fails_cell_by_cell(tmp_path):
    plan = replace(PLAN, settings=(SETTING, replace(SETTING, name="a9a", dataset="a9a")))
    grid = run(plan, tmp_path / "out")
    assert {t.dataset for t in grid.trials} == {"breast_cancer"}
    assert {f["setting"]["name"] for f in grid.failures} == {"a9a"}


@pytest.mark.slow
def test_worker_processes_give_the_same_grid(tmp_path):
    expected = figures_of(run(PLAN, tmp_path / "expected"))
    assert figures_of(runner.run_grid(PLAN, tmp_path / "out", NOWHERE, jobs=2)) == expected


def test_the_number_of_workers_is_bounded_by_memory(monkeypatch):
    pool = load_pool("breast_cancer")
    assert runner.count_workers(pool, 64) == 64
    monkeypatch.setattr(runner, "MEMORY", 7 * pool.train.X.nbytes)
    assert runner.count_workers(pool, 64) == 2
    monkeypatch.setattr(runner, "MEMORY", 0)
    assert runner.count_workers(pool, 64) == 1


def test_local_classifiers_are_trained_once_for_all_methods_that_start_from_them(monkeypatch):
    setting = GridSetting("digits", "digits", Partition(parties=20, per_party=10, auxiliary=50))
    entries = [GridEntry(m, m, "proven", (None,)) for m in ("soft", "vote", "avg_clip")]
    entries += [GridEntry("soft, paper", "soft", "paper", (None,)), GridEntry("indiv", "indiv", None, (None,))]
    plan = GridPlan((setting,), tuple(entries), repeats=1)
    trained = []
    ensemble = task.train_ensemble
    monkeypatch.setattr(task, "train_ensemble", lambda *args: trained.append(args) or ensemble(*args))
    (cells,) = task.group_by_training(plan.cells())
    outcomes = task.run_cells(load_pool("digits"), cells, 1)
    assert [o.failure for o in outcomes] == [None] * 5
    assert len(trained) == 1
    alone = task.run_cells(load_pool("digits"), cells[2:3], 1)
    assert alone[0].trials[0].accuracy == outcomes[2].trials[0].accuracy


def test_a_trial_has_the_accuracy_and_the_area_that_its_model_says(monkeypatch):
    threads = set()

    def measured(*_):
        threads.update(found["num_threads"] for found in threadpool_info() if found["user_api"] == "blas")
        return 0.75, 0.5

    monkeypatch.setattr(LinearModel, "accuracy_and_auc", measured)
    plan = replace(PLAN, entries=(WSUM,), repeats=1)
    with threadpool_limits(2, "blas"):
        (outcome,) = task.run_cells(load_pool(PLAN.settings[0].dataset), plan.cells()[:1], 1)
    assert {(trial.accuracy, trial.auc) for trial in outcome.trials} == {(0.75, 0.5)}
    assert threads == {1}  # each cell is one of many, on a core of its own


def descendants(pid: int) -> set[int]:
    listed = subprocess.run(["ps", "-eo", "pid=,ppid=,stat="], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in listed.splitlines()]
    return {int(child) for child, parent, state in rows if int(parent) == pid and not state.startswith("Z")}


def alive(pid: int) -> bool:
    found = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
    return bool(found.strip()) and not found.strip().startswith("Z")


@pytest.mark.slow
def test_sigterm_ends_the_workers_too(tmp_path):
    out = tmp_path / "out"
    many = ["--repeats", "5000", "--epsilons", "1", "--jobs", "2"]
    command = ["lab", "compare", "--methods", "wsum", *many, "--out", str(out)]
    process = subprocess.Popen([sys.executable, "-m", "smc_dp.cli", *command], cwd=ROOT, env=os.environ,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)  # fmt: skip
    deadline = time.monotonic() + 60
    while len(stamps(out)) < 5 and time.monotonic() < deadline:
        time.sleep(0.05)
    workers = descendants(process.pid)
    assert len(workers) >= 2
    process.terminate()
    _, err = process.communicate(timeout=30)
    assert process.returncode == 143
    assert f" --out {out} " in err
    deadline = time.monotonic() + 10
    while any(map(alive, workers)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(alive, workers))


def trial(method: str, epsilon: float, accuracy: float, repeat: int = 0, setting: str = "s", **other) -> Trial:
    calibration = other.get("calibration", "none" if method == "batch" else "proven")
    given = other.get("given", None if calibration == "none" or epsilon == math.inf else epsilon)
    guaranteed = (None, None) if given is None else (given, other.get("delta", 0.0))
    seconds = other.get("seconds", 1.0)
    trust = other.get("trust", "none" if calibration == "none" else "aggregator")
    return Trial(setting, method, trust, calibration, epsilon, 0.0, repeat, accuracy, 0.5, seconds, *guaranteed)


def some_study(**changes) -> Study:
    plan = GridPlan(
        (replace(SETTING, name="s"), replace(SETTING, name="t")),
        (WSUM, replace(WSUM, label="local", method="local"), GridEntry("batch", "batch", None, (None,))),
        repeats=1,
    )
    return Study("x", "A <title>", "Words", plan, **{"panels": (Panel("s", ("s",)),), **changes})


TRIALS = [trial("wsum", e, a, r) for r in (0, 1, 2) for e, a in ((1.0, 0.8 + r / 100), (math.inf, 0.9))]
TRIALS += [trial("local", 1.0, 0.6 + r / 100, r) for r in (0, 1, 2)]
TRIALS += [trial("batch", math.inf, 0.95, r) for r in (0, 1)]


def test_a_stated_number_is_compared_with_the_mean():
    stated = PaperFigure(Point("s", "wsum", "proven", 1.0), 0.80, "accuracy", "“0.80”", within=0.02)
    assert study.judge_number(stated, TRIALS).answer == "yes"
    assert study.judge_number(replace(stated, value=0.84), TRIALS).answer == "no"
    assert study.judge_number(replace(stated, value=0.20, measure="error"), TRIALS).answer == "yes"
    assert study.judge_number(replace(stated, point=Point("s", "wsum", "proven", 5.0)), TRIALS).answer == "no data"
    assert "0.810 (s.d. 0.010, n = 3)" in study.judge_number(stated, TRIALS).here


def test_a_claim_is_judged_by_two_standard_errors():
    wsum, local, batch = (
        Point("s", "wsum", "proven", 1.0),
        Point("s", "local", "proven", 1.0),
        Point("s", "batch", "none"),
    )
    better = PaperClaim("better", "accuracy", ((wsum, local),))
    assert study.judge_claim(better, TRIALS).answer == "yes"
    assert study.judge_claim(replace(better, pairs=((local, wsum),)), TRIALS).answer == "no"
    assert study.judge_claim(replace(better, measure="error"), TRIALS).answer == "yes"
    noisy = [*TRIALS, trial("local", 1.0, 0.99, 3)]
    assert study.judge_claim(better, noisy).answer == "open"
    assert study.judge_claim(replace(better, pairs=((wsum, local), (local, wsum))), TRIALS).answer == "no"
    assert study.judge_claim(replace(better, pairs=((wsum, batch),), as_well=0.2), TRIALS).answer == "yes"
    assert study.judge_claim(replace(better, pairs=((wsum, batch),), as_well=0.1), TRIALS).answer == "no"
    assert study.judge_claim(replace(better, pairs=((wsum, Point("s", "vote", "paper")),)), TRIALS).answer == "no data"


def test_a_single_trial_decides_nothing():
    wsum, local = Point("s", "wsum", "proven", 1.0), Point("s", "local", "proven", 1.0)
    single = [t for t in TRIALS if t.repeat == 0]
    better, stated = PaperClaim("better", "accuracy", ((wsum, local),)), PaperFigure(wsum, 0.8, "accuracy", "“0.80”")
    for claim in (better, replace(better, as_well=0.5)):
        assert study.judge_claim(claim, TRIALS).answer == "yes"
        assert study.judge_claim(claim, single).answer == "open"
        assert study.judge_claim(claim, [t for t in TRIALS if t.method == "wsum" or t.repeat == 0]).answer == "open"
    assert study.judge_number(stated, single).answer == "open"
    assert study.judge_number(stated, single).here == "s, guaranteed ε = 1: 0.800 (n = 1)"
    assert {row["accuracy"] for row in report.mean_rows(single)} == {"0.800", "0.900", "0.600", "0.950"}


def test_curves_have_the_means_of_their_own_trials():
    lines = {line.label: line for line in charts.panel_curves(Panel("s", ("s",)), some_study(), TRIALS)}
    assert list(lines) == ["wsum", "local", "batch"]
    assert [(x.requested, round(s.mean, 3)) for x, s in lines["wsum"].points] == [(1.0, 0.81), (math.inf, 0.9)]
    assert lines["batch"].is_baseline
    assert not lines["wsum"].is_baseline
    over = Panel("m", ("s", "t"), "setting", places=(3.0, 2.0), methods=("wsum",), epsilons=(1.0,))
    rows = [*TRIALS, trial("wsum", 1.0, 0.5, setting="t")]
    (line,) = charts.panel_curves(over, some_study(), rows)
    assert [(x.requested, round(s.mean, 3)) for x, s in line.points] == [(2.0, 0.5), (3.0, 0.81)]


@pytest.mark.parametrize(
    ("axis", "measure"), with_slow([("inverse epsilon", "error"), ("setting", "seconds")], ("inverse epsilon", "error"))
)
def test_pictures_are_drawn(axis, measure):
    panel = Panel("p", ("s",), axis, measure, places=(1.0,))
    stated = (
        PaperFigure(Point("s", "wsum", "proven", 1.0), 0.8, measure, "x"),
        PaperFigure(Point("s", "batch", "none"), 0.9, measure, "y"),
    )
    png = charts.draw_panel(panel, some_study(panels=(panel,), figures=stated), TRIALS)
    assert png.startswith(b"\x89PNG")
    assert len(png) > 10_000
    assert charts.draw_panel(replace(panel, settings=("u",), places=()), some_study(), TRIALS) is None


def statement(**changes) -> dict:
    found = PrivacyStatement("pure", 0.5, 0.0, "record", "replace", "<b>everybody</b>", ("Sizes are known.",))
    return plain_data(replace(found, **changes))


ROW = {"dataset": "s", "method": "wsum", "trust": "aggregator", "calibration": "proven", "epsilon": "1", "repeats": [0]}


def test_the_page_escapes_and_says_the_worst_guarantee():
    rows = [ROW | {"statement": s} for s in (statement(), statement(epsilon=0.75), statement(epsilon=0.25))]
    failure = {"failure": "<script>alert(1)</script>", "setting": {"name": "s"}, "repeat": 3,
               "entry": {"label": "wsum", "calibration": "proven", "trust": "aggregator"}}  # fmt: skip
    text = html(
        report.grid_page(
            some_study(differs=("A & B",)), ExperimentGrid(tuple(TRIALS), tuple(rows), (failure,)), [], 5.0
        )
    )
    assert "<script>alert" not in text
    assert "<b>everybody" not in text
    assert "A &lt;title&gt;" in text
    assert "1 → epsilon = 0.75" in text
    assert "0.25" not in text.partition(">Means</h2>")[0]
    assert "wsum, proven on s, data repeat 3" in text
    assert "0.810 ± 0.010" in text
    assert "A &amp; B" in text
    assert "1 cell failed" in text
    assert (
        "λ multiplies |w|² in prr_mean, central, central_obj, local, wsum, wsum_ar, feat_agg, avg_agg, ofpa,"
        " param_laplace," in text
    )
    assert "and |V|²/2 in vote," in text
    assert "ofaa" not in text.partition("λ multiplies")[2].partition("</p>")[0]  # which has no lambda


def test_the_page_says_when_an_area_is_not_defined():
    without = ExperimentGrid((*TRIALS, replace(TRIALS[0], repeat=9, auc=math.nan)), (), ())
    assert "not defined" in html(report.grid_page(some_study(), without, [], 1.0))
    assert "not defined" not in html(report.grid_page(some_study(), ExperimentGrid(tuple(TRIALS), (), ()), [], 1.0))


def test_a_release_without_any_guarantee_is_the_worst():
    none = plain_data(PrivacyStatement("none", None, 0.0, "record", "replace", "nobody", ("Because.",)))
    rows = [ROW | {"statement": s} for s in (none, statement())]
    assert report.guarantee_rows(rows)[0]["given"] == ["1 → nothing"]
    assert report.guarantee_rows(rows[1:])[0]["given"] == ["1 → epsilon = 0.5"]


def test_the_written_page_holds_its_pictures(tmp_path):
    shown = study.plan_study("x", "X", "Words", PLAN)
    grid = run(PLAN, tmp_path / "out")
    written = report.write_report(shown, grid, tmp_path / "out", 1.0).read_text()
    assert (tmp_path / "out" / "figures" / "01.png").read_bytes().startswith(b"\x89PNG")
    assert written.count("data:image/png;base64,") == 2  # a wide one, and for narrow screens another
    assert "http" not in written.replace("http-equiv", "")
