"""The settings of the curator protocol, hardened or as printed: its keys, its ring, how it finds the smallest party."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal, Self, TypeAlias, get_args

from protocols.arithmetic.rng import Stream
from protocols.errors import LocalError
from protocols.programs import PROTOCOLS
from smc_dp.aggregation import Functionality
from smc_dp.data.federation import Public, Rows
from smc_dp.errors import InputError, shown
from smc_dp.methods.method import SecureForm, check_target
from smc_dp.methods.model import LinearModel
from smc_dp.methods.pathak2010.mean import PathakMean
from smc_dp.privacy.grid import Grid
from smc_dp.privacy.output import GRID
from smc_dp.privacy.statement import PrivacyStatement
from smc_dp.privacy.target import NoiseName, Target
from smc_dp.run.terms.terms import check_classes, one_of, whole

ComparisonName: TypeAlias = Literal["all-pairs", "garbled", "tournament"]
ExponentsName: TypeAlias = Literal["short", "full"]
_TEST_KEY_BITS, _MAX_KEY_BITS = 256, 16384


@dataclass(frozen=True)
class CuratorTerms:
    """Integers live on the grid of `smc_dp.privacy.output`, shares modulo 2**ring_bits."""

    key_bits: int = 3072
    comparison: ComparisonName = "tournament"
    ring_bits: int = 64
    exponents: ExponentsName = "short"
    can_lose_parties: ClassVar[bool] = False
    usual_from: ClassVar[int] = 2

    def __post_init__(self) -> None:
        if self.ring_bits > GRID.ring_bits:
            raise InputError(f"ring_bits: wanted at most {GRID.ring_bits}, got {self.ring_bits}")

    @classmethod
    def noise(cls, method: Any, has_delta: bool) -> NoiseName:
        """As `Terms`."""
        own: NoiseName = method.secure_noises[0]
        return own

    @classmethod
    def preferred(cls, method: Any) -> Mapping[str, Any]:
        """As `Terms`."""
        return {}

    @classmethod
    def from_dict(cls, stated: Mapping[str, Any]) -> Self:
        """As `Terms`; where nothing is said of the exponents they are full, as they were before there was a choice."""
        return cls(
            whole("key_bits", stated, _MAX_KEY_BITS),
            one_of("comparison", stated, get_args(ComparisonName)),
            whole("ring_bits", stated, GRID.ring_bits),
            one_of("exponents", {"exponents": "full"} | dict(stated), get_args(ExponentsName)),
        )

    def as_dict(self, form: SecureForm) -> dict[str, Any]:
        """As `Terms`."""
        short = {} if self.exponents == "full" else {"exponents": self.exponents}
        return {"comparison": self.comparison, "key_bits": self.key_bits, "ring_bits": self.ring_bits} | short

    def check(self, protocol: str, method: Any, target: Target, *, test_keys: bool) -> None:
        """Refuses keys too short to protect anyone, unless they are asked for, and noise that it does not have."""
        check_keys(protocol, self.key_bits, test_keys)
        check_target(target, method)
        method.statement(Public(2, 1, 2), target, "secure")

    def weak(self, protocol: str) -> bool:
        """As `Terms`."""
        return self.key_bits < shortest_keys(protocol)

    def without(self, names: Sequence[str]) -> Self:
        """As `Terms`."""
        raise InputError(f"parties: the others need {', '.join(names)} to the end")

    def form(self, method: Any, public: Public, target: Target) -> SecureForm:
        """As `Terms`."""
        check_classes(public, method)
        return MeanByCurator(method, public, target, self.ring_bits)

    def program_parameters(self, protocol: str, form: SecureForm, parties: tuple[str, ...], agreed: str) -> Any:
        """As `Terms`."""
        program, d = PROTOCOLS[protocol].program, form.public.dimension
        if program.parameters is None:
            raise InputError(f"protocol: {protocol} has no parameters")
        try:
            sizes = self.key_bits, self.ring_bits
            return program.parameters(parties, d, *sizes, self.comparison, agreed, self.exponents)
        except LocalError as error:
            raise InputError(str(error)) from None


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
            raise InputError(
                f"weights and noise are too large for the grid of {self.ring_bits} bits; raise epsilon or lambda, or "
                "give the party more rows"
            )

    def part(self, rows: Rows, rng: Stream) -> Any:
        """The model, and the noise that the party would add if it were the smallest."""
        return self.method.part(rows, self.public, self.target, rng)

    def model(self, value: Any) -> LinearModel:
        """The mean."""
        model = self.method.finish(value, self.public, self.target).model
        if not isinstance(model, LinearModel):
            raise InputError(f"method: {self.method.name} does not release a linear model")
        return model


def check_keys(protocol: str, key_bits: int, test_keys: bool = False) -> None:
    """Raises InputError for keys too short to protect anyone, unless they are asked for as test keys."""
    if type(key_bits) is not int:
        raise InputError(f"key_bits: wanted an int, got {shown(key_bits)}")
    least = shortest_keys(protocol)
    if key_bits < least and not test_keys:
        raise InputError(f"key_bits: wanted at least {least} (or `insecure_test_keys`), got {key_bits}")
    if not _TEST_KEY_BITS <= key_bits <= _MAX_KEY_BITS or key_bits % 16:
        raise InputError(f"key_bits: wanted a multiple of 16 from {_TEST_KEY_BITS} to {_MAX_KEY_BITS}, got {key_bits}")


def shortest_keys(protocol: str) -> int:
    """The least length of keys that are no test keys; 0 for a protocol without keys."""
    keys = PROTOCOLS[protocol].limits.keys
    return 0 if keys is None else keys.shortest
