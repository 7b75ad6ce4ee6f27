"""Preflight check of a plan: every method trains on a few rows of the first deal, before anything is written."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from protocols.arithmetic.rng import Stream
from smc_dp.core.errors import InputError
from smc_dp.data.federation import Federation
from smc_dp.data.load_pool import Pool
from smc_dp.data.partition import partition_pool
from smc_dp.experiments.compare import secure
from smc_dp.experiments.compare.plan import GridEntry, GridPlan, GridSetting
from smc_dp.experiments.compare.task import GRID_PARTITION_SEED

_FEW = 2  # parties, and rows of each and of what is public


def refuse_hopeless(plan: GridPlan, pool: Pool, source: tuple[str, bool]) -> None:
    """Raise InputError, with the reason, for the first entry that fails on each of its settings, all of this data set.

    Refusals for other reasons, such as the size of a party, show in the cells.
    """
    dealt = {s: _first_partition(pool, s) for s in plan.settings if s.source == source}
    for entry in plan.entries:
        mine = [s for s in plan.settings if entry.runs_on(s)]
        why = [error for s in mine if s in dealt and (error := _refusal(entry, dealt[s]))]
        if why and len(why) == len(mine):
            nobody = isinstance(dealt[mine[0]], InputError)  # the deal is at fault
            raise why[0] if nobody else why[0].within(f"{entry.label} cannot run on {mine[0].name}")


@dataclass(frozen=True)
class _FirstPartition:
    """First deal, and a few rows of it, which are of the same width and kind."""

    whole: Federation
    few: Federation


def _first_partition(pool: Pool, setting: GridSetting) -> _FirstPartition | InputError:
    """Return the first deal; the reason if there is none."""
    try:
        federation, _ = partition_pool(pool, setting.deal, GRID_PARTITION_SEED)
    except InputError as error:
        return error
    some = np.arange(_FEW)
    few = replace(
        federation,
        parties=tuple(rows.take(some[: len(rows)]) for rows in federation.parties[:_FEW]),
        unlabelled=None if federation.unlabelled is None else federation.unlabelled[:_FEW],
        labelled=None if federation.labelled is None else federation.labelled.take(some[: len(federation.labelled)]),
        names=federation.names[:_FEW],
    )
    return _FirstPartition(federation, few)


def _refusal(entry: GridEntry, dealt: _FirstPartition | InputError) -> InputError | None:
    if isinstance(dealt, InputError):
        return dealt
    with suppress(Exception):  # any other than a refusal is for the cells to tell
        try:
            if entry.trust == "secure":
                _try_specs(entry, dealt)
            else:
                entry.make().train(dealt.few)
        except InputError as error:
            return error
    return None


def _try_specs(entry: GridEntry, dealt: _FirstPartition) -> None:
    """Make the mechanism of every epsilon among all parties, and one contribution of a few rows."""
    local_model = secure.local_model(entry, dealt.whole)
    specs = [local_model.spec(entry.target(epsilon)) for epsilon in entry.epsilons]
    for spec in specs:
        local_model.statement(spec)
    specs[0].part(dealt.few.parties[0], Stream.from_system())
