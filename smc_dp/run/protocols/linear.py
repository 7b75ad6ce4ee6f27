"""Terms of the linear path: its ring of integers, and how many neighbours share masks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from typing_extensions import override

from protocols.linear.ideal import search_security_bits
from smc_dp.data.federation import Public
from smc_dp.methods.method import MechanismSpec
from smc_dp.privacy.pathak2010 import by_linear_path
from smc_dp.privacy.statement import PrivacyStatement
from smc_dp.privacy.target import Target
from smc_dp.run.protocols.mean import MeanByCurator, MeanTerms, ring_setting
from smc_dp.run.protocols.settings import check_classes, protocol_setting

_MOST_NEIGHBOURS = 1000


@dataclass(frozen=True)
class LinearTerms(MeanTerms):
    """Settings of the linear path: each of P_2 ... P_K shares masks with `ring_degree` others, P_1 and Charlie."""

    ring_bits: int = ring_setting()
    ring_degree: int = protocol_setting(8, "linear: neighbours that share masks.", most=_MOST_NEIGHBOURS, on=())
    usual_from: ClassVar[int] = 20
    coalitions: ClassVar[str] = "coalitions without the smallest party that lack the curator or the first party"

    @override
    def assumed(self, parties: int) -> str:
        bits = search_security_bits(parties)
        return (
            f"X25519, edwards25519, AES-128 (about {bits} bits), HKDF, ChaCha20-Poly1305, SHA-256, SHA-512, "
            "system randomness"
        )

    @override
    def spec(self, method: Any, public: Public, target: Target) -> MechanismSpec:
        check_classes(public, method)
        return MeanByLinearPath(method, public, target, self.ring_bits)


@dataclass(frozen=True)
class MeanByLinearPath(MeanByCurator):
    """`prr_mean` as the linear path computes it: the same sum, with a guarantee against more participants."""

    @cached_property
    @override
    def statement(self) -> PrivacyStatement:
        return by_linear_path(super().statement)
