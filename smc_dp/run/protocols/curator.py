"""Terms of the curator protocol, hardened or as published: keys, ring, and how the smallest party is found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, Literal, TypeAlias, get_args

from typing_extensions import override

from protocols.programs import PROTOCOLS
from smc_dp.core.errors import InputError
from smc_dp.privacy.target import Target
from smc_dp.run.protocols.mean import MeanTerms, ring_setting
from smc_dp.run.protocols.settings import protocol_setting

ComparisonName: TypeAlias = Literal["all-pairs", "tournament"]
ExponentsName: TypeAlias = Literal["short", "full"]
_TEST_KEY_BITS, _MAX_KEY_BITS = 256, 16384


@dataclass(frozen=True)
class CuratorTerms(MeanTerms):
    """Settings of the curator protocol.

    Exponents that a release or a study does not state are full, as they were before there was a choice.
    """

    key_bits: int = protocol_setting(3072, "prr_mean: length of the Paillier keys.", most=_MAX_KEY_BITS)
    comparison: ComparisonName = protocol_setting(
        "tournament", "prr_mean: how the smallest party is found.", values=get_args(ComparisonName), kind="text"
    )
    ring_bits: int = ring_setting()
    exponents: ExponentsName = protocol_setting(
        "short", "prr_mean: randomisers of ciphertexts; short ones rest on an assumption.",
        values=get_args(ExponentsName),
    )  # fmt: skip
    unsaid: ClassVar[Mapping[str, Any]] = MappingProxyType({"exponents": "full"})
    coalitions: ClassVar[str] = "the curator alone; coalitions without the curator and without the smallest party"

    @override
    def assumed(self, parties: int) -> str:
        short = "" if self.exponents == "full" else "short Paillier exponents, "
        return f"{short}Paillier, DGK, X25519, HKDF, ChaCha20-Poly1305, SHA-256, SHAKE-256, system randomness"

    @override
    def as_dict(self) -> dict[str, Any]:
        # In the order of the first releases; full exponents are not stated.
        short = {} if self.exponents == "full" else {"exponents": self.exponents}
        return {"comparison": self.comparison, "key_bits": self.key_bits, "ring_bits": self.ring_bits} | short

    @override
    def check(self, protocol: str, method: Any, target: Target, *, test_keys: bool) -> None:
        if self.has_test_keys(protocol) and not test_keys:
            raise InputError("key_bits.too_short", least=shortest_keys(protocol), got=self.key_bits)
        if self.key_bits < _TEST_KEY_BITS or self.key_bits % 16:
            limits = {"test_key_bits": _TEST_KEY_BITS, "max_key_bits": _MAX_KEY_BITS}
            raise InputError("key_bits.out_of_range", **limits, got=self.key_bits)
        super().check(protocol, method, target, test_keys=False)

    @override
    def has_test_keys(self, protocol: str) -> bool:
        return self.key_bits < shortest_keys(protocol)


def shortest_keys(protocol: str) -> int:
    """Return the least length of keys that are no test keys; 0 for a protocol without keys."""
    keys = PROTOCOLS[protocol].limits.keys
    return 0 if keys is None else keys.shortest
