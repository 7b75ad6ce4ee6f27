"""Fresh executions of a protocol on given inputs, for the checks of its code."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from protocols.arithmetic.rng import Stream
from protocols.crypto.identity import Identity
from protocols.runtime.actor import NO_LOCAL_PROGRAMS, LocalProgram
from protocols.runtime.claims import Inputs
from protocols.runtime.session import SESSION_BYTES, Program, Session
from protocols.runtime.simulate import DropOutAfter, Run, Setting, simulate


def execute(
    program: Program,
    p: Any,
    inputs: Inputs,
    rng: Stream,
    drop_outs: Mapping[str, int] = MappingProxyType({}),
    local_programs: Mapping[str, LocalProgram] = NO_LOCAL_PROGRAMS,
) -> Run:
    """Execute a protocol once with views; `drop_outs` names drop-outs, each after this many messages.

    `local_programs` answer the queries of roles. All randomness comes from forks of `rng`.
    """
    identities = {name: Identity.generate(rng.fork(f"identity {name}")) for name in inputs}
    public = {name: identity.public for name, identity in identities.items()}
    session = Session(program, p, public, rng.fork("nonce").bytes(SESSION_BYTES))
    seeds = {name: rng.fork(f"seed {name}") for name in inputs}
    leaving = {name: DropOutAfter(count) for name, count in drop_outs.items()}
    return simulate(session, identities, seeds, inputs, Setting(drop_outs=leaving, views=True), local_programs)
