"""What a person reads of a forecast."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from protocols.curator import CURATOR_NAME

if TYPE_CHECKING:
    from smc_dp.forecasts.forecast import Forecast

STAGES = ("stage", "messages", "bytes", "rounds")
_ROLES = ("role", "participants", "sends", "bytes sent", "gets", "bytes got")


def headings(found: Forecast) -> tuple[str, ...]:
    """Those of `roles`."""
    return _ROLES if found.seconds is None else (*_ROLES, "seconds each")


def title(found: Forecast) -> str:
    """What it is about."""
    return f"{found.protocol} among {parties(found)} parties, if nobody vanishes"


def parties(found: Forecast) -> int:
    """How many there are."""
    return sum(role.participants for role in found.by_role if role.role != CURATOR_NAME)


def stages(found: Forecast) -> Iterator[tuple[str, ...]]:
    """A row of text under `STAGES` for every stage, and one for all."""
    for stage in found.by_stage:
        yield stage.stage, *_figures(stage.messages, stage.bytes, stage.rounds)
    yield "all", *_figures(found.messages, found.bytes, found.rounds)


def roles(found: Forecast) -> Iterator[tuple[str, ...]]:
    """A row of text under `headings` for everybody who has one role."""
    for role in found.by_role:
        counts = _figures(role.messages, role.bytes, role.received_messages, role.received_bytes)
        yield role.role, f"{role.participants:,}", *counts, *(() if role.seconds is None else (f"{role.seconds:.2g}",))


def notes(found: Forecast) -> Iterator[str]:
    """What the figures mean."""
    yield "Messages, bytes and rounds are those of the record, for parties of these names; of a role all together."
    if found.seconds is None:
        return
    over = "without the time that links take" if found.link == "none" else f"over links as in {found.link}"
    yield f"From start to end {found.seconds:.2g} s, {over}, all computing at the same time."
    if any(stage.stage == "keys" for stage in found.by_stage):
        yield "Seconds are by prices measured now, on this machine; how long keys take is a lottery, and this its mean."
    else:
        yield "Seconds are by prices measured now, on this machine."


def _figures(*numbers: int) -> tuple[str, ...]:
    return tuple(f"{number:,}" for number in numbers)
