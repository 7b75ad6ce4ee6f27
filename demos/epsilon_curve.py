"""The paper's Figure 2 on its own data (Adult, a9a): test error against epsilon, for three ways to split the rows.

You will see three panels. With the paper's lambda = 1 every curve falls to the error of answering "earns little" to
everybody: the regulariser leaves nothing to learn. With lambda = 0.001 there is something to learn, and the printed
noise drowns it; noise of the proven scale does not. Lines are means over the draws of noise, bands two standard
errors. Noise is drawn exactly as in real runs, from a fixed seed (INSECURE, but the same figure every time). The
folder of --data-dir (or SMC_DP_DATA) holds a9a/a9a.gz and a9a/a9a.t.gz, from LIBSVM's data page.
"""

from __future__ import annotations

import argparse
import os
from fractions import Fraction
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from protocols.arithmetic.rng import Stream
from smc_dp.arrays import Array
from smc_dp.data import sources
from smc_dp.data.federation import Federation, Public, Rows
from smc_dp.data.partition import deal, parse_split
from smc_dp.errors import InputError
from smc_dp.methods.method import Trained
from smc_dp.methods.pathak2010.averages import Central
from smc_dp.methods.pathak2010.mean import PathakMean
from smc_dp.privacy.target import Target

EPSILONS = ("0.01", "0.02", "0.05", "0.1", "0.2", "0.5", "1")
PANELS = {("1", "paper"): "printed noise, as in the paper:\na constant answer is all it reaches",
          ("0.001", "paper"): "printed noise:\nit drowns what there is to learn",
          ("0.001", "proven"): "proven noise:\nno more than ε needs"}  # fmt: skip
SPLITS = {"no split": None, "even": "20,20,20,20,20", "15 %": "15,20,20,20,25", "10 %": "10,20,20,20,30"}
COLOURS = ("black", "#0072b2", "#e69f00", "#cc3311")


def trained(rows: Rows, split: str | None, lam: float) -> Trained:
    """The parties' models, trained once without noise; of all rows in one place without a split."""
    if split is None:
        return Central(lam).train(Federation((rows,), 2))
    parts = deal(len(rows), parse_split(split), seed=2010)
    return PathakMean(lam).train(Federation(tuple(rows.take(part) for part in parts), 2))


def errors(models: Trained, test: Rows, target: Target, repeats: int) -> Array:
    """Test errors of so many releases, with the same directions of noise at every epsilon and calibration."""
    rng = Stream.insecure_from_seed("figure 2")
    return np.array([1 - models.release(target, rng).model.accuracy(test) for _ in range(repeats)])


def main() -> None:
    """Train, draw noise, plot, check."""
    parser = argparse.ArgumentParser(description="Test error against epsilon on a9a: the paper's Figure 2.")
    parser.add_argument("--data-dir", type=Path, default=os.environ.get("SMC_DP_DATA"), help="folder with a9a/")
    parser.add_argument("--out", type=Path, default="figure2.png", help="the picture to write")
    parser.add_argument("--repeats", type=int, default=60, help="draws of noise for each point")
    options = parser.parse_args()
    if options.repeats < 20:
        parser.error("--repeats: wanted at least 20")
    try:
        data = sources.dataset("a9a", options.data_dir)
    except InputError as missing:
        parser.exit(2, f"{missing}; a9a and a9a.t are on LIBSVM's data page, compress them with gzip\n")
    if data.test is None:
        parser.exit(2, "a9a has no test rows\n")
    rows, test, constant = data.federation.pooled(), data.test, float(np.mean(data.test.y == 1))
    lambdas = dict.fromkeys(lam for lam, _ in PANELS)
    models = {(lam, name): trained(rows, split, float(lam)) for lam in lambdas for name, split in SPLITS.items()}
    figure, axes = plt.subplots(1, len(PANELS), figsize=(13, 5), sharey=True, layout="constrained")
    x, mean = [float(epsilon) for epsilon in EPSILONS], {}
    for ax, ((lam, calibration), title) in zip(axes, PANELS.items(), strict=True):
        for name, colour in zip(SPLITS, COLOURS, strict=True):
            targets = [Target(Fraction(epsilon), calibration) for epsilon in EPSILONS]
            draws = [errors(models[lam, name], test, target, options.repeats) for target in targets]
            y, band = np.mean(draws, axis=1), 2 * np.std(draws, axis=1) / options.repeats**0.5
            label, width = (f"ŵˢ, split: {name}", 1.5) if SPLITS[name] else ("w* + η, no split", 3)
            ax.plot(x, y, "o-", color=colour, label=label, linewidth=width, markersize=4)
            ax.fill_between(x, y - band, y + band, color=colour, alpha=0.15, linewidth=0)
            mean[lam, calibration, name] = y[EPSILONS.index("0.5")]
            print(f"lambda = {lam}, {calibration} noise, epsilon = 0.5, {name}: {mean[lam, calibration, name]:.3f}")
        (clean,) = errors(models[lam, "no split"], test, Target(None), 1)
        ax.axhline(clean, color="black", linestyle="--", linewidth=1, label="w*, no noise")
        ax.axhline(constant, color="grey", linestyle=":", label=f"always “earns little”: {constant:.4f}")
        public, target = Public(5, rows.X.shape[1], 2), Target(1, calibration)
        true = PathakMean(float(lam)).statement(public, target, "secure").epsilon
        ax.set(title=f"λ = {lam}, {title}", xscale="log", xlabel=f"ε (what ŵˢ really guarantees: {true:.2g} ε)")
        ax.set_xticks(x, EPSILONS)
        if (abs(clean - constant) < 1e-9) != (lam == "1"):
            raise SystemExit(f"lambda = {lam}: w* errs by {clean}, a constant answer by {constant}")
    axes[0].legend()
    axes[0].set_ylabel(f"test error on a9a, mean of {options.repeats} draws")
    figure.savefig(options.out, dpi=150)
    print(f"w* without noise: {clean:.4f}; a constant answer: {constant:.4f}. The figure is {options.out}.")
    if any(mean["0.001", "proven", name] >= mean["0.001", "paper", name] for name in SPLITS):
        raise SystemExit("at lambda = 0.001, noise of the proven scale should do better than the printed one")


if __name__ == "__main__":
    main()
