"""Cost of a session before it takes place: exact messages, bytes and rounds, and one estimate of processor time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from protocols.errors import LocalError
from protocols.programs import PROTOCOLS, Protocol
from protocols.runtime.conversation import PredictedTraffic, predict_traffic
from smc_dp.core.errors import InputError
from smc_dp.planning.operation_costs import estimated_seconds

HOLDER = "party"
"""What parties are called before their numbers, where nobody names them."""


class SessionSpec(NamedTuple):
    """A protocol, and its parameters."""

    protocol: Protocol
    parameters: Any


def party_names(count: int, holder: str = HOLDER) -> tuple[str, ...]:
    """Return `count` names, as a run gives them."""
    return tuple(f"{holder}-{j}" for j in range(1, count + 1))


def check_limits(protocol: str, parties: int, dimension: int) -> None:
    """Raise InputError for more parties or columns (the constant one among them) than the protocol allows."""
    limits = PROTOCOLS[protocol].limits
    if parties > limits.parties:
        raise InputError("plan.too_many_parties", protocol=protocol, most=limits.parties, got=parties)
    most = limits.largest.get("dimension")
    if most is not None and dimension > most:
        raise InputError("plan.too_many_columns", protocol=protocol, most=most - 1, got=dimension - 1)


@dataclass(frozen=True)
class StageTraffic:
    """Messages, bytes and rounds of one stage."""

    stage: str
    messages: int
    bytes: int
    rounds: int


@dataclass(frozen=True)
class RoleTraffic:
    """What all participants in one role send and receive together; what is public has no receiver."""

    role: str
    participants: int
    messages: int
    bytes: int
    received_messages: int
    received_bytes: int


@dataclass(frozen=True)
class SessionCost:
    """Cost of a session without drop-outs, over links that add nothing to a message.

    Messages, bytes and rounds are exact. `cpu_seconds` estimates the protocol's processor time here, of all roles,
    without training, drawing noise and the answers of parties between sums; None where nothing was measured.
    """

    protocol: str
    parameters: Mapping[str, Any] = field(repr=False)
    messages: int
    bytes: int
    rounds: int
    by_stage: tuple[StageTraffic, ...]
    by_role: tuple[RoleTraffic, ...]
    cpu_seconds: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return asdict(self)


def session_cost(spec: SessionSpec, *, measure: bool = False) -> SessionCost:
    """Return the cost of this session; `measure` what operations take on this machine, for the estimate of its time.

    Raises InputError for a protocol that declares no conversation.
    """
    protocol, p = spec
    if protocol.conversation is None:
        raise InputError("plan.no_conversation", name=protocol.program.name)
    conversation = protocol.conversation(p)
    try:
        foreseen = predict_traffic(protocol.program, p, conversation)
    except LocalError as error:
        raise InputError(error.fault) from None
    by_stage = tuple(StageTraffic(name, t.messages, t.bytes, t.rounds) for name, t in foreseen.by_stage.items())
    return SessionCost(
        protocol.program.name,
        p.as_dict(),
        sum(stage.messages for stage in by_stage),
        sum(stage.bytes for stage in by_stage),
        sum(stage.rounds for stage in by_stage),
        by_stage,
        tuple(_roles(foreseen)),
        estimated_seconds(p, conversation.operations, foreseen) if measure else None,
    )


def _roles(foreseen: PredictedTraffic) -> list[RoleTraffic]:
    return [
        RoleTraffic(role, len(names), tally.messages, tally.bytes, tally.received, tally.received_bytes)
        for role, names in foreseen.groups.items()
        for tally in [foreseen.by_group[role]]
    ]
