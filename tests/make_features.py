"""Measure Fourier features on Covertype with two classes: `python tests/make_features.py none fourier:256:0.5 ...`.

`none` is the linear model. Tests are on a fifth of the rows of the random file. Training is on the others, and on these
together with the rows of the first 20,000 of Covertype that are in no line of the random file: more rows, which do not
represent all of it. Ten equal parties, of whom three may collude, release by `newton` in each of six partitions.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from fractions import Fraction
from math import sqrt
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))  # before tests/, whose protocols/ is another folder

from make_dp_sgd import covertype, two

from protocols.arithmetic.rng import Stream
from smc_dp.data.federation import Federation, Rows
from smc_dp.methods.gradients.newton import Newton
from smc_dp.methods.sums.simulated_sum import SimulatedSum
from smc_dp.methods.sums.threat_model import ThreatModel
from smc_dp.privacy.pathak2010 import LARGEST_N
from smc_dp.privacy.target import Target

PARTIES, COLLUDERS, PARTITIONS = 10, 3, 6
EPSILONS = tuple(map(Fraction, ("1/2", "1", "2")))


def further_rows(rows: Rows) -> Rows:
    """Return the rows of the other file that are not among these."""
    found, known = two(covertype("covtype/covtype_first20k.data.gz"), 0, 1), {x.tobytes() for x in rows.X}
    return found.take(np.flatnonzero([x.tobytes() not in known for x in found.X]))


def accuracies(features: str | None, train: Rows, test: Rows, number: int) -> list[float]:
    """Return the test accuracy of a release at each epsilon."""
    order = np.random.default_rng([number, 1]).permutation(len(train))
    parties = tuple(train.take(part) for part in np.array_split(order, PARTIES))
    names = tuple(f"party-{j}" for j in range(PARTIES))
    method, limits = Newton(features=features), ThreatModel(PARTIES, COLLUDERS, 0)
    made = SimulatedSum.of(method, Federation(parties, 2, names=names), limits, LARGEST_N)
    made.train()
    return [
        made.release(Target(epsilon, noise="ddg"), Stream.from_system()).model.accuracy(test) for epsilon in EPSILONS
    ]


def main(settings: Sequence[str]) -> None:
    """Print mean accuracies and their standard errors over partitions, for each setting and number of rows."""
    rows = two(covertype(), 0, 1)
    further = further_rows(rows)
    for setting in settings:
        few, many = [], []
        for number in range(PARTITIONS):
            order = np.random.default_rng(number).permutation(len(rows))
            test, train = (rows.take(part) for part in np.split(order, [len(rows) // 5]))
            both = Rows(np.concatenate([train.X, further.X]), np.concatenate([train.y, further.y]))
            for found, learnt in ((few, train), (many, both)):
                found.append(accuracies(None if setting == "none" else setting, learnt, test, number))
        for n, found in ((len(train), few), (len(both), many)):
            errors = np.std(found, axis=0, ddof=1) / sqrt(PARTITIONS)
            cells = (f"{mean:.3f} ({error:.3f})" for mean, error in zip(np.mean(found, axis=0), errors, strict=True))
            print(f"{setting:16} {n:,} rows:", *cells, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
