"""A page as plain text for a terminal: the same blocks as in HTML."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Iterable, Iterator
from itertools import chain

from rich.console import Console
from rich.table import Table

from smc_dp.core.errors import one_line
from smc_dp.pages.blocks import (
    Banner,
    Blanks,
    Bullets,
    Drawing,
    FactList,
    Page,
    PageBlock,
    PageTable,
    Prose,
    Quotation,
    Section,
    SideBySide,
    Verbatim,
    Walkthrough,
)

_INDENT = "  "


def lines(page: Page, width: int) -> Iterator[str]:
    """Yield the lines of a page, each at most `width` columns wide; nothing in them is obeyed by a terminal."""
    yield from _folded(page.title, width)
    for notice in page.notices:
        yield from ("", *_block(notice, width))
    for section in page.sections:
        yield from ("", *_block(section, width))
    yield ""
    for sentence in page.made:
        yield from _folded(sentence, width)


def _block(block: PageBlock, width: int) -> Iterable[str]:
    """Return the lines of one block."""
    match block:
        case Prose(text) | Banner(text):
            return _folded(text, width)
        case Bullets(items, numbered):
            marks = (f"{n}. " if numbered else "* " for n in range(1, len(items) + 1))
            return chain.from_iterable(_folded(t, width, mark) for t, mark in zip(items, marks, strict=True))
        case FactList(pairs):
            return chain.from_iterable(_folded(f"{term}: {text}", width, _INDENT) for term, text in pairs)
        case PageTable():
            return _table(block, width)
        case Verbatim(text):
            return (f"{_INDENT}{_printable(line)}".rstrip() for line in text.splitlines())
        case Quotation(text, source):
            return _folded(f'"{text}" ({source})', width, _INDENT)
        case Drawing(_, title, said):
            return _under(title, (Bullets(said),), width)
        case Blanks(labels):
            return chain.from_iterable(_folded(f"{label}: {'_' * 20}", width) for label in labels)
        case Section(heading, blocks):
            return _under(heading, blocks, width)
        case SideBySide(left, right):
            return chain(_block(left, width), [""], _block(right, width))
        case Walkthrough(title, steps):
            return _under(title, tuple(Section(step.heading, step.blocks) for step in steps), width)


def _under(heading: str, blocks: tuple[PageBlock, ...], width: int) -> Iterator[str]:
    """Yield a heading and the blocks below it, with empty lines between these."""
    yield from _folded(heading.upper(), width)
    for number, block in enumerate(blocks):
        if number:
            yield ""
        yield from _block(block, width)


def _folded(text: str, width: int, mark: str = "") -> list[str]:
    """Return one paragraph in lines of this width, the first after `mark` and the others indented as far."""
    rest = " " * len(mark)
    return textwrap.wrap(one_line(text), max(width, 20), initial_indent=mark, subsequent_indent=rest)


def _table(table: PageTable, width: int) -> list[str]:
    """Return the caption of a table and its rows in columns; long cells take several lines."""
    drawn = Table(box=None, pad_edge=False)
    for at, heading in enumerate(table.headings):
        drawn.add_column(one_line(heading), justify="right" if at in table.numbers else "left", overflow="fold")
    for row in table.rows:
        drawn.add_row(*map(one_line, row))
    text = io.StringIO()
    Console(file=text, markup=False, highlight=False, emoji=False, width=max(width, 20)).print(drawn)
    return [*_folded(f"{table.caption}:", width), *(line.rstrip() for line in text.getvalue().splitlines())]


def _printable(line: str) -> str:
    """Return a line with its spaces, and with nothing in it that a terminal would obey."""
    return "".join(c if c.isprintable() else " " for c in line)
