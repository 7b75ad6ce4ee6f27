"""The paper's mean in a ring of integers: the common part of the curator protocol and the linear path."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from typing_extensions import override

from protocols.arithmetic.rng import Stream
from protocols.errors import LocalError
from protocols.programs import PROTOCOLS
from smc_dp.core.errors import InputError
from smc_dp.data.federation import Public, Rows
from smc_dp.methods.functionality import Functionality
from smc_dp.methods.method import MechanismSpec, check_target
from smc_dp.methods.model import LinearModel
from smc_dp.methods.pathak2010.mean import PathakMean
from smc_dp.methods.sums.threat_model import ThreatModel
from smc_dp.privacy.grid import Grid
from smc_dp.privacy.output import GRID
from smc_dp.privacy.statement import PrivacyStatement
from smc_dp.privacy.target import Target
from smc_dp.run.protocols.settings import PrivacySummary, ProtocolTerms, check_classes, protocol_setting


def ring_setting() -> Any:
    """Return the field for the ring, which each of these protocols has."""
    return protocol_setting(64, "Sums are computed modulo 2 to the power of this.", most=GRID.ring_bits, on=())


class MeanTerms(ProtocolTerms):
    """Settings that the protocols for the paper's mean share; integers on the grid of `smc_dp.privacy.output`, shares
    modulo 2**ring_bits.
    """

    ring_bits: int
    coalitions: ClassVar[str]

    @override
    def check(self, protocol: str, method: Any, target: Target, *, test_keys: bool) -> None:
        method.statement(Public(2, 1, 2), target, "secure")  # its noise first: `check_target` knows those in the clear
        check_target(target, method)
        super().check(protocol, method, target, test_keys=test_keys)

    @override
    def spec(self, method: Any, public: Public, target: Target) -> MechanismSpec:
        check_classes(public, method)
        return MeanByCurator(method, public, target, self.ring_bits)

    @abstractmethod
    def assumed(self, parties: int) -> str:
        """Return the assumptions of the protocol among so many parties, in a few words."""

    @override
    def summary(self, spec: MechanismSpec, parties: int) -> PrivacySummary:
        return PrivacySummary(
            f"semi-honest attackers: readers of the release; {self.coalitions}.",
            "all participants following the protocol to the end.",
            "malicious participants (can remove all noise); the smallest party (knows the noise); numbers of "
            "rows; wrong inputs; whether a run took place or was refused; further releases.",
            f"{self.assumed(parties)}, if unbroken.",
        )

    @override
    def threat_model(self, parties: int) -> ThreatModel:
        # The noise is that of the smallest party, and no party may drop out.
        return ThreatModel(parties, 0, 0)

    @override
    def program_parameters(self, protocol: str, spec: MechanismSpec, parties: tuple[str, ...], agreed: str) -> Any:
        program = PROTOCOLS[protocol].program
        if program.parameters is None:
            raise InputError("protocol.no_parameters", protocol=protocol)
        try:
            return program.parameters(parties, spec.public.dimension, agreed=agreed, **vars(self))  # same names there
        except LocalError as error:
            raise InputError(error.fault) from None


@dataclass(frozen=True)
class MeanByCurator:
    """`prr_mean` as the curator protocol computes it: a `MechanismSpec`."""

    method: PathakMean
    public: Public
    target: Target
    ring_bits: int
    smallest_sets_noise: ClassVar[bool] = True

    @property
    def grid(self) -> Grid:
        """Grid of all methods in the clear, in a smaller ring."""
        return Grid(GRID.fraction_bits, self.ring_bits)

    @cached_property
    def functionality(self) -> Functionality:
        """Sum of all models and the noise of the smallest party."""
        return self.method.functionality(self.public, self.target)

    @property
    def length(self) -> int:
        """Number of integers in the sum, one for each weight."""
        return self.public.dimension

    @cached_property
    def statement(self) -> PrivacyStatement:
        """Privacy statement that is proved for the noise of the smallest party."""
        return self.method.statement(self.public, self.target, "secure")

    def check(self, n: int) -> None:
        """Raise an InputError where n rows are too many, or where all contributions together could exceed the ring."""
        largest = self.method.largest(n, self.public, self.target)
        if largest >= 1 << (self.ring_bits - 1):
            raise InputError("grid.too_small", ring_bits=self.ring_bits)

    def part(self, rows: Rows, rng: Stream) -> Any:
        """Return the model, and the noise that the party would add if it were the smallest."""
        return self.method.part(rows, self.public, self.target, rng)

    def model(self, value: Any) -> LinearModel:
        """Return the mean of the models."""
        model = self.method.finish(value, self.public, self.target).model
        if not isinstance(model, LinearModel):
            raise InputError("method.not_linear", name=self.method.name)
        return model
