"""Make the constants of `smc_dp.methods.expected_gain`, and try them: `python tests/make_gain.py make RESULTS`, `try`.

`make` draws settings of Covertype, KDD 99 and synthetic rows by a fixed seed. In each `newton` releases once, and up to
three parties learn from their own rows, with a cross-validated strength. It fits the two curves to the differences by
least absolute deviations. `try` does the same on data sets that had no influence, dealt equally, and prints how often
the advice was right. What came out is added to RESULTS, so that what was stopped goes on. Both need the data sets
(`SMC_DP_DATA`) and take half an hour.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import cache, partial
from itertools import product
from pathlib import Path
from statistics import mean

import numpy as np
from scipy.optimize import minimize
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).parents[1]))  # before tests/, whose protocols/ is another folder

from support.drawn_settings import drawn_of
from support.noise_trials import TrialSetting, tried
from support.row_sources import SYNTHETIC

from smc_dp.core.arrays import Array
from smc_dp.data.federation import Federation, Rows
from smc_dp.data.sources import dataset
from smc_dp.methods.expected_accuracy import FallingCurve, curve_position
from smc_dp.methods.expected_gain import ExpectedGain, expected_gain
from smc_dp.methods.model import LinearModel
from smc_dp.methods.personal import ALONE, FOLDS, _folds, _losses, learn_towards
from smc_dp.methods.signal import PublicNumbers, method_signal
from smc_dp.methods.sums.threat_model import ThreatModel
from smc_dp.privacy.target import Target

SOURCES = ("covtype", "covtype7", "kdd99", *SYNTHETIC)
REPORTED = ("breast_cancer", "digits", "bank", "credit_default", "a9a", "har")
SETTINGS, ROWS, CHOSEN_ON, TESTED = range(100, 360), 8_000, 1_200, 10_000
PARTIES, EPSILONS, DEALS = (3, 10, 50), (0.1, 0.5, 1.0, 2.0), 2


@dataclass(frozen=True)
class GainTrial:
    """Public numbers of a release, and test accuracies: of the release, and of parties alone, with their rows."""

    key: str
    sizes: list[int]
    dimension: int
    classes: int
    epsilon: float
    colluders: int
    dropouts: int
    release: float
    alone: list[tuple[int, float]]

    @property
    def signal(self) -> float:
        """As a plan says it."""
        target = Target(Fraction(repr(self.epsilon)), delta=Fraction(1, 100_000))
        among = ThreatModel(len(self.sizes), self.colluders, self.dropouts)
        numbers = PublicNumbers(tuple(self.sizes), self.dimension, self.classes, target, among)
        return method_signal("newton", numbers)


def alone(rows: Rows, classes: int, test: Rows) -> float:
    """Test accuracy of a model of these rows alone, whose strength cross-validation chooses on some of them."""

    def models(some: Rows) -> list[Array]:
        W, found = np.zeros((classes, some.X.shape[1])), []
        for strength in ALONE:
            W = learn_towards(some, np.zeros_like(W), strength, W)
            found.append(W)
        return found

    step = -(-len(rows) // CHOSEN_ON)
    some = rows.take(np.arange(0, len(rows), step))
    fold, losses = _folds(some.y), np.zeros(len(ALONE))
    for held in range(FOLDS):
        out = some.take(np.flatnonzero(fold == held))
        found = models(some.take(np.flatnonzero(fold != held)))
        losses += [_losses(out, out.X @ W.T)[0].sum() for W in found]
    return LinearModel(models(rows)[int(np.argmin(losses))]).accuracy(test)


def measured(key: str, setting: TrialSetting, federation: Federation, test: Rows, who: list[int]) -> GainTrial:
    """One release, and the models of these parties."""
    each = [(len(federation.parties[j]), alone(federation.parties[j], federation.classes, test)) for j in who]
    return GainTrial(
        key, list(setting.sizes), federation.dimension, federation.classes, setting.epsilon, setting.colluders,
        setting.dropouts, tried(setting, federation, test).noisy, each,
    )  # fmt: skip


def design(number: int) -> GainTrial:
    """A setting of the design: the smallest, the middle and the largest party learn alone."""
    source, federation, test, epsilon, among = drawn_of(f"alone design {number}", SOURCES, ROWS, "newton")
    sizes, crowd = tuple(federation.sizes.tolist()), (among.colluders, among.dropouts)
    setting = TrialSetting("newton", source, sizes, epsilon, 1e-5, *crowd, 0.1, number)
    order = np.argsort(sizes, kind="stable").tolist()
    return measured(str(number), setting, federation, test, sorted({order[0], order[len(order) // 2], order[-1]}))


@cache
def reported_rows(source: str) -> tuple[Rows, Rows, int]:
    """All rows to train on, those to test on, and the number of classes."""
    data = dataset(source, Path(os.environ.get("SMC_DP_DATA", ".")), parties=2)
    if data.test is None:
        raise SystemExit("a data set has no rows to test on")
    return data.federation.pooled(), data.test, data.federation.classes


def reported(source: str, parties: int, deal: int, epsilon: float) -> GainTrial:
    """A release of a reported data set, dealt equally, of which a quarter may collude; up to three learn alone."""
    pooled, test, classes = reported_rows(source)
    rng = np.random.default_rng([deal, parties])
    parts = np.array_split(rng.permutation(len(pooled)), parties)
    federation = Federation(tuple(pooled.take(np.sort(part)) for part in parts), classes)
    test = test.take(rng.permutation(len(test))[:TESTED])
    sizes = tuple(federation.sizes.tolist())
    setting = TrialSetting("newton", source, sizes, epsilon, 1e-5, parties // 4, 0, 0.1, deal)
    who = list(range(3 if sizes[0] < 3000 and federation.dimension < 200 else 1))
    return measured(f"{source} {parties} {epsilon} {deal}", setting, federation, test, who)


def kept(path: Path, wanted: dict[str, Callable[[], GainTrial]]) -> list[GainTrial]:
    """These trials, of which those that stand in the file are not done again."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    found = [GainTrial(**json.loads(line)) for line in lines]
    done = {trial.key for trial in found}
    with path.open("a", encoding="utf-8") as file:
        for key in [key for key in wanted if key not in done]:
            found.append(wanted[key]())
            file.write(json.dumps(asdict(found[-1])) + "\n")
            file.flush()  # whoever is stopped goes on from here
    return found


def fitted(trials: list[GainTrial]) -> tuple[FallingCurve, FallingCurve]:
    """The curves of what a party lacks alone, and of what noise costs."""
    found = [
        (own, sum(t.sizes), t.dimension * (t.classes - 1), curve_position(t.signal, t.dimension, t.classes),
         (t.release - accuracy) / (1 - 1 / t.classes))
        for t in trials for own, accuracy in dict(t.alone).items()
    ]  # fmt: skip
    own, rows, weights, x, gained = np.array(found).T

    def missed(logs: Array) -> float:
        top, middle, power, cost, half, slope = np.exp(logs)
        lacks = [top / (1 + (n / weights / middle) ** power) for n in (own, rows)]
        return float(np.abs(gained - lacks[0] + lacks[1] + cost / (1 + (x / half) ** slope)).mean())

    starts = ([-1, 1, -0.5, 0, 1, 0], [-1, 3, -0.5, 0, 2, 0], [-1, 0, -0.5, 0.3, 1, 0.2])
    options = {"maxiter": 8000, "xatol": 1e-3, "fatol": 1e-5}
    best = min(
        (minimize(missed, start, method="Nelder-Mead", options=options) for start in starts), key=lambda f: f.fun
    )
    numbers = [float(f"{number:.3g}") for number in np.exp(best.x)]
    return FallingCurve(*numbers[:3]), FallingCurve(*numbers[3:])


def judged(trials: list[GainTrial]) -> Iterator[str]:
    """The advice and what would have been right, by source, in means over deals: one line each."""
    cases: dict[tuple[str, int, float], list[GainTrial]] = {}
    for t in trials:
        cases.setdefault((t.key.split()[0], len(t.sizes), t.epsilon), []).append(t)
    right: dict[str, list[bool]] = {}
    for (source, parties, epsilon), some in cases.items():
        t, own = some[0], some[0].alone[0][0]
        accuracies = [mean(a for one in some for _, a in one.alone), mean(one.release for one in some)]
        told = expected_gain(own, sum(t.sizes), t.dimension, t.classes, t.signal)
        came = ExpectedGain(own, accuracies[1] - accuracies[0])
        right.setdefault(source, []).append(told.advice == came.advice)
        yield f"{source} {parties} {epsilon:g}: {told.advice}, {told.gain:.3f}; it was {came.advice}, {came.gain:.3f}"
    yield ", ".join(f"{source} {sum(each)} of {len(each)}" for source, each in right.items())


def main(command: str, path: Path) -> None:
    """As the docstring of the module says."""
    if command == "make":
        print(*fitted(kept(path, {str(n): partial(design, n) for n in SETTINGS})))
        return
    cases = product(REPORTED, PARTIES, range(DEALS), EPSILONS)
    wanted = {f"{s} {K} {e} {deal}": partial(reported, s, K, deal, e) for s, K, deal, e in cases}
    print("\n".join(judged(kept(path, wanted))))


if __name__ == "__main__":
    with threadpool_limits(1):
        main(sys.argv[1], Path(sys.argv[2]))
