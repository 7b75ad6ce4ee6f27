"""Charge of a run, and the outcome of one party's charge: once something has left, it is not refunded.

A session is charged as a whole. What leaves a party leaves under labels: each masked input under that of its sum, a
published share under `RELEASED`. From then on it cannot be called back; a timeout or a crash changes nothing. Only a
certificate that a sum is one without the party takes back the label of that sum. A charge with no standing label is
refunded; any other stays until the release has been seen.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

from smc_dp.core.errors import InputError
from smc_dp.privacy.ledger.entry import ChargeEnd
from smc_dp.privacy.ledger.guarantee import Guarantee
from smc_dp.privacy.ledger.ledger import RELEASED
from smc_dp.privacy.statement import PrivacyStatement
from smc_dp.run.agreement import Agreement


@dataclass(frozen=True)
class OpenCharge:
    """Charge of one party in a session that is not over: labels that have left, and labels that a certificate took
    back.

    Both only grow, so a program that repeats its last steps after a crash comes to the same. Raises ValueError for a
    label taken back that had not left, or was published: no certificate is about that.
    """

    left: frozenset[str] = frozenset()
    taken_back: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if wrong := self.taken_back - (self.left - {RELEASED}):
            raise ValueError(f"{min(wrong)} cannot be taken back: it has not left, or was published")

    @property
    def standing(self) -> frozenset[str]:
        """Labels that count: as long as there is one, the charge stays."""
        return self.left - self.taken_back

    def leaving(self, label: str) -> OpenCharge:
        """Return the charge with this label, to be stored before anything leaves under it."""
        return replace(self, left=self.left | {label})

    def disowned(self, label: str) -> OpenCharge:
        """Return the charge without this label, for which a certificate shows that it is of no use to anybody."""
        return replace(self, taken_back=self.taken_back | {label})

    def end(self, member: bool) -> ChargeEnd | None:
        """Return the outcome of the charge once the release is there; None where it stays charged without outcome.

        A member's contribution is in the release. Any other party has paid unless all its labels were taken back.
        """
        if member:
            return "released"
        return None if self.standing else "refunded"


@dataclass(frozen=True)
class GivenUp:
    """Charge of a session that the party has left for good; only this can be refunded.

    Raises ValueError for a charge with a standing label.
    """

    charge: OpenCharge

    def __post_init__(self) -> None:
        if standing := self.charge.standing:
            raise ValueError(f"a charge stays: {', '.join(sorted(standing))} has left")


def charge_of_run(agreement: Agreement) -> Guarantee:
    """Return the charge of each party for a run of this agreement; InputError where it guarantees nothing."""
    target = agreement.target
    return charge_of_statement(agreement.statement, target.epsilon if target.calibration == "proven" else None)


def charge_together(agreements: Iterable[Agreement]) -> tuple[Fraction, Fraction]:
    """Return epsilon and delta that each party is charged for all of these runs, by basic composition."""
    charges = [charge_of_run(agreement) for agreement in agreements]
    return sum((c.epsilon for c in charges), Fraction(0)), sum((c.delta for c in charges), Fraction(0))


def charge_of_statement(statement: PrivacyStatement, epsilon: Fraction | None = None) -> Guarantee:
    """Return the charge of a release with this statement, exactly `epsilon` where that is known.

    Raises InputError for a statement of kind `none`.
    """
    if statement.kind == "none":
        raise InputError("ledger.no_price")
    return Guarantee.of(statement, epsilon)
