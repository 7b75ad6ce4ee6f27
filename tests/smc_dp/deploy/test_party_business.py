"""What a party's program does beside its role, begun again after the session has ended for it."""

from __future__ import annotations

from contextlib import closing
from fractions import Fraction
from pathlib import Path

import numpy as np
from support.in_memory import InMemoryCarrier
from support.relays import PARTIES, identity, joint_study

from protocols.runtime.session import PUBLIC_NAME
from smc_dp.data.federation import Rows
from smc_dp.deploy.approval import Approval
from smc_dp.deploy.frame import Frame
from smc_dp.deploy.party_site import PartyBusiness
from smc_dp.deploy.relay_store import RelayStore
from smc_dp.deploy.session_driver import Member, SessionDriver
from smc_dp.deploy.store import SiteStore
from smc_dp.privacy.ledger.ledger import Ledger
from smc_dp.run.site_ledger import SiteLedger

STUDY = joint_study("nats://relay.example:4222")
ROWS = Rows(np.full((300, 1), 0.5), np.arange(300) % 2)
NORTH = PARTIES[0]


class Clock:
    """Time is up at every look."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 100
        return self.now


def approval(name: str) -> Approval:
    return Approval.made(STUDY, name, identity(name), name.encode().ljust(32))


def test_a_session_that_ended_uncharged_stays_ended_when_the_program_begins_again(tmp_path: Path) -> None:
    """Nobody greets: the deadline ends it, the entry becomes void, and the same command again says the same."""
    relay, clock = RelayStore(":memory:"), Clock()
    for name in STUDY.names[1:]:
        relay.put(Frame(STUDY.digest, name, PUBLIC_NAME, "approval", 0, approval(name).encode()))
    Ledger.create(tmp_path / "own.ledger", Fraction(2)).close()
    for _ in range(2):
        member = Member(STUDY, NORTH, identity(NORTH), approval(NORTH), STUDY.agreement())
        business = PartyBusiness(member, ROWS, None, SiteLedger(tmp_path / "own.ledger"), tmp_path / "run")
        purpose = {"study": STUDY.digest, "name": NORTH}
        with closing(SiteStore(tmp_path / "state", tmp_path / "counters", purpose, identity(NORTH))) as store:
            carrier = InMemoryCarrier(relay, NORTH)
            assert SessionDriver(member, store, carrier, business, clock=clock).run() == "deadline"
        with Ledger.open(tmp_path / "own.ledger") as ledger:
            assert [entry.state for entry in ledger.history().entries] == ["limit", "reserved", "refunded"]
