"""Accuracy for three and more classes: `python tests/make_classes.py report RESULTS`, or `choose`.

`report` prints the figures of `smc_dp/methods/README.md`: `newton`, and beside it the peer DP-SGD on all rows in one
place. HAR, digits and MNIST had been seen when the clip and the steps were chosen, and Covertype was
used to choose them. The rows of `fair` had been seen by nobody. `choose` tries other clips and steps on Covertype with
seven classes and KDD 99 with five, and on no other data.

Ten parties of whom three may collude, delta 1e-5, the noise of all ten, means over deals of the rows with standard
errors. What was measured is added to the file RESULTS, so that what was stopped goes on. Everything follows from seeds.
"""

from __future__ import annotations

import json
import sys
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path
from statistics import mean, stdev
from typing import Any
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).parents[1]))  # before tests/, whose protocols/ is another folder

from support.row_sources import read_pool
from threadpoolctl import threadpool_limits

from protocols.arithmetic.rng import Stream
from smc_dp.data.bounds_file import DEFAULT_BIAS
from smc_dp.data.federation import Federation, Rows
from smc_dp.data.partition import Partition, partition_pool
from smc_dp.experiments.compare.peers import DpSgd
from smc_dp.experiments.compare.secure import rounded_up
from smc_dp.methods.gradients import descent
from smc_dp.methods.gradients.newton import Newton
from smc_dp.methods.sums.simulated_sum import SimulatedSum
from smc_dp.methods.sums.threat_model import ThreatModel
from smc_dp.methods.training import integer_rows
from smc_dp.privacy.target import Target

FIRST_DEAL, PARTIES, COLLUDERS = 2016, 10, 3
EPSILONS = ("0.1", "0.5", "1", "2")
REPORTED_DEALS, CHOSEN_DEALS = 10, 5
REPORTED = ("har", "digits", "mnist10", "covtype7", "fair")
CHOSEN_ON = ("covtype7", "kdd5")
CLIPS, STEPS = (1.0, 0.5, 0.25), (1.0, 0.5)
"""Clips in units of the length at W = 0; steps in units of k (X'X)^-1, beside the bound 2 (X'X)^-1, which is 0 here."""


def main(command: str, path: Path) -> None:
    """As the docstring of the module says."""
    ways, sources, deals = ["newton", "DP-SGD"], list(REPORTED), REPORTED_DEALS
    if command == "choose":
        ways = [f"newton {clip} {step}" for clip, step in product(CLIPS, (*STEPS, 0.0))]
        sources, deals = list(CHOSEN_ON), CHOSEN_DEALS
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    found = {tuple(of): accuracy for *of, accuracy in map(json.loads, lines)}
    for source, way in product(sources, ways):
        for of in product((source,), range(deals), (way,), EPSILONS):
            if of not in found:
                found[of] = measured(*of)
                with path.open("a", encoding="utf-8") as file:
                    file.write(json.dumps([*of, found[of]]) + "\n")
        each = ([found[source, deal, way, e] for deal in range(deals)] for e in EPSILONS)
        shown = " | ".join(f"{mean(some):.3f} ({stdev(some) / deals**0.5:.3f})" for some in each)
        print(f"| {source} | {way} | {shown} |", flush=True)


@cache
def dealt(source: str, deal: int) -> tuple[Federation, Rows]:
    """The rows of the parties, with a constant, and those to test on; MNIST in components of public rows."""
    public, components = (500, 100) if source == "mnist10" else (None, None)
    partition = Partition(PARTIES, auxiliary=public, components=components, bias=DEFAULT_BIAS)
    return partition_pool(read_pool(source), partition, FIRST_DEAL + deal)


def measured(source: str, deal: int, way: str, epsilon: str) -> float:
    """The accuracy of one release."""
    federation, test = dealt(source, deal)
    rng = Stream.insecure_from_seed(f"{source} {deal} {way} {epsilon}")
    target = Target(Fraction(epsilon), noise="gauss" if way == "DP-SGD" else "ddg", delta=Fraction(1, 10**5))
    if way == "DP-SGD":
        return DpSgd().train(federation).release(target, rng).model.accuracy(test)
    cap = rounded_up(int(federation.sizes.max()))
    if way == "newton":
        return _released(federation, cap, target, rng).accuracy(test)
    clip, step = map(float, way.split()[1:])
    usual: Any = integer_rows._softmax_clip
    with (
        patch.object(integer_rows, "_softmax_clip", lambda k: int(usual(k) * clip / 0.5)),
        patch.object(descent, "softmax_step", lambda k: k * step or 2),
    ):
        return _released(federation, cap, target, rng).accuracy(test)


def _released(federation: Federation, cap: int, target: Target, rng: Stream) -> Any:
    threat_model = ThreatModel(PARTIES, COLLUDERS, 0)
    return SimulatedSum.of(Newton(), federation, threat_model, cap).release(target, rng).model


if __name__ == "__main__":
    with threadpool_limits(1):
        main(sys.argv[1], Path(sys.argv[2]))
