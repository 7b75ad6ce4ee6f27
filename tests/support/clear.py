"""The ideal functionality in place of a protocol, with no message but the shares; and a protocol under a hook."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import Any

from protocols.arithmetic.ring import Ring
from protocols.arithmetic.rng import Stream
from protocols.runtime import message as messages
from protocols.runtime.envelope import START, Envelope
from protocols.runtime.session import PUBLIC_NAME
from protocols.runtime.simulate import Setting
from protocols.runtime.simulate import simulate as simulated
from protocols.runtime.transcript import Transcript
from smc_dp.methods.functionality import Functionality, ideal
from smc_dp.run.protocols.cost import Cost, Execution, Outcome
from smc_dp.run.protocols.execution import SimulatedSession


def shared(value: Sequence[int], names: Sequence[str], ring_bits: int, rng: Stream) -> dict[str, list[int]]:
    """Additive shares of the value, one for each name."""
    ring = Ring(ring_bits)
    shares = ring.split_vector(ring.vector(value), len(names), rng)
    return {name: list(share) for name, share in zip(names, shares, strict=True)}


def in_the_clear(
    functionality: Functionality,
    parts: Sequence[Any],
    taking_part: SimulatedSession,
    *,
    rng: Stream,
    setting: Setting,
    cost: Cost | None = None,
    **_: Any,
) -> Outcome:
    """In place of `execution.run_session`."""
    session = taking_part.session
    bits = session.parameters.ring_bits
    value = ideal(functionality, parts, rng)
    shares, record = shared(value, session.names, bits, rng), Transcript(session, setting.marks, setting.topology)
    for name, share in shares.items():
        record.post(published(taking_part, name, share))
    return Outcome(value, Execution(shares, 1 << bits, (session.parties,), (), cost, record))


def published(taking_part: SimulatedSession, name: str, share: Sequence[int]) -> Envelope:
    """A share as its owner signs it, with nothing sent before."""
    session = taking_part.session
    bare = Envelope(session.id, name, PUBLIC_NAME, "PublishedShare", "stage3", 0, 1, START, b"")
    kind = session.kinds["PublishedShare"]
    opening = [bytes(session.layout["opening"])] if len(fields(kind)) == 2 else []  # as printed there is none
    payload = messages.encode(kind(tuple(share), *opening), session.layout, {})
    return bare.holding(payload + taking_part.identities[name].sign(bare.header + payload))


Tamper = Callable[[int, Envelope], list[tuple[str, Envelope]]]


def striking(tamper: Tamper, posted: list[Envelope]) -> Callable[..., Any]:
    """The real protocol under this hook, and what was posted until it ended."""

    def simulate(session: Any, identities: Any, seeds: Any, inputs: Any, setting: Any, *home: Any) -> Any:
        def watched(n: int, envelope: Envelope) -> list[tuple[str, Envelope]]:
            posted.append(envelope)
            return tamper(n, envelope)

        return simulated(session, identities, seeds, inputs, replace(setting, tamper=watched), *home)

    return simulate
