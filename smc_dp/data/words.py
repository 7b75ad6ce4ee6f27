"""What a person reads of the data sets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from smc_dp.data.catalogue import CatalogueEntry, DatasetCheck
from smc_dp.data.points import Pool

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
