"""The agreement of a run: one public record that all parties share before anybody trains, and its digest.

Settings pass through two types here. A `SettledRun` holds every setting of the sections `method`, `target` and
`protocol`, with nothing left to a default; it comes from `RunSettings.settle`, from a study (`from_sections`) or from a
release (`from_parameters`), and all three refuse the same values. An `Agreement` adds parties, bounds and public rows.
Everything public follows from it: the mechanism specification, the privacy statement, the
parameters of the program, and the `parameters` of release.json in their order.

A party whose agreement differs cannot exchange a message with the others, because its digest enters the session. No
party agrees on how a run is simulated (link, topology); the session is bound to it all the same. What one protocol
alone needs is in its terms (`smc_dp.run.protocols`); nothing here knows a protocol by its name.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cache, cached_property
from types import MappingProxyType, NoneType
from typing import Any, cast, get_args, get_type_hints

from protocols.arithmetic.rng import Stream
from protocols.crypto.identity import Identity
from protocols.errors import LocalError
from protocols.programs import PROTOCOLS
from smc_dp.core import reading
from smc_dp.core.errors import FaultCollector, InputError, check_one_of, shown
from smc_dp.core.kinds import check_line
from smc_dp.data.bounds import Bounds
from smc_dp.data.columns import LEAVE_OUT
from smc_dp.data.federation import Federation, Public
from smc_dp.data.limits import check_feature_count
from smc_dp.data.table import Table
from smc_dp.data.usual_clip import no_row_shortened
from smc_dp.methods.collaborative.rounds import BiasedModel
from smc_dp.methods.expected_accuracy import ExpectedAccuracy, expected_accuracy
from smc_dp.methods.functionality import Functionality
from smc_dp.methods.method import (
    WITH_WEIGHTS,
    MechanismSpec,
    Method,
    NeedsRowCounts,
    SecureMethod,
    has_own_noise,
    weights_not_used,
)
from smc_dp.methods.model import FourierFeatures, FourierModel, LinearModel, ReleasedModel, Weights
from smc_dp.methods.pathak2010.mean import RESIDUES_CAVEAT
from smc_dp.methods.registry import METHODS, STATISTICS, find_method
from smc_dp.methods.signal import PublicNumbers
from smc_dp.methods.statistics.coefficient_inference import CoefficientInference
from smc_dp.methods.statistics.coefficient_sums import CoefficientMethod, CoefficientSums, InferredModel
from smc_dp.methods.statistics.describe_result import DescribeResult
from smc_dp.methods.sums.threat_model import ThreatModel
from smc_dp.methods.usual_lambda import ASSUMED_ROWS, usual_lambda
from smc_dp.privacy.grid import Grid
from smc_dp.privacy.output import no_guarantee
from smc_dp.privacy.statement import PrivacyStatement, security_bits
from smc_dp.privacy.target import Calibration, NoiseName, Target
from smc_dp.run.auxiliary import AuxiliaryRows
from smc_dp.run.protocols import execution
from smc_dp.run.protocols.curator import CuratorTerms
from smc_dp.run.protocols.execution import SimulatedSession
from smc_dp.run.protocols.registry import TERMS, ProtocolTerms, find_terms, setting_names
from smc_dp.run.protocols.settings import one_of

SEEDED, TEST_KEYS, AS_PUBLISHED = "insecure seed", "insecure test keys", "as printed"
SIMULATED_STUDY = "simulation of a study"
REASONS = MappingProxyType(
    {
        SEEDED: "the run was made from a seed, and anybody who knows the seed knows every secret",
        TEST_KEYS: "the keys are test keys, too short to protect anything",
        AS_PUBLISHED: "the steps were run exactly as published in the paper, leaks included",
        SIMULATED_STUDY: "SIMULATION: one process played all participants of a study, whose rows need not be real",
    }
)
ONLY_THE_RELEASE = "anyone who sees the published shares and the release, and nothing that was sent to make them"


PROTOCOLS_BY_METHOD = MappingProxyType(
    {
        name: cast(type[SecureMethod], kind).by_protocols
        for name, kind in METHODS.items()
        if hasattr(kind, "by_protocols")
    }
)
"""Names of the methods that some protocol computes, each with the protocols that compute it."""
PROTOCOLS_BY_NAME = PROTOCOLS_BY_METHOD | {name: kind.by_protocols for name, kind in STATISTICS.items()}
"""The same with the statistics, which learn no model."""

DEFAULT_SIMULATION: Mapping[str, str] = MappingProxyType({"topology": "mesh", "link": "none"})
"""Link and topology of a simulation that names none."""
DEFAULT_METHOD = "newton"
"""Method of a run that names neither a method nor a protocol."""
WITH_DELTA: tuple[NoiseName, ...] = ("gauss", "ddg")
"""Noises for which a target states a delta; the others have none, or one of their own."""
_USUAL_TARGET = MappingProxyType({"epsilon": "1", "noise": "knorm", "calibration": "proven"})
_STATED = MappingProxyType({"lam": "lambda"})  # names of settings of methods in a release, where they differ
_RATIONAL = re.compile(r"[1-9][0-9]{0,199}(/[1-9][0-9]{0,199})?", re.ASCII)


@dataclass(frozen=True)
class SettledRun:
    """Settled settings of a run, on which its parties agree: nothing is left to a default.

    `terms` are the settings of the protocol. `marks` are the insecure markers, in the order of `REASONS`.
    `lambda_by_rule`: no lambda was given, so `with_usual_lambda` takes one as soon as the numbers for it are known.
    """

    method: Any
    target: Target
    protocol: str = "pathak2010"
    terms: ProtocolTerms = CuratorTerms()  # noqa: RUF009
    marks: tuple[str, ...] = ()
    lambda_by_rule: bool = False

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Any]) -> SettledRun:
        """Return the settings in the parameters of a release; raise an InputError with all that no run states."""
        method, protocol = ({**parameters, "name": parameters.get(key)} for key in ("method", "protocol"))
        return cls.from_sections({"method": method, "target": parameters, "protocol": protocol})

    @classmethod
    def from_sections(cls, sections: Mapping[str, Mapping[str, Any]]) -> SettledRun:
        """Return the settings in the sections of a study; raise an InputError with all that no run states."""
        name, by = (reading.require_text(key, sections[key].get("name")) for key in ("method", "protocol"))
        found = FaultCollector()
        return found.required(cls.read_sections(name, by, sections, tuple(sections), found))

    @classmethod
    def read_sections(
        cls,
        name: str,
        by: str,
        sections: Mapping[str, Mapping[str, Any]],
        complete: Collection[str],
        found: FaultCollector,
    ) -> SettledRun | None:
        """Return the settings in these sections; None where one of them has a fault or is not `complete`.

        A section that is not complete is filled with usual values, so that its faults hide none of the others.
        """
        kind, terms = secure_method(name, by), find_terms(by)
        readers: dict[str, Callable[[Mapping[str, Any]], Any]] = {
            "method": lambda said: make_method(
                name, by, read_method_settings(said, kind, complete="method" in complete)
            ),
            "target": read_target,
            "protocol": terms.from_dict,
        }
        usual: dict[str, Mapping[str, Any]] = {"target": _USUAL_TARGET, "protocol": terms().as_dict()}
        made = dict[str, Any]()
        for section, reader in readers.items():
            with found.step():
                made[section] = reader({**({} if section in complete else usual.get(section, {})), **sections[section]})
        if len(made) < len(readers) or len(complete) < len(readers):
            return None
        method, target, agreed = made.values()
        return SettledRun(method, target, by, agreed, insecure_markers(by, agreed, seeded=False))

    @property
    def sections(self) -> dict[str, dict[str, Any]]:
        """Settings in the sections of a study, each called and written as in a release."""
        epsilon = {"epsilon": str(self.target.epsilon)}
        if self.target.noise in WITH_DELTA:
            epsilon["delta"] = str(self.target.delta)
        return {
            "method": {"name": self.method.name, **method_settings(self.method)},
            "target": {**epsilon, "noise": self.target.noise, "calibration": self.target.calibration},
            "protocol": {"name": self.protocol, **self.terms.as_dict()},
        }

    @property
    def settled(self) -> dict[str, Any]:
        """Settled settings by the names of fields, for a class that adds to them."""
        return {field.name: getattr(self, field.name) for field in fields(SettledRun)}

    def with_usual_lambda(self, parties: int, dimension: int, classes: int, sizes: Sequence[int] = ()) -> SettledRun:
        """Return the settings with the lambda of the public rule, where none was given.

        `sizes`: number of rows of each party, empty where they are not known. Nothing follows from those of a run that
        hides the number of rows.
        """
        if not self.lambda_by_rule:
            return self
        known = sizes and getattr(self.terms, "sizes", "released") == "released"
        rows = tuple(sizes) if known else (ASSUMED_ROWS,) * parties
        numbers = PublicNumbers(rows, dimension, classes, self.target, self.terms.threat_model(parties))
        lam = float(usual_lambda(self.method.name, numbers))
        return replace(self, method=replace(self.method, lam=lam), lambda_by_rule=False)

    def with_parties(
        self,
        parties: tuple[str, ...],
        bounds: Bounds,
        auxiliary: AuxiliaryRows | None = None,
        sizes: Sequence[int] = (),
    ) -> Agreement:
        """Return the agreement of these parties on these bounds, with these public rows of the method.

        `sizes`: number of rows of each party, empty where they are not known.
        """
        found = self.with_usual_lambda(len(parties), bounds.dimension, bounds.class_count, sizes)
        return Agreement(**found.settled, parties=parties, bounds=bounds, auxiliary=auxiliary)

    def for_simulation(self, data: Federation, bounds: Bounds, *, auxiliary: bool) -> Agreement:
        """Return the agreement of a simulation of these parties; `auxiliary`: whether public rows were named."""
        sizes = data.sizes.tolist()
        settled = replace(self, method=inform_of_rows(self.method, sizes))
        rows = data.unlabelled if getattr(self.method, "on_public_rows", False) else None
        check_auxiliary(settled.method, given=auxiliary or rows is not None)
        return settled.with_parties(data.names, bounds, None if rows is None else AuxiliaryRows(rows), sizes)

    def check(self, *, test_keys: bool) -> None:
        """Raise an InputError for what no run can agree on, with any participants."""
        method, protocol, flawed = self.method, self.protocol, is_as_published(self.protocol)
        secure_method(method.name, protocol)
        if type(self.terms) is not TERMS[protocol]:
            raise InputError("terms.of_another_protocol", protocol=protocol, got=type(self.terms).__name__)
        if getattr(method, "as_published", False) != flawed:
            raise InputError("method.made_for_others", wanted=method.name, protocol=protocol)
        if getattr(method, "learner", None) is not None:
            raise InputError("method.with_learner", name=method.name)
        if self.target.epsilon is None:
            raise InputError("epsilon.infinite")
        if flawed and self.target.calibration != "paper":
            raise InputError("calibration.of_printed_steps")
        self.terms.check(protocol, method, self.target, test_keys=test_keys)


@dataclass(frozen=True, kw_only=True)
class Agreement(SettledRun):
    """Public record of one run: its settings, parties, bounds, and the public rows of its method.

    Raises InputError for what no parties can agree on, such as a protocol that does not compute the method, or keys too
    short to protect anyone without the marker of test keys.
    """

    parties: tuple[str, ...]
    bounds: Bounds
    auxiliary: AuxiliaryRows | None = None

    def __post_init__(self) -> None:
        self.check(test_keys=TEST_KEYS in self.marks)
        check_auxiliary(self.method, given=self.auxiliary is not None)
        if self.auxiliary is not None:
            self.auxiliary.check(self.bounds.dimension, self.bounds.class_count)
        if self.marks != tuple(mark for mark in REASONS if mark in self.marks):
            raise InputError("insecure_markers.unknown", got=shown(list(self.marks)))
        if (AS_PUBLISHED in self.marks) != is_as_published(self.protocol):
            raise InputError("insecure_markers.of_printed_steps", as_published=AS_PUBLISHED)
        if self.bounds.weights is not None and self.method.name not in WITH_WEIGHTS:
            raise weights_not_used()
        if not self.describes:
            self.bounds.require_label()
        if self.describes and self.bounds != self.bounds.whole:
            raise InputError("bounds.not_whole", name=self.method.name, clip=self.bounds.whole.clip)
        check_label_kind(self.method, self.bounds.class_count)
        if self.features is not None:
            self.features.check_columns(self.bounds.dimension)
        whole = getattr(self.method, "whole_rows", False)
        if (getattr(self.method, "own_bias", False) or whole) and not self.bounds.bias:
            raise InputError("bounds.no_constant", name=self.method.name)
        columns = len(self.bounds.columns)
        if whole and self.bounds.clip < math.sqrt(columns):
            raise InputError("bounds.rows_shortened", name=self.method.name, advice=no_row_shortened(columns))
        try:
            self.program_parameters("")
        except LocalError as error:
            raise InputError(error.fault) from None
        self._check_left_out()

    def _check_left_out(self) -> None:
        """Raise an InputError where rows with empty cells are left out and the number of rows may not change.

        Under `replace` neighbours have equally many rows, and calibration and announced numbers rest on that. A record
        with an empty cell in place of one without would be one row less of those trained on, which is no neighbour
        then. Under the other adjacencies one record more or less is at most one row more or less, and that is covered.
        """
        left_out = self.bounds.leaving
        if left_out and self.statement.adjacency == "replace":
            raise InputError(
                "bounds.rows_left_out", leave_out=LEAVE_OUT, left_out=shown(left_out[0]), name=self.method.name
            )

    @property
    def public(self) -> Public:
        """Public facts of the federation before anybody trains; sizes are not announced."""
        rows = None if self.auxiliary is None else self.auxiliary.X
        weighted = self.bounds.weights is not None
        return Public(
            len(self.parties), self.bounds.dimension, self.bounds.class_count, unlabelled=rows, weighted=weighted,
            columns=self.bounds.columns, label=self.bounds.label_column, box=self.bounds.box,
        )  # fmt: skip

    @cached_property
    def spec(self) -> MechanismSpec:
        """Mechanism specification: the method as the protocol computes it."""
        return self.terms.spec(self.method, self.public, self.target)

    @property
    def functionality(self) -> Functionality:
        """Functionality that the protocol computes."""
        return self.spec.functionality

    @property
    def grid(self) -> Grid:
        """Grid of the integers, and the ring in which they are added."""
        return self.spec.grid

    @cached_property
    def statement(self) -> PrivacyStatement:
        """Privacy statement of the release, with the distance and the assumptions of the protocol."""
        return whole_statement(self.spec, self.protocol, self.program_parameters(""), self.marks)

    @property
    def mechanism(self) -> str:
        """Name in ledgers: the protocol, and its weaker threat model where other sessions of it claim more."""
        claim = PROTOCOLS[self.protocol].claim
        less = claim is not None and claim.keeps is not None and claim.keeps(self.program_parameters(""))
        return f"{self.protocol} (against semi-honest participants)" if less else self.protocol

    @property
    def parameters(self) -> dict[str, Any]:
        """Everything but bounds, grid and markers, as plain values: the `parameters` of a release."""
        method, target, protocol = self.sections.values()
        return {
            **{"method": method.pop("name"), "protocol": protocol.pop("name")},
            **{"parties": list(self.parties), "dimension": self.bounds.dimension},
            **{"epsilon": target.pop("epsilon"), **method, "calibration": target.pop("calibration")},
            **{"noise": target.pop("noise"), **target, **protocol, **self.terms.derived_parameters(self.spec)},
            **({} if self.auxiliary is None else {"auxiliary": self.auxiliary.digest}),
        }

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "parameters": self.parameters,
            "bounds": self.bounds.as_dict(),
            "fraction_bits": self.grid.fraction_bits,
            "insecure": list(self.marks),
        }

    @classmethod
    def from_dict(
        cls, document: Mapping[str, Any], bounds: Bounds, auxiliary: AuxiliaryRows | None = None
    ) -> Agreement:
        """Return the agreement that `as_dict` wrote, with its bounds and public rows already read.

        Raises InputError for anything else. The grid follows from the rest, and may be left out.
        """
        stated = reading.require_object("parameters", document.get("parameters"))
        parties = tuple(reading.require_texts("parties", stated.get("parties")))
        markers = tuple(reading.require_texts("insecure", document.get("insecure")))
        made = replace(SettledRun.from_parameters(stated), marks=markers).with_parties(parties, bounds, auxiliary)
        wanted, came = made.grid.fraction_bits, document.get("fraction_bits", made.grid.fraction_bits)
        if type(came) is not int or came != wanted:
            raise InputError("agreement.other_fraction_bits", wanted=wanted, got=shown(came))
        for key, value in made.parameters.items():
            if type(stated.get(key)) is not type(value) or stated[key] != value:
                raise InputError("agreement.other_parameter", key=key, wanted=shown(value), got=shown(stated.get(key)))
        if unknown := set(stated) - set(made.parameters):
            raise InputError("agreement.unknown_parameter", unknown=shown(min(unknown)))
        return made

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the agreement in hexadecimal, so nobody can take a marker off later, or mean other bounds."""
        return hashlib.sha256(json.dumps(self.as_dict(), sort_keys=True).encode()).hexdigest()

    def session_binding(self, simulated: Mapping[str, str], study: bytes | None = None) -> str:
        """Return the digest to which a session is bound: of the agreement, its simulation and its study.

        Without a study, a mesh of links without delays is bound to the agreement's digest, as in earlier versions.
        Nobody can state the binding to a study without that study, and so without its approvals.
        """
        if study is None and simulated == DEFAULT_SIMULATION:
            return self.digest
        bound = [self.digest, dict(simulated), *([] if study is None else [hashlib.sha256(study).hexdigest()])]
        return hashlib.sha256(json.dumps(bound, sort_keys=True).encode()).hexdigest()

    def program_parameters(self, agreed: str) -> Any:
        """Return the public parameters of the program, bound to this digest."""
        return self.terms.program_parameters(self.protocol, self.spec, self.parties, agreed)

    def expected_accuracy(self, sizes: Sequence[int]) -> ExpectedAccuracy | None:
        """Return the expected accuracy for parties with so many rows; None for noise, weights, features or a method
        without figures.
        """
        if self.bounds.weights is not None or self.describes or self.infers or self.features is not None:
            return None
        dimension, classes = self.bounds.dimension, len(self.bounds.classes)
        return expected_accuracy(self.method, self.target, self.terms, sizes, dimension, classes)

    @property
    def threat_model(self) -> ThreatModel:
        """Threat model: how many of the parties may collude or drop out."""
        return self.terms.threat_model(len(self.parties))

    @property
    def publishes_shares(self) -> bool:
        """True where additive shares of the value are published, and not the value itself."""
        return execution.publishes_shares(self.protocol, self.program_parameters(""))

    @property
    def participants(self) -> tuple[str, ...]:
        """Participants of the protocol, in its order."""
        return tuple(PROTOCOLS[self.protocol].program.participants(self.program_parameters("")))

    def session(
        self,
        rng: Stream,
        identities: Mapping[str, Identity] | None = None,
        simulated: Mapping[str, str] = DEFAULT_SIMULATION,
    ) -> SimulatedSession:
        """Return a new session on this agreement, with new identities unless some are given."""
        program = PROTOCOLS[self.protocol].program
        return execution.open_session(
            program, self.program_parameters(self.session_binding(simulated)), rng, identities
        )

    @property
    def infers(self) -> bool:
        """True where the release says how sure its coefficients are."""
        return isinstance(self.spec, CoefficientSums)

    @property
    def describes(self) -> bool:
        """True where the release describes rows, and has no classifier."""
        return describes_rows(self.method.name)

    @property
    def features(self) -> FourierFeatures | None:
        """Features beside the rows that the weights belong to; None where they are of the rows alone."""
        found: FourierFeatures | None = getattr(self.method, "fourier", None)
        return found

    @property
    def weight_count(self) -> int:
        """Number of weights of a score."""
        return self.bounds.dimension if self.features is None else self.features.dimension(self.bounds.dimension)

    def check_room(self, rows: int, table: Table | None) -> None:
        """Raise InputError for so many rows of a party that they take too much memory with their Fourier features.

        table: from which the rows were read, if there is one.
        """
        if self.features is not None:
            check_feature_count(rows, self.weight_count, None if table is None else table.form.most_cells)

    def check_count(self, rows: int) -> None:
        """Raise InputError for so few rows of all parties that no coefficient would have an interval."""
        if isinstance(self.method, CoefficientMethod) and rows <= (fewest := self.method.coefficients(self.public)):
            raise InputError("rows.no_more_than_coefficients", got=rows, coefficients=fewest)

    def result(self, value: Any) -> Weights | DescribeResult:
        """Return the result of the value: a description, or weights, d floats; d for each of three or more classes."""
        return self.inferred_result(value)[0]

    def inferred_result(
        self, value: Any, members: Sequence[Collection[str]] = ()
    ) -> tuple[Weights | DescribeResult, CoefficientInference | None]:
        """Return the result of the value, and what a method that says how sure its weights are infers; else None.

        `members`: the parties in each sum of the value.
        """
        model = self.spec.model(value)
        found = model.inference if isinstance(model, InferredModel) else None
        if found is not None and members and isinstance(self.spec, CoefficientSums):
            found = replace(found, of_other_parties={*members[self.spec.counting]} != {*members[-1]})
        return self._result(model), found

    def _result(self, model: ReleasedModel | DescribeResult) -> Weights | DescribeResult:
        if isinstance(model, DescribeResult):
            return model
        if isinstance(model, BiasedModel):
            model = model.with_constant(self.bounds.constant)
        if isinstance(model, FourierModel):
            model = model.linear
        if not isinstance(model, LinearModel):
            raise InputError("method.not_linear", name=self.method.name)
        W = model.W
        if len(W) == 1:
            return tuple(W[0].tolist())
        return tuple((W[1] - W[0]).tolist()) if len(W) == 2 else tuple(map(tuple, W.tolist()))


def default_method(
    protocol: str | None, settings: Collection[str], of_protocol: Collection[str], *, as_published: bool
) -> str:
    """Return the method of a run that names none, but perhaps a protocol, `settings` of a method, and of a protocol.

    It is the one method to which what is named belongs; newton where that is none, or one of several. A setting of many
    methods, such as lambda, chooses none: their guarantees hold against different adversaries.
    """
    suited = set()
    for method, known in PROTOCOLS_BY_METHOD.items():
        mine = [name for name in known if is_as_published(name) == as_published and protocol in (None, name)]
        fits = set(settings) <= set(required_settings(METHODS[method]))
        if fits and any(set(of_protocol) <= set(setting_names(find_terms(name))) for name in mine):
            suited.add(method)
    return suited.pop() if len(suited) == 1 else DEFAULT_METHOD


def default_protocol(method: str, parties: int, named: Iterable[str] = ()) -> str:
    """Return the protocol of a run that names none, with so many parties and these settings; "" where there is none.

    Of the protocols that have all these settings (of all, where none has) it is the one for the most parties. A
    protocol that is kept as published, for its flaws, is never taken.
    """
    known = [name for name in PROTOCOLS_BY_NAME.get(method, ()) if not is_as_published(name)]
    suited = [name for name in known if set(named) <= set(setting_names(find_terms(name)))]
    least = {name: find_terms(name).usual_from for name in suited or known}
    return max(least, key=lambda name: (least[name] <= parties) * least[name], default="")


def read_target(stated: Mapping[str, Any]) -> Target:
    """Return the target in a release's parameters; raise an InputError with all that no run states."""
    words = {"noise": get_args(NoiseName), "calibration": get_args(Calibration)}
    says_delta = stated.get("noise") in WITH_DELTA and stated.get("delta") is not None
    found, made = FaultCollector(), dict[str, Any]()
    for name in ("epsilon", *words, *(["delta"] if says_delta else [])):
        with found.step():
            made[name] = one_of(name, stated, words[name]) if name in words else _rational(name, stated)
    found.require()
    return Target(**made)


def make_method(name: str, protocol: str, settings: Mapping[str, Any]) -> Any:
    """Return the method of this name with these settings, for this protocol that computes it."""
    published = {"as_published": True} if is_as_published(protocol) else {}  # a setting that no other method has
    return secure_method(name, protocol)(**settings, **published)


def whole_statement(spec: MechanismSpec, protocol: str, p: Any, marks: tuple[str, ...]) -> PrivacyStatement:
    """Return the statement of a mechanism by a protocol with parameters p, with assumptions and insecure markers."""
    return add_insecure_markers(add_assumptions(spec.statement, protocol, p, own_noise=has_own_noise(spec)), marks)


def add_assumptions(privacy: PrivacyStatement, protocol: str, p: Any, *, own_noise: bool = False) -> PrivacyStatement:
    """Return the statement with the protocol's assumptions, and its statistical distance for these parameters p.

    `own_noise`: epsilon holds without them, and the secrecy of the sum alone rests on them.
    """
    claim = PROTOCOLS[protocol].claim
    if claim is None or not claim.assumptions:
        return privacy
    subject = "The secrecy of single contributions" if own_noise else "It"
    said = f"{subject} assumes {claim.assumed(p) if claim.assumed else claim.assumptions}"
    distance = claim.distance(p) if claim.distance else None
    if distance is not None:
        most = f"at most 2^-{security_bits(distance)}" if distance else "0"
        said += (
            ". Beyond that, the view of such a coalition differs from one that is simulated from "
            f"{claim.simulated_from} by a statistical distance of {most}"
        )
    more = [f"{claim.strength(p)}."] if claim.strength(p) else []
    return replace(privacy, caveats=(*privacy.caveats, f"{said}.", *more))


def add_insecure_markers(privacy: PrivacyStatement, marks: tuple[str, ...]) -> PrivacyStatement:
    """Return the statement with the reasons why the run is insecure; a seed or the published steps leave nothing."""
    reasons = tuple(f"INSECURE: {REASONS[mark]}." for mark in marks)
    if AS_PUBLISHED in marks:
        return no_guarantee(privacy.unit, privacy.adjacency, *reasons, RESIDUES_CAVEAT)
    if SEEDED in marks:
        return no_guarantee(privacy.unit, privacy.adjacency, *reasons)
    if TEST_KEYS in marks:
        privacy = replace(privacy, adversary=ONLY_THE_RELEASE)
    return replace(privacy, caveats=(*privacy.caveats, *reasons))


def is_as_published(protocol: str) -> bool:
    """Return whether this protocol is kept as published, for its flaws, and claims nothing."""
    return PROTOCOLS[protocol].claim is None


def inform_of_rows(method: Any, sizes: Sequence[int]) -> Any:
    """Return the method with the true number of rows, where it takes that to be public."""
    return method.with_row_counts(sizes) if isinstance(method, NeedsRowCounts) else method


def check_auxiliary(method: Method, *, given: bool) -> None:
    """Raise an InputError unless public rows are given exactly where the method needs them."""
    if getattr(method, "on_public_rows", False) != given:
        raise InputError("auxiliary.not_used" if given else "auxiliary.missing", name=method.name)


def check_label_kind(method: Any, classes: int) -> None:
    """Raise an InputError unless the label, of so many classes or of 0 for a number, is one that the method predicts.

    A description takes any.
    """
    if not describes_rows(method.name) and getattr(method, "regresses", False) != (classes == 0):
        raise InputError("bounds.no_numeric_outcome" if classes else "bounds.numeric_outcome", name=method.name)


def describes_rows(method: str) -> bool:
    """Tell whether releases of the method of this name describe rows, and have no classifier."""
    return method in STATISTICS


def secure_method(method: str, protocol: str) -> Any:
    """Return the class of the method; raise an InputError unless the protocol computes it."""
    known = ", ".join(name for name, by in PROTOCOLS_BY_NAME.items() if method in by)
    if method in PROTOCOLS and method not in PROTOCOLS_BY_NAME and known:
        raise InputError("method.is_a_protocol", method=method, known=known)
    check_one_of("method", method, PROTOCOLS_BY_NAME)
    if protocol not in PROTOCOLS_BY_NAME[method]:
        raise InputError("protocol.not_of_method", known=PROTOCOLS_BY_NAME[method], got=shown(protocol))
    return STATISTICS[method] if describes_rows(method) else find_method(method)


def insecure_markers(protocol: str, terms: ProtocolTerms, *, seeded: bool) -> tuple[str, ...]:
    """Return the insecure markers of a run; none for a proper one."""
    applying = {SEEDED: seeded, TEST_KEYS: terms.has_test_keys(protocol), AS_PUBLISHED: is_as_published(protocol)}
    return tuple(mark for mark, applies in applying.items() if applies)


def method_settings(method: Any) -> dict[str, Any]:
    """Return a method's settings as plain values, without those that are not set or follow from the protocol."""
    found = {stated: getattr(method, name) for stated, (name, _) in _declared_settings(method.__class__).items()}
    return {name: _plain(value) for name, value in found.items() if value is not None}


def required_settings(kind: Any) -> dict[str, bool]:
    """Return the names of this method's settings in a release, and whether each must be stated."""
    return {stated: NoneType not in get_args(declared) for stated, (_, declared) in _declared_settings(kind).items()}


def read_method_settings(stated: Mapping[str, Any], kind: Any, *, complete: bool = True) -> dict[str, Any]:
    """Return a method's settings, as `method_settings` wrote them, each of its declared type.

    `complete`: whether all required settings have to be there.
    """
    found, faults = dict[str, Any](), FaultCollector()
    for known, (name, declared) in _declared_settings(kind).items():
        kinds = get_args(declared)
        if known in stated or (complete and NoneType not in kinds):
            number = next((one for one in (float, int) if one in (declared, *kinds)), None)
            with faults.step():
                found[name] = _read_setting(known, stated, kinds, number)
    faults.require()
    return found


def _read_setting(known: str, stated: Mapping[str, Any], kinds: tuple[Any, ...], number: type | None) -> Any:
    """Return the value of a setting: a number of this type, any text, or one of the words in `kinds`."""
    if str in kinds:
        return check_line(stated.get(known))
    return number(_rational(known, stated)) if number else one_of(known, stated, kinds)


@cache
def _declared_settings(kind: Any) -> dict[str, tuple[str, Any]]:
    """Return name and type of each setting of a method, by its name in a release, without `as_published`."""
    types = get_type_hints(kind)
    names = [field.name for field in fields(kind) if field.name != "as_published"]  # it follows from the protocol
    return {_STATED.get(name, name): (name, types[name]) for name in names}


def _plain(value: Any) -> Any:
    """Return a number as the text of the fraction that its shortest decimal is; other values as they are."""
    return str(Fraction(repr(float(value)))) if type(value) in (int, float) else value


def _rational(name: str, stated: Mapping[str, Any]) -> Fraction:
    text = stated.get(name)
    if isinstance(text, str) and _RATIONAL.fullmatch(text) and str(Fraction(text)) == text:
        return Fraction(text)
    raise InputError("setting.no_fraction", name=name, got=shown(text))
