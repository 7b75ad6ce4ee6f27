"""Choose the settings of DP-SGD in `lab reproduce sums`: `python tests/make_dp_sgd.py RESULTS`.

Rows are Covertype's and MNIST's, which no figure of that page is about. For 450 to 7,000 rows, settings are drawn by a
fixed seed and tried once on each of eight sets of rows. The best of each epsilon, the former ones, and neighbours of
the best are tried on five deals. For 10,000 rows and more a short list is tried once on three sets. Prints the mean
accuracy lost against the best of each set, the smallest first; then, for the two settings that are used, the gain of
the former ones by rows times epsilon. Accuracies are added to the file RESULTS, so that what was stopped goes on. It
needs the data sets (`SMC_DP_DATA`), and takes a quarter of an hour of processor time.
"""

from __future__ import annotations

import gzip
import json
import os
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).parents[1]))  # before tests/, whose protocols/ is another folder

from smc_dp.core.arrays import into_ball
from smc_dp.data import tabular_datasets
from smc_dp.data.federation import Rows
from smc_dp.data.known_files import read_known_file
from smc_dp.data.preprocess import encode_rows
from smc_dp.data.table_reader import parse_csv
from smc_dp.experiments.compare.peers import SgdSettings, noise_multiplier

EPSILONS, LARGE_EPSILONS, DELTA = (0.1, 0.5, 1.0, 2.0), (0.1, 0.5, 2.0), 1e-5
DRAWN, SEED, KEPT, DEALS, TESTED = 35, 1, 4, 5, 2500
FORMER = SgdSettings(rate=0.05, steps=100, clip=0.5, speed=1.6, momentum=0.9)
NEIGHBOURS = tuple(
    SgdSettings(rate, steps, clip, speed, momentum=0.9)
    for rate, steps, clip, speed in (
        *((0.2, 60, 0.7, 0.6), (0.2, 100, 0.7, 0.4), (0.2, 100, 0.7, 0.6), (0.2, 40, 0.7, 0.8)),
        *((0.5, 60, 0.7, 0.6), (1.0, 60, 0.7, 0.6), (0.2, 60, 0.5, 0.8), (0.2, 60, 1.0, 0.5)),
    )
)
"""Of the best of those that were drawn, as they were seen then."""
MANY = (
    SgdSettings(1.0, 60, 0.7, 0.6),
    FORMER,
    SgdSettings(1.0, 120, 0.35, 12.8, 0.0),
    SgdSettings(1.0, 60, 0.7, 2.4),
    SgdSettings(1.0, 120, 0.7, 1.6),
    SgdSettings(1.0, 120, 0.35, 3.2),
    SgdSettings(0.2, 120, 0.7, 3.2),
    SgdSettings(0.2, 240, 0.5, 3.2),
)
FOLDER = Path(os.environ.get("SMC_DP_DATA", "."))


@dataclass(frozen=True)
class Task:
    """Rows of so many classes, and how many of them are trained on; the others are tested on."""

    rows: Rows
    classes: int
    trained: int

    def accuracy(self, method: SgdSettings, epsilon: float, number: int, deal: int) -> float:
        """Of the release with this number on this deal of the rows."""
        order = np.random.default_rng([deal, 7]).permutation(len(self.rows))
        train, test = (self.rows.take(some) for some in np.split(order, [self.trained]))
        test = test.take(np.arange(min(TESTED, len(test))))
        deviation = method.clip * noise_multiplier(epsilon, DELTA, method.rate, method.steps)
        W = method.descend(train, self.classes, deviation, np.random.default_rng([number, deal]))
        return float(np.mean((test.X @ W.T).argmax(axis=1) == test.y))


def covertype(name: str = "covtype/covtype_random10k.csv.gz") -> Rows:
    """All seven classes of a file of Covertype, which may have a header of its own."""
    bounds, content = tabular_datasets.bundled_bounds("covtype"), gzip.decompress((FOLDER / name).read_bytes())
    first, newline, rows = content.partition(b"\n")
    rows = rows if first[:1].isalpha() else first + newline + rows
    table = parse_csv(",".join(tabular_datasets.field_names(bounds)).encode() + newline + rows, name)
    return Rows(encode_rows(table, bounds), np.array([int(text) - 1 for text in table.texts("Cover_Type")]))


def mnist(part: str = "t10k") -> Rows:
    """All ten digits of these images, in 14 x 14 pixels."""
    images, labels = (f"mnist/{part}-{kind}-ubyte.gz" for kind in ("images-idx3", "labels-idx1"))
    pixels = tabular_datasets.idx_items(gzip.decompress(read_known_file(FOLDER, images)), 28, 28)
    digits = tabular_datasets.idx_items(gzip.decompress(read_known_file(FOLDER, labels)))
    X = pixels.reshape(-1, 14, 2, 14, 2).mean(axis=(2, 4)).reshape(-1, 196) / 255
    return Rows(into_ball(X, 5.0), digits.astype(np.int64))


def two(rows: Rows, *classes: int) -> Rows:
    """The rows of these classes."""
    found = rows.take(np.flatnonzero(np.isin(rows.y, classes)))
    return Rows(found.X, np.searchsorted(classes, found.y))


def large_tasks() -> dict[str, Task]:
    """10,000 rows and more."""
    parts = covertype("covtype/covtype_first20k.data.gz"), covertype()
    trees = Rows(np.concatenate([part.X for part in parts]), np.concatenate([part.y for part in parts]))
    return {
        "cov2 15000": Task(two(trees, 0, 1), 2, 15_000),
        "mn35 10000": Task(two(mnist("train"), 3, 5), 2, 10_000),
        "cov7 15000": Task(trees, 7, 15_000),
    }


def tasks() -> dict[str, Task]:
    """Fewer rows, with two and with more classes."""
    trees, digits = covertype(), mnist()
    spruce, curved = two(trees, 0, 1), two(digits, 3, 5)
    return {
        **{"cov7 7000": Task(trees, 7, 7000), "cov7 1400": Task(trees, 7, 1400)},
        **{"mn10 7000": Task(digits, 10, 7000), "mn10 1400": Task(digits, 10, 1400)},
        **{"cov2 6000": Task(spruce, 2, 6000), "cov2 450": Task(spruce, 2, 450)},
        **{"mn35 450": Task(curved, 2, 450), "mn35 1500": Task(curved, 2, 1500)},
    }


def candidates() -> list[SgdSettings]:
    """The former settings, and those that are drawn; without momentum steps are four times as long."""
    rng = np.random.default_rng(SEED)
    found = [FORMER]
    for _ in range(DRAWN):
        rate, steps = float(rng.choice([0.05, 0.2, 1.0])), int(rng.choice([15, 30, 60, 120]))
        clip, momentum = float(rng.choice([0.1, 0.2, 0.35, 0.5, 0.7, 1.0])), float(rng.choice([0, 0.9]))
        speed = float(rng.choice([0.4, 0.8, 1.6, 3.2, 6.4])) * (1 if momentum else 4)
        found.append(SgdSettings(rate=rate, steps=steps, clip=clip, speed=speed, momentum=momentum))
    return [*found, *NEIGHBOURS]


class Trials:
    """Accuracies by setting, epsilon, task and deal; those of earlier runs are read from a file."""

    def __init__(self, path: Path, over: dict[str, Task], settings: Sequence[SgdSettings]) -> None:
        self._path, self._tasks, self._settings = path, over, settings
        lines = path.read_text().splitlines() if path.exists() else []
        self._found: dict[str, float] = dict(json.loads(line) for line in lines)

    def accuracy(self, number: int, epsilon: float, name: str, deal: int) -> float:
        """Of one trial, made now unless it is there."""
        key = f"{number} {epsilon:g} {name} {deal}"
        if key not in self._found:
            self._found[key] = self._tasks[name].accuracy(self._settings[number], epsilon, number, deal)
            with self._path.open("a") as file:
                file.write(json.dumps([key, self._found[key]]) + "\n")
        return self._found[key]

    def lost(self, numbers: list[int], epsilon: float, deals: int) -> Mapping[int, float]:
        """Mean accuracy lost against the best of these settings on each task."""
        means: dict[str, list[float]] = defaultdict(list)
        for name in self._tasks:
            for number in numbers:
                each = [self.accuracy(number, epsilon, name, deal) for deal in range(deals)]
                means[name].append(float(np.mean(each)))
        A = np.array(list(means.values()))
        return dict(zip(numbers, (A.max(axis=1, keepdims=True) - A).mean(axis=0).tolist(), strict=True))


def main(path: Path) -> None:
    """Try all of it, and print the table."""
    settings = candidates()
    trials = Trials(path, tasks(), settings)
    kept = {0, *range(len(settings) - len(NEIGHBOURS), len(settings))}
    for epsilon in EPSILONS:
        lost = trials.lost(list(range(len(settings) - len(NEIGHBOURS))), epsilon, 1)
        kept |= set(sorted(lost, key=lost.__getitem__)[:KEPT])
    table = {epsilon: trials.lost(sorted(kept), epsilon, DEALS) for epsilon in EPSILONS}
    print_lost(table, settings)
    large = Trials(path, large_tasks(), MANY)
    print_lost({epsilon: large.lost(list(range(len(MANY))), epsilon, 1) for epsilon in LARGE_EPSILONS}, MANY)
    best = settings.index(MANY[0])
    for name, task in tasks().items():
        for epsilon in EPSILONS:
            gains = [
                trials.accuracy(0, epsilon, name, j) - trials.accuracy(best, epsilon, name, j) for j in range(DEALS)
            ]
            print(f"{task.trained * epsilon:g} {name}: {np.mean(gains):+.3f}")


def print_lost(table: Mapping[float, Mapping[int, float]], settings: Sequence[SgdSettings]) -> None:
    """Print the mean loss of each setting, and that of each epsilon."""
    total = {number: sum(lost[number] for lost in table.values()) / len(table) for number in next(iter(table.values()))}
    for number in sorted(total, key=total.__getitem__):
        each = " ".join(f"{lost[number]:.3f}" for lost in table.values())
        print(f"{total[number]:.4f} ({each}) {settings[number]}")


if __name__ == "__main__":
    with threadpool_limits(1):
        main(Path(sys.argv[1]))
