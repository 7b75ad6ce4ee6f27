"""How wide intervals of releases are beside those planned: the figures of widths in `smc_dp/planning/README.md`.

Rows are drawn as a plan assumes them, with numbers, levels, bins, dates and empty cells, and then in other ways. It
takes some five minutes on one core.

    python tests/make_interval_widths.py
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))  # before tests/, whose protocols/ is another folder

from smc_dp.data.federation import Rows
from smc_dp.data.preprocess import encode_rows
from smc_dp.data.table import Table
from smc_dp.planning.interval_plan import IntervalPlan
from tests.support.planned_intervals import CLASSES, NUMBER, columns, planned, ratios, released_of

RELEASES = 20
LOGISTIC = ((40_000, "1", 0.5), (20_000, "2", 0.3), (20_000, "3", 0.1), (10_000, "3", 0.5), (100_000, "0.5", 0.2))
LINEAR = ((20_000, "1", 6.0), (10_000, "3", 2.0), (10_000, "2", 10.0), (50_000, "0.5", 6.0), (20_000, "1", 1.0))


OTHERWISE = {
    "ranges of 14 deviations": {"deviation": 1 / 7},
    "uniform numbers": {"uniform": True},
    "an area under the curve of .87": {"score": 1.73},
    "no column tells": {"score": 0.0},
    "correlations of .5": {"correlation": 0.5},
}


def main() -> None:
    """Print the ratios of each setting, and of all."""
    as_assumed()
    plan = planned(5, sizes=[10_000, 5000, 5000], method="logistic", rate=0.5)
    for name, how in OTHERWISE.items():
        halves = [half for seed in range(RELEASES) for half in drawn_otherwise(plan, seed, **how)]
        print(name, round(float(np.median(halves)) / (plan.intervals[0].half_width or 0), 2))


def drawn_otherwise(
    plan: IntervalPlan,
    seed: int,
    *,
    deviation: float = 2 / 7,
    score: float = 1.0,
    correlation: float = 0.0,
    uniform: bool = False,
) -> Iterator[float]:
    """Yield half-widths per standard deviation of a release on five columns from -1 to 1."""
    rng, n, bounds = np.random.default_rng(seed), plan.rows, plan.agreement.bounds
    Z = rng.uniform(-1, 1, (n, 5)) * np.sqrt(3) if uniform else rng.normal(size=(n, 5))
    Z = np.sqrt(1 - correlation) * Z + np.sqrt(correlation) * rng.normal(size=(n, 1))
    scores = Z @ [1, -1, 1, -1, 1]
    y = (rng.random(n) < 1 / (1 + np.exp(-scores / scores.std() * score))).astype(np.int64)
    deviation = 1 / np.sqrt(3) if uniform else deviation
    table = Table("drawn", {f"x{j + 1}": np.clip(Z[:, j] * deviation, -1, 1) for j in range(5)}, range(1, n + 1))
    for (_, kind), halves in released_of(plan.agreement, Rows(encode_rows(table, bounds), y), seed).items():
        yield from (half * deviation for half in halves if half is not None and kind == "slope")


def as_assumed() -> None:
    """Print the ratios for rows as a plan assumes them."""
    every = list[float]()
    for method, name, label, settings in (
        ("logistic", "rate", CLASSES, LOGISTIC),
        ("linear", "residual", NUMBER, LINEAR),
    ):
        for n, epsilon, figure in settings:
            said = {"method": method, "epsilon": epsilon, name: figure}
            plan = planned(None, bounds=columns(label), sizes=[n // 2, n // 4, n // 4], **said)
            found = ratios(plan, RELEASES, **{name: figure})
            every += found.tolist()
            print(method, n, epsilon, figure, np.round(found, 2))
    close = np.mean(np.abs(np.array(every) - 1) <= 0.1)
    print(
        len(every), "columns, quantiles", np.round(np.quantile(every, [0, 0.5, 1]), 2), "within .1:", np.round(close, 3)
    )


if __name__ == "__main__":
    main()
