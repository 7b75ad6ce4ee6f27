"""Validation of one party's file against public bounds: everything that does not fit, and what is clipped.

The result quotes cells and counts rows. It is private, for the party's own machine, and enters nothing public.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from smc_dp.core.errors import Fault, InputError, LinesFault, clipped_too_often, shown
from smc_dp.data.bounds import Bounds
from smc_dp.data.columns import BinnedColumn, NumericColumn
from smc_dp.data.federation import NO_ROWS
from smc_dp.data.file_format import FileFormat
from smc_dp.data.partition import check_name
from smc_dp.data.preprocess import examine_table
from smc_dp.data.refused_file import examine_refused
from smc_dp.data.refused_input import lines_for_site
from smc_dp.data.table import Table
from smc_dp.data.table_reader import read_table
from smc_dp.data.usual_clip import no_row_shortened
from smc_dp.data.validation_errors import TableFault, unnamed_label_fault

_THOUSANDS, _LOOKED_AT = re.compile(r"\s*[+-]?[1-9]\d{0,2}(\.\d{3})+\s*", re.ASCII), 10_000  # cells; rows
PRIVATE_NOTICE = (
    "This output counts rows, and quotes cells where they have faults. It is private: keep it on this party's machine."
)


@dataclass(frozen=True)
class FileValidation:
    """Result of validating a file; rows: their number, None where the file could not be read.

    faults: what a run would refuse. outside: numbers and dates that a run clips to their bounds. Only without faults:
    left_out, rows dropped for an empty cell; clipped, rows shortened to the norm of the bounds; classes, the number of
    rows of each class by its name, None without a label; unused, columns of the file that the bounds do not name.
    ignored: notes on columns that have no name. columns: the number of those that the bounds name. points: warnings of
    columns in which a point may stand between thousands.
    """

    source: str
    rows: int | None
    faults: tuple[TableFault, ...]
    outside: tuple[TableFault, ...] = ()
    left_out: int = 0
    clipped: int = 0
    classes: dict[str, int] | None = None
    unused: tuple[str, ...] = ()
    ignored: tuple[Fault, ...] = ()
    columns: int = 0
    points: tuple[str, ...] = ()

    @property
    def fits(self) -> bool:
        """True if a run would take the file."""
        return not self.faults

    @property
    def lines_for_site(self) -> LinesFault | None:
        """Lines by which the party would have all cells read that a format can read; None where none can."""
        return lines_for_site(fault.fault for fault in self.faults)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        counts = {name: getattr(self, name) for name in ("left_out", "clipped", "classes", "unused")}
        found = {name: [fault.as_dict() for fault in getattr(self, name)] for name in ("faults", "outside")}
        warnings = list(self.warnings())
        faults = {"fits": self.fits, "rows": self.rows, **found}
        lines = self.lines_for_site
        return {
            **faults,
            **counts,
            "format": None if lines is None else dict(lines.fields),
            "warnings": warnings,
            "private": PRIVATE_NOTICE,
        }

    def warnings(self) -> Iterator[str]:
        """Yield a warning for each property that a run accepts and the owner should know."""
        yield from map(str, self.ignored)
        yield from self.points
        for fault in self.outside:
            many = "1 cell lies" if fault.count == 1 else f"{fault.count:,} cells lie"
            first = f"the first, in {fault.counted} {fault.rows[0]}: {fault.what}"
            yield f"column {shown(fault.column)}: {many} outside the bounds and will be clipped to them; {first}"
            if self.rows is not None and 2 * fault.count > self.rows:
                share = f"{fault.count / self.rows:.0%} of its cells are clipped"
                yield f"column {shown(fault.column)}: {share}. Check the unit of the column, and the bounds"
        if self.rows is None or not self.fits:
            return
        if self.unused:
            yield f"the bounds do not use these columns: {', '.join(map(shown, self.unused))}"
        kept = self.rows - self.left_out
        if self.left_out:
            yield f"{self.left_out:,} of {self.rows:,} rows will be left out for an empty cell"
        if clipped_too_often(self.clipped, kept):
            share = f"{self.clipped:,} of {kept:,} rows ({self.clipped / kept:.0%})"
            longer = f"{share} are longer than clip in [rows] of the bounds and will be shortened to it"
            yield f"{longer}. {no_row_shortened(self.columns)}"
        if self.classes is not None and sum(count > 0 for count in self.classes.values()) == 1:
            only = next(name for name, count in self.classes.items() if count)
            yield f"all rows are of class {shown(only)}. The method prr_mean refuses such a party"


def validate_file(
    path: Path, bounds: Bounds, name: str, label: str | None = None, form: FileFormat | None = None
) -> FileValidation:
    """Validate the file of the party of this name; an unreadable file is a fault in the result.

    form: the format of the file where stated elsewhere than beside it. Raises InputError for an invalid party name, and
    where neither the bounds nor `label` name the column of the classes that the bounds have.
    """
    check_name(name)
    column = label or bounds.label
    if column is None and bounds.has_label:
        raise InputError("bounds.no_label_column").within("bounds")
    public = replace(bounds, label=column)
    source = f"party {name} ({path})"
    try:
        table = read_table(path, source, form=form)
    except InputError as error:
        refusal, others = examine_refused(error, path, source, public)
        fault = replace(refusal.fault, place=refusal.fault.place.removeprefix(f"{source}: "))
        return FileValidation(source, None, (TableFault("", fault), *others))
    if not table.rows:
        return FileValidation(source, 0, (TableFault("", NO_ROWS),))
    found = examine_table(table, public, column)
    wrong = found.faults
    if column and bounds.label is None and any(fault.column == column and fault.line is not None for fault in wrong):
        wrong = (unnamed_label_fault(column), *wrong)
    if wrong:
        return FileValidation(source, table.rows, wrong, found.outside, ignored=table.ignored)
    classes = None
    if public.classes:
        counts = np.bincount(found.y, minlength=public.class_count).tolist()
        classes = dict(zip(public.classes, counts, strict=True))
    left_out, used = table.rows - len(found.kept), {column, *(one.name for one in public.columns)}
    unused = tuple(name for name in table.columns if name not in used)
    points = tuple(_warn_of_points(table, public))
    counts_of = (left_out, found.clipped, classes, unused, table.ignored, len(public.columns), points)
    return FileValidation(source, table.rows, (), found.outside, *counts_of)


def _warn_of_points(table: Table, bounds: Bounds) -> Iterator[str]:
    """Yield a warning for each column of a file with semicolons in whose first rows points may stand between thousands.

    Spreadsheets write semicolons where a comma stands before decimals.
    """
    if (table.form.separator, table.form.decimal, table.form.thousands) != (";", ".", None):
        return
    first = table.take(np.arange(min(table.rows, _LOOKED_AT)), table.source)
    for column in bounds.columns:
        if isinstance(column, NumericColumn | BinnedColumn):
            pointed = [str(cell) for cell in first.different(column.name)[0] if "." in str(cell)]
            if pointed and all(map(_THOUSANDS.fullmatch, pointed)):
                cell = pointed[0].strip()
                whole = cell.replace(".", "")
                advice = table.form.advice(decimal=",", thousands=".")
                yield (
                    f"column {shown(column.name)}: each point has three digits behind it. If {cell} means "
                    f"{whole}, {advice}"
                )
