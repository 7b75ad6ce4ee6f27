"""What a person reads of data sets, and of a file of their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from smc_dp.core.errors import one_line, shown
from smc_dp.data.catalogue import CatalogueEntry, DatasetCheck
from smc_dp.data.points import Pool
from smc_dp.data.validate_file import PRIVATE, CheckedFile
from smc_dp.data.validation_errors import TableFault

HEADINGS = ("data set", "state", "rows", "test rows", "columns", "classes", "what it is", "used by")
NUMBERS = ("rows", "test rows", "columns", "classes")


def rows(entries: Sequence[CatalogueEntry]) -> Iterator[tuple[str, ...]]:
    """A row of text under `HEADINGS` for every data set."""
    for e in entries:
        test = f"{e.test_rows:,}" if e.test_rows else ""
        yield e.name, e.state, f"{e.rows:,}", test, f"{e.columns:,}", str(e.classes), e.what, e.paper


def checked(check: DatasetCheck) -> str:
    """A file, and what is wrong with it if anything is."""
    return f"ok     {check.file}" if check.ok else f"WRONG  {check.file}  {check.message}".rstrip()


def prepared(name: str, pool: Pool, kept: Path | None) -> Iterator[str]:
    """The sizes of a data set, what is to be known of it, and where it is kept."""
    tested = "" if pool.test is None else f", {len(pool.test)} test rows"
    yield f"{name}: {len(pool.train)} rows{tested}, {pool.train.X.shape[1]} columns, {len(pool.classes)} classes"
    yield from (f"note: {note}" for note in pool.notes)
    if kept is not None:
        yield f"kept in {kept}"


def own_file(found: CheckedFile) -> Iterator[str]:
    """A party's file: its faults with what mends them, the lines to add to the bounds, what will be clipped."""
    if found.faults:
        count = "1 fault" if len(found.faults) == 1 else f"{len(found.faults)} faults"
        yield one_line(f"{found.source}: {count}. {PRIVATE}")
        yield from map(one_line, map(_fault, found.faults))
        yield from _to_add(found.faults)
    else:
        classes = ", ".join(f"{count:,} {name}" for name, count in (found.classes or {}).items())
        yield one_line(f"{found.source}: {found.rows:,} rows fit the bounds ({classes}). {PRIVATE}")
    yield from (one_line(f"warning: {text}") for text in found.warnings())


def _fault(fault: TableFault) -> str:
    if not fault.rows:
        return fault.what
    rows = ", ".join(f"{row:,}" for row in fault.rows) + (", ..." if fault.count > len(fault.rows) else "")
    many = "row " + rows if fault.count == 1 else f"{fault.count:,} rows ({rows})"
    return f"column {shown(fault.column)}, {many}: {fault.what}"


def _to_add(faults: Sequence[TableFault]) -> Iterator[str]:
    """The lines that mend them, section by section, as they may be copied into the bounds."""
    sections: dict[str, dict[str, None]] = {}
    for fault in faults:
        if fault.section is not None and fault.line is not None:
            note = "" if fault.note is None else f"  # {fault.note}"
            sections.setdefault(fault.section, {})[fault.line + note] = None
    if sections:
        yield "What would mend it in the bounds, which are public and the same for all parties:"
    for section, lines in sections.items():
        yield from ("  " + "".join(c if c.isprintable() else " " for c in line) for line in (f"[{section}]", *lines))
