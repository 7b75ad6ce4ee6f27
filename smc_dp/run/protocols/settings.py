"""The settings of one protocol: what generic code asks of them, and how a single value is checked.

A setting of a protocol is a field of its terms, a frozen dataclass for each protocol (`curator`, `linear`,
`secure_sum`); the table `registry.TERMS` has them by the name of the program. `protocol_setting` declares a field:
its default, its one sentence, its range, and the commands that offer it as an option. `smc_dp.run.settings` makes the
section `protocol` of those fields, so nothing is declared twice. Terms check their ranges when they are made, and all
faults are reported at once; therefore a command, a study and a release are refused for the same reasons.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, fields
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, Protocol, Self

from smc_dp.core.errors import FaultCollector, InputError, shown
from smc_dp.data.federation import Public
from smc_dp.methods.method import MechanismSpec, require_two_classes
from smc_dp.methods.sums.threat_model import ThreatModel
from smc_dp.privacy.target import NoiseName, Target

RUN, STUDY, PLAN, COMPARE = "run", "study new", "plan", "compare"
"""Commands that have settings as options."""


def protocol_setting(
    default: Any, sentence: str, *, most: int | None = None, least: int = 1, values: tuple[Any, ...] = (),
    on: tuple[str, ...] = (RUN, STUDY), **option: Any,
) -> Any:  # fmt: skip
    """Return a field of terms that is a setting: its range, its one sentence, and the commands with its option.

    It is a whole number from `least` to `most`, one of `values`, a flag, or what its class checks. `option`: what else
    the field of the section says, see `smc_dp.run.settings`.
    """
    shape = {"metavar": "|".join(values), "kind": "choice"} if values else {"metavar": "INTEGER"} if most else {}
    usual = {"usual": str(default)} if shape and on else {}
    setting = {"sentence": sentence, "on": on, **(shape if on else {}), **usual, **option}
    return field(default=default, metadata={"setting": setting, "most": most, "least": least, "values": values})


class PrivacySummary(NamedTuple):
    """Four lines of a privacy statement, in words for everybody; the statement has the exact ones."""

    holds_against: str
    needs: str
    not_covered: str
    rests_on: str


class ProtocolTerms(Protocol):
    """Settings of one protocol, each a field that a release calls by the same name; InputError for values out of range.

    `usual_from`: number of parties from which on a run that names no protocol takes this one, of those that compute its
    method. `tolerates_dropouts`: whether the protocol tolerates drop-outs, in a session or by a new one without those
    parties. `unsaid`: values of settings that a document may leave out.
    """

    tolerates_dropouts: ClassVar[bool] = False
    usual_from: ClassVar[int] = 2
    unsaid: ClassVar[Mapping[str, Any]] = MappingProxyType({})

    def __post_init__(self) -> None:
        found = FaultCollector()
        for known in fields(type(self)):  # type: ignore[arg-type]  # every class of terms is a dataclass
            with found.step():
                self.check_setting(known.name, known.metadata)
        found.require()

    def check_setting(self, name: str, declared: Mapping[str, Any]) -> None:
        """Raise an InputError unless the setting of this name is in the range that its field declares."""
        if declared["values"]:
            one_of(name, vars(self), declared["values"])
        elif declared["most"] is not None:
            whole_number(name, vars(self), declared["most"], declared["least"])
        elif declared["setting"].get("kind") == "flag" and type(value := getattr(self, name)) is not bool:
            raise InputError("setting.no_truth_value", name=name, got=shown(value))

    @classmethod
    def default_noise(cls, method: Any, has_delta: bool) -> NoiseName:
        """Return the usual distribution of this method's noise, where a delta is named or not."""
        own: NoiseName = method.secure_noises[0]
        return own

    @classmethod
    def preferred(cls, method: Any) -> Mapping[str, Any]:
        """Return the settings that this method prefers, unless somebody names others."""
        return {}

    @classmethod
    def from_dict(cls, stated: Mapping[str, Any]) -> Self:
        """Return the settings in a release's parameters, as `as_dict` wrote them."""
        kind: Any = cls
        read: Self = kind(**{name: stated.get(name, cls.unsaid.get(name)) for name in setting_names(cls)})
        return read

    def as_dict(self) -> dict[str, Any]:
        """Return plain values: a part of the parameters of a release."""
        return {name: getattr(self, name) for name in setting_names(type(self))}

    def derived_parameters(self, spec: MechanismSpec) -> dict[str, Any]:
        """Return the derived parameters that a release states besides."""
        return {}

    def threat_model(self, parties: int) -> ThreatModel:
        """Return how many of so many parties may collude or drop out while the noise of the others is counted."""
        ...

    def check(self, protocol: str, method: Any, target: Target, *, test_keys: bool) -> None:
        """Raise an InputError for what this protocol does not compute, whoever takes part."""
        if test_keys:
            raise InputError("test_keys.without_keys", protocol=protocol)

    def has_test_keys(self, protocol: str) -> bool:
        """Return whether the keys are test keys, too short to protect anything."""
        return False

    def without(self, names: Sequence[str]) -> Self:
        """Return the settings of a new session without these parties; InputError where all are needed."""
        raise InputError("parties.all_needed", names=names)

    def spec(self, method: Any, public: Public, target: Target) -> MechanismSpec:
        """Return the mechanism specification of the method under these settings; InputError where there is none."""
        ...

    def summary(self, spec: MechanismSpec, parties: int) -> PrivacySummary:
        """Return the summary of the statement of this mechanism, among so many parties."""
        ...

    def program_parameters(self, protocol: str, spec: MechanismSpec, parties: tuple[str, ...], agreed: str) -> Any:
        """Return the public parameters of the program, bound to the digest `agreed`."""
        ...


def setting_names(terms: type[Any]) -> list[str]:
    """Return the names of the settings of a protocol."""
    return [field.name for field in fields(terms)]


def check_classes(public: Public, method: Any) -> None:
    """Raise an InputError for more than two classes where the method is for two, before anybody trains."""
    if method.binary:
        require_two_classes(public.classes, method)


def one_of(name: str, stated: Mapping[str, Any], known: tuple[Any, ...]) -> Any:
    """Return the setting of this name; InputError unless it has one of these values."""
    for value in known:
        if stated.get(name) == value:
            return value
    raise InputError("setting.not_one_of", name=name, known=known, got=shown(stated.get(name)))


def whole_number(name: str, stated: Mapping[str, Any], most: int, least: int = 1) -> int:
    """Return the setting of this name; InputError unless it is a whole number within bounds."""
    value = stated.get(name)
    if type(value) is not int or not least <= value <= most:
        raise InputError("setting.out_of_range", name=name, wanted=least, most=most, got=shown(value))
    return value
