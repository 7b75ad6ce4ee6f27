"""The paper's Figure 2 on its own data (Adult, a9a): test error against epsilon, for three ways to split the rows.

After about half a minute you will see three panels. With the paper's lambda = 1 every curve falls to the error of
answering "earns little" to everybody. With lambda = 0.001 the printed noise drowns what there is to learn, because it
guarantees a far smaller epsilon, which each axis names; proven noise guarantees what is asked for. Lines are means over
the draws, bars two standard errors, from a fixed seed (INSECURE). --data-dir (or SMC_DP_DATA) holds a9a/a9a.gz and
a9a/a9a.t.gz (LIBSVM).
"""

from __future__ import annotations

import argparse
import os
from functools import cache
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from protocols.arithmetic.rng import Stream
from smc_dp import METHODS, Federation, InputError, Rows, Target
from smc_dp.data import partition, sources

EPSILONS = ("0.01", "0.02", "0.05", "0.1", "0.2", "0.5", "1")
PANELS = {("1", "paper"): "printed noise, as in the paper:\na constant answer is all it reaches",
          ("0.001", "paper"): "printed noise:\nfor a far smaller ε than was asked for",
          ("0.001", "proven"): "proven noise:\nfor the ε that was asked for"}  # fmt: skip
SPLITS = {"": "black", "20,20,20,20,20": "#0072b2", "15,20,20,20,25": "#e69f00", "10,20,20,20,30": "#cc3311"}


def main() -> None:
    """Train, draw noise, plot, check."""
    parser = argparse.ArgumentParser(description="Test error against epsilon on a9a: the paper's Figure 2.")
    parser.add_argument("--data-dir", type=Path, default=os.environ.get("SMC_DP_DATA"), help="folder with a9a/")
    parser.add_argument("--out", type=Path, default="figure2.png", help="the picture to write")
    parser.add_argument("--repeats", type=int, default=20, help="draws of noise for each point")
    options = parser.parse_args()
    if options.repeats < 20:
        parser.error("--repeats: wanted at least 20")
    try:
        data = sources.dataset("a9a", options.data_dir)
    except InputError as missing:
        parser.exit(2, f"{missing}; a9a and a9a.t are on LIBSVM's data page, compress them with gzip\n")
    rows, test = data.federation.pooled(), data.test
    dealt = {split: partition.split_rows(len(rows), partition.parse_split(split), 2010) for split in SPLITS if split}
    sites = {s: Federation(tuple(map(rows.take, dealt[s])) if s else (rows,), 2) for s in SPLITS}
    train = cache(lambda lam, s: METHODS["prr_mean" if s else "central"](float(lam)).train(sites[s]))
    figure, axes = plt.subplots(1, len(PANELS), figsize=(13, 5), sharey=True, layout="constrained")
    x, constant, mean = [float(epsilon) for epsilon in EPSILONS], float(np.mean(test.y == 1)), {}
    for ax, ((lam, calibration), title) in zip(axes, PANELS.items(), strict=True):
        for split, colour in SPLITS.items():
            models = train(lam, split)
            draws = [errors(models, test, Target(float(e), calibration), options.repeats) for e in EPSILONS]
            y, bars = np.mean(draws, axis=1), 2 * np.std(draws, axis=1) / options.repeats**0.5
            label, width = (f"ŵˢ, split: {split}", 1.5) if split else ("w* + η, no split", 3)
            ax.errorbar(x, y, bars, fmt="o-", color=colour, label=label, linewidth=width, markersize=4)
            mean[lam, calibration, split] = at_half = y[EPSILONS.index("0.5")]
            print(f"lambda = {lam}, {calibration} noise, epsilon = 0.5, {split or 'no split'}: {at_half:.3f}")
        true = models.method.statement(models.public, Target(1, calibration), "secure").epsilon
        clean = errors(train(lam, ""), test, Target(None), 1)[0]
        ax.axhline(clean, color="black", linestyle="--", linewidth=1, label="w*, no noise")
        ax.axhline(constant, color="grey", linestyle=":", label=f"always “earns little”: {constant:.4f}")
        ax.set(title=f"λ = {lam}, {title}", xscale="log", xlabel=f"ε (what ŵˢ really guarantees: {true:.2g} ε)")
        ax.set_xticks(x, EPSILONS)
        if (abs(clean - constant) < 1e-9) != (lam == "1"):
            raise SystemExit(f"lambda = {lam}: w* errs by {clean}, a constant answer by {constant}")
    axes[0].legend()
    axes[0].set_ylabel(f"test error on a9a, mean of {options.repeats} draws")
    figure.savefig(options.out, dpi=150)
    print(f"w* without noise: {clean:.4f}; a constant answer: {constant:.4f}. The figure is {options.out}.")
    if any(mean["0.001", "proven", split] >= mean["0.001", "paper", split] for split in SPLITS):
        raise SystemExit("at lambda = 0.001, noise of the proven scale should do better than the printed one")


def errors(models, test: Rows, target: Target, repeats: int):
    """Return test errors of releases, with the same directions of noise at every epsilon and calibration."""
    rng = Stream.insecure_from_seed("figure 2")
    return np.array([1 - models.release(target, rng).model.accuracy(test) for _ in range(repeats)])


if __name__ == "__main__":
    main()
