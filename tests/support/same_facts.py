"""Texts of blocks that a page or a screen does not show: a report says the same in both."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, is_dataclass

from smc_dp.pages.blocks import Blanks, Drawing, Page, PageBlock, Picture, Section, SideBySide, Walkthrough
from smc_dp.pages.html import html
from smc_dp.pages.text import block_lines, page_lines
from support.shown import ShownPage

NOT_SAID = ("svg", "look", "label", "on_every_sheet", "code", "wide", "narrow")  # looks, codes, names in HTML
WIDE = 1 << 20


def texts(block: object) -> list[str]:
    """Return every text in a block and in the blocks below it."""
    if isinstance(block, str):
        return [block]
    if isinstance(block, tuple):
        return [text for part in block for text in texts(part)]
    if is_dataclass(block):
        return [t for field in fields(block) if field.name not in NOT_SAID for t in texts(getattr(block, field.name))]
    return []


def without_details(blocks: Iterable[PageBlock]) -> list[str]:
    """Return the texts that a screen owes its reader: all but those of details."""
    found: list[str] = []
    for block in blocks:
        if isinstance(block, Section):
            found += [] if block.details else [block.heading, *without_details(block.blocks)]
        elif isinstance(block, Walkthrough):
            found += [block.title, *without_details(block.steps)]
        elif not isinstance(block, Drawing | Picture | SideBySide | Blanks):
            found += texts(block)
    return found


def closed(text: str) -> str:
    """Return a text without spaces and capitals: both break lines where they like, and a page as text has headings in
    capitals.
    """
    return "".join(text.split()).casefold()


def unsaid(page: Page, screen: Iterable[PageBlock]) -> set[str]:
    """Return the texts of a report that one of its forms lacks: the page, the page as text, or the screen."""
    blocks = tuple(screen)
    shown = closed("".join(ShownPage(html(page)).texts))
    whole, short = (closed("".join(found)) for found in (page_lines(page, WIDE), block_lines(blocks, WIDE, WIDE)))
    on_page = {closed(text) for text in texts(page)}
    owed = without_details((*page.notices, *page.sections))
    only_there = {text for text in texts(blocks) if closed(text) not in on_page and closed(text) not in shown}
    missing = {text for text in texts(page) if not (closed(text) in shown and closed(text) in whole)}
    return missing | only_there | {text for text in owed if closed(text) not in short}
