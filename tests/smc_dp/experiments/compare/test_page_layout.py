"""The page on a narrow screen: nothing is wider than it, tables scroll in boxes of their own, no letter is small."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from support.browser import NARROW, WIDE, Chromium
from support.compared import compared

LEAST = 14  # pixels


@pytest.fixture(scope="module")
def written(tmp_path_factory) -> str:
    """A page with everything that a page can have, pictures too."""
    return compared(tmp_path_factory.mktemp("page")).read_text()


class _Tables(HTMLParser):
    """Counts tables, and those that no box of class `scroll` holds."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tables = self.loose = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self.tables += 1
            self.loose += "scroll" not in self.open
        if tag == "div":
            self.open.append(dict(attrs).get("class") or "")

    def handle_endtag(self, tag: str) -> None:
        if tag == "div":
            self.open.pop()


def wrong_rules(text: str) -> list[str]:
    """What the style of a page says that a narrow screen has no room for."""
    style = re.sub(r"\s+", " ", text.partition("<style>")[2].partition("</style>")[0])
    sizes = [
        float(n) * (16 if unit == "rem" else 1) for n, unit in re.findall(r"font(?:-size)?: ([\d.]+)(px|rem)", style)
    ]
    tables = _Tables()
    tables.feed(text)
    rules = {
        "small letters": len(sizes) < 4 or min(sizes) < LEAST,
        "a loose table": not tables.tables or tables.loose > 0,
        "tables without a scroll bar": ".scroll { overflow-x: auto; }" not in style,
        "words that do not break": not re.search(r"body \{[^}]*overflow-wrap: anywhere;", style),
        "pictures of fixed width": not re.search(r"img \{[^}]*width: 100%; height: auto;", style),
        "one picture for every screen": text.count("<picture><source media=") != text.count("<img"),
        "no viewport": '<meta name="viewport" content="width=device-width, initial-scale=1">' not in text,
    }
    return [name for name, broken in rules.items() if broken]


TWINS = {
    "small letters": ("font-size: 14px", "font-size: .86rem"),
    "a loose table": ('<div class="scroll" role', "<div role"),
    "tables without a scroll bar": ("overflow-x: auto", "overflow-x: visible"),
    "words that do not break": ("overflow-wrap: anywhere", "overflow-wrap: normal"),
    "pictures of fixed width": ("width: 100%; height: auto", "width: 960px; height: auto"),
    "one picture for every screen": ("<picture><source media=", "<picture><source data-media="),
    "no viewport": ("width=device-width", "width=960"),
}


# What a browser sees of them.
SEEN = {"small letters", "tables without a scroll bar", "words that do not break", "pictures of fixed width"}


def test_the_style_of_the_page_fits_a_narrow_screen(written):
    assert wrong_rules(written) == []
    assert all(old in written for old, _ in TWINS.values())
    for name, (old, new) in TWINS.items():
        assert wrong_rules(written.replace(old, new)) == [name]


MEASURE = """() => {
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const sizes = [], images = [...document.images];
  while (walk.nextNode()) if (walk.currentNode.data.trim())
    sizes.push(parseFloat(getComputedStyle(walk.currentNode.parentElement).fontSize));
  return {width: document.documentElement.scrollWidth, least: Math.min(...sizes),
          picture: Math.max(...images.map(i => i.getBoundingClientRect().width)),
          natural: Math.max(...images.map(i => i.naturalWidth))};
}"""


@pytest.mark.slow
def test_a_browser_shows_the_page_without_scrolling_sideways(chromium: Chromium, written: str, tmp_path: Path):
    def laid_out(text: str, width: int) -> dict[str, float]:
        (tmp_path / "page.html").write_text(text)
        found, _ = chromium.look(tmp_path / "page.html", width, lambda page: page.evaluate(MEASURE))
        return dict(found)

    narrow, wide = laid_out(written, NARROW), laid_out(written, WIDE)
    assert (narrow["width"], wide["width"]) == (NARROW, WIDE)
    assert min(narrow["least"], wide["least"]) >= LEAST
    assert narrow["picture"] == 358  # all but the margins
    assert narrow["natural"] < wide["natural"]  # another picture
    twins = {name: laid_out(written.replace(*TWINS[name]), NARROW) for name in TWINS if name in SEEN}
    assert {name for name, found in twins.items() if found["width"] > NARROW} == SEEN - {"small letters"}
    assert twins["small letters"]["least"] < LEAST
