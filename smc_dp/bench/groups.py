"""All groups of rows by name, and how they are measured one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from smc_dp.bench import argmin, encryption, growth, scale, sums, whole, workers
from smc_dp.bench.goals import DisagreeError, Goal, GoalRow, HearStep, MeasureGroup
from smc_dp.errors import InputError, shown

GROUPS: Mapping[str, MeasureGroup] = MappingProxyType(
    {group.GROUP: group.rows for group in (whole, scale, argmin, encryption, sums, growth, workers)}
)


def chosen(only: Sequence[str] | None) -> tuple[str, ...]:
    """The groups of these names, in the order in which they are measured; raises InputError for one that is none."""
    for name in only or ():
        if name not in GROUPS:
            raise InputError(f"only: wanted some of {', '.join(GROUPS)}, got {shown(name)}")
    return tuple(name for name in GROUPS if only is None or name in only)


def measured(
    names: Sequence[str], quick: bool, hear: HearStep, groups: Mapping[str, MeasureGroup] = GROUPS
) -> Iterator[GoalRow]:
    """The rows of these groups as they are measured.

    A group whose two sides disagree, or one of whose runs fails, has no further rows: one that says so stands for them,
    and is not passed.
    """
    for name in names:
        try:
            yield from groups[name](quick, hear)
        except RuntimeError as error:
            why = "no ratio where results differ" if isinstance(error, DisagreeError) else "it did not end"
            yield GoalRow(name, str(error), Goal("ends"), None, why=why, quick=quick, wrong=True)
