"""The checks of leakage: what honest code reads passes, and each twin (of a simulator, a protocol, an attack) fails."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import combinations, product
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats
from broken.curator_twins import planted
from support.audited import Folders, toy_run
from support.pathak import trial

from protocols import programs
from protocols.arithmetic.rng import Stream
from protocols.pathak2010 import PROGRAM, ideal, limitations, noisy_sum_claims
from protocols.programs import Protocol
from protocols.runtime.claims import Readings
from protocols.runtime.session import Program
from smc_dp.audit.run import code_checks, leakage
from smc_dp.audit.run.evidence import Evidence
from smc_dp.leakage import limitations as tried
from smc_dp.leakage.distributions import (
    NO_OUTPUT,
    DistributionCheck,
    Samples,
    claimed_coalitions,
    compare_by_output,
    draw_key_length,
    real_readings,
    simulate_readings,
)
from smc_dp.leakage.two_samples import compare_samples, fisher_p_values, smallest_shift

HARDENED = programs.find_protocol(PROGRAM.name, PROGRAM.version)
SMALL = ideal.small(trial([1, 1, 1], 1).parameters)
TRIALS = ideal.CLAIM.trials
assert TRIALS is not None
REJECT = 1e-12


def seeded(what: str) -> Stream:
    return Stream.insecure_from_seed(f"test of leakage, {what}")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    return toy_run(tmp_path_factory.mktemp("leakage"))


@pytest.fixture(scope="module")
def evidence(folders: Folders) -> Evidence:
    return folders.evidence()


def only(evidence: Evidence, *names: str) -> Evidence:
    return replace(evidence, views={name: evidence.views[name] for name in names})


def under(protocol: Protocol, evidence: Evidence) -> Evidence:
    """The same evidence, roles made again and all, under another claim."""
    twin = replace(evidence, protocol=protocol)
    vars(twin)["recomputed"] = evidence.recomputed
    return twin


def with_simulation(change: Callable[[Readings], Readings]) -> Protocol:
    """The protocol with a simulator that makes other readings."""

    def simulation(p: Any, rng: Stream) -> Callable[[tuple[str, ...]], Readings]:
        honest = ideal.simulation(p, rng)
        return lambda names: change(honest(names))

    return replace(HARDENED, claim=replace(ideal.CLAIM, trials=replace(TRIALS, simulation=simulation)))


# Structure.


@pytest.mark.parametrize(
    ("sizes", "d", "options"),
    [((5, 6), 1, {}), ((12, 8, 20), 2, {"comparison": "all-pairs"}), ((3, 3, 3, 9), 9, {"topology": "star"})],
)
def test_honest_runs_have_the_structure_of_the_simulator(
    tmp_path: Path, sizes: tuple[int, ...], d: int, options: dict[str, Any]
) -> None:
    found = toy_run(tmp_path, sizes, d, **options).evidence()
    assert leakage.check_structure(found).status == "passed"
    together = leakage.check_structure_together(found)
    assert (together.status, together.code) == ("passed", "structure_together.holds_in_part")
    why = " ".join(ideal.CLAIM.why_not(found.session.parameters, tuple(found.views)))
    assert together.fault.fields["reasons"] == f": {why}"


def test_structure_is_looked_at_for_whatever_views_are_given(evidence: Evidence) -> None:
    parties = evidence.session.parties
    for size in (1, 2, 3):
        for names in combinations(parties, size):
            given = only(evidence, *names)
            assert leakage.check_structure(given).status == "passed"
            assert leakage.check_structure_together(given).status == ("passed" if size > 1 else "not possible")


@pytest.mark.parametrize(("place", "sentences"), [(0, 2), (1, 1), (2, 1)])
def test_charlie_with_a_party_is_not_claimed_and_the_reason_is_said(
    evidence: Evidence, place: int, sentences: int
) -> None:
    party = evidence.session.parties[place]
    outcome = leakage.check_structure_together(only(evidence, "charlie", party))
    assert outcome.status == "not possible"
    reasons = " ".join(u.sentence for u in limitations.LIMITATIONS[4 : 4 + sentences])
    assert (outcome.code, outcome.fault.fields["reasons"]) == ("structure_together.not_claimed", f": {reasons}")


def test_without_views_or_without_a_claim_nothing_is_possible(folders: Folders, tmp_path: Path) -> None:
    bare = folders.evidence(views=False)
    assert leakage.check_structure(bare) == leakage.NO_VIEWS_OUTCOME
    assert leakage.check_structure_together(bare).status == "not possible"
    printed = toy_run(tmp_path, as_printed=True).evidence()
    for check in leakage.CHECKS:
        assert check.run(printed) == leakage.NO_CLAIM


def test_a_role_that_does_not_reach_its_end_has_no_structure(evidence: Evidence) -> None:
    last = max(evidence.envelopes)
    cut = replace(evidence, envelopes={n: e for n, e in evidence.envelopes.items() if n < last // 2})
    outcome = leakage.check_structure(cut)
    assert (outcome.status, outcome.code) == ("not possible", "structure.role_stopped")


def test_a_stopped_role_does_not_hide_what_another_one_reads(evidence: Evidence) -> None:
    party = evidence.session.parties[1]
    last = max(n for n, e in evidence.envelopes.items() if e.to == party)
    late = {n: e for n, e in evidence.envelopes.items() if n != last}
    cut = replace(evidence, envelopes=late, protocol=with_simulation(less("Slot.b")))
    assert [made.fault is not None for made in cut.recomputed.values()].count(True) == 1
    outcome = leakage.check_structure(cut)
    assert (outcome.status, outcome.party) == ("failed", None)


def less(place: str) -> Callable[[Readings], Readings]:
    return lambda found: {**found, place: found[place][:-1]} if place in found else found


def narrow(place: str) -> Callable[[Readings], Readings]:
    return lambda found: {**found, place: [v >> 41 for v in found[place]]} if place in found else found


def without(place: str) -> Callable[[Readings], Readings]:
    return lambda found: {name: values for name, values in found.items() if name != place}


@pytest.mark.parametrize("place", ["Slot.b", "Reshare.x", "SharedKey.p"])
@pytest.mark.parametrize("twin", [less, without])
def test_a_simulator_that_leaves_out_a_number_is_caught(evidence: Evidence, place: str, twin: Any) -> None:
    for check in (leakage.check_structure, leakage.check_structure_together):
        outcome = check(under(with_simulation(twin(place)), evidence))
        alone = place == "Slot.b" and check is leakage.check_structure_together
        assert outcome.status == ("passed" if alone else "failed")  # Charlie is in no claimed coalition of two
        assert alone or (outcome.code, outcome.fault.fields["place"]) == ("structure.other_count", place)


@pytest.mark.parametrize("place", ["Slot.b", "Blinded.a", "Opening.opening"])
def test_a_simulator_of_short_numbers_is_caught(evidence: Evidence, place: str) -> None:
    outcome = leakage.check_structure(under(with_simulation(narrow(place)), evidence))
    assert (outcome.status, outcome.code) == ("failed", "structure.other_widths")
    assert outcome.fault.fields["place"] == place


def test_one_short_number_among_long_ones_is_noticed() -> None:
    """As a size in the clear among covers; a uniform number may fall short by 40 bits and a little more."""
    for bits, code in ((63, None), (21, None), (20, "structure.other_widths")):
        fault = leakage.shape_difference({"Relay.a": [1 << bits, 1 << 63]}, {"Relay.a": [1 << 63] * 2})
        assert (fault.code if fault else None) == code
    fewer = leakage.shape_difference({"Relay.a": [1 << 63]}, {"Relay.a": [1 << 63] * 2})
    assert fewer.code == "structure.other_count"


# Which coalitions are claimed.


def test_charlie_alone_and_every_set_of_parties_is_claimed_and_nothing_else() -> None:
    names = ("P1", "P2", "P3", "charlie")
    claimed = {c for size in range(5) for c in combinations(names, size) if ideal.CLAIM.claims(SMALL, c)}
    parties = {c for size in (1, 2, 3) for c in combinations(names[:3], size)}
    assert claimed == {("charlie",), *parties}
    assert not ideal.CLAIM.claims(SMALL, ("somebody",))
    assert ideal.CLAIM.why_not(SMALL, ("P1", "P2", "P3")) == []


# Two samples.


def test_p_values_are_those_of_the_hypergeometric_law() -> None:
    for left, right in ((1, 1), (7, 12), (40, 11)):
        a, b = np.meshgrid(range(left + 1), range(right + 1), indexing="ij")
        law = scipy.stats.hypergeom(left + right, a + b, left)
        assert fisher_p_values(left, right) == pytest.approx(
            np.minimum(1, 2 * np.minimum(law.cdf(a), law.sf(a - 1))), rel=1e-9
        )
    assert fisher_p_values(60, 300)[60, 0] == pytest.approx(2 / comb(360, 60), rel=1e-9)


def test_the_stated_power_is_that_of_the_test() -> None:
    """By enumeration of both binomial laws and Fisher's test of scipy, whose one-sided p-values are doubled."""
    left, right, level, base = 14, 22, 1e-3, 0.3

    def power(shift: float) -> float:
        chance = 0.0
        for a, b in product(range(left + 1), range(right + 1)):
            table = [[a, left - a], [b, right - b]]
            tails = [scipy.stats.fisher_exact(table, side).pvalue for side in ("less", "greater")]
            if 2 * min(tails) < level:
                chance += scipy.stats.binom.pmf(a, left, base + shift) * scipy.stats.binom.pmf(b, right, base)
        return chance

    shift = smallest_shift(left, right, level, base)
    assert power(shift) >= 0.9 > power(shift - 0.01)
    assert smallest_shift(5, 5, 1e-6, 0.5) is None


def drawn(seed: int, count: int, bits: int) -> list[Readings]:
    rng = seeded(f"two samples {seed}")
    return [{"x": [rng.bits(bits) for _ in range(3)], "bit": [rng.bits(1)]} for _ in range(count)]


@pytest.mark.parametrize("bits", [1, 3, 4, 77])
def test_samples_of_one_law_are_alike(bits: int) -> None:
    p = [compare_samples(drawn(i, 60, bits), drawn(-i, 200, bits)).p_value for i in range(1, 20)]
    assert np.min(p) > 1e-3


def altered(found: Readings, change: Callable[[list[int]], list[int]]) -> Readings:
    return {**found, "x": change(found["x"])}


@pytest.mark.parametrize(
    "change",
    [
        lambda x: [v >> 1 for v in x],
        lambda x: [v | 1 for v in x],
        lambda x: [v & ~(3 << 75) for v in x],
        lambda x: [x[0], (x[0] + 4) % (1 << 77), x[2]],
        lambda x: x[:2],
        lambda x: [0, *x[1:]],
    ],
    ids=["a bit short", "odd", "top bits", "neighbours", "fewer", "constant"],
)
def test_samples_of_different_laws_are_told_apart(change: Callable[[list[int]], list[int]]) -> None:
    twin = [altered(found, change) for found in drawn(1, 80, 77)]
    for left, right in ((twin, drawn(2, 300, 77)), (drawn(2, 300, 77), twin)):
        assert compare_samples(left, right).p_value < REJECT


# The law of the code.


WHO = claimed_coalitions(TRIALS, SMALL, ("P1", "P2", "P3", "charlie"))
RUNS, SIMULATED = 24, 120


@cache
def made() -> Samples:
    return simulate_readings(TRIALS, SMALL, seeded("simulated"), WHO, SIMULATED)


@cache
def world(place: int) -> Samples:
    return in_world(PROGRAM, place)


def in_world(program: Program, place: int, runs: int = RUNS) -> Samples:
    return real_readings(program, TRIALS, SMALL, place, seeded(f"world {place}"), WHO, runs)


def compare_worlds(left: Samples, right: Samples, made: Samples) -> DistributionCheck:
    """Compare two worlds in which the functionality tells a coalition nothing beside the sum."""
    told = dict.fromkeys(left, NO_OUTPUT)
    return compare_by_output([(left, told), (right, told)], {NO_OUTPUT: made})


def test_fresh_executions_pass() -> None:
    assert compare_worlds(world(0), world(1), made()).p_value > 1e-6


def test_each_coalition_is_compared_between_worlds_and_with_the_simulator() -> None:
    found = compare_worlds(*({c: drawn(seed, 6, 77) for c in WHO} for seed in range(3)))
    assert len(WHO) == len({f.coalition for f in found.found}) == 8
    assert found.tests == sum(f.comparison.tests for f in found.found)
    assert found.p_value == min(1, found.worst.comparison.smallest * found.tests)
    simulated = {f"the {name} world and the simulator" for name in ("first", "second")}
    assert {f.samples for f in found.found} == {"both worlds", *simulated}


def test_a_protocol_with_short_masks_is_rejected() -> None:
    with planted("s is too short") as program:
        short = in_world(program, 0, 12)  # so few show it
    found = compare_worlds(short, short, made())
    outcome = code_checks.judge_distribution(found)
    assert (outcome.status, outcome.code) == ("failed", "distribution.differs")
    assert (found.worst.coalition, outcome.fault.fields["place"]) == (("charlie",), "Masked.psi")


@pytest.mark.parametrize("place", ["Slot.b", "answers", "Match.right"])
def test_a_broken_simulator_is_rejected(place: str) -> None:
    twin = {c: [{**f, place: [0] * len(f[place])} if place in f else f for f in made()[c]] for c in WHO}
    outcome = code_checks.judge_distribution(compare_worlds(world(0), world(1), twin))
    assert (outcome.code, outcome.fault.fields["place"]) == ("distribution.differs", place)


def test_readings_of_another_structure_are_rejected() -> None:
    more = {c: [{**f, "Extra.x": [1]} for f in made()[c]] for c in WHO}
    outcome = code_checks.judge_distribution(compare_worlds(world(0), world(1), more))
    assert (outcome.code, outcome.fault.fields["place"]) == ("distribution.differs", "the structure")


def test_too_few_executions_show_nothing_and_it_says_so() -> None:
    few = ({c: sample[c][:5] for c in WHO} for sample in (world(0), world(1), made()))
    found = compare_worlds(*few)
    assert found.p_value > 1e-6
    assert found.missed
    assert found.simulator.fair is None
    outcome = code_checks.judge_distribution(found)
    assert (outcome.status, outcome.code) == ("failed", "distribution.twin_not_rejected")


def test_a_difference_between_worlds_is_rejected() -> None:
    """A simulator that was given the larger world is none: the worlds would differ from each other."""
    large = {c: [{place: [v | 1 for v in f[place]] for place in f} for f in world(1)[c]] for c in WHO}
    found = compare_worlds(world(0), large, large)
    assert found.p_value < 1e-6
    assert found.worst.samples != "the second world and the simulator"


def test_executions_have_keys_of_every_length() -> None:
    drawn = {draw_key_length(TRIALS, SMALL, seeded(f"keys {i}")).key_bits for i in range(20)}
    assert drawn == {ideal.SHORTER_KEY_BITS, ideal.DRY_RUN_KEY_BITS}


def test_each_execution_is_in_its_own_world() -> None:
    with planted("the last weight in the clear") as program:
        one, other = in_world(program, 0), in_world(program, 1)
    assert compare_worlds(one, other, other).p_value < 1e-6


# The boundary.


def test_every_coalition_that_is_not_claimed_succeeds(evidence: Evidence) -> None:
    outcome = code_checks.check_limitations(HARDENED, SMALL)
    assert (outcome.status, outcome.code) == ("passed", "limitations.holds")
    assert leakage.limitations_of_code(evidence).fault.fields["found"] == outcome.detail
    untried = [u for u in ideal.CLAIM.limitations if u.sentence not in outcome.detail]
    assert bool(outcome.fault.fields["said"]) == bool(untried)
    succeeded = str(outcome.fault.fields["succeeded"])
    assert succeeded.count("12 of 12 ") == 2
    assert "24 of 24 " in succeeded  # all but one: two of three have the smallest among them
    assert "36 of 36 " in succeeded


def with_attack(place: int, **change: Any) -> Protocol:
    """The protocol with the attack of one sentence replaced in part."""
    unclaimed = list(ideal.CLAIM.limitations)
    unclaimed[place] = replace(unclaimed[place], attack=replace(unclaimed[place].attack, **change))  # type: ignore[type-var]
    return replace(HARDENED, claim=replace(ideal.CLAIM, limitations=tuple(unclaimed)))


SUM, SIZES, NOISE = 2, 4, 5


def with_shorter_keys_alone(p: Any, views: Any, published: Any) -> Any:
    attack = ideal.CLAIM.limitations[SUM].attack
    assert attack is not None
    return attack.find(p, views, published) if p.key_bits == ideal.SHORTER_KEY_BITS else None


@pytest.mark.parametrize(
    "twin",
    [
        with_attack(SUM, find=lambda p, views, published: noisy_sum_claims.published_sum(p, published)),
        with_attack(SUM, truth=lambda p, inputs, names: noisy_sum_claims.exact_sum(p, inputs)),
        with_attack(SIZES, find=lambda p, views, published: limitations.Sizes((7, 7, 7), 0)),
        with_attack(NOISE, coalitions=limitations._with_charlie),
        with_attack(NOISE, truth=lambda p, inputs, names: 0, find=lambda p, views, published: 0),
        with_attack(SIZES, coalitions=lambda p: ()),
        with_attack(SUM, find=with_shorter_keys_alone),
    ],
    ids=["the release", "not the smallest", "guess", "without P_1", "constant", "nobody", "shorter keys alone"],
)
def test_an_attack_that_does_not_succeed_is_caught(twin: Protocol) -> None:
    shown = tried.try_attacks(twin, SMALL, seeded("limitations"), runs=3)
    assert code_checks.judge_limitations(shown, []).status == "failed"


def test_without_noise_no_attack_on_it_succeeds() -> None:
    with planted("nothing is selected") as program:
        shown = tried.try_attacks(replace(HARDENED, program=program), SMALL, seeded("limitations"), runs=3)
    assert code_checks.judge_limitations(shown, []).status == "failed"
