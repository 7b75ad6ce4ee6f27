"""What an audit reads is bounded by the protocol's own limits, so that a protocol without keys can be audited too."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any

import pytest
from support import forgeries as f
from support.audited import Folders, toy_run
from support.sessions import Setup, start

from protocols import programs
from protocols.arithmetic.ring import Ring, Vector
from protocols.pathak2010.limits import LIMITS
from protocols.pathak2010.parameters import Parameters
from protocols.programs import PROTOCOLS, Protocol
from protocols.runtime.claims import Claim, Hygiene, Model, Unknown
from protocols.runtime.endpoint import Endpoint
from protocols.runtime.limits import KeyLimits, Limits
from protocols.runtime.message import CURATOR, PARTY, PUBLIC, Message, Times, message, public, shared
from protocols.runtime.session import CURATOR_NAME, Program
from smc_dp.audit.run import checks
from smc_dp.audit.run.check import CheckOutcome
from smc_dp.audit.run.evidence import Evidence, load
from smc_dp.audit.run.report import audit_evidence
from smc_dp.errors import InputError
from smc_dp.run import agreement
from smc_dp.run.agreement import SEEDED
from smc_dp.run.folder import RELEASE, SHARES, TRANSCRIPT

# A protocol without keys: additive shares of a sum mod 2**8, and a curator who adds up.

BYTES = Ring(8)
PARTIES, NUMBERS = ("P1", "P2", "P3"), 2


@message("1", PARTY >> CURATOR)
class Part(Message):
    """A share of the sender's numbers."""

    x: Annotated[tuple[int, ...], shared("byte"), Times("numbers")]


@message("2", (PARTY >> PUBLIC) | (CURATOR >> PUBLIC))
class Sum(Message):
    """The sender's share of the sum."""

    y: Annotated[tuple[int, ...], public("byte"), Times("numbers")]


@dataclass(frozen=True)
class Sums:
    """Parties by name, and how many numbers each has."""

    parties: tuple[str, ...]
    numbers: int

    @classmethod
    def from_dict(cls, stated: Mapping[str, Any]) -> Sums:
        return cls(tuple(stated["parties"]), stated["numbers"])

    def as_dict(self) -> dict[str, Any]:
        return {"parties": list(self.parties), "numbers": self.numbers}

    def layout(self) -> dict[str, int]:
        return {"byte": 1, "numbers": self.numbers}


async def split(me: Endpoint, mine: Vector) -> None:
    own, other = BYTES.split_vector(mine, 2, me.rng)
    me.send(me.curator, Part(other))
    me.publish(Sum(own))


async def add_up(me: Endpoint) -> None:
    me.publish(Sum(BYTES.add_vectors(*(part.x for part in await me.gather(me.parties, Part)))))


async def party(me: Endpoint, p: Sums, mine: Vector) -> None:
    await me.stage(split, mine)


async def curator(me: Endpoint, p: Sums) -> None:
    await me.stage(add_up)


def inputs(p: Sums, unknown: Unknown) -> dict[str, tuple[Any, ...]]:
    made = {name: (p, tuple(unknown(f"x_{name}({i})", 8) for i in range(p.numbers))) for name in p.parties}
    return {**made, CURATOR_NAME: (p,)}


def agrees(p: Sums, given: Mapping[str, tuple[Any, ...]], published: Mapping[str, Sum]) -> bool:
    total = BYTES.add_vectors(*(share.y for share in published.values()))
    return total == BYTES.add_vectors(*(given[name][1] for name in p.parties))


HYGIENE = Hygiene(40, lambda p: (), (), lambda p: (8, 0), agrees, lambda p: 8)
MODEL = Model(lambda p: p, inputs, (), lambda p: (), lambda K: Sums(PARTIES, 1), lambda p, j: {}, HYGIENE)
PROGRAM = Program("sums", 1, {PARTY: party, CURATOR: curator}, (Part, Sum), (), Sums)
KEYLESS = Protocol(PROGRAM, MODEL, Claim({}, ()), Limits({"numbers": 8}, 5, None))


@pytest.fixture(autouse=True)
def _known(monkeypatch: pytest.MonkeyPatch) -> None:
    """The list in which protocols are looked up has the toy too."""
    monkeypatch.setattr(programs, "PROTOCOLS", {**PROTOCOLS, PROGRAM.name: KEYLESS})


def recorded(folder: Path, numbers: int = NUMBERS, parties: tuple[str, ...] = PARTIES) -> Folders:
    """A run of the toy as a folder, with its views; the release states nothing, for no method makes one."""
    p = Sums(parties, numbers)
    made: Setup = start(PROGRAM, p, inputs(p, lambda name, bits: len(name)))
    done = made.simulate(marks=(SEEDED,), views=True)
    shares = {name: [str(y) for y in done.published[name].y] for name in made.session.names}
    found = Folders(folder / "run", folder / "views")
    found.run.mkdir(parents=True)
    found.views.mkdir()
    (found.run / RELEASE).write_text(json.dumps({"digests": {}}))
    (found.run / SHARES).write_text(json.dumps({"modulus": "256", "shares": shares}))
    (found.run / TRANSCRIPT).write_text(done.transcript.dumps())
    for name, view in done.recorded.items():
        (found.views / f"{name}.view").write_bytes(view.dumps(made.session))
    return found


def outcomes(evidence: Evidence) -> dict[str, CheckOutcome]:
    return {f.check.name: f.outcome for f in audit_evidence(evidence, checks.CHECKS).findings}


OF_THE_RELEASE = {"files", "release", "agreed", "cost", "mechanism", "statement", "marks", "noise", "models"}


def test_a_record_of_a_protocol_without_keys_is_read_and_passes(tmp_path: Path) -> None:
    evidence = recorded(tmp_path).evidence()
    assert evidence.session.parameters == Sums(PARTIES, NUMBERS)
    found = {name: outcome for name, outcome in outcomes(evidence).items() if name not in OF_THE_RELEASE}
    assert [name for name, outcome in found.items() if outcome.status == "failed"] == [], found
    assert {name for name, outcome in found.items() if outcome.status == "not possible"} == {
        *("identities", "keys", "units", "repeats", "freshness", "canaries"),
        *("structure", "structure-together", "law", "boundary"),
    }
    assert found["keys"].detail == "this protocol has no keys"
    assert found["shares"].detail.startswith("4 shares of 2 numbers")


def test_its_shares_are_held_against_its_own_ring(tmp_path: Path) -> None:
    run = recorded(tmp_path).run
    (run / SHARES).write_text((run / SHARES).read_text().replace('"256"', '"18446744073709551616"'))
    found = outcomes(load(run))["shares"]
    assert (found.status, found.detail[:27]) == ("failed", "modulus: wanted 2**8, got '")


def test_marks_follow_from_the_protocol(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without keys there are no test keys; without a claim a run is one of a protocol that is kept for its flaws."""
    evidence = recorded(tmp_path).evidence()
    assert outcomes(evidence)["session"].status == "passed"
    flawed = replace(evidence, protocol=replace(KEYLESS, claim=None))
    assert "wanted insecure seed, as printed" in outcomes(flawed)["session"].detail
    short = replace(KEYLESS, limits=replace(KEYLESS.limits, keys=KeyLimits("numbers", shortest=3, replayed=8)))
    assert "wanted insecure seed, insecure test keys" in outcomes(replace(evidence, protocol=short))["session"].detail


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"numbers": 8}, None),
        ({"numbers": 9}, "numbers: wanted 1 to 8, got 9"),
        ({"numbers": 0}, "numbers: wanted 1 to 8, got 0"),
        ({"numbers": True}, "numbers: wanted 1 to 8, got True"),
        ({"numbers": None}, "numbers: wanted 1 to 8, got None"),
        ({"parties": ["a", "b", "c", "d", "e", "f"]}, "wanted at most 5 parties"),
        ({"key_bits": 10**9}, None),
    ],
)
def test_a_record_is_refused_for_its_own_limits_only(changed: dict[str, Any], said: str | None, tmp_path: Path) -> None:
    run = f.forge(recorded(tmp_path / "made").run, tmp_path / "changed", f.with_parameters(**changed))
    if said is None:
        assert load(run).protocol is KEYLESS
    else:
        with pytest.raises(InputError, match=said):
            load(run)


def test_views_are_replayed_as_far_as_the_protocol_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders = recorded(tmp_path)
    for keys, readable in ((KeyLimits("numbers", 1, 2), True), (KeyLimits("numbers", 1, 1), False)):
        limited = replace(KEYLESS, limits=replace(KEYLESS.limits, keys=keys))
        monkeypatch.setattr(programs, "PROTOCOLS", {PROGRAM.name: limited})
        if readable:
            assert folders.evidence().views.keys() == {*PARTIES, CURATOR_NAME}
        else:
            with pytest.raises(InputError, match="views are replayed up to 1 numbers only"):
                folders.evidence()
    monkeypatch.setattr(programs, "PROTOCOLS", {PROGRAM.name: replace(KEYLESS, limits=Limits({}, 2, None))})
    with pytest.raises(InputError, match="wanted at most 2 parties"):
        load(folders.run)


# The limits of the protocol that there is.


@pytest.mark.parametrize("name", sorted(LIMITS.largest))
def test_a_run_beyond_one_limit_of_the_protocol_is_refused(name: str, tmp_path: Path) -> None:
    run, most = toy_run(tmp_path / "made", (5, 9), 1).run, LIMITS.largest[name]
    said = f"{name}: wanted 1 to {most}, got {most + 1}"
    with pytest.raises(InputError, match=said):
        load(f.forge(run, tmp_path / "changed", f.with_parameters(**{name: most + 1})))


def unlimited(parameters: type[Any], limits: Limits) -> set[str]:
    """The integers of which a protocol's parameters are made and that it does not limit."""
    return {field.name for field in fields(parameters) if field.type == "int"} - limits.largest.keys()


def test_every_integer_of_the_parameters_has_its_limit() -> None:
    assert unlimited(Parameters, LIMITS) == unlimited(Sums, KEYLESS.limits) == set()
    assert unlimited(Parameters, KEYLESS.limits) == {"dimension", "key_bits", "ring_bits"}


def test_who_makes_a_run_and_who_audits_it_agree_on_the_length_of_keys() -> None:
    keys = LIMITS.keys
    assert keys is not None
    assert LIMITS.largest[keys.parameter] == agreement._MAX_KEY_BITS
    with pytest.raises(InputError, match=f"wanted at least {keys.shortest}"):
        agreement.check_keys("pathak2010", keys.shortest - 16)
    agreement.check_keys("pathak2010", keys.shortest)
