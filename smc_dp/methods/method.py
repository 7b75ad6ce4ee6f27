"""What every method has in common: public settings, a part without noise, and a release of it.

A method is a frozen dataclass of public settings, whose fields have defaults and are checked when it is made.
`train` does what depends on the rows alone and may be slow; what it returns is secret. `release` adds noise for one
target and may be called again and again, which an experiment does and nobody else should: budgets add up.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import ClassVar, Protocol

import numpy as np

from protocols.arithmetic.rng import Stream
from smc_dp.data.federation import Federation
from smc_dp.errors import InputError, shown
from smc_dp.methods.model import Release
from smc_dp.privacy.pathak2010 import LARGEST_N
from smc_dp.privacy.target import Calibration, NoiseName, Target

TRUSTED = (
    "anyone who sees the release, but not the one who computed it: in this form a trusted aggregator holds what the "
    "parties send"
)


_ONLY: MappingProxyType[tuple[str, Calibration], NoiseName] = MappingProxyType(
    {
        **{(name, "paper"): "knorm" for name in ("vote", "soft", "soft_aux", "avg")},
        **{("ofpa", "paper"): "laplace", ("ofaa", "paper"): "laplace", ("ofpa", "proven"): "knorm"},
    }
)
"""Where a calibration has one noise, although the method has several."""


class Trained(Protocol):
    """What a method knows before noise is added; secret."""

    def release(self, target: Target, rng: Stream) -> Release:
        """Draw the noise for this target; raises InputError for one that voids the theorem."""
        ...


class Method(Protocol):
    """One method with its public settings."""

    name: ClassVar[str]
    calibrations: ClassVar[tuple[Calibration, ...]]
    noises: ClassVar[tuple[NoiseName, ...]]

    def train(self, federation: Federation) -> Trained:
        """Everything that needs no noise; raises InputError for data that void the theorem, naming the party."""
        ...


def laws(method: Method | type[Method], calibration: Calibration) -> tuple[NoiseName, ...]:
    """The noises of this calibration of the method, its own first: no paper here has Gaussian noise."""
    if calibration not in method.calibrations:
        return ()
    only = _ONLY.get((method.name, calibration))
    if only is not None:
        return (only,)
    return tuple(noise for noise in method.noises if calibration == "proven" or noise != "gauss")


def check_target(target: Target, method: Method) -> None:
    """Raises InputError for a calibration or noise that the theory of this method does not give."""
    if target.epsilon is None:
        return
    if target.calibration not in method.calibrations:
        known = " or ".join(method.calibrations)
        raise InputError(f"calibration: {method.name} has {known or 'none'}, got {target.calibration}")
    noises = laws(method, target.calibration)
    if target.noise not in noises:
        raise InputError(
            f"noise: {target.calibration} {method.name} has {', '.join(noises)}, got {target.noise}; give noise "
            f"{noises[0]} with calibration {target.calibration}"
        )


def two_classes(federation: Federation, method: Method) -> None:
    """Raises InputError unless there are exactly two classes."""
    if federation.classes != 2:
        raise InputError(f"classes: {method.name} is for two classes, got {federation.classes}")


def check_sizes(federation: Federation) -> None:
    """Raises InputError for a party with more rows than the public figure that solver tolerances are charged for."""
    for j, n in enumerate(federation.sizes):
        if n > LARGEST_N:
            raise InputError(f"{federation.name(j)}: wanted at most {LARGEST_N} rows, got {n}")


def check_modulus(lam: object, name: str = "lambda") -> None:
    """Raises InputError unless this regularisation is a number for which minimisers are certified."""
    if not isinstance(lam, int | float | np.floating) or not 2.0**-29 <= lam <= 1e6:
        raise InputError(f"{name}: wanted a number from 2**-29 to 1e6, got {shown(lam)}")
