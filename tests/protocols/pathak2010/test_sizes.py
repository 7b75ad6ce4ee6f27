"""What a message weighs depends on public parameters alone.

That it does not depend on data is tried in `test_the_wire_is_the_same_for_all_data_and_all_coins`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import cbor2
import pytest
from broken import runtime_roles
from support.sessions import PRINTED, PROGRAMS, Setup, setup, with_roles

from protocols.crypto.identity import SIGNATURE_BYTES
from protocols.crypto.sealing import OVERHEAD_BYTES
from protocols.pathak2010 import PROGRAM, party
from protocols.runtime import message
from protocols.runtime.envelope import HELLO, STAGE_END, Envelope
from protocols.runtime.session import PUBLIC_NAME, Program

Shape = dict[tuple[str, str], list[tuple[str, str, int, int]]]


def shape(envelopes: Iterable[Envelope]) -> Shape:
    """Kind, stage, number and size of every message, link by link."""
    links: Shape = defaultdict(list)
    for e in envelopes:
        links[e.sender, e.to].append((e.kind, e.stage, e.number, e.size))
    return dict(links)


def sent(made: Setup) -> list[Envelope]:
    return made.simulate().transcript.envelopes


@pytest.mark.parametrize("program", PROGRAMS, ids=["hardened", "printed"])
@pytest.mark.parametrize("K", [2, 4])
def test_each_kind_has_its_declared_size(program: Program, K: int) -> None:
    """The body is the declared encoding and the seal, or the signature; nothing else."""
    made = setup(K, 5, program=program, weights=(0, 2**64 - 1, 1, 7)[:K])
    kinds = {kind.__name__: message.size(kind, made.session.layout) for kind in program.kinds} | {
        STAGE_END: 0,
        HELLO: 32,
    }
    for e in sent(made):
        seal = SIGNATURE_BYTES if e.to == PUBLIC_NAME or e.kind == HELLO else OVERHEAD_BYTES
        assert len(e.body) == kinds[e.kind] + seal
        assert e.size == len(cbor2.dumps([*cbor2.loads(e.header), e.body]))


def test_sizes_follow_the_public_parameters() -> None:
    """The comparison of shapes can fail: it sees another dimension, another number of parties, another search."""
    usual = shape(sent(setup(3, 2)))
    for other in (setup(3, 3), setup(4, 2), setup(3, 2, "all-pairs"), setup(3, 2, program=PRINTED)):
        assert shape(sent(other)) != usual


def wide_as_needed(made: Setup) -> Setup:
    """Twin: a layout with room for the largest size in use and no more."""
    largest = max(inputs[1].n for name, inputs in made.inputs.items() if name != "charlie")
    parameters = made.session.parameters
    room = parameters.sizes.bits // 8 + max(1, largest.bit_length())
    parameters.__dict__["_layout"] = parameters.layout() | {"sizes": room}
    return made


def test_layout_that_follows_the_data_is_caught() -> None:
    runs = [sent(wide_as_needed(setup(3, 2, sizes=sizes))) for sizes in ((1, 2, 3), (1, 2, 3000))]
    assert shape(runs[0]) != shape(runs[1])


async def talkative(me: Any, p: Any, mine: Any) -> Any:
    """Twin: as many words as records."""
    await me.stage(runtime_roles.chatter, mine.n)
    return await party(me, p, mine)


def test_role_that_says_more_for_more_data_is_caught() -> None:
    program = with_roles(PROGRAM, party=talkative)
    runs = [sent(setup(3, 2, sizes=sizes, program=program)) for sizes in ((1, 2, 3), (1, 2, 4))]
    assert shape(runs[0]) != shape(runs[1])
