"""What a run is charged, and what becomes of one party's charge: once something has left, it is not taken back.

A session is charged as a whole. What leaves a party leaves under labels: each masked input under that of its sum, a
published share under `RELEASED`. From then on it cannot be called back, and the rest may follow; that others were
waited for in vain, or that a program died, changes nothing. Only a certificate that a sum is one without the party
takes back the label of that sum, and no other. A charge becomes void where no label stands; else it stays until the
release has been seen.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, TypeAlias

from smc_dp.core.errors import InputError
from smc_dp.privacy.ledger.guarantee import Guarantee
from smc_dp.privacy.statement import PrivacyStatement
from smc_dp.run.agreement import Agreement

RELEASED = "release"
"""The label under which a run is charged, for all that its protocol reveals is one release, and a share published."""
ChargeEnd: TypeAlias = Literal["released", "void"]


@dataclass(frozen=True)
class OpenCharge:
    """One party's charge in a session that is not over: the labels under which something has left, and those of them
    that a certificate took back.

    Both only grow, so that a program which does its last steps again after a crash comes to the same. ValueError for
    what was taken back and had not left, and for what was published: no certificate is about that.
    """

    left: frozenset[str] = frozenset()
    taken_back: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if wrong := self.taken_back - (self.left - {RELEASED}):
            raise ValueError(f"{min(wrong)} cannot be taken back: it has not left, or was published")

    @property
    def standing(self) -> frozenset[str]:
        """The labels that count: as long as there is one, the charge stays."""
        return self.left - self.taken_back

    def leaving(self, label: str) -> OpenCharge:
        """Something is about to leave under this label: to be written down before it does."""
        return replace(self, left=self.left | {label})

    def disowned(self, label: str) -> OpenCharge:
        """It is proved that what left under this label is of no use to anybody."""
        return replace(self, taken_back=self.taken_back | {label})

    def end(self, member: bool) -> ChargeEnd | None:
        """What the charge comes to once the release is there; None where it stays without outcome.

        A member's part is in the release. Who is none, and has not had everything taken back, has paid.
        """
        if member:
            return "released"
        return None if self.standing else "void"


@dataclass(frozen=True)
class GivenUp:
    """A charge of a session that the party has left for good, with nothing that stands: only this becomes void.

    ValueError for a charge of which a label stands.
    """

    charge: OpenCharge

    def __post_init__(self) -> None:
        if standing := self.charge.standing:
            raise ValueError(f"a charge stays: {', '.join(sorted(standing))} has left")


def charge_of_run(agreement: Agreement) -> Guarantee:
    """What each party is charged for a run of this; InputError where it guarantees nothing."""
    target = agreement.target
    return charge_of_statement(agreement.statement, target.epsilon if target.calibration == "proven" else None)


def charge_of_statement(statement: PrivacyStatement, epsilon: Fraction | None = None) -> Guarantee:
    """What a release with this statement is charged: exactly `epsilon`, where that is known.

    InputError for a statement of kind `none`.
    """
    if statement.kind == "none":
        raise InputError("ledger.no_price")
    return Guarantee.of(statement, epsilon)
