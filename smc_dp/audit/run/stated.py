"""What a release states about its method, each value within its range: what the checks of privacy derive from."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, get_args

from protocols.pathak2010.limits import MAX_DIMENSION, MAX_PARTIES, MAX_RING_BITS
from smc_dp.audit.run.check import CheckOutcome, failed
from smc_dp.audit.run.evidence import Evidence
from smc_dp.errors import InputError, shown
from smc_dp.files import reading
from smc_dp.methods.pathak2010.curator import Settings
from smc_dp.privacy.grid import Grid
from smc_dp.privacy.noise import DiscreteLaplace, KNorm
from smc_dp.privacy.pathak2010 import Calibration, PureNoiseName
from smc_dp.run.folder import RELEASE
from smc_dp.run.simulation import METHOD

_RATIONAL = re.compile(r"[1-9][0-9]{0,199}(/[1-9][0-9]{0,199})?", re.ASCII)
_MAX_FRACTION_BITS = 1024


@dataclass(frozen=True)
class Stated:
    """The parameters that a release states, each within its range: settings, K parties, d weights."""

    settings: Settings
    parties: int
    dimension: int

    def noise(self, n: int) -> KNorm | DiscreteLaplace:
        """The law of the noise that a party with n records draws, in grid units."""
        return self.settings.noise_of(n, self.parties, self.dimension)

    def sensitivity(self, n: int) -> Fraction:
        """D(n): how far one of n records moves the sum on the grid, in the norm of the noise."""
        proven = replace(self.settings, calibration="proven", as_printed=False)  # its scale is D(n)/epsilon
        return proven.noise_of(n, self.parties, self.dimension).scale * self.settings.epsilon


def stated(evidence: Evidence) -> Stated:
    """What the release states; raises InputError for anything missing, malformed or out of range."""
    parameters = reading.mapping("parameters", evidence.release.get("parameters"))
    if parameters.get("method") != METHOD:
        raise InputError(f"method: wanted {METHOD}, got {shown(parameters.get('method'))}")
    K, d = len(reading.texts("parties", parameters.get("parties"))), parameters.get("dimension")
    if not 2 <= K <= MAX_PARTIES or type(d) is not int or not 1 <= d <= MAX_DIMENSION:
        raise InputError(f"wanted 2 to {MAX_PARTIES} parties and dimension 1 to {MAX_DIMENSION}")
    if type(parameters.get("as_printed")) is not bool:
        raise InputError(f"as_printed: wanted true or false, got {shown(parameters.get('as_printed'))}")
    settings = Settings(
        _rational("epsilon", parameters),
        _rational("lambda", parameters),
        _one_of("calibration", parameters, get_args(Calibration)),
        _one_of("noise", parameters, get_args(PureNoiseName)),
        _grid(evidence.shares),
        parameters["as_printed"],
    )
    return Stated(settings, K, d)


def _rational(name: str, parameters: Mapping[str, Any]) -> Fraction:
    text = parameters.get(name)
    if isinstance(text, str) and _RATIONAL.fullmatch(text) and str(Fraction(text)) == text:
        return Fraction(text)
    raise InputError(f"{name}: wanted a positive fraction in lowest terms as a text, got {shown(text)}")


def _one_of(name: str, parameters: Mapping[str, Any], known: tuple[Any, ...]) -> Any:
    for value in known:
        if parameters.get(name) == value:
            return value
    raise InputError(f"{name}: wanted one of {', '.join(known)}, got {shown(parameters.get(name))}")


def _grid(shares: Mapping[str, Any]) -> Grid:
    modulus, fraction_bits = reading.integer("modulus", shares.get("modulus")), shares.get("fraction_bits")
    ring_bits = modulus.bit_length() - 1
    if modulus != 1 << ring_bits or not 2 <= ring_bits <= MAX_RING_BITS:
        raise InputError(f"modulus: wanted a power of two, at most 2**{MAX_RING_BITS}, got {shown(modulus)}")
    if type(fraction_bits) is not int or not 0 <= fraction_bits <= _MAX_FRACTION_BITS:
        raise InputError(f"fraction_bits: wanted 0 to {_MAX_FRACTION_BITS}, got {shown(fraction_bits)}")
    return Grid(fraction_bits, ring_bits)


def from_parameters(check: Callable[[Evidence, Stated], CheckOutcome]) -> Callable[[Evidence], CheckOutcome]:
    """The check on what the release states; failed when that cannot be parameters of a run."""

    def run(evidence: Evidence) -> CheckOutcome:
        try:
            found = stated(evidence)
        except InputError as error:
            return failed(f"{RELEASE}: {error}")
        return check(evidence, found)

    return run
