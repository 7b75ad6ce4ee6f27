"""Picture of a coalition matrix, of its tables alone; patterns of levels can be told apart in grey."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from smc_dp.core.version import __version__
from smc_dp.leakage.matrix_text import MatrixTable
from smc_dp.pages.blocks import Drawing, Page, PageTable, Prose, Section
from smc_dp.pages.svg import Fill, Svg, text_width

LEAST_WIDTH, LEAST_COLUMN, MARGIN = 352.0, 56.0, 2.0
LINE, CELL, APART = 16.0, 32.0, 10.0
_FONT_SIZE = 13.0
_FILLS: tuple[tuple[str, str, Fill], ...] = (
    ("all", "dark", "solid"),
    ("listed", "dense strokes", "dense"),
    ("partly", "hatched", "hatched"),
    ("(-)", "dotted", "dotted"),
    ("-", "white", "paper"),
    ("own", "shaded", "shade"),
)
"""Levels of knowledge from the worst on, as cells name them, with the name and the fill of their pattern."""


def matrix_page(tables: Sequence[MatrixTable], legend: Sequence[str]) -> Page:
    """Return the page of a matrix: a section for each table, then its legend, limits and method."""
    key, limits, method = legend
    explained = (
        Section("How to read it", (Prose(key),)),
        Section("What is not in it", (Prose(limits),)),
        Section("How it was computed", (Prose(method),)),
    )
    protocol = tables[0].title.partition(",")[0]
    return Page(
        f"{protocol}: what each coalition learns",
        (*map(matrix_section, tables), *explained),
        made=("Computed from the code of the protocol, whoever runs it.", f"Made by smc-dp {__version__}."),
    )


def matrix_section(table: MatrixTable) -> Section:
    """Return one table: its picture after the sentences, then its cells as a table."""
    rows = tuple((who, *cells) for who, cells in table.rows)
    cells = PageTable("The same as a table", ("coalition", *table.columns), rows)
    return Section(table.title, (matrix_drawing(table), cells))


def matrix_drawing(table: MatrixTable) -> Drawing:
    """Return the picture of a table, after sentences that say all that it shows."""
    said = (*([table.margin] if table.margin else []), *table.sentences, _patterns(table))
    return Drawing(_Plate(table).drawn(), "Coalitions and what they learn", said)


def _patterns(table: MatrixTable) -> str:
    seen = {_worst(cell) for _, cells in table.rows for cell in cells if cell}
    shown = ", ".join(f"{level} is {look}" for level, look, _ in _FILLS if level in seen)
    return f"In the picture {shown}; where a cell has several, the worst of them sets the pattern."


def _worst(cell: str) -> str:
    """Return the worst level that a cell names."""
    levels = cell.replace("*", "").split("/")
    return next(level for level, _, _ in _FILLS if level in levels)


class _Plate:
    """Layout of the picture of one table."""

    def __init__(self, table: MatrixTable) -> None:
        self.table = table
        count = len(table.columns)
        self.column = max(LEAST_COLUMN, (LEAST_WIDTH - 2 * MARGIN) / count)
        self.width = 2 * MARGIN + self.column * count
        letters = int(self.width / text_width("n", _FONT_SIZE))
        self.who = [textwrap.wrap(f"{who[0].upper()}{who[1:]}", letters) for who, _ in table.rows]
        self.heads = [textwrap.wrap(name, self._fitting(name)) for name in table.columns]

    def drawn(self) -> Svg:
        """Return the picture: the names of the columns, then each coalition above its cells."""
        top = LINE * max(map(len, self.heads)) + 8
        svg = Svg(self.width, top + sum(LINE * len(lines) + CELL + APART for lines in self.who))
        for i, lines in enumerate(self.heads):
            self._lines(svg, self._x(i) + self.column / 2, 0, lines, middle=True)
        y = top
        for lines, (_, cells) in zip(self.who, self.table.rows, strict=True):
            self._lines(svg, MARGIN, y, lines)
            y += LINE * len(lines) + 2
            for i, cell in enumerate(cells):
                self._cell(svg, self._x(i), y, cell)
            y += CELL + APART - 2
        return svg

    def _lines(self, svg: Svg, x: float, y: float, lines: Sequence[str], *, middle: bool = False) -> None:
        for i, line in enumerate(lines, start=1):
            svg.text(x, y + LINE * i - 4, line, "middle" if middle else "start", size=_FONT_SIZE)

    def _cell(self, svg: Svg, x: float, y: float, cell: str) -> None:
        if not cell:
            return
        fill = next(fill for level, _, fill in _FILLS if level == _worst(cell))
        svg.rect(x + 1, y, self.column - 2, CELL - 2, fill)
        middle = x + self.column / 2
        if fill in ("dense", "hatched", "dotted"):  # a plate under the word
            half = min(self.column / 2 - 3, text_width(cell, _FONT_SIZE) / 2 + 2)
            svg.rect(middle - half, y + 7, 2 * half, CELL - 16, "paper")
        svg.text(middle, y + CELL / 2 + 4, cell, "middle", size=_FONT_SIZE, light=fill == "solid", bold="*" in cell)

    def _fitting(self, name: str) -> int:
        """Return the number of letters that fit over a column, at least those of the longest word."""
        return max(int(self.column / text_width("n", _FONT_SIZE)), *map(len, name.split()))

    def _x(self, column: int) -> float:
        return MARGIN + self.column * column
