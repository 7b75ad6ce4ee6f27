"""Screen and page of a report are made of one list of blocks: what one says, the other says in the same words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from support.audited import charged_run
from support.compared import study_and_grid
from support.mutants import OF_THE_RUN
from support.same_facts import unsaid

from protocols.arithmetic.rng import Stream
from smc_dp import attacks
from smc_dp.attacks import report_blocks as of_attacks
from smc_dp.attacks.attack import LEAST_TRIALS
from smc_dp.attacks.report import AttackReport
from smc_dp.audit.run import report_blocks as of_audits
from smc_dp.audit.run.evidence import load
from smc_dp.audit.run.report import audit_evidence
from smc_dp.experiments.compare import report as of_grids
from smc_dp.pages.blocks import Page, PageBlock, Prose, Section
from smc_dp.run.release_report import run_page

Report = tuple[Page, Sequence[PageBlock]]


def audit(folder: Path) -> Report:
    run = charged_run(folder)
    found = audit_evidence(load(run.run, folder / "identities.json", run.views), OF_THE_RUN)
    return of_audits.audit_page(found), of_audits.blocks(found)


def release(folder: Path) -> Report:
    page = run_page(charged_run(folder).run)
    return page, (*page.notices, *page.sections)


def attacked(*names: str) -> Report:
    rng = Stream.insecure_from_seed("facts")
    found = []
    for attack in map(attacks.find, names):
        measured = tuple(attacks.measure(attack.name, v.name, LEAST_TRIALS, rng) for v in attack.variants)
        found.append(AttackReport(attack, measured, attacks.TOY_KEY_BITS))
    return of_attacks.page(found), of_attacks.blocks(found)


def grid(folder: Path) -> Report:
    study, found = study_and_grid()
    page = of_grids.page(study, found, (), 1.0)
    return page, (*page.notices, *of_grids.sections(study, found))


REPORTS: dict[str, Callable[[Path], Report]] = {
    "audit": audit,
    "release": release,
    "attack": lambda folder: attacked("vote-flip"),
    "attacks": lambda folder: attacked("ofpa-record-recovery", "vote-flip"),
    "comparison": grid,
}


@pytest.mark.parametrize("name", REPORTS)
def test_screen_and_page_have_the_same_facts(name: str, tmp_path: Path) -> None:
    page, screen = REPORTS[name](tmp_path)
    assert unsaid(page, screen) == set()
    # The mutants: a screen that has its own sentence, and one that lacks a section.
    assert unsaid(page, (*screen, Prose("in other words"))) == {"in other words"}
    assert unsaid(page, [block for block in screen if not isinstance(block, Section)]) != set()
    # A page that says more than the screen has to mark it as a detail.
    more = Section("Elsewhere altogether", (Prose("beside it"),))
    assert unsaid(replace(page, sections=(*page.sections, more)), screen) == {"Elsewhere altogether", "beside it"}
    marked = replace(more, details=True)
    assert unsaid(replace(page, sections=(*page.sections, marked)), screen) == set()
