"""Estimate of the time that a grid will take, from one trial of each method for each data set and number of parties."""

from __future__ import annotations

import time
from collections.abc import Hashable
from dataclasses import replace
from pathlib import Path

from threadpoolctl import threadpool_limits

from protocols.arithmetic.rng import Stream
from smc_dp.data.load_pool import Pool
from smc_dp.data.partition import partition_pool
from smc_dp.experiments.compare.plan import GridCell, GridPlan
from smc_dp.experiments.compare.runner import count_workers, load_source, unfinished_cells
from smc_dp.experiments.compare.task import GRID_PARTITION_SEED, Trainer, measure_quality


def estimate_seconds(plan: GridPlan, folder: Path, data: Path | None, jobs: int | None) -> float:
    """Return the seconds that the unfinished cells of a plan will take on so many workers, trials of a moment apart.

    What cannot be loaded or trained counts nothing here, and fails in its cells. Raises InputError for a first data set
    that cannot be loaded.
    """
    total, todo = 0.0, unfinished_cells(plan, folder)
    for source in dict.fromkeys(cell.setting.source for cell in todo):
        pool, seconds = load_source(source, data), dict[Hashable, float]()
        cells = [cell for cell in todo if cell.setting.source == source]
        for cell in cells:
            kind = _kind(cell)
            if kind not in seconds:
                seconds[kind] = _cell_seconds(pool, cell)
        total += sum(seconds[_kind(cell)] for cell in cells) / count_workers(pool, jobs)
    return total


def _kind(cell: GridCell) -> Hashable:
    """Return what cells of about the same cost have in common: colluders and shares of the rows hardly change it."""
    entry = cell.entry
    sites = replace(cell.setting.deal, split=None, by_class=False)
    return sites, entry.method, entry.options, entry.trust, entry.epsilons, entry.draws


def _cell_seconds(pool: Pool, cell: GridCell) -> float:
    """Time one training and one release, and count the latter for each trial of the cell."""
    epsilon, count = cell.entry.epsilons[0], sum(1 for _ in cell.trials())
    with threadpool_limits(1):
        try:
            federation, test = partition_pool(pool, cell.setting.deal, GRID_PARTITION_SEED)
            trained, training = Trainer(federation).train(cell.entry)
            start = time.perf_counter()
            release = trained.release(cell.entry.target(epsilon), Stream.from_system())
            measure_quality([release.model], test)
        except Exception:
            return 0.0
        return training + count * (time.perf_counter() - start)
