"""Warnings of this package: rows that were clipped, told where they lie and nowhere else; files that were ignored."""

from __future__ import annotations

import warnings

MOST_CLIPPED = 0.05
"""The share of clipped rows, or of numbers outside their bounds, above which somebody is told."""
_LOCAL = "This counts private rows and stays on this machine: nothing that is released has it."


class RowsClippedWarning(UserWarning):
    """More than 5 % of the rows that somebody trains on were clipped, or of a column's numbers, by a public bound.

    It counts private rows, so it is told where these are and enters no release, no `privacy_` and no record. Clipping
    costs accuracy and no privacy. The bound may be changed by what is publicly known, and not by what this says: a
    bound that follows private rows is a release of its own.

    Examples
    --------
    To be sure that no row of a trial is clipped, make it an error:

    >>> import warnings
    >>> from smc_dp import AveragingClassifier, RowsClippedWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", RowsClippedWarning)
    ...     AveragingClassifier(radius=1.0).fit([[3.0], [-4.0], [2.0], [-3.0], [5.0]], [1, 0, 1, 0, 1])
    Traceback (most recent call last):
    smc_dp.notices.RowsClippedWarning: AveragingClassifier: 5 of 5 rows are longer than radius 1 and clipped. ...

    """


class FileIgnoredWarning(UserWarning):
    """A file in a run folder was ignored."""


def clipped_too_often(clipped: int, count: int) -> bool:
    """Whether so many out of `count` are worth a word."""
    return clipped > MOST_CLIPPED * count


def warn_clipped(what: str, advice: str, *, stacklevel: int = 2) -> None:
    """Warn of `what`, a sentence that says who counted how many, with what to do about it.

    Raises RowsClippedWarning itself where a filter has made errors of warnings.
    """
    warnings.warn(f"{what} {advice} {_LOCAL}", RowsClippedWarning, stacklevel=stacklevel + 1)


def warn_ignored(what: str, *, stacklevel: int = 2) -> None:
    """Warn that a file was ignored; `what` says which and why."""
    warnings.warn(what, FileIgnoredWarning, stacklevel=stacklevel + 1)
