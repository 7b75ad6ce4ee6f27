"""What is said of a sum follows from how many parties there are, may collude and may drop out."""

from __future__ import annotations

from fractions import Fraction

import pytest

from smc_dp.methods.sums.party_limits import sparse_graph_failure
from smc_dp.methods.sums.threat_model import (
    MALICIOUS_CAVEAT,
    SEMI_HONEST_CAVEAT,
    SEMI_HONEST_SECRECY_CAVEAT,
    ThreatModel,
)
from smc_dp.privacy.statement import PrivacyStatement
from tests.support.refusals import refused

SPARSE, ALL_PAIRS = ThreatModel(300, 30, 15), ThreatModel(5, 1, 1)


@pytest.mark.parametrize(("field", "counts"), [("colluders", (-1, 0)), ("dropouts", (0, -1))])
def test_a_negative_number_of_parties_is_refused(field: str, counts: tuple[int, int]) -> None:
    with refused("parties.negative_count", name=field, got=-1):
        ThreatModel(5, *counts)


def test_a_sparse_graph_takes_away_the_claim_against_malicious_participants_and_no_more() -> None:
    limits = {MALICIOUS_CAVEAT, SEMI_HONEST_CAVEAT, SEMI_HONEST_SECRECY_CAVEAT}
    assert limits & set(SPARSE.caveats()) == {SEMI_HONEST_CAVEAT}
    assert limits & set(SPARSE.caveats_of_own_noise()) == {SEMI_HONEST_SECRECY_CAVEAT}
    for caveats in (ALL_PAIRS.caveats(), ALL_PAIRS.caveats_of_own_noise()):
        assert limits & set(caveats) == {MALICIOUS_CAVEAT}


def test_a_graph_that_can_fail_costs_delta_and_every_curve() -> None:
    plain = PrivacyStatement("zcdp", 1.0, 1e-15, "record", "replace", "anybody", (), rho=1e-4)
    found = SPARSE.with_graph_failure(plain, 8)
    assert found.delta >= Fraction(1e-15) + sparse_graph_failure(300, 30, 15, 8) > 2.0**-45
    assert (found.kind, found.epsilon, found.rho, found.mu) == ("approx", 1.0, None, None)
    assert ALL_PAIRS.with_graph_failure(plain, 8) is plain
