"""The benchmark of training runs both sides on the same rows and refuses to report when they disagree."""

from __future__ import annotations

import json

import numpy as np
import pytest

from smc_dp.bench import training
from smc_dp.bench.training import Compared, Shape, TrainingBench, bench_training
from smc_dp.errors import InputError
from smc_dp.learning.batch import train_all
from smc_dp.learning.votes import count_votes


def small(**options) -> TrainingBench:  # type: ignore[no-untyped-def]
    return bench_training(12, 5, 7, softmax=Shape(8, 4, 6, 3), test_rows=30, sample=6, **options)


def test_both_sides_agree_and_everything_is_timed() -> None:
    heard: list[str] = []
    measured = small(hear=heard.append)
    assert len(heard) == 3
    for part in (measured.binary, measured.softmax, measured.votes):
        assert part.ours > 0
        assert part.straightforward > 0
        assert part.sample == 6
        assert part.largest_difference <= 1e-6
    assert measured.votes.largest_difference == 0
    told = json.loads(json.dumps(measured.as_dict()))
    assert set(told) == {"training", "softmax", "votes"}
    assert (told["training"]["parties"], told["softmax"]["classes"], told["votes"]["rows"]) == (12, 3, 30)
    assert told["training"]["ratio"] == measured.binary.straightforward / measured.binary.ours


def test_the_other_side_is_scaled_up_from_its_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = iter(range(100))
    monkeypatch.setattr(training.time, "process_time", lambda: next(ticks))
    measured = small()
    assert measured.binary == Compared(1, 2.0, 6, measured.binary.largest_difference)
    assert measured.binary.ratio == 2  # 12 parties from 6
    assert measured.softmax.straightforward == 8 / 6
    assert measured.votes.straightforward == 30 / 6


@pytest.mark.parametrize("classes", [2, 3])
def test_wrong_weights_are_noticed(classes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(parties, number, mu):  # type: ignore[no-untyped-def]
        V = train_all(parties, number, mu)
        return V + 2e-6 * (np.arange(len(V)) == 3)[:, None, None] * (number == classes)

    monkeypatch.setattr(training, "train_all", wrong)
    with pytest.raises(RuntimeError, match="the batch and scikit-learn disagree: weights differ by 2"):
        small()


def test_wrong_votes_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(V, X, classes):  # type: ignore[no-untyped-def]
        counts = count_votes(V, X, classes)
        counts[5] += [-1, 1]
        return counts

    monkeypatch.setattr(training, "count_votes", wrong)
    with pytest.raises(RuntimeError, match="disagree: counts differ by 1"):
        small()


def test_sizes_that_are_too_small_are_refused() -> None:
    for sizes, message in (
        ((0, 3, 4), "parties: wanted at least 1, got 0"),
        ((1, 1, 4), "rows: wanted at least 2, got 1"),
        ((1, 3, 0), "dimension: wanted at least 1, got 0"),
    ):
        with pytest.raises(InputError, match=message):
            bench_training(*sizes)
    with pytest.raises(InputError, match="rows: wanted at least 6, got 5"):
        Shape(3, 5, 4, 6)
    with pytest.raises(InputError, match="test_rows, sample: wanted at least 1, got 5 and 0"):
        bench_training(1, 3, 4, test_rows=5, sample=0)
