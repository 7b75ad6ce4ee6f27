"""Which method releases the best model: what the order in `smc_dp/planning/recommendation.py` is taken from.

Settings are drawn by a fixed seed; in each, every method releases once, computed in the clear by its specification.
Prints the table in `smc_dp/planning/README.md`; some ten minutes on one core.

    python tests/make_advice.py --data-dir DIR
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))  # before tests/, whose protocols/ is another folder

from protocols.arithmetic.rng import Stream
from smc_dp.data.federation import Rows
from smc_dp.data.sources import dataset
from smc_dp.methods.functionality import ideal
from smc_dp.planning.candidate import Candidate, Circumstances
from smc_dp.run.settings import RunSettings

SOURCES = ("breast_cancer", "a9a", "bank", "credit_default", "covtype", "kdd99")
METHODS = ("newton", "wsum", "wsum_ar", "prr_mean")
SETTINGS, SEED, TESTED = 40, 7, 3000
EDGES = (0.0, 3.0, 30.0, float("inf"))


def drawn(folder: Path) -> Iterator[tuple[Circumstances, list[Rows], Rows]]:
    """2 to 20 parties of 30 rows and more, 200 to 3,000 in all, and epsilon from .1 to 3."""
    rng, read = np.random.default_rng(SEED), cache(dataset)
    for _ in range(SETTINGS):
        data = read(SOURCES[rng.integers(len(SOURCES))], folder)
        pooled, test = data.federation.pooled(), data.test
        if test is None:
            raise SystemExit("a data set has no rows to test on")
        K, wanted = (
            int(rng.integers(2, min(21, len(pooled) // 30))),
            float(np.exp(rng.uniform(np.log(200), np.log(3000)))),
        )
        n = max(30 * K, min(int(wanted), len(pooled)))
        sizes = 30 + rng.multinomial(n - 30 * K, rng.dirichlet(np.full(K, 2.0)))
        order = np.split(rng.permutation(len(pooled))[:n], np.cumsum(sizes)[:-1])
        epsilon = Fraction(f"{np.exp(rng.uniform(np.log(0.1), np.log(3))):.3g}")
        names = tuple(f"party-{j}" for j in range(K))
        known = Circumstances(
            names, tuple(map(int, sizes)), pooled.X.shape[1], 2, RunSettings.from_options(epsilon=epsilon, lam="1/10")
        )
        yield known, [Rows(pooled.X[at], pooled.y[at]) for at in order], Rows(test.X[:TESTED], test.y[:TESTED])


def accuracy(candidate: Candidate, rows: list[Rows], test: Rows, seed: str) -> float:
    """Of one release."""
    rng, spec = Stream.insecure_from_seed(seed), candidate.spec
    parts = [spec.part(own, rng.fork(f"part {j}")) for j, own in enumerate(rows)]
    return spec.model(ideal(spec.functionality, parts, rng)).accuracy(test)


def main() -> None:
    """Try all of it, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path, default=Path(os.environ.get("SMC_DP_DATA", ".")))
    signals, found, narrowest = [], [], []
    for i, (known, rows, test) in enumerate(drawn(parser.parse_args().data_dir)):
        candidates = [Candidate.build(method, known) for method in METHODS]
        found.append([accuracy(one, rows, test, f"{i} {one.method.name}") for one in candidates])
        signals.append(candidates[0].expected.signal)
        narrowest.append(min(range(len(METHODS) - 1), key=lambda j: candidates[j].expected.interval.high))
        print(i, f"{signals[-1]:.3g}", *(f"{a:.3f}" for a in found[-1]), flush=True)
    A, s = np.array(found), np.array(signals)
    print("signal of newton | settings |", " | ".join(METHODS))
    for low, high in pairwise(EDGES):
        some = (s >= low) & (s < high)
        print(f"{low:g} to {high:g} | {some.sum()} |", " | ".join(f"{a:.3f}" for a in A[some].mean(axis=0)))
    print(f"all | {len(A)} |", " | ".join(f"{a:.3f}" for a in A.mean(axis=0)))
    best = A.max(axis=1, keepdims=True)
    print("within .01 of the best |", " | ".join(str(n) for n in (best - A <= 0.01).sum(axis=0)))
    print(f"the sum of the narrowest band: {A[np.arange(len(A)), narrowest].mean():.3f}")


if __name__ == "__main__":
    main()
