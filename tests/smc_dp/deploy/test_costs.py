"""What a study costs its sites: the same letters over every carrier, and all of them at the keeper of the record."""

from __future__ import annotations

from pathlib import Path

import pytest
from support import measured
from support.measured import SiteCost
from support.relays import without_server

from protocols.curator import CURATOR_NAME

MOST_OF_A_HEAD = 1500  # bytes of a frame

pytestmark = pytest.mark.filterwarnings("ignore::smc_dp.RowsClippedWarning")  # of the bounds of breast cancer


def parties_and_charlie(costs: list[SiteCost]) -> tuple[list[SiteCost], SiteCost]:
    """Once all have the release: Charlie was brought every byte that the parties sent, and each party his record.

    Only what they say to each other of their ledgers is not for Charlie: six frames of each two parties.
    """
    assert [cost.end for cost in costs] == ["released"] * len(costs)
    *parties, charlie = costs
    assert charlie.name == CURATOR_NAME
    of_ledgers = sum(cost.sent for cost in parties) - charlie.received
    assert 0 < of_ledgers < 3 * len(parties) * (len(parties) - 1) * MOST_OF_A_HEAD
    assert all(cost.received > charlie.received for cost in parties)  # of which the record is
    assert all(cost.seconds > 0 for cost in costs)
    return parties, charlie


def test_whoever_keeps_the_record_is_brought_all_that_parties_send(tmp_path: Path) -> None:
    _, costs = measured.over_memory(tmp_path / "memory", "newton", 3)
    parties, charlie = parties_and_charlie(costs)
    assert charlie.sent > sum(cost.sent for cost in parties)
    with pytest.raises(AssertionError):  # the twin: a letter that nobody brought
        parties_and_charlie([*parties[:-1], charlie])


@pytest.mark.slow
@without_server
def test_a_carrier_adds_nothing_to_what_is_sent(tmp_path: Path) -> None:
    """But for the lengths of random numbers, and for what the carrier itself wraps around a frame."""
    _, here = measured.over_memory(tmp_path / "memory", "newton", 3)
    _, there = measured.over_nats(tmp_path / "nats", "newton", 3)
    for one, other in zip(here, there, strict=True):
        assert other.sent == pytest.approx(one.sent, rel=0.02)
    parties_and_charlie(there)
