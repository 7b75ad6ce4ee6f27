"""A party that comes back when the record was made: nobody who was away then loses the release by what it says now."""

from __future__ import annotations

from pathlib import Path

import pytest
from support import sites
from support.sites import Sites

from protocols.runtime.session import PUBLIC_NAME
from smc_dp.deploy import site_transcript


def back_too_late(folder: Path) -> Sites:
    """P3 vanishes and is given up; P1 is away when the record comes, and finds later letters of P3 before it."""
    run = Sites(sites.joint(sites.few_sums()), folder)
    run.run(until=lambda: "sum1" in run.facts("P3").get("stage", ""))
    run.away.add("P3")
    run.run(until=lambda: bool(run.facts("P1").get("done")))
    run.away.add("P1")
    run.run(until=lambda: run.ends.get("charlie") == "released")
    before = len(run.frames())
    run.away.discard("P3")
    for _ in range(3):
        if "P3" not in run.ends:
            run.turn("P3")
    assert any((p.sender, p.to, p.lane) == ("P3", PUBLIC_NAME, "envelope") for p in run.frames()[before:])
    run.away.clear()
    return run.run()


def test_who_was_away_takes_the_record_although_a_party_came_back_after_it(fast_path: Path) -> None:
    run = back_too_late(fast_path)
    assert run.ends["P1"] == "released", run.facts("P1")["why"]
    assert run.at["P1"].entries() == ["released"]
    assert len({run.releases()[name] for name in ("P1", "P2", "charlie")}) == 1
    run.close()


def test_the_twin_that_wants_all_that_came_loses_it(fast_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site_transcript, "_came_late", lambda found, own, e: False)
    run = back_too_late(fast_path)
    assert (run.ends["P1"], run.at["P1"].entries()) == ("aborted", ["open"])
    assert run.facts("P1")["code"] == "record.lacks_message"
    run.close()
