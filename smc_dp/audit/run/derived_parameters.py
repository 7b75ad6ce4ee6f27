"""Derived parameters: what a release states about its method, within its range, for the checks of privacy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from smc_dp.audit.run.check import CheckOutcome, failed, make_fault
from smc_dp.audit.run.evidence import Evidence
from smc_dp.core import reading
from smc_dp.core.errors import Fault, InputError, shown
from smc_dp.data.federation import MOST_CLASSES, Public
from smc_dp.privacy.distributed import SharedNoise, SharedRounds
from smc_dp.privacy.grid import Grid
from smc_dp.privacy.output import GRID
from smc_dp.privacy.target import Target
from smc_dp.run.agreement import SettledRun, check_auxiliary, describes_rows
from smc_dp.run.documents import SharesFile
from smc_dp.run.release import RELEASE


@dataclass(frozen=True)
class DerivedParameters:
    """Parameters that a release determines: method and target, parties, classes and d features, the grid.

    `spec` is the mechanism specification under the stated settings, `shared` the noise where each party draws a share
    of it; else the smallest party's is added, and `noise` and `sensitivity` are for that.
    """

    method: Any
    target: Target
    public: Public
    grid: Grid
    spec: Any
    shared: SharedNoise | SharedRounds | None = None

    @cached_property
    def sums(self) -> Any:
        """Blocks of each sum, with the public text of their noise; a specification computes them anew each time."""
        return self.spec.sums

    @property
    def honest(self) -> int:
        """Number H = K - D - t of honest parties, derived here and not by the code that made the run."""
        among = self.spec.threat_model
        K, D, t = among.parties, among.dropouts, among.colluders
        return int(K - D - t)

    def noise(self, n: int) -> Any:
        """Return the distribution of the noise that a party with n records draws, in grid units."""
        return self.method.distribution(self.target, n, self.public)

    def sensitivity(self, n: int) -> Fraction:
        """Return D(n): how far one of n records moves the sum on the grid, in the norm of the noise."""
        proven = replace(self.target, calibration="proven")  # its scale is D(n)/epsilon
        distribution = replace(self.method, as_published=False).distribution(proven, n, self.public)
        found: Fraction = distribution.scale * self.target.wanted
        return found


def derive_parameters(evidence: Evidence) -> DerivedParameters:
    """Derive the parameters of a release; raise InputError for anything missing, malformed or out of range."""
    said = evidence.parameters
    parameters, d = said.model_dump(), said.dimension
    settled = SettledRun.from_parameters(parameters)
    method, target, protocol = settled.method, settled.target, settled.protocol
    if protocol != evidence.protocol.program.name:
        raise InputError("protocol.other_than_recorded", recorded=evidence.protocol.program.name, released=protocol)
    if evidence.protocol.claim is None and target.calibration != "paper":
        raise InputError("calibration.not_as_printed")
    K, limits = len(said.parties), evidence.protocol.limits
    most = next((limits.largest[name] for name in ("dimension", "numbers") if name in limits.largest), 0)
    if not 2 <= K <= limits.parties or not 1 <= d <= most:
        raise InputError("release.size_out_of_range", parties=limits.parties, most=most)
    classes = reading.require_texts("classes", evidence.release.get("classes"))
    describes, has_outcome = describes_rows(method.name), evidence.release_file.outcome is not None
    if not 2 <= len(classes) <= MOST_CLASSES and (classes or not (describes or has_outcome)):
        raise InputError("classes.too_few_or_many", most=MOST_CLASSES, got=len(classes))
    check_auxiliary(method, given=evidence.auxiliary is not None)
    if evidence.auxiliary is not None:
        evidence.auxiliary.check(d, len(classes))
    rows, weights = None if evidence.auxiliary is None else evidence.auxiliary.X, evidence.release_file.row_weights
    bounds = evidence.release_file.bounds
    public = Public(K, d, bounds.class_count, unlabelled=rows, weighted=weights is not None, box=bounds.box)
    if describes or has_outcome:
        public = replace(public, columns=bounds.columns, label=bounds.label_column)
    settled.terms.check(protocol, method, target, test_keys=limits.keys is not None)  # how long keys are, others ask
    spec: Any = settled.terms.spec(method, public, target)
    if (count := feature_count(method)) is not None:
        public = replace(public, dimension=d + count, box=None)  # a record enters its row with its features
    if spec.smallest_sets_noise:
        return DerivedParameters(method, target, public, _grid(evidence.shares_file), spec)
    return DerivedParameters(method, target, public, spec.grid, spec, spec.noise)


def feature_count(method: Any) -> int | None:
    """Return the number D of Fourier features, which the setting fourier:D states; None where rows have none."""
    setting: str | None = getattr(method, "features", None)
    return None if setting is None else int(setting.split(":")[1])


def ring_fault(grid: Grid, largest: int) -> Fault | None:
    """Return the fault of a ring in which a sum as large as this wraps round, else None."""
    if largest < 1 << (grid.ring_bits - 1):
        return None
    return make_fault("ring.too_small", ring_bits=grid.ring_bits, bits=largest.bit_length())


def _grid(shares: SharesFile) -> Grid:
    modulus, fraction_bits = int(shares.modulus), shares.fraction_bits
    ring_bits = modulus.bit_length() - 1
    if modulus != 1 << ring_bits or not 2 <= ring_bits <= GRID.ring_bits:
        raise InputError("modulus.not_possible", ring_bits=GRID.ring_bits, got=shown(modulus))
    if fraction_bits != GRID.fraction_bits:
        raise InputError("fraction_bits.other", wanted=GRID.fraction_bits, got=shown(fraction_bits))
    return Grid(fraction_bits, ring_bits)


def from_parameters(
    check: Callable[[Evidence, DerivedParameters], CheckOutcome],
    of_shares: Callable[[Evidence, DerivedParameters, SharedNoise | SharedRounds], CheckOutcome] | None = None,
    of_own: Callable[[Evidence, DerivedParameters], CheckOutcome] | None = None,
) -> Callable[[Evidence], CheckOutcome]:
    """Return the check of evidence with its derived parameters; it fails where the release can state no run.

    `of_shares` replaces it where each party draws a share of the noise; `of_own` where its noise is in its input.
    """

    def run(evidence: Evidence) -> CheckOutcome:
        try:
            found = derive_parameters(evidence)
        except InputError as error:
            fault = error.fault  # a file that was not read whole names itself
            return failed(fault if fault.place.startswith(RELEASE) else fault.within(RELEASE))
        if of_shares is not None and found.shared is not None:
            return of_shares(evidence, found, found.shared)
        if of_own is not None and found.shared is None and not found.spec.smallest_sets_noise:
            return of_own(evidence, found)
        return check(evidence, found)

    return run
