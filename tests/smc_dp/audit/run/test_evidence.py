"""What an audit reads is bounded by the protocol's own limits, so that a protocol without keys can be audited too."""

from __future__ import annotations

from dataclasses import fields, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from support import forgeries as f
from support.audited import toy_run
from support.audited_sums import EQUALS, KEYLESS, NUMBERS, PARTIES, PROGRAM, TOYS, Sums, outcomes, recorded

from protocols import programs
from protocols.curator import CURATOR_NAME
from protocols.pathak2010.parameters import Parameters
from protocols.pathak2010.protocol import LIMITS
from protocols.programs import PROTOCOLS, Protocol
from protocols.runtime.protocol import KeyLimits, Limits
from smc_dp.audit.run.conformity import conversation
from smc_dp.audit.run.conformity.conversation import with_schedule
from smc_dp.audit.run.evidence import load_evidence
from smc_dp.core.errors import InputError
from smc_dp.leakage import matrix_text
from smc_dp.leakage.matrix import coalition_matrix
from smc_dp.run.protocols import curator
from smc_dp.run.release import SHARES, TRANSCRIPT
from tests.support.refusals import refused


@pytest.fixture(autouse=True)
def _known(monkeypatch: pytest.MonkeyPatch) -> None:
    """The list in which protocols are looked up has the toy too."""
    monkeypatch.setattr(programs, "PROTOCOLS", {**PROTOCOLS, **TOYS})


OF_THE_RELEASE = {"files", "release", "agreed", "cost", "mechanism", "statement", "insecure-markers", "noise", "models"}


@pytest.mark.parametrize(("protocol", "shares"), [(KEYLESS, 4), (EQUALS, 3)], ids=["a curator", "no curator"])
def test_a_record_of_a_protocol_without_keys_is_read_and_passes(
    protocol: Protocol, shares: int, tmp_path: Path
) -> None:
    evidence = recorded(tmp_path, protocol=protocol).evidence()
    assert evidence.session.parameters == Sums(PARTIES, NUMBERS)
    found = {name: outcome for name, outcome in outcomes(evidence).items() if name not in OF_THE_RELEASE}
    assert [name for name, outcome in found.items() if outcome.status == "failed"] == [], found
    assert {name for name, outcome in found.items() if outcome.status == "not possible"} == {
        *("identities", "approvals", "cosigned", "keys", "units", "repeats", "freshness", "canaries"),
        *(
            "structure",
            "structure-together",
            "distribution",
            "limitations-true",
            "statements",
            "openings",
            "commitments",
        ),
        *("absences", "members", "published-values"),
    }
    assert found["keys"].code == "keys.none_in_protocol"
    assert {found[name].code for name in ("units", "repeats", "freshness")} == {"ciphertext.none_in_protocol"}
    assert found["shares"].fault.fields == {"shares": shares, "numbers": 2}


def test_what_is_said_in_a_greeting_has_its_length(tmp_path: Path) -> None:
    """A greeting is as long as what its sender says in it; a longer one is found, also when its sender signs it."""
    run = recorded(tmp_path / "made", protocol=EQUALS).run
    i = f.read_record(run).place("Hello", "P2")
    assert len(f.read_record(run).envelopes[i].body) == 32 + 3 + 64
    longer = load_evidence(f.forge(run, tmp_path / "longer", f.resize(i, 1), f.linked))
    found = outcomes(longer)
    assert (found["sizes"].status, found["sizes"].line, found["sizes"].party) == ("failed", i + 1, None)
    assert found["sizes"].fault.fields == {"kind": "Hello", "got": 100, "wanted": 99}
    assert found["headers"].status == "not possible", "the signatures do not hold"
    assert with_schedule(conversation.check_headers)(longer).status == "failed"


@pytest.mark.parametrize("K", [2, 3])
def test_the_matrix_of_a_protocol_without_a_curator(K: int) -> None:
    """Whoever is told the sum knows the other's number of two, and nothing of any other of three."""
    found = coalition_matrix(EQUALS, K)
    assert {row.members for row in found.rows} == {c for n in range(1, K + 1) for c in combinations(PARTIES[:K], n)}
    alone = next(row for row in found.rows if row.members == ("P1",))
    level = {2: "all", 3: "nothing"}[K]
    assert alone.cells["x_P1(0)"].level == "own"
    assert (alone.cells["x_P2(0)"].level, alone.cells["x_P2(0)"].beyond) == (level, False)
    assert f"equals, {K} parties" in matrix_text.matrix_as_text(found)


def test_a_star_has_somebody_in_the_middle(tmp_path: Path) -> None:
    run = recorded(tmp_path / "made", protocol=EQUALS).run
    found = outcomes(load_evidence(f.rewritten(run, tmp_path / "star", 0, lambda head: head.update(topology="star"))))
    assert (found["session"].status, found["session"].fault.place) == ("failed", "topology: ")


def test_its_shares_are_held_against_its_own_ring(tmp_path: Path) -> None:
    run = recorded(tmp_path).run
    (run / SHARES).write_text((run / SHARES).read_text().replace('"256"', '"18446744073709551616"'))
    found = outcomes(load_evidence(run))["shares"]
    assert (found.code, found.fault.fields["ring_bits"]) == ("shares.other_modulus", 8)


def test_marks_follow_from_the_protocol(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without keys there are no test keys; without a claim a run is one of a protocol that is kept for its flaws."""
    evidence = recorded(tmp_path).evidence()
    assert outcomes(evidence)["session"].status == "passed"
    flawed = replace(evidence, protocol=replace(KEYLESS, claim=None))
    assert outcomes(flawed)["session"].fault.fields["wanted"] == "insecure seed, as printed"
    short = replace(KEYLESS, limits=replace(KEYLESS.limits, keys=KeyLimits("numbers", shortest=3, replayed=8)))
    found = outcomes(replace(evidence, protocol=short))["session"]
    assert (found.code, found.fault.fields["wanted"]) == (
        "insecure_markers.not_due",
        "insecure seed, insecure test keys",
    )


def beyond(name: str, most: int, got: object) -> tuple[str, dict[str, object]]:
    """The refusal of a parameter that is not from 1 to `most`."""
    return "parameters.out_of_range", {"name": name, "least": 1, "most": most, "got": repr(got)}


@pytest.mark.parametrize(
    ("changed", "code", "fields"),
    [
        ({"numbers": 8}, None, {}),
        *(({"numbers": x}, *beyond("numbers", 8, x)) for x in (9, 0, True, None)),
        ({"parties": ["a", "b", "c", "d", "e", "f"]}, "parameters.too_many_parties", {"most": 5}),
        ({"key_bits": 10**9}, None, {}),
    ],
)
def test_a_record_is_refused_for_its_own_limits_only(
    changed: dict[str, Any], code: str | None, fields: dict[str, object], tmp_path: Path
) -> None:
    run = f.forge(recorded(tmp_path / "made").run, tmp_path / "changed", f.with_parameters(**changed))
    if code is None:
        assert load_evidence(run).protocol is KEYLESS
    else:
        with refused(code, **fields):
            load_evidence(run)


def test_views_are_replayed_as_far_as_the_protocol_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders = recorded(tmp_path)
    for keys, readable in ((KeyLimits("numbers", 1, 2), True), (KeyLimits("numbers", 1, 1), False)):
        limited = replace(KEYLESS, limits=replace(KEYLESS.limits, keys=keys))
        monkeypatch.setattr(programs, "PROTOCOLS", {PROGRAM.name: limited})
        if readable:
            assert folders.evidence().views.keys() == {*PARTIES, CURATOR_NAME}
        else:
            with refused("views.keys_too_long", most=1, parameter="numbers"):
                folders.evidence()
    monkeypatch.setattr(programs, "PROTOCOLS", {PROGRAM.name: replace(KEYLESS, limits=Limits({}, 2, None))})
    with refused("parameters.too_many_parties", most=2):
        load_evidence(folders.run)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda head: head.update(format=1), "has wire format 1, this program reads 3"),
        (lambda head: head.update(format=True), "has wire format True, this program reads 3"),
        (lambda head: head.update(format=2.0), "has wire format 2.0, this program reads 3"),
        (lambda head: head.update(format="2"), "has wire format '2', this program reads 3"),
        (lambda head: head.pop("format"), "has no wire format, this program reads 3"),
    ],
)
def test_a_record_of_another_format_is_refused_in_one_line(change: Any, said: str, tmp_path: Path) -> None:
    run = f.rewritten(recorded(tmp_path / "made").run, tmp_path / "other", 0, change)
    with pytest.raises(InputError) as refused:
        load_evidence(run)
    assert str(refused.value) == f"{run / TRANSCRIPT}: {said}"


def test_lines_shorter_than_any_are_refused_before_they_are_read(tmp_path: Path) -> None:
    """No number of lines is too many, as long as they are as long as lines are."""
    made = recorded(tmp_path / "made").run
    text = (made / TRANSCRIPT).read_text()
    assert len(load_evidence(f.with_text(made, tmp_path / "few", text + "\n" * 99)).lines) == text.count("\n") + 98
    with refused("transcript.short_lines", least=200):
        load_evidence(f.with_text(made, tmp_path / "many", text + "\n" * 200))
    long = load_evidence(f.with_text(made, tmp_path / "long", text + (" " * 199 + "\n") * 70_000))
    assert len(long.lines) == text.count("\n") - 1 + 70_000


# The limits of the protocol that there is.


@pytest.mark.parametrize("name", sorted(LIMITS.largest))
def test_a_run_beyond_one_limit_of_the_protocol_is_refused(name: str, tmp_path: Path) -> None:
    run, most = toy_run(tmp_path / "made", (5, 9), 1).run, LIMITS.largest[name]
    code, fields = beyond(name, most, most + 1)
    with refused(code, **fields):
        load_evidence(f.forge(run, tmp_path / "changed", f.with_parameters(**{name: most + 1})))


def unlimited(parameters: type[Any], limits: Limits) -> set[str]:
    """The integers of which a protocol's parameters are made and that it does not limit."""
    return {field.name for field in fields(parameters) if field.type == "int"} - limits.largest.keys()


def test_every_integer_of_the_parameters_has_its_limit() -> None:
    assert unlimited(Parameters, LIMITS) == unlimited(Sums, KEYLESS.limits) == set()
    assert unlimited(Parameters, KEYLESS.limits) == {"dimension", "key_bits", "ring_bits"}


def test_who_makes_a_run_and_who_audits_it_agree_on_the_length_of_keys() -> None:
    keys = LIMITS.keys
    assert keys is not None
    assert LIMITS.largest[keys.parameter] == curator._MAX_KEY_BITS
    assert curator.CuratorTerms(key_bits=keys.shortest - 16).has_test_keys("pathak2010")
    assert not curator.CuratorTerms(key_bits=keys.shortest).has_test_keys("pathak2010")
