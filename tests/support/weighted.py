"""Hospitals with weights of classes and rows, of which one class is rare."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from smc_dp import run_protocol
from smc_dp.run.report import Report

BOUNDS = """[columns]
a = [-3, 3]
b = [-3, 3]
[label]
classes = ["no", "yes"]
column = "outcome"
"""
WEIGHTS = '[weights]\nclasses = [1, 8]\ncolumn = "w"\nmost = 2\n'
RARE = 0.1


def write_weighted_files(folder: Path) -> Path:
    """Write three files in which one row of ten is of the second class, and the bounds with weights and without."""
    rng = np.random.default_rng(1)
    for name in ("north", "south", "test"):
        y = rng.random(600) < RARE
        X = np.clip(rng.normal(size=(600, 2)) + 1.5 * y[:, np.newaxis], -3, 3)
        lines = [f"{a:.3f},{b:.3f},{w:.1f},{'yes' if c else 'no'}" for (a, b), w, c in zip(
            X, rng.uniform(1, 2, 600), y, strict=True)]  # fmt: skip
        (folder / f"{name}.csv").write_text("\n".join(["a,b,w,outcome", *lines]) + "\n")
    (folder / "bounds.toml").write_text(BOUNDS + WEIGHTS)
    (folder / "plain.toml").write_text(BOUNDS)
    return folder


def trained_with_weights(files: Path, out: Path, bounds: str = "bounds.toml", **settings: object) -> Report:
    parties = [str(files / f"{name}.csv") for name in ("north", "south")]
    return run_protocol(
        parties,
        bounds=files / bounds,
        test=files / "test.csv",
        out=out,
        **{"method": "newton", "epsilon": 50, **settings},
    )
