"""Every protocol of the package is in the list in which an audit looks it up, and keeps what that list promises."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import pytest

import protocols
from protocols import programs
from protocols.arithmetic.rng import Stream
from protocols.comparison import ideal
from protocols.errors import LocalError
from protocols.pathak2010 import PROGRAM
from protocols.programs import PROTOCOLS, Protocol
from protocols.runtime.claims import Claim, readings
from protocols.runtime.protocol import Limits
from protocols.runtime.session import Program
from smc_dp.leakage.executions import execute
from tests.support.refusals import refused

NAMES = sorted(PROTOCOLS)


def all_programs() -> Iterator[Program]:
    """The program of every folder that has one."""
    for module in pkgutil.iter_modules(protocols.__path__, "protocols."):
        if module.ispkg:
            found = vars(importlib.import_module(module.name)).get("PROGRAM")
            if isinstance(found, Program):
                yield found


def unlisted(found: Iterable[Program], listed: Mapping[str, Protocol]) -> list[str]:
    return [program.name for program in found if listed.get(program.name, None) is None]


def test_every_program_is_in_the_list() -> None:
    assert PROGRAM.name in {program.name for program in all_programs()}
    assert unlisted(all_programs(), PROTOCOLS) == []
    assert all(protocol.program.name == name for name, protocol in PROTOCOLS.items())


def test_a_program_that_is_left_out_is_noticed() -> None:
    assert unlisted(all_programs(), {}) == [program.name for program in all_programs()]


@pytest.mark.parametrize("name", NAMES)
def test_a_protocol_is_found_by_name_and_version_only(name: str) -> None:
    program = PROTOCOLS[name].program
    assert programs.find_protocol(name, program.version) is PROTOCOLS[name]
    with refused("program.unknown", error=LocalError, got=name[:40]):
        programs.find_protocol(name, program.version + 1)
    with refused("program.unknown", error=LocalError, got=name[:40]):
        programs.find_protocol(name, 0)


def test_an_earlier_version_of_a_protocol_is_refused_with_the_version_that_reads_it() -> None:
    version = PROTOCOLS["secure_sum"].program.version
    with refused("program.of_an_earlier_version", error=LocalError, version=version - 1, reads=programs.LAST_RELEASE):
        programs.find_protocol("secure_sum", version - 1)


def holds(protocol: Protocol, gives: Callable[[Any, Any], Mapping[str, Any]] = ideal.gives) -> bool:
    """Whether a run at toy size on drawn inputs publishes what the ideal functionality makes of them; where there are
    no real runs, as of a comparison, whether it gives that.
    """
    rng, p = Stream.insecure_from_seed("programs"), protocol.model.sample(3)
    inputs = protocol.model.inputs(p, lambda name, bits: rng.bits(bits))
    done = execute(protocol.program, p, inputs, rng.fork("run"))
    if protocol.model.hygiene is not None:
        return protocol.model.hygiene.agrees(p, inputs, done.published)
    return done.results == gives(p, inputs)


@pytest.mark.parametrize("name", NAMES)
def test_a_run_gives_what_the_ideal_functionality_gives(name: str) -> None:
    assert holds(PROTOCOLS[name])


@pytest.mark.parametrize("name", NAMES)
def test_another_functionality_is_told_apart(name: str) -> None:
    protocol = PROTOCOLS[name]
    model, hygiene = protocol.model, protocol.model.hygiene

    def other(p: Any, inputs: Any, published: Mapping[str, Any]) -> bool:
        return bool(hygiene and hygiene.agrees(p, protocol.model.inputs(p, lambda name, bits: 1), published))

    if hygiene is not None:
        model = replace(model, hygiene=replace(hygiene, agrees=other))
    assert not holds(replace(protocol, model=model), lambda p, inputs: dict.fromkeys(inputs))


@pytest.mark.parametrize("name", [name for name in NAMES if PROTOCOLS[name].model.hygiene])
def test_each_mask_of_the_model_hides_a_field_in_numbers_of_its_length(name: str) -> None:
    """Of some uniform numbers the largest is nearly as long as they can be."""
    protocol, rng = PROTOCOLS[name], Stream.insecure_from_seed("masks")
    hygiene, p = protocol.model.hygiene, protocol.model.sample(7)
    found = set[str]()
    for q in (p, *protocol.model.profiles(p)):
        inputs = protocol.model.inputs(q, lambda name, bits: rng.bits(bits))
        leaving = {name: 20 for name in protocol.model.drop_outs(q)[-1:]}
        run = execute(protocol.program, q, inputs, rng.fork(str(q.as_dict())), leaving)
        masks, private = hygiene.masks(q), readings(*run.views.values())
        read = {mask: mask.unpack(private[mask.place]) for mask in masks if mask.place in private}
        for mask, numbers in read.items():
            found.add(mask.place)
            if protocol.claim is not None:  # the published steps blind with numbers of either sign
                assert mask.bits - 8 <= max(numbers).bit_length() <= mask.bits, mask.place
        kinds = {kind.__name__: kind for kind in protocol.program.kinds}
        for mask in masks:
            kind, _, field = mask.place.partition(".")
            assert {slot.protection.category for slot in kinds[kind].slots if slot.name == field} - {"public"}
            assert (mask.slack is None) == (mask.hidden is None)
        slack = [mask.slack for mask in masks if mask.slack is not None]
        assert all(bits >= hygiene.sigma for bits in slack) == (protocol.claim is not None)
    assert found == {mask.place for mask in hygiene.masks(p)}


@pytest.mark.parametrize("name", NAMES)
def test_variants_are_other_sessions_of_the_same_participants(name: str) -> None:
    protocol, p = PROTOCOLS[name], PROTOCOLS[name].model.sample(3)
    others = protocol.model.variants(p)
    assert p not in others
    assert {tuple(protocol.program.participants(q)) for q in others} <= {tuple(protocol.program.participants(p))}


@pytest.mark.parametrize("name", NAMES)
def test_keys_shorter_than_the_shortest_are_test_keys(name: str) -> None:
    limits, p = PROTOCOLS[name].limits, PROTOCOLS[name].model.sample(3)
    if limits.keys is None:
        assert not limits.are_test_keys(p)
    else:
        lengths = (limits.keys.shortest - 16, limits.keys.shortest)
        assert [limits.are_test_keys(replace(p, key_bits=bits)) for bits in lengths] == [True, False]


def unlimited(parameters: type[Any], limits: Limits) -> set[str]:
    """The integers of which a protocol's parameters are made and that it does not limit."""
    return {field.name for field in fields(parameters) if field.type in ("int", int)} - limits.largest.keys()


@dataclass(frozen=True)
class Unbounded:
    """Broken: parameters with an integer that nobody limits."""

    parties: tuple[str, ...]
    rounds: int


@pytest.mark.parametrize("name", NAMES)
def test_every_integer_of_the_parameters_has_its_limit(name: str) -> None:
    protocol = PROTOCOLS[name]
    assert protocol.program.parameters is not None
    assert unlimited(protocol.program.parameters, protocol.limits) == set()
    assert unlimited(Unbounded, protocol.limits) == {"rounds"}


def untried(claims: Mapping[str, Claim]) -> set[str]:
    """The folders whose claim nobody can try as a whole."""
    listed = [protocol.claim for protocol in PROTOCOLS.values()]
    return {room for room, claim in claims.items() if claim.trials is None or claim not in listed}


def test_every_claim_is_tried_also_that_of_a_step_inside_of_others() -> None:
    """That each holds is a result of the checks of code, which `tests/smc_dp/audit/run` computes."""
    rooms = {path.parent.name for path in Path(protocols.__path__[0]).glob("*/ideal.py")}
    claims: dict[str, Claim] = {room: importlib.import_module(f"protocols.{room}.ideal").CLAIM for room in rooms}
    assert "comparison" in claims
    assert untried(claims) == set()
    assert untried({"comparison": replace(claims["comparison"], trials=None)}) == {"comparison"}
