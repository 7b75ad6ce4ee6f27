"""The settings of the curator protocol, hardened or as printed: its keys, its ring, how it finds the smallest party."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self, TypeAlias, get_args

from protocols.pathak2010.parameters import REMOVED_COMPARISON, REMOVED_REFUSAL
from protocols.programs import PROTOCOLS
from smc_dp.core.errors import InputError, shown
from smc_dp.data.federation import Public
from smc_dp.methods.method import SecureForm
from smc_dp.privacy.output import GRID
from smc_dp.privacy.target import Target
from smc_dp.run.protocols.mean import MeanByCurator, MeanTerms, check_mean, made_parameters
from smc_dp.run.protocols.settings import check_classes, one_of, whole

ComparisonName: TypeAlias = Literal["all-pairs", "tournament"]
ExponentsName: TypeAlias = Literal["short", "full"]
_TEST_KEY_BITS, _MAX_KEY_BITS = 256, 16384


@dataclass(frozen=True)
class CuratorTerms(MeanTerms):
    """Integers live on the grid of `smc_dp.privacy.output`, shares modulo 2**ring_bits."""

    key_bits: int = 3072
    comparison: ComparisonName = "tournament"
    ring_bits: int = 64
    exponents: ExponentsName = "short"
    usual_from: ClassVar[int] = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.comparison == REMOVED_COMPARISON:
            raise InputError(REMOVED_REFUSAL)
        one_of("comparison", {"comparison": self.comparison}, get_args(ComparisonName))
        one_of("exponents", {"exponents": self.exponents}, get_args(ExponentsName))

    @classmethod
    def from_dict(cls, stated: Mapping[str, Any]) -> Self:
        """As `Terms`; where nothing is said of the exponents they are full, as they were before there was a choice."""
        return cls(
            whole("key_bits", stated, _MAX_KEY_BITS),
            stated.get("comparison"),  # type: ignore[arg-type]  # looked at when it is made, as exponents are
            whole("ring_bits", stated, GRID.ring_bits),
            stated.get("exponents", "full"),
        )

    def as_dict(self, form: SecureForm) -> dict[str, Any]:
        """As `Terms`."""
        short = {} if self.exponents == "full" else {"exponents": self.exponents}
        return {"comparison": self.comparison, "key_bits": self.key_bits, "ring_bits": self.ring_bits} | short

    def check(self, protocol: str, method: Any, target: Target, *, test_keys: bool) -> None:
        """Refuses keys too short to protect anyone, unless they are asked for, and noise that it does not have."""
        check_keys(protocol, self.key_bits, test_keys)
        check_mean(method, target)

    def weak(self, protocol: str) -> bool:
        """As `Terms`."""
        return self.key_bits < shortest_keys(protocol)

    def form(self, method: Any, public: Public, target: Target) -> SecureForm:
        """As `Terms`."""
        check_classes(public, method)
        return MeanByCurator(method, public, target, self.ring_bits)

    def program_parameters(self, protocol: str, form: SecureForm, parties: tuple[str, ...], agreed: str) -> Any:
        """As `Terms`."""
        own = self.key_bits, self.ring_bits, self.comparison, agreed, self.exponents
        return made_parameters(protocol, parties, form.public.dimension, *own)


def check_keys(protocol: str, key_bits: int, test_keys: bool = False) -> None:
    """Raises InputError for keys too short to protect anyone, unless they are asked for as test keys."""
    if type(key_bits) is not int:
        raise InputError("key_bits.not_whole", got=shown(key_bits))
    least = shortest_keys(protocol)
    if key_bits < least and not test_keys:
        raise InputError("key_bits.too_short", least=least, got=key_bits)
    if not _TEST_KEY_BITS <= key_bits <= _MAX_KEY_BITS or key_bits % 16:
        raise InputError(
            "key_bits.out_of_range", test_key_bits=_TEST_KEY_BITS, max_key_bits=_MAX_KEY_BITS, got=key_bits
        )


def shortest_keys(protocol: str) -> int:
    """The least length of keys that are no test keys; 0 for a protocol without keys."""
    keys = PROTOCOLS[protocol].limits.keys
    return 0 if keys is None else keys.shortest
