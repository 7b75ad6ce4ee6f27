"""What the operations that programs declare cost on this machine, measured on the functions that roles call."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from protocols.runtime.conversation import Foreseen, Labour, Mailing
from smc_dp.forecasts.asked import Asked
from smc_dp.forecasts.letters import LetterPrices, letter_prices
from smc_dp.forecasts.operations import OPERATIONS
from smc_dp.forecasts.workshop import Workshop


@dataclass(frozen=True)
class Prices:
    """Seconds of one operation of each name, and those of letters."""

    operations: dict[str, float]
    letter: LetterPrices

    def of(self, name: str) -> float:
        """Seconds of one operation of this name."""
        return self.operations[name]


def calibrate(asked: Asked, foreseen: Foreseen) -> Prices:
    """The prices of all that happens in this conversation, under its parameters."""
    shop = Workshop(asked.parameters)
    return Prices({name: OPERATIONS[name](shop) for name in sorted(set(needed(foreseen)))}, letter_prices())


def needed(foreseen: Foreseen) -> Iterable[str]:
    """The names of all operations of a conversation."""
    for happening in foreseen.happenings:
        if isinstance(happening, Labour):
            yield from happening.operations
        if isinstance(happening, Mailing):
            yield from (*happening.flow.each, *happening.flow.then)
            locked = (slot for slot in happening.flow.kind.slots if slot.protection.locks)
            yield from (f"admission under {slot.protection.width}" for slot in locked)
