"""The first sheet of a paper that somebody signs has no symbol and no formula; the figures are in its annex."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import takewhile
from pathlib import Path

import pytest
from support.audited import charged_run, toy_run

from smc_dp import audit_run
from smc_dp.audit.run.report_blocks import audit_page
from smc_dp.pages.blocks import Page
from smc_dp.pages.text import page_lines
from smc_dp.privacy.output import no_guarantee
from smc_dp.run.release import PublishedRelease
from smc_dp.run.release_report import TrafficTotals, release_page
from tests.smc_dp.run.test_privacy_summary import RUNS, agreed

SYMBOL = re.compile(
    r"(?i:\b(?:epsilon|delta|rho|mu|sigma|lambda|gamma)\b)|[\u0370-\u03ff]|[=<>\u2264\u2265^]"
    r"|\b\d+(?:\.\d+)?e[-+]?\d+\b|(?<!')\b[B-HJ-Zb-z]\b"
)


def sheets(page: Page) -> tuple[str, str]:
    """Return the first sheet, which is printed before the annex begins, and the annex."""
    first = sum(1 for _ in takewhile(lambda section: not section.new_sheet, page.sections))
    assert 0 < first < len(page.sections)
    parts = (
        replace(page, made=(), sections=page.sections[:first]),
        replace(page, notices=(), sections=page.sections[first:]),
    )
    one, other = (" ".join(" ".join(page_lines(part, 200)).split()) for part in parts)
    return one, other


def page_of(run: str, *, seeded: bool = False) -> Page:
    known = agreed(**RUNS[run], seeded=seeded)
    made = PublishedRelease((0.0,), known, {}, {**known.parameters, "link": "none"}, known.marks)
    return release_page(made, {}, TrafficTotals(3, 4567))


@pytest.mark.parametrize("run", RUNS)
def test_the_first_sheet_of_a_release_has_an_example_in_place_of_figures(run: str) -> None:
    first, annex = sheets(page_of(run))
    assert SYMBOL.findall(first) == []
    assert re.search(r"With this release the attacker is right in (at most \d+ of 1,000\.|all of them, perhaps)", first)
    assert "epsilon" in annex


def test_the_example_is_that_of_the_epsilon() -> None:
    assert "in at most 732 of 1,000." in sheets(page_of("newton"))[0]  # e/(1 + e) = 0.7311


def test_a_release_without_a_guarantee_says_so_first() -> None:
    first, _ = sheets(page_of("newton", seeded=True))
    assert no_guarantee("record", "replace", "").example in first
    assert SYMBOL.findall(first) == []


def test_the_first_sheet_of_an_audit_counts_the_budget_in_percent(tmp_path: Path) -> None:
    charged_run(tmp_path)
    first, annex = sheets(audit_page(audit_run(tmp_path / "run", ledgers=tmp_path / "ledgers")))
    assert SYMBOL.findall(first) == []
    said = re.search(r"(\d+) % of the budget was spent before this run, (\d+) % after it; charged\.", first)
    spent = re.search(r"([\d.]+) spent before this run, ([\d.]+) after it, [\d.]+ left of epsilon 6", annex)
    assert said
    assert spent
    for percent, epsilon in zip(said.groups(), map(float, spent.groups()), strict=True):
        assert int(percent) - 1 < 100 * epsilon / 6 <= int(percent)
    assert "epsilon" in annex


@pytest.mark.parametrize("as_printed", [False, True])
def test_the_first_sheet_of_an_audit_has_no_symbol_where_nothing_is_guaranteed(
    as_printed: bool, tmp_path: Path
) -> None:
    made = toy_run(tmp_path, (12, 8), key_bits=256, as_printed=as_printed)
    first, _ = sheets(audit_page(audit_run(made.run)))
    assert SYMBOL.findall(first) == []
    assert "INSECURE" in first
