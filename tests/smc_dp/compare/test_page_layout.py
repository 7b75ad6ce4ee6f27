"""The page on a narrow screen: nothing is wider than it, tables scroll in boxes of their own, no letter is small."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from dataclasses import replace
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path

import pytest

from smc_dp.compare import page, study
from smc_dp.compare.plan import GridEntry, GridPlan, GridSetting
from smc_dp.compare.results import Trial
from smc_dp.compare.runner import ExperimentGrid
from smc_dp.compare.study import PaperClaim, Point
from smc_dp.data.deal import Deal

LEAST = 14  # pixels
BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
ASKED = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
LONG = "a-method-with-a-name-that-is-longer-than-a-narrow-screen-of-a-telephone-is-wide, λ = 0.001"
PLAN = GridPlan(
    (GridSetting("s", "breast_cancer", Deal(parties=3)),),
    tuple(
        GridEntry(n, m, c, (Fraction(1),)) for n, m, c in ((LONG, "wsum", "proven"), ("prr_mean", "prr_mean", "paper"))
    ),
    repeats=1,
)


@pytest.fixture(scope="module")
def written(tmp_path_factory) -> str:
    """A page with everything that a page can have, pictures too."""
    trials = tuple(
        Trial("s", label, "aggregator", "proven" if label == LONG else "paper", e, 0.0, r, 0.8, 0.9, 0.5, given, 0.0)
        for e in ASKED
        for r in (0, 1)
        for label, given in ((LONG, e), ("prr_mean", 0.0464 * e))
    )
    points = [Point("s", label, c, 1.0) for label, c in ((LONG, "proven"), ("prr_mean", "paper"))]
    claims = (PaperClaim("“a sentence of a paper” (section 5)", "accuracy", ((points[0], points[1]),) * 3),)
    statement = {"kind": "pure", "epsilon": 0.5, "delta": 0.0, "rho": None, "adjacency": "replace", "adversary": "all",
                 "caveats": ["A caveat of many words. " * 5]}  # fmt: skip
    statements = tuple(
        {
            "dataset": "s",
            "method": p.method,
            "trust": p.trust,
            "calibration": p.calibration,
            "epsilon": f"{e:g}",
            "statement": statement,
        }
        for p in points
        for e in ASKED
    )
    failure = {"failure": f"/a/path/{'x' * 90}", "setting": {"name": "s"}, "repeat": 0,
               "entry": {"label": "prr_mean", "calibration": "paper", "trust": "aggregator"}}  # fmt: skip
    shown = replace(study.of_plan("x", "A title", "Words.", PLAN), claims=claims, differs=("A sentence.",))
    grid = ExperimentGrid(trials, statements, (failure,))
    return page.write(shown, grid, tmp_path_factory.mktemp("page"), 1.0).read_text()


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
    "a loose table": ('<div class="scroll"><table>', "<div><table>"),
    "tables without a scroll bar": ("overflow-x: auto", "overflow-x: visible"),
    "words that do not break": ("overflow-wrap: anywhere", "overflow-wrap: normal"),
    "pictures of fixed width": ("width: 100%; height: auto", "width: 960px; height: auto"),
    "one picture for every screen": ("<picture><source media=", "<picture><source data-media="),
    "no viewport": ("width=device-width", "width=960"),
}


def test_the_style_of_the_page_fits_a_narrow_screen(written):
    assert wrong_rules(written) == []
    assert all(old in written for old, _ in TWINS.values())
    for name, (old, new) in TWINS.items():
        assert wrong_rules(written.replace(old, new)) == [name]


MEASURE = """
<script>
const measured = [];
function look(frame) {
  const page = frame.contentDocument, sizes = [];
  const walk = page.createTreeWalker(page.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) if (walk.currentNode.data.trim())
    sizes.push(parseFloat(frame.contentWindow.getComputedStyle(walk.currentNode.parentElement).fontSize));
  const widths = [...page.images].map(i => i.getBoundingClientRect().width);
  const natural = [...page.images].map(i => i.naturalWidth);
  measured.push([frame.id, {width: page.documentElement.scrollWidth, least: Math.min(...sizes),
                            picture: Math.max(...widths), natural: Math.max(...natural)}]);
  const found = document.getElementById("found");
  found.textContent = JSON.stringify(Object.fromEntries(measured));
}
</script><pre id="found"></pre>
"""


def laid_out(pages: dict[str, tuple[str, int]], folder: Path) -> dict[str, dict[str, float]]:
    """What a browser makes of each of these pages in a window of that width."""
    frames = "".join(
        f'<iframe id="{name}" style="width:{width}px;height:900px;border:0" onload="look(this)" '
        f'srcdoc="{html.escape(text)}"></iframe>'
        for name, (text, width) in pages.items()
    )
    (folder / "frames.html").write_text(f"<!DOCTYPE html><html><body>{MEASURE}{frames}</body></html>")
    command = [
        str(BROWSER),
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--hide-scrollbars",
        f"--user-data-dir={folder / 'profile'}",
    ]
    command += ["--virtual-time-budget=20000", "--dump-dom", (folder / "frames.html").as_uri()]
    dumped = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout
    found: dict[str, dict[str, float]] = json.loads(dumped.partition('<pre id="found">')[2].partition("</pre>")[0])
    return found


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="there is no headless browser; the rules of the style are tested above")
def test_a_browser_shows_the_page_without_scrolling_sideways(written, tmp_path):
    twin = {name: written.replace(*TWINS[name]) for name in TWINS}
    found = laid_out(
        {
            "narrow": (written, 390),
            "wide": (written, 1280),
            "unscrolled": (twin["tables without a scroll bar"], 390),
            "unbroken": (twin["words that do not break"], 390),
            "fixed": (twin["pictures of fixed width"], 390),
            "small": (twin["small letters"], 390),
        },
        tmp_path,
    )
    assert set(found) == {"narrow", "wide", "unscrolled", "unbroken", "fixed", "small"}
    assert found["narrow"]["width"] == 390
    assert found["wide"]["width"] == 1280
    assert min(found["narrow"]["least"], found["wide"]["least"]) >= LEAST
    assert found["narrow"]["picture"] == 358  # all but the margins
    assert found["narrow"]["natural"] < found["wide"]["natural"]  # another picture
    assert min(found[name]["width"] for name in ("unscrolled", "unbroken", "fixed")) > 390
    assert found["small"]["least"] < LEAST
