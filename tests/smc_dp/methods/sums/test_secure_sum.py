"""`wsum` and `wsum_ar` by a secure sum: what a party enters, whose noise counts, what the statement says."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from protocols.arithmetic.rng import Stream
from smc_dp.data.federation import Public, Rows
from smc_dp.methods.functionality import ideal
from smc_dp.methods.sums.threat_model import AnnouncedRows, RowCounts, ThreatModel
from smc_dp.methods.sums.weighted_sum import SharedWeightedSum, WeightedSum, WeightedSumAddRemove
from smc_dp.privacy.gaussian import variance_for
from smc_dp.privacy.output import GRID
from smc_dp.privacy.sensitivity import largest_norm
from smc_dp.privacy.target import NoiseName, Target
from tests.support.refusals import refused

FIVE, MOST = ThreatModel(5, 1, 1), 1000


def rows(n: int, seed: int) -> Rows:
    rng = np.random.default_rng(seed)
    X = rng.uniform(-0.5, 0.5, (n, 3))
    return Rows(X, (X[:, 0] > 0).astype(np.int64))


def spec(
    method: Any = None,
    noise: NoiseName = "ddg",
    threat_model: ThreatModel = FIVE,
    sizes: RowCounts | None = None,
    epsilon: int = 1,
) -> SharedWeightedSum:
    made = method or WeightedSum(0.05)
    target = Target(Fraction(epsilon), noise=noise)
    shared: SharedWeightedSum = made.shared(
        Public(threat_model.parties, 3, 2), target, threat_model, AnnouncedRows(MOST, sizes or made.sizes)
    )
    return shared


def silent(part: Any) -> Any:
    return replace(part, noise=(0,) * len(part.noise))


@pytest.mark.parametrize("method", [WeightedSum(0.05), WeightedSumAddRemove(0.05)])
def test_parts_without_their_noise_give_the_model_of_the_method_in_the_clear(method: Any) -> None:
    """The size is there once, without noise, where it is released, and nowhere else."""
    every, made, rng = [rows(30, 1), rows(20, 2), rows(44, 3)], spec(method), Stream.insecure_from_seed(1)
    parts = [made.part(one, rng) for one in every]
    clear = [method.part(one, made.public, Target(None), rng) for one in every]
    released = made.announced.sizes == "released"
    for part, vector, one in zip(parts, clear, every, strict=True):
        assert part.numbers == (*vector, *([len(one)] if released else []))
        assert any(part.noise[:3])
        assert part.noise[3:] == ((0,) if released else ())
    value = ideal(made.functionality, [silent(part) for part in parts])
    divisor = 94 if released else 5 * MOST
    wanted = np.array(GRID.decode([sum(column) for column in zip(*clear, strict=True)], divisor))
    W = made.model(value).W
    np.testing.assert_array_equal(W[1] - W[0], wanted)


def test_a_hostile_number_of_rows_makes_some_model() -> None:
    """Who deviates may make the sum of all sizes anything: nothing divides by zero, and nothing fails."""
    for size in (0, -7, 10**12):
        assert np.isfinite(spec().model((1 << 40, 0, -5, size)).W).all()


@pytest.mark.parametrize(("K", "t", "D"), [(5, 1, 1), (3, 1, 0), (2, 1, 0), (50, 16, 16)])
def test_the_noise_of_the_honest_alone_is_enough(K: int, t: int, D: int) -> None:
    """And no more than that: the twin that counts everybody's share asks for less of each."""
    made = spec(threat_model=ThreatModel(K, t, D))
    H, noise, target = K - t - D, made.noise, Target(Fraction(1))
    wanted = variance_for(noise.sensitivity, target.mu)
    law: Any = noise.distribution
    assert law.variance * H == wanted > law.variance * (H - 1) + 1
    assert noise.sensitivity == GRID.l2_sensitivity(made.method.sensitivity_to(MOST), 3)
    assert f"honest={H} " in noise.distribution.text


def test_the_statement_has_all_numbers_and_what_is_not_claimed() -> None:
    made = spec()
    stated = made.statement
    assert (stated.kind, stated.epsilon, stated.adjacency) == ("zcdp", 1.0, "replace")
    assert stated.adversary == (
        "Charlie and any 1 of 5 parties, even if they are malicious, while up to 1 party drops out. A result has "
        "the noise of at least 3 honest parties (5 parties, minus 1 that may drop out, minus 1 that may be corrupted)"
    )
    words = stated.plain_words()
    for said in ("deny everybody the result", "no promise of a result", "SIM-CDP", "from 1 to 1,000 rows"):
        assert said in words
    assert "is released exactly" in words
    hidden = spec(sizes="hidden").statement.plain_words()
    assert "Numbers of rows are not released: the weights are the sum over 5000" in hidden
    assert "is released exactly" not in hidden
    shares = spec(threat_model=ThreatModel(5, 1, 0, by_curator=False)).statement
    assert shares.adversary.startswith("any 1 of 5 parties, even if")
    assert "anybody can add up" not in words
    assert "anybody can add up" in spec(threat_model=ThreatModel(5, 1, 1, True)).statement.plain_words()


@pytest.mark.parametrize("sizes", ["released", "hidden"])
def test_the_last_party_is_told_that_its_size_shows(sizes: RowCounts) -> None:
    for t in (3, 4):
        words = spec(threat_model=ThreatModel(5, t, 0), sizes=sizes).statement.plain_words()
        assert ("A coalition of 4 of the 5 parties" in words) == (t == 4 and sizes == "released")


def test_no_sum_wraps_round_and_the_cap_says_how_long_the_ring_is() -> None:
    for most in (MOST, 10**7):
        made = replace(spec(), announced=AnnouncedRows(most, "released"))
        longest = largest_norm(Fraction(1, 10)) * most
        assert 5 * made.grid.encode([longest])[0] + made.noise.distribution.tail(5) < 1 << (made.grid.ring_bits - 1)
        assert made.grid.ring_bits % 8 == 0
    assert made.grid.ring_bits > spec().grid.ring_bits


def test_a_number_of_rows_that_is_protected_is_not_released_and_one_beyond_the_cap_is_refused() -> None:
    with refused("sizes.not_hidden", method="wsum_ar", reason="protects the number of rows", got="released"):
        spec(WeightedSumAddRemove(0.05), sizes="released")
    made = spec()
    made.check(MOST)
    with refused("party.more_rows_than_announced", most=1000):
        made.check(MOST + 1)
    with refused("party.more_rows_than_announced", most=1000):
        made.part(rows(1001, 1), Stream.insecure_from_seed(1))
