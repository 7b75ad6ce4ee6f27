"""Methods by one secure sum: what parties enter, how far one moves it, what is said.

That a protocol computes the ideal sum of those who took part is in `tests/smc_dp/run/protocols/test_secure.py`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest

from protocols.arithmetic.rng import Stream
from smc_dp.core.arrays import Array, into_ball
from smc_dp.data.federation import Federation, Public, Rows
from smc_dp.methods.collaborative.ofaa import Ofaa
from smc_dp.methods.collaborative.ofpa import Ofpa
from smc_dp.methods.collaborative.rounds import BiasedModel
from smc_dp.methods.functionality import Addend, ideal
from smc_dp.methods.hamm2016.ensemble import Ensemble, train_ensemble
from smc_dp.methods.hamm2016.votes import PUBLIC_ROWS_CAVEAT, Average
from smc_dp.methods.hamm2016.weights import sum_on_grid
from smc_dp.methods.method import SumSpec
from smc_dp.methods.model import LinearModel
from smc_dp.methods.pathak2010.models import SIZES_CAVEAT
from smc_dp.methods.sums.clipped_average import ClippedAverage
from smc_dp.methods.sums.noisy_sum import NoisySum
from smc_dp.methods.sums.soft_statistic import SoftStatistic
from smc_dp.methods.sums.threat_model import AnnouncedRows, RowCounts, ThreatModel
from smc_dp.methods.sums.weighted_sum import WeightedSum, WeightedSumAddRemove
from smc_dp.methods.training.classes import coordinate_count
from smc_dp.privacy.output import GRID
from smc_dp.privacy.pathak2010 import LARGEST_N
from smc_dp.privacy.target import NoiseName, Target
from tests.support.refusals import refused

MOST = 1000
THREE, FIVE = ThreatModel(3, 1, 0), ThreatModel(5, 1, 1)
PARTY, RECORD = (SoftStatistic(lam=0.1, lam_global=0.1), ClippedAverage(0.1, 2.0)), (Ofaa(), Ofpa(lam=0.1))
BY_SIZE = (WeightedSum(0.1), WeightedSumAddRemove(0.1))
METHODS = (*PARTY, *RECORD, *BY_SIZE)


def rows(n: int, seed: int, classes: int = 2, d: int = 3) -> Rows:
    rng = np.random.default_rng(seed)
    X = into_ball(rng.normal(size=(n, d)), 2.0)
    return Rows(X, (X @ np.random.default_rng(0).normal(size=(d, classes))).argmax(axis=1))


def public(parties: int, classes: int = 2, d: int = 3) -> Public:
    return Public(parties, d, classes, unlabelled=rows(25, 99, d=d).X)


def spec(
    method: Any,
    threat_model: ThreatModel = THREE,
    noise: NoiseName | None = None,
    epsilon: float | None = 1.0,
    classes: int = 2,
) -> Any:
    target = Target(epsilon, noise=noise or method.secure_noises[0])  # type: ignore[arg-type]
    return method.shared(public(threat_model.parties, classes), target, threat_model, AnnouncedRows(MOST, method.sizes))


def parts_of(made: Any, sizes: Sequence[int], rng: Stream, classes: int = 2) -> list[Addend]:
    return [made.part(rows(n, seed, classes), rng.fork(str(seed))) for seed, n in enumerate(sizes)]


def distance(a: Sequence[int], b: Sequence[int]) -> float:
    return math.sqrt(sum((x - y) ** 2 for x, y in zip(a, b, strict=True)))


# Without noise


def clear_model(method: Any, target: Target, sizes: Sequence[int], classes: int) -> Array:
    federation = Federation(tuple(rows(n, seed, classes) for seed, n in enumerate(sizes)), classes, rows(25, 99).X)
    return weights(method.train(federation).release(target, Stream.from_system()).model)


def weights(model: Any) -> Array:
    found: Array = model.theta if isinstance(model, BiasedModel) else model.W
    return found


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_without_noise_it_is_the_model_of_the_method_in_the_clear(method: Any) -> None:
    """And whoever vanishes is not counted. `wsum_ar` divides by a public constant."""
    for classes in (2,) if method in RECORD else (2, 4):
        made, rng = spec(method, FIVE, epsilon=None, classes=classes), Stream.insecure_from_seed(1)
        assert isinstance(made, SumSpec)
        parts = parts_of(made, (30, 20, 44, 7), rng, classes)  # one of five has vanished
        assert not any(any(part.noise) for part in parts)
        assert made.statement.kind == "none"
        found = weights(made.model(ideal(made.functionality, parts)))
        clear = clear_model(method, Target(None), (30, 20, 44, 7), classes)
        clear *= LARGEST_N / (5 * MOST) if method.name == "wsum_ar" else 1
        rounded = 2.0**-23 * np.abs(clear).max() if method.name == "soft_ss" else 1e-9  # to 24 bits
        assert np.abs(found - clear).max() < rounded
        # twins: the divisor of all five, a party too few
        other = parts_of(made, (30, 20, 44), rng, classes)
        assert np.abs(weights(made.model(ideal(made.functionality, other))) - clear).max() > 1e-4
        if method.name not in ("ofaa", "wsum_ar"):  # the sum over more has the same minimiser, or is over a constant
            value = ideal(made.functionality, parts)
            assert np.abs(weights(made.model((*value[:-1], value[-1] + 1))) - clear).max() > 1e-5


@pytest.mark.parametrize("method", METHODS[:3], ids=lambda method: method.name)
def test_on_a_finer_grid_stand_the_same_numbers(method: Any) -> None:
    """Many honest parties need one for `vg`. What is a multiple of a power of two stays so, and is charged as it is."""
    coarse, fine = spec(method, FIVE, "ddg"), spec(method, ThreatModel(40, 0, 0), "vg")
    finer = fine.grid.fraction_bits - coarse.grid.fraction_bits
    assert finer > 0
    d, (one, other) = coarse.reach.dimension, (made.numbers(rows(9, 3)) for made in (coarse, fine))
    exact = coarse.reach.bits is not None
    assert one[-1] == other[-1] == 1
    scaled = [x << finer for x in one[:d]]
    assert (list(other[:d]) == scaled) is exact
    assert max(abs(x - y) for x, y in zip(other[:d], scaled, strict=True)) <= 1 << finer
    if method.name == "ofaa":
        assert coarse.reach.sensitivity == 1
    for made in (coarse, fine):
        charged = made.reach.sensitivity * 2**made.grid.fraction_bits
        assert made.noise.sensitivity == math.ceil(charged) + (0 if exact else math.ceil(math.sqrt(d)))


# How far one party, or one record, moves the sum


def moves(made: Any, pairs: Sequence[tuple[Sequence[int], Sequence[int]]]) -> float:
    """The furthest that one of these moves the sum, in parts of what is charged; nothing is longer than it may be."""
    d, charged = made.reach.dimension, made.noise.sensitivity
    rounded = 0 if made.reach.bits is not None else math.sqrt(d) / 2
    longest = float(made.reach.longest) * 2**made.grid.fraction_bits + rounded
    assert all(distance(one[:d], [0] * d) <= longest for pair in pairs for one in pair)
    assert all(tuple(one[d:]) == tuple(other[d:]) for one, other in pairs)  # neighbours share what has no noise
    return max(distance(one, other) for one, other in pairs) / charged


def test_no_votes_move_the_statistic_further_than_is_charged() -> None:
    made, rng, pairs = spec(PARTY[0], classes=3), np.random.default_rng(3), []
    G = made.whitened[1]
    for direction in (*np.linalg.svd(G)[2], *rng.normal(size=(9, G.shape[1]))):
        along = (G @ direction > 0).astype(np.int64)
        for other in (1 - along, rng.integers(3, size=len(G))):
            pairs.append((made.numbers_of(along), made.numbers_of(other)))
    assert 0.5 < moves(made, pairs) <= 1


def test_no_model_of_any_learner_moves_the_sum_of_clipped_ones_further_than_is_charged() -> None:
    made, rng = spec(PARTY[1], classes=3), np.random.default_rng(1)
    lengths = (1e-3, 0.5, 2.0, 1e9, np.nan)
    pairs = []
    for _ in range(60):
        V = rng.normal(size=(2, 3)) * 10.0 ** rng.uniform(-3, 9)
        pairs.append((made.numbers_of(V), made.numbers_of(-V * rng.choice(lengths))))
    assert 0.99 < moves(made, pairs) <= 1  # half of it, the twin, is passed
    # twin: nothing for rounding. Entries just past a half round away from each other, in all of d places.
    d, unit, rng = 64, 2.0**-GRID.fraction_bits, np.random.default_rng(2)
    radius = float(np.linalg.norm(np.full(d, (2**20 + 0.50001) * unit)))
    narrow = ClippedAverage(clip=radius).shared(Public(3, d, 2), Target(1, noise="ddg"), THREE, AnnouncedRows(MOST))  # type: ignore[arg-type]
    V = np.full((1, d), 1.0)
    reached = moves(narrow, [(narrow.numbers_of(V), narrow.numbers_of(-V))]) * narrow.noise.sensitivity
    assert math.ceil(2 * radius / unit) + math.sqrt(d) - 2 < reached <= narrow.noise.sensitivity
    with refused("model.wrong_shape", wanted="(2, 3)", got="(1, 3)"):
        made.numbers_of(np.zeros((1, 3)))


def test_no_sum_wraps_round() -> None:
    """All parties enter as much as they may, and the noise of all is at its tail; half the ring is too small."""
    for method in METHODS:
        for threat_model in (THREE, ThreatModel(50, 16, 16)):
            made = spec(method, threat_model)
            K, f, bits = threat_model.parties, made.grid.fraction_bits, made.grid.ring_bits
            if isinstance(made, NoisySum):
                largest = K * math.ceil(made.reach.longest * (1 << f)) + made.noise.distribution.tail(K)
            else:
                theta = np.array([1e300, -1e300, 0.0, 5.0])
                largest = K * max(map(abs, made.addend(theta, MOST).numbers))
                assert largest == (K * MOST << 22) << f
            assert largest < 1 << (bits - 1)
            assert bits == 64 or largest > 1 << (bits - 10)


# What is said


@pytest.mark.parametrize("method", [*METHODS[:3], *BY_SIZE], ids=lambda method: method.name)
def test_the_statement_is_of_the_honest_shares(method: Any) -> None:
    """Each law has its kind, and the shares of three of five come to what those of one would."""
    found = {noise: spec(method, FIVE, noise) for noise in method.secure_noises}
    stated = {noise: made.statement for noise, made in found.items()}
    assert {noise: said.kind for noise, said in stated.items()} == {"ddg": "zcdp", "vg": "approx", "self": "pure"}
    for said in stated.values():
        assert (said.epsilon, said.unit) == (1.0, method.protects)
        assert said.adjacency == method.adjacency
        assert said.adversary == (
            "Charlie and any 1 of 5 parties, even if they are malicious, while up to 1 party drops out. A result has "
            "the noise of at least 3 honest parties (5 parties, minus 1 that may drop out, minus 1 that may be "
            "corrupted)"
        )
        assert {*said.caveats} >= {*FIVE.caveats()}
        assert "from 1 to 1,000 rows" in said.plain_words()
        assert "trusted aggregator" not in said.plain_words()
        assert (PUBLIC_ROWS_CAVEAT in said.caveats) == (method.name == "soft_ss")
    for noise, made in found.items():
        assert made.noise.distribution.honest == 3
        alone, count = spec(method, ThreatModel(5, 3, 1), noise), 1 if noise == "self" else 3
        assert in_reals(alone, 1) == pytest.approx(in_reals(made, count), rel=1e-3)
    d, parts = found["ddg"].reach.dimension, parts_of(found["ddg"], (4,) * 40, Stream.insecure_from_seed(7))
    assert not any(any(part.noise[d:]) for part in parts)  # numbers of rows and of parties are exact
    empirical = [x for part in parts for x in part.noise[:d]]
    expected = float(found["ddg"].noise.distribution.coordinate_variance(1)) ** 0.5
    assert abs(np.std([float(x) for x in empirical]) / expected - 1) < 6 / math.sqrt(2 * len(empirical))


def in_reals(made: Any, shares: int) -> float:
    return float(made.noise.distribution.coordinate_variance(shares) / 4**made.grid.fraction_bits)


def test_ofpa_says_whose_noise_protects_whom() -> None:
    made = spec(RECORD[1], FIVE)
    said = made.statement
    assert (said.kind, said.epsilon, said.unit, said.adjacency) == ("pure", 1.0, "record", "replace")
    assert said.adversary == (
        "Charlie and all 4 other parties, even if they are malicious, and whichever drop out: epsilon with the noise "
        "of each party for its own rows alone, and nobody else's"
    )
    words = said.plain_words()
    assert "SIM-CDP" not in words  # the noise is there before anything is masked
    assert "from 1 to 1,000 rows" in words
    assert {*said.caveats} >= {*FIVE.caveats_of_own_noise(), SIZES_CAVEAT}
    assert made.sums == (((4, "none"), (1, "none")),)
    hidden = RECORD[1].shared(public(5), Target(1), FIVE, AnnouncedRows(MOST))  # type: ignore[attr-defined, arg-type]
    assert hidden.sums == (((4, "none"),),)
    assert "a public constant" in hidden.statement.plain_words()
    last = RECORD[1].shared(public(5), Target(1), ThreatModel(5, 4, 0), AnnouncedRows(MOST, "released"))  # type: ignore[attr-defined, arg-type]
    assert "A coalition of 4 of the 5 parties" in last.statement.plain_words()
    # the noise is in what a party enters, and new every time; nothing is added after
    ones = [made.part(rows(30, 1), Stream.insecure_from_seed(seed)) for seed in (1, 2)]
    assert ones[0].numbers[:-1] != ones[1].numbers[:-1]
    assert all(part.numbers[-1] == 30 and not any(part.noise) for part in ones)


def by_size(sizes: RowCounts, threat_model: ThreatModel = FIVE) -> str:
    target = Target(1, noise="ddg")  # type: ignore[arg-type]
    made = BY_SIZE[0].shared(public(5), target, threat_model, AnnouncedRows(MOST, sizes))
    return f"This holds against {made.statement.adversary}. {made.statement.plain_words()}"


def test_sums_by_size_say_what_is_released_of_sizes_and_who_can_add_up() -> None:
    assert "is released exactly" in by_size("released")
    assert "is released exactly" not in by_size("hidden")
    assert "Numbers of rows are not released: the weights are the sum over 5000" in by_size("hidden")
    for sizes, t, told in (("released", 4, True), ("released", 3, False), ("hidden", 4, False)):
        assert ("A coalition of 4 of the 5 parties" in by_size(sizes, ThreatModel(5, t, 0))) is told
    assert "against any 1 of 5 parties, even if" in by_size("released", ThreatModel(5, 1, 0, by_curator=False))
    for verifiable in (True, False):
        assert ("anybody" in by_size("released", ThreatModel(5, 1, 1, verifiable))) is verifiable
    for method, classes in product(BY_SIZE, (2, 4)):
        assert spec(method, classes=classes).reach.sensitivity == method.sensitivity_to(MOST, classes)


def test_a_hostile_last_number_makes_some_model() -> None:
    for method in METHODS:
        made = spec(method)
        for last in (0, -7, 10**30):
            assert np.isfinite(weights(made.model((*range(made.length - 1), last)))).all()
        if isinstance(made, NoisySum):  # and it cannot make a model vanish
            assert [made.counted((0, last)) for last in (-7, 2, 10**30)] == [1, 2, made.threat_model.parties]


def test_what_the_theory_does_not_cover_is_refused() -> None:
    known, known_target, released = public(3), Target(1, noise="ddg"), AnnouncedRows(MOST, "released")  # type: ignore[arg-type]
    refusals: list[tuple[Callable[[], Any], str]] = [
        (lambda: PARTY[0].shared(known, known_target, THREE, released), "sizes.not_hidden"),
        (lambda: PARTY[1].shared(known, known_target, THREE, released), "sizes.not_hidden"),
        (lambda: spec(Ofaa(trust="local")), "secure_sum.other_setting"),
        (lambda: Ofaa().shared(known, known_target, THREE, released), "sizes.not_hidden"),
        (lambda: BY_SIZE[1].shared(known, known_target, THREE, released), "sizes.not_hidden"),
        (lambda: spec(Ofpa(rounds=3)), "secure_sum.other_setting"),
        (lambda: spec(RECORD[1], noise="ddg"), "noise.not_of_calibration"),
        (lambda: spec(PARTY[0], noise="knorm"), "noise.not_of_protocol"),
        (
            lambda: PARTY[0].shared(Public(3, 3, 2), Target(1, noise="ddg"), THREE, AnnouncedRows(MOST)),
            "auxiliary_rows.needed",
        ),
    ]  # type: ignore[arg-type]
    for made, code in refusals:
        with refused(code):
            made()
    for method in METHODS:
        with refused("party.more_rows_than_announced", most=1000):
            spec(method).part(rows(1001, 1), Stream.insecure_from_seed(1))
    for method in RECORD:
        with refused("classes.only_two", method=method.name, got=4):
            spec(method, classes=4)
    assert coordinate_count(4) == spec(PARTY[1], classes=4).reach.dimension / 3


# The clipped average.


def a_federation(M: int, classes: int = 3, d: int = 4, n: int = 9) -> Federation:
    rng = np.random.default_rng(0)
    X = into_ball(rng.normal(size=(M * n, d)), 2.0)
    y = (X @ rng.normal(size=(d, classes))).argmax(axis=1)
    return Federation(tuple(Rows(X[i : i + n], y[i : i + n]) for i in range(0, M * n, n)), classes)


def mean(method: ClippedAverage, V: Array) -> Array:
    """The released coordinates without noise."""
    federation = a_federation(len(V), 2 if V.shape[1] == 1 else V.shape[1] + 1, V.shape[2])
    model = method.train_from(Ensemble(federation, V)).release(Target(None), Stream.from_system()).model
    return model.W


def test_short_models_are_averaged_as_they_are() -> None:
    federation = a_federation(6)
    V = train_ensemble(federation, 0.1).models(Average())
    W = mean(ClippedAverage(clip=100.0), V)
    assert np.abs(W - LinearModel.from_coordinates(V.mean(axis=0), 3).W).max() < 1e-11
    assert np.abs(mean(ClippedAverage(clip=0.1), V) - W).max() > 0.1  # twin: clipping that does something


def test_long_models_keep_their_direction_and_those_of_no_numbers_count_as_zero() -> None:
    for models, clip, wanted in (
        ([(3.0, 4.0), (0.3, 0.4)], 1.0, (0.45, 0.6)),
        ([(1.0, 0.5), (np.nan, 9.0), (np.inf, 0.0), (0.0, -np.inf)], 5.0, (0.25, 0.125)),
    ):
        W = mean(ClippedAverage(clip=clip), np.array(models)[:, np.newaxis])
        assert np.allclose(W[1] - W[0], wanted, atol=1e-11)


@pytest.mark.parametrize("radius", [0.3, 7.0, 1e6])
def test_no_party_moves_the_sum_beyond_two_radii(radius: float) -> None:
    rng = np.random.default_rng(1)
    method, federation = ClippedAverage(clip=radius), a_federation(3)
    far = 0.0
    for _ in range(60):
        V = rng.normal(size=(3, 2, 4)) * 10.0 ** rng.uniform(-3, 9)
        other = V.copy()
        other[0] = -V[0] * rng.choice([1.0, 1e3, 1e-3, np.nan])
        totals = [sum_on_grid(method.train_from(Ensemble(federation, v)).V) for v in (V, other)]
        far = max(far, math.sqrt(sum((a - b) ** 2 for a, b in zip(*totals, strict=True))))
    bound = GRID.l2_sensitivity(method.sensitivity, 8)
    assert 0.99 * bound < far <= bound
    assert far > bound / 2 + 1  # twin: one radius
    assert method.noise(federation.public).sensitivity == method.sensitivity


def test_the_statement_says_that_a_secure_sum_needs_no_aggregator() -> None:
    privacy = ClippedAverage().statement(a_federation(4).public, Target(1))
    assert any("secure sum" in caveat for caveat in privacy.caveats)


@pytest.mark.parametrize("radius", [0.0, -1.0, math.nan, math.inf, 1e7, "x", None, [1.0], 1j])
def test_wrong_radius_is_refused(radius: Any) -> None:
    with refused("parameter.out_of_range") as caught:
        ClippedAverage(clip=radius)
    told = re.search(r"from (\S+) to (\S+),", str(caught.value))
    assert [ClippedAverage(clip=float(limit)).clip for limit in told.groups()] == [2.0**-20, 1e6]  # as they are printed
