"""The settings of the curator protocol, hardened or as printed: its keys, its ring, how it finds the smallest party."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, Literal, TypeAlias, get_args

from protocols.pathak2010.parameters import REMOVED_COMPARISON, REMOVED_REFUSAL
from protocols.programs import PROTOCOLS
from smc_dp.core.errors import InputError
from smc_dp.privacy.target import Target
from smc_dp.run.protocols.mean import MeanTerms, ring
from smc_dp.run.protocols.settings import protocol_setting

ComparisonName: TypeAlias = Literal["all-pairs", "tournament"]
ExponentsName: TypeAlias = Literal["short", "full"]
_TEST_KEY_BITS, _MAX_KEY_BITS = 256, 16384


@dataclass(frozen=True)
class CuratorTerms(MeanTerms):
    """A release, or a study, that says nothing of the exponents has full ones, as before there was a choice."""

    key_bits: int = protocol_setting(3072, "prr_mean: length of the Paillier keys.", most=_MAX_KEY_BITS)
    comparison: ComparisonName = protocol_setting(
        "tournament", "prr_mean: how the smallest party is found.", values=get_args(ComparisonName), kind="text"
    )
    ring_bits: int = ring()
    exponents: ExponentsName = protocol_setting(
        "short", "prr_mean: randomisers of ciphertexts; short ones rest on an assumption.",
        values=get_args(ExponentsName),
    )  # fmt: skip
    unsaid: ClassVar[Mapping[str, Any]] = MappingProxyType({"exponents": "full"})

    def __post_init__(self) -> None:
        if self.comparison == REMOVED_COMPARISON:
            raise InputError(REMOVED_REFUSAL)
        super().__post_init__()

    def as_dict(self) -> dict[str, Any]:
        """Return them in the order of the first releases; full exponents are not said."""
        short = {} if self.exponents == "full" else {"exponents": self.exponents}
        return {"comparison": self.comparison, "key_bits": self.key_bits, "ring_bits": self.ring_bits} | short

    def check(self, protocol: str, method: Any, target: Target, *, test_keys: bool) -> None:
        """Refuse keys too short to protect anyone, unless they are asked for, and noise that it does not have."""
        check_keys(protocol, self.key_bits, test_keys)
        super().check(protocol, method, target, test_keys=False)

    def weak(self, protocol: str) -> bool:
        """As `Terms`."""
        return self.key_bits < shortest_keys(protocol)


def check_keys(protocol: str, key_bits: int, test_keys: bool = False) -> None:
    """Raises InputError for keys too short to protect anyone, unless they are asked for as test keys."""
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
