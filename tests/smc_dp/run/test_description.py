"""A run that describes rows and groups of them: agreed on, released, read back, audited, shown, and no classifier."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support import forgeries as f
from support.same_facts import texts, unsaid

from smc_dp import SecureSumClassifier, audit_run, plan, predict, run_protocol
from smc_dp.cli.main import main
from smc_dp.data.bounds import Bounds, read_bounds
from smc_dp.data.federation import Federation, Rows
from smc_dp.deploy.study import JointStudy
from smc_dp.methods.statistics import describe
from smc_dp.methods.statistics.estimate import Estimate
from smc_dp.methods.statistics.sum_blocks import record_reach
from smc_dp.pages.blocks import PageBlock, PageTable, Prose
from smc_dp.privacy.distributed.moments import RecordReach
from smc_dp.run.description_table import COVERS_ROWS, description_blocks
from smc_dp.run.export.export_run import export_run
from smc_dp.run.figures import read_figures
from smc_dp.run.local_evaluation import evaluate_locally
from smc_dp.run.methods_section import methods_section
from smc_dp.run.release_report import run_page
from smc_dp.run.report import Report
from smc_dp.run.table_one import HIDDEN, table_one
from smc_dp.run.verify_release import verify_release
from tests.support.refusals import refused

BOUNDS = """
[columns]
age = [0, 120]
sex = ["f", "m"]
bmi = [10, 60]
seen = [2020-01-01, 2020-12-31]
lab = { bins = [0, 1, 2, 9] }
[label]
column = "ill"
classes = ["no", "yes"]
[missing]
bmi = "indicator"
"""
HEADER = ["age", "sex", "bmi", "seen", "lab", "ill"]
SIZES = {"north": 900, "south": 500, "west": 700}


def write_files(folder: Path) -> Path:
    """The rows of three hospitals, and bounds with a clip and a constant that a description does not use."""
    rng = np.random.default_rng(4)
    for name, size in SIZES.items():
        with (folder / f"{name}.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(HEADER)
            for _ in range(size):
                bmi = "" if rng.random() < 0.1 else f"{rng.uniform(15, 45):.1f}"
                seen = f"2020-{rng.integers(1, 13):02d}-{rng.integers(1, 28):02d}"
                cells = (rng.integers(20, 90), rng.choice(["f", "m"]), bmi, seen, f"{rng.uniform(0, 9):.2f}")
                writer.writerow([*cells, rng.choice(["no", "yes"])])
    (folder / "bounds.toml").write_text(BOUNDS)
    return folder


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_files(tmp_path_factory.mktemp("description"))


def described(files: Path, out: Path, **settings: Any) -> Report:
    tables = {name: files / f"{name}.csv" for name in SIZES}
    return run_protocol(tables, method="describe", bounds=files / "bounds.toml", out=out, **settings)


@pytest.fixture(scope="module")
def run(files: Path) -> Path:
    """A run by sex, with a table and the views beside it."""
    described(files, files / "run", views=files / "views", by="sex", tables="lab*ill", epsilon=4)
    return files / "run"


def cells(files: Path, column: str) -> list[str]:
    found = []
    for name in SIZES:
        with (files / f"{name}.csv").open() as file:
            found += [row[column] for row in csv.DictReader(file)]
    return found


def test_the_release_describes_all_rows_and_each_group(files: Path, run: Path) -> None:
    release = verify_release(run).release
    assert (release.description.rows, release.description.parties) == (sum(SIZES.values()), 3)
    assert release.parameters["by"] == release.description.by == "sex"
    found = {(row.group, row.column, row.level, row.figure): row.found for row in release.description.table()}
    assert [column.name for column in release.description.columns] == HEADER
    ages, sexes = np.array(list(map(float, cells(files, "age")))), cells(files, "sex")
    for key, wanted, wide in (
        (("", "age", "", "mean"), ages.mean(), 3),
        (("", "age", "", "standard deviation"), ages.std(ddof=1), 5),
        (("", "sex", "f", "count"), sexes.count("f"), 200),
        (("", "bmi", "(empty)", "count"), cells(files, "bmi").count(""), 200),
        (("", "ill", "yes", "count"), cells(files, "ill").count("yes"), 200),
        (("f", "sex", "f", "count"), sexes.count("f"), 200),
        (("m", "sex", "m", "count"), sexes.count("m"), 200),
    ):
        one = found[key]
        assert abs(one.estimate - wanted) < 3 * (one.high - one.low), key
        assert 0 < one.high - one.low < wide, key
    assert ("", "seen", "", "mean, days since 2020-01-01") in found
    assert found["m", "seen", "", "difference of means, days"] is not None
    assert ("f", "age", "", "difference of means") not in found


def edited(run: Path, to: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    return f.edited(run, to, "release.json", change, redigest=False)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda d: d["description"]["sums"].pop(), "description.other_length"),
        (lambda d: d["description"].update(rows=10**9), "description.impossible_rows"),
        (lambda d: d["description"].update(parties=4), "description.impossible_rows"),
        (lambda d: d["description"].update(rows=d["description"]["rows"] + 1), "description.other_figures"),
        (lambda d: d["description"]["columns"]["age"]["mean"].update(low=1.0), "description.other_figures"),
        (lambda d: d["description"]["tables"][0]["cells"][0][0].update(high=1e6), "description.other_figures"),
        (lambda d: d["description"]["groups"][1]["figures"][-1].update(low=0.0), "description.other_figures"),
        (lambda d: d["parameters"].update(by="ill", tables="lab*sex"), "description.other_figures"),
        (lambda d: d["parameters"].update(by="lab", tables="sex*ill"), "description.other_length"),
        (lambda d: d["parameters"].update(by="age"), "describe.column_of_numbers"),
        (lambda d: d["parameters"].update(by=""), "text.not_one_line"),
        (lambda d: d["parameters"].update(tables="lab*sex"), "describe.no_pair"),
        (lambda d: d.update(weights=[0.0]), "release.weights_or_description"),
        (lambda d: d.pop("description"), "release.weights_or_description"),
        (lambda d: d["parameters"].update(center=False), "bounds.not_whole"),
        (lambda d: d.update(clip=1.0), "bounds.not_whole"),
    ],
)
def test_what_does_not_follow_from_the_sums_is_refused(
    change: Callable[[dict[str, Any]], None], code: str, run: Path, tmp_path: Path
) -> None:
    with refused(code):
        verify_release(edited(run, tmp_path / "run", change))
    assert not audit_run(tmp_path / "run").passed


def test_a_description_without_a_transcript_is_shown_to_nobody(run: Path, tmp_path: Path) -> None:
    (tmp_path / "release.json").write_bytes((run / "release.json").read_bytes())
    for use in (run_page, read_figures):
        with refused("run.not_whole"):
            use(tmp_path)


def test_sums_that_were_not_published_are_refused(files: Path, tmp_path: Path) -> None:
    """All figures follow from the sum; that nobody signed it shows in the transcript."""
    made = described(files, tmp_path / "made")
    spec = made.agreement.spec
    sums = (*made.described.sums[:-1], made.described.sums[-1] + 1)
    other = spec.describe(made.described.rows, 3, sums)  # type: ignore[attr-defined]  that of a description
    run = edited(tmp_path / "made", tmp_path / "run", lambda d: d.update(description=other.as_dict()))
    with refused("release.other_weights"):
        verify_release(run)
    assert not audit_run(run).passed


def half_as_far(patch: pytest.MonkeyPatch) -> None:
    found = RecordReach.sensitivity.fget  # type: ignore[attr-defined]  a property has one
    patch.setattr(RecordReach, "sensitivity", property(lambda self: found(self) / 2))


def groups_as_one(patch: pytest.MonkeyPatch) -> None:
    """Numbers of two groups reach as far as those of one."""
    found = RecordReach.sensitivity.fget  # type: ignore[attr-defined]  a property has one
    of_one = property(lambda self: found(RecordReach(self.levels, self.numbers + self.grouped, self.gaps)))
    patch.setattr(RecordReach, "sensitivity", of_one)


def without_tables(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(describe, "record_reach", lambda blocks: record_reach([one for one in blocks if one.groups is None]))


@pytest.mark.parametrize("twin", [half_as_far, groups_as_one, without_tables])
def test_an_audit_computes_the_sensitivity_by_itself(
    twin: Callable[[pytest.MonkeyPatch], None], files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    twin(monkeypatch)
    more = {"tables": "lab*ill"} if twin is without_tables else {"by": "sex"}
    described(files, tmp_path / "run", **more)
    codes = {finding.outcome.code for finding in audit_run(tmp_path / "run").findings}
    assert "noise.sensitivity" in codes


def test_it_classifies_nothing(files: Path, run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with refused("release.no_classifier"):
        predict(run, tmp_path / "absent.csv")  # before a row is read
    with refused("release.no_classifier"):
        export_run(run, "json", tmp_path / "model.json")
    rows = Rows(np.zeros((200, 7)), np.arange(200) % 2)
    assert evaluate_locally(verify_release(run).release, rows) is None
    with refused("test.of_no_classifier"):
        described(files, tmp_path / "no", test=files / "north.csv")
    with refused("plan.has_intervals"):
        plan(list(SIZES.values()), 5, method="describe")
    given = ["run", "--method", "describe", "--bounds", str(files / "bounds.toml"), "--json"]
    given += ["--out", str(tmp_path / "r")]
    given += [word for name in ("north", "south") for word in ("--party", str(files / f"{name}.csv"))]
    capsys.readouterr()
    for option, code in (("--test", "test.of_no_classifier"), ("--metrics", "option.page_of_no_classifier")):
        assert main([*given, option, str(files / "north.csv" if option == "--test" else tmp_path / "m.html")]) == 2
        assert json.loads(capsys.readouterr().out)["error"]["code"] == code
    with refused("bounds.not_whole"):  # of rows without columns
        run_protocol(Federation((rows, rows), 2), method="describe", out=tmp_path / "run")


def test_it_is_shown_as_a_table_and_as_csv_and_a_page_and_its_text_have_the_same_facts(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", str(run)]) == 0
    shown = capsys.readouterr().out
    assert "standard deviation" in shown
    assert "difference of proportions" in shown
    *titles, last = (section.heading for section in run_page(run).sections)
    (described,) = (title for title in titles if title.startswith("Description"))
    assert "weights" not in shown.split(last)[0].split(described)[1]
    assert main(["show", str(run), "--csv", str(tmp_path / "table.csv")]) == 0
    with (tmp_path / "table.csv").open() as file:
        rows = list(csv.DictReader(file))
    release = verify_release(run).release
    expected = list(release.description.table())
    assert [row["column"] for row in rows] == [row.column for row in expected]
    assert [float(row["low"]) for row in rows] == [row.found.low for row in expected if row.found]
    assert main(["show", str(run), "--html", str(tmp_path / "page.html")]) == 0
    assert main(["show", str(run), "--csv", str(tmp_path / "t.csv"), "--details"]) == 2
    page = run_page(run)
    assert unsaid(page, (*page.notices, *page.sections)) == set()


def test_the_methods_section_states_the_guarantee_and_what_intervals_cover(run: Path) -> None:
    release = verify_release(run).release
    said = " ".join(text for block in methods_section(release, at_sites=False) for text in texts(block))
    summary = release.agreement.terms.summary(release.agreement.spec, 3)
    needed, suites = (part.rstrip(".").split("; ") for part in (summary.needs, summary.rests_on))
    for part in (release.agreement.statement.figures, summary.holds_against, *needed, *suites, COVERS_ROWS):
        assert part in said
    assert next(methods_section(release, at_sites=True)) != next(methods_section(release, at_sites=False))
    assert not [*methods_section(replace(release, insecure=("a seed",)), at_sites=False)]


# Groups.


def tables(block: PageBlock) -> tuple[tuple[str, ...], ...]:
    return block.rows if isinstance(block, PageTable) else ()


def test_table_one_has_a_column_for_each_group(run: Path) -> None:
    release = verify_release(run).release
    (block,) = table_one(release.description, release.bounds).blocks
    women = release.description.groups[0]
    assert block.headings[2] == f"sex f (n = {women.rows.estimate:,.0f})"
    found = {(row.column, row.level, row.figure): row.found for row in women.figures}
    rows = {name: cells for name, *cells in block.rows}
    of_ill, of_age = ("count", "proportion"), ("mean", "standard deviation")
    ill, share, mean, deviation = *(found["ill", "yes", x] for x in of_ill), *(found["age", "", x] for x in of_age)
    assert ill and share and mean and deviation  # noqa: PT018
    assert rows["ill yes, n (%)"][1] == f"{ill.estimate:,.0f} ({100 * share.estimate:.1f})"
    assert rows["age, mean (SD)"][1] == f"{mean.estimate:.1f} ({deviation.estimate:.1f})"
    every = {(row.column, row.level, row.figure): row.found for row in release.description.table() if not row.group}
    ill, mean, deviation = every["ill", "yes", "count"], *(every["age", "", x] for x in of_age)
    assert ill and mean and deviation  # noqa: PT018
    assert rows["ill yes, n (%)"][0] == f"{ill.estimate:,.0f} ({100 * ill.estimate / release.description.rows:.1f})"
    assert rows["age, mean (SD)"][0] == f"{mean.estimate:.1f} ({deviation.estimate:.1f})"
    assert all(cell.count(" to ") == 1 for cell in rows["lab, median (quartiles)"])
    assert rows["sex f, n (%)"][1:] == ["", ""]
    assert "bmi empty, n (%)" in rows
    assert rows["seen, mean (SD)"][2].startswith("2020-0")
    assert all(len(cells) == 3 for cells in rows.values())


@pytest.mark.parametrize(
    ("found", "rows", "cells"),
    [
        (-31.2, "0", ("0 (0.0)", "0.0 (30.0)", "2020-01-01 (30 days)")),
        (100.6, "101", ("101 (100.0)", "100.6 (30.0)", "2020-04-11 (30 days)")),
        (
            9e9,
            f"{sum(SIZES.values()):,}",
            (f"{sum(SIZES.values()):,} (100.0)", "120.0 (30.0)", "2020-12-31 (30 days)"),
        ),
    ],
)
def test_table_one_has_whole_days_and_possible_figures(
    found: float, rows: str, cells: tuple[str, ...], run: Path
) -> None:
    release = verify_release(run).release
    women = release.description.groups[0]
    noisy = Estimate(found, found - 1, found + 1)
    figures = tuple(
        replace(row, found=Estimate(30.0, 29.0, 31.0) if row.figure.startswith("standard deviation") else noisy)
        for row in women.figures
    )
    groups = (replace(women, rows=noisy, figures=figures), *release.description.groups[1:])
    (block, *_) = table_one(replace(release.description, groups=groups), release.bounds).blocks
    printed = {name: women for name, _, women, _ in block.rows}
    assert block.headings[2] == f"sex f (n = {rows})"
    assert tuple(printed[name] for name in ("ill yes, n (%)", "age, mean (SD)", "seen, mean (SD)")) == cells


def test_a_deviation_that_noise_hides_has_an_interval_alone(files: Path, tmp_path: Path) -> None:
    """No 0 stands in the table, in Table 1 or in the files, as a reader would believe it."""
    report = described(files, tmp_path / "run", by="sex", epsilon=0.05, insecure_seed=2)
    found = {(row.group, row.column, row.figure): row.found for row in report.described.table()}
    hidden = [key for key, one in found.items() if one is not None and one.hidden]
    assert hidden
    assert {figure.partition(",")[0] for _, _, figure in hidden} == {"standard deviation"}
    stated = {(row[0], row[1], row[3]): row[4:] for row in read_figures(tmp_path / "run").rows}
    for key in hidden:
        one = found[key]
        assert one.low == 0 < one.high
        assert stated[key] == (None, 0.0, one.high)
    printed = [row for block in description_blocks(report.described, report.agreement.bounds) for row in tables(block)]
    assert sum(HIDDEN in row for row in printed) == len(hidden)
    (block, *_) = table_one(report.described, report.agreement.bounds).blocks
    assert sum(cell.endswith(f"({HIDDEN})") for row in tables(block) for cell in row) == len(hidden)


def test_an_audit_with_views_passes_and_what_is_released_names_groups_and_tables(files: Path, run: Path) -> None:
    release = verify_release(run).release
    said = release.agreement.method.figures
    assert "sex" in said
    assert "lab*ill" in said
    report = audit_run(run, views=files / "views")
    assert report.passed
    codes = {finding.outcome.code for finding in report.findings}
    assert {"release.describes_published_sum", "mechanism.shared_holds", "models.shared_hold"} <= codes
    (fact,) = (fact.fact for fact in report.assessment if fact.topic == "Computation")
    assert said in fact
    (prose, *_) = (block.text for block in methods_section(release, at_sites=False) if isinstance(block, Prose))
    assert said[1:] in prose
    assert "quartiles" in prose  # of the bins of a column


def test_groups_are_those_of_the_parties_that_stayed(files: Path, tmp_path: Path) -> None:
    report = described(files, tmp_path / "run", by="sex", dropouts=1, colluders=0, drop_out={"west": 5})
    assert (report.described.rows, report.described.parties) == (SIZES["north"] + SIZES["south"], 2)
    one, other = (group.rows for group in report.described.groups)
    assert abs(one.estimate + other.estimate - report.described.rows) < 2 * (one.high - one.low)
    assert audit_run(tmp_path / "run").passed


def test_groups_that_there_are_not_are_refused_before_a_message(files: Path, tmp_path: Path) -> None:
    for by, code in (("ward", "describe.no_such_column"), ("bmi", "describe.column_of_numbers")):
        with refused(code):
            described(files, tmp_path / "run", by=by)
    assert not (tmp_path / "run").exists()


# Bounds without a label.


@pytest.fixture(scope="module")
def unlabelled(files: Path) -> Path:
    path = files / "unlabelled.toml"
    path.write_text(BOUNDS.replace('[label]\ncolumn = "ill"\nclasses = ["no", "yes"]\n', ""))
    return path


def parties(files: Path) -> list[str]:
    return [word for name in SIZES for word in ("--party", f"{name}={files / name}.csv")]


def test_a_run_needs_no_label(
    files: Path, unlabelled: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bounds = ["--bounds", str(unlabelled)]
    assert main(["run", "--method", "describe", *parties(files), *bounds, "--out", str(tmp_path / "run")]) == 0
    release = verify_release(tmp_path / "run").release
    assert [column.name for column in release.description.columns] == HEADER[:-1]
    assert release.description.rows == sum(SIZES.values())
    assert release.bounds == read_bounds(unlabelled).whole
    document = json.loads((tmp_path / "run" / "release.json").read_text())
    assert (document["classes"], document["parameters"]["label"]) == ([], None)
    assert audit_run(tmp_path / "run").passed
    for more in ([], ["--details"], ["--html", str(tmp_path / "page.html")], ["--csv", str(tmp_path / "t.csv")]):
        assert main(["show", str(tmp_path / "run"), *more]) == 0
    assert main(["audit", str(tmp_path / "run"), "--report", str(tmp_path / "audit.html")]) == 0
    for page in ("page.html", "audit.html"):
        assert "None" not in (tmp_path / page).read_text()
    assert "None" not in capsys.readouterr().out


def test_what_learns_a_model_refuses_them_before_it_reads_a_row(files: Path, unlabelled: Path, tmp_path: Path) -> None:
    bounds = read_bounds(unlabelled)
    absent = {"north": tmp_path / "no.csv", "south": tmp_path / "nowhere.csv"}
    for method in ("newton", "logistic", "prr_mean"):
        with refused("bounds.without_label"):
            run_protocol(absent, method=method, bounds=bounds, out=tmp_path / "run")
    with refused("bounds.without_label"):
        plan([100, 100], bounds=bounds)
    with refused("bounds.without_label"):
        SecureSumClassifier("newton", bounds=bounds).fit(pd.DataFrame({"age": [1.0]}), [1], parties=["a"])
    rows = Rows(np.zeros((5, bounds.dimension - 1)), np.zeros(5, dtype=np.int64))
    with refused("bounds.without_label"):
        run_protocol(Federation((rows, rows), 2), method="newton", bounds=replace(bounds, bias=0.0), out=tmp_path / "r")
    given = [*parties(files), "--bounds", str(unlabelled)]
    assert main(["run", *given, "--out", str(tmp_path / "run")]) == 2
    assert not (tmp_path / "run").exists()
    with refused("classes.of_no_label"):
        Bounds(bounds.columns, label="ill")
    with refused("classes.of_no_label"):
        run_protocol({name: files / f"{name}.csv" for name in SIZES}, method="describe", bounds=unlabelled, label="ill")


def test_a_file_is_checked_without_a_label(files: Path, unlabelled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bounds = ["--bounds", str(unlabelled)]
    assert main(["bounds", "check", *bounds]) == 0
    assert main(["bounds", "check", *bounds, "--json"]) == 0
    capsys.readouterr()
    assert main(["bounds", "check", str(files / "north.csv"), *bounds, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["rows"], found["classes"]) == (SIZES["north"], None)
    assert main(["bounds", "check", str(files / "north.csv"), *bounds]) == 0


def test_a_command_names_groups_and_a_study_agrees_on_them(
    files: Path, unlabelled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    own = [*parties(files), "--bounds", str(files / "bounds.toml")]
    assert main(["run", "--method", "describe", "--by", "ill", *own, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["description"]
    assert [one["group"] for one in found["groups"]] == ["no", "yes"]
    assert main(["run", "--method", "newton", "--by", "ill", *own]) == 2
    for name in (*SIZES, "charlie"):
        assert main(["identities", "new", name]) == 0
    keys = [word for name in SIZES for word in ("--party", f"{name}.pub")]
    around = ["--title", "T", "--purpose", "research", "--relay", "nats://relay.example:4222"]
    new = ["study", "new", *keys, "--curator", "charlie.pub", "--bounds", str(unlabelled), *around]
    assert main([*new, "--method", "newton", "--out", "other.toml"]) == 2
    new += ["--method", "describe"]
    assert main([*new, "--by", "ward", "--out", "other.toml"]) == 2
    assert main([*new, "--tables", "sex*lab", "--out", "study.toml"]) == 0
    study = JointStudy.read(Path("study.toml"))
    assert (study.bounds.has_label, study.method.given()) == (False, {"tables": "sex*lab"})
    assert main(["study", "show", "study.toml"]) == 0
    assert main(["run", "--study", "study.toml", "--out", "made-up"]) == 0
    assert main(["run", "--study", "study.toml", *parties(files), "--out", "rehearsed"]) == 0
    assert audit_run("rehearsed").passed
