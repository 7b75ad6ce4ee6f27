"""How long a vanished party is waited for: once as long as the study says, and not again for each sum that follows."""

from __future__ import annotations

from pathlib import Path

import pytest
from support import sites
from support.sites import MESSAGES, NOON, Sites

from protocols.curator import CURATOR_NAME
from smc_dp.deploy.site import Site

GONE = "P4"
SUMS_LEFT = 3


@pytest.fixture
def study(fast_path: Path) -> Sites:
    """Four parties, of whom one may vanish and does in the second sum."""
    found = Sites(sites.joint(sites.few_sums(colluders=1), 4), fast_path)
    found.run(lambda: found.facts(GONE).get("stage") == "sum1")
    found.away.add(GONE)
    return found


def test_who_vanished_costs_one_deadline_and_is_waited_for_again_once_it_is_back(study: Sites) -> None:
    study.run(lambda: study.facts(CURATOR_NAME)["stage"] == "sum3")
    waited = study.clock.now - NOON
    assert MESSAGES < waited < 2 * MESSAGES
    study.away.clear()
    study.begin(GONE)
    study.run()
    assert sites.ends(study) == ["released"] * 5
    assert study.clock.now - NOON < 2 * MESSAGES
    assert len(set(study.releases().values())) == 1
    charlie = study.going[CURATOR_NAME]._site
    assert charlie is not None
    missed = {mark.stage for _, mark in charlie.marks}
    assert {"sum1", "sum2"} <= missed <= {"sum1", "sum2", "sum3"}
    study.close()


@pytest.mark.slow
def test_a_site_that_forgets_who_owes_a_letter_waits_in_each_sum(study: Sites, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Site, "waits_in_vain", False)
    study.run()
    assert study.clock.now - NOON > SUMS_LEFT * MESSAGES
    study.close()
