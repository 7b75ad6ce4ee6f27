"""Drop-out patterns: one participant drops out, or one of its messages is late.

A pattern is about the first message of the participant that its reader does not have in time. Messages count as in
`DropOutAfter`: the greeting is the first, every sealed message counts one, what is published does not count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from typing_extensions import override

from protocols.runtime.session import PUBLIC_NAME
from smc_dp.leakage.symbolic.trace import Sent


@dataclass(frozen=True)
class Pattern:
    """Drop-out of `name` before its message of this number; or, if `late`, that message comes too late.

    The reader of a late message goes on without it, and so does its sender. `place` says which message it is.
    """

    name: str = ""
    message_number: int = 0
    late: bool = False
    place: str = ""

    @property
    def how(self) -> str:
        """Description of the pattern without the name."""
        if not self.name:
            return "nobody missing"
        return f"late with {self.place}" if self.late else f"vanished before {self.place}"

    @override
    def __str__(self) -> str:
        return f"{self.name} {self.how}" if self.name else self.how


EVERYBODY_STAYS = Pattern()


def dropout_patterns(sent: Iterable[Sent], names: Iterable[str]) -> Iterator[Pattern]:
    """Yield two patterns for each message after the greeting: drop-out before it, and lateness.

    A participant without a greeting is no case, for nobody starts without it.
    """
    messages = [s for s in sent if s.to != PUBLIC_NAME]
    for name in names:
        for number, s in enumerate((s for s in messages if s.sender == name), start=2):
            for late in (False, True):
                yield Pattern(name, number, late, f"{type(s.message).__name__} in {s.stage}")
