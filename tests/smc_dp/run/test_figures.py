"""Figures of a description and of coefficients as a paper and other programs take them."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.same_facts import texts, unsaid

from smc_dp.cli.main import main
from smc_dp.pages.blocks import Prose
from smc_dp.run.coefficient_intervals_table import what_intervals_cover
from smc_dp.run.description_table import COVERS_ROWS
from smc_dp.run.figures import read_figures
from smc_dp.run.methods_section import methods_section
from smc_dp.run.release import RELEASE
from smc_dp.run.release_report import run_page
from smc_dp.run.verify_release import verify_release
from tests.smc_dp.run import test_description, test_logistic_run
from tests.support.refusals import refused


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run of a description."""
    folder = test_description.write_files(tmp_path_factory.mktemp("table"))
    test_description.described(folder, folder / "run")
    return folder / "run"


@pytest.fixture(scope="module")
def odds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with intervals."""
    folder = test_logistic_run.write_files(tmp_path_factory.mktemp("odds"))
    test_logistic_run.run(folder, folder / "run")
    return folder / "run"


@pytest.mark.parametrize("method", ["table", "odds"])
def test_the_page_and_its_text_have_the_same_facts(method: str, request: pytest.FixtureRequest) -> None:
    page = run_page(request.getfixturevalue(method))
    assert unsaid(page, (*page.notices, *page.sections)) == set()


def test_the_methods_section_states_the_guarantee_and_what_intervals_cover(table: Path) -> None:
    release = verify_release(table).release
    said = " ".join(text for block in methods_section(release, at_sites=False) for text in texts(block))
    summary = release.agreement.terms.summary(release.agreement.spec, 3)
    needed, suites = (part.rstrip(".").split("; ") for part in (summary.needs, summary.rests_on))
    for part in (release.agreement.statement.figures, summary.holds_against, *needed, *suites, COVERS_ROWS):
        assert part in said
    assert next(methods_section(release, at_sites=True)) != next(methods_section(release, at_sites=False))
    assert not [*methods_section(replace(release, insecure=("a seed",)), at_sites=False)]


def test_the_methods_section_states_intervals_only_where_there_are_some(odds: Path) -> None:
    release = verify_release(odds).release
    assert release.inference is not None
    (said, _) = (block for block in methods_section(release, at_sites=True) if isinstance(block, Prose))
    assert what_intervals_cover(release.bounds) in said.text
    assert release.agreement.statement.figures in said.text
    kept_back = replace(release, inference={**release.inference, "obstacles": ["collinear"]})
    (said, _) = (block for block in methods_section(kept_back, at_sites=True) if isinstance(block, Prose))
    assert what_intervals_cover(release.bounds) not in said.text
    assert not [*methods_section(replace(release, inference=None), at_sites=True)]


def test_other_programs_get_the_figures_as_csv_and_json(
    odds: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    terms = test_logistic_run.stated(odds)["inference"]["terms"]
    assert main(["show", str(odds), "--json", "--per", "age=10"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["method"], found["obstacles"], found["not_verified"]) == ("logistic", [], [])
    assert [(f["column"], f["cell"], f["p_value"]) for f in found["figures"]] == [
        (t["column"], t["cell"], t["p_value"]) for t in terms
    ]
    intercept, *others = found["figures"]
    assert intercept["p_value_holm"] is None
    assert all(f["p_value"] <= f["p_value_holm"] <= 1 for f in others)
    age = found["figures"][1]
    assert (age["units"], age["high"]) == (10, pytest.approx(10 * terms[1]["high"]))
    assert age["odds_low"] == pytest.approx(np.exp(10 * terms[1]["low"]))
    assert main(["show", str(odds), "--csv", str(tmp_path / "odds.csv")]) == 0
    with (tmp_path / "odds.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [float(row["standard_error"]) for row in rows] == [term["standard_error"] for term in terms]
    assert [row["reference"] for row in rows] == ["", "", "a", "a", "[10, 25)", "[10, 25)", "", ""]
    assert main(["show", str(odds), "--json", "--csv", str(tmp_path / "two.csv")]) == 2


def test_figures_without_a_transcript_say_so(odds: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / RELEASE).write_bytes((odds / RELEASE).read_bytes())
    assert main(["show", str(tmp_path), "--json"]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["not_verified"] == ["transcript.jsonl"]
    assert printed.err.startswith("not verified against the transcript: ")


def test_units_of_no_column_of_numbers_are_refused(odds: Path) -> None:
    with refused("units.no_such_column", column="'ward'"):
        read_figures(odds, {"age": 2.0, "ward": 2.0})
