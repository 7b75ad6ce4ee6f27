"""Page as one HTML file: everything inside, no address, and a policy by which a browser loads nothing.

Style and script are named by their digests in the policy, so that nothing else runs, whatever stands in a page.
"""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from smc_dp.core.errors import InputError
from smc_dp.core.writing import write_new
from smc_dp.pages import svg
from smc_dp.pages.blocks import Drawing, Page, PageTable

if TYPE_CHECKING:
    from jinja2 import Template
    from markupsafe import Markup

MOST_PAGE_BYTES = 2_000_000
_LONG_WORD = 18  # letters; what is longer is a name or a number
_SENTENCE, _SENTENCES = 30, 3  # letters from which on a cell is one, and how many columns of them a sheet has room for


def html(page: Page) -> str:
    """Return the page, escaped but for template and drawings; InputError above `MOST_PAGE_BYTES` without charts."""
    from markupsafe import Markup

    style, script = _style(page), _text("page.js")
    made = _template().render(
        page=page,
        policy=_policy(style, script),
        style=Markup(style),  # noqa: S704  files of this package, and a text in the letters of CSS
        script=Markup(script),  # noqa: S704
        patterns=Markup(svg.fill_patterns()),  # noqa: S704
        drawn=_drawn,
    )
    pictures = sum(map(len, re.findall(r'"data:image/png;base64,[^"]*"', made)))  # charts of this program's own
    if (size := len(made.encode()) - pictures) > MOST_PAGE_BYTES:
        raise InputError("page.too_large", title=page.title, most=MOST_PAGE_BYTES, got=size)
    return made


def write_page(path: Path, page: Page, where: str, mode: int = 0o644) -> None:
    """Write a page to a new file. InputError, which begins with `where`, if there is one or it cannot be written."""
    write_new(path, html(page).encode(), where, mode)


def _drawn(drawing: Drawing) -> Markup:
    from markupsafe import Markup

    return Markup(drawing.svg.markup(drawing.title))  # noqa: S704  made of elements, all text in them escaped


def _embedded(png: bytes) -> str:
    return f"data:image/png;base64,{base64.b64encode(png).decode()}"


def _breakable(text: str) -> Markup:
    """Return the text of a cell, in which only long words may be broken."""
    from markupsafe import Markup

    pieces = re.split(rf"(\S{{{_LONG_WORD}}})(?=\S)", text)
    return Markup("<wbr>").join(filter(None, pieces))


def _with_code(text: str) -> Markup:
    """Return a text with what stands in backquotes as code."""
    from markupsafe import Markup

    plain, code = Markup("{}"), Markup("<code>{}</code>")
    pieces = re.split(r"`([^`]+)`", text)
    return Markup("").join((code if i % 2 else plain).format(one) for i, one in enumerate(pieces))


def _wordy(table: PageTable) -> frozenset[int]:
    """Return the columns of sentences, which keep some width beside longer ones."""
    longest = [max(map(len, column)) for column in zip(*table.rows, strict=True)]
    found = frozenset(at for at, letters in enumerate(longest) if letters > _SENTENCE and at not in table.numbers)
    return found if len(found) <= _SENTENCES else frozenset()


def _style(page: Page) -> str:
    style = _text("page.css") + svg.style_sheet()
    if page.on_every_sheet:
        place = f'content: "{_in_css(page.on_every_sheet)}"; font: 600 10pt system-ui, sans-serif;'
        style += f"@page {{ margin-top: 24mm; @top-center {{ {place} }} }}\n"
    return style


def _in_css(text: str) -> str:
    """Escape a text for quotation marks of CSS."""
    return "".join(c if c.isascii() and c.isalnum() else f"\\{ord(c):06x}" for c in text)


def _policy(style: str, script: str) -> str:
    own = "base-uri 'none'; form-action 'none'; default-src 'none'; img-src data:"
    return f"{own}; style-src '{_digest(style)}'; script-src '{_digest(script)}'"


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


@cache
def _text(name: str) -> str:
    return (resources.files("smc_dp.pages") / name).read_text(encoding="utf-8")


@cache
def _template() -> Template:
    import jinja2

    loader = jinja2.PackageLoader("smc_dp.pages", ".")
    environment = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined)
    environment.filters |= {"breakable": _breakable, "embedded": _embedded, "with_code": _with_code, "wordy": _wordy}
    return environment.get_template("page.html.j2")
