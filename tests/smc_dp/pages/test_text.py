"""A page as text: all that its blocks say, in lines that fit, and nothing that a terminal obeys."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.all_blocks import all_blocks
from support.same_facts import texts

from smc_dp.pages.blocks import Drawing, Page, PageTable, Prose, Section
from smc_dp.pages.text import lines


def unsaid(page: Page, width: int = 10_000) -> set[str]:
    """Return the texts of a page that its lines do not hold."""
    said = "".join("".join(lines(page, width)).split()).casefold()
    return {text for text in texts(page) if "".join(text.split()).casefold() not in said}


def test_every_text_of_every_block_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    page = all_blocks("north")
    assert any(isinstance(block, Drawing) for block in page.sections[3].blocks[0].steps[0].blocks)  # type: ignore[union-attr]
    assert len(texts(page)) > 50
    assert unsaid(page) == set()
    monkeypatch.setattr(
        "smc_dp.pages.text._Printer.folded", lambda printer, text, mark="": [mark]
    )  # the mutant: no prose
    assert unsaid(page) != set()


@pytest.mark.parametrize("width", [40, 100])
def test_lines_are_no_wider_than_the_terminal(width: int) -> None:
    found = list(lines(all_blocks("readmission" * 9), width))
    code = [line for line in found if line == "  " + "readmission" * 9]  # stands as it is
    assert {line for line in found if len(line) > width} == set(code)


def test_a_name_cannot_talk_to_the_terminal() -> None:
    found = list(lines(all_blocks("a\x1b[2J\nb\u202ec [red]x[/red]"), 100))
    assert all(line.isprintable() for line in found)
    assert any("[red]x[/red]" in line for line in found)  # nor to the library that draws tables


def test_figures_stand_to_the_right() -> None:
    table = PageTable("Sizes", ("party", "bytes"), (("a", "1"), ("b", "1,000")), numbers=(1,))
    page = Page("x", (Section("y", (table, Prose("z"))),))
    assert list(lines(page, 80))[2:] == ["Y", "Sizes:", "party  bytes", "a          1", "b      1,000", "", "z", ""]
    left = replace(page, sections=(Section("y", (replace(table, numbers=()), Prose("z"))),))
    assert "a      1" in list(lines(left, 80))
