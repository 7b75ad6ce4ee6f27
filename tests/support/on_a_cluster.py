"""What a grid does on Dask clusters of this machine, printed as JSON: for a process that has `distributed`."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import dask
from distributed import LocalCluster

from smc_dp.cli.main import main
from smc_dp.core.errors import InputError
from smc_dp.core.reading import read_file
from smc_dp.data.load_pool import Pool
from smc_dp.data.partition import Partition
from smc_dp.experiments.compare import cluster, results, runner
from smc_dp.experiments.compare.plan import GridEntry, GridPlan, GridSetting

PLAN = GridPlan(
    (GridSetting("breast_cancer", "breast_cancer", Partition(parties=3)),),
    (GridEntry("wsum", "wsum", "proven", (Fraction(1), None)), GridEntry("avg", "avg", "paper", (Fraction(1),))),
    repeats=4,
    insecure_seed=7,
)


def numbers(folder: Path) -> list[str]:
    """All of the table, to the last digit, but how long things took."""
    trials = results.trials_from_csv(read_file(folder / "results.csv"), "t")
    return sorted(repr(replace(trial, seconds=0.0)) for trial in trials)


def by_command(out: Path, seed: int, *where: str) -> list[str]:
    """The table of a command that says where to work."""
    asked = ("--methods", "wsum,prr_mean", "--epsilons", "1,inf", "--repeats", "2", "--insecure-seed", str(seed))
    with contextlib.redirect_stdout(sys.stderr):
        code = main(["lab", "compare", *asked, "--out", str(out), *where])
    return numbers(out) if code == 0 else []


def said(address: str, folder: Path, plan: GridPlan = PLAN, hear: Any = None) -> dict[str, Any]:
    """The refusal of a grid on this cluster."""
    try:
        with cluster.connect_to_dask(address):
            runner.run_grid(plan, folder, runner.Source(), hear=hear)
    except InputError as error:
        return error.fault.as_dict()
    return {}


def pickled(address: str, folder: Path) -> int:
    """How often the rows left this process for all tasks of a grid."""
    left: list[int] = []

    def reduce(pool: Pool, protocol: Any) -> Any:
        left.append(1)
        return object.__reduce_ex__(pool, protocol)

    Pool.__reduce_ex__ = reduce  # type: ignore[method-assign]
    try:
        with cluster.connect_to_dask(address):
            runner.run_grid(PLAN, folder, runner.Source())
    finally:
        del Pool.__reduce_ex__  # type: ignore[misc]
    return len(left)


def ordinary(folder: Path) -> dict[str, Any]:
    """Two worker processes: the same numbers, rows that travel once, and refusals."""
    found: dict[str, Any] = {"here": by_command(folder / "here", 7, "--jobs", "1")}
    with LocalCluster(n_workers=2, threads_per_worker=2, dashboard_address=None) as local:
        address = local.scheduler_address
        for name, seed in (("there", 7), ("another seed", 8)):
            found[name] = by_command(folder / name, seed, "--backend", "dask", "--address", address)
        found["pickled"] = pickled(address, folder / "pickled")
        here = cluster.worker_state
        cluster.worker_state = lambda: ({**here()[0], "numpy": "0.1"}, 1)
        # What is sent to the workers is the name of the function, so that they answer with the true one.
        cluster.worker_state.__module__, cluster.worker_state.__qualname__ = here.__module__, here.__qualname__
        found["another numpy"] = said(address, folder / "another")
        cluster.worker_state = here
    return found


def unfit(folder: Path) -> dict[str, Any]:
    """Workers whose libraries take several threads for each of several trials, too few threads, and none at all."""
    found = {}
    several = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "2")
    with dask.config.set({"distributed.nanny.pre-spawn-environ": several}):
        found["threads"] = of(folder, n_workers=1, threads_per_worker=2)
    for name in several:  # which a cluster leaves behind in the environment of this process
        os.environ.pop(name, None)
    found["one thread"] = of(folder, n_workers=1, threads_per_worker=1)
    found["no workers"] = of(folder, n_workers=0)
    return found


def of(folder: Path, **workers: int) -> dict[str, Any]:
    """The refusal of a cluster of these workers."""
    with LocalCluster(**workers, dashboard_address=None) as local:
        return said(local.scheduler_address, folder / "unfit")


def gone(folder: Path) -> dict[str, Any]:
    """A scheduler that ends while a grid is running, once the first cell is there."""
    local = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    end = threading.Thread(target=local.close)
    line = said(local.scheduler_address, folder, replace(PLAN, repeats=300), lambda *_: end.ident or end.start())
    end.join()
    return line


if __name__ == "__main__":
    cluster._SECONDS = 3
    folder = Path(sys.argv[1])
    print(json.dumps({**unfit(folder), **ordinary(folder), "gone": gone(folder / "gone")}))
