"""The laws of noise: exact worst log-ratios, honest draws that refute nothing, and twins that the same tests refute."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import isclose, sqrt

import numpy as np
import pytest

from protocols.arithmetic.rng import Stream
from smc_dp.audit.epsilon import mechanisms
from smc_dp.audit.epsilon.audit import TESTS, CaseAudit, audit_mechanism
from smc_dp.audit.epsilon.case import PRIMES, Case, distance_scores, float_scores, residue_scores
from smc_dp.audit.epsilon.mechanisms import SENSITIVITY, claim_of, distribution_of, mechanism_cases
from smc_dp.audit.epsilon.mutants import FloatSampler, MultipliedNoise, MutantName
from smc_dp.audit.epsilon.power import Effort, audit_mutant
from smc_dp.core.arrays import Array
from smc_dp.data.federation import Public, Rows
from smc_dp.methods.pathak2010.mean import PathakMean
from smc_dp.methods.pathak2010.models import model_of
from smc_dp.privacy.noise import DiscreteGaussian, DiscreteLaplace, KNorm
from smc_dp.privacy.output import GRID, calibrate_noise
from smc_dp.privacy.target import NoiseName, Target
from tests.support.refusals import refused

ALPHA = 0.002  # of each test: all of a case hold with probability 0.99


def target(noise: NoiseName = "knorm", epsilon: int = 1) -> Target:
    return Target(Fraction(epsilon), noise=noise)


def rng(seed: str) -> Stream:
    return Stream.insecure_from_seed(seed)


@cache
def found(noise: NoiseName, place: int, mutant: MutantName | None, trials: int) -> CaseAudit:
    case = mechanism_cases(target(noise), mutant)[place]
    return audit_mechanism(case, trials, ALPHA, rng(f"{case.name} {trials}"))


def bound(audited: CaseAudit, test: str) -> float:
    return next(finding.bound for finding in audited.findings if finding.test == test)


@pytest.mark.parametrize("noise", mechanisms.MECHANISMS)
def test_our_noise_is_not_refuted(noise: NoiseName) -> None:
    for place in (0, 1):
        audited = found(noise, place, None, 2000 if noise == "laplace" else 600)
        assert not audited.refuted
        own = {"knorm": set(), "laplace": {"one run"}, "gauss": set(TESTS[3:])}[noise]
        assert {finding.test for finding in audited.findings} == {*TESTS[:3], *own}
    if noise == "laplace":  # bounds are not idle: of epsilon 1 one run sees most
        assert bound(found("laplace", 0, None, 2000), "clopper-pearson") > 0.6
        assert bound(found("laplace", 0, None, 2000), "one run") > 0.75


@pytest.mark.parametrize(
    ("noise", "mutant", "trials", "tests"),
    [
        ("laplace", "half-noise", 2000, {"clopper-pearson", "hockey-stick", "one run"}),
        ("knorm", "half-noise", 1200, {"clopper-pearson", "hockey-stick"}),
        ("knorm", "exponential-radius", 1200, {"clopper-pearson", "hockey-stick"}),
        ("laplace", "float-sampler", 400, {"last digits"}),
        ("knorm", "k-times-integer", 400, {"last digits"}),
    ],
)
def test_twins_are_refuted(noise: NoiseName, mutant: MutantName, trials: int, tests: set[str]) -> None:
    audited = found(noise, 0, mutant, trials)
    assert audited.refuted
    assert {finding.test for finding in audited.findings if finding.refutes} >= tests


def test_half_of_gaussian_noise_is_refuted_by_one_threshold_in_few_draws() -> None:
    audited = audit_mechanism(mechanism_cases(target("gauss"), "half-noise")[0], 8000, ALPHA, rng("half"))
    assert {finding.test for finding in audited.findings if finding.refutes} == {"gaussian dp", "f-dp curve"}


@pytest.mark.slow
def test_a_scale_that_is_wrong_by_a_root_is_refuted_and_the_true_mu_is_approached() -> None:
    """With as many draws as the command makes in its own time: above 0.8 of mu, and never above mu."""
    assert "gaussian dp" in {f.test for f in found("gauss", 0, "half-variance", 100_000).findings if f.refutes}
    for place in (0, 1):
        audited = found("gauss", place, None, 100_000)
        assert not audited.refuted
        claimed = next(f.claimed for f in audited.findings if f.figure == "mu")
        assert bound(audited, "gaussian dp") > 0.8 * claimed
        assert bound(audited, "f-dp curve") > 0.7 * claimed


EFFORT = Effort(trials=300, alpha=ALPHA, repeats=10, confidence=0.99)


def test_power_of_a_twin_is_measured() -> None:
    heard: list[int] = []
    mutant = audit_mutant(
        "about", mechanism_cases(target("laplace"), "float-sampler")[0], EFFORT, rng("repeated"), heard.append
    )
    assert (mutant.power.caught, mutant.power.repeats) == (10, 10)
    assert isclose(mutant.power.interval[0], 0.005 ** (1 / 10))
    assert mutant.power.interval[1] == 1
    assert sum(heard) == EFFORT.draws(10)


def test_a_twin_of_another_law_is_bad_input() -> None:
    with refused("mutant.not_available", known=("half-noise", "exponential-radius", "k-times-integer")):
        mechanism_cases(target(), "float-sampler")


def indicators(case: Case, world: int, draws: int) -> Array:
    outputs = case.outputs(world, draws, rng(f"holes {world}"), lambda _: None)
    return float_scores(outputs, case.centres, case.scale)


def test_every_output_of_the_float_sampler_is_reachable_from_its_own_centre_and_many_from_no_other() -> None:
    """The holes of its support: a single output in one proves which world it is from."""
    noise = [FloatSampler(1.0)(rng(f"float {i}"))[0] for i in range(40)]
    assert min(noise) < 0 < max(noise)
    case = mechanism_cases(target("laplace"), "float-sampler")[0]
    for world in (0, 1):
        reachable = indicators(case, world, 2000)
        assert reachable[world].all()
        assert 0.2 < reachable[1 - world].mean() < 0.9


def test_outputs_on_the_grid_have_no_holes() -> None:
    """What a sampler in floats could have made of ours says no more than epsilon allows, in every draw."""
    case = mechanism_cases(target("laplace"))[0]
    rates = np.array([indicators(case, world, 4000).mean(axis=1) for world in (0, 1)])
    assert rates.min() > 0.2
    assert np.abs(np.log(rates[0] / rates[1])).max() < 1


def test_residues_of_multiples_are_those_without_noise() -> None:
    outputs = np.array([12.0 + MultipliedNoise(1, Fraction(1000))(rng("multiples")) for _ in range(50)])
    rows = residue_scores(outputs)
    assert rows.shape == (sum(PRIMES), 50)
    first_of_five = 2 + 3
    assert rows[first_of_five : first_of_five + 5].mean(axis=1).tolist() == [0, 0, 1, 0, 0]
    assert (
        np.ptp(residue_scores(np.arange(30030.0)[:, np.newaxis]).mean(axis=1)[first_of_five : first_of_five + 5]) == 0
    )


def test_places_hold_the_likelihood_ratios() -> None:
    """Projection, and distances in L1 and L2, by hand."""
    outputs, centres = np.array([[3.0, 4.0]]), (np.zeros(2), np.array([3.0, 0.0]))
    assert distance_scores(outputs, centres)[:, 0].tolist() == [9, 3, 7, 4, 1, 5, 4]


def steepest(law: KNorm | DiscreteLaplace, h: Array) -> float:
    """The largest log-ratio of the densities of law and law + h over many points, some far out behind either centre."""
    generator = np.random.default_rng(0)
    order = 2 if isinstance(law, KNorm) else 1
    y = np.concatenate([generator.normal(size=(20_000, len(h))) * 3 * np.abs(h).max(), -1e3 * h[np.newaxis]])
    return float(((np.linalg.norm(y - h, order, axis=1) - np.linalg.norm(y, order, axis=1)) / float(law.scale)).max())


@pytest.mark.parametrize("h", [np.array([5.0]), np.array([3.0, -4.0]), np.ones(10)])
def test_the_worst_log_ratio_is_the_norm_over_the_scale(h: Array) -> None:
    """|h|_2/scale for K-norm noise and |h|_1/scale for Laplace noise: approached, and never exceeded."""
    for law in (KNorm(len(h), Fraction(7)), DiscreteLaplace(len(h), Fraction(7))):
        norm = float(np.linalg.norm(h, 2 if isinstance(law, KNorm) else 1))
        assert (1 - 1e-3) * norm / 7 < steepest(law, h) <= norm / 7 * (1 + 1e-9)


def test_laplace_noise_by_coordinate_at_the_printed_scale_exceeds_its_epsilon_and_is_reported() -> None:
    """One party, d = 123, a record that is dense and changes its label: 2.77 epsilon, which the statement bounds.

    The printed 2/(n epsilon lambda) is right for the L2 norm; the L1 norm is up to sqrt d times that.
    """
    n, d = 50, 123
    method, target_, public = PathakMean(10.0), Target(1, "paper", "laplace"), Public(1, d, 2)
    X = np.zeros((n, d))
    X[0] = (1 - 2.0**-40) / sqrt(d)
    y = np.arange(n) % 2
    flipped = np.where(np.arange(n) == 0, 1, y)
    models = [np.array(model_of(Rows(X, labels), method.lam)) for labels in (y, flipped)]
    law = method.distribution(target_, n, public)
    true = steepest(law, (models[1] - models[0]).astype(float))
    assert 2.7 < true < 2.78
    stated = method.statement(public, target_, "secure")
    assert stated.epsilon == pytest.approx(2.77, abs=0.02)
    assert true <= stated.epsilon
    assert any("nominal epsilon is 1" in caveat for caveat in stated.caveats)


def test_the_laws_move_by_the_sensitivity_exactly() -> None:
    for noise in mechanisms.MECHANISMS:
        law = distribution_of(target(noise), 2)
        if isinstance(law, DiscreteGaussian):
            assert isclose(float(law.mu_squared(SENSITIVITY)), float(target(noise).mu ** 2))
            assert (
                law
                == calibrate_noise(target(noise), 2, Fraction(SENSITIVITY - 2, 1 << GRID.fraction_bits)).distribution
            )
            assert claim_of(law, target(noise)).epsilon == 1
        else:
            assert law.epsilon(SENSITIVITY) == 1
