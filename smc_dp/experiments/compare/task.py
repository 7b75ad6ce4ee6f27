"""Work of one worker: deal the rows, train once for every method of a group of cells, release at every epsilon."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from typing_extensions import Protocol, runtime_checkable

from protocols.arithmetic.rng import Stream
from smc_dp.core.errors import InputError
from smc_dp.core.threads import one_thread
from smc_dp.data.federation import Federation, Rows
from smc_dp.data.load_pool import Pool
from smc_dp.data.partition import partition_pool
from smc_dp.experiments.compare import secure
from smc_dp.experiments.compare.plan import GridCell, GridEntry, epsilon_text
from smc_dp.experiments.compare.results import Trial
from smc_dp.methods.hamm2016.ensemble import Ensemble, train_ensemble
from smc_dp.methods.method import Trained
from smc_dp.methods.model import Release
from smc_dp.privacy.statement import PrivacyStatement

GRID_PARTITION_SEED = 2016  # deals the rows of data repeat r with this number plus r; nothing secret depends on it


@dataclass(frozen=True)
class TaskOutcome:
    """Outcome of a cell: its trials, and the statements of its releases by epsilon; or why it failed."""

    cell: GridCell
    trials: tuple[Trial, ...] = ()
    statements: tuple[tuple[str, PrivacyStatement], ...] = ()
    failure: str | None = None


@runtime_checkable
class FromEnsemble(Protocol):
    """A method that starts from logistic regression of every party, which several methods can share."""

    @property
    def lam(self) -> float:
        """Regulariser of the local classifiers, (lam/2) |V|^2."""
        ...

    def train_from(self, trained: Ensemble) -> Trained:
        """Train from the local classifiers."""
        ...


class Trainer:
    """Training of methods on one federation, each once, and of local classifiers once for all that start from them."""

    def __init__(self, federation: Federation) -> None:
        self._federation = federation
        self._ensembles: dict[float, tuple[Ensemble, float]] = {}
        self._trained: dict[object, tuple[Trained, float]] = {}

    def train(self, entry: GridEntry) -> tuple[Trained, float]:
        """Train a method; return what it knows before noise, and the seconds that took, shared parts included."""
        way = entry.training
        if way not in self._trained:
            self._trained[way] = self._train(entry)
        return self._trained[way]

    def _train(self, entry: GridEntry) -> tuple[Trained, float]:
        start, method = time.perf_counter(), entry.make()
        if entry.trust == "secure":
            return secure.local_model(entry, self._federation).train(), time.perf_counter() - start
        if not isinstance(method, FromEnsemble):
            return method.train(self._federation), time.perf_counter() - start
        if method.lam not in self._ensembles:
            self._ensembles[method.lam] = train_ensemble(self._federation, method.lam), time.perf_counter() - start
        shared, seconds = self._ensembles[method.lam]
        start = time.perf_counter()
        return method.train_from(shared), seconds + time.perf_counter() - start


def group_by_training(cells: Sequence[GridCell]) -> list[list[GridCell]]:
    """Group the cells that share a deal of the rows and a training."""
    groups: dict[object, list[GridCell]] = {}
    for cell in cells:
        entry = cell.entry
        shared = entry.trust == "aggregator" and isinstance(entry.make(), FromEnsemble)
        groups.setdefault((cell.setting, cell.repeat, "ensemble" if shared else entry.training), []).append(cell)
    return list(groups.values())


def run_cells(pool: Pool, cells: Sequence[GridCell], insecure_seed: int | None) -> list[TaskOutcome]:
    """Return the outcomes of one group of cells; an exception in a cell is its outcome."""
    with one_thread():
        try:
            federation, test = partition_pool(pool, cells[0].setting.deal, GRID_PARTITION_SEED + cells[0].repeat)
        except Exception as error:  # reported with the cell's parameters
            return [TaskOutcome(cell, failure=describe_failure(error)) for cell in cells]
        trainer = Trainer(federation)
        return [_outcome(cell, trainer, test, insecure_seed) for cell in cells]


def describe_failure(error: Exception) -> str:
    """Return one line that says what went wrong."""
    return str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"


def _outcome(cell: GridCell, trainer: Trainer, test: Rows, insecure_seed: int | None) -> TaskOutcome:
    try:
        seed = f"{insecure_seed} {cell.key}"
        rng = Stream.from_system() if insecure_seed is None else Stream.insecure_from_seed(seed)
        releases = list(_releases(cell, trainer, rng))
        measured = [release.model.accuracy_and_auc(test) for _, release in releases]
    except Exception as error:  # reported with the cell's parameters
        return TaskOutcome(cell, failure=describe_failure(error))
    trials = [
        replace(trial, accuracy=accuracy, auc=auc)
        for (trial, _), (accuracy, auc) in zip(releases, measured, strict=True)
    ]
    statements = {f"{trial.epsilon:.12g}": release.privacy for trial, release in releases}
    return TaskOutcome(cell, tuple(trials), tuple(statements.items()))


def _releases(cell: GridCell, trainer: Trainer, rng: Stream) -> Iterator[tuple[Trial, Release]]:
    """Yield every release of the cell, with a trial in which it is not measured yet."""
    trained, training = trainer.train(cell.entry)
    entry = cell.entry
    names = cell.setting.name, entry.label, entry.shown_trust, entry.shown_calibration
    for epsilon, number in cell.trials():
        target, text = entry.target(epsilon), epsilon_text(epsilon)
        start = time.perf_counter()
        release = trained.release(target, rng.fork(f"{text} {number}"))
        seconds = training + time.perf_counter() - start
        delta = float(target.delta) if target.noise in ("gauss", "ddg") and epsilon is not None else 0.0
        given, given_delta = _guaranteed(release)
        quality = math.nan, math.nan
        trial = Trial(*names, float(text), delta, number, *quality, seconds, given, given_delta, cell.repeat)
        yield trial, release


def _guaranteed(release: Release) -> tuple[float, float] | tuple[None, None]:
    privacy = release.privacy
    return (None, None) if privacy.epsilon is None else (privacy.epsilon, privacy.delta)
