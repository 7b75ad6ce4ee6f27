"""Tables of trials: the columns, the way there and back, and means."""

from __future__ import annotations

import csv
import io
import json
import math
import statistics
from dataclasses import replace

import pytest

from smc_dp.experiments.compare import results
from smc_dp.experiments.compare.results import Trial, summarise, trial_as_dict, trial_from_dict, trials_to_csv

TRIALS = [
    Trial("har", "soft", "aggregator", "proven", 10.0, 0.0, 1, 0.8125, 0.9, 1.5, 10.0, 0.0),
    Trial("har", "soft", "aggregator", "proven", math.inf, 0.0, 0, 0.75, math.nan, 0.25),
    Trial("har", "soft", "aggregator", "proven", 2.0, 1e-6, 0, 0.1, 0.5, 3.0, 2.0, 1e-6),
    Trial("a9a", "prr_mean", "aggregator", "paper", 0.1, 0.0, 0, 1 / 3, 0.5, 0.125, 0.04640092139438914, 0.0),
]


def test_the_columns_are_these_and_rows_are_sorted():
    table = list(csv.DictReader(io.StringIO(trials_to_csv(TRIALS).decode())))
    columns = "dataset,method,trust,calibration,epsilon,delta,repeat,accuracy,auc,seconds,guaranteed_epsilon"
    assert trials_to_csv([]).decode() == columns + ",guaranteed_delta,deal\n"
    assert [row["epsilon"] for row in table] == ["0.1", "2", "10", "inf"]
    assert [row["dataset"] for row in table] == ["a9a", "har", "har", "har"]
    assert table[1]["delta"] == "1e-06"
    # To the last digit: a rounded guarantee could flatter.
    guarantees = [(row["guaranteed_epsilon"], row["guaranteed_delta"]) for row in table]
    assert guarantees == [("0.04640092139438914", "0"), ("2", "1e-06"), ("10", "0"), ("", "")]


def test_a_trial_comes_back_as_it_went():
    back = [trial_from_dict(json.loads(json.dumps(trial_as_dict(trial), allow_nan=False))) for trial in TRIALS]
    assert [repr(trial) for trial in back] == [repr(trial) for trial in TRIALS]


def test_summary_agrees_with_the_standard_library():
    values = [t.accuracy for t in TRIALS]
    found = summarise(TRIALS, "accuracy")
    assert (found.mean, found.deviation) == pytest.approx((statistics.mean(values), statistics.stdev(values)))
    assert found.n == 4
    assert found.deviation != pytest.approx(statistics.pstdev(values))
    assert summarise(TRIALS, "error").mean == pytest.approx(1 - statistics.mean(values))
    assert repr(summarise(TRIALS[:1], "seconds")) == repr(results.Summary(1.5, 0.0, 1))  # nan is not itself
    with pytest.raises(ValueError, match="no trials"):
        summarise([], "accuracy")


def test_the_standard_error_is_over_deals_and_not_over_draws():
    """Two deals of two draws, and one deal, of which nothing is known; the twin takes draws for deals."""
    drawn = [
        replace(TRIALS[0], accuracy=a, deal=deal) for a, deal in ((0.7, 0), (0.9, 0), (0.5, 1), (0.7, 1), (0.7, 2))
    ]
    assert summarise(drawn, "accuracy").error == pytest.approx(statistics.stdev((0.8, 0.6, 0.7)) / math.sqrt(3))
    assert math.isnan(summarise(drawn[:2], "accuracy").error)
    twin = [replace(t, deal=j) for j, t in enumerate(drawn)]
    assert summarise(twin, "accuracy").error != pytest.approx(summarise(drawn, "accuracy").error)
