"""Terms of a secure sum: who may collude or drop out, where masked inputs go, how many rows a party may have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any, ClassVar, Literal, Self, TypeAlias, get_args

from typing_extensions import override

from protocols.errors import LocalError
from protocols.secure_sum.parameters import MOST_PARTIES, Block, Parameters
from smc_dp.core import reading
from smc_dp.core.errors import InputError, InputFault, refuse_all, shown
from smc_dp.data.federation import Public
from smc_dp.methods.method import MechanismSpec, NeedsRowCounts, SumSpec, default_secure_noise, has_own_noise
from smc_dp.methods.sums.simulated_sum import require_secure_sum
from smc_dp.methods.sums.threat_model import COLLUDERS, DROPOUTS, AnnouncedRows, RowCounts, ThreatModel
from smc_dp.privacy.pathak2010 import LARGEST_N
from smc_dp.privacy.target import NoiseName, Target
from smc_dp.run.protocols.settings import (
    COMPARE,
    PLAN,
    RUN,
    STUDY,
    PrivacySummary,
    ProtocolTerms,
    check_classes,
    protocol_setting,
)

OutputName: TypeAlias = Literal["curator", "shares"]
"""Recipient of the masked inputs: the curator, or everybody, as each party publishes its own."""
_EVERYWHERE = (RUN, STUDY, PLAN, COMPARE)
_party_limit = partial(protocol_setting, most=MOST_PARTIES - 1, least=0, on=_EVERYWHERE, short=_EVERYWHERE)


@dataclass(frozen=True)
class SumTerms(ProtocolTerms):
    """Settings of a secure sum.

    `colluders` parties may collude with Charlie and be malicious, `dropouts` may drop out; `most_rows` caps the rows of
    each party; `sizes` releases the number of all rows, or hides it. `semi_honest` accepts a guarantee against
    semi-honest participants alone: in a sparse graph, where parties share masks with neighbours alone. They do where
    some may drop out and all are too many, and with `sparse_graph` where none may.
    `left_out`: parties that dropped out of an earlier session before anybody was charged.
    """

    colluders: int = _party_limit(1, COLLUDERS)
    dropouts: int = _party_limit(0, DROPOUTS)
    most_rows: int = protocol_setting(LARGEST_N, "Secure sum: the most rows that a party may have.", most=LARGEST_N)
    sizes: RowCounts = protocol_setting(
        "released", "Secure sum: release the number of all rows, or hide it.", values=get_args(RowCounts),
        usual="released for describe, wsum and ofpa, else hidden", title="Number of all rows",
    )  # fmt: skip
    verifiable: bool = protocol_setting(
        False, "Secure sum: publish the masked inputs, so that anybody can add them up.", kind="flag",
        title="Masked inputs are published",
    )  # fmt: skip
    output: OutputName = protocol_setting(
        "curator",
        "Secure sum: who adds up the masked inputs (curator: the curator; shares: anybody, as the parties publish "
        "them).",
        values=get_args(OutputName),
        on=(RUN,),
        title="Who adds up the masked inputs",
    )
    semi_honest: bool = protocol_setting(
        False,
        "Secure sum: accept that above 200 parties with drop-outs, or with sparse_graph, nothing holds against "
        "malicious participants.",
        kind="flag", on=(STUDY,), title="Semi-honest participants only",
    )  # fmt: skip
    sparse_graph: bool = protocol_setting(
        False, "Secure sum: without drop-outs, share masks with a few neighbours alone. It is faster for many parties.",
        kind="flag", on=(STUDY,), title="Sparse graph without drop-outs",
    )  # fmt: skip
    left_out: tuple[str, ...] = protocol_setting(
        (), "Secure sum: parties that dropped out before anybody was charged.", on=(), title="Parties left out"
    )
    unsaid: ClassVar[Mapping[str, Any]] = MappingProxyType({"semi_honest": False, "sparse_graph": False})
    tolerates_dropouts: ClassVar[bool] = True

    @override
    def __post_init__(self) -> None:
        super().__post_init__()
        faults = []
        # With `shares` there is no curator, and nobody else takes off the masks of absent parties.
        if self.output == "shares" and self.dropouts:
            faults.append(InputFault("output.shares_with_dropouts", {"got": self.dropouts}))
        if self.output == "shares" and self.verifiable:
            faults.append(InputFault("output.shares_verifiable"))
        if self.sparse_graph and (self.verifiable or self.output == "shares"):
            faults.append(InputFault("sparse_graph.published"))
        refuse_all(faults)

    @override
    def check_setting(self, name: str, declared: Mapping[str, Any]) -> None:
        value = getattr(self, name)
        if name == "left_out" and not (type(value) is tuple and all(type(party) is str for party in value)):
            raise InputError("left_out.no_names", got=shown(value))
        super().check_setting(name, declared)

    @classmethod
    @override
    def default_noise(cls, method: Any, has_delta: bool) -> NoiseName:
        return default_secure_noise(method) if has_delta else super().default_noise(method, has_delta)

    @classmethod
    @override
    def preferred(cls, method: Any) -> Mapping[str, Any]:
        return {"sizes": method.sizes}

    @classmethod
    @override
    def from_dict(cls, stated: Mapping[str, Any]) -> Self:
        return super().from_dict(
            {**stated, "left_out": tuple(reading.require_texts("left_out", stated.get("left_out")))}
        )

    @override
    def as_dict(self) -> dict[str, Any]:
        said = {**super().as_dict(), "left_out": list(self.left_out)}
        return {name: value for name, value in said.items() if name not in self.unsaid or value != self.unsaid[name]}

    @override
    def derived_parameters(self, spec: MechanismSpec) -> dict[str, Any]:
        return {"ring_bits": spec.grid.ring_bits, "fraction_bits": spec.grid.fraction_bits}

    @override
    def threat_model(self, parties: int) -> ThreatModel:
        by_curator, sparse = self.output == "curator", self.sparse_graph
        return ThreatModel(parties, self.colluders, self.dropouts, self.verifiable, by_curator, sparse)

    @override
    def summary(self, spec: MechanismSpec, parties: int) -> PrivacySummary:
        limits = self.threat_model(parties)
        some = f"any {self.colluders} of the {parties} parties" if self.colluders else ""
        who = " and ".join(["the curator"] * limits.by_curator + [some] * bool(some)) or "outsiders"
        noise = f"{limits.honest} honest {'party' if limits.honest == 1 else 'parties'} whose noise stays secret"
        own_noise = has_own_noise(spec)
        if own_noise:
            who = "the curator and all other parties" if limits.by_curator else "all other parties"
            noise = "each party's own noise only"
        sparse = limits.has_sparse_graph
        how = "if all follow the protocol" if sparse and not own_noise else "even if malicious"
        fixed = "colluding parties and drop-outs" if self.dropouts else "colluding parties"
        chosen = f"{fixed} fixed beforehand" if sparse else "no other party compromised during the run"
        shares = "AES-256-CCM, " if sparse and self.dropouts else ""
        late = f"at most {self.dropouts} drop-out{'s' * (self.dropouts > 1)}" if self.dropouts else "no drop-outs"
        result = "withheld results" if self.verifiable or not limits.by_curator else "withheld or false results"
        # Neighbours have equally many rows under `replace`; elsewhere a method can take the number to be public.
        is_public = spec.statement.adjacency == "replace" or isinstance(getattr(spec, "method", None), NeedsRowCounts)
        sizes = "numbers of rows; " if is_public else ""
        return PrivacySummary(
            f"{who}, {how}.",
            f"{noise}; {late}; {chosen}; no party restarted from a backup.",
            f"{sizes}wrong inputs; {result}; who took part; further releases.",
            f"X25519, Ed25519, {shares}ChaCha20-Poly1305, SHA-256 and SHAKE-256, if unbroken.",
        )

    @override
    def check(self, protocol: str, method: Any, target: Target, *, test_keys: bool) -> None:
        require_secure_sum(method, target)
        super().check(protocol, method, target, test_keys=test_keys)

    @override
    def spec(self, method: Any, public: Public, target: Target) -> SumSpec:
        check_classes(public, method)
        limits = self.threat_model(public.parties)
        limits.check()
        shared: SumSpec = method.shared(public, target, limits, AnnouncedRows(self.most_rows, self.sizes))
        return shared

    @override
    def program_parameters(self, protocol: str, spec: MechanismSpec, parties: tuple[str, ...], agreed: str) -> Any:
        if not isinstance(spec, SumSpec):
            raise InputError("method.no_sum", protocol=protocol)
        sums = tuple(tuple(Block(length, noise) for length, noise in blocks) for blocks in spec.sums)
        degree = self.threat_model(len(parties)).degree
        try:
            return Parameters(
                *(parties, self.colluders, self.dropouts, sums, spec.grid.ring_bits),
                *(self.verifiable, self.output, agreed, degree),
            )
        except LocalError as error:
            raise InputError(error.fault) from None

    @override
    def without(self, names: Sequence[str]) -> Self:
        return replace(self, left_out=(*self.left_out, *names))
