"""What the curator protocol and the linear path have in common: the paper's mean, in a ring of integers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

from protocols.arithmetic.rng import Stream
from protocols.errors import LocalError
from protocols.programs import PROTOCOLS
from smc_dp.core.errors import InputError
from smc_dp.data.federation import Public, Rows
from smc_dp.methods.functionality import Functionality
from smc_dp.methods.method import check_target
from smc_dp.methods.model import LinearModel
from smc_dp.methods.pathak2010.mean import PathakMean
from smc_dp.methods.sums.among import Among
from smc_dp.privacy.grid import Grid
from smc_dp.privacy.output import GRID
from smc_dp.privacy.statement import PrivacyStatement
from smc_dp.privacy.target import NoiseName, Target


class MeanTerms:
    """What the settings have in common of the protocols that compute the paper's mean; see `Terms`."""

    ring_bits: int
    can_lose_parties: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.ring_bits > GRID.ring_bits:
            raise InputError("ring_bits.too_large", most=GRID.ring_bits, got=self.ring_bits)

    @classmethod
    def noise(cls, method: Any, has_delta: bool) -> NoiseName:
        """As `Terms`."""
        own: NoiseName = method.secure_noises[0]
        return own

    @classmethod
    def preferred(cls, method: Any) -> Mapping[str, Any]:
        """As `Terms`."""
        return {}

    def among(self, parties: int) -> Among:
        """As `Terms`: the noise is that of the smallest party, and no party may vanish."""
        return Among(parties, 0, 0)

    def without(self, names: Sequence[str]) -> Self:
        """As `Terms`."""
        raise InputError("parties.all_needed", names=names)


def check_mean(method: Any, target: Target) -> None:
    """Raises InputError for noise, or a calibration, that the method does not have."""
    check_target(target, method)
    method.statement(Public(2, 1, 2), target, "secure")


def made_parameters(protocol: str, *given: Any) -> Any:
    """The public parameters of this program; InputError where they do not fit together."""
    program = PROTOCOLS[protocol].program
    if program.parameters is None:
        raise InputError("protocol.no_parameters", protocol=protocol)
    try:
        return program.parameters(*given)
    except LocalError as error:
        raise InputError(error.fault) from None


@dataclass(frozen=True)
class MeanByCurator:
    """`prr_mean` as the curator protocol computes it; see `SecureForm`."""

    method: PathakMean
    public: Public
    target: Target
    ring_bits: int
    smallest_sets_noise: ClassVar[bool] = True

    @property
    def grid(self) -> Grid:
        """That of all methods in the clear, in a smaller ring."""
        return Grid(GRID.fraction_bits, self.ring_bits)

    @cached_property
    def functionality(self) -> Functionality:
        """The sum of all models, and the noise of the smallest party."""
        return self.method.functionality(self.public, self.target)

    @property
    def length(self) -> int:
        """One for each weight."""
        return self.public.dimension

    @cached_property
    def statement(self) -> PrivacyStatement:
        """What is proved of the noise of the smallest party."""
        return self.method.statement(self.public, self.target, "secure")

    def check(self, n: int) -> None:
        """InputError when a party of n rows has too many, or when all parts together could exceed the ring."""
        largest = self.method.largest(n, self.public, self.target)
        if largest >= 1 << (self.ring_bits - 1):
            raise InputError("grid.too_small", ring_bits=self.ring_bits)

    def part(self, rows: Rows, rng: Stream) -> Any:
        """The model, and the noise that the party would add if it were the smallest."""
        return self.method.part(rows, self.public, self.target, rng)

    def model(self, value: Any) -> LinearModel:
        """The mean."""
        model = self.method.finish(value, self.public, self.target).model
        if not isinstance(model, LinearModel):
            raise InputError("method.not_linear", name=self.method.name)
        return model
