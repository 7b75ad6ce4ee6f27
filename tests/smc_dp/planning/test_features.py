"""A plan says from public figures where Fourier features may pay, and plans none itself."""

from __future__ import annotations

import pytest
from support.refusals import refused

import smc_dp
from smc_dp.pages.blocks import texts_by_code
from smc_dp.planning import report
from smc_dp.planning.candidate import Candidate, Circumstances
from smc_dp.planning.recommendation import MOST_OFFERED, SIGNAL_OF_FEATURES, features_to_offer


def among(rows: int, dimension: int, method: str = "newton") -> Candidate:
    names = tuple(f"p{j}" for j in range(5))
    return Candidate.build(method, Circumstances(names, (rows,) * 5, dimension))


@pytest.mark.parametrize(("rows", "dimension"), [(4000, 20), (10_000, 20), (10_000, 101), (6000, 7)])
def test_features_are_offered_where_the_signal_allows(rows: int, dimension: int) -> None:
    found = features_to_offer(among(rows, dimension))
    for count in range(64, MOST_OFFERED + 1, 32):
        fits = among(rows, dimension + count).expected.signal >= SIGNAL_OF_FEATURES
        assert fits == (found is not None and count <= found)
    assert features_to_offer(among(100 * rows, dimension)) == MOST_OFFERED
    assert features_to_offer(among(rows // 100, dimension)) is None
    assert features_to_offer(among(100 * rows, dimension, "wsum")) is None


def test_the_report_says_so() -> None:
    many, few = (texts_by_code(report.recommendation_blocks(smc_dp.plan([n] * 5, 20))) for n in (50_000, 500))
    assert "plan.features_may_pay" in many
    assert "plan.features_may_pay" not in few


def test_a_plan_of_features_is_refused() -> None:
    with refused("plan.no_features"):
        smc_dp.plan([5000] * 3, 12, method="newton", features="fourier:64")
