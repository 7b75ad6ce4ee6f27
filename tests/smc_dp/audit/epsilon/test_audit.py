"""Lower bounds on epsilon through the whole protocol, from rows to what everybody sees: the published shares.

Training, sensitivity, grid, noise and protocol together. The ideal functionality, which has the same law, stands in
where many runs are needed.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from protocols.arithmetic.rng import Stream
from smc_dp.audit.epsilon import methods, protocol
from smc_dp.audit.epsilon.audit import CaseAudit, audit_mechanism
from smc_dp.methods.registry import METHODS
from smc_dp.privacy.target import Calibration, NoiseName, Target
from tests.support.refusals import refused

ALPHA = 0.002  # of each test


def target(calibration: Calibration = "proven", noise: NoiseName = "knorm") -> Target:
    return Target(Fraction(1), calibration, noise)


def in_the_clear(wanted: Target, trials: int, *, half: bool = False) -> CaseAudit:
    case = protocol.pathak_case(wanted, "half-noise" if half else None, use_ideal=True)
    return audit_mechanism(case, trials, ALPHA, Stream.insecure_from_seed("in the clear"))


def test_the_ideal_functionality_is_not_refuted_and_half_its_noise_is() -> None:
    found = in_the_clear(target(noise="laplace"), 1200)
    assert not found.refuted
    assert found.findings[0].bound > 0.4
    assert in_the_clear(target(noise="laplace"), 1200, half=True).refuted


def test_protocol_and_ideal_functionality_are_told_what_the_method_is_told() -> None:
    """The same rows, the same calibration, the same claim as `prr_mean` in the clear."""
    case, method = protocol.pathak_case(target()), methods.method_case("prr_mean", target())
    assert case.claim.epsilon == method.claim.epsilon == 1
    units = 2.0**40 * len(METHODS["prr_mean"].audit_pair("proven").worlds[0].parties)
    moved = (case.centres[1] - case.centres[0])[0] / units
    assert moved == pytest.approx(abs(method.centres[1] - method.centres[0])[1] * 2, rel=1e-6)


def test_the_protocol_as_printed_gives_away_residues() -> None:
    """K times a whole number, K = 3: every residue is the one without noise, which differs between neighbours."""
    case, rng = protocol.pathak_case(target("paper"), "k-times-integer"), Stream.insecure_from_seed("as printed")
    exact = [centre[0] % 3 for centre in case.centres]
    assert exact[0] != exact[1]
    assert [[case.draw(world, rng)[0] % 3 for _ in range(3)] for world in (0, 1)] == [[r] * 3 for r in exact]


def test_what_the_protocol_does_not_have_is_bad_input() -> None:
    with refused("noise.not_audited", got="gauss"):
        protocol.pathak_case(target(noise="gauss"))
    with refused("mutant.not_available", got="float-sampler"):
        protocol.pathak_case(target(), "float-sampler")
