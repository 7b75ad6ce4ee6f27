"""Charges of fits to a ledger: one guarantee for all of them, and for whatever else stands in the same ledger."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from os import PathLike, fspath
from pathlib import Path

import numpy as np

from protocols.arithmetic.rng import Stream
from smc_dp.core.errors import InputError, shown
from smc_dp.data.federation import Federation
from smc_dp.data.fingerprint import fingerprint_data
from smc_dp.privacy.ledger.guarantee import Guarantee
from smc_dp.privacy.ledger.history import account_of
from smc_dp.privacy.ledger.ledger import Ledger
from smc_dp.privacy.statement import PrivacyStatement, round_up, short_figure
from smc_dp.privacy.target import Target

_RUN_BYTES = 32


@dataclass
class FitCharge:
    """Charge of a fit, which is not yet settled."""

    ledger: Ledger
    guarantee: Guarantee
    number: int
    settled: bool = False

    def released(self, model: object, stated: PrivacyStatement) -> PrivacyStatement:
        """Settle the charge; return the statement about all releases of this account, this fit among them."""
        arrays = (value for value in vars(model).values() if isinstance(value, np.ndarray))
        digest = hashlib.sha256(b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)).hexdigest()
        self.ledger.settle(self.number, "released", digest)
        self.settled = True
        account = account_of(self.guarantee)
        history = self.ledger.history()
        standing = history.standing(account)
        if standing.total is None:
            raise RuntimeError("a ledger has charged what it has no bound for")
        fits, total = len(history.charged[account]), standing.total
        alone = short_figure(stated.epsilon or 0.0)
        every = "the one release" if fits == 1 else f"all {fits} releases"
        said = (
            f"This is the guarantee of {every} that the ledger {shown(str(self.ledger.path))} holds about such a "
            f"change, this fit the last ({total.how}). This fit alone has epsilon {alone}. Scores on private rows are "
            "not covered."
        )
        return replace(
            stated,
            kind="pure" if total.delta == 0 else "approx",
            adjacency=account.adjacency,
            epsilon=round_up(total.epsilon),
            delta=round_up(total.delta),
            rho=None,
            mu=None,
            caveats=(*stated.caveats, said),
        )


@contextmanager
def charge_fit(
    path: str | PathLike[str], data: Federation, mechanism: str, stated: PrivacyStatement, target: Target
) -> Iterator[FitCharge]:
    """Charge a fit before anybody trains; a fit that fails has released nothing, and gets a refund.

    Raises InputError where there is no ledger, where its limit would be passed, and for what no ledger can charge.
    """
    if not isinstance(path, str | PathLike):
        raise InputError("ledger.no_path", got=shown(path))
    with Ledger.open(Path(fspath(path))) as ledger:
        guarantee = Guarantee.of(stated, _exact(stated, target))
        run = Stream.from_system().bytes(_RUN_BYTES).hex()
        name = ledger.dataset(partial(fingerprint_data, held=data.pooled()))
        charge = FitCharge(ledger, guarantee, ledger.reserve(name, mechanism, guarantee, run))
        try:
            yield charge
        finally:
            if not charge.settled:
                ledger.settle(charge.number, "refunded")


def _exact(stated: PrivacyStatement, target: Target) -> Fraction | None:
    """Return the epsilon behind the statement's float, where it is the one that was asked for."""
    return target.epsilon if target.epsilon is not None and round_up(target.epsilon) == stated.epsilon else None
