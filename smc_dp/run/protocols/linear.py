"""The settings of the linear path: its ring of integers, and how many neighbours share masks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

from smc_dp.core.errors import InputError
from smc_dp.data.federation import Public
from smc_dp.methods.method import SecureForm
from smc_dp.privacy.output import GRID
from smc_dp.privacy.pathak2010 import by_linear_path
from smc_dp.privacy.statement import PrivacyStatement
from smc_dp.privacy.target import Target
from smc_dp.run.protocols.mean import MeanByCurator, MeanTerms, check_mean, made_parameters
from smc_dp.run.protocols.settings import check_classes, whole

_MOST_NEIGHBOURS = 1000


@dataclass(frozen=True)
class LinearTerms(MeanTerms):
    """Integers live on the grid of `smc_dp.privacy.output`, shares modulo 2**ring_bits; each of P_2 ... P_K shares
    masks with `ring_degree` others, with P_1 and with Charlie.
    """

    ring_bits: int = 64
    ring_degree: int = 8
    usual_from: ClassVar[int] = 20

    @classmethod
    def from_dict(cls, stated: Mapping[str, Any]) -> Self:
        """As `Terms`."""
        return cls(whole("ring_bits", stated, GRID.ring_bits), whole("ring_degree", stated, _MOST_NEIGHBOURS))

    def as_dict(self, form: SecureForm) -> dict[str, Any]:
        """As `Terms`."""
        return {"ring_bits": self.ring_bits, "ring_degree": self.ring_degree}

    def check(self, protocol: str, method: Any, target: Target, *, test_keys: bool) -> None:
        """Refuses noise that the method does not have, and test keys."""
        check_mean(method, target)
        if test_keys:
            raise InputError("test_keys.without_keys", protocol=protocol)

    def weak(self, protocol: str) -> bool:
        """As `Terms`."""
        return False

    def form(self, method: Any, public: Public, target: Target) -> SecureForm:
        """As `Terms`."""
        check_classes(public, method)
        return MeanByLinearPath(method, public, target, self.ring_bits)

    def program_parameters(self, protocol: str, form: SecureForm, parties: tuple[str, ...], agreed: str) -> Any:
        """As `Terms`."""
        own = self.ring_bits, self.ring_degree, agreed
        return made_parameters(protocol, parties, form.public.dimension, *own)


@dataclass(frozen=True)
class MeanByLinearPath(MeanByCurator):
    """`prr_mean` as the linear path computes it: the same sum, and a guarantee against more."""

    @cached_property
    def statement(self) -> PrivacyStatement:
        """What is proved of the noise of the smallest party, against whom the linear path protects."""
        return by_linear_path(super().statement)
