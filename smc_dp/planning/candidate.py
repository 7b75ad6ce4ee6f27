"""A candidate of a plan: a method as a run of these parties would compute it, known before anybody has a row.

All of it is public, or was typed by the person who plans: the sizes of the parties, too. Its settings come from the
same model as those of a run (`smc_dp.run.settings`), so a plan and a run refuse the same settings.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from protocols.programs import PROTOCOLS, Protocol
from smc_dp.core.errors import InputError, shown
from smc_dp.data.bounds import Bounds
from smc_dp.data.federation import Public
from smc_dp.data.partition import check_names
from smc_dp.methods.expected_accuracy import ExpectedAccuracy, expected_accuracy
from smc_dp.methods.expected_gain import METHOD_OF_GAIN, ExpectedGain, expected_gain
from smc_dp.methods.method import WITH_WEIGHTS, MechanismSpec, weights_not_used
from smc_dp.planning.cost import SessionSpec, check_limits
from smc_dp.privacy.pathak2010 import LARGEST_N
from smc_dp.run.agreement import SettledRun, default_protocol, inform_of_rows
from smc_dp.run.settings import RunSettings


@dataclass(frozen=True)
class Circumstances:
    """Parties with their numbers of rows, the columns and classes, and the settings; InputError for what no run has.

    `dimension`: columns of features, the constant one among them. `settings`: each method takes those that it has.
    `weighted`: whether rows have weights.
    """

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    dimension: int
    classes: int = 2
    settings: RunSettings = RunSettings()  # noqa: RUF009
    weighted: bool = False

    @property
    def public(self) -> Public:
        """Public facts of the federation; sizes are not announced."""
        return Public(len(self.names), self.dimension, self.classes, weighted=self.weighted)

    def __post_init__(self) -> None:
        if len(self.sizes) < 2:
            raise InputError("plan.too_few_parties", got=len(self.sizes))
        check_names(self.names)
        for name, n in zip(self.names, self.sizes, strict=True):
            if type(n) is not int or not 1 <= n <= LARGEST_N:
                raise InputError("plan.no_rows", name=name, largest_n=LARGEST_N, got=shown(n))


def planned_by_width(name: str) -> InputError:
    """Return the refusal of a method whose accuracy is not predicted, with the command that plans it."""
    if name == "logistic":
        return InputError("plan.has_intervals_by_rate", name=name)
    only = ", where the label is a number" if name == "linear" else ""
    return InputError("plan.has_intervals", name=name, only=only)


@dataclass(frozen=True, kw_only=True)
class Candidate(SettledRun):
    """Settled settings of one method under such circumstances; `build` raises InputError where no run can be.

    study_lambda: the lambda of a study with these settings, which announces no sizes; None for a method without one.
    """

    circumstances: Circumstances
    study_lambda: float | None = None

    @classmethod
    def build(cls, name: str, known: Circumstances, protocol: str | None = None) -> Candidate:
        """Return the candidate with the settings of these circumstances, and the usual ones for the rest."""
        by = protocol or default_protocol(name, len(known.names))
        settled = known.settings.restricted_to(name, by).settle(len(known.names))
        numbers = (len(known.names), known.dimension, known.classes)
        agreed, in_study = settled.with_usual_lambda(*numbers, known.sizes), settled.with_usual_lambda(*numbers)
        if getattr(agreed.method, "on_public_rows", False):
            raise InputError("plan.no_public_rows", name=name)
        if getattr(agreed.method, "whole_rows", False):
            raise planned_by_width(name)
        if getattr(agreed.method, "features", None) is not None:  # what features gain, rows alone tell
            raise InputError("plan.no_features", name=name)
        if known.weighted and name not in WITH_WEIGHTS:
            raise weights_not_used()
        method = inform_of_rows(agreed.method, known.sizes)
        lam = getattr(in_study.method, "lam", None)
        found = cls(**{**agreed.settled, "method": method}, circumstances=known, study_lambda=lam)
        found.session  # noqa: B018 - which refuses what shows only there
        return found

    @property
    def program(self) -> Protocol:
        """Protocol and its claim."""
        return PROTOCOLS[self.protocol]

    @cached_property
    def spec(self) -> MechanismSpec:
        """Mechanism specification: the method as the protocol computes it."""
        return self.terms.spec(self.method, self.circumstances.public, self.target)

    @cached_property
    def session(self) -> SessionSpec:
        """Session specification; raises InputError beyond the limits of the protocol."""
        names = self.circumstances.names
        check_limits(self.protocol, len(names), self.circumstances.dimension)
        return SessionSpec(self.program, self.terms.program_parameters(self.protocol, self.spec, names, ""))

    @property
    def malicious(self) -> int | None:
        """Number of parties that may be malicious together with Charlie; None where all have to be semi-honest."""
        claim, found = self.program.claim, getattr(self.terms, "colluders", None)
        keeps = claim is not None and claim.keeps is not None and claim.keeps(self.session.parameters)
        return None if keeps else found

    @property
    def least_parties(self) -> int:
        """Least number of parties: with fewer nobody is left whose noise counts, or nobody to learn with."""
        limits = self.terms.threat_model(len(self.circumstances.names))
        return max(2, 1 + limits.parties - limits.honest)

    @cached_property
    def expected(self) -> ExpectedAccuracy:
        """Expected accuracy with the planned numbers of rows."""
        return self.expected_with(self.circumstances.sizes)

    @property
    def gains(self) -> dict[str, ExpectedGain]:
        """Expected gain of each party; empty for other methods than `newton`, and for features."""
        known, n = self.circumstances, sum(self.circumstances.sizes)
        if self.method.name != METHOD_OF_GAIN or getattr(self.method, "features", None) is not None:
            return {}
        return {
            name: expected_gain(own, n, known.dimension, known.classes, self.expected.signal)
            for name, own in zip(known.names, known.sizes, strict=True)
        }

    def expected_with(self, sizes: Sequence[int]) -> ExpectedAccuracy:
        """Return the expected accuracy of as many parties with so many rows."""
        known = self.circumstances
        found = expected_accuracy(self.method, self.target, self.terms, sizes, known.dimension, known.classes)
        if found is None:
            raise ValueError(f"a plan has noise as proven, got {self.target}")
        return found

    def restricted_to(self, places: Iterable[int]) -> Candidate:
        """Return the same method by the same protocol with the parties in these places alone."""
        stay, known = sorted(places), self.circumstances
        names, sizes = tuple(known.names[j] for j in stay), tuple(known.sizes[j] for j in stay)
        return Candidate.build(self.method.name, replace(known, names=names, sizes=sizes), self.protocol)


def check_columns(columns: object, classes: object, bounds: Bounds | None) -> None:
    """Raise InputError unless there are bounds, or a number of columns and perhaps one of classes."""
    if bounds is None:
        if type(columns) is not int or columns < 1:
            raise InputError("plan.no_columns", got=shown(columns))
        if classes is not None and (type(classes) is not int or classes < 2):
            raise InputError("plan.no_classes", got=shown(classes))
        return
    for name, value in (("columns", columns), ("classes", classes)):
        if value is not None:
            raise InputError("plan.said_by_bounds", name=name)
