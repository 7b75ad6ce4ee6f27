"""What no page may have, whichever its subject: looked for in its text, and in a browser."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from support.browser import HEIGHT, NARROW, WIDE, Chromium, violations

if TYPE_CHECKING:
    from playwright.sync_api import Page

MOST_BYTES = 2 << 20
LEAST, LEAST_DRAWN = 14, 9  # pixels of running text, and of words in a picture that was made small for a phone
SHEET = 718  # pixels between the margins of an A4 sheet: 190 mm
POINTS_A4 = (595, 842)
# Of 256: two colours this far from each other say two things; greys this far are told apart without colour.
HUES_APART, GREYS_APART = 60, 40
UNSEEN, NAMELESS = "a focus that nobody sees", "a focus without a name"
_FETCHING = {"iframe", "object", "embed", "link", "base", "form", "frame", "audio", "video", "portal"}
_ADDRESSES = {
    *("href", "src", "srcset", "action", "formaction", "poster", "data", "cite", "background", "ping", "xlink:href"),
    *("manifest", "longdesc", "usemap", "profile", "archive", "codebase", "classid", "imagesrcset", "lowsrc"),
}


class Asked(HTMLParser):
    """Collects what of a page is an address or could ask for one, and counts its elements and handlers."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.faults: list[str] = []
        self.elements: dict[str, int] = {}
        self._in = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._in = tag
        self.elements[tag] = self.elements.get(tag, 0) + 1
        if tag in _FETCHING:
            self.faults.append(f"an element {tag}")
        named = {name: value or "" for name, value in attrs}
        if named.get("http-equiv", "").lower() == "refresh":
            self.faults.append("a refresh")
        for name, value in named.items():
            self._attribute(tag, name, value)

    def _attribute(self, tag: str, name: str, value: str) -> None:
        if name.startswith("on") or name == "srcdoc":
            self.faults.append(f"a handler {name}")
        if name == "style":
            self._style(value)
        inside = value.startswith("#") or (tag in ("img", "source") and value.startswith("data:image/"))
        if name in _ADDRESSES and not inside:
            self.faults.append("an address")
        if name in ("fill", "stroke", "marker-end", "mask", "clip-path", "filter"):
            self._style(value)

    def handle_data(self, data: str) -> None:
        if self._in == "style":
            self._style(data)
        if self._in == "script" and re.search(r"://|import\s*\(|XMLHttpRequest|fetch\s*\(|WebSocket|sendBeacon", data):
            self.faults.append("a script that asks")

    def handle_endtag(self, tag: str) -> None:
        self._in = ""

    def _style(self, text: str) -> None:
        if re.search(r"@import|url\((?!\s*[\"']?#)", text, re.IGNORECASE):
            self.faults.append("an address")


def asked(text: str, *, words: bool = True) -> list[str]:
    """Addresses in the file. `words`: also in its running text, where no stranger's word stands there."""
    found = Asked(text).faults
    spelt = ["an address in words"] if words and re.search(r"://|\bwww\.", text) else []
    return list(dict.fromkeys(found + spelt))


def without_policy(text: str) -> list[str]:
    """A page says itself that it asks for nothing, and a browser holds it to that."""
    held = re.search(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    return [] if held and "default-src 'none'" in held[1].replace("&#39;", "'") else ["no policy"]


_PROBE = Path(__file__).with_name("page_probe.js").read_text(encoding="utf-8")


def ask(page: Page, question: str, about: object = None) -> Any:
    """The answer of the page that is shown to one of the questions of page_probe.js."""
    return page.evaluate(f"(about) => ({_PROBE}).{question}(about)", about)


def faults(chromium: Chromium, file: Path, *, words: bool = True) -> list[str]:
    """Everything that is wrong with the page in this file, [] if nothing. `words`: see `asked`."""
    text = file.read_text(encoding="utf-8")
    found = [*asked(text, words=words), *without_policy(text)]
    if file.stat().st_size > MOST_BYTES:
        found.append("too large")
    seen, did = chromium.look(file, NARROW, _looked_over)
    return list(dict.fromkeys(found + did + seen))


def _looked_over(page: Page) -> list[str]:
    found = [*_laid_out(page), *unreached(page)]
    page.set_viewport_size({"width": WIDE, "height": HEIGHT})
    found += _laid_out(page)
    page.emulate_media(media="print")
    page.set_viewport_size({"width": SHEET, "height": HEIGHT})
    return found + (["cut in print"] if ask(page, "tooWide") or ask(page, "cut") else [])


def _laid_out(page: Page) -> list[str]:
    looks = {
        "too wide": ask(page, "tooWide"),
        "small letters in a drawing": ask(page, "smallestDrawnLetter") < LEAST_DRAWN,
        "small letters": ask(page, "smallestLetter") < LEAST,
        "told by colour alone": ask(page, "byColourAlone", [HUES_APART, GREYS_APART]),
    }
    return [*violations(page), *(name for name, wrong in looks.items() if wrong)]


def unreached(page: Page) -> list[str]:
    """A walk by the Tab key through all that takes the focus: what was not reached, not shown, or has no name."""
    wanted, met, found = set(ask(page, "focusable")), set(), []
    for _ in range(len(wanted) + 2):
        page.keyboard.press("Tab")
        focus = ask(page, "focused")
        met.add(focus["number"])
        if focus["number"] >= 0:
            found += ([] if focus["shown"] else [UNSEEN]) + ([] if focus["named"] else [NAMELESS])
    return found + (["out of reach of the keyboard"] if wanted - met else [])


def sheets(chromium: Chromium, file: Path) -> list[str]:
    """The text of each printed A4 sheet."""
    from pypdf import PdfReader

    printed, _ = chromium.look(file, WIDE, lambda page: page.pdf(format="A4", print_background=True))
    pages = PdfReader(BytesIO(printed)).pages
    size = [float(side) for side in pages[0].mediabox[2:]]
    if any(abs(is_ - wanted) > 2 for is_, wanted in zip(size, POINTS_A4, strict=True)):
        raise ValueError(f"wanted A4, got {pages[0].mediabox}")
    return [" ".join(p.extract_text().split()) for p in pages]


def walked(chromium: Chromium, file: Path) -> list[str]:
    """The headings of the steps that the right arrow key leads through; ValueError where a key leads elsewhere, the
    heading has no focus or no status says where one is.
    """
    found, did = chromium.look(file, WIDE, _walked)
    if did:
        raise ValueError(f"while walking: {did}")
    return found


def unscripted(chromium: Chromium, file: Path) -> list[str]:
    """The headings of the steps that are in sight where no script runs."""
    found, _ = chromium.look(
        file, WIDE, lambda page: page.locator(".step-heading:visible").all_inner_texts(), script=False
    )
    return [heading.strip() for heading in found]


def _walked(page: Page) -> list[str]:
    count = ask(page, "step")["all"]
    steps = [ask(page, "step")["heading"]]
    for key, way in (("Right", range(1, count)), ("Left", range(count - 2, -1, -1))):
        steps += [_stepped(page, f"Arrow{key}", at, count) for at in way]
    for key, at in (("End", count - 1), ("ArrowRight", count - 1), ("Home", 0), ("ArrowLeft", 0)):
        _stepped(page, key, at, count)
    return steps[:count]


def _stepped(page: Page, key: str, at: int, count: int) -> str:
    page.keyboard.press(key)
    met = ask(page, "step")
    wanted = {"all": count, "shown": 1, "at": at, "focus": True, "said": f"{at + 1} / {count}"}
    if wrong := {name: met[name] for name, value in wanted.items() if met[name] != value}:
        raise ValueError(f"{key} to step {at + 1} of {count}: {wrong}")
    return str(met["heading"])
