"""What generic code asks of the settings of a protocol, and how single settings are read back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Protocol, Self

from smc_dp.core.errors import InputError, shown
from smc_dp.data.federation import Public
from smc_dp.methods.method import SecureForm, two_classes
from smc_dp.methods.sums.among import Among
from smc_dp.privacy.target import NoiseName, Target


class Terms(Protocol):
    """The settings of one protocol. Raises InputError for what nobody can agree on.

    `usual_from`: the number of parties from which on a run that names no protocol takes this one, of those that
    compute its method. `can_lose_parties`: whether the protocol can do without a party that vanishes, or can begin anew
    without it.
    """

    can_lose_parties: ClassVar[bool]
    usual_from: ClassVar[int]

    @classmethod
    def noise(cls, method: Any, has_delta: bool) -> NoiseName:
        """The law of this method's noise unless somebody names one, with a delta or without."""
        ...

    @classmethod
    def preferred(cls, method: Any) -> Mapping[str, Any]:
        """The settings that this method prefers, unless somebody names others."""
        ...

    @classmethod
    def from_dict(cls, stated: Mapping[str, Any]) -> Self:
        """The settings in a release's parameters, as `as_dict` wrote them."""
        ...

    def as_dict(self, form: SecureForm) -> dict[str, Any]:
        """Plain values, and what follows for this form: a part of the parameters of a release."""
        ...

    def among(self, parties: int) -> Among:
        """Return how many of so many parties may collude or vanish while the noise of the others is counted."""
        ...

    def check(self, protocol: str, method: Any, target: Target, *, test_keys: bool) -> None:
        """Raises InputError for what this protocol does not compute, whoever takes part."""
        ...

    def weak(self, protocol: str) -> bool:
        """Whether its keys are test keys, too short to protect anything."""
        ...

    def without(self, names: Sequence[str]) -> Self:
        """The settings of a new session that these were left out of; InputError where nobody can be."""
        ...

    def form(self, method: Any, public: Public, target: Target) -> SecureForm:
        """The method, as the protocol computes it under these settings; InputError where that cannot be."""
        ...

    def program_parameters(self, protocol: str, form: SecureForm, parties: tuple[str, ...], agreed: str) -> Any:
        """The public parameters of the program, bound to what was agreed on."""
        ...


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


def whole(name: str, stated: Mapping[str, Any], most: int, least: int = 1) -> int:
    """A setting that is a whole number within bounds."""
    value = stated.get(name)
    if type(value) is not int or not least <= value <= most:
        raise InputError("setting.out_of_range", name=name, wanted=least, most=most, got=shown(value))
    return value
