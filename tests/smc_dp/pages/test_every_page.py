"""Every kind of page in a browser: what no page may have is found on none, and on every broken twin."""

from __future__ import annotations

import base64
import hashlib
import re
import subprocess
import sys
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
from support.all_blocks import every_block
from support.browser import Chromium
from support.page_faults import MOST_BYTES, NAMELESS, UNSEEN, faults, sheets, unscripted, walked
from support.page_makers import MOST_SECONDS, Kind, kinds, timed


@pytest.mark.parametrize("kind", kinds())
def test_nothing_is_wrong_with_the_page(
    chromium: Chromium, tmp_path: Path, kind: Kind, record_property: Callable[[str, object], None]
):
    file, seconds = timed(lambda: kind.make(tmp_path))
    record_property("processor seconds", seconds)
    assert seconds < MOST_SECONDS
    assert faults(chromium, file) == []
    printed = [closed(sheet) for sheet in sheets(chromium, file)]
    assert all(closed(kind.every_sheet) in sheet for sheet in printed)
    assert [words for words in kind.first_sheet if closed(words) not in printed[0]] == []
    if kind.walk:
        steps = walked(chromium, file)
        assert steps == unscripted(chromium, file)
        assert len(steps) > 1
        assert [heading for heading in steps if closed(heading) not in "".join(printed)] == []


@pytest.mark.slow
def test_processor_time_is_counted_where_it_is_spent(tmp_path: Path):
    busy = "import time\nwhile time.process_time() < 0.3: pass"

    def make(code: str) -> Path:
        subprocess.run([sys.executable, "-S", "-c", code], check=True)
        return tmp_path

    assert timed(lambda: make(busy))[1] > 0.3
    assert timed(lambda: make("import time; time.sleep(0.4)"))[1] < 0.3


def closed(text: str) -> str:
    """Without spaces and ligatures: on paper words are broken, and some letters are set as one."""
    return "".join(unicodedata.normalize("NFKC", text).split())


HEAD, STYLE, SCRIPT = "<header>", "</style>", '"use strict";'
# What is put in which place, and all that is found then.
TWINS: dict[str, tuple[str, str, set[str]]] = {
    "a picture from elsewhere": (
        HEAD,
        '<img alt="x" src="https://a.invalid/x.png">',
        {"an address", "an address in words", "a console error", "a request"},
    ),
    "a link": (HEAD, '<a href="//a.invalid">x</a>', {"an address"}),
    "an address in words": (HEAD, "<p>See https://a.invalid</p>", {"an address in words"}),
    "a frame": (
        HEAD,
        '<iframe srcdoc="x" title="x"></iframe>',
        {"an element iframe", "a handler srcdoc", "a console error", UNSEEN, NAMELESS},
    ),
    "a refresh": (HEAD, '<meta http-equiv="refresh" content="9;x">', {"a refresh", "axe meta-refresh"}),
    "a style that asks": (STYLE, "p { background: url(x.png); }", {"an address", "a console error", "a request"}),
    "a script of somebody else": (HEAD, "<script>alert(1)</script>", {"a console error"}),
    "a script of ours that asks": (SCRIPT, 'void fetch("x")', {"a script that asks", "a console error"}),
    "a dialog": (SCRIPT, "alert(1);", {"a dialog"}),
    "a handler": (HEAD, '<p onclick="x()">x</p>', {"a handler onclick", "a console error"}),
    "an error": (SCRIPT, "nothing();", {"a console error"}),
    "a picture without a name": (HEAD, '<svg role="img" width="9" height="9"></svg>', {"axe svg-img-alt"}),
    "pale words": (STYLE, "p { color: #aaa; }", {"axe color-contrast"}),
    "too wide": (STYLE, "h1 { width: 2000px; }", {"too wide", "cut in print"}),
    "cut in print": (STYLE, "@media print { h1 { width: 2000px; } }", {"cut in print"}),
    "no keyboard for what scrolls": (
        HEAD,
        f'<div class="scroll"><table><tr><td>{"x" * 60}</td></tr></table></div>',
        {"axe scrollable-region-focusable"},
    ),
    "a hidden focus": (STYLE, ":focus-visible { outline: none; }", {UNSEEN}),
    "a trap for the keyboard": (
        SCRIPT,
        'addEventListener("keydown", e => e.preventDefault());',
        {"out of reach of the keyboard"},
    ),
    "a focus without a name": (HEAD, '<p tabindex="0">x</p>', {NAMELESS}),
    "small letters": (STYLE, "p { font-size: 12px; }", {"small letters"}),
    "small letters in a drawing": (STYLE, ".words { font-size: 8px; }", {"small letters in a drawing"}),
    "told by colour alone": (
        HEAD,
        '<p><font color="#900000">x</font> <font color="#005000">x</font></p>',
        {"told by colour alone"},
    ),
    "too large": (HEAD, f"<!--{'x' * MOST_BYTES}-->", {"too large"}),
}


def twin(text: str, place: str, put: str) -> str:
    """The page with that in that place."""
    assert place in text
    return admitted(text, text.replace(place, put + place if place == STYLE else place + put, 1))


def admitted(text: str, made: str) -> str:
    """The changed page, with the digests of its own style and script in its policy."""
    for before, after in zip(digests(text), digests(made), strict=True):
        made = made.replace(before, after)
    return made


def digests(text: str) -> list[str]:
    """Of style and script, as a policy names them."""
    found = [re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)[-1] for tag in ("style", "script")]
    return [base64.b64encode(hashlib.sha256(part.encode()).digest()).decode() for part in found]


ALONE = ("a picture from elsewhere", "a frame", "a dialog", "an error", "a trap for the keyboard", "a hidden focus")
TOGETHER = [
    *((name,) for name in ALONE),
    *(
        tuple(name for name in TWINS if name not in ALONE and TWINS[name][0] == place)
        for place in (HEAD, STYLE, SCRIPT)
    ),
]
"""Twins that no other one hides are on one page."""


@pytest.mark.slow
@pytest.mark.parametrize("names", TOGETHER, ids=lambda names: names[0])
def test_every_broken_twin_is_caught_by_what_it_breaks(chromium: Chromium, tmp_path: Path, names: tuple[str, ...]):
    file = every_block(tmp_path, plain=True)
    text = file.read_text()
    for place, put, _ in map(TWINS.__getitem__, names):
        text = twin(text, place, put)
    file.write_text(text)
    found = {fault.partition(":")[0] for fault in faults(chromium, file)}
    assert found == set.union(*(TWINS[name][2] for name in names))


@pytest.mark.slow
def test_a_page_without_a_policy_is_caught(chromium: Chromium, tmp_path: Path):
    file = every_block(tmp_path, plain=True)
    file.write_text(file.read_text().replace("default-src", "prefetch-src"))
    assert faults(chromium, file)[0] == "no policy"


WALKS = {
    "a key that leads past a step": ("ArrowRight: at + 1", "ArrowRight: at + 2", "'at'"),
    "no way to the end": ("End: steps.length - 1", "End: 0", "'at'"),
    "two steps at once": ('classList.toggle("away", i !== at)', 'classList.toggle("away", i < at)', "'shown'"),
    "nobody is told": ("position.textContent = ", "position.title = ", "'said'"),
    "the focus stays": ('.querySelector(".step-heading").focus()', '.querySelector(".step-heading")', "'focus'"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", WALKS)
def test_a_walk_that_leads_elsewhere_is_caught(chromium: Chromium, tmp_path: Path, name: str):
    file = every_block(tmp_path, plain=True)
    old, new, why = WALKS[name]
    text = file.read_text()
    assert old in text
    file.write_text(admitted(text, text.replace(old, new, 1)))
    with pytest.raises(ValueError, match=why):
        walked(chromium, file)
