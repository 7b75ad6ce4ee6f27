"""A method as a run of these parties would compute it, known before anybody has a row: settings, noise, session.

All of it is public, or said by whoever plans: the sizes of the parties are figures that somebody typed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from protocols.programs import PROTOCOLS, Protocol
from smc_dp.core.errors import InputError, shown
from smc_dp.data.federation import Public
from smc_dp.data.partition import check_names
from smc_dp.methods.expected_accuracy import Outlook, outlook
from smc_dp.methods.method import NeedsRows, SecureForm
from smc_dp.planning.cost import SessionSpec, check_limits
from smc_dp.privacy.pathak2010 import LARGEST_N
from smc_dp.privacy.target import Target
from smc_dp.run import agreement as agreements
from smc_dp.run.protocols.registry import ProtocolTerms
from smc_dp.run.settings import RunSettings


@dataclass(frozen=True)
class Circumstances:
    """Who would take part with how many rows, on how many columns and classes, and under which settings.

    `dimension`: the columns of features, the constant one among them. `settings`: each method takes those that it has.
    Raises InputError for what no run has.
    """

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    dimension: int
    classes: int = 2
    settings: RunSettings = RunSettings()  # noqa: RUF009

    def __post_init__(self) -> None:
        if len(self.sizes) < 2:
            raise InputError("plan.too_few_parties", got=len(self.sizes))
        check_names(self.names)
        for name, n in zip(self.names, self.sizes, strict=True):
            if type(n) is not int or not 1 <= n <= LARGEST_N:
                raise InputError("plan.no_rows", name=name, largest_n=LARGEST_N, got=shown(n))

    def among(self, places: Iterable[int]) -> Circumstances:
        """The same with these parties alone."""
        stay = sorted(places)
        return replace(self, names=tuple(self.names[j] for j in stay), sizes=tuple(self.sizes[j] for j in stay))


@dataclass(frozen=True)
class Candidate:
    """A method by one of its protocols under such circumstances; `made` raises InputError where no run can be."""

    circumstances: Circumstances
    method: Any
    target: Target
    protocol: str
    terms: ProtocolTerms

    @classmethod
    def build(cls, name: str, circumstances: Circumstances, protocol: str | None = None) -> Candidate:
        """With the settings that a run takes which is told no others."""
        known = circumstances
        by = protocol or agreements.default_protocol(name, len(known.names))
        agreed = known.settings.restricted_to(name, by).settle(len(known.names), known.classes)
        method: Any = agreed.method
        if getattr(method, "on_public_rows", False):
            raise InputError("plan.no_public_rows", name=name)
        if isinstance(method, NeedsRows):
            method = method.knowing(known.sizes)
        found = cls(known, method, agreed.target, by, agreed.terms)
        found.session  # noqa: B018 - which refuses what shows only there
        return found

    @property
    def program(self) -> Protocol:
        """The protocol and what it claims."""
        return PROTOCOLS[self.protocol]

    @cached_property
    def form(self) -> SecureForm:
        """The method, as the protocol computes it."""
        known = self.circumstances
        return self.terms.form(self.method, Public(len(known.names), known.dimension, known.classes), self.target)

    @cached_property
    def session(self) -> SessionSpec:
        """The protocol with its parameters; raises InputError beyond what it allows."""
        names = self.circumstances.names
        check_limits(self.protocol, len(names), self.circumstances.dimension)
        return SessionSpec(self.program, self.terms.program_parameters(self.protocol, self.form, names, ""))

    @property
    def deviating(self) -> int | None:
        """How many parties may break the rules, together with Charlie; None where everybody has to keep to them."""
        claim, found = self.program.claim, getattr(self.terms, "colluders", None)
        keeps = claim is not None and claim.keeps is not None and claim.keeps(self.session.parameters)
        return None if keeps else found

    @property
    def fewest(self) -> int:
        """With fewer parties nobody is left whose noise counts, or nobody to learn with."""
        among = self.terms.among(len(self.circumstances.names))
        return max(2, 1 + among.parties - among.honest)

    @property
    def protects_records(self) -> bool:
        """Whether its guarantee is for a single record, and not for all records of a party."""
        protects: str = self.method.protects
        return protects == "record"

    @cached_property
    def ahead(self) -> Outlook:
        """What to expect."""
        return self.with_rows(self.circumstances.sizes)

    def with_rows(self, sizes: Sequence[int]) -> Outlook:
        """What to expect if the parties had so many rows, and were as many."""
        known = self.circumstances
        found = outlook(self.method, self.target, self.terms, sizes, known.dimension, known.classes)
        if found is None:
            raise ValueError(f"a plan has noise as proven, got {self.target}")
        return found

    def among(self, places: Iterable[int]) -> Candidate:
        """The same method by the same protocol, with these parties alone."""
        return Candidate.build(self.method.name, self.circumstances.among(places), self.protocol)
