"""A long run does not fill the memory: above what roles hold, at most twice the bytes of one stage."""

from __future__ import annotations

import tempfile
import tracemalloc
from typing import IO, Annotated

from support.parties import Parties
from support.sessions import names, start

from protocols.runtime.endpoint import Endpoint
from protocols.runtime.message import PARTY, Message, message, public
from protocols.runtime.session import Program

K, BYTES, STAGES = 6, 1 << 15, 4
STAGE = K * (K - 1) * BYTES


@message("1", PARTY >> PARTY)
class Blob(Message):
    """Many bytes."""

    x: Annotated[bytes, public("blob")]


async def exchange(me: Endpoint) -> int:
    me.broadcast(me.others, Blob(bytes(BYTES)))
    return sum([len((await me.receive(other, Blob)).x) for other in me.others])


async def party(me: Endpoint, p: Parties) -> None:
    for r in range(STAGES):
        await me.stage(exchange, name=f"round{r}")


PROGRAM = Program(
    "blobs", 1, {PARTY: party}, (Blob,), (), Parties, participants=lambda p: dict.fromkeys(p.parties, PARTY)
)


def peak(record: IO[bytes] | None) -> int:
    p = Parties(names(K), {"blob": BYTES})
    made = start(PROGRAM, p, dict.fromkeys(p.parties, (p,)))
    with tempfile.TemporaryFile() as scratch:
        made.simulate(record=scratch)  # whatever is made once
    tracemalloc.start()
    try:
        run = made.simulate(record=record)
        assert run.ends == dict.fromkeys(p.parties, "done")
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_run_holds_at_most_two_stages_of_mail() -> None:
    with tempfile.TemporaryFile() as record:
        assert peak(record) < 2 * STAGE
        record.seek(0)
        assert sum(len(line) for line in record) > STAGES * STAGE  # all of it is in the file
