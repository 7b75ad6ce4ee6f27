"""The checks of privacy against the formulas written out once more, and against releases and views that lie."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, gamma, kstest
from support.audited import Folders, long_term, toy_run
from support.audits import outcome, outcomes
from support.repetitions import with_slow

from protocols.arithmetic.rng import Stream
from protocols.pathak2010.ideal import SHORT_EXPONENTS_ASSUMPTION
from protocols.pathak2010.values import PartyInput
from protocols.runtime.view import RecordedView
from smc_dp.audit.run import derived_parameters as noise_statement
from smc_dp.audit.run import privacy
from smc_dp.audit.run.evidence import Evidence
from smc_dp.audit.run.privacy import direction, private_inputs
from smc_dp.data.federation import Public
from smc_dp.methods.pathak2010.mean import PathakMean
from smc_dp.methods.pathak2010.models import binary_weights
from smc_dp.methods.sums.weighted_sum import WeightedSum
from smc_dp.privacy.grid import Grid
from smc_dp.privacy.noise import DiscreteGaussian, DiscreteLaplace, KNorm
from smc_dp.privacy.output import GRID, Calibrated, NoiseDistribution, calibrate_noise
from smc_dp.privacy.output import noise_statement as from_noise
from smc_dp.privacy.sensitivity import logistic_constants
from smc_dp.privacy.target import Target
from smc_dp.run.agreement import add_assumptions
from smc_dp.run.release_consistency import statement_fault

CHECKS = {check.name: check for check in privacy.CHECKS}
REPEATS = 60
OWN = long_term(("north-0", "north-1", "north-2"))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    return toy_run(tmp_path_factory.mktemp("made"), (30, 20, 45), 12, identities=OWN)


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    return toy_run(tmp_path_factory.mktemp("printed"), (30, 20), 2, as_printed=True)


def release_with(evidence: Evidence, *path: Any, to: Any) -> Evidence:
    """The evidence with one value of its release changed; `to` None takes the value away."""
    return replace(evidence, release=_with(evidence.release, *path, to=to))


def _with(document: Any, *path: Any, to: Any) -> Any:
    changed = json.loads(json.dumps(document))
    place = changed
    for key in path[:-1]:
        place = place[key]
    if to is None:
        del place[path[-1]]
    else:
        place[path[-1]] = to
    return changed


def noisy(
    evidence: Evidence, noise: Callable[[PartyInput, noise_statement.DerivedParameters, Stream], tuple[int, ...]]
) -> Evidence:
    """The evidence with other noise in the views of all parties."""
    found, views = noise_statement.derive_parameters(evidence), dict(evidence.views)
    for name, view in views.items():
        if len(view.inputs) == 2:
            p, mine = view.inputs
            eta = tuple(x % (1 << 64) for x in noise(mine, found, Stream.insecure_from_seed(f"{name} other noise")))
            views[name] = replace(view, inputs=(p, replace(mine, eta=eta)))
    return replace(evidence, views=views)


# What the formulas of the paper and of the calibration give, written once more.


def sensitivity(n: int, d: int, lam: float, noise: str, f: int) -> int:
    """ceil(2**f D) + ceil(sqrt d) for the K-norm, ceil(2**f sqrt(d) D) + d for Laplace noise, D = (G/n + 2 tau)/mu."""
    mu, tau = 2 * Fraction(lam), Fraction(1, 2**33)
    units = (Fraction(logistic_constants(mu).G) / n + 2 * tau) / mu * 2**f
    root = next(k for k in range(d + 1) if k * k >= d)
    if noise == "knorm":
        return math.ceil(units) + root
    low = math.isqrt(int(d * units * units))
    while low * low < d * units * units:
        low += 1
    return low + d


@pytest.mark.parametrize("noise", ["knorm", "laplace"])
@pytest.mark.parametrize("calibration", ["proven", "paper"])
@pytest.mark.parametrize(("epsilon", "lam", "d", "K"), [("1", "1/10", 12, 3), ("1/3", "1/1000", 124, 50)])
def test_sensitivity_and_scale_are_those_of_the_formulas(noise, calibration, epsilon, lam, d, K):
    target = Target(Fraction(epsilon), calibration, noise)
    found = noise_statement.DerivedParameters(PathakMean(float(Fraction(lam))), target, Public(K, d, 2), GRID, None)
    for n in (1, 2, 17, 10**7):
        D = sensitivity(n, d, float(Fraction(lam)), noise, 40)
        assert found.sensitivity(n) == D
        by_paper = Fraction(2**40 * K * 2) / (n * Fraction(epsilon) * Fraction(float(Fraction(lam))))
        assert found.noise(n).scale == (D / Fraction(epsilon) if calibration == "proven" else by_paper)


# Honest runs.


def test_an_honest_run_passes(made):
    found = outcomes(made.evidence(), privacy.CHECKS)
    assert {name: outcome.status for name, outcome in found.items()} == dict.fromkeys(CHECKS, "passed")
    D = sensitivity(1, 12, 0.1, "knorm", 40)
    assert f"D(1) = {D}, scale(1) = {D}." in str(found["mechanism"].fault.fields["mechanism"])
    assert found["statement"].fault.fields == {  # a seeded run
        "kind": "none",
        "called": "no guarantee",
        "figure": "no epsilon",
    }
    assert found["insecure-markers"].fault.fields == {"marks": "insecure seed, insecure test keys"}
    # Without views noise and models cannot be looked at.
    found = outcomes(made.evidence(views=False), privacy.CHECKS)
    assert [name for name, outcome in found.items() if outcome.status != "passed"] == ["noise", "models"]
    assert found["noise"].status == "not possible"


def test_the_printed_protocol_has_a_mechanism_but_no_epsilon(printed):
    found = outcomes(printed.evidence(), privacy.CHECKS)
    assert {outcome.status for outcome in found.values()} == {"passed"}
    assert found["mechanism"].code == "mechanism.as_printed"
    assert found["statement"].fault.fields["kind"] == "none"


@pytest.mark.parametrize(("calibration", "noise"), [("proven", "laplace"), ("paper", "knorm")])
def test_every_calibration_and_noise_passes(tmp_path, calibration, noise):
    target = Target(Fraction(1, 2), calibration, noise)
    evidence = toy_run(tmp_path, (9, 5), 7, target=target, lam=0.2).evidence()
    assert {outcome.status for outcome in outcomes(evidence, privacy.CHECKS).values()} == {"passed"}


def test_no_secret_stands_in_what_the_checks_say(made):
    evidence = made.evidence()
    text = " ".join(outcome.detail for outcome in outcomes(evidence, privacy.CHECKS).values())
    for view in evidence.views.values():
        if len(view.inputs) == 2:
            secrets = (*view.inputs[1].w, *view.inputs[1].eta, *(2**64 - x for x in view.inputs[1].eta))
            assert not any(str(secret) in text for secret in secrets)


# Releases and records that lie, each caught by the check that should.

RELEASE_LIES: dict[str, tuple[str, tuple[Any, ...], Any]] = {
    "epsilon in other words": ("mechanism", ("parameters", "epsilon"), "2/2"),
    "another method": ("mechanism", ("parameters", "method"), "hamm2016"),
    "unknown noise": ("mechanism", ("parameters", "noise"), "gauss"),
    "another kind": ("statement", ("privacy", "kind"), "pure"),
    "an epsilon where none follows": ("statement", ("privacy", "epsilon"), 1.0),
    "another unit": ("statement", ("privacy", "unit"), "party"),
    "another adjacency": ("statement", ("privacy", "adjacency"), "addremove"),
    "a weaker adversary": ("statement", ("privacy", "adversary"), "nobody at all"),
    "a caveat left out": ("statement", ("privacy", "caveats", 0), None),
    "a delta": ("statement", ("privacy", "delta"), 1e-6),
    "a field missing": ("statement", ("privacy", "delta"), None),
    "a field too many": ("statement", ("privacy", "rho"), 0.5),
    "a mu where none follows": ("statement", ("privacy", "mu"), 0.5),
    "reasons left out": ("insecure-markers", ("insecure",), None),
    "one reason left out": ("insecure-markers", ("insecure", 0), None),
    "other reasons": ("insecure-markers", ("insecure", 0), "no reason at all"),
}


@pytest.mark.parametrize("name", RELEASE_LIES)
def test_lies_in_the_release_are_caught(made, name):
    check, path, to = RELEASE_LIES[name]
    outcome = CHECKS[check].run(release_with(made.evidence(views=False), *path, to=to))
    assert outcome.status == "failed", outcome
    assert len(outcome.detail) < 1000


def unmarked(evidence: Evidence) -> Evidence:
    """The evidence as if coins and keys were good, and the release said so: what a real run looks like."""
    noise_statement = PathakMean(0.1).statement(Public(3, 12, 2), Target(1), "secure")
    proper = replace(evidence.session.parameters, key_bits=2048)
    follows = add_assumptions(noise_statement, evidence.protocol.program.name, proper).as_dict()
    release = json.loads(json.dumps({**evidence.release, "privacy": follows}))
    del release["insecure"]
    session = replace(evidence.session, parameters=proper)
    views = {name: replace(view, insecure=False) for name, view in evidence.views.items()}
    return replace(evidence, release=release, head={**evidence.head, "insecure": []}, session=session, views=views)


def test_the_epsilon_of_a_proper_run_must_be_the_one_that_follows(made):
    evidence = unmarked(made.evidence())
    assert {outcome.status for outcome in outcomes(evidence, privacy.CHECKS).values()} == {"passed"}
    less = release_with(evidence, "privacy", "epsilon", to=0.5)
    found = CHECKS["mechanism"].run(less)
    assert (found.status, found.code) == ("failed", "noise.epsilon_too_large")
    assert [found.fault.fields[name] for name in ("n", "epsilon", "claimed")] == [1, "1", 0.5]
    found = CHECKS["statement"].run(less)
    assert (found.status, found.code) == ("failed", "privacy.other_epsilon")
    assert (found.fault.fields["got"], found.fault.fields["wanted"]) == ("0.5", 1)
    more = release_with(evidence, "privacy", "epsilon", to=2.0)
    assert CHECKS["statement"].run(more).status == "failed"
    assert CHECKS["mechanism"].run(more).status == "passed"  # more noise than claimed is no breach


def test_the_statistical_distance_is_that_of_the_records_own_parameters(made):
    evidence = unmarked(made.evidence())
    noise_statement = evidence.release["privacy"]["caveats"][-1]
    assert "It assumes that (1) Paillier (DCR)" in noise_statement
    assert noise_statement.endswith("by a statistical distance of at most 2^-42.4.")  # K = 3: 3 pairs, 44 tie bits
    for flattering in (
        noise_statement.replace("2^-42.4", "2^-64.0"),
        noise_statement.replace("Paillier (DCR), ", ""),
        noise_statement.replace(f"; (3) {SHORT_EXPONENTS_ASSUMPTION}", ""),
    ):
        assert (
            CHECKS["statement"].run(release_with(evidence, "privacy", "caveats", -1, to=flattering)).status == "failed"
        )


def test_the_epsilon_of_the_papers_calibration_is_not_its_nominal_one(tmp_path):
    run = toy_run(tmp_path, (9, 5, 7), 12, target=Target(1, "paper"))
    evidence = unmarked(run.evidence(views=False))
    assert CHECKS["statement"].run(evidence).status == "failed"  # it claims what the proven noise gives


@pytest.mark.parametrize("marks", [[], ["insecure seed"], ["insecure test keys", "insecure seed"], 5, ["other"], [[1]]])
def test_marks_of_the_record_must_be_those_that_apply(made, marks):
    evidence = made.evidence()
    found = outcome("session", replace(evidence, head={**evidence.head, "insecure": marks}))
    assert (found.code, found.line) == ("insecure_markers.not_due", 0)


def test_a_view_with_coins_from_a_seed_gives_an_unmarked_run_away(made):
    evidence = unmarked(made.evidence())
    views = {name: replace(view, insecure=name == "north-1") for name, view in evidence.views.items()}
    outcome = CHECKS["insecure-markers"].run(replace(evidence, views=views))
    assert (outcome.status, outcome.party) == ("failed", None), "line 0 is nobody's word"
    assert (outcome.code, outcome.fault.fields["role"]) == ("insecure_markers.coins", "'north-1'")


# Noise in views.


def drawn(mine: PartyInput, found: noise_statement.DerivedParameters, rng: Stream) -> tuple[int, ...]:
    return tuple(found.noise(mine.n).sample(rng))


NOISE_LIES: dict[str, Callable[[PartyInput, noise_statement.DerivedParameters, Stream], tuple[int, ...]]] = {
    "none": lambda mine, found, rng: (0,) * found.public.dimension,
    "a quarter": lambda mine, found, rng: tuple(x // 4 for x in drawn(mine, found, rng)),
    "four times": lambda mine, found, rng: tuple(4 * x for x in drawn(mine, found, rng)),
    "of one record": lambda mine, found, rng: drawn(replace(mine, n=1), found, rng),
    "of many records": lambda mine, found, rng: drawn(replace(mine, n=1000), found, rng),
    "half, in all three views": lambda mine, found, rng: tuple(x // 2 for x in drawn(mine, found, rng)),
    "one number too few": lambda mine, found, rng: drawn(mine, found, rng)[1:],
    "a text": lambda mine, found, rng: (),
    "along one axis": lambda mine, found, rng: along([1, *[0] * (found.public.dimension - 1)], mine, found, rng),
    "along the model": lambda mine, found, rng: along([GRID.lift(x << 64) for x in mine.w], mine, found, rng),
    "all signs equal": lambda mine, found, rng: tuple(map(abs, drawn(mine, found, rng))),
    "one size": lambda mine, found, rng: along([(-1) ** rng.bits(1) for _ in mine.w], mine, found, rng),
    "one direction for all": lambda mine, found, rng: along(same(found), mine, found, rng),
    "the same for all": lambda mine, found, rng: same(found),
}
LONG_AS_EVER = list(NOISE_LIES)[8:]


def along(
    direction: Sequence[int], mine: PartyInput, found: noise_statement.DerivedParameters, rng: Stream
) -> tuple[int, ...]:
    """A draw turned into this direction, as long as it is."""
    wanted, length = np.array(direction, dtype=float), math.hypot(*drawn(mine, found, rng))
    return tuple(round(x) for x in (wanted / np.linalg.norm(wanted) * length).tolist())


def same(found: noise_statement.DerivedParameters) -> tuple[int, ...]:
    """A draw for 30 records, the same whoever asks."""
    return tuple(found.noise(30).sample(Stream.insecure_from_seed("common")))


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    return toy_run(tmp_path_factory.mktemp("long"), (30, 20, 45), 40)


@pytest.mark.parametrize("name", NOISE_LIES)
def test_other_noise_is_caught(long, name):
    evidence = long.evidence()
    assert CHECKS["noise"].run(noisy(evidence, drawn)).status == "passed"
    outcome = CHECKS["noise"].run(noisy(evidence, NOISE_LIES[name]))
    assert outcome.status == "failed", outcome
    if name in LONG_AS_EVER:
        assert outcome.code in ("noise.direction", "noise.direction_together")


LAWS: tuple[Callable[[int], NoiseDistribution], ...] = (
    lambda d: KNorm(d, Fraction(1 << 30)),
    lambda d: DiscreteLaplace(d, Fraction(1 << 30)),
    lambda d: DiscreteGaussian(d, Fraction(1 << 60)),
)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("parties", "d"), with_slow([(2, 2), (3, 12), (12, 1), (4, 19)], (12, 1), (4, 19)))
def test_honest_noise_points_nowhere_more_often_than_the_level_says(law, parties, d):
    """100 honest runs at 5 %: at most what a rate of 5 % gives with chance 1e-6; and no scores but normal ones."""
    rng, generator = Stream.insecure_from_seed(f"{law(d)} {parties}"), np.random.default_rng(d)
    alone, together, scores = 0, 0, []
    for _ in range(100):
        made = np.array([direction.normal_scores(law(d).sample(rng), law(d)) for _ in range(parties)])
        models = generator.normal(size=made.shape)
        alone += direction.direction_chance(made[0], models[0]) < 0.05
        together += direction.common_direction_chance(made, models) < 0.05
        scores.append(made)
    assert max(alone, together) <= binom.isf(1e-6, 100, 0.05)
    assert kstest(np.ravel(scores), "norm").pvalue > 1e-6


TWINS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "one axis": lambda x, w: np.linalg.norm(x, axis=1, keepdims=True) * np.eye(x.shape[1])[7],
    "the model, both ways": lambda x, w: w * np.array([[1], [-1], [1]]),
    "signs equal in each": lambda x, w: np.abs(x) * np.array([[1], [-1], [1]]),
    "repeated": lambda x, w: x[:1] * np.array([[1.0], [2.0], [0.5]]),
    "opposite": lambda x, w: x[:1] * np.array([[1.0], [-2.0], [0.5]]),
    "halves repeated": lambda x, w: np.concatenate([x[:, :20], x[:, :20]], axis=1),
    "half along the model": lambda x, w: x + w / np.linalg.norm(w, axis=1, keepdims=True) * 6,
    "a twentieth noise, the rest common": lambda x, w: x / 20 + x[0],
}


@pytest.mark.parametrize("name", TWINS)
@pytest.mark.parametrize("law", LAWS)
def test_noise_that_points_somewhere_is_noticed_whichever_its_law(law, name):
    rng, generator = Stream.insecure_from_seed(f"twins {law(40)}"), np.random.default_rng(0)
    x = np.array([direction.normal_scores(law(40).sample(rng), law(40)) for _ in range(3)])
    w = generator.normal(size=x.shape)
    assert direction.common_direction_chance(x, w) > 1e-3
    turned = TWINS[name](x, w)
    alone = min(direction.direction_chance(*pair) for pair in zip(turned, w, strict=True))
    assert min(alone, direction.common_direction_chance(turned, w)) < private_inputs.NOISE_FALSE_ALARM


def test_noise_of_a_few_units_has_no_direction_to_look_at():
    """All parties' noise is rounded to the same few integers there, which is nobody's fault."""
    drawn = [private_inputs._Drawn((1,) * 12, KNorm(12, Fraction(1)), np.ones(12))] * 3
    assert not private_inputs._all_point(drawn)
    assert "too short" in private_inputs._said_of_directions(drawn)
    fine = [replace(mine, eta=(1 << 40,) * 12, distribution=KNorm(12, Fraction(1 << 40))) for mine in drawn]
    assert private_inputs._all_point(fine)


def assert_named_where_it_signed(evidence: Evidence, lying: RecordedView, check: str) -> None:
    """The check fails on this view, and names its owner for a view that it signed, and for no other."""
    role = lying.role
    for view, named in ((lying.signed(evidence.session, OWN[role]), True), (lying, False)):
        outcome = CHECKS[check].run(replace(evidence, views={**evidence.views, role: view}))
        assert (outcome.status, outcome.party) == ("failed", role if named else None)
        assert (outcome.why_nobody is None) == named


@pytest.mark.parametrize(
    "inputs",
    [(), ("p",), ("p", 3), ("p", PartyInput(0, (1,) * 12, (1,) * 12)), ("p", PartyInput(5, (), (1 << 90,) * 12))],
)
def test_views_without_noise_are_told_apart(made, inputs):
    evidence = made.evidence()
    lying = replace(evidence.views["north-0"], inputs=inputs)
    assert_named_where_it_signed(evidence, lying, "noise")


# Models in views.

MODEL_LIES: dict[str, Callable[[PartyInput], tuple[Any, ...]]] = {
    "its own noise taken off": lambda mine: tuple((w - x) % (1 << 64) for w, x in zip(mine.w, mine.eta, strict=True)),
    "far too long": lambda mine: (1 << 50, *mine.w[1:]),
    "far too long the other way": lambda mine: (*mine.w[:-1], (1 << 64) - (1 << 50)),
    "one number too few": lambda mine: mine.w[1:],
    "a text": lambda mine: ("1", *mine.w[1:]),
}


@pytest.mark.parametrize("name", MODEL_LIES)
def test_a_model_that_no_training_gives_is_caught(made, name):
    evidence = made.evidence()
    assert CHECKS["models"].run(evidence).status == "passed"
    p, mine = evidence.views["north-1"].inputs
    lying = replace(evidence.views["north-1"], inputs=(p, replace(mine, w=MODEL_LIES[name](mine))))
    assert_named_where_it_signed(evidence, lying, "models")
    assert CHECKS["models"].run(replace(evidence, views={})).status == "not possible"


def test_the_longest_model_allowed_is_just_above_the_longest_trained(made):
    """One row as long as may be, and all rows alike: no data set gives a longer model at this lambda."""
    X = np.zeros((4, 12))
    X[:, 0] = 1.0
    evidence = made.evidence()
    lam = noise_statement.derive_parameters(evidence).method.lam
    trained = binary_weights(X, np.ones(4, dtype=np.int64), lam)
    p, mine = evidence.views["north-1"].inputs

    def outcome(factor: float) -> str:
        w = tuple(round(factor * x * 2**40) % (1 << 64) for x in trained.tolist())
        lying = replace(evidence.views["north-1"], inputs=(p, replace(mine, w=w)))
        return CHECKS["models"].run(replace(evidence, views={"north-1": lying})).status

    assert (outcome(1.0), outcome(1.02)) == ("passed", "failed")


@pytest.mark.parametrize("law", ["knorm", "laplace"])
def test_the_stated_power_is_the_measured_one(law):
    # Three parties of 48 weights with half the noise: the check says how often it notices, and so it is (p < 1e-6).
    found = noise_statement.DerivedParameters(
        PathakMean(0.1), Target(1, noise=law), Public(3, 48, 2), Grid(40, 64), None
    )
    rng = Stream.insecure_from_seed(f"power {law}")

    def caught(factor: Fraction) -> int:
        hits = 0
        for _ in range(REPEATS):
            lengths = []
            for n in (30, 20, 45):
                eta = tuple(int(x * factor) % (1 << 64) for x in found.noise(n).sample(rng))
                mine = private_inputs._drawn((None, PartyInput(n, (), eta)), found)
                lengths.append(private_inputs._length(mine))
            total = [sum(part) for part in zip(*lengths, strict=True)]
            hits += not private_inputs._plausible(*total, 144)
        return hits

    low, high = private_inputs._limits(144)
    power = gamma.cdf(2 * low, 144) + gamma.sf(2 * high, 144)
    assert 0.05 < power < 1
    hits = caught(Fraction(1, 2))
    assert binom.cdf(hits, REPEATS, power) > 1e-6
    assert binom.sf(hits - 1, REPEATS, power) > 1e-6
    assert caught(Fraction(1)) == 0


# Gaussian noise: no protocol draws it yet, so the comparison is tried on what a sum with such noise states.

GAUSS = Target(Fraction(1, 2), noise="gauss")
FOLLOWS = WeightedSum(0.1).statement(Public(3, 12, 2), GAUSS).as_dict()


def below(value: float) -> float:
    return math.nextafter(value, 0.0)


def of_variance(factor: float) -> dict[str, Any]:
    """What noise of so many times the variance would state."""
    made = calibrate_noise(GAUSS, 12, WeightedSum(0.1).sensitivity)
    law = DiscreteGaussian(12, Fraction(round(made.distribution.variance * Fraction(factor))))
    said = from_noise(Calibrated(law, made.sensitivity), GAUSS, "record", "replace", FOLLOWS["adversary"])
    return said.as_dict() | {"caveats": FOLLOWS["caveats"]}


GAUSS_LIES: dict[str, dict[str, Any]] = {
    "mu rounded down": {"mu": below(FOLLOWS["mu"])},
    "mu too large by one": {"mu": math.nextafter(FOLLOWS["mu"], 1.0)},
    "rho rounded down": {"rho": below(FOLLOWS["rho"])},
    "epsilon rounded down": {"epsilon": below(FOLLOWS["epsilon"])},
    "delta rounded down": {"delta": below(FOLLOWS["delta"])},
    "mu left out": {"mu": None},
    "mu as text": {"mu": str(FOLLOWS["mu"])},
    "mu of the calibration by zCDP": {"mu": math.sqrt(2 * FOLLOWS["rho"]) * 0.76},
    "half the noise": of_variance(0.25),
    "a little less noise": of_variance(1 - 1e-9),
}


def test_a_gaussian_statement_must_be_the_one_that_follows():
    assert statement_fault(FOLLOWS, FOLLOWS) is None
    assert of_variance(1) == FOLLOWS


@pytest.mark.parametrize("name", GAUSS_LIES)
def test_lies_about_gaussian_noise_are_caught(name):
    assert statement_fault({**FOLLOWS, **GAUSS_LIES[name]}, FOLLOWS)
