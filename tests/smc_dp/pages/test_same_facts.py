"""Screen and page of a report are made of one list of blocks: what one says, the other says in the same words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from support.audited import charged_run
from support.audits import OF_THE_RUN
from support.compared import study_and_grid
from support.lectures import lecture_of
from support.repetitions import with_slow
from support.same_facts import closed, texts, unsaid

from smc_dp.audit.run import report_blocks as of_audits
from smc_dp.audit.run.evidence import load_evidence
from smc_dp.audit.run.report import audit_evidence
from smc_dp.experiments.compare import report as of_grids
from smc_dp.methods.model import probabilities
from smc_dp.pages.blocks import Page, PageBlock, Prose, Section
from smc_dp.planning import report as of_plans
from smc_dp.planning.plan import plan
from smc_dp.run.metrics import measure_release
from smc_dp.run.metrics_report import metrics_blocks, metrics_page
from smc_dp.run.release_report import run_page
from tests.smc_dp.pages.test_texts import SUBJECTS

Report = tuple[Page, Sequence[PageBlock]]


def audit(folder: Path) -> Report:
    run = charged_run(folder)
    found = audit_evidence(load_evidence(run.run, folder / "identities.json", run.views), OF_THE_RUN)
    return of_audits.audit_page(found), of_audits.blocks(found)


def release(folder: Path) -> Report:
    page = run_page(charged_run(folder).run)
    return page, (*page.notices, *page.sections)


def grid(folder: Path) -> Report:
    study, found = study_and_grid()
    page = of_grids.grid_page(study, found, (), 1.0)
    return page, (*page.notices, *of_grids.report_sections(study, found))


@pytest.mark.parametrize("classes", [2, 3, 20])
def test_text_and_page_of_metrics_have_the_same_facts(classes: int) -> None:
    y = np.arange(300) % classes
    of_rows = np.cos(np.arange(300 * classes).reshape(300, classes) % 7)
    of_rows = of_rows if classes > 2 else of_rows[:, 1]
    found = measure_release(y, of_rows, probabilities(of_rows), tuple(f"class {c}" for c in range(classes)))
    page, blocks = metrics_page({"": found}, "test.csv"), tuple(metrics_blocks(found, "test.csv"))
    said = closed("".join(texts(blocks)))
    parts = {part for one in page.sections for part in texts(one.blocks)}
    assert {part for part in parts if closed(part) not in said} == set()


def walkthrough(folder: Path) -> Report:
    page = lecture_of("secure_sum")
    return page, (*page.notices, *page.sections)


def on_a_screen_alone(blocks: Callable[[], Iterable[PageBlock]], folder: Path) -> Report:
    """Return the blocks of a report that only a screen shows, and the page that would be made of them."""
    found = (Section("On a screen alone", tuple(blocks())),)
    return Page("A page of it", found), found


REPORTS: dict[str, Callable[[Path], Report]] = {
    "audit": audit,
    "release": release,
    "comparison": grid,
    "walkthrough": walkthrough,
    "plan": partial(on_a_screen_alone, lambda: of_plans.blocks(plan([500, 400, 30], 9), cost=True)),
    **{name: partial(on_a_screen_alone, SUBJECTS[name]) for name in ("data", "deploy", "epsilon", "ledger", "run")},
}


@pytest.mark.parametrize("name", with_slow(REPORTS, "walkthrough"))
def test_screen_and_page_have_the_same_facts(name: str, tmp_path: Path) -> None:
    assert unsaid(*REPORTS[name](tmp_path)) == set()


def test_what_only_one_of_both_says_is_found(tmp_path: Path) -> None:
    page, screen = REPORTS["plan"](tmp_path)
    # The mutants: a screen that has its own sentence, and one that lacks a section.
    assert unsaid(page, (*screen, Prose("in other words"))) == {"in other words"}
    assert unsaid(page, [block for block in screen if not isinstance(block, Section)]) != set()
    # A page that says more than the screen has to mark it as a detail.
    more = Section("Elsewhere altogether", (Prose("beside it"),))
    assert unsaid(replace(page, sections=(*page.sections, more)), screen) == {"Elsewhere altogether", "beside it"}
    marked = replace(more, details=True)
    assert unsaid(replace(page, sections=(*page.sections, marked)), screen) == set()
