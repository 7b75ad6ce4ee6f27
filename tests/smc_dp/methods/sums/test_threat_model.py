"""What is said of a sum follows from how many parties there are, may collude and may drop out."""

from __future__ import annotations

from fractions import Fraction

import pytest
from support.sums import parameters

from protocols.secure_sum.graph import least_closed_neighbourhood
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
CLOSED = ThreatModel(300, 99, 0, sparse=True)


@pytest.mark.parametrize(("field", "counts"), [("colluders", (-1, 0)), ("dropouts", (0, -1))])
def test_a_negative_number_of_parties_is_refused(field: str, counts: tuple[int, int]) -> None:
    with refused("parties.negative_count", name=field, got=-1):
        ThreatModel(5, *counts)


def test_a_sparse_graph_takes_away_the_claim_against_malicious_participants_and_no_more() -> None:
    limits = {MALICIOUS_CAVEAT, SEMI_HONEST_CAVEAT, SEMI_HONEST_SECRECY_CAVEAT}
    for threat_model in (SPARSE, CLOSED):
        assert limits & set(threat_model.caveats()) == {SEMI_HONEST_CAVEAT}
        assert limits & set(threat_model.caveats_of_own_noise()) == {SEMI_HONEST_SECRECY_CAVEAT}
        assert "semi-honest" in threat_model.adversary
    for caveats in (ALL_PAIRS.caveats(), ALL_PAIRS.caveats_of_own_noise()):
        assert limits & set(caveats) == {MALICIOUS_CAVEAT}


def test_a_graph_that_can_fail_costs_delta_and_every_curve() -> None:
    plain = PrivacyStatement("zcdp", 1.0, 1e-15, "record", "replace", "anybody", (), rho=1e-4)
    found = SPARSE.with_graph_failure(plain, 8)
    assert found.delta >= Fraction(1e-15) + sparse_graph_failure(300, 30, 15, 8) > 2.0**-45
    assert (found.kind, found.epsilon, found.rho, found.mu) == ("approx", 1.0, None, None)
    assert ALL_PAIRS.with_graph_failure(plain, 8) is plain


@pytest.mark.parametrize("sums", [1, 8])
def test_a_closed_graph_that_can_fail_costs_delta_once_for_all_sums(sums: int) -> None:
    """One order serves all sums, and nobody drops out of one of them."""
    plain = PrivacyStatement("zcdp", 1.0, 1e-15, "record", "replace", "anybody", (), rho=1e-4)
    found = CLOSED.with_graph_failure(plain, sums)
    failure = parameters(300, 99, 0, (1,) * sums, degree=32).failure
    assert found.delta >= Fraction(1e-15) + failure > 2.0**-46
    assert found.delta <= float(Fraction(1e-15) + failure) * (1 + 2**-50)
    assert (found.kind, found.epsilon, found.rho, found.mu) == ("approx", 1.0, None, None)
    assert ThreatModel(300, 1, 0, sparse=True).with_graph_failure(plain, sums) is plain  # it cannot fail


@pytest.mark.parametrize(
    ("counts", "code", "fields"),
    [
        ((2, 0, 0), "sparse_graph.too_few_parties", {"got": 2}),
        ((10, 8, 0), "sparse_graph.too_many_colluders", {"parties": 10, "most": 7, "got": 8}),
        ((10, 1, 1), "sparse_graph.with_dropouts", {"got": 1}),
        ((2001, 1, 0), "parties.too_many_for_sum", {"most": 2000, "got": 2001}),
    ],
)
def test_a_closed_graph_that_will_not_do_is_refused(
    counts: tuple[int, int, int], code: str, fields: dict[str, int]
) -> None:
    with refused(code, **fields):
        ThreatModel(*counts, sparse=True).check()
    if code.startswith("sparse_graph"):
        with refused(code, **fields):
            sparse_graph_failure(*counts, 1, sparse=True)


@pytest.mark.parametrize(("K", "t"), [(3, 1), (10, 7), (1000, 333), (2000, 666)])
def test_a_closed_graph_that_will_do_is_one_of_the_protocol(K: int, t: int) -> None:
    ThreatModel(K, t, 0, sparse=True).check()
    found = least_closed_neighbourhood(K, t)
    assert parameters(K, t, 0, degree=found.degree).failure == sparse_graph_failure(K, t, 0, 1, sparse=True)
