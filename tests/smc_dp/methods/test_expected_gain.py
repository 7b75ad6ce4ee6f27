"""The expected gain is held to releases of data sets that had no influence on it."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest

from smc_dp.methods.expected_gain import AS_GOOD, ExpectedGain, expected_gain
from smc_dp.methods.signal import PublicNumbers, method_signal
from smc_dp.methods.sums.threat_model import ThreatModel
from smc_dp.privacy.target import Target

TRIALS = Path(__file__).with_name("gain_trials.csv")
"""What `python tests/make_gain.py try` measured, in means over two deals."""


@dataclass(frozen=True)
class Trial:
    """Public numbers, and what came out."""

    source: str
    own: int
    rows: int
    dimension: int
    classes: int
    signal: float
    gain: float


@cache
def trials() -> tuple[Trial, ...]:
    found = []
    with TRIALS.open(encoding="utf-8") as file:
        for line in csv.DictReader(file):
            parties, rows, d, k = (int(line[name]) for name in ("parties", "rows", "dimension", "classes"))
            sizes = tuple(rows // parties + (j < rows % parties) for j in range(parties))
            target = Target(Fraction(line["epsilon"]), delta=Fraction(1, 100_000))
            numbers = PublicNumbers(sizes, d, k, target, ThreatModel(parties, int(line["colluders"])))
            gain = float(line["release"]) - float(line["alone"])
            signal = method_signal("newton", numbers)
            found.append(Trial(line["source"], int(line["own"]), rows, d, k, signal, gain))
    return tuple(found)


def right(rule: Callable[[Trial], float]) -> tuple[int, int]:
    """How often a rule advises what was right, and how often the opposite."""
    found = Counter((ExpectedGain(1, rule(t)).advice, ExpectedGain(1, t.gain).advice) for t in trials())
    opposite = found["stay alone", "take part"] + found["take part", "stay alone"]
    return sum(count for (told, came), count in found.items() if told == came), opposite


def by_rule(t: Trial) -> float:
    return expected_gain(t.own, t.rows, t.dimension, t.classes, t.signal).gain


def test_the_advice_is_right_in_four_of_five_cases_and_seldom_the_opposite() -> None:
    assert len(trials()) == 72
    assert right(by_rule) == (58, 4)


def test_fewer_own_rows_and_less_noise_gain_more_and_who_has_all_rows_gains_nothing() -> None:
    by_own = [expected_gain(n, 10_000, 20, 2, 50.0).gain for n in (10, 100, 1000, 10_000)]
    by_signal = [expected_gain(100, 10_000, 20, 2, signal).gain for signal in (1.0, 10.0, 100.0, 1000.0)]
    assert by_own == sorted(by_own, reverse=True)
    assert by_signal == sorted(by_signal)
    assert by_own[-1] < 0
    assert abs(expected_gain(10_000, 10_000, 20, 2, 1e9).gain) < 1e-9


@pytest.mark.parametrize(
    ("gain", "advice"),
    [(-0.02, "stay alone"), (-AS_GOOD, "as good alone"), (AS_GOOD, "as good alone"), (0.02, "take part")],
)
def test_advice_follows_from_the_gain(gain: float, advice: str) -> None:
    assert ExpectedGain(5, gain).advice == advice
    assert ExpectedGain(5, gain).as_dict() == {"rows": 5, "gain": gain, "advice": advice}
