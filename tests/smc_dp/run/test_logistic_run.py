"""Runs of `logistic`: figures by the names of columns, in a release that anybody can compute again."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats
from statsmodels.discrete.discrete_model import Logit
from support import forgeries as f
from support.same_facts import unsaid

from smc_dp import audit_run, predict, run_protocol
from smc_dp.cli.main import main
from smc_dp.data.bounds import Bounds, read_bounds
from smc_dp.data.columns import CategoricalColumn, NumericColumn
from smc_dp.data.usual_clip import longest_norm
from smc_dp.methods.statistics.coefficient_inference import CoefficientInference
from smc_dp.pages.blocks import PageTable, Prose
from smc_dp.pages.text import page_lines
from smc_dp.run.coefficient_intervals import Term, coefficient_map, make_intervals, state_inference, terms_of
from smc_dp.run.coefficient_intervals_table import interval_blocks, what_intervals_cover
from smc_dp.run.figures import read_figures
from smc_dp.run.methods_section import methods_section
from smc_dp.run.preparation import prepare_run
from smc_dp.run.release import RELEASE
from smc_dp.run.release_report import run_page
from smc_dp.run.settings import RunRequest
from smc_dp.run.verify_release import verify_release
from tests.support.refusals import refused

BOUNDS = """
[columns]
age = [18, 98]
ward = ["a", "b", "c"]
bmi = {bins = [10, 25, 30, 60]}
dose = [0, 10]
[missing]
dose = "indicator"
[label]
column = "died"
classes = ["no", "yes"]
"""
NAMES = ("age", "ward b", "ward c", "bmi 25", "bmi 30", "dose", "no dose")
TRUTH = np.array([0.05, 0.8, -0.6, 0.4, 0.9, 0.2, 0.7])


def design(n: int, seed: int) -> tuple[list[str], np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Lines of a file, and columns without references with their outcome."""
    rng = np.random.default_rng(seed)
    age, ward, bmi = rng.integers(18, 99, n), rng.choice(["a", "b", "c"], n), rng.integers(11, 60, n)
    dose, empty = rng.integers(0, 11, n), rng.random(n) < 0.3
    X = np.stack(
        [age, ward == "b", ward == "c", (bmi >= 25) & (bmi < 30), bmi >= 30, np.where(empty, 0, dose), empty], axis=1
    ).astype(float)
    y = rng.random(n) < 1 / (1 + np.exp(3.2 - X @ TRUTH))
    cells = zip(age, ward, bmi, ["" if e else str(d) for e, d in zip(empty, dose, strict=True)], y, strict=True)
    return [f"{a},{w},{b},{d},{'yes' if died else 'no'}" for a, w, b, d, died in cells], X, y


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_files(tmp_path_factory.mktemp("logistic"))
    run(folder, folder / "run")
    return folder


def write_files(folder: Path) -> Path:
    """Rows of three hospitals, their bounds, and the design that they were made of."""
    (folder / "bounds.toml").write_text(BOUNDS)
    lines, X, y = design(2400, 1)
    for j, name in enumerate(("north", "south", "west")):
        (folder / f"{name}.csv").write_text("\n".join(["age,ward,bmi,dose,died", *lines[j::3]]) + "\n")
    np.savez(folder / "design.npz", X=X, y=y)
    return folder


def run(folder: Path, out: Path, **changes: Any) -> Any:
    parties = {name: folder / f"{name}.csv" for name in ("north", "south", "west")}
    how = {"method": "logistic", "epsilon": 20, "bounds": folder / "bounds.toml", **changes}
    return run_protocol(parties, out=out, **how)


def stated(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / RELEASE).read_text())
    return found


def test_figures_are_those_of_statsmodels_but_for_the_noise(files: Path) -> None:
    with np.load(files / "design.npz") as kept:
        X, y = kept["X"], kept["y"]
    intercept, *coefficients = Logit(y, np.column_stack([np.ones(len(X)), X])).fit(disp=False).params
    found = stated(files / "run")["inference"]
    assert found["obstacles"] == []
    assert found["rows"] + found["left_out"] == pytest.approx(2400, abs=40)
    quantile = stats.t(found["rows"] - 8).ppf(0.975)
    slopes = dict(zip(NAMES, coefficients, strict=True))
    named = {(t["kind"], t["column"], t["cell"]): t for t in found["terms"]}
    for key, name in (
        (("slope", "age", ""), "age"),
        (("level", "ward", "b"), "ward b"),
        (("level", "ward", "c"), "ward c"),
        (("bin", "bmi", "[25, 30)"), "bmi 25"),
        (("bin", "bmi", "[30, 60]"), "bmi 30"),
        (("slope", "dose", ""), "dose"),
        (("empty", "dose", ""), "no dose"),
    ):
        term = named.pop(key)
        assert abs(term["estimate"] - slopes[name]) < 4 * term["privacy_error"] + 0.1 * term["sampling_error"]
        assert term["standard_error"] ** 2 == pytest.approx(term["sampling_error"] ** 2 + term["privacy_error"] ** 2)
        assert term["high"] - term["estimate"] == pytest.approx(quantile * term["standard_error"], rel=1e-9)
        assert term["estimate"] - term["low"] == pytest.approx(quantile * term["standard_error"], rel=1e-9)
    assert [*named] == [("intercept", "", "")]
    assert abs(named["intercept", "", ""]["estimate"] - intercept) < 0.5


@pytest.mark.parametrize(
    ("coefficient", "variance", "last", "states"),
    [
        (3.9, 0.19, 0.4, True),
        (-3.9, 0.19, -0.4, True),
        (4.1, 0.01, 0.0, False),
        (-4.1, 0.01, 0.0, False),
        (1.0, 0.21, 0.0, False),
        (3.9, 0.19, 0.5, False),  # d^2/2 is above a quarter of the error, .44
        (3.9, 0.19, -0.5, False),
    ],
)
def test_a_level_that_decides_the_class_has_no_interval(
    coefficient: float, variance: float, last: float, states: bool
) -> None:
    made, level, slope = made_of(coefficient, variance, last, (False, False, False))
    assert (made["terms"][level]["low"] is not None) == states
    assert made["terms"][slope]["low"] is not None
    assert made["cautions"] == ([] if states else ["far_cells"])


def test_a_coefficient_that_is_ill_determined_has_no_interval() -> None:
    made, level, _ = made_of(1.0, 0.1, 0.0, (True, False, False))
    assert [term["low"] is None for term in made["terms"]] == [i == level for i in range(3)]
    assert made["cautions"] == ["ill_determined"]
    assert made["obstacles"] == []
    made, _, _ = made_of(1.0, 0.1, 0.0, (True, True, False))
    assert {term["low"] for term in made["terms"]} == {None}
    assert made["obstacles"] == ["collinear"]
    assert made["cautions"] == []


def made_of(
    coefficient: float, variance: float, last: float, raised: tuple[bool, bool, bool]
) -> tuple[dict[str, Any], int, int]:
    """Return what is made of an inference in three directions, of a level, a slope and the intercept, and the places of
    level and slope.
    """
    columns = (CategoricalColumn("ward", ("a", "b")), NumericColumn("age", 0.0, 1.0))
    bounds = Bounds(columns, ("no", "yes"), "died", longest_norm(2))
    terms, T = coefficient_map(bounds)
    level, slope = (next(i for i, term in enumerate(terms) if term.kind == kind) for kind in ("level", "slope"))
    kept = np.linalg.solve(T, [coefficient if i in (level, slope) else 0.0 for i in range(len(terms))])
    weights = np.zeros(bounds.dimension)
    weights[[j for j in range(bounds.dimension) if bounds.box and j not in bounds.box.references]] = kept
    back, places = np.linalg.inv(T), [level, slope, 0]
    sampling = back @ np.diag([variance] * len(terms)) @ back.T
    step = back @ np.array([last if i in (level, slope) else 0.0 for i in range(len(terms))])
    found = CoefficientInference(
        kept, sampling, 0 * sampling, step, 0.0, back[:, places], np.array(raised), 0 * sampling, rows=1e9
    )
    made = make_intervals(found, tuple(weights.tolist()), bounds)
    return made, level, slope


@pytest.mark.parametrize(
    ("least", "hidden", "times"),
    [(0.8, True, 6.25), (0.5, True, 10.0), (0.49, True, None), (-0.2, True, None), (1.2, False, None)],
)
def test_what_hides_coefficients_takes_as_much_as_a_plan_says(
    least: float, *, hidden: bool, times: float | None
) -> None:
    nothing, one = np.zeros(2), np.eye(2)
    found = CoefficientInference(
        nothing, one, one, nothing, 0.0, one, np.array([False, hidden]), one, rows=1000.0, least=least
    )
    made = state_inference(found, {Term("intercept", "", ""): 0.0, Term("slope", "age", ""): 0.0})
    assert made["times_needed"] == times
    assert made["obstacles"] == (["collinear"] if hidden else [])


@pytest.mark.parametrize(
    ("left_out", "errors", "caution"),
    [
        (51.0, (0.0, 0.0), ["left_out"]),  # of 1,000
        (49.0, (0.0, 0.0), []),
        (69.0, (0.0, 10.0), ["perhaps_left_out"]),  # 1.96 deviations are 19.6
        (70.0, (0.0, 10.0), ["left_out"]),
        (31.0, (0.0, 10.0), ["perhaps_left_out"]),
        (30.0, (0.0, 10.0), []),
        (69.0, (200.0, 0.0), ["perhaps_left_out"]),  # of which 5 % are 10
        (70.0, (200.0, 0.0), ["left_out"]),
    ],
)
def test_so_many_rows_are_left_out_only_where_the_noise_tells(
    left_out: float, errors: tuple[float, float], caution: list[str]
) -> None:
    nothing = np.zeros(1)
    found = CoefficientInference(
        nothing, np.eye(1), np.eye(1), nothing, 0.0, np.eye(1), np.zeros(1, dtype=np.bool_), np.eye(1),
        (), 1000.0 - left_out, left_out, *errors,
    )  # fmt: skip
    assert state_inference(found, {Term("intercept", "", ""): 0.0})["cautions"] == caution


def test_estimates_are_the_coefficients_of_the_release_which_is_verified_and_audited(files: Path) -> None:
    found, bounds = stated(files / "run"), read_bounds(files / "bounds.toml")
    terms, T = coefficient_map(bounds)
    of_weights = terms_of(found["weights"], bounds)
    assert [t["estimate"] for t in found["inference"]["terms"]] == [of_weights[name] for name in terms]
    kept = [w for j, w in enumerate(found["weights"]) if bounds.box and j not in bounds.box.references]
    assert T @ kept == pytest.approx([of_weights[name] for name in terms])
    score = found["coefficients"]["yes"]["columns"]
    assert score["ward"]["levels"]["a"] == score["bmi"]["bins"]["[10, 25)"] == 0
    assert predict(files / "run", files / "north.csv").labels
    verified = verify_release(files / "run").release
    assert verified.inference == stated(files / "run")["inference"]
    report = audit_run(files / "run")
    assert report.passed
    assert {f.check.name for f in report.findings if f.outcome.status == "passed"} >= {
        "mechanism",
        "statement",
        "release",
    }


def _less(found: dict[str, Any]) -> None:
    found["inference"]["terms"][1]["standard_error"] *= 0.999


def _of_inference(**figures: Any) -> Callable[[dict[str, Any]], None]:
    return lambda found: found["inference"].update(figures)


@pytest.mark.parametrize("change", [_less, _of_inference(rows=2000.0), lambda found: found.pop("inference")])
def test_a_release_with_other_figures_is_refused(
    files: Path, tmp_path: Path, change: Callable[[dict[str, Any]], None]
) -> None:
    f.edited(files / "run", tmp_path / "run", RELEASE, change)
    with refused("release.other_inference"):
        verify_release(tmp_path / "run")
    assert not audit_run(tmp_path / "run").passed


def test_intervals_beside_published_shares_are_refused(files: Path, tmp_path: Path) -> None:
    run(files, tmp_path / "shares", method="wsum", output="shares")
    forged = {"inference": stated(files / "run")["inference"]}
    f.edited(tmp_path / "shares", tmp_path / "run", RELEASE, lambda d: d.update(forged))
    with refused("release.other_inference"):
        verify_release(tmp_path / "run")
    assert not audit_run(tmp_path / "run").passed


def test_last_digits_may_differ(files: Path, tmp_path: Path) -> None:
    found = stated(files / "run")
    for term in found["inference"]["terms"]:
        term["standard_error"] *= 1 + 1e-12
    verify_release(f.edited(files / "run", tmp_path / "run", RELEASE, lambda d: d.update(found)))


def test_no_interval_is_shown_where_a_rule_forbids_it(files: Path, tmp_path: Path) -> None:
    report = run(files, tmp_path / "run", epsilon="1/100")
    found = stated(tmp_path / "run")["inference"]
    assert found["obstacles"]
    figures = ("standard_error", "sampling_error", "privacy_error", "low", "high", "p_value")
    assert {term[name] for term in found["terms"] for name in figures} == {None}
    assert report.as_dict()["inference"] == found
    blocks = [*interval_blocks(found, read_bounds(files / "bounds.toml"))]
    assert {getattr(block, "code", "") for block in blocks} >= {f"intervals.{code}" for code in found["obstacles"]}
    (table,) = (block for block in blocks if isinstance(block, PageTable))
    assert len(table.headings) == 4
    assert verify_release(tmp_path / "run").release.inference == found


def test_intervals_without_a_transcript_are_shown_to_nobody(
    files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither those of another method. The release still classifies rows."""
    run(files, tmp_path / "newton", method="newton")
    with refused("units.no_intervals"):
        run_page(tmp_path / "newton", {"age": 2.0})
    assert main(["show", str(tmp_path / "newton"), "--csv", str(tmp_path / "table.csv")]) == 2
    whole, other = stated(files / "run"), stated(tmp_path / "newton")
    for release in (whole, {**whole, "inference": None}, other | {"inference": whole["inference"]}):
        alone = tmp_path / "alone"
        alone.mkdir(exist_ok=True)
        (alone / RELEASE).write_text(json.dumps({name: found for name, found in release.items() if found is not None}))
        for use in (run_page, read_figures):
            with refused("run.not_whole"):
                use(alone)
        assert predict(alone, files / "north.csv").missing_files_text
    (tmp_path / "newton" / RELEASE).write_text(json.dumps(other | {"inference": whole["inference"]}))
    with refused("release.other_inference"):
        verify_release(tmp_path / "newton")


def test_the_page_has_a_row_for_each_coefficient_and_its_text_the_same_facts(files: Path) -> None:
    page = run_page(files / "run")
    assert unsaid(page, (*page.notices, *page.sections)) == set()
    section = next(s for s in page.sections if s.heading == "Coefficients with intervals")
    (table,) = (block for block in section.blocks if isinstance(block, PageTable))
    terms = stated(files / "run")["inference"]["terms"]
    assert [row[0] for row in table.rows] == ["(intercept)", *(term["column"] for term in terms[1:])]
    assert len(table.headings) == 9
    assert any("ward a, bmi [10, 25)" in line for line in page_lines(page, 200))


def test_after_a_drop_out_it_is_verified_as_well(files: Path, tmp_path: Path) -> None:
    report = run(files, tmp_path / "run", dropouts=1, colluders=0, drop_out={"south": 12})
    assert report.present.dropped_out == ("south",)
    found = verify_release(tmp_path / "run").release.inference
    assert "dropped_out" in found["cautions"]  # rows were counted before
    assert audit_run(tmp_path / "run").passed


def test_a_built_in_data_set_has_bounds_that_shorten_no_row() -> None:
    data, agreement = prepare_run(RunRequest.model_validate({"method": {"name": "logistic"}}))
    assert agreement.bounds == data.bounds
    assert agreement.bounds.clip >= np.sqrt(len(agreement.bounds.columns))
    assert agreement.expected_accuracy([100] * 5) is None


def test_the_methods_section_states_intervals_only_where_there_are_some(files: Path) -> None:
    release = verify_release(files / "run").release
    (said, _) = (block for block in methods_section(release, at_sites=True) if isinstance(block, Prose))
    assert what_intervals_cover(release.bounds) in said.text
    assert release.agreement.statement.figures in said.text
    kept_back = replace(release, inference={**release.inference, "obstacles": ["collinear"]})
    (said, _) = (block for block in methods_section(kept_back, at_sites=True) if isinstance(block, Prose))
    assert what_intervals_cover(release.bounds) not in said.text
    assert not [*methods_section(replace(release, inference=None), at_sites=True)]


def test_other_programs_get_the_figures_as_csv_and_json(
    files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    terms = stated(files / "run")["inference"]["terms"]
    assert main(["show", str(files / "run"), "--json", "--per", "age=10"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["method"], found["obstacles"]) == ("logistic", [])
    assert [(f["column"], f["cell"], f["p_value"]) for f in found["figures"]] == [
        (t["column"], t["cell"], t["p_value"]) for t in terms
    ]
    intercept, *others = found["figures"]
    assert intercept["p_value_holm"] is None
    assert all(f["p_value"] <= f["p_value_holm"] <= 1 for f in others)
    age = found["figures"][1]
    assert (age["units"], age["high"]) == (10, pytest.approx(10 * terms[1]["high"]))
    assert age["odds_low"] == pytest.approx(np.exp(10 * terms[1]["low"]))
    assert main(["show", str(files / "run"), "--csv", str(tmp_path / "odds.csv")]) == 0
    with (tmp_path / "odds.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [float(row["standard_error"]) for row in rows] == [term["standard_error"] for term in terms]
    assert [row["reference"] for row in rows] == ["", "", "a", "a", "[10, 25)", "[10, 25)", "", ""]
    assert main(["show", str(files / "run"), "--json", "--csv", str(tmp_path / "two.csv")]) == 2
    with refused("units.no_such_column", column="'ward'"):
        read_figures(files / "run", {"age": 2.0, "ward": 2.0})
