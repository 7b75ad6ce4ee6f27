"""The ideal functionality in place of a protocol: what `aggregation.secure` returns, without a message being sent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from protocols.arithmetic.ring import Ring
from protocols.arithmetic.rng import Stream
from protocols.runtime.transcript import Transcript
from smc_dp.aggregation import Cost, Execution, Functionality, Outcome, Participants, ideal


def shared(value: Sequence[int], names: Sequence[str], ring_bits: int, rng: Stream) -> dict[str, list[int]]:
    """Additive shares of the value, one for each name."""
    ring = Ring(ring_bits)
    shares = ring.split_vector(ring.vector(value), len(names), rng)
    return {name: list(share) for name, share in zip(names, shares, strict=True)}


def in_the_clear(
    functionality: Functionality,
    parts: Sequence[Any],
    taking_part: Participants,
    *,
    rng: Stream,
    cost: Cost | None = None,
    **_: Any,
) -> Outcome:
    """In place of `aggregation.secure`."""
    session = taking_part.session
    bits = session.parameters.ring_bits
    value = ideal(functionality, parts, rng).value
    return Outcome(value, Execution(shared(value, session.names, bits, rng), 1 << bits, cost, Transcript(session)))
