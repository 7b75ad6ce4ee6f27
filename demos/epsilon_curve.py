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
from smc_dp.data import sources
from smc_dp.errors import InputError
from smc_dp.methods.experiment import SPLITS, dealt, error, errors, pooled, train
from smc_dp.methods.pathak2010.curator import Settings

EPSILONS = ("0.01", "0.02", "0.05", "0.1", "0.2", "0.5", "1")
PANELS = {("1", "paper"): "printed noise, as in the paper:\na constant answer is all it reaches",
          ("0.001", "paper"): "printed noise:\nit drowns what there is to learn",
          ("0.001", "proven"): "proven noise:\nno more than ε needs"}  # fmt: skip
COLOURS = ("black", "#0072b2", "#e69f00", "#cc3311")


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
        case = sources.dataset("a9a", options.data_dir)
    except InputError as missing:
        parser.exit(2, f"{missing}; a9a and a9a.t are on LIBSVM's data page, compress them with gzip\n")
    rows, constant = pooled(list(case.parties.values())), float(np.mean(case.test.y > 0))
    parties = {"no split": [rows]} | {name: dealt(rows, split, seed=2010) for name, split in SPLITS.items()}
    lambdas = {lam: Settings(lam=Fraction(lam)) for lam, _ in PANELS}
    models = {(lam, name): train(data, lambdas[lam]) for lam in lambdas for name, data in parties.items()}
    figure, axes = plt.subplots(1, len(PANELS), figsize=(13, 5), sharey=True, layout="constrained")
    x, mean = [float(epsilon) for epsilon in EPSILONS], {}
    for ax, ((lam, calibration), title) in zip(axes, PANELS.items(), strict=True):
        for name, colour in zip(parties, COLOURS, strict=True):
            draws = [errors(models[lam, name], case.test, Fraction(epsilon), calibration, repeats=options.repeats,
                            rng=Stream.insecure_from_seed("figure 2")) for epsilon in EPSILONS]  # fmt: skip
            y, band = np.mean(draws, axis=1), 2 * np.std(draws, axis=1) / options.repeats**0.5
            label, width = (f"ŵˢ, split: {name}", 1.5) if name in SPLITS else ("w* + η, no split", 3)
            ax.plot(x, y, "o-", color=colour, label=label, linewidth=width, markersize=4)
            ax.fill_between(x, y - band, y + band, color=colour, alpha=0.15, linewidth=0)
            mean[lam, calibration, name] = y[EPSILONS.index("0.5")]
            print(f"lambda = {lam}, {calibration} noise, epsilon = 0.5, {name}: {mean[lam, calibration, name]:.3f}")
        clean = error(models[lam, "no split"].weights(), case.test)
        ax.axhline(clean, color="black", linestyle="--", linewidth=1, label="w*, no noise")
        ax.axhline(constant, color="grey", linestyle=":", label=f"always “earns little”: {constant:.4f}")
        true = Settings(lam=Fraction(lam), calibration=calibration).guarantee(5, rows.X.shape[1]).epsilon
        ax.set(title=f"λ = {lam}, {title}", xscale="log", xlabel=f"ε (what ŵˢ really guarantees: {true:.2g} ε)")
        ax.set_xticks(x, EPSILONS)
        if (abs(clean - constant) < 1e-9) != (lam == "1"):
            raise SystemExit(f"lambda = {lam}: w* errs by {clean}, a constant answer by {constant}")
    axes[0].legend()
    axes[0].set_ylabel(f"test error on a9a, mean of {options.repeats} draws")
    figure.savefig(options.out, dpi=150)
    print(f"w* without noise: {clean:.4f}; a constant answer: {constant:.4f}. The figure is {options.out}.")
    if any(mean["0.001", "proven", name] >= mean["0.001", "paper", name] for name in parties):
        raise SystemExit("at lambda = 0.001, noise of the proven scale should do better than the printed one")


if __name__ == "__main__":
    main()
