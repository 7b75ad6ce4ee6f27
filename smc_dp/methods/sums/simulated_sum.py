"""Releases by a mechanism specification where one place has all rows, for experiments and estimators.

Each party's part is made as it makes it locally, with its own share of the noise, and `ideal` computes of all parts
what the protocol computes of them. No noise is drawn for the sum, and nobody draws for another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

from typing_extensions import Protocol, runtime_checkable

from protocols.arithmetic.rng import Stream
from smc_dp.core.errors import InputError
from smc_dp.data.columns import CategoricalColumn, Column, NumericColumn
from smc_dp.data.federation import FeatureBox, Federation, Public, Rows
from smc_dp.methods.functionality import ideal
from smc_dp.methods.method import SEED_CAVEAT, SumSpec, check_secure_noise, require_model
from smc_dp.methods.model import Release, ReleasedModel
from smc_dp.methods.statistics.describe_result import DescribeResult
from smc_dp.methods.sums.threat_model import AnnouncedRows, ThreatModel
from smc_dp.privacy.output import no_guarantee
from smc_dp.privacy.statement import PrivacyStatement
from smc_dp.privacy.target import Target

_SECURE_SUM = "secure_sum"
ONE_PLACE_CAVEAT = (
    "The sum was computed in one place, by somebody who has all rows, as the function that the secure sum computes. "
    "The adversary named here is that of a run of that protocol, which adds its own assumptions and statistical "
    "distance."
)


@runtime_checkable
class PreparesFirst(Protocol):
    """Method whose parties begin with something that does not depend on the target, such as a model.

    Its specification has `part_of(trained, rng)`: the part of the party that has this locally.
    """

    def prepare(self, rows: Rows, public: Public) -> Any:
        """Compute from one party's rows what does not depend on the target."""


def has_secure_sum(method: Any) -> bool:
    """Tell whether a secure sum computes the method."""
    return _SECURE_SUM in getattr(method, "by_protocols", ())


def require_secure_sum(method: Any, target: Target) -> None:
    """Raise InputError unless a secure sum computes the method with the noise of this target."""
    if not has_secure_sum(method):
        raise InputError("trust.no_secure_sum", method=method.name)
    if target.calibration != "proven":
        got = target.calibration
        raise InputError("secure_sum.other_setting", name="calibration", method=method.name, wanted="proven", got=got)
    check_secure_noise(method, target.noise)


@dataclass(frozen=True, eq=False, repr=False)
class SimulatedSum:
    """Simulated secure sum of the parties of a federation; a `Trained`.

    Whatever needs no target is made once. No party drops out here: the noise is calibrated for those who must be
    left, and every party's share is in the sum. InputError for a threat model under which no sum can be computed.
    `columns`, `label`, `box`: as in `Public`, where rows were made of tables.
    """

    method: Any
    federation: Federation
    threat_model: ThreatModel
    announced: AnnouncedRows
    columns: tuple[Column, ...] = ()
    label: CategoricalColumn | NumericColumn | None = None
    box: FeatureBox | None = None

    def __post_init__(self) -> None:
        self.threat_model.check()

    @classmethod
    def of(cls, method: Any, federation: Federation, threat_model: ThreatModel, most_rows: int) -> Self:
        """Make a simulated sum with numbers of rows released or hidden, as the method prefers."""
        return cls(method, federation, threat_model, AnnouncedRows(most_rows, getattr(method, "sizes", "hidden")))

    def spec(self, target: Target) -> SumSpec:
        """Return the specification for this target; InputError where there is none, or a party cannot take part."""
        require_secure_sum(self.method, target)
        spec: SumSpec = self.method.shared(self._public, target, self.threat_model, self.announced)
        for j, rows in enumerate(self.federation.parties):
            try:
                spec.check(len(rows))
            except InputError as error:
                raise error.within(self.federation.name(j)) from None
        return spec

    def train(self) -> Self:
        """Compute now what does not depend on the target."""
        if isinstance(self.method, PreparesFirst):
            len(self._trained)
        return self

    def release(self, target: Target, rng: Stream) -> Release:
        """Compute every party's part, their secure sum in the clear, and the model."""
        model, stated = self.compute(target, rng)
        return Release(require_model(model), stated)

    def compute(self, target: Target, rng: Stream) -> tuple[ReleasedModel | DescribeResult, PrivacyStatement]:
        """Compute every party's part, their secure sum in the clear, and the model or the description."""
        spec, own = self.spec(target), rng.spawn()  # a fork of `rng` would be the same in every release
        parts = [self._part(spec, j, own.fork(f"party {j}")) for j in range(self.threat_model.parties)]
        return spec.model(ideal(spec.functionality, parts, own.fork("sum"))), self.statement(spec, rng)

    def statement(self, spec: SumSpec, rng: Stream | None = None) -> PrivacyStatement:
        """Return its statement with the caveat of one place; no guarantee where the seed can be guessed."""
        stated = spec.statement
        if stated.kind == "none":
            return stated
        if rng is not None and rng.insecure:
            return no_guarantee(stated.unit, stated.adjacency, SEED_CAVEAT)
        return replace(stated, caveats=(*stated.caveats, ONE_PLACE_CAVEAT))

    def _part(self, spec: Any, party: int, rng: Stream) -> Any:
        if isinstance(self.method, PreparesFirst):
            return spec.part_of(self._trained[party], rng)
        return spec.part(self.federation.parties[party], rng)

    @cached_property
    def _trained(self) -> tuple[Any, ...]:
        parties = enumerate(self.federation.parties)
        return tuple(self._method_of(j).prepare(rows, self._public) for j, rows in parties)

    def _method_of(self, party: int) -> Any:
        """Return the method with this party's own learner, where there are several, which the parties take in turn."""
        learners = getattr(self.method, "learner", None)
        if not isinstance(learners, Sequence) or isinstance(learners, str):
            return self.method
        if not 1 <= len(learners) <= self.threat_model.parties:
            most = self.threat_model.parties
            raise InputError("learner.wrong_number", most=most, got=len(learners))
        return replace(self.method, learner=learners[party % len(learners)])

    @property
    def _public(self) -> Public:
        """Public facts, with numbers of rows only where neighbours share them."""
        public = replace(self.federation.public, columns=self.columns, label=self.label, box=self.box)
        return public if self.method.adjacency == "replace" else replace(public, sizes=None)
