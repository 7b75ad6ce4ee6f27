"""Walkthroughs of run folders: values of views, refused where they do not fit, and a name that says SECRET."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.audited import Folders, charged_run
from support.lectures import steps_on
from support.modes import public_mode

from protocols.errors import Fault, FaultError
from protocols.programs import PROTOCOLS
from smc_dp.attacks.attack import AttackResult
from smc_dp.cli import main as main_module
from smc_dp.cli.main import main
from smc_dp.pages.blocks import Page, PageTable
from smc_dp.pages.html import html
from smc_dp.walkthrough import attacks_on, build, values
from smc_dp.walkthrough.report import DRY_RUN_NOTICE
from tests.support.refusals import refused


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    return charged_run(tmp_path_factory.mktemp("charged"))


def test_a_run_with_views_of_all_and_of_one(run: Folders, tmp_path: Path) -> None:
    made = build.walkthrough_of_run(run.run, run.views)
    whole = html(made)
    assert "SECRET" in made.on_every_sheet
    assert DRY_RUN_NOTICE not in whole
    assert values.UNKNOWN not in whole
    assert len(steps_on(made)) > 4
    assert "In the knowledge, P1 stands for north-0, P2 stands for north-1" in whole
    brought = next(b for section in made.sections for b in section.blocks if isinstance(b, PageTable))
    assert not [cell for row in brought.rows for cell in row[1:] if len(cell) < 9 or cell in repr(made)]
    one = tmp_path / "views"
    one.mkdir()
    shutil.copy(run.views / "1.view", one)
    assert values.UNKNOWN in html(build.walkthrough_of_run(run.run, one))


def test_the_page_of_views_is_for_its_owner_alone_and_that_of_a_toy_run_for_everybody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("walkthrough_of_run", "walkthrough_of_protocol"):
        monkeypatch.setattr(build, name, lambda *a, **k: Page("A lecture", ()))
    secret, toy = tmp_path / "SECRET.html", tmp_path / "toy.html"
    assert main(["lab", "walkthrough", "run", "--views", "views", "--out", str(secret)]) == 0
    assert main(["lab", "walkthrough", "--protocol", "secure_sum", "--out", str(toy)]) == 0
    assert [path.stat().st_mode & 0o777 for path in (secret, toy)] == [0o600, public_mode()]


def test_the_usual_parties_let_one_collude_with_charlie_where_anyone_may() -> None:
    usual = {name: build.usual_parties(PROTOCOLS[name]) for name in ("pathak2010", "linear", "secure_sum")}
    assert usual == {"pathak2010": 2, "linear": 3, "secure_sum": 4}
    assert PROTOCOLS["secure_sum"].model.sample(usual["secure_sum"]).colluders == 1


def test_views_of_another_run_are_refused(run: Folders, tmp_path: Path) -> None:
    other = charged_run(tmp_path)
    with refused("view.of_another_session"):
        build.walkthrough_of_run(run.run, other.views)


def test_a_view_that_does_not_fit_the_record_is_refused(run: Folders, tmp_path: Path) -> None:
    lines = (run.run / "transcript.jsonl").read_text().splitlines(keepends=True)
    shorter = tmp_path / "run"
    shutil.copytree(run.run, shorter)
    at = next(i for i, line in enumerate(lines) if '"kind":"Ready"' in line)
    (shorter / "transcript.jsonl").write_text("".join(lines[:at] + lines[at + 1 :]))
    with refused("view.more_mail"):
        build.walkthrough_of_run(shorter, run.views)


@pytest.mark.parametrize(
    ("arguments", "code", "fields"),
    [
        ([], "options.no_walkthrough_subject", {"got": "neither"}),
        (["--protocol", "comparison", "--out", "{out}"], "options.bits_have_no_walkthrough", {"name": "comparison"}),
        (["--protocol", "nothing", "--out", "{out}"], "option.not_one_of", {"option": "--protocol"}),
        (["--protocol", "linear"], "options.no_page_name", {}),
        (["--protocol", "linear", "--out", "{there}"], "option.file_exists", {}),
        (
            ["--protocol", "linear", "--parties", "6", "--out", "{out}"],
            "parties.too_few_or_many",
            {"most": 5, "got": 6},
        ),
        (
            ["--protocol", "pathak2010", "--parties", "4", "--out", "{out}"],
            "parties.too_few_or_many",
            {"most": 3, "got": 4},
        ),
        (["--protocol", "linear", "--views", "v", "--out", "{out}"], "option.without_run", {"option": "--views"}),
        (["runs/first", "--out", "{secret}"], "options.no_views", {}),
        (["runs/first", "--views", "v", "--out", "{out}"], "options.page_without_secret_mark", {"mark": "SECRET"}),
        (["runs/first", "--views", "v", "--parties", "3", "--out", "{secret}"], "option.without_protocol", {}),
    ],
)
def test_what_is_wrong_is_refused_in_one_line(
    arguments: list[str],
    code: str,
    fields: dict[str, object],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "there.html").write_text("mine")
    places = {name: str(tmp_path / f"{name}.html") for name in ("out", "there")}
    places["secret"] = str(tmp_path / "a-SECRET.html")
    found: list[Fault] = []
    monkeypatch.setattr(main_module, "_refuse", seen(found))
    assert main(["lab", "walkthrough", *(a.format(**places) for a in arguments)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert [fault.code for fault in found] == [code]
    assert found[0].fields.items() >= fields.items()
    assert (tmp_path / "there.html").read_text() == "mine"
    assert not Path(places["out"]).exists()


def seen(found: list[Fault]) -> Callable[..., int]:
    """The command's way to refuse, which notes the faults as well."""
    refuse = main_module._refuse

    def note(error: FaultError, *args: Any, **options: Any) -> int:
        found.extend(error.faults)
        return refuse(error, *args, **options)

    return note


@pytest.mark.slow
def test_a_page_with_measured_attacks_is_below_two_megabytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """That of the steps as published; `test_every_page` makes the one of the fixed steps, and measures the attacks."""

    def measured(name: str, variant: str, trials: int, *_: object, **__: object) -> AttackResult:
        return AttackResult(name, variant, trials, trials, 0.0, "succeeds", False)

    monkeypatch.setattr(attacks_on, "measure", measured)
    out = tmp_path / "page.html"
    assert main(["lab", "walkthrough", "--protocol", "pathak2010-as-printed-insecure", "--out", str(out)]) == 0
    assert out.stat().st_size < 2_000_000
    text = out.read_text()
    assert "pathak2010-as-printed-insecure, step by step" in text
    assert "16 of 16, succeeds" in text


@pytest.mark.slow
def test_a_protocol_without_a_drop_out_on_request() -> None:
    stays, leaves = (
        build.walkthrough_of_protocol(PROTOCOLS["secure_sum"], 3, stays=x, attacks=0) for x in (True, False)
    )
    assert "It drops out during the session." in html(leaves)
    assert "P3 drops out: it sends nothing from here on." in html(leaves)
    assert "It drops out during the session." not in html(stays)
