"""What a role calls before it releases something: the charge is on disk when the call returns."""

from __future__ import annotations

from dataclasses import dataclass

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
