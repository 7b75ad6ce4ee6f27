"""Guarantee of one release in exact numbers: the part of a privacy statement that adds up."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Context
from fractions import Fraction

from smc_dp.core.errors import InputError, shown
from smc_dp.privacy.gaussian import in_reach
from smc_dp.privacy.statement import Adjacency, GuaranteeKind, PrivacyStatement, Unit, check_neighbours, round_up
from smc_dp.privacy.target import epsilon_for

_LARGEST = Fraction(10**100)
LEAST_EPSILON = 1 / _LARGEST
"""Least epsilon that is charged."""
_MOST_EXPONENT = 1000  # of e: no delta that is charged is so small that e^1000 of them are less than 1


@dataclass(frozen=True)
class Guarantee:
    """epsilon and delta, and rho for kind `zcdp`, whose epsilon and delta are one pair that follows from mu or rho.

    mu: of the Gaussian curve, for kind `zcdp`, where the release states one; those of before it was stated have None.
    Raises InputError for kind `none`, which has no figure that could be charged, and for fields that contradict each
    other.
    """

    kind: GuaranteeKind
    epsilon: Fraction
    delta: Fraction
    unit: Unit
    adjacency: Adjacency
    rho: Fraction | None = None
    mu: Fraction | None = None

    def __post_init__(self) -> None:
        check_neighbours(self.unit, self.adjacency)
        if self.kind not in ("pure", "approx", "zcdp"):
            raise InputError("guarantee.not_chargeable", got=shown(self.kind))
        for name, value, has in (
            ("epsilon", self.epsilon, True),
            ("delta", self.delta or None, self.kind != "pure"),
            ("rho", self.rho, self.kind == "zcdp"),
        ):
            if (value is not None) != has or (value is not None and not 1 / _LARGEST <= value <= _LARGEST):
                raise InputError("guarantee.wrong_figure", name=name, kind=self.kind)
        if self.delta >= 1:
            raise InputError("guarantee.wrong_figure", name="delta", kind=self.kind)
        if self.mu is not None and not (self.kind == "zcdp" and in_reach(self.mu**2)):
            raise InputError("guarantee.wrong_figure", name="mu", kind=self.kind)

    @property
    def of_records(self) -> Guarantee | None:
        """Guarantee where one record of a party is replaced; None where that is nothing.

        To replace a record is to take one away and to add another, two steps of `addremove`. With the data sets D, E, F
        in a row, P_D(S) <= e^epsilon P_E(S) + delta <= e^(2 epsilon) P_F(S) + (1 + e^epsilon) delta. So epsilon and
        delta become 2 epsilon and (1 + e^epsilon) delta, mu becomes 2 mu (Dong, Roth and Su 2022) and rho 4 rho (Bun
        and Steinke 2016), with the epsilon that follows from it at the same delta. What holds where all records of a
        party are replaced holds where one of them is.
        """
        if self.unit == "party":
            return replace(self, unit="record", adjacency="replace")
        if self.adjacency == "replace":
            return self
        epsilon, delta, rho, mu = 2 * self.epsilon, self.delta, None, None
        if self.rho is not None:
            rho, mu = 4 * self.rho, None if self.mu is None or not in_reach(4 * self.mu**2) else 2 * self.mu
            epsilon = epsilon_for(rho, delta)
        elif delta:
            delta *= 1 + _exponential(self.epsilon)
        if delta >= 1 or max(epsilon, rho or 0) > _LARGEST:
            return None
        return Guarantee(self.kind, epsilon, delta, "record", "replace", rho, mu)

    @classmethod
    def of(cls, statement: PrivacyStatement, epsilon: Fraction | None = None) -> Guarantee:
        """Take the figures of a statement.

        Those are floats, rounded up. A caller that knows the exact `epsilon` behind one hands it over, so that ten
        releases of 1/10 come to 1; ValueError when the statement is not of that epsilon.
        """
        if statement.kind == "none" or statement.epsilon is None:
            raise InputError("guarantee.not_chargeable", got=shown(statement.kind))
        if epsilon is not None and round_up(epsilon) != statement.epsilon:
            raise ValueError("the statement is of another epsilon")
        rho = None if statement.rho is None else Fraction(statement.rho)
        mu = None if statement.mu is None else Fraction(statement.mu)
        exact = Fraction(statement.epsilon) if epsilon is None else epsilon
        return cls(statement.kind, exact, Fraction(statement.delta), statement.unit, statement.adjacency, rho, mu)


def _exponential(epsilon: Fraction) -> Fraction:
    """Return e^epsilon, rounded up; of an epsilon beyond 1000 that of 1000."""
    up = Context(prec=50, rounding=ROUND_CEILING)
    exact = min(epsilon, Fraction(_MOST_EXPONENT))
    return Fraction(up.next_plus(up.exp(up.divide(exact.numerator, exact.denominator))))  # exp rounds to nearest
