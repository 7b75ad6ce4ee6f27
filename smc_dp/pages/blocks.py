"""Define the typed blocks of a report: plain text, tables and pictures.

A subject writes its report once, as blocks; `text.py` prints them to a terminal, and `html.py` makes a page of them. A
screen leaves out sections and pictures that are `details`. A text of any author is never taken for markup.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import ClassVar, Literal, TypeAlias

from smc_dp.core.errors import FieldValue, InputFault, LinesFault
from smc_dp.pages.svg import Svg

BannerLook: TypeAlias = Literal["secret", "failed", "insecure", "good", "plain"]


@dataclass(frozen=True)
class Prose:
    """A paragraph; `code` is stable where it states a decision or a warning."""

    text: str
    code: str = ""
    kind: ClassVar[str] = "prose"


@dataclass(frozen=True)
class Bullets:
    """A list."""

    items: tuple[str, ...]
    numbered: bool = False
    kind: ClassVar[str] = "bullets"


@dataclass(frozen=True)
class FactList:
    """Terms, each with what there is to say of it."""

    pairs: tuple[tuple[str, str], ...]
    kind: ClassVar[str] = "fact list"


@dataclass(frozen=True)
class PageTable:
    """A table; the first cell of a row is its heading, and columns with these `numbers`, from 0 on, hold figures."""

    caption: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...] = field(repr=False)  # in the walkthrough of a run, what participants keep secret
    numbers: tuple[int, ...] = ()
    kind: ClassVar[str] = "table"

    def __post_init__(self) -> None:
        if any(len(row) != len(self.headings) for row in self.rows):
            raise ValueError(f"table {self.caption!r}: wanted {len(self.headings)} cells in every row")


@dataclass(frozen=True)
class Verbatim:
    """Text as it stands: code, digests, lines of a record. `label` says what it is."""

    text: str
    label: str
    kind: ClassVar[str] = "verbatim"


@dataclass(frozen=True)
class Quotation:
    """Somebody's own words, and whose they are and where."""

    text: str
    source: str
    kind: ClassVar[str] = "quotation"

    def __post_init__(self) -> None:
        if not self.source.strip():
            raise ValueError("a quotation names its source")


@dataclass(frozen=True)
class Drawing:
    """A picture, after sentences that say all that it shows."""

    svg: Svg
    title: str
    said: tuple[str, ...]
    kind: ClassVar[str] = "drawing"

    def __post_init__(self) -> None:
        if not self.title.strip() or not any(map(str.strip, self.said)):
            raise ValueError("a picture has a title and sentences for a reader who does not see it")


@dataclass(frozen=True)
class Picture:
    """A chart as PNG, in a wide and a narrow form; its figures stand in a table of the same page."""

    wide: bytes = field(repr=False)
    narrow: bytes = field(repr=False)
    title: str
    kind: ClassVar[str] = "picture"


@dataclass(frozen=True)
class Blanks:
    """Lines to fill in by hand."""

    labels: tuple[str, ...]
    kind: ClassVar[str] = "blanks"


@dataclass(frozen=True)
class Banner:
    """A verdict or a warning that nobody may overlook; `code` is stable. The look only adds to the text."""

    text: str
    look: BannerLook = "plain"
    code: str = ""
    kind: ClassVar[str] = "banner"


@dataclass(frozen=True)
class Section:
    """Blocks under a heading; on paper it may begin a new sheet, and a screen leaves out `details`."""

    heading: str
    blocks: tuple[PageBlock, ...]
    new_sheet: bool = False
    details: bool = False
    kind: ClassVar[str] = "section"


@dataclass(frozen=True)
class SideBySide:
    """Two sections beside each other where there is room."""

    left: Section
    right: Section
    kind: ClassVar[str] = "side by side"


@dataclass(frozen=True)
class Walkthrough:
    """A walk: on a screen one section at a time, by buttons and arrow keys; all of them on paper and without script."""

    title: str
    steps: tuple[Section, ...]
    kind: ClassVar[str] = "walkthrough"


PageBlock: TypeAlias = (
    Prose
    | Bullets
    | FactList
    | PageTable
    | Verbatim
    | Quotation
    | Drawing
    | Picture
    | Blanks
    | Banner
    | Section
    | SideBySide
    | Walkthrough
)


@dataclass(frozen=True)
class Page:
    """A whole page. `notices` come first, `made` says at the end how and by what it was made; `on_every_sheet` stays in
    sight on a screen and stands on every printed sheet.
    """

    title: str
    sections: tuple[Section, ...]
    notices: tuple[Banner, ...] = ()
    made: tuple[str, ...] = ()
    on_every_sheet: str = ""


def coded_prose(code: str, /, **fields: FieldValue) -> Prose:
    """Return a decision or a warning; its sentence stands in the `faults.toml` of the room that states it."""
    return Prose(str(InputFault(code, fields)), code)


def lines_blocks(fault: LinesFault | None) -> Iterator[PageBlock]:
    """Yield the lines to copy that a fault has, if there are any."""
    if fault is not None:
        yield Prose(fault.sentence[0].upper() + fault.sentence[1:], fault.code)
        yield Verbatim("\n".join(fault.lines), "Lines to copy")


def rest_of(count: int, most: int, where: str = "") -> Iterator[PageBlock]:
    """Yield the number of those that stand after the first `most`, if there are any, and `where` they do."""
    if count > most:
        yield Prose(f"And {count - most:,} more{where}.")


def format_counts(*numbers: int) -> tuple[str, ...]:
    """Return whole numbers as cells of a table."""
    return tuple(f"{number:,}" for number in numbers)


def texts_by_code(blocks: Iterable[PageBlock]) -> dict[str, str]:
    """Return the texts of the decisions and warnings among these blocks, by code."""
    found: dict[str, str] = {}
    for block in blocks:
        if isinstance(block, Prose | Banner) and block.code:
            found[block.code] = block.text
        elif isinstance(block, Section):
            found |= texts_by_code(block.blocks)
    return found
