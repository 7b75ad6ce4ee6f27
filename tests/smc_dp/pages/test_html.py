"""A page is one file that asks for nothing, in which every text stays text."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import get_args

import pytest
from support.all_blocks import all_blocks
from support.shown import ShownPage

from smc_dp.pages import html as rendering
from smc_dp.pages.blocks import (
    Drawing,
    Page,
    PageBlock,
    PageTable,
    Picture,
    Prose,
    Quotation,
    Section,
)
from smc_dp.pages.html import html, write_page
from smc_dp.pages.svg import Svg
from tests.support.refusals import refused

HOSTILE = "</title><script>alert(1)</script><img src=x onerror=alert(2)>{{ 7 * 7 }} \"' & javascript:"


HARMLESS = "words that say nothing to a browser at all"


def whole(text: str) -> Page:
    """One of each block, with this text."""
    page = all_blocks(text)
    return replace(page, sections=(*page.sections, Section(text, (Picture(b"1", b"2", text),))))


def kinds_in(block: object) -> set[str]:
    """Kinds of blocks that stand in a page or a block, at any depth."""
    if isinstance(block, tuple):
        return set().union(*map(kinds_in, block))
    if not is_dataclass(block):
        return set()
    inner = (kinds_in(getattr(block, field.name)) for field in fields(block))
    return {getattr(block, "kind", "page")}.union(*inner)


def test_whatever_stands_in_a_page_stays_text_in_every_block() -> None:
    hostile, plain = (ShownPage(html(whole(text))) for text in (HOSTILE, HARMLESS))
    assert (hostile.elements, hostile.attributes) == (plain.elements, plain.attributes)
    assert "".join(hostile.texts).count(HOSTILE) == "".join(plain.texts).count(HARMLESS)
    assert kinds_in(whole("x")) == {"page", *(kind.kind for kind in get_args(PageBlock))}


def test_what_stands_in_backquotes_is_code() -> None:
    assert "<p>a <code>x &lt; y</code> b`</p>" in html(Page("t", (Section("s", (Prose("a `x < y` b`"),)),)))


def test_long_words_of_a_table_may_be_broken_and_no_others() -> None:
    cells = ("pseudonymisation & co", "a" * 18, "b" * 40 + " c", "<" * 19)
    found = html(Page("x", (Section("x", (PageTable("t", ("", "", "", ""), (cells,)),)),)))
    body = found.partition("<tbody>")[2].partition("</tbody>")[0]
    assert body.count("<wbr>") == 3
    assert f"{'b' * 18}<wbr>{'b' * 18}<wbr>{'b' * 4} c<" in body
    assert f"{'&lt;' * 18}<wbr>&lt;<" in body
    assert "pseudonymisation &amp; co<" in body


def test_nothing_but_the_pages_own_style_and_script_may_be_used() -> None:
    page = html(Page("x", (), on_every_sheet='SECRET: "x"; }'))
    policy = re.search(r'Policy" content="([^"]*)"', page)
    found = {
        f"sha256-{base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()}"
        for inside in re.findall(r"<(?:style|script)>(.*?)</(?:style|script)>", page, re.DOTALL)
    }
    assert set(re.findall(r"sha256-[^&;']*", policy[1])) == found
    assert "default-src &#39;none&#39;" in policy[1]
    assert "unsafe" not in policy[1]


def test_a_page_that_is_too_long_is_refused_and_no_file_is_written_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "page.html"
    write_page(file, Page("x", ()), "page")
    with refused("file.exists", at="page"):
        write_page(file, Page("y", ()), "page")
    monkeypatch.setattr(rendering, "MOST_PAGE_BYTES", len(html(Page("x", ()))))
    with refused("page.too_large"):
        write_page(tmp_path / "other.html", Page("x" * 9, ()), "page")
    assert not (tmp_path / "other.html").exists()


def test_a_picture_needs_sentences_a_quotation_a_source_and_a_table_whole_rows() -> None:
    with pytest.raises(ValueError, match="source"):
        Quotation("Its words.", " ")
    with pytest.raises(ValueError, match="sentences"):
        Drawing(Svg(1, 1), "A picture", (" ",))
    with pytest.raises(ValueError, match="2 cells"):
        PageTable("x", ("a", "b"), (("1",),))
