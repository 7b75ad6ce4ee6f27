"""Print a report as plain text for a terminal: the same blocks as in HTML."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
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
    Picture,
    Prose,
    Quotation,
    Section,
    SideBySide,
    Verbatim,
    Walkthrough,
)

_INDENT = "  "
_MOST_FOLDED = 2000  # rows of a table: rich takes a millisecond for each


def lines(page: Page, width: int) -> Iterator[str]:
    """Yield the lines of a page, each at most `width` columns wide; nothing in them is obeyed by a terminal."""
    printer = _Printer(width, width, details=True)
    yield from printer.blocks((Prose(page.title), *page.notices, *page.sections))
    yield ""
    yield from chain.from_iterable(printer.folded(sentence) for sentence in page.made)


def block_lines(blocks: Iterable[PageBlock], width: int, table_width: int) -> Iterator[str]:
    """Yield the lines of blocks without their details, prose at most `width` columns wide and tables `table_width`."""
    return _Printer(width, table_width, details=False).blocks(blocks)


@dataclass(frozen=True)
class _Printer:
    """Widths of prose and of tables, and whether sections and pictures that are details are printed."""

    width: int
    table_width: int
    details: bool

    def blocks(self, blocks: Iterable[PageBlock]) -> Iterator[str]:
        """Yield the lines of blocks, with empty lines between these."""
        printed = (list(self.block(block)) for block in blocks if self.details or not _is_detail(block))
        for number, found in enumerate(filter(None, printed)):
            yield from ([""] if number else [])
            yield from found

    def block(self, block: PageBlock) -> Iterable[str]:
        """Return the lines of one block."""
        match block:
            case Prose(text) | Banner(text):
                return self.folded(text)
            case Bullets(items, numbered):
                marks = (f"{n}. " if numbered else "* " for n in range(1, len(items) + 1))
                return chain.from_iterable(self.folded(t, mark) for t, mark in zip(items, marks, strict=True))
            case FactList(pairs):
                return chain.from_iterable(self.folded(f"{term}: {text}", _INDENT) for term, text in pairs)
            case PageTable():
                return self.table(block)
            case Verbatim(text):
                return (f"{_INDENT}{_printable(line)}".rstrip() for line in text.splitlines())
            case Quotation(text, source):
                return self.folded(f'"{text}" ({source})', _INDENT)
            case Drawing(_, title, said):
                return self.under(title, (Bullets(said),))
            case Picture(_, _, title):
                return self.folded(title)
            case Blanks(labels):
                return chain.from_iterable(self.folded(f"{label}: {'_' * 20}") for label in labels)
            case Section(heading, blocks):
                return self.under(heading, blocks)
            case SideBySide(left, right):
                return self.blocks((left, right))
            case Walkthrough(title, steps):
                return self.under(title, tuple(Section(step.heading, step.blocks) for step in steps))

    def under(self, heading: str, blocks: tuple[PageBlock, ...]) -> Iterator[str]:
        """Yield a heading and the blocks below it."""
        yield from self.folded(heading)
        yield from self.blocks(blocks)

    def folded(self, text: str, mark: str = "") -> list[str]:
        """Return one paragraph in lines that fit, the first after `mark` and the others indented as far."""
        rest = " " * len(mark)
        return textwrap.wrap(one_line(text), max(self.width, 20), initial_indent=mark, subsequent_indent=rest)

    def table(self, table: PageTable) -> list[str]:
        """Return the caption of a table and its rows in columns; long cells take several lines, if rows are few."""
        caption = self.folded(f"{table.caption}:")
        cells = [[one_line(text) for text in row] for row in (table.headings, *table.rows)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        if sum(widths) + 2 * len(widths) <= self.table_width or len(cells) > _MOST_FOLDED:
            return [*caption, *(_in_columns(row, widths, table.numbers) for row in cells)]
        drawn = Table(box=None, pad_edge=False)
        for at, heading in enumerate(cells[0]):
            drawn.add_column(heading, justify="right" if at in table.numbers else "left", overflow="fold")
        for row in cells[1:]:
            drawn.add_row(*row)
        text = io.StringIO()
        Console(file=text, markup=False, highlight=False, emoji=False, width=max(self.table_width, 20)).print(drawn)
        return [*caption, *(line.rstrip() for line in text.getvalue().splitlines())]


def _in_columns(row: Iterable[str], widths: list[int], numbers: tuple[int, ...]) -> str:
    """Return a row of a table on one line."""
    cells = enumerate(zip(row, widths, strict=True))
    return "  ".join(text.rjust(n) if at in numbers else text.ljust(n) for at, (text, n) in cells).rstrip()


def _is_detail(block: PageBlock) -> bool:
    """Return whether a screen leaves the block out: pictures, code beside code, and sections that say so."""
    return isinstance(block, Drawing | Picture | SideBySide | Blanks) or (isinstance(block, Section) and block.details)


def _printable(line: str) -> str:
    """Return a line with its spaces, and with nothing in it that a terminal would obey."""
    return "".join(c if c.isprintable() else " " for c in line)
