"""Results of trials: one tidy row each."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, astuple, dataclass, fields
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np

from smc_dp.core import reading
from smc_dp.core.writing import replace_file


@dataclass(frozen=True)
class Trial:
    """One release and how good it is on the test rows.

    `trust`: `none` for a baseline. `epsilon`: as asked, infinite without noise. `delta`: as asked where the noise is
    Gaussian, else 0. `repeat` counts deals of the rows and draws of the noise, `deal` the former alone. `auc`: nan
    where it is not defined. `seconds`: training and release, testing apart. `guaranteed_epsilon`, `guaranteed_delta`:
    None for no guarantee.
    """

    dataset: str
    method: str
    trust: str
    calibration: str
    epsilon: float
    delta: float
    repeat: int
    accuracy: float
    auc: float
    seconds: float
    guaranteed_epsilon: float | None = None
    guaranteed_delta: float | None = None
    deal: int = 0


TRIAL_COLUMNS = tuple(field.name for field in fields(Trial))


@dataclass(frozen=True)
class Summary:
    """Mean and standard deviation (divisor n - 1; 0 for one trial) of a measure over n trials.

    `error`: standard error of the mean over deals of the rows, each with the mean of its draws; nan for one deal.
    """

    mean: float
    deviation: float
    n: int
    error: float = math.nan


def trials_to_csv(trials: Iterable[Trial]) -> bytes:
    """Return a sorted table with a header; epsilon `inf` is no noise, an empty field no guarantee.

    Guarantees are written to the last digit, since fewer could flatter.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(TRIAL_COLUMNS)
    for trial in sorted(trials, key=attrgetter(*TRIAL_COLUMNS[:5], "repeat")):
        *shown, epsilon, delta, deal = astuple(trial)
        plain = [f"{v:.12g}" if isinstance(v, float) else v for v in shown]
        writer.writerow([*plain, _exact(epsilon), _exact(delta), deal])
    return text.getvalue().encode()


def _exact(figure: float | None) -> str:
    return "" if figure is None else repr(figure).removesuffix(".0")


def trial_as_dict(trial: Trial) -> dict[str, Any]:
    """Return plain values for JSON, which has neither infinity nor NaN."""
    return {**asdict(trial), "epsilon": repr(trial.epsilon), "auc": None if math.isnan(trial.auc) else trial.auc}


def trial_from_dict(found: dict[str, Any]) -> Trial:
    """Return the trial that made these values; raise TypeError, ValueError or KeyError for others."""
    auc = math.nan if found["auc"] is None else found["auc"]
    return Trial(**{**found, "epsilon": float(found["epsilon"]), "auc": auc})


def summarise(trials: Sequence[Trial], measure: str) -> Summary:
    """Return the mean and deviation of `accuracy`, `auc`, `seconds`, or `error`; ValueError without trials."""
    if not trials:
        raise ValueError("there are no trials")
    values = np.array([1 - t.accuracy if measure == "error" else getattr(t, measure) for t in trials])
    deals = np.array([t.deal for t in trials])
    means = [values[deals == deal].mean() for deal in np.unique(deals)]
    error = float(np.std(means, ddof=1) / math.sqrt(len(means))) if len(means) > 1 else math.nan
    return Summary(float(values.mean()), float(values.std(ddof=1)) if len(values) > 1 else 0.0, len(values), error)


def write_json(path: Path, value: object) -> None:
    """Write a file of JSON whole."""
    replace_file(path, (json.dumps(value, indent=2, allow_nan=False) + "\n").encode(), str(path))


def read_json(path: Path) -> dict[str, Any]:
    """Read the JSON object in a file; InputError if there is none."""
    return reading.parse_object(reading.read_file(path), str(path))
