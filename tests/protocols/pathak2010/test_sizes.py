"""What a message weighs depends on public parameters alone.

That it does not depend on data is tried in `test_the_wire_is_the_same_for_all_data_and_all_coins`.
"""

from __future__ import annotations

import cbor2
import pytest
from support.sessions import PROGRAMS, Setup, setup

from protocols.crypto.identity import SIGNATURE_BYTES
from protocols.crypto.sealing import OVERHEAD_BYTES
from protocols.runtime import message
from protocols.runtime.envelope import HELLO, STAGE_END, Envelope
from protocols.runtime.session import PUBLIC_NAME, Program


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
