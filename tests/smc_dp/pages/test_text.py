"""A page as text: all that its blocks say, in lines that fit, and nothing that a terminal obeys."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.all_blocks import all_blocks
from support.same_facts import texts

from smc_dp.pages.blocks import Drawing, FactList, Page, PageTable, Prose, Section
from smc_dp.pages.text import block_lines, page_lines


def unsaid(page: Page, width: int = 10_000) -> set[str]:
    """Return the texts of a page that its lines do not hold."""
    said = "".join("".join(page_lines(page, width)).split()).casefold()
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
    found = list(page_lines(all_blocks("readmission" * 9), width))
    code = [line for line in found if line == "  " + "readmission" * 9]  # stands as it is
    assert {line for line in found if len(line) > width} == set(code)


def test_a_name_cannot_talk_to_the_terminal() -> None:
    found = list(page_lines(all_blocks("a\x1b[2J\nb\u202ec [red]x[/red]"), 100))
    assert all(line.isprintable() for line in found)
    assert any("[red]x[/red]" in line for line in found)  # nor to the library that draws tables


def test_figures_stand_to_the_right() -> None:
    table = PageTable("Sizes", ("party", "bytes"), (("a", "1"), ("b", "1,000")), numbers=(1,))
    page = Page("x", (Section("y", (table, Prose("z"))),))
    assert list(page_lines(page, 80))[2:] == [
        "Y",
        "Sizes:",
        "party  bytes",
        "a          1",
        "b      1,000",
        "",
        "z",
        "",
    ]
    left = replace(page, sections=(Section("y", (replace(table, numbers=()), Prose("z"))),))
    assert "a      1" in list(page_lines(left, 80))


def test_tables_under_the_same_headings_have_these_once_and_one_width() -> None:
    tables = (PageTable(name, ("check", "found"), ((name, "x"), ("b", "y"))) for name in ("a", "longest"))
    assert list(block_lines([Section("All", tuple(tables))], 80, 80)) == [
        *("All", "  a:", "  check    found", "  a        x", "  b        y", ""),
        *("  longest:", "  longest  x", "  b        y"),
    ]
    wide = [PageTable(name, ("check", "found"), ((name, "word " * 30),)) for name in ("a", "longest", "n" * 24)]
    found = list(block_lines(wide, 60, 60))
    assert sum("check" in line for line in found) == 1
    assert {line.index("word") for line in found if "word" in line} == {26}
    assert max(map(len, block_lines(wide, 40, 40))) <= 40


def test_facts_stand_in_columns_and_paragraphs_together() -> None:
    facts = FactList((("north", "0.9"), ("pooled", "")))
    said = ["x", "  north   0.9", "  pooled", "y"]
    assert list(block_lines([Prose("x"), facts, Prose("y")], 80, 80)) == said
    table = PageTable("z", ("a", "b"), ())
    assert list(block_lines([Prose("x"), table, Prose("y")], 80, 80)) == ["x", "", "z:", "a  b", "", "y"]
