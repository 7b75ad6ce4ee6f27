"""Statement of a release over a sparse graph: nothing of it is claimed against malicious participants."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from support.audited import hospitals, sum_agreement
from support.sums import parameters

from protocols.secure_sum.ideal import ASSUMPTIONS, assumptions
from smc_dp.methods.gradients.newton import Newton
from smc_dp.methods.sums.threat_model import (
    GRAPH_LEAK_CAVEAT,
    MALICIOUS_CAVEAT,
    SEMI_HONEST_CAVEAT,
    STATE_LEAK_CAVEAT,
    ThreatModel,
)
from smc_dp.privacy.statement import PrivacyStatement
from smc_dp.run.agreement import add_assumptions
from tests.support.refusals import refused

ACTIVE = ("even if", MALICIOUS_CAVEAT, ASSUMPTIONS)


def said(K: int, t: int, D: int) -> str:
    among = ThreatModel(K, t, D)
    plain = PrivacyStatement("pure", 1.0, 0.0, "record", "replace", among.adversary, tuple(among.caveats()))
    whole = add_assumptions(plain, "secure_sum", parameters(K, t, D))
    return " ".join((whole.adversary, *whole.caveats))


def test_a_circle_is_claimed_against_those_who_keep_to_the_protocol() -> None:
    text = said(300, 30, 15)
    assert not any(words in text for words in ACTIVE)
    assert text.startswith(
        "Charlie and any 30 of 300 parties, if they are semi-honest, while up to 15 parties drop out."
    )
    assert SEMI_HONEST_CAVEAT in text
    assert assumptions(parameters(300, 30, 15)) in text
    assert "with 36 neighbours, 21 of whom can open its seeds" in text
    assert "a statistical distance of at most 2^-42.6" in text


def test_a_state_that_leaks_during_the_session_is_said_to_count() -> None:
    for complete in (ThreatModel(5, 1, 1), ThreatModel(5, 1, 0)):
        assert STATE_LEAK_CAVEAT in complete.caveats()
    for sparse in (ThreatModel(300, 30, 15), ThreatModel(5, 1, 0, sparse=True)):
        assert GRAPH_LEAK_CAVEAT in sparse.caveats()
        assert STATE_LEAK_CAVEAT not in sparse.caveats()


@pytest.mark.parametrize(("K", "D"), [(200, 15), (300, 0), (50, 1)])
def test_all_others_are_claimed_against_those_who_deviate(K: int, D: int) -> None:
    text = said(K, 30, D)
    assert all(words in text for words in ACTIVE)
    assert "semi-honest" not in text
    assert "statistical distance" not in text
    assert "neighbours" not in text


def test_more_drop_outs_than_parties_are_refused_in_one_line() -> None:
    for dropouts in (299, 300, 400):
        with refused("dropouts.too_many_for_circle", parties=300, colluders=1, most=280):
            ThreatModel(300, 1, dropouts).check()


@pytest.mark.parametrize(
    "asked",
    [
        {"dropouts": 5, "colluders": 30},
        {"sparse_graph": True, "colluders": 60},
        {"method": Newton(), "dropouts": 15, "colluders": 1},  # of all its sums, which fail eight times as often as one
    ],
)
def test_what_a_run_says_has_it_in_it(asked: dict[str, Any]) -> None:
    data = hospitals((1,) * 201, 2)
    circle = sum_agreement(data, seeded=False, **asked)
    p = circle.program_parameters("")
    assert p.failure > 0
    target = circle.target
    assert circle.statement.delta >= Fraction(target.delta or 0) + p.failure
