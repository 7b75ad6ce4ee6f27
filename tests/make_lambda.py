"""What the usual lambda of `smc_dp.methods.usual_lambda` is taken from, and what it gives: `make`, or `try`.

`make` draws settings of Covertype, KDD 99 and synthetic rows by a fixed seed, and releases by each lambda of a grid. It
prints how much accuracy each of them loses against the best one of each setting, and how much the rule loses. `try`
releases on data sets that had no influence, by lambda .1, the default before, and by the rule. Both need the data sets
(`SMC_DP_DATA`) and take minutes. Everything follows from seeds.
"""

from __future__ import annotations

import os
import sys
from fractions import Fraction
from pathlib import Path
from statistics import mean

import numpy as np
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).parents[1]))  # before tests/, whose protocols/ is another folder

from support.drawn_settings import drawn_of
from support.row_sources import SYNTHETIC

from protocols.arithmetic.rng import Stream
from smc_dp.data.federation import Federation, Rows
from smc_dp.data.sources import dataset
from smc_dp.methods.nonprivate import majority_accuracy
from smc_dp.methods.registry import find_method
from smc_dp.methods.signal import PublicNumbers
from smc_dp.methods.sums.simulated_sum import SimulatedSum, has_secure_sum
from smc_dp.methods.sums.threat_model import ThreatModel
from smc_dp.methods.usual_lambda import usual_lambda
from smc_dp.privacy.pathak2010 import LARGEST_N
from smc_dp.privacy.target import Target

SOURCES = ("covtype", "kdd99", *SYNTHETIC)
REPORTED = ("breast_cancer", "a9a", "bank", "credit_default")
NOISE = {"wsum": "ddg", "prr_mean": "knorm"}
LAMBDAS = (1e-4, 3e-4, 1e-3, 2e-3, 4e-3, 8e-3, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512)
SETTINGS, ROWS, RELEASES = 100, 6_000, 3
EPSILONS, PARTIES, COLLUDERS, BEFORE = (0.1, 0.5, 1.0, 2.0), 10, 3, 0.1


def numbers_of(method: str, federation: Federation, epsilon: float, among: ThreatModel) -> PublicNumbers:
    """The public numbers that the rule goes by."""
    target = Target(Fraction(repr(epsilon)), noise=NOISE[method], delta=Fraction(1, 100_000))  # type: ignore[arg-type]
    sizes = tuple(federation.sizes.tolist())
    return PublicNumbers(sizes, federation.dimension, federation.classes, target, among)


def accuracies(method: str, lam: float, federation: Federation, test: Rows, runs: list[PublicNumbers]) -> list[float]:
    """Mean test accuracy of some releases for each target of these numbers: models are trained once."""
    made = find_method(method)(lam=lam)  # type: ignore[call-arg]
    trained = made.train(federation)
    if has_secure_sum(made):
        trained = SimulatedSum.of(made, federation, runs[0].threat_model, LARGEST_N).train()
    seeds = [Stream.insecure_from_seed(f"{method} {lam} {i}") for i in range(RELEASES)]
    return [mean(trained.release(run.target, seed).model.accuracy(test) for seed in seeds) for run in runs]


def make() -> None:
    """Print the losses of each fixed lambda, and of the rule, in means over the design settings."""
    lost: dict[str, list[list[float]]] = {method: [] for method in NOISE}
    for number in range(SETTINGS):
        _, federation, test, epsilon, among = drawn_of(f"lambda design {number}", SOURCES, ROWS, "wsum")
        for method, found in lost.items():
            run = numbers_of(method, federation, epsilon, among)
            lams = (*LAMBDAS, float(usual_lambda(method, run)))
            each = [accuracies(method, lam, federation, test, [run])[0] for lam in lams]
            found.append([max(each[:-1]) - accuracy for accuracy in each])
        print(number, flush=True)
    for method, found in lost.items():
        means = np.mean(found, axis=0).tolist()
        by_lambda = zip((*(f"{lam:g}" for lam in LAMBDAS), "rule"), means, strict=True)
        print(method, ", ".join(f"{lam}: {loss:.3f}" for lam, loss in by_lambda))


def tried() -> None:
    """Print accuracies on the reported data sets, beside that of the majority class."""
    folder = Path(os.environ.get("SMC_DP_DATA", "."))
    print("data | method | always the majority class | lambda .1 | by the rule | its lambdas")
    for name in REPORTED:
        data = dataset(name, folder, parties=PARTIES)
        federation, test, among = data.federation, data.test, ThreatModel(PARTIES, COLLUDERS)
        if test is None:
            raise SystemExit("a data set has no rows to test on")
        for method in NOISE:
            runs = [numbers_of(method, federation, epsilon, among) for epsilon in EPSILONS]
            lams = [float(usual_lambda(method, run)) for run in runs]
            before = accuracies(method, BEFORE, federation, test, runs)
            now = [accuracies(method, lam, federation, test, [run])[0] for lam, run in zip(lams, runs, strict=True)]
            figures = (" ".join(f"{accuracy:.3f}" for accuracy in each) for each in (before, now))
            always = f"{majority_accuracy(federation, test):.3f}"
            print(" | ".join((name, method, always, *figures, " ".join(f"{lam:g}" for lam in lams))), flush=True)


if __name__ == "__main__":
    with threadpool_limits(1):
        {"make": make, "try": tried}[sys.argv[1]]()
