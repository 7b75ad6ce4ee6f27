"""Before anything is written: a few rows of the first deal, through every method, to see what can never work."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import numpy as np

from smc_dp.compare.plan import GridEntry, GridPlan, GridSetting
from smc_dp.compare.task import PUBLIC_SEED
from smc_dp.data.deal import deal_pool
from smc_dp.data.federation import Federation
from smc_dp.data.pool import Pool
from smc_dp.errors import InputError

_FEW = 2  # parties, and rows of each and of what is public


def refuse_hopeless(plan: GridPlan, pool: Pool, source: tuple[str, bool]) -> None:
    """InputError, with the reason, for the first entry that fails on each of its settings, all of this data set.

    What is refused for other reasons, such as the size of a party, shows in the cells.
    """
    dealt = {s: _few(pool, s) for s in plan.settings if s.source == source}
    for entry in plan.entries:
        mine = [s for s in plan.settings if entry.runs_on(s)]
        why = [_refusal(entry, dealt[s]) for s in mine if s in dealt]
        if len(why) == len(mine) and all(why):
            nobody = not isinstance(dealt[mine[0]], Federation)  # the deal is at fault
            raise InputError(f"{why[0]}" if nobody else f"{entry.label} cannot run on {mine[0].name}: {why[0]}")


def _few(pool: Pool, setting: GridSetting) -> Federation | str:
    """A few rows of the first deal, which is of the same width and kind; the reason if there is none."""
    try:
        federation, _ = deal_pool(pool, setting.deal, PUBLIC_SEED)
    except InputError as error:
        return str(error)
    some = np.arange(_FEW)
    return replace(
        federation,
        parties=tuple(rows.take(some[: len(rows)]) for rows in federation.parties[:_FEW]),
        unlabelled=None if federation.unlabelled is None else federation.unlabelled[:_FEW],
        labelled=None if federation.labelled is None else federation.labelled.take(some[: len(federation.labelled)]),
        names=federation.names[:_FEW],
    )


def _refusal(entry: GridEntry, dealt: Federation | str) -> str | None:
    if not isinstance(dealt, Federation):
        return dealt
    with suppress(Exception):  # any other than a refusal is for the cells to tell
        try:
            entry.make().train(dealt)
        except InputError as error:
            return str(error)
    return None
