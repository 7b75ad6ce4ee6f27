"""The main job: two releases of the same hospitals, one table, one bill."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.clear import in_the_clear

from smc_dp.cli.main import main
from smc_dp.core.documents import validate_document
from smc_dp.core.errors import InputError
from smc_dp.data import sources
from smc_dp.data.partition import split_ordered
from smc_dp.privacy.ledger import export
from smc_dp.privacy.ledger.history import RECORDS
from smc_dp.run.agreement import default_method
from smc_dp.run.ledgers import KEPT, REFUNDED
from smc_dp.run.main_job import computed_by, is_main_job, prepare_both
from smc_dp.run.protocols import execution
from smc_dp.run.settings import RunRequest

BOTH = ("prr_mean", "newton")
HOSPITALS = [f"hospital-{j}" for j in range(1, 6)]
BOOKS = ("--ledgers", "books", "--budget", "3", "--budget-delta", "1e-4")
Session = Callable[..., Any]


@pytest.fixture(autouse=True)
def by_functionality(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The curator protocol is computed by its ideal functionality, which takes no seconds; secure sums really run."""
    real = execution.run_session

    def run(functionality: Any, parts: Any, opened: Any, **rest: Any) -> Any:
        chosen: Session = in_the_clear if opened.session.program.name == "pathak2010" else real
        return chosen(functionality, parts, opened, **rest)

    monkeypatch.setattr(execution, "run_session", run)
    monkeypatch.chdir(tmp_path)


def charges() -> list[int]:
    """How many runs each hospital's ledger is charged for."""
    histories = [export.read_history(Path("books") / f"{name}.ledger") for name in HOSPITALS]
    return [sum(map(len, history.charged.values())) for history in histories]


def spent() -> set[float]:
    """What the accounts of the hospitals come to."""
    totals = [export.read_history(Path("books") / f"{name}.ledger").standing(RECORDS).total for name in HOSPITALS]
    return {float(total.epsilon) for total in totals if total is not None}


def test_two_releases_one_table_and_what_both_cost(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--out", "runs"]) == 0
    said = capsys.readouterr().out
    table = dict(re.findall(r"^(\S.*?) {2,}(0\.\d{3})$", said.partition("Accuracy of the models")[0], re.MULTILINE))
    together = [f"together by {how}" for how in ("the paper's protocol (prr_mean)", "secure sums (newton)")]
    wanted = [*(f"{name} alone" for name in HOSPITALS), "each alone, mean", *together]
    *named, pooled, majority = table
    assert (named, "pooled" in pooled, majority) == (wanted, True, "majority class")
    accuracy = {name: float(value) for name, value in table.items()}
    assert accuracy["hospital-5 alone"] < accuracy[together[1]]  # its patients are of one kind; noise is drawn anew
    assert accuracy["hospital-5 alone"] < accuracy["majority class"] + 0.05
    assert accuracy["majority class"] == pytest.approx(77 / 114, abs=0.001)  # of the test rows, by hand
    assert "Both releases together cost epsilon 2 and delta 1e-05" in said
    assert [said.count(f"Privacy of {name}, ") for name in BOTH] == [1, 1]
    methods = [json.loads(Path("runs", name, "release.json").read_text())["parameters"]["method"] for name in BOTH]
    assert methods == [*BOTH]


def test_json_is_one_document_with_both_reports(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--out", "runs", "--json", "--epsilon", "0.12345678", "--delta", "1e-6"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [run["method"] for run in found["runs"].values()] == list(found["runs"]) == [*BOTH]
    assert [run["privacy"]["epsilon"] for run in found["runs"].values()] == [0.12345678] * 2
    assert found["together"] == {"epsilon": 0.24691356, "delta": found["runs"]["newton"]["privacy"]["delta"]}
    assert found["together"]["delta"] == pytest.approx(1e-6)


def test_a_seed_marks_both_and_nothing_is_guaranteed_together(capsys: pytest.CaptureFixture[str]) -> None:
    """Views and a topology are of both runs, too."""
    asked = ["--insecure-seed", "5", "--record-views", "views", "--topology", "star"]
    assert main(["run", "--out", "runs", *asked, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["together"] is None
    assert {run["privacy"]["kind"] for run in found["runs"].values()} == {"none"}
    stated = [json.loads(Path("runs", name, "release.json").read_text())["parameters"]["topology"] for name in BOTH]
    assert stated == ["star", "star"]
    assert all(Path("views", name).is_dir() for name in BOTH)
    assert any(Path("views", "newton").iterdir())  # the other one is computed without participants here


def test_every_hospital_is_charged_for_both_before_the_first_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    during, real = [], execution.run_session

    def run(*given: Any, **rest: Any) -> Any:
        during.append(charges())
        return real(*given, **rest)

    monkeypatch.setattr(execution, "run_session", run)
    assert main(["run", "--out", "runs", *BOOKS]) == 0
    assert during == [[2] * 5, [2] * 5]
    assert charges() == [2] * 5


@pytest.mark.parametrize(("failing", "left"), [("pathak2010", 0), ("secure_sum", 1)])
def test_who_has_not_begun_is_refunded(
    failing: str, left: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real = execution.run_session

    def run(functionality: Any, parts: Any, opened: Any, **rest: Any) -> Any:
        if opened.session.program.name == failing:
            raise InputError("party.twice")
        return real(functionality, parts, opened, **rest)

    monkeypatch.setattr(execution, "run_session", run)
    assert main(["run", "--out", "runs", *BOOKS]) == 2
    assert charges() == [left] * 5
    assert spent() == {float(left)}
    told = capsys.readouterr()
    assert "alone" not in told.out
    own, newton = f"; {REFUNDED}", f"; runs/newton had not begun: {REFUNDED}"
    assert told.err.count(own) == 1  # of the run that stopped; the other has its name in the note
    assert (newton in told.err) == (failing == "pathak2010")
    assert ("runs/prr_mean was made before" in told.err) == Path("runs/prr_mean").exists() == bool(left)


def test_a_budget_for_one_of_them_alone_starts_neither(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--out", "runs", *BOOKS[:3], "1.5", *BOOKS[4:], "--json"]) == 2
    told = capsys.readouterr()
    assert json.loads(told.out)["error"]["code"] == "budget.passed"
    assert "need epsilon 2 and delta 0.00001;" in told.err  # by both, where the refused charge is that of one
    assert charges() == [0] * 5
    assert not Path("runs").exists()


@pytest.mark.parametrize(
    ("sections", "both"),
    [
        ({}, True),
        ({"target": {"epsilon": "2", "delta": "1/1000000"}}, True),
        ({"data": {"parties": 3}, "simulation": {"link": "lan"}}, True),
        ({"data": {"dataset": "digits"}}, False),
        ({"data": {"party": ["a.csv", "b.csv"], "bounds": Path("b.toml")}}, False),
        ({"data": {"study": Path("study.toml")}}, False),
        ({"method": {"name": "newton"}}, False),
        ({"method": {"lambda": "1"}}, False),
        ({"protocol": {"colluders": 2}}, False),
        ({"protocol": {"name": "linear"}}, False),
        ({"target": {"noise": "laplace"}}, False),
    ],
)
def test_it_is_the_run_that_names_neither_rows_nor_a_method(sections: dict[str, Any], both: bool) -> None:
    assert is_main_job(validate_document(RunRequest, sections, "options")) is both


@pytest.mark.parametrize(
    ("protocol", "settings", "of_protocol", "as_published", "method"),
    [
        (None, (), (), False, "newton"),
        ("secure_sum", (), (), False, "newton"),
        ("linear", (), (), False, "prr_mean"),
        (None, ("lambda",), (), False, "newton"),  # which refuses it: of many methods it chooses none
        ("linear", ("lambda",), (), False, "prr_mean"),
        (None, ("lambda",), ("colluders",), False, "newton"),
        (None, ("rounds",), (), False, "newton"),
        (None, ("rows",), (), False, "gd"),
        (None, ("clip",), ("colluders",), False, "avg_clip"),
        (None, ("clip",), ("key_bits",), False, "newton"),
        (None, (), ("key_bits",), False, "prr_mean"),
        (None, (), (), True, "prr_mean"),
    ],
)
def test_a_method_follows_from_the_settings_that_only_it_has(
    protocol: str | None, settings: tuple[str, ...], of_protocol: tuple[str, ...], as_published: bool, method: str
) -> None:
    assert default_method(protocol, settings, of_protocol, as_published=as_published) == method


def test_an_error_after_which_nobody_knows_does_not_speak_for_the_other_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*given: Any, **rest: Any) -> Any:
        raise RuntimeError

    monkeypatch.setattr(execution, "run_session", run)
    with pytest.raises(RuntimeError) as stopped:
        main(["run", "--out", "runs", *BOOKS])
    kept, refunded = stopped.value.__notes__
    assert kept == KEPT
    assert refunded == "runs/newton had not begun: nothing was revealed, and no budget charged"
    assert charges() == [1] * 5


@pytest.mark.parametrize(
    "option",
    [
        ("--test", "a.csv"), ("--bounds", "b.toml"), ("--label", "x"), ("--parties-by", "x"), ("--auxiliary", "5"),
        ("--drop-out", "hospital-1:x"), ("--insecure-test-keys",), ("--budget", "1"),
    ],
)  # fmt: skip
def test_an_option_that_the_main_job_does_not_have_is_refused(option: tuple[str, ...]) -> None:
    assert main(["run", "--out", "runs", *option]) == 2
    assert not Path("runs").exists()


def test_hospitals_see_different_patients_unless_somebody_says_how_rows_are_dealt() -> None:
    def areas(data: sources.PreparedData) -> list[tuple[float, float]]:
        cells = [np.asarray(table.columns["mean area"], float) for table in data.tables.values()]
        return [(own.min(), own.max()) for own in cells]

    by_size, at_random = areas(sources.dataset("breast_cancer")), areas(sources.dataset("breast_cancer", parties=5))
    assert all(one[1] <= other[0] for one, other in itertools.pairwise(by_size))
    assert not any(one[1] <= other[0] for one, other in itertools.pairwise(at_random))
    assert [part.tolist() for part in split_ordered(np.array([3.0, 1.0, 2.0, 1.0, 0.0]), 2)] == [[1, 3, 4], [0, 2]]


def test_the_rows_of_both_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read, real = [], sources.dataset
    monkeypatch.setattr(sources, "dataset", lambda *given, **named: read.append(given) or real(*given, **named))
    data, agreed = prepare_both(validate_document(RunRequest, {}, "options"))
    assert len(read) == 1
    assert [agreement.parties for agreement in agreed] == [data.federation.names] * 2
    assert [computed_by(agreement) for agreement in agreed] == ["the paper's protocol", "secure sums"]
    many = validate_document(RunRequest, {"data": {"parties": 20}}, "options")  # of which the paper's takes too long
    assert [computed_by(agreement) for agreement in prepare_both(many)[1]] == ["the linear path", "secure sums"]
