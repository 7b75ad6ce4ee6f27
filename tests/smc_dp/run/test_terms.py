"""The settings of each protocol: what of them can be had together, and what stands in a record."""

from __future__ import annotations

import json
import re
from dataclasses import fields, replace
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

import pytest
from support.audited import agreement, hospitals, sum_agreement

from protocols.errors import LocalError
from protocols.pathak2010.ideal import SHORT_EXPONENTS_ASSUMPTION
from protocols.pathak2010.parameters import Parameters as PathakParameters
from protocols.secure_sum.parameters import MOST_PARTIES, Block, Parameters
from smc_dp.core.errors import InputError, UnfitError
from smc_dp.methods.pathak2010.mean import PathakMean
from smc_dp.methods.sums.threat_model import ThreatModel
from smc_dp.methods.sums.weighted_sum import WeightedSum, WeightedSumAddRemove
from smc_dp.privacy.output import GRID
from smc_dp.privacy.target import NoiseName, Target
from smc_dp.run.agreement import Agreement, SettledRun
from smc_dp.run.protocols.registry import CuratorTerms, LinearTerms, SumTerms, settle_protocol
from tests.support.refusals import refused

CASE = hospitals((12, 8, 20), 2)
REFUSALS = (
    *("agreement.other_parameter", "agreement.unknown_parameter"),
    *("setting.out_of_range", "setting.not_one_of"),
)


def test_a_record_of_the_curator_protocol_is_what_it_was() -> None:
    """Byte for byte, the order of its fields included."""
    agreed = agreement(hospitals((3, 4), 1), key_bits=2048, seeded=False, exponents="full")
    assert json.dumps(agreed.as_dict() | {"bounds": 0}) == (
        '{"parameters": {"method": "prr_mean", "protocol": "pathak2010", "parties": ["north-0", "north-1"], '
        '"dimension": 1, "epsilon": "1", "lambda": "1/10", "calibration": "proven", "noise": "knorm", '
        '"comparison": "tournament", "key_bits": 2048, "ring_bits": 64}, "bounds": 0, "fraction_bits": 40, '
        '"insecure": []}'
    )
    assert agreed.digest == "202425dada0017802797236a2b47037c93c9a6e83d8ac987ffb86f6e13c3ff29"
    assert CuratorTerms.from_dict(agreed.parameters) == agreed.terms


def test_short_exponents_are_in_the_record_and_their_assumption_in_the_statement() -> None:
    short, full = (agreement(hospitals((3, 4), 1), key_bits=2048, seeded=False, exponents=e) for e in ("short", "full"))
    assert short.parameters == full.parameters | {"exponents": "short"}
    assert short.digest != full.digest
    assert CuratorTerms.from_dict(short.parameters) == short.terms == CuratorTerms(2048)
    said, less = (" ".join(agreed.statement.caveats) for agreed in (short, full))
    assert "discrete logarithms with exponents of 256 bits" in said
    assert "exponents" not in less
    assert said.replace(f"; (3) {SHORT_EXPONENTS_ASSUMPTION}", "") == less
    for p in (agreed.program_parameters("") for agreed in (short, full)):
        assert PathakParameters.from_dict(p.as_dict()) == p


BY_CURATOR, BY_SUM, LINEAR = agreement(CASE), sum_agreement(CASE), agreement(CASE, protocol="linear")
RECORDS: dict[str, tuple[Agreement, list[Agreement], dict[str, Any]]] = {  # one, others, and values of none
    "pathak2010": (
        BY_CURATOR,
        [
            *(agreement(CASE, **{name: value}) for name, value in (
                ("key_bits", 256), ("comparison", "all-pairs"), ("ring_bits", 72), ("seeded", False),
            )),
            *(replace(BY_CURATOR, target=target) for target in (
                Target(2), Target(1, noise="laplace"), Target(1, "paper"),
            )),
            replace(BY_CURATOR, method=PathakMean(0.2)),
            replace(BY_CURATOR, parties=BY_CURATOR.parties[::-1]),
            replace(BY_CURATOR, bounds=replace(CASE.bounds, clip=1.0)),
        ],
        {"dimension": 3},
    ),
    "secure_sum": (
        BY_SUM,
        [
            *(sum_agreement(CASE, **{name: value}) for name, value in (
                ("colluders", 0), ("most_rows", 100), ("sizes", "hidden"), ("verifiable", True), ("output", "shares"),
            )),
            sum_agreement(CASE, colluders=0, dropouts=1),
            sum_agreement(CASE, WeightedSumAddRemove(0.1)),
            sum_agreement(CASE, target=Target(Fraction(1), noise="vg")),
            sum_agreement(CASE, target=Target(Fraction(1), noise="ddg", delta=Fraction(1, 10**7))),
        ],
        {"ring_bits": 8, "fraction_bits": 41, "colluders": True, "sizes": "none", "delta": None, "quorum": 3},
    ),
    "linear": (LINEAR, [], {"ring_degree": 0, "key_bits": 3072}),
}  # fmt: skip


@pytest.mark.parametrize("protocol", RECORDS)
def test_an_agreement_is_what_its_record_says(protocol: str) -> None:
    """Every setting is in the record, and a record with another value has another digest."""
    made, others, wrong = RECORDS[protocol]
    assert len({other.digest for other in (made, *others)}) == len(others) + 1
    for other in (made, *others):
        document = json.loads(json.dumps(other.as_dict()))
        assert Agreement.from_dict(document, other.bounds) == other
        for name, value in wrong.items():
            with pytest.raises(InputError) as caught:
                Agreement.from_dict({**document, "parameters": {**document["parameters"], name: value}}, other.bounds)
            assert caught.value.code in REFUSALS
            assert name in " ".join(map(str, caught.value.fault.fields.values()))


def test_rings_and_degrees_of_the_linear_path_fit() -> None:
    with refused("vectors.no_dimension_or_ring"):
        Agreement.from_dict({**LINEAR.as_dict(), "parameters": {**LINEAR.parameters, "ring_bits": 12}}, LINEAR.bounds)
    with refused("ring_degree.not_even_or_too_small"):
        LinearTerms(ring_degree=3).program_parameters("linear", LINEAR.spec, LINEAR.parties, "")


def runs(K: Any, t: Any, D: Any) -> bool:
    try:
        Parameters(tuple(map(str, range(K))), t, D, ((Block(1, "none"),),))
    except LocalError:
        return False
    return True


def refusal(K: int, t: int, D: int) -> str | None:
    try:
        ThreatModel(K, t, D).check()
    except InputError as error:
        return str(error)
    return None


def test_what_is_refused_of_a_crowd_is_what_the_protocol_refuses_and_the_advice_works() -> None:
    """The numbers that a refusal names do, and those one further do not."""
    advised = 0
    for K, t, D in product(range(2, 12), range(12), range(12)):
        said = refusal(K, t, D)
        assert (said is None) == runs(K, t, D)
        if said is None or t >= K:
            assert said is None or f"wanted at most {K - 1} of {K} parties" in said
            continue
        found = re.search(
            r"wanted at most (\d+) .*?(?:`colluders` at most (\d+)(?:, or )?)?(?:at least (\d+) parties)?$", said
        )
        assert found
        most, fewer, more = (None if text is None else int(text) for text in found.groups())
        for tried, beyond in (
            ((K, t, most), (K, t, (most or 0) + 1)),
            ((K, fewer, D), (K, (fewer or 0) + 1, D)),
            ((more, t, D), ((more or 0) - 1, t, D)),
        ):
            if None not in tried:
                advised += 1
                assert runs(*tried)
                assert not runs(*beyond)
    assert advised > 500


@pytest.mark.parametrize(("settings", "why"), [
    ({"colluders": 3}, partial(refused, "colluders.too_many", most=2, parties=3, got=3)),
    ({"colluders": -1}, partial(refused, "setting.out_of_range", name="colluders", wanted=0, most=1999, got="-1")),
    ({"dropouts": 1}, partial(refused, "dropouts.too_many", parties=3, colluders=1, got=1, wanted="at most 0")),
    ({"most_rows": 10**7 + 1}, partial(refused, "setting.out_of_range", name="most_rows", wanted=1, most=10000000)),
    ({"sizes": "shown"}, partial(refused, "setting.not_one_of", name="sizes")),
    ({"output": "nowhere"}, partial(refused, "setting.not_one_of", name="output")),
    ({"target": Target(Fraction(1))}, partial(refused, "noise.not_of_protocol", method="wsum", got="knorm")),
    ({"target": Target(None, noise="ddg")}, partial(refused, "epsilon.infinite")),
    ({"method": WeightedSumAddRemove(0.1), "sizes": "released"}, partial(refused, "sizes.not_hidden")),
    ({"comparison": "tournament"}, partial(refused, "protocol.no_such_setting", setting="comparison", method="wsum")),
])  # fmt: skip
def test_what_cannot_be_agreed_on_is_refused_by_its_name(settings: dict[str, Any], why: Any) -> None:
    with why() as caught:
        sum_agreement(CASE, **settings)
    assert "\n" not in str(caught.value)


def test_settings_are_those_of_the_protocol_and_of_the_method() -> None:
    assert settle_protocol("secure_sum", WeightedSumAddRemove(), {"dropouts": 2}) == SumTerms(1, 2, sizes="hidden")
    assert settle_protocol("pathak2010", PathakMean(), {"key_bits": 2048}) == CuratorTerms(2048)
    with refused("protocol.no_such_setting", setting="dropouts", method="prr_mean", protocol="pathak2010"):
        settle_protocol("pathak2010", PathakMean(), {"dropouts": 0})
    with refused("terms.of_another_protocol", protocol="secure_sum", got="CuratorTerms"):
        SettledRun(WeightedSum(), Target(1, noise="vg"), "secure_sum", CuratorTerms()).check(test_keys=False)
    with refused("test_keys.without_keys", protocol="secure_sum"):
        replace(sum_agreement(CASE), marks=("insecure seed", "insecure test keys"))


def test_a_grid_that_no_ring_has_room_for_is_refused_with_what_would_do() -> None:
    many = hospitals((2,) * 40, 1)
    with refused("noise.integers_too_long", noise="vg", bits=1024):
        sum_agreement(many, target=Target(Fraction(1), noise="vg")).statement.plain_words()


@pytest.mark.parametrize(("kind", "name", "value", "least", "most"), [
    (CuratorTerms, "key_bits", 16385, 1, 16384),
    (CuratorTerms, "key_bits", "3072", 1, 16384),
    (CuratorTerms, "ring_bits", GRID.ring_bits + 1, 1, GRID.ring_bits),
    (LinearTerms, "ring_bits", 0, 1, GRID.ring_bits),
    (LinearTerms, "ring_degree", 1001, 1, 1000),
    (LinearTerms, "ring_degree", True, 1, 1000),
    (SumTerms, "dropouts", -1, 0, MOST_PARTIES - 1),
])  # fmt: skip
def test_a_setting_that_is_named_has_the_range_of_one_that_is_read(
    kind: Any, name: str, value: Any, least: int, most: int
) -> None:
    usual = {field.name: getattr(kind(), field.name) for field in fields(kind)} | {"left_out": []}
    assert kind.from_dict(usual) == kind()
    for make in (lambda: kind(**{name: value}), lambda: kind.from_dict({**usual, name: value})):
        with refused("setting.out_of_range", name=name, wanted=least, most=most):
            make()


def test_all_settings_of_a_protocol_that_are_out_of_range_are_said_at_once() -> None:
    with pytest.raises(UnfitError) as caught:
        SumTerms(colluders=-1, most_rows=0, sizes="some")  # type: ignore[arg-type]
    assert [fault.fields["name"] for fault in caught.value.faults] == ["colluders", "most_rows", "sizes"]


def test_all_faults_of_a_sum_are_refused_at_once() -> None:
    with refused("output.shares_with_dropouts", "output.shares_verifiable", got=1):
        SumTerms(dropouts=1, output="shares", verifiable=True)
    flags = ("verifiable", "semi_honest", "sparse_graph")
    with refused(*["setting.no_truth_value"] * len(flags), "left_out.no_names"):
        SumTerms(verifiable=1, semi_honest=0, sparse_graph="yes", left_out=("north", 1))  # type: ignore[arg-type]
    for published in ({"output": "shares"}, {"verifiable": True}):
        with refused("sparse_graph.published"):
            SumTerms(sparse_graph=True, **published)  # type: ignore[arg-type]


@pytest.mark.parametrize(("noise", "delta"), [("gauss", True), ("ddg", True), ("knorm", False)])
def test_a_delta_stands_beside_the_noises_that_have_one(noise: NoiseName, delta: bool) -> None:
    asked = Target(1.0, noise=noise)
    settled = SettledRun(WeightedSum(), asked, "secure_sum", SumTerms(), ())
    assert settled.sections["target"].get("delta") == (str(asked.delta) if delta else None)
