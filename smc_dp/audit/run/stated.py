"""What a release states about its method, each value within its range: what the checks of privacy derive from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from smc_dp.audit.run.check import CheckOutcome, failed
from smc_dp.audit.run.evidence import Evidence
from smc_dp.data.federation import Public
from smc_dp.errors import InputError, shown
from smc_dp.files import reading
from smc_dp.privacy.grid import Grid
from smc_dp.privacy.output import GRID
from smc_dp.privacy.target import Target
from smc_dp.run.agreement import method_and_target
from smc_dp.run.folder import RELEASE


@dataclass(frozen=True)
class Stated:
    """What a release states, each value within its range: method and target, K parties and d weights, the grid."""

    method: Any
    target: Target
    public: Public
    grid: Grid

    def noise(self, n: int) -> Any:
        """The law of the noise that a party with n records draws, in grid units."""
        return self.method.law(self.target, n, self.public)

    def sensitivity(self, n: int) -> Fraction:
        """D(n): how far one of n records moves the sum on the grid, in the norm of the noise."""
        proven = replace(self.target, calibration="proven")  # its scale is D(n)/epsilon
        law = replace(self.method, as_printed=False).law(proven, n, self.public)
        found: Fraction = law.scale * self.target.wanted
        return found


def stated(evidence: Evidence) -> Stated:
    """What the release states; raises InputError for anything missing, malformed or out of range."""
    parameters = reading.mapping("parameters", evidence.release.get("parameters"))
    method, target, protocol = method_and_target(parameters)
    if protocol != evidence.protocol.program.name:
        raise InputError(f"protocol: line 0 has {evidence.protocol.program.name}, the release {protocol}")
    if method.as_printed and target.calibration != "paper":
        raise InputError("calibration: the steps as printed go with the noise as printed")
    K, d = len(reading.texts("parties", parameters.get("parties"))), parameters.get("dimension")
    limits = evidence.protocol.limits
    most = limits.largest.get("dimension", 0)
    if not 2 <= K <= limits.parties or type(d) is not int or not 1 <= d <= most:
        raise InputError(f"wanted 2 to {limits.parties} parties and dimension 1 to {most}")
    public = Public(K, d, 2)
    method.statement(public, target, "secure")  # refuses noise that the protocol does not have
    return Stated(method, target, public, _grid(evidence.shares))


def _grid(shares: Mapping[str, Any]) -> Grid:
    modulus, fraction_bits = reading.integer("modulus", shares.get("modulus")), shares.get("fraction_bits")
    ring_bits = modulus.bit_length() - 1
    if modulus != 1 << ring_bits or not 2 <= ring_bits <= GRID.ring_bits:
        raise InputError(f"modulus: wanted a power of two, at most 2**{GRID.ring_bits}, got {shown(modulus)}")
    if type(fraction_bits) is not int or fraction_bits != GRID.fraction_bits:
        raise InputError(f"fraction_bits: wanted {GRID.fraction_bits}, got {shown(fraction_bits)}")
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
