"""The usual lambda follows from public numbers alone, and the noise that it gives is about as long as wanted."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

import numpy as np
import pytest

from protocols.arithmetic.rng import Stream
from smc_dp.data.bounds import Bounds, NumericColumn
from smc_dp.data.federation import Public
from smc_dp.methods.pathak2010.mean import PathakMean
from smc_dp.methods.signal import PublicNumbers
from smc_dp.methods.sums.threat_model import AnnouncedRows, ThreatModel
from smc_dp.methods.sums.weighted_sum import WeightedSum
from smc_dp.methods.usual_lambda import ASSUMED_ROWS, LEAST, MOST, NOISE_LENGTH, OF_OTHERS, usual_lambda
from smc_dp.planning.candidate import Candidate, Circumstances
from smc_dp.privacy.output import GRID
from smc_dp.privacy.target import Target
from smc_dp.run.agreement import Agreement
from smc_dp.run.settings import RunSettings

PARTIES, COLUMNS = 5, 12
STEP, LARGEST_GRADIENT = 1.6, 1.9  # half of a step from 2 to 5, and G of the sensitivity at the least lambda
BOUNDS = Bounds(tuple(NumericColumn(f"c{j}", 0, 1) for j in range(COLUMNS - 1)), ("no", "yes"), "y")
PUBLIC = Public(PARTIES, COLUMNS, 2)
NAMES = tuple(f"site-{j}" for j in range(PARTIES))


def numbers(n: int, epsilon: str = "1", noise: str = "ddg", **more: object) -> PublicNumbers:
    target = Target(Fraction(epsilon), noise=noise, delta=Fraction(1, 100_000), **more)  # type: ignore[arg-type]
    return PublicNumbers((n,) * PARTIES, COLUMNS, 2, target, ThreatModel(PARTIES, 1))


def agreed_lambda(rows: tuple[int, ...] = (), **settings: object) -> float:
    settled = RunSettings.from_options(**settings).settle(PARTIES)
    return float(settled.with_parties(NAMES, BOUNDS, sizes=rows).method.lam)


@pytest.mark.parametrize("epsilon", ["1/2", "1", "3"])
def test_the_noise_of_the_papers_mean_is_about_as_long_as_wanted(epsilon: str) -> None:
    run = numbers(700, epsilon, "knorm")
    noise = PathakMean(float(usual_lambda("prr_mean", run))).distribution(run.target, 700, PUBLIC)
    drawn = np.array([noise.sample(Stream.insecure_from_seed(str(i))) for i in range(60)], dtype=np.float64)
    length = float(np.linalg.norm(drawn, axis=1).mean()) / PARTIES / 2.0**GRID.fraction_bits
    assert NOISE_LENGTH / STEP < length < NOISE_LENGTH * STEP * LARGEST_GRADIENT


@pytest.mark.parametrize("noise", ["ddg", "vg"])
@pytest.mark.parametrize("epsilon", ["1/2", "1", "3"])
def test_the_noise_of_a_sum_is_about_as_long_as_wanted(epsilon: str, noise: str) -> None:
    run = numbers(700, epsilon, noise)
    among, announced = ThreatModel(PARTIES, 1), AnnouncedRows(10**6, "released")
    spec = WeightedSum(float(usual_lambda("wsum", run))).shared(PUBLIC, run.target, among, announced)
    each = float(spec.noise.distribution.coordinate_variance(PARTIES))
    length = sqrt(COLUMNS * each) / 2.0**spec.grid.fraction_bits / run.rows
    assert NOISE_LENGTH / STEP < length < NOISE_LENGTH * STEP * LARGEST_GRADIENT


def test_more_rows_and_a_larger_epsilon_want_less_and_ends_are_kept() -> None:
    for method, noise in (("wsum", "ddg"), ("prr_mean", "knorm")):
        by_rows = [usual_lambda(method, numbers(n, noise=noise)) for n in (1, 100, 1000, 10**7)]
        by_epsilon = [usual_lambda(method, numbers(300, epsilon, noise)) for epsilon in ("1/10", "1", "10")]
        for found in (by_rows, by_epsilon):
            assert found == sorted(found, reverse=True)
            assert len(set(found)) > 1
        assert (by_rows[0], by_rows[-1]) == (MOST, LEAST)
    assert usual_lambda("prr_mean", numbers(10**6, noise="knorm", calibration="paper")) == MOST
    assert usual_lambda("avg_clip", numbers(10)) == OF_OTHERS


def test_a_run_takes_it_from_known_sizes_and_a_study_from_assumed_ones() -> None:
    few, many = (100,) * PARTIES, (10_000,) * PARTIES
    assert agreed_lambda(few, method="wsum") > agreed_lambda(many, method="wsum")
    assert agreed_lambda(method="wsum") == agreed_lambda((ASSUMED_ROWS,) * PARTIES, method="wsum")
    for hiding in ({"method": "wsum", "sizes": "hidden"}, {"method": "wsum_ar"}):
        assert agreed_lambda(few, **hiding) == agreed_lambda(many, **hiding)  # it would tell the number of rows
    assert agreed_lambda(few, method="wsum", lam="1/7") == 1 / 7
    assert agreed_lambda(many, method="prr_mean", lam="1/10") == 0.1


def test_it_is_stated_and_another_one_is_another_agreement() -> None:
    settled = RunSettings.from_options(method="prr_mean").settle(PARTIES)
    few, many = (settled.with_parties(NAMES, BOUNDS, sizes=(n,) * PARTIES) for n in (100, 10_000))
    assert few.parameters["lambda"] != many.parameters["lambda"]
    assert few.digest != many.digest
    assert few == Agreement.from_dict(few.as_dict(), BOUNDS)  # what is read back has no rule to apply again


def test_a_plan_has_the_lambda_of_the_run() -> None:
    known = Circumstances(NAMES, (400,) * PARTIES, BOUNDS.dimension, settings=RunSettings.from_options(epsilon=2))
    for method in ("wsum", "wsum_ar", "prr_mean"):
        assert Candidate.build(method, known).method.lam == agreed_lambda(known.sizes, method=method, epsilon=2)


def test_the_smallest_party_decides_where_it_sets_the_noise() -> None:
    uneven, even = (50, *[5_000] * (PARTIES - 1)), (50,) * PARTIES
    assert agreed_lambda(uneven, method="prr_mean") == agreed_lambda(even, method="prr_mean")
    assert agreed_lambda(uneven, method="wsum") < agreed_lambda(even, method="wsum")
