"""What generic code asks of the settings of a protocol, and how single settings are read back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, fields
from types import MappingProxyType
from typing import Any, ClassVar, Protocol, Self

from smc_dp.core.documents import FaultCollector
from smc_dp.core.errors import InputError, shown
from smc_dp.data.federation import Public
from smc_dp.methods.method import SecureForm, two_classes
from smc_dp.methods.sums.among import Among
from smc_dp.privacy.target import NoiseName, Target

RUN, STUDY, PLAN, COMPARE = "run", "study new", "plan", "compare"
"""The commands that have settings as options."""


def protocol_setting(
    default: Any, sentence: str, *, most: int | None = None, least: int = 1, values: tuple[Any, ...] = (),
    on: tuple[str, ...] = (RUN, STUDY), **said: Any,
) -> Any:  # fmt: skip
    """Return a field of terms that is a setting: what it may be, its one sentence, and the commands with its option.

    It is a whole number from `least` to `most`, one of `values`, or what its class checks. `said`: what else the field
    of the section says, see `smc_dp.run.settings`.
    """
    shape = {"metavar": "|".join(values), "kind": "choice"} if values else {"metavar": "INTEGER"} if most else {}
    usual = {"usual": str(default)} if shape and on else {}
    about = {"sentence": sentence, "on": on, **(shape if on else {}), **usual, **said}
    return field(default=default, metadata={"setting": about, "most": most, "least": least, "values": values})


class ProtocolTerms(Protocol):
    """The settings of one protocol. Raises InputError for what nobody can agree on.

    Each setting is a field that `declared` made, which a release calls by the same name. `usual_from`: the number of
    parties from which on a run that names no protocol takes this one, of those that compute its method.
    `can_lose_parties`: whether the protocol can do without a party that vanishes, or can begin anew without it.
    `unsaid`: the values of settings that nobody need say.
    """

    can_lose_parties: ClassVar[bool] = False
    usual_from: ClassVar[int] = 2
    unsaid: ClassVar[Mapping[str, Any]] = MappingProxyType({})

    def __post_init__(self) -> None:
        found, settings = FaultCollector(), vars(self)
        for known in fields(type(self)):  # type: ignore[arg-type]  # every class of terms is a dataclass
            wanted = known.metadata
            with found.step():
                if wanted["values"]:
                    one_of(known.name, settings, wanted["values"])
                elif wanted["most"] is not None:
                    whole_number(known.name, settings, wanted["most"], wanted["least"])
        found.require()

    @classmethod
    def noise(cls, method: Any, has_delta: bool) -> NoiseName:
        """Return the distribution of this method's noise unless somebody names one, with a delta or without."""
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
        said: Self = kind(**{name: stated.get(name, cls.unsaid.get(name)) for name in setting_names(cls)})
        return said

    def as_dict(self) -> dict[str, Any]:
        """Return plain values: a part of the parameters of a release."""
        return {name: getattr(self, name) for name in setting_names(type(self))}

    def follows(self, form: SecureForm) -> dict[str, Any]:
        """Return what a release says besides, and what follows from the form."""
        return {}

    def among(self, parties: int) -> Among:
        """Return how many of so many parties may collude or vanish while the noise of the others is counted."""
        ...

    def check(self, protocol: str, method: Any, target: Target, *, test_keys: bool) -> None:
        """Raise an InputError for what this protocol does not compute, whoever takes part."""
        if test_keys:
            raise InputError("test_keys.without_keys", protocol=protocol)

    def weak(self, protocol: str) -> bool:
        """Return whether its keys are test keys, too short to protect anything."""
        return False

    def without(self, names: Sequence[str]) -> Self:
        """Return the settings of a new session that these were left out of; InputError where nobody can be."""
        raise InputError("parties.all_needed", names=names)

    def form(self, method: Any, public: Public, target: Target) -> SecureForm:
        """Return the method, as the protocol computes it under these settings; InputError where that cannot be."""
        ...

    def program_parameters(self, protocol: str, form: SecureForm, parties: tuple[str, ...], agreed: str) -> Any:
        """Return the public parameters of the program, bound to what was agreed on."""
        ...


def setting_names(terms: type[Any]) -> list[str]:
    """Return the names of the settings of a protocol."""
    return [field.name for field in fields(terms)]


def check_classes(public: Public, method: Any) -> None:
    """InputError for more than two classes, where the method is for two: before anybody trains, whoever takes part."""
    if method.binary:
        two_classes(public, method)


def one_of(name: str, stated: Mapping[str, Any], known: tuple[Any, ...]) -> Any:
    """A setting that has one of these values."""
    for value in known:
        if stated.get(name) == value:
            return value
    raise InputError("setting.not_one_of", name=name, known=known, got=shown(stated.get(name)))


def whole_number(name: str, stated: Mapping[str, Any], most: int, least: int = 1) -> int:
    """A setting that is a whole number within bounds."""
    value = stated.get(name)
    if type(value) is not int or not least <= value <= most:
        raise InputError("setting.out_of_range", name=name, wanted=least, most=most, got=shown(value))
    return value
