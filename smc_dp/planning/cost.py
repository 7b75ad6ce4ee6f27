"""Cost of a session before it takes place: exact messages, bytes and rounds, and one estimate of processor time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from protocols.errors import LocalError
from protocols.programs import PROTOCOLS, Protocol
from protocols.runtime.conversation import PredictedTraffic, predict_traffic
from smc_dp.core.errors import InputError
from smc_dp.planning.operation_costs import estimated_seconds


class SessionSpec(NamedTuple):
    """Session specification: a protocol and its parameters."""

    protocol: Protocol
    parameters: Any


def party_names(count: int) -> tuple[str, ...]:
    """Return `count` names, as a run gives them."""
    return tuple(f"party-{j}" for j in range(1, count + 1))


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
    """Traffic of all participants in one role together; public messages have no receiver."""

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
    """Return the cost of this session; `measure`: time operations on this machine, to estimate the processor time.

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
    messages, size, rounds = (
        sum(getattr(stage, name) for stage in by_stage) for name in ("messages", "bytes", "rounds")
    )
    return SessionCost(
        protocol.program.name,
        p.as_dict(),
        messages,
        size,
        rounds,
        by_stage,
        tuple(_roles(foreseen)),
        estimated_seconds(p, conversation.operations, foreseen) if measure else None,
    )


def _roles(foreseen: PredictedTraffic) -> Iterator[RoleTraffic]:
    for role, names in foreseen.groups.items():
        sent = foreseen.by_group[role]
        yield RoleTraffic(role, len(names), sent.messages, sent.bytes, sent.received, sent.received_bytes)
