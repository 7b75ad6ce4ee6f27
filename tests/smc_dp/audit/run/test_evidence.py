"""What an audit reads is bounded by the protocol's own limits, and a record is read as its protocol says."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from support import forgeries as f
from support.audited import Folders
from support.audits import outcomes
from support.summed import recorded, summing

from protocols.pathak2010.parameters import Parameters
from protocols.pathak2010.protocol import LIMITS
from protocols.runtime.protocol import KeyLimits, Limits
from protocols.secure_sum.parameters import SHARES
from smc_dp.audit.run.evidence import load_evidence
from smc_dp.run.protocols import curator
from smc_dp.run.release import TRANSCRIPT
from tests.support.refusals import refused


@pytest.fixture(scope="module")
def summed(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    """A run of a protocol without keys."""
    return recorded(tmp_path_factory.mktemp("summed"), summing())


def test_what_is_said_in_a_greeting_has_its_length(summed: Folders, tmp_path: Path) -> None:
    """A greeting is as long as what its sender says in it; a longer one is found, also when its sender signs it."""
    i = f.read_record(summed.run).place("Hello", "P2")
    length = len(f.read_record(summed.run).envelopes[i].body)
    longer = load_evidence(f.forge(summed.run, tmp_path / "longer", f.resize(i, 1), f.linked))
    found = outcomes(longer)
    assert (found["sizes"].status, found["sizes"].line, found["sizes"].party) == ("failed", i + 1, None)
    assert found["sizes"].fault.fields == {"kind": "Hello", "got": length + 1, "wanted": length}


def test_a_star_has_somebody_in_the_middle(tmp_path: Path) -> None:
    run = recorded(tmp_path / "made", summing(t=1, D=0, output=SHARES)).run
    found = outcomes(load_evidence(f.rewritten(run, tmp_path / "star", 0, lambda head: head.update(topology="star"))))
    assert (found["session"].status, found["session"].fault.place) == ("failed", "topology: ")


def test_marks_follow_from_the_protocol(summed: Folders, small: Folders) -> None:
    """Without keys there are no test keys; without a claim a run is one of a protocol that is kept for its flaws."""
    evidence = summed.evidence()
    assert outcomes(evidence)["session"].status == "passed"
    flawed = replace(evidence, protocol=replace(evidence.protocol, claim=None))
    assert outcomes(flawed)["session"].fault.fields["wanted"] == "insecure seed, as printed"
    short = small.evidence(views=False)
    limits = replace(short.protocol.limits, keys=KeyLimits("key_bits", shortest=256, replayed=256))
    found = outcomes(replace(short, protocol=replace(short.protocol, limits=limits)))["session"]
    assert (found.code, found.fault.fields["wanted"]) == ("insecure_markers.not_due", "insecure seed")


@pytest.mark.parametrize(
    ("change", "got"),
    [
        (lambda head: head.update(format=1), "1"),
        (lambda head: head.update(format=True), "True"),
        (lambda head: head.update(format="2"), "'2'"),
        (lambda head: head.pop("format"), None),
    ],
)
def test_a_record_of_another_format_is_refused_in_one_line(
    change: Any, got: str | None, summed: Folders, tmp_path: Path
) -> None:
    run = f.rewritten(summed.run, tmp_path / "other", 0, change)
    with refused(f"transcript.{'other' if got else 'no'}_format", at=f"{run / TRANSCRIPT}: ", got=got, wanted=3):
        load_evidence(run)


def test_lines_shorter_than_any_are_refused_before_they_are_read(summed: Folders, tmp_path: Path) -> None:
    """No number of lines is too many, as long as they are as long as lines are."""
    text = (summed.run / TRANSCRIPT).read_text()
    envelopes = text.count("\n") - 1
    assert len(load_evidence(f.with_text(summed.run, tmp_path / "few", text + "\n" * 99)).lines) == envelopes + 99
    with refused("transcript.short_lines", least=200):
        load_evidence(f.with_text(summed.run, tmp_path / "many", text + "\n" * 1000))
    long = load_evidence(f.with_text(summed.run, tmp_path / "long", text + (" " * 199 + "\n") * 70_000))
    assert len(long.lines) == envelopes + 70_000


# Limits of protocols.


@pytest.mark.parametrize("value", [None, 0, True, "above"])
@pytest.mark.parametrize("name", sorted(LIMITS.largest))
def test_a_run_beyond_one_limit_of_the_protocol_is_refused(
    name: str, value: object, small: Folders, tmp_path: Path
) -> None:
    most = LIMITS.largest[name]
    got = most + 1 if value == "above" else value
    with refused("parameters.out_of_range", name=name, least=1, most=most, got=repr(got)):
        load_evidence(f.forge(small.run, tmp_path / "changed", f.with_parameters(**{name: got})))


def test_a_run_of_more_parties_than_the_protocol_has_is_refused(small: Folders, tmp_path: Path) -> None:
    many = f.with_parameters(parties=[f"p{i}" for i in range(LIMITS.parties + 1)])
    with refused("parameters.too_many_parties", most=LIMITS.parties):
        load_evidence(f.forge(small.run, tmp_path / "changed", many))


def unlimited(parameters: type[Any], limits: Limits) -> set[str]:
    """The integers of which a protocol's parameters are made and that it does not limit."""
    return {field.name for field in fields(parameters) if field.type == "int"} - limits.largest.keys()


def test_every_integer_of_the_parameters_has_its_limit() -> None:
    assert unlimited(Parameters, LIMITS) == set()
    assert unlimited(Parameters, Limits({}, 2, None)) == {"dimension", "key_bits", "ring_bits"}


def test_who_makes_a_run_and_who_audits_it_agree_on_the_length_of_keys() -> None:
    keys = LIMITS.keys
    assert LIMITS.largest[keys.parameter] == curator._MAX_KEY_BITS
    assert curator.CuratorTerms(key_bits=keys.shortest - 16).has_test_keys("pathak2010")
    assert not curator.CuratorTerms(key_bits=keys.shortest).has_test_keys("pathak2010")
