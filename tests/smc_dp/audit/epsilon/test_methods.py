"""Every method from rows to release, and the whole protocol: neighbours, bounds below what is claimed, and twins."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

import numpy as np
import pytest

from protocols.arithmetic.rng import Stream
from smc_dp.audit.epsilon import methods, protocol
from smc_dp.audit.epsilon.audit import CaseAudit, audit_mechanism
from smc_dp.methods.method import noise_names
from smc_dp.methods.registry import METHODS
from smc_dp.privacy.pathak2010 import LARGEST_N
from smc_dp.privacy.sensitivity import add_remove, largest_norm, replace_one
from smc_dp.privacy.target import Calibration, NoiseName, Target
from tests.support.refusals import refused

ALPHA = 0.002
EVERY = [
    (name, calibration, noise)
    for name, method in METHODS.items()
    for calibration in method.calibrations
    for noise in noise_names(method, calibration)
]
MU = 20  # 2 lambda of the neighbours of methods with objective (2)
MODEL = sqrt(2)  # two classes have the weights -w/2 and w/2, sqrt 2 times closer than w


def target(calibration: Calibration = "proven", noise: NoiseName = "knorm") -> Target:
    return Target(Fraction(1), calibration, noise)


def audited(name: str, wanted: Target, trials: int, *, half: bool = False) -> CaseAudit:
    case = methods.method_case(name, wanted, "half-noise" if half else None)
    return audit_mechanism(case, trials, ALPHA, Stream.insecure_from_seed(f"{case.name} {trials}"))


@pytest.mark.parametrize(("name", "calibration", "noise"), EVERY)
def test_no_method_is_refuted(name: str, calibration: Calibration, noise: NoiseName) -> None:
    found = audited(name, target(calibration, noise), 20)
    assert not found.refuted
    assert (found.claim.kind == "none") == ((name, calibration) == ("ofpa", "paper"))
    gaussian = "approx" if name == "central_obj" else "zcdp"  # the curve is not that of what is released
    assert found.claim.kind in ("none", gaussian if noise in ("gauss", "ddg") else "pure")


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if not method.calibrations])
def test_what_adds_no_noise_claims_nothing_and_is_told_apart(name: str) -> None:
    found = audited(name, Target(None), 100)
    assert found.claim.kind == "none"
    assert not found.refuted
    assert [(f.test, f.inside) for f in found.findings] == [("clopper-pearson", (50, 0))]
    assert found.findings[0].bound > 1.5


def test_printed_ofpa_is_told_apart_by_the_equation_of_its_bias() -> None:
    """It claims nothing; one world makes the sum of the residuals zero in nearly every draw, the other never."""
    found = audited("ofpa", target("paper", "laplace"), 100)
    assert found.findings[0].inside[0] > 30
    assert found.findings[0].inside[1] == 0


@pytest.mark.parametrize(
    ("name", "sensitivity", "attained"),
    [
        ("prr_mean", float(replace_one(4, MU, 0)) / 2 / MODEL, 0.97),
        ("central", float(replace_one(4, MU, 0)) / MODEL, 0.97),
        ("local", float(replace_one(4, MU, 0)) / MODEL, 0.97),
        ("wsum", float(replace_one(1, MU, 0)) / 12 / MODEL, 0.97),
        ("wsum_ar", float(add_remove(MU, 0)) / LARGEST_N / MODEL, 0.69),
        ("param_laplace", float(replace_one(4, MU, 0)) / sqrt(2), 0.97),
        ("vote", 2 * largest_norm(10) / MODEL, 0.99),
        ("soft", 2 * largest_norm(10) / MODEL, 0.99),
        ("soft_aux", 2 * largest_norm(10) / MODEL, 0.99),
        ("avg", 2 * largest_norm(10) / MODEL, 0.99),
        ("avg_clip", 2 * 0.5 / MODEL, 0.99),
        ("release_all", 2 * largest_norm(10), 0.99),
    ],
)
def test_neighbours_move_the_release_by_nearly_its_sensitivity(name: str, sensitivity: float, attained: float) -> None:
    first, second = methods.method_case(name, target(noise=METHODS[name].noises[0])).centres
    moved = float(np.linalg.norm(second - first))
    assert attained * sensitivity < moved <= sensitivity * (1 + 1e-6)


@pytest.mark.parametrize("name", METHODS)
def test_neighbours_are_neighbours(name: str) -> None:
    """They differ in one party: in one row, which is another or, if that is what is claimed, one more."""
    wanted = target(noise=METHODS[name].noises[0]) if METHODS[name].calibrations else Target(None)
    found, adjacency = METHODS[name].audit_pair(wanted.calibration), methods.method_case(name, wanted).claim.adjacency
    first, second = (federation.parties for federation in found.worlds)
    assert len(first) == len(second)
    changed = [(a, b) for a, b in zip(first, second, strict=True) if not _same(a.X, b.X) or not _same(a.y, b.y)]
    assert len(changed) == 1
    a, b = changed[0]
    if adjacency == "addremove":
        assert len(b) == len(a) + 1
        assert _same(b.X[1:], a.X)
        assert _same(b.y[1:], a.y)
    else:
        assert len(a) == len(b)
        assert np.count_nonzero((a.X != b.X).any(axis=1) | (a.y != b.y)) == 1


def _same(a: np.ndarray, b: np.ndarray) -> bool:
    return a.shape == b.shape and bool((a == b).all())


def test_half_the_noise_of_many_parties_is_refuted_in_one_run() -> None:
    for half in (False, True):
        case = methods.method_case("release_all", target(noise="laplace"), "half-noise" if half else None)
        guesses = case.canaries(500, Stream.insecure_from_seed("one run"))
        assert (guesses.epsilon_at_least(ALPHA) > 1) == half
        assert guesses.epsilon_at_least(ALPHA) > 0.6


def test_one_run_is_there_where_each_party_has_noise_of_its_own() -> None:
    having = {name for name, c, noise in EVERY if methods.method_case(name, target(c, noise)).canaries is not None}
    assert having == {"feat_agg", "avg_agg", "ofpa", "param_laplace", "release_all"}


@pytest.mark.parametrize("name", ["feat_agg", "avg_agg", "ofpa", "param_laplace", "release_all"])
def test_the_release_with_many_canaries_claims_what_is_audited(name: str) -> None:
    """So that each canary is one record, or one party, under the claim that the number of right guesses refutes."""
    wanted, found = target(noise=METHODS[name].noises[0]), METHODS[name].audit_pair("proven")
    released = found.method.train(found.parties([0, 1, 1, 0, 1])).release(wanted, Stream.from_system()).privacy
    claim = methods.method_case(name, wanted).claim
    assert (released.epsilon, released.unit, released.adjacency) == (claim.epsilon, claim.unit, claim.adjacency)
    two, other = found.parties([0, 1]).parties, found.parties([0, 0]).parties
    changed = [j for j in (0, 1) if not _same(two[j].y, other[j].y)]
    assert changed == [1]
    assert np.count_nonzero(two[1].y != other[1].y) == 1


def test_what_a_method_or_the_protocol_does_not_have_is_bad_input() -> None:
    with refused("mutant.not_available", audited="vote", known=("half-noise",), got="float-sampler"):
        methods.method_case("vote", target(), "float-sampler")
    with refused("noise.not_of_calibration", method="ofpa", got="gauss"):
        methods.method_case("ofpa", target(noise="gauss"))
    with refused("noise.not_audited", got="gauss"):
        protocol.pathak_case(target(noise="gauss"))
    with refused("mutant.not_available", got="float-sampler"):
        protocol.pathak_case(target(), "float-sampler")


# The whole protocol. Its ideal functionality, which has the same law, stands in where many runs are needed.


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
