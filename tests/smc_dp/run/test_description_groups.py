"""A run that describes groups of rows: agreed on, released, verified, audited, and shown."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from smc_dp import audit_run
from smc_dp.cli.main import main
from smc_dp.deploy.study import JointStudy
from smc_dp.methods.statistics import describe
from smc_dp.methods.statistics.estimate import Estimate
from smc_dp.methods.statistics.sum_blocks import record_reach
from smc_dp.pages.blocks import PageBlock, PageTable, Prose
from smc_dp.privacy.distributed.moments import RecordReach
from smc_dp.run.description_table import description_blocks
from smc_dp.run.figures import read_figures
from smc_dp.run.methods_section import methods_section
from smc_dp.run.table_one import HIDDEN, table_one
from smc_dp.run.verify_release import verify_release
from tests.smc_dp.run.test_description import SIZES, cells, described, edited, write_files
from tests.support.refusals import refused


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_files(tmp_path_factory.mktemp("groups"))


@pytest.fixture(scope="module")
def run(files: Path) -> Path:
    """A run by sex, with the views beside it."""
    described(files, files / "run", views=files / "views", by="sex", tables="lab*ill", epsilon=4)
    return files / "run"


def tables(block: PageBlock) -> tuple[tuple[str, ...], ...]:
    return block.rows if isinstance(block, PageTable) else ()


def test_the_release_describes_each_group(files: Path, run: Path) -> None:
    release = verify_release(run).release
    assert release.description is not None
    assert release.parameters["by"] == release.description.by == "sex"
    found = {(row.group, row.column, row.level, row.figure): row.found for row in release.description.table()}
    for sex in ("f", "m"):
        one = found[sex, "sex", sex, "count"]
        assert one is not None
        assert abs(one.estimate - cells(files, "sex").count(sex)) < 3 * (one.high - one.low)
    assert found["m", "seen", "", "difference of means, days"] is not None
    assert ("f", "age", "", "difference of means") not in found


def test_table_one_has_a_column_for_each_group(run: Path) -> None:
    release = verify_release(run).release
    assert release.description is not None
    (block,) = table_one(release.description, release.bounds).blocks
    assert isinstance(block, PageTable)
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
    assert release.description is not None
    women = release.description.groups[0]
    noisy = Estimate(found, found - 1, found + 1)
    figures = tuple(
        replace(row, found=Estimate(30.0, 29.0, 31.0) if row.figure.startswith("standard deviation") else noisy)
        for row in women.figures
    )
    groups = (replace(women, rows=noisy, figures=figures), *release.description.groups[1:])
    (block, *_) = table_one(replace(release.description, groups=groups), release.bounds).blocks
    assert isinstance(block, PageTable)
    printed = {name: women for name, _, women, _ in block.rows}
    assert block.headings[2] == f"sex f (n = {rows})"
    assert tuple(printed[name] for name in ("ill yes, n (%)", "age, mean (SD)", "seen, mean (SD)")) == cells


def test_a_deviation_that_noise_hides_has_an_interval_alone(files: Path, tmp_path: Path) -> None:
    """No 0 stands in the table, in Table 1 or in the files, as a reader would believe it."""
    report = described(files, tmp_path / "run", by="sex", epsilon=0.05, insecure_seed=2)
    assert report.described is not None
    found = {(row.group, row.column, row.figure): row.found for row in report.described.table()}
    hidden = [key for key, one in found.items() if one is not None and one.hidden]
    assert hidden
    assert {figure.partition(",")[0] for _, _, figure in hidden} == {"standard deviation"}
    stated = {(row[0], row[1], row[3]): row[4:] for row in read_figures(tmp_path / "run").rows}
    for key in hidden:
        one = found[key]
        assert one is not None
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
    assert report.described is not None
    assert (report.described.rows, report.described.parties) == (SIZES["north"] + SIZES["south"], 2)
    one, other = (group.rows for group in report.described.groups)
    assert abs(one.estimate + other.estimate - report.described.rows) < 2 * (one.high - one.low)
    assert audit_run(tmp_path / "run").passed


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda d: d["parameters"].update(by="ill", tables="lab*sex"), "description.other_figures"),
        (lambda d: d["parameters"].update(by="lab", tables="sex*ill"), "description.other_length"),
        (lambda d: d["parameters"].update(by="age"), "describe.column_of_numbers"),
        (lambda d: d["parameters"].update(by="ward"), "describe.no_such_column"),
        (lambda d: d["parameters"].update(by=""), "text.not_one_line"),
        (lambda d: d["parameters"].update(tables="ill*lab"), "description.other_figures"),
        (lambda d: d["parameters"].update(tables="lab*sex"), "describe.no_pair"),
        (lambda d: d["description"]["tables"][0]["cells"][0][0].update(high=1e6), "description.other_figures"),
        (lambda d: d["description"]["columns"]["lab"]["quantiles"].pop("median"), "description.other_figures"),
        (lambda d: d["description"].update(by="ill"), "description.other_figures"),
        (lambda d: d["description"]["groups"][1]["figures"][-1].update(low=0.0), "description.other_figures"),
    ],
)
def test_other_groups_than_those_of_the_session_are_refused(
    change: Callable[[dict[str, Any]], None], code: str, run: Path, tmp_path: Path
) -> None:
    with refused(code):
        verify_release(edited(run, tmp_path / "run", change))
    assert not audit_run(tmp_path / "run").passed


def test_an_audit_counts_the_tables_by_itself(files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The broken twin: tables reach nowhere."""
    monkeypatch.setattr(
        describe, "record_reach", lambda blocks: record_reach([one for one in blocks if one.groups is None])
    )
    described(files, tmp_path / "run", tables="lab*ill")
    codes = {finding.outcome.code for finding in audit_run(tmp_path / "run").findings}
    assert "noise.sensitivity" in codes


def test_an_audit_computes_the_reach_of_groups_by_itself(
    files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The broken twin: numbers of two groups reach as far as those of one."""
    found = RecordReach.sensitivity.fget  # type: ignore[attr-defined]  a property has one
    of_one = property(lambda self: found(RecordReach(self.levels, self.numbers + self.grouped, self.gaps)))
    monkeypatch.setattr(RecordReach, "sensitivity", of_one)
    described(files, tmp_path / "run", by="sex")
    codes = {finding.outcome.code for finding in audit_run(tmp_path / "run").findings}
    assert "noise.sensitivity" in codes


def test_groups_that_there_are_not_are_refused_before_a_message(files: Path, tmp_path: Path) -> None:
    for by, code in (("ward", "describe.no_such_column"), ("bmi", "describe.column_of_numbers")):
        with refused(code):
            described(files, tmp_path / "run", by=by)
    assert not (tmp_path / "run").exists()


def test_a_command_names_the_groups_and_a_study_agrees_on_them(
    files: Path, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    parties = [word for name in SIZES for word in ("--party", f"{name}={files / name}.csv")]
    bounds = ["--bounds", str(files / "bounds.toml")]
    assert main(["run", "--method", "describe", "--by", "ill", *parties, *bounds, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["description"]
    assert [one["group"] for one in found["groups"]] == ["no", "yes"]
    assert main(["run", "--method", "newton", "--by", "ill", *parties, *bounds]) == 2
    for name in (*SIZES, "charlie"):
        assert main(["identities", "new", name]) == 0
    keys = [word for name in SIZES for word in ("--party", f"{name}.pub")]
    around = ["--title", "T", "--purpose", "research", "--relay", "nats://relay.example:4222"]
    new = ["study", "new", "--method", "describe", *keys, "--curator", "charlie.pub", *bounds, *around]
    assert main([*new, "--by", "ward", "--out", "other.toml"]) == 2
    assert main([*new, "--by", "sex", "--tables", "ill*lab", "--out", "study.toml"]) == 0
    assert 'by = "sex"' in Path("study.toml").read_text()
    assert JointStudy.read(Path("study.toml")).method.given() == {"by": "sex", "tables": "ill*lab"}
    assert main(["run", "--study", "study.toml", *parties, "--out", "rehearsed"]) == 0
    assert audit_run("rehearsed").passed
    assert main(["show", str(run), "--html", "page.html"]) == 0
    assert main(["show", str(run)]) == 0
    assert "difference of proportions" in capsys.readouterr().out
