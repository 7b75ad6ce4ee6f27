"""Result of `describe`: the released sum, and all that follows from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from smc_dp.methods.statistics.contingency import ContingencyTable
from smc_dp.methods.statistics.description import ColumnDescription, column_rows
from smc_dp.methods.statistics.estimate import INTERVAL_LEVEL
from smc_dp.methods.statistics.figure_row import COUNT, FigureRow
from smc_dp.methods.statistics.groups import GroupDescription


@dataclass(frozen=True)
class DescribeResult:
    """Description of all rows.

    Parameters
    ----------
    rows, parties : int
        Number of rows, and of parties in the sum.
    sums : tuple of float
        The released sum with its noise, column by column: a count for each level, or for numbers in [-1, 1] their sum
        and the weighted sum of their squares; a count of empty cells comes last. With groups, of each in turn.
    columns : tuple of ColumnDescription
        What follows from it, in the units of the columns; a label is the last.
    by : str, default=None
        Column whose levels make the groups.
    groups : tuple of GroupDescription, default=()
        What follows of each group.
    tables : tuple of ContingencyTable, default=()
        Counts of pairs of columns, which come last in the sum.

    Examples
    --------
    >>> import pandas as pd
    >>> from smc_dp import DescribeResult, SecureSumDescribe
    >>> from smc_dp.data.bounds import parse_bounds
    >>> rows = pd.DataFrame({"sex": ["f", "m", "m"] * 500})
    >>> found = SecureSumDescribe(parse_bounds('[columns]\\nsex = ["f", "m"]')).fit(rows).result_
    >>> isinstance(found, DescribeResult), found.rows
    (True, 1500)
    >>> [(row.level, row.figure) for row in found.table()]
    [('f', 'count'), ('m', 'count')]

    """

    rows: int
    parties: int
    sums: tuple[float, ...]
    columns: tuple[ColumnDescription, ...]
    by: str | None = None
    groups: tuple[GroupDescription, ...] = ()
    tables: tuple[ContingencyTable, ...] = ()

    def table(self) -> tuple[FigureRow, ...]:
        """Return the figures of all rows, column by column, of each table, and then those of each group.

        Returns
        -------
        tuple of FigureRow
            Each with `column`, `level`, `figure`, `group` and `found`, an `Estimate` or None.

        """
        found = [row for column in self.columns for row in column_rows(column)]
        found += [row for one in self.tables for row in one.rows()]
        for one in self.groups:
            found += [FigureRow(str(self.by), one.group, COUNT, one.rows, one.group), *one.figures]
        return tuple(found)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, without groups and tables where there are none.

        Returns
        -------
        dict
            The released sum, and all figures that follow from it.

        """
        grouped = {} if self.by is None else {"by": self.by, "groups": [one.as_dict() for one in self.groups]}
        return {
            "rows": self.rows,
            "parties": self.parties,
            "level": INTERVAL_LEVEL,
            "sums": list(self.sums),
            "columns": {column.name: column.as_dict() for column in self.columns},
            **grouped,
            **({"tables": [one.as_dict() for one in self.tables]} if self.tables else {}),
        }
