"""Reports of data sets, and of the check of a party's own file against bounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from smc_dp.core.errors import Fault, shown
from smc_dp.data.bounds import Bounds
from smc_dp.data.columns import CATEGORY, INDICATOR, LEAVE_OUT, BinnedColumn, CategoricalColumn, Column, DateColumn
from smc_dp.data.dataset_info import DATASET_INFO
from smc_dp.data.refused_input import advise
from smc_dp.data.validate_file import PRIVATE_NOTICE, FileValidation
from smc_dp.data.validation_errors import TableFault
from smc_dp.pages.blocks import PageBlock, PageTable, Prose, Verbatim, lines_blocks, rest_of
from smc_dp.pages.shortening import join_first, shorten
from smc_dp.pages.text import printable

_HEADINGS = ("data set", "state", "rows", "test rows", "columns", "classes", "what it is", "used by")
_MOST_COLUMNS, _MOST_LEVELS, _LONGEST = 400, 40, 400  # columns, levels of one, characters of a cell
_RULES = {
    CATEGORY: "is a category of its own",
    INDICATOR: "counts as the middle of the range, and is marked",
    LEAVE_OUT: "leaves the row out",
}


def dataset_table(folder: Path | None) -> PageTable:
    """Return the data sets, and whether their files are in this folder."""
    tested = ((name, e, f"{e.test_rows:,}" if e.test_rows else "") for name, e in DATASET_INFO.items())
    rows = (
        (name, e.state(folder), f"{e.rows:,}", test, f"{e.columns:,}", str(e.classes), e.description, e.paper)
        for name, e, test in tested
    )
    return PageTable("Data sets", _HEADINGS, tuple(rows), numbers=(2, 3, 4, 5))


def file_check(name: str, fault: Fault | None) -> Prose:
    """Return a file of a data set, and what is wrong with it if anything is."""
    if fault is None:
        return Prose(f"ok: {name}", "data.file_as_recorded")
    return Prose(f"WRONG: {fault}", fault.code)


def column_table(bounds: Bounds) -> Iterator[PageBlock]:
    """Yield the columns with their public bounds, and what an empty cell stands for."""
    shown_columns = bounds.columns[:_MOST_COLUMNS]
    rows = (
        (shorten(c.name), *(shorten(text, _LONGEST) for text in (*_values(c), _empty(c.missing))))
        for c in shown_columns
    )
    yield PageTable("Columns", ("column", "what it is", "bounds", "an empty cell"), tuple(rows))
    yield from rest_of(len(bounds.columns), _MOST_COLUMNS)


def _values(column: Column) -> tuple[str, str]:
    if isinstance(column, CategoricalColumn):
        others = dict(column.aliases)
        levels = [" or ".join((level, *others.get(level, ()))) for level in column.categories]
        return "one of several texts", join_first(levels, _MOST_LEVELS)
    if isinstance(column, DateColumn):
        return "a date", f"{column.first} to {column.last}"
    if isinstance(column, BinnedColumn):
        return "a number, by its bin", join_first([f"{edge:g}" for edge in column.edges], _MOST_LEVELS)
    return "a number", f"{column.low:g} to {column.high:g}"


def _empty(rule: float | str | None) -> str:
    if rule is None:
        return "is refused"
    return _RULES.get(str(rule), f"counts as {rule:g}" if isinstance(rule, float) else f"counts as {rule}")


def blocks(found: FileValidation) -> Iterator[PageBlock]:
    """Yield the faults of a party's file, the lines to add to the bounds, and what will be clipped."""
    if found.faults:
        count = "1 fault" if len(found.faults) == 1 else f"{len(found.faults)} faults"
        if found.rows is None and (line := found.faults[0].fault.fields.get("line")) is not None:
            count = f"at least {count}: the check ended at line {line}"
        notice = "" if found.faults[0].code == "file.unreadable" else f" {PRIVATE_NOTICE}"
        yield Prose(f"{found.source}: {count}.{notice}", "file.does_not_fit")
        # Some faults say what to write, which is to be copied: a terminal must not fold it.
        said, lines_of_site = advise([fault.fault for fault in found.faults])
        told = (printable(_fault(fault, str(one))) for fault, one in zip(found.faults, said, strict=True))
        yield Verbatim("\n".join(told), "Faults")
        yield from lines_blocks(lines_of_site)
        if lines := _to_add(found.faults):
            yield Prose(
                "Lines for the bounds file, which fix some or all of these faults. The bounds are public and the same "
                "for all parties:"
            )
            yield Verbatim("\n".join(lines), "Lines for the bounds")
    else:
        kept = (found.rows or 0) - found.left_out
        classes = ", ".join(f"{count:,} of class {name}" for name, count in (found.classes or {}).items())
        of_classes = f" ({classes})" if classes else ""
        yield Prose(
            f"{found.source}: {kept:,} of {found.rows:,} rows can be used{of_classes}. {PRIVATE_NOTICE}",
            "file.fits",
        )
    yield from (Prose(f"warning: {text}") for text in found.warnings())


def _fault(fault: TableFault, what: str) -> str:
    if not fault.rows:
        return what
    where = "" if fault.code == "row.empty" else f"column {shown(fault.column)}, "
    rows = ", ".join(f"{row:,}" for row in fault.rows) + (", ..." if fault.count > len(fault.rows) else "")
    many = f"{fault.counted} {rows}" if fault.count == 1 else f"{fault.count:,} {fault.counted}s ({rows})"
    return f"{where}{many}: {what}"


def _to_add(faults: Sequence[TableFault]) -> list[str]:
    """Return the lines that fix them, section by section, as they may be copied into the bounds."""
    sections: dict[str, dict[str, None]] = {}
    for fault in faults:
        if fault.section is not None and fault.line is not None:
            note = "" if fault.note is None else f"  # {fault.note}"
            sections.setdefault(fault.section, {})[printable(fault.line + note)] = None
    return [line for section, lines in sections.items() for line in (printable(f"[{section}]"), *lines)]
