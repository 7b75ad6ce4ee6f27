"""Run of a plan into a folder: in parallel through joblib, cell by cell, going on where an earlier run was stopped.

The folder: plan.json (plan, digest, our version), cells/ (trials and statements of every finished cell),
results.csv, statements.json, failures.json. Only the process that calls writes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeAlias

from joblib import Parallel, cpu_count, delayed  # names of this file: a test may replace them before scikit-learn loads

from smc_dp.core.errors import InputError
from smc_dp.core.reading import require_list
from smc_dp.core.version import __version__
from smc_dp.core.writing import replace_file
from smc_dp.data.load_pool import Pool, load_pool
from smc_dp.experiments.compare import results
from smc_dp.experiments.compare.plan import GridCell, GridPlan, plain_data
from smc_dp.experiments.compare.preflight import refuse_hopeless
from smc_dp.experiments.compare.results import Trial
from smc_dp.experiments.compare.task import TaskOutcome, describe_failure, group_by_training, run_cells

MEMORY = 5 << 30
"""Bytes that a grid may take on one machine: where a data set is large, fewer workers run than there are cores."""

Heard: TypeAlias = Callable[[int, int, int], None]
"""Listener to the numbers of finished cells, of failed cells, and of all cells."""


@dataclass(frozen=True)
class ExperimentGrid:
    """Outcome of a plan: trials, statements as in statements.json, failures as in failures.json."""

    trials: tuple[Trial, ...]
    statements: tuple[dict[str, Any], ...]
    failures: tuple[dict[str, Any], ...]


def run_grid(
    plan: GridPlan,
    folder: Path,
    data: Path | None,
    jobs: int | None = None,
    hear: Heard | None = None,
    made: Callable[[], None] | None = None,
) -> ExperimentGrid:
    """Run the cells that are not finished, and assemble everything; `jobs` None: all cores.

    `made` is called when a new folder has its plan and work begins. A failing cell does not stop the others; the next
    run of the plan tries it again. Raises InputError, before anything is written, for a folder with other content, for
    a first data set that cannot be loaded, and for an entry that cannot work on it.
    """
    check_folder(plan, folder)
    cells = plan.cells()
    todo = [cell for cell in cells if not _file(folder, cell).exists()]
    done, failures = len(cells) - len(todo), list[dict[str, Any]]()
    for outcome in _outcomes(plan, folder, todo, data, jobs, made):
        if outcome.failure is None:
            _keep(folder, outcome)
            done += 1
        else:
            failures.append({"failure": outcome.failure, **outcome.cell.describe()})
        if hear is not None:
            hear(done, len(failures), len(cells))
    return _assemble(folder, [cell for cell in cells if _file(folder, cell).exists()], failures)


def check_folder(plan: GridPlan, folder: Path) -> None:
    """Raise InputError unless the folder is new, empty, or holds this version's results of this very plan."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise InputError("results.no_folder", folder=str(folder))
    if not any(folder.iterdir()):
        return
    if not (folder / "plan.json").exists():
        raise InputError("results.not_empty", folder=str(folder))
    found = results.read_json(folder / "plan.json")
    if not _about(plan).items() <= found.items():
        raise InputError("results.other_plan", folder=str(folder), version=__version__)


def _start(plan: GridPlan, folder: Path) -> None:
    try:
        (folder / "cells").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError("results.folder_not_made", folder=str(folder), reason=error.strerror) from error
    if not (folder / "plan.json").exists():
        results.write_json(folder / "plan.json", {**_about(plan), "plan": plain_data(plan)})


def _about(plan: GridPlan) -> dict[str, str]:
    return {"version": __version__, "digest": plan.digest}


def _outcomes(
    plan: GridPlan,
    folder: Path,
    todo: Sequence[GridCell],
    data: Path | None,
    jobs: int | None,
    made: Callable[[], None] | None,
) -> Iterator[TaskOutcome]:
    """Yield outcomes data set by data set, so that one at a time is in memory."""
    for source in dict.fromkeys(cell.setting.source for cell in todo):
        cells = [cell for cell in todo if cell.setting.source == source]
        fresh = not (folder / "plan.json").exists()
        try:
            pool = load_source(source, data)
        except Exception as error:
            if fresh:
                raise
            yield from (TaskOutcome(cell, failure=describe_failure(error)) for cell in cells)
            continue
        if fresh:
            refuse_hopeless(plan, pool, source)
        _start(plan, folder)
        if fresh and made is not None:
            made()
        yield from _spread(plan, pool, group_by_training(cells), jobs)


def load_source(source: tuple[str, bool], data: Path | None) -> Pool:
    """Return the rows of the settings with this `source`; InputError where they cannot be loaded."""
    try:
        return load_pool(source[0], data, ordinal=source[1])
    except MemoryError as error:
        raise InputError("comparison.no_memory", dataset=source[0]) from error


def _spread(plan: GridPlan, pool: Pool, groups: Sequence[list[GridCell]], jobs: int | None) -> Iterator[TaskOutcome]:
    """Yield outcomes as they come; local workers share the arrays of the pool through memory-mapped files."""
    workers = Parallel(count_workers(pool, jobs), return_as="generator_unordered", batch_size=1)
    task = delayed(run_cells)
    try:
        for outcomes in workers(task(pool, cells, plan.insecure_seed) for cells in groups):
            yield from outcomes
    except BrokenProcessPool as error:
        raise InputError("comparison.worker_killed") from error
    except Exception as error:  # not a cell's: those are outcomes
        raise InputError("comparison.rows_not_handed_over", reason=_last_line(error.__cause__ or error)) from error


def _last_line(error: BaseException) -> str:
    """Return the last line of an error, for joblib gives a whole traceback as a text."""
    lines = [line.strip(' "') for line in str(error).splitlines() if line.strip(' "')]
    return lines[-1] if lines else type(error).__name__


def count_workers(pool: Pool, jobs: int | None) -> int:
    """Return the number of workers, all cores unless `jobs` says, whose copies of the rows fit into memory."""
    size = pool.train.nbytes + (0 if pool.test is None else pool.test.nbytes)
    cores = int(cpu_count()) if jobs is None else jobs
    return max(1, min(cores, (MEMORY - 2 * size) // (2 * size)))


def _file(folder: Path, cell: GridCell) -> Path:
    return folder / "cells" / f"{cell.key}.json"


def _keep(folder: Path, outcome: TaskOutcome) -> None:
    """Write the trials and the statements of a cell, which then counts as finished."""
    statements = [
        {"epsilon": epsilon, "statement": asdict(s), "plain_words": s.plain_words()}
        for epsilon, s in outcome.statements
    ]
    found = {"trials": list(map(results.trial_as_dict, outcome.trials)), "statements": statements}
    results.write_json(_file(folder, outcome.cell), {**outcome.cell.describe(), **found})


def _finished(file: Path) -> tuple[list[Trial], list[Any]]:
    """Return the trials and statements of a finished cell; InputError that says what to delete."""
    try:
        found = results.read_json(file)
        trials = [results.trial_from_dict(each) for each in require_list(f"{file}: trials", found.get("trials"))]
        return trials, require_list(f"{file}: statements", found.get("statements"))
    except (InputError, TypeError, ValueError, KeyError) as error:
        why = str(error) if isinstance(error, InputError) else f"{file}: a trial is not as it was written"
        raise InputError("results.no_cell", why=why, file=str(file)) from error


def _assemble(folder: Path, cells: Iterable[GridCell], failures: list[dict[str, Any]]) -> ExperimentGrid:
    trials, statements = list[Trial](), dict[str, dict[str, Any]]()
    for cell in cells:
        more, found_statements = _finished(_file(folder, cell))
        trials += more
        for found in found_statements:
            names = {"dataset": cell.setting.name, "method": cell.entry.label}
            names |= {"trust": cell.entry.shown_trust, "calibration": cell.entry.shown_calibration, **found}
            statements.setdefault(repr(names), {**names, "repeats": []})["repeats"].append(cell.repeat)
    replace_file(folder / "results.csv", results.trials_to_csv(trials), str(folder / "results.csv"))
    results.write_json(folder / "statements.json", {"statements": list(statements.values())})
    results.write_json(folder / "failures.json", {"failures": failures})
    return ExperimentGrid(tuple(trials), tuple(statements.values()), tuple(failures))
