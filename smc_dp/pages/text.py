"""Print a report as plain text for a terminal: the same blocks as in HTML."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
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
_PACKED = (Prose, Banner, Bullets, FactList, Verbatim)  # on a screen nothing stands between two of these
_NARROW = 24  # columns of a table that are as wide in the next one, and terms that stand in a column
_MOST_FOLDED = 2000  # rows of a table: rich takes a millisecond for each


def page_lines(page: Page, width: int, *, details: bool = True) -> Iterator[str]:
    """Yield the lines of a page, each at most `width` columns wide; nothing in them is obeyed by a terminal.

    Without `details` its sections that are details are left out.
    """
    printer = _Printer(width, width, details=True)
    sections = [section for section in page.sections if details or not section.details]
    yield from printer.blocks((Prose(page.title), *page.notices, *sections))
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
        """Yield the lines of blocks; tables that follow each other under the same headings have these once."""
        before: PageBlock | None = None
        shown = [block for block in blocks if self.details or not _is_detail(block)]
        tables = [block for block in shown if isinstance(block, PageTable)]
        for block in shown:
            if isinstance(block, PageTable):
                alike = [table for table in tables if table.headings == block.headings]
                goes_on = isinstance(before, PageTable) and before.headings == block.headings
                found = self.table(block, alike, headed=not goes_on)
            else:
                found = list(self.block(block))
            if found:
                packed = not self.details and isinstance(before, _PACKED) and isinstance(block, _PACKED)
                yield from ([] if before is None or packed else [""])
                yield from found
                before = block

    def block(self, block: PageBlock) -> Iterable[str]:
        """Return the lines of one block."""
        match block:
            case Prose(text) | Banner(text):
                return self.folded(text)
            case Bullets(items, numbered):
                marks = (f"{n}. " if numbered else "* " for n in range(1, len(items) + 1))
                return chain.from_iterable(self.folded(t, mark) for t, mark in zip(items, marks, strict=True))
            case FactList(pairs):
                width = max((len(one_line(term)) for term, _ in pairs), default=0)
                if width > min(_NARROW, self.width // 3):
                    return chain.from_iterable(self.folded(f"{term}: {text}", _INDENT) for term, text in pairs)
                return chain.from_iterable(self.folded(text, f"{_INDENT}{one_line(t):{width}}  ") for t, text in pairs)
            case PageTable():
                return self.table(block, [block])
            case Verbatim(text):
                return (f"{_INDENT}{printable(line)}".rstrip() for line in text.splitlines())
            case Quotation(text, source):
                return self.folded(f'"{text}" ({source})', _INDENT)
            case Drawing(_, title, said):
                return self.under(f"{title} (the picture is on the page)", (Bullets(said),))
            case Picture(_, _, title):
                return self.folded(title)
            case Blanks(labels):
                return chain.from_iterable(self.folded(f"{label}: {'_' * 20}") for label in labels)
            case Section(heading, blocks):
                return self.under(heading, blocks)
            case SideBySide(left, right):
                return self.blocks((left, right))
            case Walkthrough(title, steps):
                return self.under(title, steps)

    def under(self, heading: str, blocks: tuple[PageBlock, ...]) -> Iterator[str]:
        """Yield a heading and the blocks below it: of a page in capitals, on a screen with its blocks indented."""
        if self.details:
            yield from (*self.folded(heading.upper()), *self.blocks(blocks))
            return
        yield from self.folded(heading)
        inner = replace(self, width=self.width - len(_INDENT), table_width=self.table_width - len(_INDENT))
        yield from (f"{_INDENT}{line}".rstrip() for line in inner.blocks(blocks))

    def folded(self, text: str, mark: str = "") -> list[str]:
        """Return one paragraph in lines that fit, the first after `mark` and the others indented as far."""
        rest, width = " " * len(mark), max(self.width, 20)
        found = textwrap.wrap(
            one_line(text), width, initial_indent=mark, subsequent_indent=rest, break_on_hyphens=False
        )
        return found or [mark.rstrip()] * bool(mark.strip())  # a term stays where nothing is said of it

    def table(self, table: PageTable, alike: Sequence[PageTable], *, headed: bool = True) -> list[str]:
        """Return the caption of a table and its rows, in columns as wide as those of the tables `alike`.

        Long cells take several lines, if rows are few.
        """
        caption = self.folded(f"{table.caption}:")
        cells = [[one_line(text) for text in row] for row in (table.headings, *table.rows)]
        others = ([one_line(text) for text in row] for other in alike if other is not table for row in other.rows)
        widths = [max(map(len, column)) for column in zip(*cells, *others, strict=True)]
        if sum(widths) + 2 * len(widths) <= self.table_width or len(cells) > _MOST_FOLDED:
            return [*caption, *(_in_columns(row, widths, table.numbers) for row in cells[not headed :])]
        drawn = Table(box=None, pad_edge=False, show_header=headed)
        for at, heading in enumerate(cells[0]):
            narrow = widths[at] if len(alike) > 1 and widths[at] <= _NARROW else None
            drawn.add_column(
                heading, justify="right" if at in table.numbers else "left", overflow="fold", min_width=narrow
            )
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


def printable(line: str) -> str:
    """Return a line with its spaces, and with nothing in it that a terminal would obey."""
    return "".join(c if c.isprintable() else " " for c in line)
