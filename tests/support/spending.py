"""What a role calls before it releases something: the charge is on disk when the call returns."""

from __future__ import annotations

import os
import sqlite3
from dataclasses import dataclass
from pathlib import Path

from smc_dp.privacy.ledger import storage
from smc_dp.privacy.ledger.guarantee import Guarantee
from smc_dp.privacy.ledger.ledger import Ledger, run_key


@dataclass(frozen=True)
class Spending:
    """Charges one party's ledger for the releases of one session, each under a label of its own.

    `dataset`: what the ledger calls the rows; `guarantee`: that of each of the releases, not of all together.
    """

    ledger: Ledger
    dataset: str
    mechanism: str
    guarantee: Guarantee
    session_id: bytes

    def __call__(self, label: str) -> None:
        """Charge the release with this label, once however often it is asked; raises what `Ledger.reserve` raises."""
        self.ledger.reserve(self.dataset, self.mechanism, self.guarantee, run_key(self.session_id, label))


def kill_before(last: int) -> None:
    """End this process, as a power cut would, before this statement of any ledger."""
    left = iter(range(last))
    connected = storage.connect_ledger

    def traced(path: Path) -> sqlite3.Connection:
        connection = connected(path)
        connection.set_trace_callback(lambda _: None if next(left, None) is not None else os.kill(os.getpid(), 9))
        return connection

    storage.connect_ledger = traced
