"""What one release guarantees, in exact numbers: the part of a privacy statement that adds up."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import get_args

from smc_dp.core.errors import InputError, check_one_of, shown
from smc_dp.privacy.gaussian import in_reach
from smc_dp.privacy.statement import Adjacency, GuaranteeKind, PrivacyStatement, Unit, round_up

_LARGEST = Fraction(10**100)


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
        check_one_of("unit", self.unit, get_args(Unit))
        check_one_of("adjacency", self.adjacency, get_args(Adjacency))
        if (self.unit == "party") != (self.adjacency == "party"):
            raise InputError("guarantee.adjacency_of_other_unit", unit=self.unit, got=shown(self.adjacency))
        if self.kind not in ("pure", "approx", "zcdp"):
            raise InputError("guarantee.not_chargeable", got=shown(self.kind))
        if not 1 / _LARGEST <= self.epsilon <= _LARGEST:
            raise InputError("guarantee.epsilon_out_of_range")
        if self.delta != 0 if self.kind == "pure" else not 1 / _LARGEST <= self.delta < 1:
            raise InputError("guarantee.delta_not_of_kind", kind=self.kind)
        if (self.rho is not None) != (self.kind == "zcdp"):
            raise InputError("guarantee.rho_not_of_kind", kind=self.kind)
        if self.rho is not None and not 1 / _LARGEST <= self.rho <= _LARGEST:
            raise InputError("guarantee.rho_out_of_range")
        if self.mu is not None and self.kind != "zcdp":
            raise InputError("guarantee.mu_not_of_kind", kind=self.kind)
        if self.mu is not None and not in_reach(self.mu**2):
            raise InputError("guarantee.mu_out_of_range")

    @classmethod
    def of(cls, statement: PrivacyStatement, epsilon: Fraction | None = None) -> Guarantee:
        """The figures of a statement.

        Those are floats, rounded up. Whoever knows the exact `epsilon` behind one hands it over, so that ten releases
        of 1/10 come to 1; ValueError when the statement is not of that epsilon.
        """
        if statement.kind == "none" or statement.epsilon is None:
            raise InputError("guarantee.not_chargeable", got=shown(statement.kind))
        if epsilon is not None and round_up(epsilon) != statement.epsilon:
            raise ValueError("the statement is of another epsilon")
        rho = None if statement.rho is None else Fraction(statement.rho)
        mu = None if statement.mu is None else Fraction(statement.mu)
        exact = Fraction(statement.epsilon) if epsilon is None else epsilon
        return cls(statement.kind, exact, Fraction(statement.delta), statement.unit, statement.adjacency, rho, mu)
