"""A clinic of thirty rows spoils what two hospitals learn, and the plan says so before anything is spent.

You will see what `smc-dp plan` says from three numbers of rows alone: by the paper's mean, whose noise follows from the
smallest party, the clinic is to be left out; by the advised method nobody is. Then it is tried, each way five times, on
rows that the parties draw from one data set. At the end the script checks that the plan was right: with the clinic more
is lost to noise than without it, and each loss lies in the band that was planned.

    python plan_first.py
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

import smc_dp
from smc_dp import Federation, Rows
from smc_dp.planning.report import recommendation_blocks

SIZES = {"north": 5000, "south": 800, "clinic": 30}
COLUMNS, RUNS = 12, 5


def people(n: int, rng: np.random.Generator) -> Rows:
    """Draw rows of twelve columns in the unit ball, of two classes that overlap."""
    y = rng.integers(0, 2, n)
    X = rng.normal(0, 1, (n, COLUMNS)) + np.outer(2 * y - 1, np.linspace(0.6, 0, COLUMNS))
    return Rows(np.hstack([X / 8, np.full((n, 1), 0.1)]).clip(-0.27, 0.27), y)


def lost(sizes: Mapping[str, int], method: str, seed: int) -> tuple[float, float]:
    """Return the accuracy lost to noise in one run, and the accuracy."""
    rng = np.random.default_rng(seed)
    parties = Federation(tuple(people(n, rng) for n in sizes.values()), classes=2, names=tuple(sizes))
    options = {"protocol": "linear"} if method == "prr_mean" else {}
    with tempfile.TemporaryDirectory() as place:
        run = Path(place) / "run"
        report = smc_dp.run_protocol(parties, method=method, test=people(4000, rng), out=run, **options)
    found = report.comparison
    if found is None or found.lost is None:
        raise SystemExit("the run does not say what was lost")
    return found.lost, found.accuracy


def main() -> None:
    """Plan, try, check."""
    plan = smc_dp.plan(SIZES, COLUMNS, method="prr_mean", protocol="linear")
    print(*(said.text for said in recommendation_blocks(plan)), sep="\n")
    found, advised = plan.planned, plan.of("newton")
    if found.expected is None or found.without is None or advised.expected is None:
        raise SystemExit("the plan leaves nobody out")
    tried = {
        "prr_mean with the clinic": (SIZES, "prr_mean", found.expected),
        "prr_mean without it": (plan.stay, "prr_mean", found.without),
        "newton with the clinic": (SIZES, "newton", advised.expected),
    }
    print(f"\n{'':<26}accuracy, lost to noise (mean of {RUNS} runs), planned")
    means, held = {}, 0
    for name, (sizes, method, ahead) in tried.items():
        losses, accuracies = zip(*(lost(sizes, method, seed) for seed in range(RUNS)), strict=True)
        means[name] = sum(losses) / RUNS
        held += sum(one in ahead.interval for one in losses)
        planned = f"{ahead.interval.low:.2f} to {ahead.interval.high:.2f}"
        print(f"{name:<26}{sum(accuracies) / RUNS:.3f}     {means[name]:6.3f}   {planned}")
    spoilt, mended, _ = means.values()
    print(f"\n{held} of {3 * RUNS} losses lie in the planned band.")
    if found.left_out != ("clinic",) or plan.advised != "newton" or spoilt < 2 * max(mended, 0.005) or held < 2 * RUNS:
        raise SystemExit("the demo is wrong: see above")


if __name__ == "__main__":
    main()
